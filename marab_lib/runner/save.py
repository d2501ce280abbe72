"""Saving the outputs of a notebook in it, without what changes from run to run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from ..work.files import below, replace_when_done
from .captions import alternative_text
from .find import Notebook
from .run import KERNEL, CellError, execute

_LANGUAGE = {"name": "python"}


def save(notebook: Notebook, out: Path, progress_bar: bool | dict = False) -> bool:
    """Execute a notebook from its defaults and save the outputs in it.

    Each picture gets an alternative text. What changes from run to run (times, widget identities,
    versions) is left out, so that a second run gives the same bytes.

    Parameters
    ----------
    notebook : Notebook
    out : Path
        Folder for ``notebooks/NAME.failed.ipynb`` if a cell fails.
    progress_bar : bool or dict
        As in `run`.

    Returns
    -------
    bool
        Whether the file has changed.

    Raises
    ------
    ValueError
        If the place in `out` is a link.
    CellError
        If a cell fails, or writes to stderr: a warning or a progress bar has no place in a saved
        notebook. It then stays as it is.
    """
    failed = below(out, "notebooks", f"{notebook.name}.failed.ipynb")
    with tempfile.TemporaryDirectory(prefix="marab-") as folder:
        done = Path(folder) / notebook.path.name
        execute(notebook, {}, done, failed, progress_bar)
        executed = nbformat.read(done, as_version=4)
    saved = nbformat.read(notebook.path, as_version=4)
    for cell, result in zip(saved.cells, executed.cells, strict=True):
        _take_outputs(cell, result)
    describe(saved)
    saved.metadata = _kept_metadata(saved.metadata)
    text = nbformat.writes(saved) + "\n"
    if text == notebook.path.read_text(encoding="utf-8"):
        return False
    with replace_when_done(notebook.path) as part:
        part.write_text(text, encoding="utf-8")
    return True


def _take_outputs(cell: nbformat.NotebookNode, result: nbformat.NotebookNode) -> None:
    for name in ("execution", "papermill"):
        cell.metadata.pop(name, None)
    if cell.cell_type != "code":
        return
    for output in result.outputs:
        if output.get("name") == "stderr":
            problem = f" wrote to stderr: {output.text.strip()}"
            raise CellError(result.execution_count, cell.source, problem)
    cell.outputs = result.outputs
    cell.execution_count = result.execution_count


def describe(content: nbformat.NotebookNode) -> None:
    """Give each picture its caption as the alternative text; the notebook is changed in place.

    It stands where IPython and nbconvert have it, in the metadata of the output. JupyterLab 4.6
    keeps it, but shows pictures without.
    """
    for number, cell in enumerate(content.cells):
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.metadata["image/png"] = {"alt": alternative_text(content.cells, number)}


def _kept_metadata(metadata: nbformat.NotebookNode) -> nbformat.NotebookNode:
    kept: dict[str, Any] = {"kernelspec": KERNEL, "language_info": _LANGUAGE}
    if "marab" in metadata:
        kept["marab"] = _as_javascript(metadata.marab)
    return nbformat.from_dict(kept)


def _as_javascript(value: object) -> object:
    """1.0 as 1, as JupyterLab writes it: its numbers are all of one type."""
    if isinstance(value, Mapping):
        return {key: _as_javascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_as_javascript, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def without_versions(model: Mapping[str, Any], **_: object) -> None:
    """Leave the language's version out of a notebook that JupyterLab saves.

    JupyterLab takes it from the kernel and saves it, also in a notebook that was only opened. For
    Jupyter's option ``ContentsManager.pre_save_hook``.

    Parameters
    ----------
    model : mapping
        What is to be saved, in the form of Jupyter's contents; changed in place.
    """
    if model["type"] == "notebook" and "language_info" in model["content"]["metadata"]:
        model["content"]["metadata"]["language_info"] = dict(_LANGUAGE)
