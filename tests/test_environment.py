"""The three descriptions of the environment agree: pyproject.toml, requirements.lock, conda."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import marab_lib

ROOT = Path(__file__).parent.parent
PYPROJECT = (ROOT / "pyproject.toml").read_text()
CONDA = (ROOT / "environment.yml").read_text()
LOCK = (ROOT / "requirements.lock").read_text()
PYTHONS = ("3.11.7", "3.12.1", "3.13.0")


def ranges(requirements: list[str]) -> dict[str, SpecifierSet]:
    parsed = map(Requirement, requirements)
    return {canonicalize_name(r.name): r.specifier for r in parsed}


def wanted(pyproject: str) -> dict[str, SpecifierSet]:
    """What a user needs: the dependencies, those of the tests, and pip for notebooks."""
    content = tomllib.loads(pyproject)
    project, groups = content["project"], content["dependency-groups"]
    extras = project["optional-dependencies"]
    listed, unread = [*project["dependencies"]], ["test"]
    while unread:
        for requirement in map(Requirement, extras[unread.pop()]):
            unread += requirement.extras if requirement.name == project["name"] else []
            listed += [str(requirement)] if requirement.name != project["name"] else []
    pip = [r for r in groups["environment"] if Requirement(r).name == "pip"]
    return ranges(listed + pip)


def offered(conda: str) -> dict[str, SpecifierSet]:
    """What conda installs; its ``-base`` packages are those without the optional extras."""
    *listed, with_pip = yaml.safe_load(conda)["dependencies"]
    listed += [item for item in with_pip["pip"] if item != "-e ."]
    listed = [item for item in listed if not item.startswith("python=")]
    return ranges([item.replace("-base", "").replace("-python", "") for item in listed])


def test_conda_has_the_names_and_ranges_of_pyproject():
    assert offered(CONDA) == wanted(PYPROJECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [("numpy>=2.0,<3", "numpy>=2.1,<3"), ("xarray>=2024.11", "x-array>=2024.11")],
)
def test_a_change_of_either_is_seen(before, after):
    assert before in CONDA
    assert before in PYPROJECT
    assert offered(CONDA.replace(before, after)) != wanted(PYPROJECT)
    assert offered(CONDA) != wanted(PYPROJECT.replace(before, after))


def test_conda_file_suits_binder():
    content = yaml.safe_load(CONDA)
    python = next(item for item in content["dependencies"] if str(item).startswith("python="))
    version = re.fullmatch(r"python=(\d+\.\d+)", python)[1]
    assert f"{version}.99" in SpecifierSet(tomllib.loads(PYPROJECT)["project"]["requires-python"])
    assert content["channels"] == ["conda-forge", "nodefaults"]
    assert content["dependencies"][-1]["pip"][-1] == "-e ."


def locked(python: str) -> dict[str, list[str]]:
    """Versions of each package that the lock gives a Python on Linux."""
    place = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    place |= {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"}
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^[a-z].*==.*(?= \\$)", LOCK, re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(place):
            version = str(requirement.specifier).removeprefix("==")
            found.setdefault(canonicalize_name(requirement.name), []).append(version)
    return found


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_pins_every_package_once_and_within_its_range(python):
    pins = locked(python)
    assert [name for name, versions in pins.items() if len(versions) != 1] == []
    content = tomllib.loads(PYPROJECT)
    needed = wanted(PYPROJECT) | ranges(content["dependency-groups"]["environment"])
    outside = {n: pins.get(n) for n, r in needed.items() if n not in pins or pins[n][0] not in r}
    assert outside == {}


def test_numbers_come_from_the_same_versions_on_every_python():
    for name in ("numpy", "scipy", "numba", "pandas", "xarray", "matplotlib"):
        assert len({locked(python)[name][0] for python in PYTHONS}) == 1


def test_the_lock_has_hashes_and_no_addresses():
    pins = re.findall(r"^[a-z].*", LOCK, re.MULTILINE)
    assert all(pin.endswith("\\") for pin in pins)
    assert not re.search(r"://|file:| @ |^-|/", LOCK, re.MULTILINE)


def test_an_index_out_of_reach_is_said_to_be_so(tmp_path):
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    closed = {f"PIP_{name}": "http://127.0.0.1:9/simple" for name in ("INDEX_URL", "FIND_LINKS")}
    closed |= {"PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(
        ["make", f"PYTHON={sys.executable}", ".venv/.packages"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | closed,
        timeout=120,
    )
    assert ended.returncode == 2
    assert "No matching distribution" in ended.stderr  # what pip says of it
    assert "the package index cannot be reached" in ended.stderr.splitlines()[-2]
    assert not (tmp_path / ".venv" / ".packages").exists()


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip("this is no git repository")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def test_the_source_distribution_is_the_repository(tracked, tmp_path):
    for name in tracked:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    build = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    done = subprocess.run([sys.executable, "-c", build], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "dist").iterdir()
    with tarfile.open(archive) as file:
        found = {m.name.partition("/")[2] for m in file.getmembers() if m.isfile()}
    made = {"PKG-INFO", "setup.cfg"}
    assert {n for n in found if not n.startswith("marab_lib.egg-info/")} == {*tracked, *made}


def test_versions_agree():
    project = tomllib.loads(PYPROJECT)["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert marab_lib.__version__ == project["version"] == citation["version"]
    assert citation["license"] == project["license"] == "MIT"
