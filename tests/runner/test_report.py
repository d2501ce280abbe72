"""The static site: what is shown, and that it needs no network."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from marab_lib.paper.verdicts import saved_verdicts
from marab_lib.runner import find, report
from marab_lib.runner.command_line import main

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
    content.cells.insert(2, nbformat.v4.new_markdown_cell("**Figure.** Lines <up>."))
    nbformat.write(content, path)
    write_notebook_to(folder, "02_wrong", "assert False, 'too large'")
    arguments = ["--notebooks", str(folder), "--out", str(folder / "out")]
    assert main(["reproduce", "--at-once", "1", "--scale", "quick", *arguments]) == 1
    write_notebook_to(folder, "03_saved", "print('never run')")
    assert main(["report", *arguments]) == 0
    return folder / "out" / "report"


def text(page: Path) -> str:
    return re.sub(r"<[^>]*>|\s+", " ", page.read_text(encoding="utf-8"))


def test_the_first_page_is_the_first_notebook_with_its_code_folded(site):
    first = (site / "index.html").read_text()
    assert first == (site / "01_run.html").read_text()
    assert "A title" in first
    assert first.count('class="cell tag_hide-input') >= 3
    assert "hide-input" not in (site / "03_saved.html").read_text()
    assert '<a class="reference internal" href="claims.html"' in first
    assert re.search(r'href="02_wrong.html".*</a> <strong>failed</strong>', first)


def test_the_first_page_says_how_each_notebook_is_shown(site):
    rows = re.findall(r"<tr.*?</tr>", (site / "index.html").read_text(), re.DOTALL)
    names = ("01_run", "02_wrong", "03_saved")
    links = ("#", "02_wrong.html", "03_saved.html")
    shown = {n: row for n, link in zip(names, links, strict=True) for row in rows if link in row}
    assert "run anew" in shown["01_run"]
    assert "horizon = 7" in re.sub("<[^>]*>", "", shown["01_run"])
    assert "<strong>failed</strong>" in shown["02_wrong"]
    assert "as saved" in shown["03_saved"]


def test_pages_show_outputs_figures_errors_and_links(site):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in site.glob("0*.html")}
    assert sorted(pages) == ["01_run", "02_wrong", "03_saved"]
    (image,) = re.findall(r'<img [^>]*src="([^"]*_images[^"]*)"', pages["01_run"])
    assert (site / image).read_bytes().startswith(b"\x89PNG")
    assert ">7\n<" in pages["01_run"]
    assert 'href="03_saved.html"' in pages["01_run"]
    assert "widget-view" not in pages["01_run"]
    assert "too large" in pages["02_wrong"]
    assert "never run" in pages["03_saved"]


@pytest.mark.parametrize(
    ("before", "alt"),
    [
        (
            "Some.\n\n**Figure 2.** Of `runs`, $\\alpha = 1\\,\\%$.",
            "Figure 2. Of runs, alpha = 1 %.",
        ),
        ('**Figure.** Left: a <b> & "c".\n\n**Check.** All.', 'Figure. Left: a <b> & "c".'),
        ("All [panels](02_b.ipynb):", "All panels:"),
        ("", "Figure"),
    ],
)
def test_the_caption_is_the_alternative_text(before, alt):
    v4 = nbformat.v4
    cells = [v4.new_markdown_cell(before), v4.new_code_cell("1")]
    described = report._described(v4.new_notebook(cells=cells))
    assert described.cells[1].metadata["mystnb"]["image"]["alt"] == alt


def test_every_picture_has_an_alternative_text(site):
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    images = [image for page in pages for image in re.findall(r"<img\b[^>]*>", page)]
    assert any("_images" in image for image in images)
    assert [image for image in images if not re.search(r'alt="[^"]+"', image)] == []
    assert any('alt="Figure. Lines &lt;up&gt;."' in image for image in images)


def test_all_claims_are_there(site):
    claims = text(site / "claims.html")
    assert "Published verdicts" in claims
    assert "Verdicts of this run" not in claims
    assert claims.count("holds") > 20


def pretend_run(write_notebook, folder: Path, claims: str, **papermill: object) -> Path:
    """Leave what a run of a small notebook 10 would have left; return the folder."""
    numbers = folder / "out" / "numbers"
    numbers.mkdir(parents=True)
    (numbers / "10_claims.csv").write_text(claims)
    path = write_notebook("10_claims", quick={"horizon": 7, "seed": 1})
    executed = nbformat.read(path, as_version=4)
    executed.metadata["papermill"] = papermill
    (folder / "out" / "notebooks").mkdir()
    nbformat.write(executed, folder / "out" / "notebooks" / path.name)
    return folder / "out"


def test_verdicts_of_this_run_come_after_the_published_ones(write_notebook, tmp_path):
    published = saved_verdicts()
    first, other = published.index[:2]
    verdict = published["verdict"].iloc[0]
    claims = f"key,claim,ours,whose,verdict,nearest\n{first},A | B,0.5,the paper's,{verdict},\n"
    claims += f"{other},C,0.1,the paper's,cannot be checked,\n"
    given = {"horizon": 7, "seed": 1, "output_dir": "x"}
    out = pretend_run(write_notebook, tmp_path, claims, parameters=given, duration=200.0)
    page, flaws = report.build(out, tmp_path / "notebooks")
    assert flaws == []
    for shown in (page, page.with_name("claims.html")):
        article = re.search(r"<article.*</article>", shown.read_text(encoding="utf-8"), re.DOTALL)[
            0
        ]
        found = re.sub(r"<[^>]*>|\s+", " ", article)
        found = re.sub(r"\s+", " ", found)
        assert "Verdicts of this run" in found
        assert "in this run, with other parameters than its own: horizon = 7 ." in found
        assert f"Not as published: {other}." in found
    assert found.index("Published verdicts") < found.index("Verdicts of this run")
    assert f"{first} A | B 0.5 the paper" in found
    assert f"All {len(published)} claims" in text(page)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ("", "cannot be read as a table: No columns"),
        ("a,b\n1,2\n", "must have the columns key, whose, verdict, nearest, got a, b"),
    ],
)
def test_a_broken_table_of_claims_is_named(write_notebook, tmp_path, claims, message):
    out = pretend_run(write_notebook, tmp_path, claims)
    with pytest.raises(ValueError, match=rf"10_claims\.csv {message}"):
        report.build(out, tmp_path / "notebooks")


def test_a_broken_notebook_is_named(write_notebook, tmp_path):
    write_notebook("01_show")
    executed = tmp_path / "out" / "notebooks" / "01_show.ipynb"
    executed.parent.mkdir(parents=True)
    executed.write_text("[]")
    with pytest.raises(ValueError, match=r"out.notebooks.01_show\.ipynb is not a notebook"):
        report.build(tmp_path / "out", tmp_path / "notebooks")


def page_of(write_notebook, folder: Path, **papermill: object) -> report._Page:
    out = pretend_run(write_notebook, folder, "", **papermill)
    return report._Page(find.load(folder / "notebooks" / "10_claims.ipynb"), out)


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"horizon": 7, "seed": 1}, "**This is a smaller run than the published one**, with `hor"),
        ({"horizon": 9}, "**This is another run than the published one**, with `horizon = 9`."),
        ({"horizon": 4, "alphas": [0.1, 0.2], "name": "MIN"}, None),
        ({}, None),
    ],
    ids=["quick", "other", "defaults", "none"],
)
def test_a_run_with_other_parameters_says_so_below_its_title(write_notebook, tmp_path, given, note):
    page = page_of(write_notebook, tmp_path, parameters={**given, "output_dir": "x"})
    before = page.content.cells[0].source
    shown = page.shown().cells[0].source
    if note is None:
        assert shown == before
        return
    assert shown.startswith(f"# A title\n\n```{{warning}}\n{note}")
    assert "differ from the README's" in shown
    assert page.content.cells[0].source == before


def test_the_note_is_on_the_page_and_only_where_it_belongs(site):
    page = {name: text(site / f"{name}.html") for name in ("01_run", "03_saved")}
    assert "This is a smaller run than the published one" in page["01_run"]
    assert "published one" not in page["03_saved"]


@pytest.mark.parametrize(
    ("papermill", "shown"),
    [
        ({"duration": 12.4}, "12 s"),
        ({"duration": 200.0}, "3.3 min"),
        ({"duration": None}, "about 0.5 min"),
        ({}, "about 0.5 min"),
    ],
)
def test_the_run_time_is_that_measured(write_notebook, tmp_path, papermill, shown):
    assert page_of(write_notebook, tmp_path, **papermill).run_time() == shown


def test_a_report_of_nothing_run_says_so(write_notebook, tmp_path, capsys):
    write_notebook("01_show")
    out = tmp_path / "nowhere"
    assert main(["report", "--notebooks", str(tmp_path / "notebooks"), "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"nothing was run in {out}: the report shows the saved notebooks" in lines


def test_nothing_is_loaded_from_elsewhere(site):
    assert len(list(site.rglob("*.html"))) >= 6
    assert from_elsewhere(site) == []
    assert (site / "_static" / "tex-svg-full.js").stat().st_size > 1e6
    page = site / "elsewhere.html"
    page.write_text('<script src="https://example.org/x.js"></script>')
    assert from_elsewhere(site) == ["elsewhere.html: https://example.org/x.js"]
    page.unlink()


PLANTED = "<script>planted()</script> <b>bold</b> `a` *b* | [c](d) $e$ {math}`f`"
BROKEN = "```\n\n```{raw} html\n<b>raw</b>\n```\n\n"


def test_text_from_outside_is_shown_as_it_is(write_notebook, tmp_path):
    """In a title, a parameter, an error, a claim; nothing of it becomes HTML or Markdown."""
    path = write_notebook("01_odd", f"raise ValueError({PLANTED!r})")
    content = nbformat.read(path, as_version=4)
    content.cells[0].source = "# <script>planted()</script> <b>bold</b> title\n\n<b>bold</b>\n"
    nbformat.write(content, path)
    places = ["--notebooks", str(tmp_path / "notebooks"), "--out", str(tmp_path / "out")]
    assert main(["run", "1", "-p", "name", PLANTED + BROKEN, *places]) == 1
    first = saved_verdicts().index[0]
    keys = f'{first},A,holds,the paper\'s,\n"{PLANTED}","{BROKEN}{PLANTED}",holds,the paper\'s,\n'
    (tmp_path / "out" / "numbers").mkdir()
    (tmp_path / "out" / "numbers" / "10_claims.csv").write_text(
        f"key,claim,verdict,whose,nearest\n{keys}"
    )
    page, flaws = report.build(tmp_path / "out", tmp_path / "notebooks")
    assert flaws == []
    pages = {p.stem: p.read_text(encoding="utf-8") for p in page.parent.rglob("*.html")}
    for text_of_page in pages.values():
        assert "<script>planted" not in text_of_page
        assert "<b>" not in text_of_page
    shown = {name: html.unescape(re.sub("<[^>]*>", "", p)) for name, p in pages.items()}
    line = re.sub(r"\s+", " ", shown["index"])
    assert line.count("<script>planted()</script> <b>bold</b> title") >= 2  # contents and table
    assert f"name = {' '.join(repr(PLANTED + BROKEN).split())}" in line
    line = re.sub(r"\s+", " ", shown["claims"])
    assert line.count(PLANTED) == 3  # key and claim in the table, key among what differs
    assert f"{' '.join(BROKEN.split())} {PLANTED}" in line
    assert PLANTED in shown["01_odd"]


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
    assert main(["reproduce", "--at-once", "1", "--report", *arguments]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {out / 'report' / 'index.html'}"
    assert (out / "report" / "index.html").exists()
