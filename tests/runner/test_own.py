"""The command for a reader's own table: its answer, its page, and what stops it."""

import re
from pathlib import Path

import pandas as pd
import pytest

from marab_lib.runner.command_line import main
from marab_lib.runner.run import CellError

TABLE = "day;north;south\n01.02.2014;0,5;1\n02.02.2014;0,7;2,5\n03.02.2014;0,6;\n04.02.2014;0,8;9\n"
SMALL = [x for pair in ("runs 4", "orders 3", "resamples 100") for x in ("-p", *pair.split())]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rewards.csv"
    path.write_text(TABLE)
    return path


def test_the_answer_and_the_page_of_a_table(table, tmp_path, monkeypatch, capsys):
    """Costs, with decimal commas and a gap, given by a path from where the command is called."""
    monkeypatch.chdir(tmp_path)
    options = ["--aim", "minimum", "--horizon", "30", "--costs", "--levels", "[0.5]"]
    assert main(["own", table.name, *options, *SMALL, "--out", "out"]) == 0
    told, page = capsys.readouterr().out.splitlines()
    assert told.startswith("By the minimum the best of 2 arms is 'north': -0.8 (-0.8 to -0.")
    assert re.search(r"For this aim and 30 pulls, \S+.* a pull", told)
    assert page.startswith(f"report: {tmp_path / 'out' / 'report'}")
    shown = re.sub(r"<[^>]*>|\s+", " ", Path(page.removeprefix("report: ")).read_text("utf-8"))
    assert "costs: a reward is a cost with its sign changed" in shown
    assert "published" not in shown
    numbers = tmp_path / "out" / "numbers"
    held = pd.read_csv(numbers / "16_table.csv", index_col="arm")
    assert held[["rewards", "missing", "minimum"]].to_numpy().tolist() == [[4, 0, -0.8], [3, 1, -9]]
    judged = pd.read_csv(numbers / "16_arms.csv")
    assert judged["criterion"].unique().tolist() == ["mean", "CVaR 50%", "minimum"]
    assert len(list((tmp_path / "out" / "figures").glob("16_*.png"))) == 3


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,x\n3,4\n", [], "csv: line 2, column 'b' must be a number or empty, got 'x'"),
        ("a,b\n1,2\n", [], "rewards.csv: each arm must have at least 2 rewards, got 1 of 'a'"),
        (TABLE, ["--aim", "cvar"], "the level of aim must be a number in (0, 1), got ''"),
        (TABLE, ["--aim", "best"], "aim must be 'mean', 'minimum' or 'cvar:'"),
        (TABLE, ["--horizon", "1"], "horizon must be at least 2, the number of arms, and at most"),
        (TABLE, ["--horizon", "0"], "and at most 2147483647, got 0"),
        (TABLE, ["--horizon", "-1"], "and at most 2147483647, got -1"),
        (TABLE, ["--horizon", "99999999999"], "and at most 2147483647, got 99999999999"),
        (TABLE, ["--levels", "[0.1, 2]"], "levels must be a number in (0, 1), got 2"),
        (TABLE, ["-p", "runs", "1"], "runs must be a whole number >= 2, got 1"),
        (TABLE, ["-p", "orders", "1"], "orders must be a whole number >= 2, got 1"),
        (TABLE, ["-p", "resamples", "9"], "resamples must be a whole number >= 100, got 9"),
        (TABLE, ["-p", "seed", "-1"], "seed must be a whole number >= 0, got -1"),
        (TABLE, ["-p", "data", "x.csv"], "data must be given as the file alone, got 'x.csv' too"),
        (TABLE, ["--horizon", "long"], "must be int, got 'long'"),
        (TABLE, ["--levels", "0.5"], "must be list, got '0.5'"),
        (TABLE, ["--labels", "no"], "line 2, column 'day' must be a number or empty"),
        (TABLE, ["--arm", "x"], "arm must be one of the columns ['day', 'north', 'south']"),
        (TABLE, ["-p", "rns", "4"], "16_own_data has no parameter 'rns'"),
        (TABLE, ["-p", "labels", "maybe"], "labels must be one of auto, yes, no, got 'maybe'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_run(table, capsys, text, options, message):
    table.write_text(text)
    assert main(["own", str(table), *options, "--out", str(table.parent / "out")]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert not (table.parent / "out").exists()


def test_a_large_column_does_not_spoil_a_small_one(tmp_path, capsys):
    """Milliseconds since 1970 as costs, beside costs of 0 to 1: the scale has 13 digits."""
    path = tmp_path / "times.csv"
    path.write_text("a,time\n0.3,1600000000000\n0.5,1600000000007\n0.7,1600000000003\n")
    options = ["--costs", "--labels", "no", "--horizon", "8", "--out", str(tmp_path / "out")]
    assert main(["own", str(path), *options, *SMALL]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "."])
def test_a_folder_or_no_name_is_no_file(tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["own", name, "--out", "out"])
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert re.search("must be the name of a file|must be a text file", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_named(tmp_path, capsys):
    assert main(["own", str(tmp_path / "none.csv"), "--out", str(tmp_path / "out")]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_a_failed_cell_is_told(table, tmp_path, capsys, monkeypatch):
    def fails(*_):
        raise CellError(3, "decide()", ": ValueError: too few")

    monkeypatch.setattr("marab_lib.runner.run.run", fails)
    assert main(["own", str(table), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "failed: cell In [3] `decide()`: ValueError: too few\n"
