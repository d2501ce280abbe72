"""The saved notebooks: run in order from their defaults, described, stripped; and other runs."""

import ast
import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import portable
import pytest
from cases import run_python
from click.testing import CliRunner
from papermill.cli import papermill

from marab_lib.runner import find, save
from marab_lib.runner.command_line import main

SAVED = sorted(find.FOLDER.glob("*.ipynb"))
TYPES = ("int", "float", "str", "bool", "list", "list[int]", "list[float]", "list[str]")
KEPT_OF_A_CELL = {"tags", "jupyter"}
LONGEST_CELL = 25
WHOLE = {"itertools", "json", "math", "matplotlib.pyplot", "numpy", "pandas"}
KINDS = {"text/plain", "text/html", "text/latex", "text/markdown", "image/png"}

each_notebook = pytest.mark.parametrize("path", SAVED, ids=[path.stem for path in SAVED])


def flaws(path: Path) -> Iterator[str]:
    """All that keeps a notebook from being a saved one."""
    content = nbformat.read(path, as_version=4)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    yield from _flaws_of_the_whole(path, content)
    yield from _flaws_of_the_imports(code)
    yield from _flaws_of_the_run(code)
    yield from _flaws_of_the_parameters(path, code)
    yield from _flaws_of_the_pictures(content)
    for number, cell in enumerate(content.cells):
        if unknown := set(cell.metadata) - KEPT_OF_A_CELL:
            yield f"cell {number} has metadata {unknown}"
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)  # in JupyterLab
        if folded != ("hide-input" in cell.metadata.get("tags", [])):  # on the site
            yield f"cell {number} is folded at one place only"
        if cell.cell_type == "code" and len(cell.source.splitlines()) > LONGEST_CELL:
            yield f"cell {number} is longer than {LONGEST_CELL} lines"
        if cell.cell_type == "code" and content.cells[number - 1].cell_type != "markdown":
            yield f"cell {number} has no sentence before it"


def _flaws_of_the_whole(path: Path, content: nbformat.NotebookNode) -> Iterator[str]:
    about = content.metadata.get("marab", {})
    if not re.fullmatch(r"\d\d_\w+", path.stem):
        yield "its name is not of the form NN_name"
    if (content.nbformat, content.nbformat_minor) != (4, 5):
        yield "it is not in format 4.5"
    if set(content.metadata) != {"kernelspec", "language_info", "marab"}:
        yield f"its metadata are {set(content.metadata)}"
    if re.search(r"[\d]\.0\b", json.dumps(about)):
        yield "its metadata have whole numbers with a point, which JupyterLab would remove"
    if content.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "its kernel is not python3"
    if not content.cells[0].source.startswith("# "):
        yield "it has no title"
    if set(about) != {"section", "minutes", "quick"}:
        yield f"metadata.marab has {set(about)}"
    elif not (isinstance(about.section, str) and about.section and about.minutes > 0):
        yield "metadata.marab has no section or no minutes"


def _flaws_of_the_imports(code: list) -> Iterator[str]:
    """What only a process in which more is loaded would find, as that of `make reproduce` is."""
    for statement in ast.walk(ast.parse("\n".join(cell.source for cell in code))):
        if isinstance(statement, ast.Import):
            for name in {alias.name for alias in statement.names} - WHOLE:
                yield f"it imports {name} as a whole, which may lack parts that it uses"


def _flaws_of_the_run(code: list[nbformat.NotebookNode]) -> Iterator[str]:
    counts = [cell.execution_count for cell in code if cell.source.strip()]
    if counts != list(range(1, len(counts) + 1)):
        yield f"its cells were not run in order: {counts}"
    for cell in code:
        for output in cell.outputs:
            kind = output.output_type
            if kind == "error" or output.get("name") == "stderr":
                yield f"In [{cell.execution_count}] has an output of the kind error or stderr"
            if set(output.get("data", {})) - KINDS:
                yield f"In [{cell.execution_count}] has an output in another format"
            if re.search(r"\bat 0x[0-9a-f]{6,}", str(output)):
                yield f"In [{cell.execution_count}] shows a memory address"
            if re.search(r"\d%\|", str(output)):
                yield f"In [{cell.execution_count}] shows a progress bar"


