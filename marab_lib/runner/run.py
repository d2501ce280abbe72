"""Running a notebook with some parameters: papermill does it, made strict.

What papermill lacks is here: unknown parameter names and values of the wrong type are errors, a
notebook is written whole or not at all, a dead kernel is a failed cell, and the kernel is always
the Python that runs this module, free of the user's own start-up files.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError, strip_color

from ..work.files import below, replace_when_done
from .find import Notebook, is_run
from .kernels import Manager

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


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
                kernel_manager_class=Manager,
                **options,
            )
        except DeadKernelError as error:
            started = [c for c in nb_man.nb.cells if c.metadata.papermill.get("start_time")]
            cell = started[-1]
            cell.execution_count = sum(is_run(c) for c in started)
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


@contextmanager
def clean_environment() -> Iterator[None]:
    """Keep what the user has set out of the kernels that are started here.

    These are kernels, start-up files, the plot backend, and what removes the notebooks' checks. The
    backend is the one that a kernel would set, too late for `kernels`, where Matplotlib is loaded.
    """
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="marab-") as folder:
        for name in ("JUPYTER_PATH", "PYTHONOPTIMIZE", "PYTHONSTARTUP"):
            os.environ.pop(name, None)
        backend = "module://matplotlib_inline.backend_inline"
        os.environ.update(JUPYTER_PREFER_ENV_PATH="1", IPYTHONDIR=folder, MPLBACKEND=backend)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def execute(
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
                kernel_name=KERNEL["name"],
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
    execute(notebook, notebook.check(values), done, failed, progress_bar)
    return done
