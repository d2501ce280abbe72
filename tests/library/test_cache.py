"""Compiled code: taken only from where nobody else can put it, made anew where damaged."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from cases import run_python
from numba.core import config

from marab_lib import comparison, problems, simulate
from marab_lib.kernels import jit
from marab_lib.simulation import warm

STRANGER = 54321  # a user that no machine knows
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX owners and modes")
root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)

# --- whose folder it is -----------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder for compiled code that is asked first."""
    folder = tmp_path / "above" / "place"
    folder.mkdir(parents=True)
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    return folder


def name() -> str:
    return f"compiled-{jit.source_digest()}"


def is_used(place: Path) -> bool:
    return jit.cache_folder() == place / name()


@posix
def test_an_own_folder_is_used_and_only_ours(place):
    assert is_used(place)
    assert (place / name()).stat().st_mode & 0o777 == 0o700
    (place / name() / "inner").mkdir(mode=0o775)  # as numba makes it under a wide umask
    (place / name() / "inner" / "file.nbi").touch()
    assert is_used(place)


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o703, 0o720])
@pytest.mark.parametrize("where", ["folder", "place", "above"])
def test_a_folder_that_others_can_write_to_is_not_used(place, where, mode):
    folder = {"folder": place / name(), "place": place, "above": place.parent}[where]
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)
    assert not is_used(place)


@posix
def test_a_folder_below_one_with_the_sticky_bit_is_used(place):
    """Such as the temporary folder: others can make files in it, but not replace ours."""
    place.parent.chmod(0o1777)
    assert is_used(place)
    (place / name()).chmod(0o1777)  # a folder of files needs more
    assert not is_used(place)


@root
@pytest.mark.parametrize("where", ["folder", "place", "above", "file"])
def test_a_folder_of_somebody_else_is_not_used(place, where):
    assert is_used(place)
    file = place / name() / "inner" / "file.nbi"
    file.parent.mkdir()
    file.touch()
    folders = {"folder": place / name(), "place": place, "above": place.parent, "file": file}
    os.chown(folders[where], STRANGER, STRANGER)
    assert not is_used(place)


@posix
def test_a_link_is_not_used_as_the_folder(place, tmp_path):
    (tmp_path / "other").mkdir(mode=0o700)
    (place / name()).symlink_to(tmp_path / "other")
    assert not is_used(place)


@root
def test_a_link_of_somebody_else_is_not_followed(place, monkeypatch, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(place)
    monkeypatch.setattr(config, "CACHE_DIR", str(link))
    assert is_used(link)
    os.lchown(link, STRANGER, STRANGER)
    assert not is_used(link)


@pytest.fixture
def shared(tmp_path, monkeypatch) -> Path:
    """The temporary folder that all share, where no other place can be written to."""
    package, blocked, shared = (tmp_path / name for name in ("package", "blocked", "shared"))
    package.mkdir()
    for name in jit._COMPILED_FILES:
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).touch()
    blocked.touch()
    (package / "__pycache__").touch()
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(jit, "_PACKAGE", package)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    return shared


@posix
def test_the_shared_temporary_folder_is_the_last_place(shared):
    assert jit.cache_folder() == shared / f"marab-{os.getuid()}" / name()


@posix
@pytest.mark.parametrize("mode", [0o777, 0o755])
def test_what_was_made_beforehand_in_the_temporary_folder_is_not_used(shared, mode):
    folder = shared / f"marab-{os.getuid()}"
    folder.mkdir()
    folder.chmod(mode)
    if mode == 0o755:
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        os.chown(folder, STRANGER, STRANGER)
    assert jit.cache_folder() is None


def test_without_a_home_another_place_is_used(shared, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it is without a home
    assert jit.cache_folder().is_relative_to(shared)
    assert not list(Path().glob("~*"))


# --- in a process of its own ------------------------------------------------------------------


def python(*arguments: object, **environment: str) -> str:
    """What a script prints; its warnings are errors."""
    done = run_python("-W", "error", *arguments, without=("HOME",), **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@root
def test_import_needs_no_home(tmp_path):
    """Of a user that has no entry among the users, and so no home; its rights are still ours."""
    code = f"""
import os
os.setreuid({STRANGER}, -1)
assert os.path.expanduser("~") == "~"
from marab_lib.kernels import jit
print(jit.cache_folder())"""
    assert python("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).strip() == str(tmp_path / name())
    assert python("-c", code, NUMBA_CACHE_DIR="").strip() != "None"


SMALL = """\
from marab_lib.kernels import jit
@jit.jit()
def twice(x):
    return 2 * x
@jit.jit("float64(float64)", slow=True)
def thrice(x):
    return twice(x) + x
print(twice(1.5), thrice(1.5), *[sum(f.stats.cache_hits.values()) for f in (twice, thrice)])
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> tuple[Path, Path]:
    """A script of two small functions, and the folder of what was compiled for it."""
    folder = tmp_path_factory.mktemp("compiled")
    script, cache = folder / "small.py", folder / "cache"
    script.write_text(SMALL)
    said = [run_python(script, NUMBA_CACHE_DIR=str(cache)) for _ in range(2)]
    assert [done.stdout.split() for done in said] == [
        ["3.0", "4.5", "0", "0"],
        ["3.0", "4.5", "1", "1"],
    ]
    assert [done.stderr for done in said] == [f"{jit.COMPILES}\n", ""]
    return script, cache


@pytest.mark.parametrize(("kind", "shares"), [("nbi", (0, 0.99)), ("nbc", (0.5, 0.5))])
def test_a_file_that_was_cut_is_compiled_anew(compiled, tmp_path, kind, shares):
    script, cache = compiled
    shutil.copytree(cache, tmp_path / "cache")
    files = sorted((tmp_path / "cache").rglob(f"*.{kind}"))
    for file, share in zip(files, shares, strict=True):
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(script, **place).split() == ["3.0", "4.5", "0", "0"]
    assert python(script, **place).split() == ["3.0", "4.5", "1", "1"]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_what_cannot_be_kept_is_still_used(compiled, tmp_path, kind):
    script, cache = compiled
    shutil.copytree(cache, tmp_path / "cache")
    for file in (tmp_path / "cache").rglob(f"*.{kind}"):
        file.unlink()
        file.mkdir()
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()[:2] == ["3.0", "4.5"]


def test_other_code_keeps_numbas_own_cache(tmp_path):
    script = tmp_path / "other.py"
    script.write_text(
        "import marab_lib, numba\n"
        "@numba.njit(cache=True)\n"
        "def twice(x):\n"
        "    return 2 * x\n"
        "print(twice(1.5))\n"
    )
    assert python(script, NUMBA_CACHE_DIR="") == "3.0\n"
    assert len(list((tmp_path / "__pycache__").glob("*.nbi"))) == 1


def test_uncompiled_it_says_what_to_unset():
    done = run_python("-c", "import marab_lib", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 1
    assert "unset NUMBA_DISABLE_JIT" in done.stderr.splitlines()[-1]


def test_what_make_compiles_is_what_simulations_need():
    """One signature each, before and after they are played."""
    warm.compile_all()
    chosen = comparison.everyone(0.1)
    compiled = [policy.index_function.signatures.copy() for policy in chosen]
    assert [len(signatures) for signatures in compiled] == [1] * len(chosen)
    simulate(problems.artificial(1, 0), chosen, 30, 1, 1)
    assert [policy.index_function.signatures for policy in chosen] == compiled
