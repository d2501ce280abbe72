"""How the compiled functions are compiled and where they are cached.

Three facts of numba shape this file. Its disk cache notices a change only in the file that
defines a function, not in the files of the functions it calls. It refuses to import a cached
function where no folder is writable. And a compiled function passed as an ordinary argument is
compiled again in every process, while one passed through a fixed function type is not.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
from numba.core import config

_PACKAGE = Path(__file__).resolve().parent
_COMPILED_FILES = (
    "_jit.py",
    "_kernels.py",
    "_resampling.py",
    "policies.py",
    "policies_since_2013.py",
)


def source_digest() -> str:
    """Fingerprint of every file that holds compiled code, so that a change in one renews all."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in _COMPILED_FILES:
        digest.update((_PACKAGE / name).read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def cache_folder() -> Path | None:
    """First writable folder for compiled code, or None (then nothing is cached on disk).

    The order is NUMBA_CACHE_DIR if it is set, the package's own ``__pycache__``, the user's
    cache folder, and the system's temporary folder.
    """
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    places = [
        Path(config.CACHE_DIR) if config.CACHE_DIR else None,
        _PACKAGE / "__pycache__",
        Path(user_cache) / "marab",
        Path(tempfile.gettempdir()) / f"marab-{os.getuid() if hasattr(os, 'getuid') else 'user'}",
    ]
    for place in filter(None, places):
        folder = place / f"compiled-{source_digest()}"
        if _writable(folder):
            return folder
    return None


_FOLDER = cache_folder()


@contextmanager
def _numba_cache(folder: Path | None) -> Iterator[None]:
    """Point numba's cache to ours while one function is declared; other code keeps its own."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder or before)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def jit(*signature, **options) -> Callable:
    """``numba.njit`` without the interpreter's lock, without fast maths, cached on disk.

    Nothing is compiled at import unless a signature is given and the function is not cached;
    the module therefore gives no signatures here and lets the first call compile.
    """

    def decorate(function: Callable) -> Callable:
        with _numba_cache(_FOLDER):
            return numba.njit(
                *signature, nogil=True, error_model="numpy", cache=_FOLDER is not None, **options
            )(function)

    return decorate
