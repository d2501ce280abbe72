"""JupyterLab and the static site as people see them: in a real browser of the system's."""

import shutil
from pathlib import Path

import nbformat
import pytest
from browser import chromium, find_chromium, foreign, lab

from marab_lib.paper.sliders import GRIDS
from marab_lib.runner import find


@pytest.fixture(scope="module")
def context():
    with chromium() as context:
        yield context


@pytest.fixture(scope="module")
def jupyter(context, tmp_path_factory):
    """JupyterLab on an empty folder."""
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    with lab(folder, context) as running:
        running.folder = folder
        yield running


def test_without_chromium_tests_are_skipped_unless_it_must_be_there(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.delenv("MARAB_NEEDS_BROWSER", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"):
        find_chromium()
    monkeypatch.setenv("MARAB_NEEDS_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="apt install chromium"):
        find_chromium()


def copy(notebook: find.Notebook, folder: Path) -> int:
    """A copy of a notebook with its quick parameters and without its outputs.

    Returns how many figures the saved one has.
    """
    content = nbformat.read(notebook.path, as_version=4)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    figures = sum("image/png" in o.get("data", {}) for cell in code for o in cell.outputs)
    for cell in code:
        cell.outputs, cell.execution_count = [], None
        if "parameters" in cell.metadata.get("tags", []):
            cell.source += "".join(f"\n{key} = {x!r}" for key, x in notebook.quick.items())
    nbformat.write(content, folder / notebook.path.name)
    return figures


@pytest.mark.parametrize("number", ["00", "01", "06"])
def test_a_notebook_runs_in_jupyterlab(jupyter, number):
    """One that shows what others found, one that computes, and one with sliders."""
    notebook = find.pick(number, find.find())
    figures = copy(notebook, jupyter.folder)
    page = jupyter.open(notebook.path.name)
    seen = jupyter.run_all()
    assert seen["errors"] == []
    assert set(seen["statuses"]) <= {"idle", "busy"}
    counts = [cell["count"] for cell in seen["cells"]]
    assert counts == list(range(1, len(counts) + 1))
    assert seen["warnings"] == []
    assert seen["figures"] == figures > 0
    assert len(seen["images"]) >= figures
    assert all(seen["images"])
    if number == "06":
        moves_a_slider(page)
    page.screenshot(path=jupyter.folder.parent / f"{notebook.name}.png")


def moves_a_slider(page) -> None:
    """A slider in the notebook draws its figure again, in under a second on a machine at rest."""
    picture = page.locator("img.widget-image")
    before = picture.get_attribute("src")
    box = page.locator(".widget-slider", has_text="delta_max")
    assert box.locator(".widget-readout").inner_text() == "0.001"
    box.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('img.widget-image').src !== before", arg=before
    )
    assert box.locator(".widget-readout").inner_text() == "0.003"
    page.wait_for_function("() => document.querySelector('img.widget-image').naturalWidth > 0")
    picture.scroll_into_view_if_needed()


@pytest.fixture(scope="module")
def grids():
    """The figures with sliders of the static site, of a smaller size."""
    return {name: grid(horizon=400, runs=4) for name, grid in GRIDS.items()}


@pytest.fixture(scope="module")
def report(tmp_path_factory, grids):
    """The address of the static site of the saved notebooks, opened as files; and its flaws."""
    from marab_lib.runner import report

    small = {name: lambda grid=grid: grid for name, grid in grids.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "GRIDS", small)
        page, flaws = report.build(tmp_path_factory.mktemp("site"))
    scripts = [page.parent / "_static" / f"{name}.js" for name in grids]
    assert 1000 < sum(script.stat().st_size for script in scripts) < 1e6
    return page.parent.as_uri(), flaws


def test_no_link_of_the_report_leads_nowhere(report):
    assert report[1] == []


def test_the_report_shows_claims_and_leads_to_the_notebooks(context, report):
    page = context.new_page()
    page.goto(f"{report[0]}/index.html")
    assert page.get_by_role("heading", level=1).inner_text().startswith("00 ·")
    assert page.locator("table", has_text="the worst rewards").locator("a").count() > 10
    page.get_by_role("link", name="06 ·").first.click()
    page.wait_for_url("**/06_proof_of_concept.html")
    page.wait_for_function("() => document.querySelectorAll('mjx-container svg').length > 20")
    written = page.locator("span.math, div.math")
    assert page.locator("mjx-container svg").count() >= written.count()
    assert page.locator("[data-mml-node=merror]").count() == 0
    images = page.evaluate("() => [...document.images].map(image => image.naturalWidth)")
    assert len(images) >= 5
    assert all(images)
    page.get_by_role("link", name="All claims").first.click()
    page.wait_for_url("**/claims.html")
    assert page.locator("table tr").count() > 40
    page.close()


CURVES = """() => [...Bokeh.documents[0].all_models]
    .filter(model => model.type === 'ColumnDataSource').map(source => [...source.data.mean])"""


@pytest.mark.parametrize(
    ("page_name", "name", "slider", "moved"),
    [
        ("06_proof_of_concept", "proof_of_concept", "delta_max", 3e-3),
        ("08_artificial_risk", "risk_of_rewards", "rho", 5.0),
    ],
)
def test_a_slider_of_the_report_needs_no_kernel(
    context, report, grids, page_name, name, slider, moved
):
    """One step to the right shows the curves of the next value, and no others."""
    grid = grids[name]
    page = context.new_page()
    page.goto(f"{report[0]}/{page_name}.html")
    figure = page.locator("[role=figure]")
    handle = figure.locator(".bk-CategoricalSlider", has_text=slider).locator(".noUi-handle")
    handle.wait_for()
    for at in (grid.start, {**grid.start, slider: moved}):
        lines = [curves["mean"] for panel in grid.panels.values() for curves in panel.values()]
        expected = [
            line.sel({n: v for n, v in at.items() if n in line.dims}).values.tolist()
            for line in lines
        ]
        page.wait_for_function(f"n => ({CURVES})().length === n", arg=len(lines))
        assert sorted(page.evaluate(CURVES)) == sorted(expected)
        before = figure.screenshot()
        handle.press("ArrowRight")
        page.wait_for_timeout(500)
        assert figure.screenshot() != before
    page.close()


@pytest.mark.parametrize("name", ["index", "06_proof_of_concept", "10_claims", "claims"])
def test_the_report_fits_a_phone_and_paper(context, report, name):
    """On a phone only tables and code scroll; on paper nothing is wider than the page."""
    page = context.new_page()
    page.goto(f"{report[0]}/{name}.html")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("() => document.scrollingElement.scrollWidth") == 400
    page.set_viewport_size({"width": 703, "height": 1000})  # A4 with the usual margins
    page.emulate_media(media="print")
    cut = page.evaluate("""() => [...document.querySelectorAll('article :is(table, pre, img)')]
        .filter(e => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.offsetWidth)
        .map(e => e.outerHTML.slice(0, 100))""")
    assert cut == []
    page.close()


def test_the_report_can_be_searched(context, report):
    page = context.new_page()
    page.goto(f"{report[0]}/index.html")
    page.locator("button.search-button-field, button.search-button__button").first.click()
    page.keyboard.type("battery")
    page.keyboard.press("Enter")
    page.locator("#search-results a", has_text="the claims hold on our battery").wait_for()
    assert page.locator("#search-results a", has_text="Lemma 4.2").count() == 0
    page.close()


def small(folder, name: str, *sources: str) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"display_name": "P", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / name)


@pytest.mark.parametrize("number", ["01", "06"])
def test_a_notebook_that_is_only_read_keeps_its_bytes(jupyter, number):
    """Though it is saved: JupyterLab adds the version of the language, and saves by itself."""
    saved = find.pick(number, find.find()).path
    path = jupyter.folder / saved.name
    shutil.copy(saved, path)
    before = path.stat().st_mtime_ns
    page = jupyter.open(path.name)
    page.wait_for_function("() => panel.model.getMetadata('language_info')?.version")
    page.evaluate("() => panel.context.save()")
    assert path.stat().st_mtime_ns > before
    assert path.read_bytes() == saved.read_bytes()


def test_an_error_is_seen(jupyter):
    small(jupyter.folder, "error.ipynb", "1 + 1", "raise ValueError('odd')", "2 + 2")
    jupyter.open("error.ipynb")
    assert jupyter.run_all(60)["errors"] == ["odd"]


def test_a_dead_kernel_is_seen(jupyter):
    small(jupyter.folder, "dead.ipynb", "1 + 1", "import os\nos._exit(1)")
    jupyter.open("dead.ipynb")
    assert not set(jupyter.run_all(60)["statuses"]) <= {"idle", "busy"}


def test_a_progress_bar_is_shown(jupyter):
    small(
        jupyter.folder,
        "bar.ipynb",
        "from marab_lib import policies, problems, simulate\n"
        "result = simulate(problems.artificial(4, 0), policies.UCB(), 2000, 50, 1, progress=True)",
    )
    page = jupyter.open("bar.ipynb")
    assert jupyter.run_all(120)["errors"] == []
    page.locator(".widget-hprogress .progress-bar").wait_for(state="visible", timeout=10_000)
    assert "400k/400k" in page.locator(".jp-OutputArea-output").first.inner_text()
    page.screenshot(path=jupyter.folder.parent / "bar.png")


def test_nothing_was_asked_of_another_machine(jupyter):
    """Runs last: JupyterLab, the notebooks and the static site need no network."""
    assert len(jupyter.context.addresses) > 20
    assert foreign(jupyter.context.addresses) == []