def _flaws_of_the_parameters(path: Path, code: list[nbformat.NotebookNode]) -> Iterator[str]:
    tags = [tag for cell in code for tag in cell.metadata.get("tags", [])]
    if tags.count("parameters") != 1 or "injected-parameters" in tags:
        yield f"its tags are {tags}"
        return
    source = next(c.source for c in code if "parameters" in c.metadata.get("tags", []))
    seen = find.load(path).parameters()  # as papermill sees them
    for line in source.splitlines():
        yield from _flaws_of_a_parameter(line, seen)
    drawn = path.stem[:2] != "00"  # the overview shows what others have computed
    if not ({"seed", "output_dir"} if drawn else {"output_dir"}) <= set(seen):
        yield "it has no seed or no output_dir"
    try:
        find.load(path).check(find.load(path).quick)
    except ValueError as error:
        yield str(error)


def _flaws_of_the_pictures(content: nbformat.NotebookNode) -> Iterator[str]:
    described = copy.deepcopy(content)
    save.describe(described)
    if described != content:
        yield "a picture has another alternative text than its caption, or none"


def _flaws_of_a_parameter(line: str, seen: dict[str, find.Parameter]) -> Iterator[str]:
    if not line.strip() or line.startswith("#"):
        return
    try:
        (statement,) = ast.parse(line).body
        name, value = statement.target.id, ast.literal_eval(statement.value)
        if ast.unparse(statement.annotation) not in TYPES:
            yield f"the type of {name} is none of {TYPES}"
        elif seen[name].convert(value) != value or not seen[name].help:
            yield f"{name} has another default or no help"
    except (AttributeError, KeyError, SyntaxError, ValueError):
        yield f"this parameter is not `name: type = literal  # help` for papermill: {line}"


# --- files that are no notebooks ----------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    ["[]", "5", "null", "{}", "", "{", '{"nbformat": 4, "metadata": {}, "cells": [5]}', "\x00"],
)
def test_what_is_no_notebook_is_named(tmp_path, content):
    path = tmp_path / "01_odd.ipynb"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"01_odd\.ipynb is not a notebook: ") as error:
        find.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ([1], r"metadata\.marab must be a mapping, got \[1\]"),
        ({"minutes": "abc"}, r"metadata\.marab\.minutes must be a number, got 'abc'"),
        ({"minutes": None}, r"metadata\.marab\.minutes must be a number, got None"),
        ({"quick": [1]}, r"metadata\.marab\.quick must be a mapping, got \[1\]"),
    ],
)
def test_odd_metadata_are_named(write_notebook, about, message):
    path = write_notebook("01_odd")
    content = nbformat.read(path, as_version=4)
    content.metadata["marab"] = about
    nbformat.write(content, path)
    with pytest.raises(ValueError, match=rf"01_odd\.ipynb: {message}"):
        find.load(path)


# --- the saved notebooks ------------------------------------------------------------------


@each_notebook
def test_a_saved_notebook_is_without_flaw(path):
    assert list(flaws(path)) == []


@each_notebook
def test_papermill_documents_each_parameter(path):
    """As ``papermill --help-notebook`` shows them: name, type, default and help."""
    shown = CliRunner().invoke(papermill, ["--help-notebook", str(path)])
    assert shown.exit_code == 0
    text = re.sub(r"\s+", " ", shown.output)
    for parameter in find.load(path).parameters().values():
        default = re.escape(re.sub(r"\s+", " ", parameter.default))
        kind = re.escape(parameter.kind)
        line = rf" {parameter.name}: {kind} \(default {default}\) {re.escape(parameter.help)}"
        assert re.search(line, text)


_OF_THE_DEFAULTS = re.compile(r"^(as_printed|as_given) = ", re.MULTILINE)
_WITH_SUCH = [p for p in SAVED if re.search(r'"as_(printed|given) = ', p.read_text("utf-8"))]


def test_some_notebooks_assert_of_the_saved_run_only():
    assert {"06", "07", "08", "12", "15"} <= {path.name[:2] for path in _WITH_SUCH}


