"""What the README shows is true: its code runs, prints what it says, and its pictures are current.

``python tests/runner/test_readme.py`` takes the pictures from the saved notebooks again.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = {  # the notebook, and what its cell calls the figure
    ROOT / "docs" / "figure_2.png": ("13", "one_reading"),
    ROOT / "docs" / "exploration_exploitation_safety.png": ("15", "in_one_picture"),
}


def drawn(number: str, name: str) -> bytes:
    """A picture as the notebook has it."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    draws = f'out.figure(figure, "{name}")'
    (cell,) = (c for c in nbformat.read(path, as_version=4).cells if draws in c.source)
    (text,) = (o["data"]["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
    return base64.b64decode(text)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_that_of_the_notebook(picture):
    assert picture.read_bytes() == drawn(*PICTURES[picture]), "python tests/runner/test_readme.py"
    assert f"(docs/{picture.name})" in README


def test_what_safety_costs_is_what_the_notebook_says():
    """Each number with its interval, as it stands there."""
    (path,) = (ROOT / "notebooks").glob("15_*.ipynb")
    (part,) = re.findall(r"## How much safety costs\n(.*?)\n## ", README, re.DOTALL)
    quoted = re.findall(r"0\.\d+ \(0\.\d+ to 0\.\d+\)", part)
    assert len(quoted) == 2
    assert [text for text in quoted if text not in path.read_text(encoding="utf-8")] == []


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
    for place, (number, name) in PICTURES.items():
        place.write_bytes(drawn(number, name))
