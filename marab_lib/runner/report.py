"""The executed notebooks as a static site that needs no network, also when opened as files.

Sphinx with MyST-NB makes the pages; it runs no notebook. The first page is the first notebook, with
a list of all at its end. MathJax comes from the Python package sphinx-mathjax-offline and is copied
beside the pages; Bokeh draws the figures with sliders.

All text that is not the site's own goes through `_text` or `_code`, and HTML is no Markdown here: a
parameter, a title or a key stays what it is.

The verdicts and texts are those of the published run. So a page of a run with other parameters says
at its top that its numbers are others.
"""

from __future__ import annotations

import ast
import copy
import functools
import html
import io
import math
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from importlib import metadata, util
from pathlib import Path

import nbformat
import pandas
from papermill.exceptions import strip_color

from ..paper.sliders import GRIDS, Grid
from ..paper.verdicts import count_verdicts, saved_verdicts
from ..work.files import below, replace_folder_when_done
from . import interactive
from .captions import alternative_text
from .find import FOLDER, Notebook, Parameter, find, read
from .outputs import read_table

_NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline", "bokeh")
_MATHJAX = "tex-svg-full.js"
_TITLE = "marab: risk-aware bandits, reproduced"
_SETTINGS = {
    "project": _TITLE,
    "html_title": _TITLE,
    "extensions": ["myst_nb"],
    "html_theme": "sphinx_book_theme",
    "html_theme_options": {
        "show_navbar_depth": 2,
        "show_toc_level": 2,
        "navbar_persistent": [],
        "footer_content_items": [],
    },
    "html_static_path": ["_static"],
    "html_css_files": ["report.css"],
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "nb_render_markdown_format": "myst",  # formulas in text that code has written
    "nb_ipywidgets_js": {},  # would be loaded from elsewhere; static figures stand in
    "myst_enable_extensions": ["amsmath", "dollarmath"],
    "myst_heading_anchors": 3,
    "myst_disable_syntax": ["html_block", "html_inline"],
    "suppress_warnings": ["myst.header"],
    # One script that holds all glyphs: browsers load no fonts for a page that is opened as a file.
    "mathjax_path": _MATHJAX,
    "mathjax3_config": {"options": {"enableMenu": False}},
}
_PUBLISHED = "As in the README; from the saved notebooks with their own parameters."
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_HEADING = re.compile(r"^# .*$", re.MULTILINE)
_CSS = """\
.bd-main .bd-content .bd-article-container { max-width: 65rem; }
.cell_input pre, .cell_output pre { font-size: 0.8em; }
.cell_output table { font-size: 0.85em; display: block; overflow-x: auto; width: fit-content; }
.cell_output table { max-width: 100%; }
.cell_output td, .cell_output th { padding: 0.15em 0.6em; }
.cell_output img { max-width: 100%; }
@media (max-width: 40rem) {  /* the list of notebooks: one below the other, without columns */
  table:has(td:first-child a) thead { display: none; }
  table:has(td:first-child a) :is(tbody, tr) { display: block; }
  table:has(td:first-child a) :is(td, td p) { display: inline; border: 0; }
  table:has(td:first-child a) td { padding: 0 0.8em 0 0; }
  table:has(td:first-child a) td:first-child { display: block; }
  table:has(td:first-child a) tr { padding: 0.5em; }
  p:has(mjx-container) { overflow: auto hidden; }
}
@media print {  /* nothing can be scrolled on paper, and a page ends between things, not in them */
  pre { white-space: pre-wrap !important; overflow-wrap: anywhere; }
  .cell_input, .cell_output img, figure, tr, [role=figure] { break-inside: avoid; }
  h1, h2, h3, h4 { break-after: avoid; }
  .pst-scrollable-table-container, mjx-container { overflow: visible !important; }
  mjx-container svg { max-width: 100%; }
  .bd-main .bd-content table { display: table; width: auto; font-size: 0.55em; break-inside: auto; }
  .cell_output td, .cell_output th, td, th { padding: 0.1em 0.3em; overflow-wrap: break-word; }
}
"""


