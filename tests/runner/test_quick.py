"""`make reproduce SCALE=quick`, but for its report: all notebooks, as the command runs them."""

from pathlib import Path

import nbformat
import pytest

from marab_lib.runner import find
from marab_lib.runner.command_line import main


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """What the command leaves; one notebook at a time, beside other tests."""
    out = tmp_path_factory.mktemp("quick") / "out"
    assert main(["reproduce", "--scale", "quick", "--at-once", "1", "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("notebook", find.find(), ids=lambda notebook: notebook.name)
def test_a_notebook_runs_at_the_quick_scale(out, notebook):
    """All cells in order, with all figures, shown and as files, and without a warning."""
    saved, run = (
        [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for path in (notebook.path, out / "notebooks" / notebook.path.name)
    )
    counts = [cell.execution_count for cell in run if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))
    shown = [output for cell in run for output in cell.outputs]
    assert [output.text for output in shown if output.get("name") == "stderr"] == []
    assert pictures(run) == pictures(saved) > 0
    written = {path.name for path in out.glob(f"figures/{notebook.name[:2]}_*")}
    assert written == {f"{Path(name).stem}{end}" for name in written for end in (".png", ".pdf")}


def pictures(code: list) -> int:
    """How many outputs are pictures."""
    return sum("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
