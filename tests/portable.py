"""The checks of the notebooks as on other processors: `make portable` prints a line for each.

NumPy, OpenBLAS, the C library and Numba choose their code by the processor, and other code gives
other last bits. Each dialect below tells them, by environment variables, to take the code of
another processor; whatever the notebooks have saved must come out under every one. The kernels are
no copies of one that has everything loaded, so that a missing import is seen too.

With names of dialects and notebooks: ``python tests/portable.py --dialect oldest -- 09 10``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_core

ROOT = Path(__file__).resolve().parents[1]
_LOOPS = [n for n in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[n]]
_NO_LOOPS = {"NPY_DISABLE_CPU_FEATURES": " ".join(_LOOPS)}
_OLD_LIBRARY = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}
_GENERIC = {"NUMBA_CPU_NAME": "generic"}
_PRESCOTT = {"OPENBLAS_CORETYPE": "Prescott"}
_FROM_SCRATCH = {"JUPYTER_DEFAULT_PROVISIONER_NAME": "local-provisioner"}
DIALECTS = {  # by name: threads and environment variables
    "Haswell": (1, {"OPENBLAS_CORETYPE": "Haswell"}),
    "Sandybridge": (2, {"OPENBLAS_CORETYPE": "Sandybridge"}),
    "Prescott": (1, _PRESCOTT),
    "numpy": (2, _NO_LOOPS),  # without its loops for newer processors
    "libm": (1, _OLD_LIBRARY),  # without fused multiplication and addition
    "numba": (2, _GENERIC),
    "oldest": (1, _NO_LOOPS | _OLD_LIBRARY | _GENERIC | _PRESCOTT),
}


def check(dialect: str, notebooks: Sequence[Path]) -> subprocess.CompletedProcess[str]:
    """Run notebooks under a dialect, and compare what they print with what they have saved."""
    threads, variables = DIALECTS[dialect]
    several = ["--numprocesses", str(threads), "--dist", "loadfile"] if threads > 1 else []
    options = ["-c", "pyproject.toml", "-q", "-p", "no:cacheprovider", *several]
    before = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="marab-numba-") as cache:
        own = {"NUMBA_CACHE_DIR": cache} if "NUMBA_CPU_NAME" in variables else {}
        os.sched_setaffinity(0, sorted(before)[:threads])  # so many threads in all libraries
        try:
            return subprocess.run(
                [sys.executable, "-m", "pytest", *options, *map(str, notebooks)],
                cwd=ROOT,
                env=os.environ | _FROM_SCRATCH | variables | own,
                capture_output=True,
                text=True,
            )
        finally:
            os.sched_setaffinity(0, before)


def main(arguments: Sequence[str] | None = None) -> int:
    """One line a dialect; what failed follows its line. 1 if any failed."""
    parser = argparse.ArgumentParser(description="check saved notebooks as on other processors")
    parser.add_argument("notebooks", nargs="*", help="numbers such as 09; default: all")
    parser.add_argument("--dialect", nargs="+", choices=DIALECTS, default=list(DIALECTS))
    given = parser.parse_args(arguments)
    found = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    numbers = given.notebooks or [path.name[:2] for path in found]
    if unknown := set(numbers) - {path.name[:2] for path in found}:
        parser.error(f"notebooks must be numbers such as 09, got {sorted(unknown)}")
    failed = False
    for dialect in given.dialect:
        result = check(dialect, [path for path in found if path.name[:2] in numbers])
        output = result.stdout + result.stderr
        print(f"{dialect:12} {output.strip().splitlines()[-1]}", flush=True)
        if result.returncode:
            failed = True
            print(output, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