def build(out: Path, folder: Path = FOLDER) -> tuple[Path, list[str]]:
    """Make ``out/report`` from the notebooks that were run into ``out/notebooks``.

    A notebook that was not run there is shown as it was saved; one that failed is shown with its
    error, and the first page says so. The published verdicts come first, those of notebook 10 of
    this run after them.

    Parameters
    ----------
    out : Path
        Where `runner.run.run` left its results.
    folder : Path
        The saved notebooks. Default: the project's.

    Returns
    -------
    Path
        The first page.
    list of str
        What Sphinx warns of, such as a link that leads nowhere.

    Raises
    ------
    ValueError
        If the packages of the extra ``report`` are not installed, or a notebook or the table of
        claims cannot be read; the message names the file.
    NotADirectoryError
        If ``out/report`` is a file; ValueError if it is a link.
    """
    if missing := [name for name in _NEEDED if util.find_spec(name) is None]:
        raise ValueError(
            f"the report needs {', '.join(missing)}: install the extra 'report' of marab_lib"
        )
    shown = [_Page(notebook, out) for notebook in find(folder)]
    # The target first: a place that cannot be written to is seen before Sphinx has run.
    with (
        replace_folder_when_done(below(out, "report")) as part,
        tempfile.TemporaryDirectory(prefix="marab-") as scratch,
    ):
        source, made = Path(scratch) / "source", Path(scratch) / "site"
        _write_source(source, shown, out)
        first = shown[0].notebook.name
        flaws = _run_sphinx(source, made, Path(scratch) / "doctrees", first)
        shutil.copy(made / f"{first}.html", made / "index.html")
        shutil.copytree(made, part, dirs_exist_ok=True)
    return out / "report" / "index.html", flaws


class _Page:
    """One notebook of the site: where it is taken from, and what to say of it."""

    def __init__(self, notebook: Notebook, out: Path) -> None:
        self.notebook = notebook
        done = out / "notebooks" / notebook.path.name
        failed = done.with_suffix(".failed.ipynb")
        self.path, self.state = notebook.path, _Markdown("as saved")
        if done.exists():
            self.path, self.state = done, _Markdown("run anew")
        if failed.exists():
            self.path, self.state = failed, _Markdown("**failed**")
        self.content = read(self.path)
        self._run = self.content.metadata.get("papermill") or {}

    def changed(self) -> dict[str, object]:
        """Parameters that are not at their defaults."""
        return self._not_defaults(self._run.get("parameters") or {})

    def _not_defaults(self, given: Mapping[str, object]) -> dict[str, object]:
        known = self.notebook.parameters()
        changed = {k: v for k, v in given.items() if k not in known or v != _default(known[k])}
        changed.pop("output_dir", None)
        return changed

    def run_time(self) -> str:
        """As measured, or else what the notebook says of itself."""
        seconds = self._run.get("duration")
        if isinstance(seconds, int | float):
            return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60:.1f} min"
        minutes = self.notebook.minutes
        return "" if math.isnan(minutes) else f"about {minutes:g} min"

    def row(self) -> list[str]:
        n = self.notebook
        link = _Markdown(f"[{_text(n.title)}]({n.name}.ipynb)")
        return [link, n.section, self.run_time(), self.state, _listed(self.changed())]

    def shown(self) -> nbformat.NotebookNode:
        """The notebook, with a note below its title if its parameters are not the defaults."""
        content = copy.deepcopy(self.content)
        content.cells = [cell for cell in content.cells if not _is_of_papermill(cell)]
        if not (changed := self.changed()):
            return content
        quick = changed == self._not_defaults(self.notebook.quick)
        size = "a smaller run than" if quick else "another run than"
        note = (
            f"```{{warning}}\n**This is {size} the published one**, with {_listed(changed)}. Its "
            "numbers and verdicts differ from the README's; the text, such as that under \"What we "
            'learned", refers to the published run.\n```'
        )
        for cell in content.cells:
            if cell.cell_type == "markdown" and _HEADING.search(cell.source):
                cell.source = _HEADING.sub(lambda found: f"{found[0]}\n\n{note}", cell.source, 1)
                return content
        content.cells.insert(0, nbformat.v4.new_markdown_cell(note))
        return content


