"""How the compiled functions are compiled and where they are cached.

Some facts of numba shape this file. Its disk cache notices a change only in the file that
defines a function, not in the files of the functions it calls. It refuses to import a cached
function where no folder is writable. It trusts whatever lies in the cache, and stops at a file that
is cut. And a compiled function passed as an ordinary argument is compiled again in every process,
while one passed through a fixed function type is not.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba import extending, types
from numba.core import caching
from numba.core import config as _config

config: Any = _config  # its names are made as it is read

COMPILES = "marab_lib compiles for this machine, once: 10 s, and 15 s more if for all policies"
_PACKAGE = Path(__file__).resolve().parents[1]
_COMPILED_FILES = sorted(
    path.relative_to(_PACKAGE).as_posix()
    for room in ("kernels", "policies")
    for path in (_PACKAGE / room).glob("*.py")
)


def source_digest() -> str:
    """Fingerprint of every file that holds compiled code, so that a change in one renews all."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in _COMPILED_FILES:
        digest.update((_PACKAGE / name).read_bytes())
    return digest.hexdigest()[:16]


def _is_ours(folder: Path) -> bool:
    """Whether nobody but us (or root) can put a file into a folder, or another in its place.

    Numba's index is a pickle: a file that someone else has put there would be run.
    """
    if not hasattr(os, "geteuid"):  # no owners and modes of this kind
        return True
    about, us = folder.lstat(), os.geteuid()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != us or about.st_mode & 0o077:
        return False
    for above in {*folder.absolute().parents, *folder.resolve().parents}:
        about = above.lstat()
        fixed = about.st_mode & stat.S_ISVTX or not about.st_mode & 0o022
        if about.st_uid not in (0, us) or not (fixed or stat.S_ISLNK(about.st_mode)):
            return False
    return all(path.lstat().st_uid == us for path in folder.rglob("*"))


def _can_be_used(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(folder):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _places() -> Iterator[Path]:
    """Where compiled code may be kept, best place first."""
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    yield _PACKAGE / "__pycache__"
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if user_cache.is_absolute():  # "~" stays where there is no home
        yield user_cache / "marab"
    with suppress(OSError):  # no temporary folder can be written to
        yield Path(tempfile.gettempdir()) / f"marab-{os.getuid() if hasattr(os, 'getuid') else ''}"


def cache_folder() -> Path | None:
    """First folder that can be used for compiled code, or None (then nothing is cached on disk).

    The order is NUMBA_CACHE_DIR if it is set, the package's own ``__pycache__``, the user's
    cache folder, and the system's temporary folder. A folder that others could write to, or that
    lies where others could replace it, is not used.
    """
    name = f"compiled-{source_digest()}"
    return next((place / name for place in _places() if _can_be_used(place / name)), None)


_FOLDER = cache_folder()


class _CacheFile(caching.IndexDataCacheFile):
    """A damaged file is as good as none: the function is compiled again, and the file replaced."""

    def _load_index(self) -> dict:
        try:
            return super()._load_index()
        except Exception:  # a torn pickle raises errors of many kinds
            return {}

    def _load_data(self, name: str) -> object:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise OSError(f"{name} is damaged") from error  # to numba: there is no such file

    def save(self, key: object, data: object) -> None:
        with suppress(OSError):  # a full disk keeps nothing, but what is compiled can be used
            super().save(key, data)


class _SlowCacheFile(_CacheFile):
    """Of the function that takes longest: says why a first simulation does not begin at once."""

    def load(self, key: object) -> object:
        found = super().load(key)
        if found is None:
            print(COMPILES, file=sys.stderr, flush=True)
        return found


@contextmanager
def _numba_cache(folder: Path | None, slow: bool) -> Iterator[None]:
    """Point numba's cache to ours while one function is declared; other code keeps its own."""
    before = config.CACHE_DIR, caching.IndexDataCacheFile
    config.CACHE_DIR = str(folder or before[0])
    caching.IndexDataCacheFile = _SlowCacheFile if slow else _CacheFile  # type: ignore[misc]
    try:
        yield
    finally:
        config.CACHE_DIR, caching.IndexDataCacheFile = before  # type: ignore[misc]


def jit(*signature: Any, slow: bool = False, **options: Any) -> Callable:
    """``numba.njit`` without the interpreter's lock, without fast maths, cached on disk.

    With `slow` a compilation is announced, where it is needed.

    Nothing is compiled at import unless a signature is given and the function is not cached;
    the module therefore gives no signatures here and lets the first call compile.
    """

    if config.DISABLE_JIT:
        raise ImportError(
            "marab_lib cannot run uncompiled: unset NUMBA_DISABLE_JIT (it must be 0 or not set, "
            f"got {config.DISABLE_JIT!r})"
        )

    def decorate(function: Callable) -> Callable:
        with _numba_cache(_FOLDER, slow):
            options.update(nogil=True, error_model="numpy", cache=_FOLDER is not None)
            return numba.njit(*signature, **options)(function)

    return decorate


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    for place, part in enumerate(getattr(kind, "types", ())):  # of a tuple
        found = _uncounted(context, builder, part, builder.extract_value(value, place))
        value = builder.insert_value(value, found, place)
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo, array.parent = (x.type(None) for x in (array.meminfo, array.parent))
        return array._getvalue()
    return value


def _borrowed(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _uncounted(context, builder, value, *arguments)

    return value(value), generate


# The same array, or tuple of arrays, but without a count of references. Only for what a function is
# given, since its caller holds that until it is done: to count anew in every view of an array, and
# in every call with one, would take a third of the time of a step.
borrowed: Any = extending.intrinsic(_borrowed)