@pytest.mark.parametrize("path", _WITH_SUCH, ids=[path.stem for path in _WITH_SUCH])
def test_what_is_asserted_of_the_saved_run_only_is_asserted_there(path, monkeypatch):
    """A notebook's `as_printed` and `as_given` are true of its own parameters."""
    monkeypatch.chdir(find.FOLDER)
    names: dict[str, object] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            with plt.rc_context():
                exec(cell.source, names)
            if found := _OF_THE_DEFAULTS.search(cell.source):
                assert names[found[1]] is True
                return
    pytest.fail(f"{path.name} has no such name")


@each_notebook
def test_half_of_the_cells_are_short(path):
    code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    short = sum(len(cell.source.splitlines()) < 8 for cell in code)
    assert short >= len(code) / 2


def test_what_jupyterlab_saves_names_no_version():
    full = {"name": "python", "version": "3.11.7", "file_extension": ".py"}
    content = nbformat.v4.new_notebook(metadata={"language_info": full, "marab": {"minutes": 1}})
    save.without_versions(model={"type": "notebook", "content": content}, path="a.ipynb")
    assert content.metadata == {"language_info": {"name": "python"}, "marab": {"minutes": 1}}
    for other in ({"type": "file", "content": "text"}, {"type": "directory", "content": None}):
        save.without_versions(model=dict(other), path="a")
    untold = {"type": "notebook", "content": {"metadata": {}, "cells": []}}
    save.without_versions(model=untold)
    assert untold["content"]["metadata"] == {}


# --- the checks themselves ----------------------------------------------------------------


@pytest.fixture(scope="module")
def small(write_notebook_to, tmp_path_factory) -> bytes:
    """A small notebook without flaw, as `save` leaves it."""
    folder = tmp_path_factory.mktemp("small")
    path = write_notebook_to(folder, "06_small", "print(f'{level:.3f}')")
    for place, text in ((2, "Look:"), (1, "Given:")):
        sentence = nbformat.v4.new_markdown_cell(text, id=f"sentence-{place}")
        change(path, lambda nb, place=place, cell=sentence: nb.cells.insert(place, cell))
    assert main(["save", "--notebooks", str(folder), "--out", str(folder / "out")]) == 0
    return path.read_bytes()


@pytest.fixture
def saved(small, tmp_path) -> Path:
    path = tmp_path / "06_small.ipynb"
    path.write_bytes(small)
    return path


def change(path: Path, edit: Callable[[nbformat.NotebookNode], object]) -> None:
    content = nbformat.read(path, as_version=4)
    edit(content)
    nbformat.write(content, path)


def parameter(line: str) -> Callable[[nbformat.NotebookNode], None]:
    def edit(content: nbformat.NotebookNode) -> None:
        content.cells[2].source += f"\n{line}"

    return edit