def _default(parameter: Parameter) -> object:
    try:
        return parameter.convert(ast.literal_eval(parameter.default))
    except (ValueError, SyntaxError):  # no literal: it then counts as changed
        return None


def _is_of_papermill(cell: nbformat.NotebookNode) -> bool:
    """Whether it is a sentence in HTML that papermill adds where a cell failed."""
    return "papermill-error-cell-tag" in cell.metadata.get("tags", [])


class _Markdown(str):
    """A text that is Markdown already; `_table` takes any other as it stands."""


def _text(value: object) -> str:
    """Any text as Markdown that shows just this text, in one line."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(str(value).split()))


def _code(text: str) -> str:
    """Any text as Markdown for code, in one line."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _listed(changed: Mapping[str, object]) -> _Markdown:
    return _Markdown(", ".join(_code(f"{name} = {value!r}") for name, value in changed.items()))


# --- pages --------------------------------------------------------------------------------


def _write_source(source: Path, shown: list[_Page], out: Path) -> None:
    static = source / "_static"
    static.mkdir(parents=True)
    spec = util.find_spec("sphinx-mathjax-offline")
    assert spec
    assert spec.origin
    shutil.copy(Path(spec.origin).parent / "static" / "mathjax" / _MATHJAX, static)
    (static / "report.css").write_text(_CSS, encoding="utf-8")
    interactive.copy_library(static)
    published, run = saved_verdicts(), _claims_of_run(out)
    claims, of_run = [_counts(published), _claims(published)], []
    if run is not None:
        of_run = ["## Verdicts of this run", _about_run(shown, run, published), _counts(run)]
        claims += [*of_run, _claims(run)]
    text = "\n\n".join(["# All claims", "## Published verdicts", _PUBLISHED, *claims, ""])
    (source / "claims.md").write_text(text, encoding="utf-8")
    for page in shown:
        content = _with_sliders(_described(page.shown()), static)
        if page is shown[0]:
            _make_first(content, shown, of_run, len(published))
        nbformat.write(content, source / page.notebook.path.name)


def _described(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with an alternative text for each figure, where MyST-NB looks for it."""
    described = copy.deepcopy(notebook)
    for number, cell in enumerate(described.cells):
        if cell.cell_type == "code":
            text = alternative_text(described.cells, number)
            cell.metadata["mystnb"] = {"image": {"alt": text}}
    return described


def _with_sliders(notebook: nbformat.NotebookNode, static: Path) -> nbformat.NotebookNode:
    """The notebook with sliders that need no kernel below a cell that shows an `Explorer`."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        found = re.search(r"\bsliders\.(\w+)\(", cell.source) if cell.cell_type == "code" else None
        if found and found[1] in GRIDS:
            name = f"{found[1]}.js"
            caption, script, place = _sliders(GRIDS[found[1]])
            (static / name).write_text(script, encoding="utf-8")
            scripts = [f'<script src="_static/{n}"></script>' for n in (*interactive.LIBRARY, name)]
            cell.outputs = []  # the same figure, as a picture
            text = f"**Figure.** {caption}\n\n" + _raw_html([place, *scripts])
            cells.append(nbformat.v4.new_markdown_cell(text))
    notebook.cells = cells
    return notebook


@functools.cache
def _sliders(make: Callable[[], Grid]) -> tuple[str, str, str]:
    """The caption of a figure with sliders, and its script and place."""
    grid = make()
    return grid.caption, *interactive.figure(grid)


def prepare() -> None:
    """Make ahead what needs no run: the figures with sliders."""
    for make in GRIDS.values():
        _sliders(make)


def _raw_html(lines: list[str]) -> str:
    return "\n".join(["```{raw} html", *lines, "```"])


def _make_first(
    content: nbformat.NotebookNode, shown: list[_Page], of_run: list[str], n_claims: int
) -> None:
    """Make the first page of a notebook: its code folded, links at the top, the list at the end."""
    columns = ["Notebook", "Section", "Run time", "Shown", "Parameters changed"]
    packages = ("marab_lib", "numpy", "scipy", "numba", "pandas", "xarray", "matplotlib")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    for cell in content.cells:
        if cell.cell_type == "code":
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "hide-input"})
    links = f"[All {n_claims} claims](claims.md) · [notebooks as shown here](#notebooks-shown-here)"
    failed = [_Markdown(page.row()[0]) for page in shown if "failed" in page.state]
    top = [links, *(f"{link} **failed**" for link in failed)]
    names = [page.notebook.name for page in shown[1:]]
    end = [
        *of_run,
        "## Notebooks shown here",
        _table(pandas.DataFrame([page.row() for page in shown], columns=columns)),
        f"Shown with {versions}.",
        "\n".join(["```{toctree}", ":hidden:", "", "claims", *names, "```"]),
    ]
    content.cells.insert(1, nbformat.v4.new_markdown_cell("\n\n".join(top)))
    content.cells.append(nbformat.v4.new_markdown_cell("\n\n".join(end)))


