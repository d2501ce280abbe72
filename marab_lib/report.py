"""The executed notebooks as a static site that needs no network, also when opened as files.

Sphinx with MyST-NB makes the pages; it runs no notebook. MathJax comes from the Python package
sphinx-mathjax-offline and is copied beside the pages.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
from importlib import metadata, util
from pathlib import Path

import nbformat
import pandas
from papermill.exceptions import strip_color

from . import front_page, notebooks
from .claims import count_verdicts
from .notebooks import Notebook
from .outputs import replace_folder_when_done

__all__ = ["build"]

_NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme", "sphinx-mathjax-offline")
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
    "nb_ipywidgets_js": {},  # would be loaded from elsewhere; static figures stand in
    "myst_enable_extensions": ["amsmath", "dollarmath"],
    "myst_heading_anchors": 3,
    "suppress_warnings": ["myst.header"],
    # One script that holds all glyphs: browsers load no fonts for a page that is opened as a file.
    "mathjax_path": _MATHJAX,
    "mathjax3_config": {"options": {"enableMenu": False}},
}
_CSS = """\
.bd-main .bd-content .bd-article-container { max-width: 65rem; }
.cell_input pre, .cell_output pre { font-size: 0.8em; }
.cell_output table { font-size: 0.85em; display: block; overflow-x: auto; width: fit-content; }
.cell_output table { max-width: 100%; }
.cell_output td, .cell_output th { padding: 0.15em 0.6em; }
.cell_output img { max-width: 100%; }
"""


def build(out: Path, folder: Path = notebooks.FOLDER) -> tuple[Path, list[str]]:
    """Make ``out/report`` from the notebooks that were run into ``out/notebooks``.

    A notebook that was not run there is shown as it was saved; one that failed is shown with its
    error, and the first page says so.

    Parameters
    ----------
    out : Path
        Where `notebooks.run` left its results.
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
        If the packages of the extra ``report`` are not installed.
    """
    if missing := [name for name in _NEEDED if util.find_spec(name) is None]:
        raise ValueError(
            f"the report needs {', '.join(missing)}: install the extra 'report' of marab_lib"
        )
    shown = [_Page(notebook, out) for notebook in notebooks.find(folder)]
    with tempfile.TemporaryDirectory(prefix="marab-") as scratch:
        source, made = Path(scratch) / "source", Path(scratch) / "site"
        _write_source(source, shown, out)
        flaws = _run_sphinx(source, made, Path(scratch) / "doctrees")
        with replace_folder_when_done(out / "report") as part:
            shutil.copytree(made, part, dirs_exist_ok=True)
    return out / "report" / "index.html", flaws


class _Page:
    """One notebook of the site: where it is taken from, and what to say of it."""

    def __init__(self, notebook: Notebook, out: Path) -> None:
        self.notebook = notebook
        done = out / "notebooks" / notebook.path.name
        failed = done.with_suffix(".failed.ipynb")
        self.path, self.state = notebook.path, "as saved"
        if done.exists():
            self.path, self.state = done, "run anew"
        if failed.exists():
            self.path, self.state = failed, "**failed**"
        self.content = nbformat.read(self.path, as_version=4)

    def changed(self) -> str:
        """Parameters that are not at their defaults."""
        given = self.content.metadata.get("papermill", {}).get("parameters", {})
        return ", ".join(f"`{k} = {v!r}`" for k, v in given.items() if k != "output_dir")

    def row(self) -> list[str]:
        n = self.notebook
        link = f"[{n.title}](notebooks/{n.name}.ipynb)"
        return [link, n.section, f"{n.minutes:g} min", self.state, self.changed()]


# --- pages --------------------------------------------------------------------------------


def _write_source(source: Path, shown: list[_Page], out: Path) -> None:
    (source / "notebooks").mkdir(parents=True)
    for page in shown:
        nbformat.write(page.content, source / "notebooks" / page.notebook.path.name)
    (source / "_static").mkdir()
    package = Path(util.find_spec("sphinx-mathjax-offline").origin).parent
    shutil.copy(package / "static" / "mathjax" / _MATHJAX, source / "_static")
    (source / "_static" / "report.css").write_text(_CSS, encoding="utf-8")
    claims, text = _claims(shown, out)
    page = f"# All claims\n\n{text}\n\n{_table(claims)}\n"
    (source / "claims.md").write_text(page, encoding="utf-8")
    (source / "index.md").write_text(_first_page(shown, claims, text), encoding="utf-8")


def _first_page(shown: list[_Page], claims: pandas.DataFrame, text: str) -> str:
    columns = ["Notebook", "Section", "Run time", "Shown", "Parameters changed"]
    names = "\n".join(f"notebooks/{page.notebook.name}" for page in shown)
    packages = ("marab_lib", "numpy", "scipy", "numba", "pandas", "xarray", "matplotlib")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    counts = count_verdicts(claims.set_index("key")).rename_axis("section").reset_index()
    return f"""\
# {_TITLE}

Galichet, Sebag and Teytaud, *Exploration vs Exploitation vs Safety: Risk-Aware Multi-Armed
Bandits* (ACML 2013), computed again.

## What of the paper holds

{text}

{_table(counts)}

[All {len(claims)} claims with their verdicts](claims.md)

## Notebooks

{_table(pandas.DataFrame([page.row() for page in shown], columns=columns))}

Shown with {versions}.

```{{toctree}}
:hidden:

claims
{names}
```
"""


def _claims(shown: list[_Page], out: Path) -> tuple[pandas.DataFrame, str]:
    """The table of notebook 10, or the published verdicts where it was not run; and which."""
    computed = out / "numbers" / "10_claims.csv"
    if not computed.exists():
        return front_page.saved_verdicts().reset_index(), "The published verdicts."
    changed = ", ".join(page.changed() for page in shown if page.notebook.name.startswith("10"))
    text = "As computed by notebook 10 in this run"
    text += f", with other parameters than its own: {changed}." if changed else "."
    return pandas.read_csv(computed, dtype=str, keep_default_na=False), text


def _table(table: pandas.DataFrame) -> str:
    """A Markdown table."""
    columns = list(map(str, table.columns))
    rows = [[str(value).replace("|", "\\|") for value in row] for row in table.to_numpy()]
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _run_sphinx(source: Path, target: Path, doctrees: Path) -> list[str]:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    found = io.StringIO()
    with warnings.catch_warnings(), patch_docutils(), docutils_namespace():
        warnings.simplefilter("ignore")  # of deprecations, between Sphinx and the theme
        app = Sphinx(
            source, None, target, doctrees, "html", _SETTINGS,
            status=None, warning=found, freshenv=True,
        )  # fmt: skip
        app.build()
    return strip_color(found.getvalue()).replace(f"{source}/", "").splitlines()
