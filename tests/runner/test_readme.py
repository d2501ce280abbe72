"""What the README shows is true: its code runs, prints what it says, and its picture is current.

``python tests/runner/test_readme.py`` takes the picture from the saved notebook again.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "figure_2.png"
DRAWS = 'out.figure(figure, "one_reading")'  # in the cell of notebook 13


def drawn() -> bytes:
    """The picture as notebook 13 has it."""
    (path,) = (ROOT / "notebooks").glob("13_*.ipynb")
    (cell,) = (c for c in nbformat.read(path, as_version=4).cells if DRAWS in c.source)
    (text,) = (o["data"]["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
    return base64.b64decode(text)


def test_the_picture_is_that_of_the_notebook():
    assert PICTURE.read_bytes() == drawn(), "python tests/runner/test_readme.py"
    assert f"(docs/{PICTURE.name})" in README


def test_the_code_runs_and_prints_the_table(tmp_path):
    """One block after the other, but the cluster's, which has a test of its own."""
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    blocks = [block for block in blocks if "distributed" not in block]
    assert len(blocks) == 4
    source = "\n".join(blocks).replace('"data/', f'"{(ROOT / "data").as_posix()}/')
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    shown = re.search(r"```\n( +regret .*?)```", README, re.DOTALL)
    assert shown
    assert done.stdout == shown[1]
    assert (tmp_path / "comparison.png").stat().st_size > 10_000


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(drawn())
