"""Small notebooks for tests of what runs notebooks."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

PARAMETERS = """\
horizon: int = 4  # pulls of a run
level: float = 0.5  # share of the lowest rewards
name: str = "MIN"  # policy
fast: bool = False  # skip the slow part
alphas: list[float] = [0.1, 0.2]  # levels
output_dir: str = ""  # folder for figures and numbers; empty writes none"""


@pytest.fixture
def write_notebook(tmp_path: Path) -> Callable[..., Path]:
    """Write a notebook of the given code cells to tmp_path/notebooks and return its path."""

    def write(name: str, *cells: str, quick: dict | None = None) -> Path:
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
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)
        return path

    return write
