"""Files of a notebook are whole, the same for the same run, and never lost."""

import io
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn
import xarray as xr
from matplotlib.layout_engine import ConstrainedLayoutEngine

from marab_lib.plots import COLORS, drawn, use_style
from marab_lib.runner.outputs import Outputs
from marab_lib.work.files import (
    load_dataset,
    new_or_folder,
    replace_folder_when_done,
    replace_when_done,
    save_dataset,
)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interrupted_write_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "numbers.csv"
    path.write_text("old")

    def write() -> None:
        with replace_when_done(path) as part:
            part.write_text("ne")
            raise error

    with pytest.raises(error):
        write()
    assert [p.name for p in tmp_path.iterdir()] == ["numbers.csv"]
    assert path.read_text() == "old"


def test_a_finished_write_replaces_and_makes_folders(tmp_path):
    path = tmp_path / "a" / "b" / "numbers.csv"
    for text in ("one", "two"):
        with replace_when_done(path) as part:
            part.write_text(text)
            assert part.suffix == path.suffix
        assert path.read_text() == text


# --- whole folders ------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path):
    """A folder with one old page, alone in another."""
    path = tmp_path / "all" / "site"
    path.mkdir(parents=True)
    (path / "old.html").write_text("old")
    return path


def replace_site(site, error: BaseException | None = None) -> None:
    with replace_folder_when_done(site) as part:
        (part / "new.html").write_text("new")
        if error:
            raise error


