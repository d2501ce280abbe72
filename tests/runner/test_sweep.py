"""A sweep: a grid of runs that goes on where it stopped, and one table of all."""

import json
import re
import signal
from pathlib import Path

import pandas as pd
import pytest
from cases import program, signals, wait_until

from marab_lib.runner import find, run, sweep
from marab_lib.runner.command_line import INTERRUPTED, main
from marab_lib.runner.run import CellError

# As Outputs.table writes them, but without its imports: a kernel starts in half the time.
TABLES = """\
from pathlib import Path
folder = Path(output_dir, "numbers")
folder.mkdir(parents=True)
(folder / "01_sizes.csv").write_text(f",twice,level\\nall,{2 * horizon},{level}\\n")
(folder / "01_pairs.csv").write_text(",,x\\na,b,1.5\\n")"""


@pytest.fixture
def command(tmp_path):
    """Run the sweep of notebook 01 of tmp_path."""

    def run(*arguments: str) -> int:
        places = ["--notebooks", str(tmp_path / "notebooks"), "--out", str(tmp_path / "out")]
        return main(["sweep", "1", *arguments, *places])

    return run


def gathered(folder: Path, name: str = "sweep.csv") -> pd.DataFrame:
    return pd.read_csv(folder / "out" / name)


def runs(folder: Path) -> int:
    """How many times a notebook with the cell `counting` was run."""
    return len((folder / "runs").read_text().splitlines())


def counting(folder: Path) -> str:
    return f"print(horizon, level, file=open({str(folder / 'runs')!r}, 'a'))"


def test_a_grid_is_run_and_gathered(write_notebook, command, tmp_path, capsys):
    write_notebook("01_show", TABLES, counting(tmp_path))
    assert command("-g", "horizon", "5", "6", "-g", "level", "0.1", "0.5", "-p", "name", "UCB") == 0
    assert (tmp_path / "runs").read_text().splitlines() == ["5 0.1", "5 0.5", "6 0.1", "6 0.5"]
    table = gathered(tmp_path)
    assert list(table.columns) == ["horizon", "level", "table", "row", "quantity", "value"]
    twice = table[(table["quantity"] == "twice") & (table["table"] == "01_sizes")]
    assert twice[["horizon", "level", "row", "value"]].values.tolist() == [
        [5, 0.1, "all", 10.0],
        [5, 0.5, "all", 10.0],
        [6, 0.1, "all", 12.0],
        [6, 0.5, "all", 12.0],
    ]
    assert set(table.loc[table["table"] == "01_pairs", "row"]) == {"a, b"}
    wide = pd.read_csv(tmp_path / "out" / "tables" / "01_sizes.csv")
    assert list(wide.columns) == ["horizon", "level (parameter)", "row", "twice", "level"]
    assert (wide["level (parameter)"] == wide["level"]).all()
    assert "12 numbers of 01_show are in" in capsys.readouterr().out


def test_what_is_done_is_not_done_again(write_notebook, command, tmp_path, capsys):
    """For the same notebook and parameters."""
    write_notebook("01_show", TABLES, counting(tmp_path))
    assert command("-g", "horizon", "5", "6") == 0
    capsys.readouterr()
    assert command("-g", "horizon", "7", "6", "5") == 0
    assert runs(tmp_path) == 3
    assert capsys.readouterr().out.count("done before") == 2
    assert gathered(tmp_path)["horizon"].unique().tolist() == [7, 6, 5]
    write_notebook("01_show", TABLES + "\n1 + 1", counting(tmp_path))
    for fixed, done in ([], 4), (["-p", "seed", "2"], 5), ([], 5):
        assert command("-g", "horizon", "5", *fixed) == 0
        assert runs(tmp_path) == done


