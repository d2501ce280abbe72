"""Finished parts of a computation, kept on disk under the fingerprint of what decides them."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .files import new_or_folder, replace_when_done
from .threads import Arrays


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


SHARED = "MARAB_STORE"  # an environment variable


def shared_store() -> str | None:
    """The store of simulations that several notebooks need, while all are run; else none.

    The command ``reproduce`` sets the variable to a folder of its own. It is for calls that do
    repeat: to keep a large result may take longer than to simulate it again.
    """
    given = os.environ.get(SHARED)
    return str(new_or_folder(SHARED, given)) if given else None


class Store:
    """A folder with one file a finished task, named by the fingerprint of all that decides it.

    The file holds that name too, as the comment of its archive: a renamed one is not believed.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = new_or_folder("store", folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(
                f"store must be a folder that is there or can be made, got {str(folder)!r}: {error}"
            ) from None

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

    def save(self, key: str, arrays: dict[str, Any]) -> None:
        """Write the arrays of a task: whole, or not at all."""
        with replace_when_done(self._path(key)) as part:
            np.savez_compressed(part, **arrays)
            with zipfile.ZipFile(part, "a") as archive:
                archive.comment = key.encode()


def _forms(arrays: Arrays) -> dict[str, tuple]:
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