def files(folder) -> list[str]:
    """All files and empty folders, also hidden ones."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def test_a_new_folder_takes_the_place_of_the_old_one(site):
    replace_site(site)
    assert files(site.parent) == ["site/new.html"]
    assert os.listdir(site.parent) == ["site"]


def test_an_interrupted_folder_leaves_what_was_there(site):
    with pytest.raises(KeyboardInterrupt):
        replace_site(site, KeyboardInterrupt())
    assert files(site.parent) == ["site/old.html"]


@pytest.mark.parametrize("error", [PermissionError, KeyboardInterrupt])
@pytest.mark.parametrize("move", [1, 2])
@pytest.mark.parametrize("after", [False, True])
def test_the_old_folder_is_there_whichever_move_fails(site, monkeypatch, error, move, after):
    """An interrupt may also come when the move has taken place."""
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) != move or after:
            real(source, target)
        if len(calls) == move:
            raise error

    monkeypatch.setattr("marab_lib.runner.outputs.os.replace", replace)
    with pytest.raises(error):
        replace_site(site)
    assert files(site.parent) == ["site/new.html" if after and move == 2 else "site/old.html"]
    assert os.listdir(site.parent) == ["site"]


def test_a_file_is_no_place_for_a_folder(tmp_path):
    path = tmp_path / "site"
    path.write_text("mine")
    with pytest.raises(NotADirectoryError, match="must be a new or existing folder, got the file"):
        replace_site(path)
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["site"]


def test_what_a_link_leads_to_is_replaced(site, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(site)
    replace_site(link)
    assert link.is_symlink()
    assert files(site) == ["new.html"]


# --- links and files in the way -----------------------------------------------------------


@pytest.mark.parametrize("link", ["numbers", "numbers/06_table.csv"])
@pytest.mark.parametrize("leads", ["somewhere", "nowhere"])
def test_a_link_below_the_output_folder_is_refused(tmp_path, link, leads):
    target = tmp_path / "target"
    if leads == "somewhere" and link == "numbers":
        target.mkdir()
    elif leads == "somewhere":
        target.write_text("mine")
    path = tmp_path / "out" / link
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    with pytest.raises(ValueError, match="must be no link") as error:
        Outputs(str(tmp_path / "out"), "06").table(pd.DataFrame({"x": [1]}), "table")
    assert str(path) in str(error.value)
    assert files(tmp_path / "target") == []
    assert not target.is_file() or target.read_text() == "mine"


def test_the_output_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    Outputs(str(tmp_path / "out"), "06").table(pd.DataFrame({"x": [1]}), "table")
    assert files(tmp_path / "disk") == ["numbers/06_table.csv"]


def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path):
    with replace_when_done(tmp_path / "a.csv") as part:
        name = part.name
        part.touch()
    (tmp_path / "target").write_text("mine")
    (tmp_path / name).symlink_to(tmp_path / "target")
    with replace_when_done(tmp_path / "a.csv") as part:
        part.write_text("new")
    assert (tmp_path / "target").read_text() == "mine"
    assert (tmp_path / "a.csv").read_text() == "new"


@pytest.mark.parametrize("given", ["", "file", "file/below", "link"])
def test_what_cannot_become_a_folder_is_named(tmp_path, given):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    path = str(tmp_path / given) if given else ""
    with pytest.raises(ValueError, match="place must be a new or existing folder") as error:
        new_or_folder("place", path)
    assert repr(path) in str(error.value)


# --- figures and numbers ------------------------------------------------------------------


def write_all(folder: str) -> None:
    out = Outputs(folder, "06")
    figure, axes = plt.subplots()
    axes.plot([1, 2, 3])
    out.figure(figure, "line")
    plt.close(figure)
    out.table(pd.DataFrame({"ours": [0.25]}, index=["MIN"]), "table")
    out.dataset(xr.Dataset({"regret": ("run", np.array([0.1, 0.2]))}), "regret")


def test_a_notebook_writes_png_pdf_csv_and_netcdf(tmp_path):
    write_all(str(tmp_path))
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*")}
    assert found == {
        "figures/06_line.png",
        "figures/06_line.pdf",
        "numbers/06_table.csv",
        "numbers/06_regret.nc",
    }
    assert (tmp_path / "figures/06_line.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures/06_line.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "numbers/06_table.csv").read_text() == ",ours\nMIN,0.25\n"


def test_the_same_figure_gives_the_same_bytes(tmp_path, monkeypatch):
    for folder, clock in (("one", "0"), ("two", "1000000000")):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", clock)  # what matplotlib would write as the date
        write_all(str(tmp_path / folder))
    for name in ("06_line.png", "06_line.pdf"):
        one, two = ((tmp_path / f / "figures" / name).read_bytes() for f in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("dpi", [200, 73])
def test_a_figure_is_laid_out_once_for_all_formats(dpi, monkeypatch):
    """And looks as Matplotlib alone saves it; the size of a text depends on the resolution."""
    count, execute = [], ConstrainedLayoutEngine.execute
    monkeypatch.setattr(
        ConstrainedLayoutEngine, "execute", lambda *given: count.append(1) or execute(*given)
    )
    with plt.rc_context():
        use_style()
        ours, theirs = (plt.figure() for _ in range(2))
        for figure in (ours, theirs):
            left, _ = figure.subplots(1, 2)
            left.set(xlabel="$t$", ylabel="regret", yscale="log", ylim=(1e-3, 1))
        png, pdf = drawn(ours, "png", "pdf", dpi=dpi)
        assert len(count) == 1
        theirs.savefig(file := io.BytesIO(), format="png", dpi=dpi)
        assert png == file.getvalue()
        assert pdf.startswith(b"%PDF")
        plt.close("all")


def test_the_colours_are_those_of_seaborn():
    assert list(COLORS) == seaborn.color_palette("colorblind").as_hex()


def test_the_style_does_not_depend_on_the_users_own_settings():
    with plt.rc_context():
        use_style()
        wanted = dict(plt.rcParams)
    with plt.rc_context({"lines.linestyle": ":", "axes.facecolor": "red", "font.family": "serif"}):
        use_style()
        assert dict(plt.rcParams) == wanted


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_all("")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"no NetCDF", None])
def test_a_corrupt_result_is_named(tmp_path, content):
    path = tmp_path / "result.nc"
    save_dataset(xr.Dataset({"regret": ("run", np.arange(1000.0))}), path)
    path.write_bytes(path.read_bytes()[:3000] if content is None else content)
    with pytest.raises(ValueError, match="is not a whole NetCDF file") as error:
        load_dataset(path)
    assert str(path) in str(error.value)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"result\.nc"):
        load_dataset(path)