def test_a_point_is_done_only_with_its_whole_mark_and_this_package(
    write_notebook, tmp_path, monkeypatch
):
    notebook = find.load(write_notebook("01_show", TABLES))
    (point,) = sweep.points(notebook, {"horizon": [5]}, tmp_path)
    assert not point.is_done()
    point.run()
    assert point.is_done()
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "_digest_of_package", lambda: "another")
        assert not point.is_done()
    mark = point.folder / "point.json"
    assert json.loads(mark.read_text())["parameters"] == {"horizon": 5}
    mark.write_text(mark.read_text()[:20])
    assert not point.is_done()
    assert len(sweep.gather([point], tmp_path)) == 0


@pytest.mark.parametrize("mark", ["{}", "[]", "5", "null", '"x"', '{"fingerprint": null}'])
def test_an_odd_mark_is_that_of_no_point_that_is_done(write_notebook, tmp_path, mark):
    notebook = find.load(write_notebook("01_show"))
    (point,) = sweep.points(notebook, {"horizon": [5]}, tmp_path)
    point.folder.mkdir(parents=True)
    (point.folder / "point.json").write_text(mark)
    assert not point.is_done()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_finished_point_stays_until_the_new_one_is_finished(
    write_notebook, tmp_path, monkeypatch
):
    grid = {"horizon": [5]}
    (point,) = sweep.points(find.load(write_notebook("01_show", TABLES)), grid, tmp_path)
    point.run()
    before = contents(point.folder)
    for error in (KeyboardInterrupt, OSError):

        def stop(notebook, values, out, progress_bar, error=error):
            (out / "half").write_text("")
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(run, "run", stop)
            with pytest.raises(error):
                point.run()
        assert contents(point.folder) == before
        assert point.is_done()
        assert list(point.folder.parent.iterdir()) == [point.folder]
    (point,) = sweep.points(find.load(write_notebook("01_show", "1 / 0")), grid, tmp_path)
    with pytest.raises(CellError, match="ZeroDivisionError"):
        point.run()
    after = contents(point.folder)  # with the notebook that failed
    assert set(after) - set(before) == {"notebooks/01_show.failed.ipynb"}
    assert {name: after[name] for name in before} == before


def test_an_executed_notebook_names_the_folder_that_it_lies_in(write_notebook, tmp_path):
    notebook = find.load(write_notebook("01_show", "print(output_dir)"))
    (point,) = sweep.points(notebook, {"horizon": [5]}, tmp_path)
    point.run()
    text = (point.folder / "notebooks" / "01_show.ipynb").read_text(encoding="utf-8")
    assert text.count(str(point.folder.resolve())) >= 3  # injected, printed, in the metadata
    assert f".{point.folder.name}." not in text


def test_a_sweep_that_is_not_whole_leaves_the_whole_table(
    write_notebook, command, tmp_path, capsys
):
    write_notebook("01_show", TABLES)
    assert command("-g", "horizon", "5", "6") == 0
    out = tmp_path / "out"
    before = {name: (out / name).read_bytes() for name in ("sweep.csv", "tables/01_sizes.csv")}
    write_notebook("01_show", TABLES.replace("2 *", "3 *"), "assert horizon != 6")
    capsys.readouterr()
    assert command("-g", "horizon", "5", "6") == 1
    assert "only 1 of 2 points are done: sweep.csv waits" in capsys.readouterr().out
    assert {name: (out / name).read_bytes() for name in before} == before
    assert gathered(tmp_path, "sweep.part.csv")["horizon"].unique().tolist() == [5]
    assert (out / "tables.part" / "01_sizes.csv").exists()
    write_notebook("01_show", TABLES.replace("2 *", "3 *"))
    assert command("-g", "horizon", "5", "6") == 0
    assert "only" not in capsys.readouterr().out
    assert set(gathered(tmp_path).query("quantity == 'twice'")["value"]) == {15, 18}
    assert sorted(path.name for path in out.iterdir()) == ["points", "sweep.csv", "tables"]


def test_a_table_that_cannot_be_read_is_named(write_notebook, command, tmp_path, capsys):
    write_notebook("01_show", TABLES, 'Path(output_dir, "numbers", "a.csv").touch()')
    assert command("-g", "horizon", "5") == 2
    assert re.search(
        r"numbers.a\.csv cannot be read as a table: No columns", capsys.readouterr().err
    )


