"""The notebooks as programs: find them, check their parameters, run them, save their outputs.

papermill runs them. What it lacks is here: unknown parameter names and values of the wrong type
are errors, a notebook is written whole or not at all, a dead kernel is a failed cell, and the
kernel is always the Python that runs this module, free of the user's own start-up files.
"""

from __future__ import annotations

import ast
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError, strip_color

from ..paper import data
from ..work.files import below, replace_when_done

__all__ = [
    "FOLDER",
    "CellError",
    "Notebook",
    "Parameter",
    "clean_environment",
    "find",
    "load",
    "pick",
    "places",
    "read",
    "run",
    "save",
    "without_versions",
]

FOLDER = data.project() / "notebooks"
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_LANGUAGE = {"name": "python"}


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell: ``name: type = value  # help``."""

    name: str
    kind: str
    default: str
    help: str

    def convert(self, value: object) -> object:
        """The value in this parameter's type; text is read, as a command line gives it.

        Parameters
        ----------
        value : object
            Text, or a value that is already of a type that fits.

        Raises
        ------
        ValueError
            Naming the parameter, its type and the value.

        Examples
        --------
        >>> Parameter("alphas", "list[float]", "[]", "").convert("[1e-3, 0.2]")
        [0.001, 0.2]
        """
        try:
            return _convert(value, self.kind, self._item_kind())
        except (TypeError, ValueError, SyntaxError):
            raise ValueError(
                f"parameter {self.name} ({self.help}) must be {self.kind}, got {value!r}"
            ) from None

    def _item_kind(self) -> str:
        """Type of a list's items, from ``list[float]`` or else from the default's first item."""
        if "[" in self.kind:
            return self.kind.partition("[")[2].rstrip("] ")
        items = ast.literal_eval(self.default) if self.kind == "list" else []
        kinds = {type(item).__name__ for item in items}
        return "float" if kinds == {"int", "float"} else kinds.pop() if len(kinds) == 1 else ""

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, default {self.default}): {self.help}"


def _convert(value: object, kind: str, item_kind: str = "") -> object:
    if kind.startswith("list"):
        items = ast.literal_eval(value) if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise TypeError
        return [_convert(item, item_kind) if item_kind else item for item in items]
    if kind == "bool" and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    number = {"int": int, "float": float}.get(kind)
    if number and isinstance(value, str):
        return number(value)
    allowed = {"int": int, "float": (int, float), "bool": bool, "str": str}[kind]
    if not isinstance(value, allowed) or (number and isinstance(value, bool)):
        raise TypeError
    return number(value) if number else value


@dataclass(frozen=True)
class Notebook:
    """A saved notebook and what its metadata says of it.

    Attributes
    ----------
    path : Path
    title : str
        Its first heading.
    section : str
        Section of the paper.
    minutes : float
        Run time with the default parameters, on two cores.
    quick : mapping
        Parameters for a run of a few seconds.
    cells : int
        Number of its code cells.
    """

    path: Path
    title: str
    section: str
    minutes: float
    quick: Mapping[str, object]
    cells: int

    @property
    def name(self) -> str:
        """Such as ``06_proof_of_concept``."""
        return self.path.stem

    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, in the order of the parameters cell."""
        found = papermill.inspect_notebook(self.path)
        return {
            name: Parameter(name, p["inferred_type_name"], p["default"], p["help"])
            for name, p in found.items()
        }

    def check(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values in the types of the parameters.

        Raises
        ------
        ValueError
            If there is no such parameter, or the value is not of its type.
        """
        known = self.known(values)
        return {name: known[name].convert(value) for name, value in values.items()}

    def known(self, names: Iterable[str]) -> dict[str, Parameter]:
        """Its parameters by name, if all of some names are among them.

        Raises
        ------
        ValueError
            If there is no parameter of a name.
        """
        known = self.parameters()
        for name in names:
            if name not in known:
                listed = "\n  ".join(map(str, known.values())) or "none"
                raise ValueError(f"{self.name} has no parameter {name!r}, it has:\n  {listed}")
        return known


