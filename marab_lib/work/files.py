"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray


@contextmanager
def replace_when_done(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary path to write to; on success it takes the place of `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    part.unlink(missing_ok=True)  # whatever it is, it is not written through
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def replace_folder_when_done(path: str | os.PathLike) -> Iterator[Path]:
    """Give an empty folder to write to; on success it takes the place of the folder `path`.

    Raises
    ------
    NotADirectoryError
        If `path` is a file, which stays as it is.
    """
    path = Path(path).resolve()  # what a link leads to is replaced, not the link
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"path must be a new or existing folder, got the file {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part, old = (path.with_name(f".{path.name}.{os.getpid()}.{end}") for end in ("part", "old"))
    shutil.rmtree(part, ignore_errors=True)  # of a killed process that had the same number
    part.mkdir()
    try:
        yield part
        _put_in_place(part, path, old)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _put_in_place(part: Path, path: Path, old: Path) -> None:
    """Move one folder to the place of another, which comes back if that fails."""
    try:
        if path.exists():
            os.replace(path, old)
        os.replace(part, path)
    finally:
        # An interrupt may come between the two moves: what counts is which of them took place.
        if old.exists() and not path.exists():
            os.replace(old, path)
        shutil.rmtree(old, ignore_errors=True)


def new_or_folder(name: str, given: str | os.PathLike) -> Path:
    """A path that is a folder, or can become one.

    Raises
    ------
    ValueError
        Naming the argument, if the path is empty, or a file or below one.
    """
    wanted = f"{name} must be a new or existing folder, got {str(given)!r}"
    if not os.fspath(given):
        raise ValueError(wanted)
    for place in (Path(given), *Path(given).parents):
        if (place.exists() or place.is_symlink()) and not place.is_dir():
            what = "a file" if place.exists() else "a link that leads nowhere"
            raise ValueError(f"{wanted}: {place} is {what}")
    return Path(given)


def below(folder: str | os.PathLike, *names: str) -> Path:
    """The place of a result in an output folder; no link below that folder leads out of it.

    Raises
    ------
    ValueError
        Naming the link, if there is one.
    """
    path = Path(folder).resolve()  # this one may be a link: its user has named it
    for name in names:
        path = path / name
        if path.is_symlink():
            raise ValueError(f"{path} must be no link, since results are written there: remove it")
    return path


def save_dataset(dataset: xarray.Dataset, path: str | os.PathLike) -> None:
    """Write a result of `simulate` as NetCDF-4, compressed; `load_dataset` reads it back."""
    encoding = {name: {"zlib": True, "complevel": 4} for name in dataset.data_vars}
    with replace_when_done(path) as part:
        dataset.to_netcdf(part, engine="h5netcdf", encoding=encoding)


def load_dataset(path: str | os.PathLike) -> xarray.Dataset:
    """Read a result that `save_dataset` wrote, into memory.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, or cut or of another kind.
    """
    import xarray

    try:
        return xarray.load_dataset(path, engine="h5netcdf")
    except (FileNotFoundError, PermissionError):
        raise
    except (OSError, ValueError, LookupError, RuntimeError, TypeError) as error:  # as HDF5 fails
        raise ValueError(f"{path} is not a whole NetCDF file: {error}") from None