FLAWED = {
    "a whole number with a point": lambda nb: nb.metadata.marab.update(minutes=2.0),
    "not run": lambda nb: nb.cells[4].update(execution_count=None),
    "run out of order": lambda nb: nb.cells[2].update(execution_count=3),
    "an error": lambda nb: nb.cells[4].outputs.append(nbformat.v4.new_output("error")),
    "a warning": lambda nb: nb.cells[4].outputs.append(
        nbformat.v4.new_output("stream", name="stderr", text="odd")
    ),
    "an address": lambda nb: nb.cells[4].outputs.append(
        nbformat.v4.new_output("stream", text="<object at 0x7f0011223344>")
    ),
    "a progress bar": lambda nb: nb.cells[4].outputs.append(
        nbformat.v4.new_output("display_data", {"text/plain": "  0%|          | 0.00/400k"})
    ),
    "a vector figure": lambda nb: nb.cells[4].outputs.append(
        nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})
    ),
    "times": lambda nb: nb.cells[4].metadata.update(execution={}),
    "papermill's notes": lambda nb: nb.metadata.update(papermill={}),
    "folded on the site only": lambda nb: nb.cells[4].metadata.update(tags=["hide-input"]),
    "a package as a whole": lambda nb: nb.cells[4].update(source="import scipy"),
    "a long cell": lambda nb: nb.cells[4].update(source="1\n" * 26),
    "a picture without a text": lambda nb: nb.cells[4].outputs.append(
        nbformat.v4.new_output("display_data", {"image/png": "AAAA"})
    ),
    "no sentence": lambda nb: nb.cells.pop(3),
    "no title": lambda nb: nb.cells.pop(0),
    "no section": lambda nb: nb.metadata.marab.update(section=""),
    "no run time": lambda nb: nb.metadata.marab.pop("minutes"),
    "quick is unknown": lambda nb: nb.metadata.marab.quick.update(runs=1),
    "quick is of another type": lambda nb: nb.metadata.marab.quick.update(horizon=0.5),
    "no tag": lambda nb: nb.cells[2].metadata.update(tags=[]),
    "other parameters": lambda nb: nb.cells[4].metadata.update(tags=["injected-parameters"]),
    "no help": parameter("rho: float = 1.0"),
    "no type": parameter("rho = 1.0  # trade-off"),
    "an odd type": parameter("rho: float | None = None  # trade-off"),
    "a default of another type": parameter("rho: int = 1.5  # trade-off"),
    "no literal": parameter("rho: int = 2 * horizon  # trade-off"),
    "unseen by papermill": parameter("rho: float = 1.0  # trade-off (rho = 0: variance only)"),
    "no seed": lambda nb: nb.cells[2].update(source=nb.cells[2].source.replace("seed", "seeds")),
}


def test_the_small_notebook_is_without_flaw(saved):
    assert list(flaws(saved)) == []


@pytest.mark.parametrize("flaw", FLAWED)
def test_each_flaw_is_seen(saved, flaw):
    change(saved, FLAWED[flaw])
    assert len(list(flaws(saved))) >= 1


TABLE = "import pandas as pd\npd.DataFrame({'level': [level]})"


def test_nbval_sees_a_changed_number(write_notebook, tmp_path):
    """Where it was printed, in a table, and in a table as text."""
    path = write_notebook("06_small", "print(f'{level:.3f}')", TABLE)
    assert main(["save", "--notebooks", str(path.parent), "--out", str(tmp_path)]) == 0
    text = path.read_text(encoding="utf-8")
    changes = {
        "07": ('"0.500\\n"', '"0.501\\n"', 1),
        "08": ("<td>0.5</td>", "<td>0.6</td>", 2),
        "09": ('"0    0.5"', '"0    0.6"', 2),
    }
    for number, (before, after, _) in changes.items():
        assert text.count(before) == 1
        changed = path.with_name(f"{number}_changed.ipynb")
        changed.write_text(text.replace(before, after), encoding="utf-8")
    options = ["-p", "no:cacheprovider", "-q", "--no-header", "-rfp"]
    options += ["-c", find.FOLDER.parent / "pyproject.toml"]
    result = run_python("-m", "pytest", *options, path.parent)
    assert result.returncode == 1
    outcomes = re.findall(r"^(PASSED|FAILED) .*(0\d)_\w+.ipynb::Cell (\d)", result.stdout, re.M)
    wrong = {(name, str(cell)) for name, (*_, cell) in changes.items()}
    cells = [(name, str(cell)) for name in ("06", *changes) for cell in range(3)]
    assert sorted(outcomes) == sorted(("FAILED" if c in wrong else "PASSED", *c) for c in cells)


# --- other processors ---------------------------------------------------------------------


@pytest.mark.parametrize(("dialect", "code"), [("Prescott", 0), ("Haswell", 1)])
def test_a_saved_output_has_to_come_out_under_each_dialect(write_notebook, dialect, code):
    path = write_notebook("01_show", "import os\nprint(os.environ['OPENBLAS_CORETYPE'])")
    notebook = nbformat.read(path, 4)
    printed = nbformat.v4.new_output("stream", text="Prescott\n")
    notebook.cells[-1].update(outputs=[printed], execution_count=1)
    nbformat.write(notebook, path)
    result = portable.check(dialect, [path])
    assert result.returncode == code, result.stdout
    assert ("mismatch 'stdout'" in result.stdout) == bool(code)