def read(path: Path) -> nbformat.NotebookNode:
    """The content of a notebook file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If the file is not a notebook.
    """
    try:
        content = nbformat.read(path, as_version=4)
        # nbformat only logs what is missing.
        _ = content.metadata, [(cell.cell_type, cell.source) for cell in content.cells]
        return content
    except (AttributeError, LookupError, TypeError, ValueError, nbformat.ValidationError) as error:
        raise ValueError(f"{path} is not a notebook: {str(error)[:80]}") from None


def load(path: Path) -> Notebook:
    """Read what a notebook says of itself.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If the file is not a notebook, or its ``metadata.marab`` is not of the form that it should
        have.
    """
    content = read(path)
    about = _mapping(path, "metadata.marab", content.metadata.get("marab", {}))
    headings = (
        line.lstrip("# ").strip()
        for cell in content.cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("# ")
    )
    return Notebook(
        path=path,
        title=next(headings, path.stem),
        section=str(about.get("section", "")),
        minutes=_minutes(path, about.get("minutes", math.nan)),
        quick=_mapping(path, "metadata.marab.quick", about.get("quick", {})),
        cells=sum(map(_is_run, content.cells)),
    )


def _mapping(path: Path, name: str, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: {name} must be a mapping, got {value!r}")
    return dict(value)


def _minutes(path: Path, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{path}: metadata.marab.minutes must be a number, got {value!r}")
    return float(value)


def find(folder: Path = FOLDER) -> list[Notebook]:
    """All numbered notebooks of a folder, in order.

    Parameters
    ----------
    folder : Path
        Default: that of the project.

    Raises
    ------
    LookupError
        If there is none.
    """
    paths = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise LookupError(
            f"no notebook NN_*.ipynb in {folder}. The notebooks and their data are no part of the "
            "installed package: run this in a folder of the repository, or give --notebooks DIR"
        )
    return [load(path) for path in paths]


def pick(text: str, notebooks: list[Notebook]) -> Notebook:
    """The one of some notebooks that a number, a name or a part of a name stands for.

    Parameters
    ----------
    text : str
    notebooks : list of Notebook

    Raises
    ------
    LookupError
        If it is none or more than one of them.

    Examples
    --------
    >>> pick("6", find()).name
    '06_proof_of_concept'
    """
    wanted = Path(text).name.removesuffix(".ipynb")
    exact = [n for n in notebooks if wanted and wanted.zfill(2) in (n.name, n.name[:2])]
    found = exact or [n for n in notebooks if wanted and wanted in n.name]
    if len(found) != 1:
        what = "is more than one notebook" if found else "is no notebook"
        names = ", ".join(n.name for n in found or notebooks)
        raise LookupError(f"{text!r} {what}: {names}")
    return found[0]


# --- running ------------------------------------------------------------------------------


class CellError(Exception):
    """A cell that failed: its number as in ``In [3]``, its first line, and what went wrong."""

    def __init__(self, cell_number: int, source: str, problem: str) -> None:
        super().__init__(f"cell In [{cell_number}] `{source.strip().splitlines()[0]}`{problem}")


def _cell_error(error: PapermillExecutionError) -> CellError:
    """Papermill's error in one line, with the line of the cell at which it was raised."""
    lines = error.source.splitlines()
    at = re.search(r"^-+> *(\d+) ", strip_color("\n".join(error.traceback)), re.MULTILINE)
    place = ""
    if at and 1 < int(at[1]) <= len(lines):
        place = f", line {at[1]} `{lines[int(at[1]) - 1].strip()}`"
    problem = f"{place}: {error.ename}: {error.evalue}".removesuffix(": ")
    return CellError(error.exec_count, error.source, problem)


class _Engine(NBClientEngine):
    """papermill's engine; a kernel that dies is an error of the cell that it died in.

    Live widgets are left out: without their kernel they show nothing, the picture or text that
    stands in for them does.
    """

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        try:
            super().execute_managed_notebook(
                nb_man,
                kernel_name,
                coalesce_streams=True,
                extra_arguments=["--log-level=CRITICAL"],
                **options,
            )
        except DeadKernelError as error:
            started = [c for c in nb_man.nb.cells if c.metadata.papermill.get("start_time")]
            cell = started[-1]
            cell.execution_count = sum(_is_run(c) for c in started)
            cell.outputs.append(
                nbformat.v4.new_output(
                    "error", ename=type(error).__name__, evalue=str(error), traceback=[]
                )
            )
            nb_man.cell_exception(cell)
        finally:
            _drop_widgets(nb_man.nb)


def _drop_widgets(content: nbformat.NotebookNode) -> None:
    content.metadata.pop("widgets", None)
    for cell in content.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


papermill_engines.register("marab", _Engine)


def _is_run(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


@contextmanager
def clean_environment() -> Iterator[None]:
    """Keep what the user has set out of the kernels that are started here.

    These are kernels, start-up files, the plot backend, and what removes the notebooks' checks.
    """
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="marab-") as folder:
        for name in ("JUPYTER_PATH", "MPLBACKEND", "PYTHONOPTIMIZE", "PYTHONSTARTUP"):
            os.environ.pop(name, None)
        os.environ.update(JUPYTER_PREFER_ENV_PATH="1", IPYTHONDIR=folder)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _execute(
    notebook: Notebook, values: Mapping[str, object], done: Path, failed: Path, bar
) -> None:
    """Run a notebook; it becomes the file `done`, or `failed` if a cell of it failed."""
    with replace_when_done(done) as part, clean_environment():
        try:
            papermill.execute_notebook(
                notebook.path.resolve(),
                part,
                parameters=values,
                engine_name="marab",
                kernel_name=_KERNEL["name"],
                cwd=notebook.path.parent.resolve(),
                request_save_on_cell_execute=False,
                autosave_cell_every=0,
                progress_bar=bar,
            )
        except PapermillExecutionError as error:
            with replace_when_done(failed) as part_of_failed:
                os.replace(part, part_of_failed)
            raise _cell_error(error) from None
    failed.unlink(missing_ok=True)


def places(notebook: Notebook, out: Path) -> tuple[Path, Path]:
    """Where `run` leaves an executed notebook: one that was done, and one that failed.

    Raises
    ------
    ValueError
        If the saved notebooks are there, or a link that may lead to others.
    """
    folder = below(out, "notebooks")
    if folder.exists() and folder.samefile(notebook.path.resolve().parent):
        raise ValueError(f"out must not be {str(out)!r}: that would replace the saved notebooks")
    for kind in ("figures", "numbers"):
        below(out, kind)
    names = notebook.path.name, f"{notebook.name}.failed.ipynb"
    done, failed = (below(folder, name) for name in names)
    return done, failed


def run(
    notebook: Notebook,
    values: Mapping[str, object],
    out: Path,
    progress_bar: bool | dict = False,
) -> Path:
    """Execute a notebook with some parameters; the saved notebook stays as it is.

    Parameters
    ----------
    notebook : Notebook
    values : mapping
        Parameters to change, by name.
    out : Path
        Folder for ``notebooks/`` (the executed notebook), ``figures/`` and ``numbers/``.
    progress_bar : bool or dict
        Show a bar; a dict holds options of tqdm.

    Returns
    -------
    Path
        The executed notebook.

    Raises
    ------
    ValueError
        If a parameter is unknown or of the wrong type, or a place in `out` is a link; nothing has
        been run then.
    CellError
        If a cell fails. The notebook is kept as ``notebooks/NAME.failed.ipynb``.
    """
    done, failed = places(notebook, out)
    if "output_dir" in notebook.parameters():
        values = {"output_dir": str(out.resolve()), **values}
    _execute(notebook, notebook.check(values), done, failed, progress_bar)
    return done


def save(notebook: Notebook, out: Path, progress_bar: bool | dict = False) -> bool:
    """Execute a notebook from its defaults and save the outputs in it.

    What changes from run to run (times, widget identities, versions) is left out, so that a
    second run gives the same bytes.

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
        _execute(notebook, {}, done, failed, progress_bar)
        executed = nbformat.read(done, as_version=4)
    saved = nbformat.read(notebook.path, as_version=4)
    for cell, result in zip(saved.cells, executed.cells, strict=True):
        _take_outputs(cell, result)
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


def _kept_metadata(metadata: nbformat.NotebookNode) -> nbformat.NotebookNode:
    kept = {"kernelspec": _KERNEL, "language_info": _LANGUAGE}
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


def without_versions(model: Mapping[str, object], **_: object) -> None:
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