def test_a_long_grid_reads_the_notebook_once(write_notebook, tmp_path, monkeypatch):
    notebook = find.load(write_notebook("01_show"))
    reads, real = [], find.papermill.inspect_notebook
    monkeypatch.setattr(
        find.papermill, "inspect_notebook", lambda path: reads.append(path) or real(path)
    )
    grid = {"horizon": range(50), "level": ["0.1", "0.2"]}
    assert len(sweep.points(notebook, grid, tmp_path, {"seed": 3, "name": "UCB"})) == 100
    assert len(reads) == 1


def test_others_go_on_after_a_failing_point(write_notebook, command, tmp_path, capsys):
    write_notebook("01_show", TABLES, "assert horizon != 5, 'five'")
    assert command("-g", "horizon", "4", "5", "6") == 1
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "failed: horizon=5: cell In [4] `assert horizon != 5, 'five'`: AssertionError: five"
    ]
    assert gathered(tmp_path, "sweep.part.csv")["horizon"].unique().tolist() == [4, 6]
    failed = list((tmp_path / "out").rglob("*.failed.ipynb"))
    assert [path.parts[-3].split("-")[0] for path in failed] == ["horizon=5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-g", "horizn", "5"], "has no parameter 'horizn'"),
        (["-g", "horizon", "5", "many"], "must be int, got 'many'"),
        (["-g", "horizon", "5", "05"], "must be distinct, got 5 more than once"),
        (["-g", "horizon"], "parameter horizon must have at least one value, got none"),
        (["-g", "horizon", "5", "-p", "horizon", "6"], "both in the grid and fixed"),
        (["-g", "horizon", "5", "-p", "horizn", "6"], "has no parameter 'horizn'"),
        (["-g", "horizon", "5", "-g", "horizon", "6"], "got 'horizon' more than once"),
        (["-g", "output_dir", "x"], "output_dir is not for the grid"),
        ([], "the grid must have at least one parameter, got none"),
    ],
)
def test_a_bad_grid_stops_before_anything_is_run(
    write_notebook, command, tmp_path, capsys, arguments, message
):
    write_notebook("01_show", TABLES)
    assert command(*arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_folders_differ_where_values_do(write_notebook, tmp_path):
    notebook = find.load(write_notebook("01_show"))
    grid = {"name": ["a/b", "ab", "a b", "x" * 300], "alphas": [[0.1], [0.2]]}
    folders = {point.folder for point in sweep.points(notebook, grid, tmp_path)}
    assert len(folders) == 8
    assert {folder.parent for folder in folders} == {tmp_path / "points"}
    assert max(len(folder.name) for folder in folders) < 100


@signals
def test_an_interrupted_sweep_goes_on(write_notebook, command, tmp_path):
    """The second of three points is interrupted; the next call does that one and the last."""
    wait = f"import os, time\nif horizon == 6 and not os.path.exists({str(tmp_path / 'go')!r}):\n"
    wait += f"    open({str(tmp_path / 'waits')!r}, 'w').close()\n    time.sleep(600)"
    write_notebook("01_show", TABLES, counting(tmp_path), wait)
    places = ["--notebooks", tmp_path / "notebooks", "--out", tmp_path / "out"]
    arguments = ["-g", "horizon", "5", "6", "7"]
    with program("sweep", "1", *arguments, *places) as process:
        wait_until((tmp_path / "waits").exists)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert "interrupted" in err.decode()
    assert "3 numbers of 01_show" in out.decode()
    (tmp_path / "go").touch()
    assert command(*arguments) == 0
    assert (tmp_path / "runs").read_text().split("\n")[:-1] == ["5 0.5", "6 0.5", "6 0.5", "7 0.5"]
    assert gathered(tmp_path)["horizon"].unique().tolist() == [5, 6, 7]
