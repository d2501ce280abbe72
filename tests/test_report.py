"""The static site: what is shown, and that it needs no network."""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from marab_lib import report
from marab_lib.__main__ import main

FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
WIDGET = "import ipywidgets\nipywidgets.IntSlider(value=3)"
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}


class Loaded(HTMLParser):
    """Collects what a page makes the browser load."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if (tag, name) in LOADED]


def from_elsewhere(folder: Path) -> list[str]:
    """What the pages and styles of a site would load from another place."""
    pages = {page.name: Loaded(page).found for page in folder.rglob("*.html")}
    styles = {
        style.name: re.findall(r"(?:@import|url\()\s*[\"']?([^\"')]*)", style.read_text("utf-8"))
        for style in folder.rglob("*.css")
    }
    return [
        f"{name}: {address}"
        for name, addresses in (pages | styles).items()
        for address in addresses
        if re.match(r"(\w+:)?//", address)
    ]


@pytest.fixture(scope="module")
def site(write_notebook_to, tmp_path_factory):
    """A site of a notebook that was run, one that failed, and one that was not run."""
    folder = tmp_path_factory.mktemp("site")
    formula = nbformat.v4.new_markdown_cell("With $x^2$, [next](03_saved.ipynb).")
    path = write_notebook_to(
        folder, "01_run", FIGURE, WIDGET, "print(horizon)", quick={"horizon": 7}
    )
    content = nbformat.read(path, as_version=4)
    content.cells.append(formula)
    nbformat.write(content, path)
    write_notebook_to(folder, "02_wrong", "assert False, 'too large'")
    arguments = ["--notebooks", str(folder), "--out", str(folder / "out")]
    assert main(["reproduce", "--scale", "quick", *arguments]) == 1
    write_notebook_to(folder, "03_saved", "print('never run')")
    assert main(["report", *arguments]) == 0
    return folder / "out" / "report"


def text(page: Path) -> str:
    return re.sub(r"<[^>]*>|\s+", " ", page.read_text(encoding="utf-8"))


def test_the_first_page_says_how_each_notebook_is_shown(site):
    rows = re.findall(r"<tr.*?</tr>", (site / "index.html").read_text(), re.DOTALL)
    names = ("01_run", "02_wrong", "03_saved")
    shown = {name: row for name in names for row in rows if f"{name}.html" in row}
    assert "run anew" in shown["01_run"]
    assert "horizon = 7" in re.sub("<[^>]*>", "", shown["01_run"])
    assert "<strong>failed</strong>" in shown["02_wrong"]
    assert "as saved" in shown["03_saved"]


def test_pages_show_outputs_figures_errors_and_links(site):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in site.glob("notebooks/*.html")}
    assert sorted(pages) == ["01_run", "02_wrong", "03_saved"]
    (image,) = re.findall(r'<img [^>]*src="([^"]*_images[^"]*)"', pages["01_run"])
    assert (site / "notebooks" / image).read_bytes().startswith(b"\x89PNG")
    assert ">7\n<" in pages["01_run"]
    assert 'href="03_saved.html"' in pages["01_run"]
    assert "widget-view" not in pages["01_run"]
    assert "too large" in pages["02_wrong"]
    assert "never run" in pages["03_saved"]


def test_all_claims_are_there(site):
    claims = text(site / "claims.html")
    assert "The published verdicts" in claims
    assert claims.count("holds") > 20


def test_claims_computed_in_this_run_are_shown(site, write_notebook, tmp_path):
    numbers = tmp_path / "out" / "numbers"
    numbers.mkdir(parents=True)
    (numbers / "10_claims.csv").write_text("key,claim,ours,verdict\n5.3 odd,A | B,0.5,holds\n")
    path = write_notebook("10_claims")
    executed = nbformat.read(path, as_version=4)
    executed.metadata["papermill"] = {"parameters": {"horizon": 7, "output_dir": "x"}}
    (tmp_path / "out" / "notebooks").mkdir()
    nbformat.write(executed, tmp_path / "out" / "notebooks" / path.name)
    page, _ = report.build(tmp_path / "out", tmp_path / "notebooks")
    claims = re.sub(r"\s+", " ", text(page.with_name("claims.html")))
    assert "in this run, with other parameters than its own: horizon = 7 ." in claims
    assert "5.3 odd A | B 0.5 holds" in claims
    assert "All 1 claims" in text(page)


def test_nothing_is_loaded_from_elsewhere(site):
    assert len(list(site.rglob("*.html"))) >= 6
    assert from_elsewhere(site) == []
    assert (site / "_static" / "tex-svg-full.js").stat().st_size > 1e6
    page = site / "elsewhere.html"
    page.write_text('<script src="https://example.org/x.js"></script>')
    assert from_elsewhere(site) == ["elsewhere.html: https://example.org/x.js"]
    page.unlink()


def test_a_dead_link_is_reported_and_a_new_site_takes_the_place_of_the_old(
    write_notebook, tmp_path
):
    path = write_notebook("01_show", "print(1)")
    old = tmp_path / "out" / "report" / "old.html"
    old.parent.mkdir(parents=True)
    old.write_text("")
    content = nbformat.read(path, as_version=4)
    content.cells.append(nbformat.v4.new_markdown_cell("[none](02_none.ipynb)"))
    nbformat.write(content, path)
    page, flaws = report.build(tmp_path / "out", tmp_path / "notebooks")
    assert len(flaws) == 1
    assert "02_none.ipynb" in flaws[0]
    assert page.exists()
    assert not old.exists()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report"]


def test_missing_packages_are_named(monkeypatch, write_notebook, tmp_path):
    write_notebook("01_show")
    monkeypatch.setattr(report, "_NEEDED", ("sphinx", "no_such_package"))
    with pytest.raises(ValueError, match="the report needs no_such_package"):
        report.build(tmp_path / "out", tmp_path / "notebooks")


def test_reproduce_ends_by_making_the_report(write_notebook, tmp_path, capsys):
    write_notebook("01_wrong", "1 / 0")
    out = tmp_path / "out"
    arguments = ["--notebooks", str(tmp_path / "notebooks"), "--out", str(out)]
    assert main(["reproduce", "--report", *arguments]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {out / 'report' / 'index.html'}"
    assert (out / "report" / "index.html").exists()
