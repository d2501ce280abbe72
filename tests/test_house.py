"""What may import what: the wings the library, the library neither wing, kernels only kernels."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import marab_lib
from marab_lib.kernels.jit import COMPILES

FOLDER = Path(marab_lib.__file__).parent
PATHS = {
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(FOLDER.rglob("*.py"))
}


def imported(module: str, path: Path, types: bool = True) -> set[str]:
    """Modules of the package that a module imports anywhere in it, with the packages they are in.

    The package itself and those that the module is in are left out: they are imported before it.
    So are, without `types`, those that are imported for annotations only.
    """
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not types:
        tree.body = [n for n in tree.body if "TYPE_CHECKING" not in ast.unparse(n).split(":")[0]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            names |= {".".join([*base, alias.name]) for alias in node.names}
            names.add(".".join(base))
    own = {".".join(package[:n]) for n in range(1, len(package) + 1)}
    parts = [name.split(".") for name in names]
    every = {".".join(part[:n]) for part in parts for n in range(1, len(part) + 1)}
    return every & PATHS.keys() - own


IMPORTS = {module: imported(module, path) for module, path in PATHS.items()}


def within(module: str, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"marab_lib.{package}.") for package in packages)


def wrong(of: list[str], *forbidden: str) -> list[str]:
    """Imports, by some modules, of what is in the packages that they may not know."""
    return [f"{m} imports {n}" for m in of for n in sorted(IMPORTS[m]) if within(n, *forbidden)]


def test_the_library_knows_neither_wing():
    library = [m for m in PATHS if not within(m, "paper", "runner", "__main__")]
    assert len(library) > 30
    assert wrong(library, "paper", "runner") == []


def test_the_paper_does_not_know_what_runs_its_notebooks():
    assert wrong([m for m in PATHS if within(m, "paper")], "runner") == []


def test_kernels_know_only_kernels():
    kernels = [m for m in PATHS if within(m, "kernels")]
    assert [
        f"{m} imports {n}" for m in kernels for n in IMPORTS[m] if not within(n, "kernels")
    ] == []


def test_no_circles():
    """Each module can be read before those that import it."""
    unread = {module: imported(module, path, types=False) for module, path in PATHS.items()}
    while ready := [m for m, names in unread.items() if not names & unread.keys()]:
        for module in ready:
            del unread[module]
    assert {m: sorted(names & unread.keys()) for m, names in unread.items()} == {}


NEEDED = ["numpy", "scipy", "numba", "xarray", "pandas", "psutil"]
# Packages that these need, and their own.
THEIRS = ["llvmlite", "packaging", "dateutil", "pytz", "tzdata", "six"]
SCRIPT = '''
import site, sys
from importlib.machinery import PathFinder
from pathlib import Path

installed = {Path(p).resolve() for p in site.getsitepackages() if Path(p).is_dir()}
others = {path.name.partition(".")[0] for folder in installed for path in folder.iterdir()}
others -= {*sys.argv[2:], *sys.stdlib_module_names}

class Few(PathFinder):
    """Finds no module of the other packages, as if they were not installed."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in others:
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Few
import marab_lib
from marab_lib import arms, compare, policies, problems, regret, simulate

try:
    import matplotlib
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("matplotlib was not refused")
problem = problems.Problem(arms.Uniform([0.0, 0.2], [1.0, 0.9]))
result = simulate(problem, [policies.UCB(), policies.MaRaB()], 50, 3, seed=1, store=sys.argv[1])
print(regret.mean_and_error(result.theoretical_regret.isel(checkpoint=-1))[0].shape)
print(sorted(m for m in sys.modules if m.startswith(("marab_lib.paper", "marab_lib.runner"))))
'''


def test_the_library_needs_few_packages(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), "marab_lib", *NEEDED, *THEIRS],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.stderr.replace(COMPILES, "").strip() == ""
    assert ended.stdout.splitlines() == ["(2, 1)", "[]"]
