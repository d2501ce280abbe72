"""Small notebooks for tests of what runs notebooks."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import nbformat
import pytest

PARAMETERS = """\
horizon: int = 4  # pulls of a run
level: float = 0.5  # share of the lowest rewards
name: str = "MIN"  # policy
fast: bool = False  # skip the slow part
alphas: list[float] = [0.1, 0.2]  # levels
seed: int = 1  # of the reward tape
output_dir: str = ""  # folder for figures and numbers; empty writes none"""


def write(folder: Path, name: str, *cells: str, quick: dict | None = None) -> Path:
    """Write a notebook of the given code cells to a folder and return its path."""
    v4 = nbformat.v4
    notebook = v4.new_notebook(
        metadata={
            "kernelspec": {"display_name": "P", "language": "python", "name": "python3"},
            "marab": {"section": "5.1", "minutes": 0.5, "quick": quick or {}},
        },
        cells=[
            v4.new_markdown_cell("# A title"),
            v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
            *map(v4.new_code_cell, cells),
        ],
    )
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    path = folder / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture(scope="session")
def write_notebook_to() -> Callable[..., Path]:
    """The function `write`, for fixtures that live longer than a test."""
    return write


@pytest.fixture
def write_notebook(tmp_path: Path) -> Callable[..., Path]:
    """The function `write` for the folder tmp_path/notebooks."""
    return partial(write, tmp_path / "notebooks")
