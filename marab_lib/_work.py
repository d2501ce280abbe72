"""Do independent tasks in threads or on a cluster, and keep what is done on disk.

A task is a function's arguments; its result is a dict of arrays. Results come in any order, each
with the number of its task.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .outputs import free_or_folder, replace_when_done

if TYPE_CHECKING:
    import distributed

Arrays = dict[str, np.ndarray]
Results = Iterator[tuple[int, Arrays]]
_RETRIES = 5  # how often a task is done again when a cluster loses its worker


def fingerprint(*parts: object) -> str:
    """Digest of arrays and of the text of other values."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.dtype.str, part.shape)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


class Store:
    """A folder with one file a finished task, named by the fingerprint of all that decides it.

    The file holds that name too, as the comment of its archive: a renamed one is not believed.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = free_or_folder("store", folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def load(self, key: str, like: Arrays) -> Arrays | None:
        """The arrays of a task, or None if they are not there as `like` has them.

        Names, types and shapes must be those of `like`. A damaged file is as good as none: the task
        is done again, and its file replaced.

        Raises
        ------
        ValueError
            If a folder is in the file's place.
        """
        path = self._path(key)
        if path.is_dir():
            raise ValueError(f"store must hold files, but {path} is a folder: remove it")
        try:
            with open(path, "rb") as file, np.load(file) as part:
                if part.zip.comment != key.encode():
                    return None
                arrays = dict(part)
            return arrays if _forms(arrays) == _forms(like) else None
        except Exception:  # damaged files raise errors of zipfile, zlib, NumPy and the system
            return None

    def save(self, key: str, arrays: Arrays) -> None:
        """Write the arrays of a task: whole, or not at all."""
        with replace_when_done(self._path(key)) as part:
            np.savez_compressed(part, **arrays)
            with zipfile.ZipFile(part, "a") as archive:
                archive.comment = key.encode()


def _forms(arrays: Arrays) -> dict[str, tuple]:
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}


def in_threads(function: Callable[..., Arrays], tasks: Sequence[tuple], threads: int) -> Results:
    """Do the tasks in this process; after an interrupt or an error none is begun any more."""
    if threads == 1 or len(tasks) <= 1:
        for number, task in enumerate(tasks):
            yield number, function(*task)
        return
    with ThreadPoolExecutor(threads) as pool:
        numbers = {}
        try:
            for number, task in enumerate(tasks):
                numbers[pool.submit(function, *task)] = number
            waiting = set(numbers)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    # Popped, so that a result is freed as soon as the caller has copied it.
                    yield numbers.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def on_cluster(
    function: Callable[..., Arrays],
    tasks: Sequence[tuple],
    client: distributed.Client,
    shared: object,
) -> Results:
    """Do the tasks on the workers of a dask.distributed client; a lost one is done again.

    `shared` is sent to each worker once and becomes the function's first argument.
    """
    from distributed import as_completed

    everywhere = client.scatter(shared, broadcast=True)
    futures = [
        client.submit(function, everywhere, *task, pure=False, retries=_RETRIES) for task in tasks
    ]
    numbers = {future.key: number for number, future in enumerate(futures)}
    try:
        for future, result in as_completed(futures, with_results=True):
            yield numbers[future.key], result
            future.release()
    finally:
        client.cancel(futures)
