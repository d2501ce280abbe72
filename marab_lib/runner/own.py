"""One call for a reader's own table: the notebook of it is run, its answer told, its page made."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from .. import _validate, own_data, risk
from ..decision import aim
from ..simulation.warm import compile_all
from . import find, run

NAME = "own_data"  # in the name of the notebook
_LEAST = {"runs": 2, "orders": 2, "resamples": 100, "seed": 0}  # of parameters of the notebook
_LABELS = {"auto": None, "yes": True, "no": False}


def answer(
    data: Path,
    values: Mapping[str, object],
    out: Path,
    folder: Path = find.FOLDER,
    bar: bool | dict = False,
) -> str:
    """Run the notebook on a table, and give the sentences of its result.

    Parameters
    ----------
    data : Path
        The CSV file; see `own_data.read`.
    values : mapping
        Other parameters of the notebook, by name.
    out : Path
        Folder for the notebook, figures and numbers, as of `run.run`.
    folder : Path
        Of the notebooks.
    bar : bool or dict
        As of `run.run`.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file cannot be read, or a parameter is wrong; nothing has been run then.
    CellError
        If a cell fails.
    """
    notebook = find.pick(NAME, find.find(folder))
    if "data" in values:
        raise ValueError(f"data must be given as the file alone, got {values['data']!r} too")
    checked: dict[str, Any] = notebook.check({**values, "data": str(data.resolve())})
    labels = checked.pop("labels", "auto")
    if labels not in _LABELS:
        raise ValueError(f"labels must be one of {', '.join(_LABELS)}, got {labels!r}")
    aim(checked.get("aim", "mean"))
    for name in checked.keys() & _LEAST.keys():
        _validate.whole(name, checked[name], _LEAST[name])
    for level in checked.get("levels", []):
        risk.exact_level(level, "levels")
    how = {name: checked[name] for name in ("arm", "reward", "separator") if name in checked}
    rewards = own_data.read(data, labels=_LABELS[labels], **how)
    if not (arms := len(rewards.arms)) <= checked.get("horizon", arms) < 2**31:
        raise ValueError(
            f"horizon must be at least {arms}, the number of arms, and at most {2**31 - 1}, "
            f"got {_validate.shown(checked['horizon'])}"
        )
    compile_all()  # said here: in the notebook it would be an output
    done = run.run(notebook, {**checked, "labels": labels}, out, bar)
    content = find.read(done)
    del content.metadata["papermill"]  # by which the report warns of another run than the paper's
    nbformat.write(content, done)
    return _result(content)


def _result(executed: nbformat.NotebookNode) -> str:
    """The text of the result that a notebook has shown."""
    shown = (
        output["data"].get("text/markdown", "")
        for cell in executed.cells
        for output in cell.get("outputs", [])
        if "data" in output
    )
    text = next(text for text in shown if text.startswith("**Result.**"))
    return text.removeprefix("**Result.** ").replace("`", "'")


def page(out: Path, folder: Path = find.FOLDER) -> Path:
    """Make ``out/report`` of this one notebook, which was run into `out`, and give its page."""
    from . import report  # needs packages of its own

    notebook = find.pick(NAME, find.find(folder))
    with tempfile.TemporaryDirectory(prefix="marab-") as alone:
        shutil.copy(notebook.path, alone)
        first, _ = report.build(out, Path(alone))  # its links to other notebooks lead nowhere
    return next(first.parent.rglob(f"{notebook.name}.html"))
