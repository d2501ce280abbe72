"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


__all__ = [
    "replace_folder_when_done",
    "replace_when_done",
]


@contextmanager
def replace_when_done(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary path to write to; on success it takes the place of `path`.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.csv"
    >>> with replace_when_done(target) as part:
    ...     _ = part.write_text("1,2")
    >>> target.read_text()
    '1,2'
    """
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

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "site"
    >>> with replace_folder_when_done(target) as part:
    ...     _ = (part / "index.html").write_text("")
    >>> [path.name for path in target.iterdir()]
    ['index.html']
    """
    path = Path(path).resolve()  # what a link leads to is replaced, not the link
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"path must be a folder or a free name, got the file {path}")
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