def _claims_of_run(out: Path) -> pandas.DataFrame | None:
    """The table of notebook 10 by key, if it was run."""
    path = out / "numbers" / "10_claims.csv"
    if not path.exists():
        return None
    table = read_table(path)
    needed = ["key", "whose", "verdict", "nearest"]
    if not {*needed} <= {*table}:
        raise ValueError(
            f"{path} must have the columns {', '.join(needed)}, got {', '.join(table.columns)}"
        )
    return table.set_index("key")


def _about_run(shown: list[_Page], run: pandas.DataFrame, published: pandas.DataFrame) -> str:
    """Where the verdicts of the run come from, and which are not the published ones."""
    changed = ", ".join(_listed(p.changed()) for p in shown if p.notebook.name.startswith("10"))
    text = "As computed by notebook 10 in this run"
    text += f", with other parameters than its own: {changed}." if changed else "."
    other = run.index[run["verdict"] != published["verdict"].reindex(run.index)]
    if other.empty:
        return f"{text} No verdict differs from the published one."
    return f"{text} Not as published: {', '.join(map(_text, other))}."


def _claims(verdicts: pandas.DataFrame) -> str:
    shown = ["claim", "ours", "whose", "verdict", "decides", "nearest", "nearest decides"]
    return _table(verdicts[[name for name in shown if name in verdicts]].reset_index())


def _counts(verdicts: pandas.DataFrame) -> str:
    return _table(count_verdicts(verdicts).rename_axis("section").reset_index())


def _table(table: pandas.DataFrame) -> str:
    """A Markdown table."""
    columns = list(map(_text, table.columns))
    rows = [list(map(_cell, row)) for row in table.to_numpy()]
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return value.replace("|", "\\|") if isinstance(value, _Markdown) else _text(value)


def _escape_for_theme(app, pagename: str, template: str, context: dict, doctree) -> None:
    """The theme puts a page's title into the page as it is."""
    context["pagetitle"] = html.escape(context.get("pagetitle", ""))


def _run_sphinx(source: Path, target: Path, doctrees: Path, first: str) -> list[str]:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    found = io.StringIO()
    with warnings.catch_warnings(), patch_docutils(), docutils_namespace():
        warnings.simplefilter("ignore")  # of deprecations, between Sphinx and the theme
        app = Sphinx(
            source, None, target, doctrees, "html", {**_SETTINGS, "root_doc": first},
            status=None, warning=found, freshenv=True,
        )  # fmt: skip
        app.connect("html-page-context", _escape_for_theme, priority=900)  # after the theme's own
        app.build()
    return strip_color(found.getvalue()).replace(f"{source}/", "").splitlines()
