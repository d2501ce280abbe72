"""The command line and the runner, on small notebooks made here."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from cases import is_running, program, run_python, signals, wait_until

from marab_lib.runner import find, sweep
from marab_lib.runner import run as runner_run
from marab_lib.runner.command_line import INTERRUPTED, UNREAD, main
from marab_lib.runner.find import Parameter

SHOW = "print(horizon, level, name, fast, alphas)"
FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
WRITE = """\
from marab_lib.runner import outputs
import pandas as pd
outputs.Outputs(output_dir, "01").table(pd.DataFrame({"x": [1]}), "x")"""


@pytest.fixture
def run(tmp_path):
    """Run a command on the notebooks of tmp_path; small ones start sooner one by one."""

    def command(name: str, *arguments: str) -> int:
        places = ["--notebooks", str(tmp_path / "notebooks"), "--out", str(tmp_path / "out")]
        once = ["--at-once", "1"] if name == "reproduce" else []
        return main([name, *once, *arguments, *(places[:2] if name == "list" else places)])

    return command


def text_of(path: Path) -> str:
    """All that a notebook printed."""
    cells = nbformat.read(path, as_version=4).cells
    return "".join(o.get("text", "") for c in cells for o in c.get("outputs", []))


def executed(tmp_path: Path) -> dict[str, Path]:
    return {path.name: path for path in (tmp_path / "out" / "notebooks").iterdir()}


# --- names --------------------------------------------------------------------------------


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    listed = re.findall(r"^    (\w+)", shown, re.MULTILINE)
    assert listed == ["list", "run", "sweep", "reproduce", "report", "own", "save"]


def test_list_shows_section_time_and_parameters(write_notebook, run, capsys):
    write_notebook("05_first")
    assert run("list") == 0
    assert capsys.readouterr().out.split() == ["05_first", "5.1", "0.5", "min", "A", "title"]
    assert run("list", "5") == 0
    assert "horizon (int, default 4): pulls of a run" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["6", "06", "06_proof", "06_proof.ipynb", "notebooks/06_proof.ipynb"]
)
def test_a_notebook_is_picked_by_number_name_or_path(write_notebook, text):
    found = [find.load(write_notebook(name)) for name in ("05_marab", "06_proof", "16_more")]
    assert find.pick(text, found).name == "06_proof"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mar", "'mar' is more than one notebook: 05_marab, 06_marab"),
        ("7", "'7' is no notebook: 05"),
        ("", "'' is no notebook: 00_first, 05"),
    ],
)
def test_a_missing_or_ambiguous_name_is_an_error(write_notebook, run, capsys, text, message):
    if not text:
        write_notebook("00_first")
    write_notebook("05_marab")
    write_notebook("06_marab")
    assert run("run", text) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_notebooks_is_an_error(tmp_path, run, capsys):
    assert run("reproduce") == 2
    assert "no notebook" in capsys.readouterr().err


def test_a_file_that_is_no_notebook_is_an_error(write_notebook, run, capsys):
    path = write_notebook("05_marab")
    path.write_text(path.read_text()[:100])
    assert run("list") == 2
    assert "05_marab.ipynb is not a notebook" in capsys.readouterr().err


# --- places -------------------------------------------------------------------------------


COMMANDS = {
    "run": ["run", "1"],
    "reproduce": ["reproduce", "--report"],
    "save": ["save", "1"],
    "sweep": ["sweep", "1", "-g", "horizon", "5"],
    "report": ["report"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_as_out_is_refused_before_anything_is_run(
    write_notebook, tmp_path, capsys, monkeypatch, command, below
):
    write_notebook("01_show", f"open({str(tmp_path / 'mark')!r}, 'w').close()")
    monkeypatch.setattr(
        "marab_lib.runner.report._run_sphinx", lambda *_: pytest.fail("Sphinx has run")
    )
    out = tmp_path / "file"
    out.write_text("mine")
    arguments = ["--notebooks", str(tmp_path / "notebooks"), "--out", str(out / below)]
    assert main([*COMMANDS[command], *arguments]) == 2
    shown = capsys.readouterr()
    place = f"got {str(out / below)!r}: {out} is a file"
    assert f"--out must be a new or existing folder, {place}" in shown.err
    assert shown.out == ""
    assert not (tmp_path / "mark").exists()
    assert out.read_text() == "mine"


def test_the_own_place_of_a_sweep_is_checked_too(write_notebook, tmp_path, capsys, monkeypatch):
    write_notebook("01_show", SHOW)
    monkeypatch.chdir(tmp_path)
    Path("out").write_text("mine")
    assert main(["sweep", "1", "-g", "horizon", "5", "--notebooks", "notebooks"]) == 2
    assert "out is a file" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_to_is_no_traceback(write_notebook, run, tmp_path, capsys):
    write_notebook("01_show", SHOW)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report").write_text("mine")
    assert run("report") == 2
    assert "path must be a new or existing folder, got the file" in capsys.readouterr().err
    assert (tmp_path / "out" / "report").read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "link"),
    [
        ("run", "notebooks"),
        ("run", "notebooks/01_show.ipynb"),
        ("run", "notebooks/01_show.failed.ipynb"),
        ("run", "figures"),
        ("reproduce", "notebooks"),
        ("reproduce", "notebooks/02_show.ipynb"),
        ("reproduce", "numbers"),
        ("save", "notebooks"),
        ("save", "notebooks/01_show.failed.ipynb"),
        ("sweep", "points"),
        ("sweep", "sweep.csv"),
        ("sweep", "tables"),
        ("report", "report"),
    ],
)
def test_a_link_in_out_is_refused_before_anything_is_run(
    write_notebook, run, tmp_path, capsys, command, link
):
    """It might lead to the saved notebooks, or to any file."""
    for name in ("01_show", "02_show"):
        write_notebook(name, f"open({str(tmp_path / 'mark')!r}, 'w').close()")
    saved = {path: path.read_bytes() for path in (tmp_path / "notebooks").iterdir()}
    place = tmp_path / "out" / link
    place.parent.mkdir(parents=True)
    leads = tmp_path / "notebooks" / ("02_show.ipynb" if "." in link else "")
    place.symlink_to(leads)
    assert run(*COMMANDS[command]) == 2
    assert f"{place} must be no link" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (tmp_path / "notebooks").iterdir()} == saved
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("option", ["--out", "--notebooks"])
def test_no_name_is_no_folder(run, capsys, option):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "1", option, ""])
    assert f"argument {option}: must be the name of a folder, got ''" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_a_list_that_nobody_reads_ends_without_a_traceback(write_notebook, tmp_path):
    write_notebook("01_show")
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "marab_lib", "list", "--notebooks", tmp_path / "notebooks"]
    try:
        ended = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(written)
    assert (ended.returncode, ended.stderr) == (UNREAD, b"")


# --- parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("int", "40", 40),
        ("int", 40, 40),
        ("float", "1e-6", 1e-6),
        ("float", 3, 3.0),
        ("bool", "True", True),
        ("bool", False, False),
        ("str", "4", "4"),
        ("list[float]", "[1e-3, 1]", [1e-3, 1.0]),
        ("list[float]", ["1e-3", 1], [1e-3, 1.0]),
        ("list[str]", ["MIN"], ["MIN"]),
        ("list", "[1, 2.5]", [1, 2.5]),
    ],
)
def test_a_value_gets_the_declared_type(kind, given, value):
    converted = Parameter("x", kind, "[]", "").convert(given)
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("int", "4.5"),
        ("int", 40.0),
        ("int", True),
        ("float", "high"),
        ("float", None),
        ("float", False),
        ("bool", "yes"),
        ("bool", 1),
        ("str", 4),
        ("list[float]", "0.5"),
        ("list[float]", "[0.5"),
        ("list[float]", ["MIN"]),
        ("list[int]", [0.5]),
        ("list[str]", [4]),
    ],
)
def test_a_value_of_another_type_is_an_error(kind, given):
    with pytest.raises(ValueError, match=r"parameter x \(pulls\) must be") as error:
        Parameter("x", kind, "[]", "pulls").convert(given)
    assert f"{kind}, got {given!r}" in str(error.value)


def test_items_of_a_plain_list_have_the_type_of_the_default():
    assert Parameter("x", "list", "[0, 0.5]", "").convert("[1]") == [1.0]
    with pytest.raises(ValueError, match="must be list"):
        Parameter("x", "list", "[0, 0.5]", "").convert(["MIN"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "horizn", "5"], "has no parameter 'horizn', it has:\n  horizon (int, default 4)"),
        (["-y", "{horizn: 5}"], "has no parameter 'horizn'"),
        (["-p", "horizon", "many"], "must be int, got 'many'"),
        (["-y", "{level: [1]}"], "must be float, got [1]"),
        (["-y", "level"], "must be a YAML mapping"),
        (["-y", "{level: "], "must be a YAML mapping"),
    ],
)
def test_bad_parameters_stop_a_run_before_it_starts(
    write_notebook, run, capsys, tmp_path, arguments, message
):
    write_notebook("01_show", SHOW)
    assert run("run", "1", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_bad_quick_parameters_stop_all(write_notebook, run, capsys, tmp_path):
    write_notebook("01_show", SHOW)
    write_notebook("02_show", SHOW, quick={"runs": 1})
    assert run("reproduce", "--scale", "quick") == 2
    assert "02_show has no parameter 'runs'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1e-3", -0.001),
        ("-1.5E+2", -150.0),
        ("-.5e1", -5.0),
        ("-3", -3.0),
        ("-0.5", -0.5),
        ("-1_000.5", -1000.5),
        ("-inf", -math.inf),
        ("-Infinity", -math.inf),
        ("inf", math.inf),
    ],
)
def test_a_negative_number_in_any_form_is_a_value(write_notebook, run, monkeypatch, text, value):
    write_notebook("01_show", SHOW)
    given = {}
    monkeypatch.setattr(runner_run, "run", lambda n, values, *_: given.update(values) or n.path)
    assert run("run", "1", "-p", "level", text) == 0
    assert given == {"level": value}


def test_negative_numbers_are_values_of_a_grid(write_notebook, run, monkeypatch):
    write_notebook("01_show", SHOW)
    seen = []
    monkeypatch.setattr(sweep.Point, "run", lambda point, _: seen.append(dict(point.values)))
    assert run("sweep", "1", "-g", "level", "-inf", "-1e-3", "-2", "-p", "name", "-1e2") == 0
    assert seen == [{"name": "-1e2", "level": x} for x in (-math.inf, -0.001, -2.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--at-once", "-1"], "must be a whole number >= 1, got '-1'"),
        (["reproduce", "--scale", "-1"], "invalid choice: '-1'"),
        (["list", "-1"], "'-1' is no notebook"),
        (["run", "1", "-y", "-1"], "-y must be a YAML mapping of parameters to values, got '-1'"),
    ],
)
def test_a_negative_number_in_a_wrong_place_is_shown_as_given(
    write_notebook, run, capsys, arguments, message
):
    write_notebook("01_show", SHOW)
    try:
        status = run(*arguments)
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_an_option_is_still_one(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("run", "1", "-p", "level", "-q")
    assert "-p: expected 2 arguments" in capsys.readouterr().err


# --- running ------------------------------------------------------------------------------


def test_a_run_takes_parameters_and_leaves_the_saved_notebook(write_notebook, run, tmp_path):
    path = write_notebook("01_show", SHOW, WRITE)
    before = path.read_bytes()
    assert (
        run("run", "1", "-p", "horizon", "9", "-y", "{level: 1e-6, alphas: [1], fast: true}") == 0
    )
    assert text_of(executed(tmp_path)["01_show.ipynb"]) == "9 1e-06 MIN True [1.0]\n"
    assert (tmp_path / "out" / "numbers" / "01_x.csv").exists()
    assert path.read_bytes() == before


def test_live_widgets_are_left_out_of_a_run(write_notebook, run, tmp_path):
    write_notebook("01_show", "import ipywidgets\nipywidgets.IntSlider(value=3)")
    write_notebook("02_wrong", "import ipywidgets\nipywidgets.IntSlider(value=3)", "1 / 0")
    assert run("reproduce") == 1
    for path in executed(tmp_path).values():
        written = path.read_text()
        assert "IntSlider(value=3)" in written
        assert "application/vnd.jupyter.widget" not in written


STORED = """\
import os
from pathlib import Path
from marab_lib import policies, problems
from marab_lib.paper import section_5_1
shared = os.environ.get("MARAB_STORE")
kept = len(list(Path(shared).iterdir())) if shared else None
ends = section_5_1.marab_ends(problems.proof_of_concept(), [policies.MaRaB()], 50, 3, 1)
print(shared, kept, ends.theoretical_regret.values.tolist())"""


def test_what_two_notebooks_need_is_simulated_once_in_reproduce(write_notebook, run, tmp_path):
    write_notebook("01_first", STORED)
    write_notebook("02_second", STORED)
    assert run("reproduce") == 0
    first, second = (text_of(path).split(" ", 2) for _, path in sorted(executed(tmp_path).items()))
    assert first[0] == second[0]
    assert not Path(first[0]).exists()
    assert [first[1], second[1]] == ["0", "1"]
    assert run("run", "2") == 0
    alone = text_of(executed(tmp_path)["02_second.ipynb"]).split(" ", 2)
    assert alone[:2] == ["None", "None"]
    assert alone[2] == first[2] == second[2]


def test_a_run_into_the_project_is_refused(write_notebook, tmp_path, capsys):
    path = write_notebook("01_show", SHOW)
    before = path.read_bytes()
    folder = str(tmp_path / "notebooks")
    assert main(["run", "1", "--notebooks", folder, "--out", str(tmp_path)]) == 2
    assert "would replace the saved notebooks" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("at_once", ["1", "2"])
def test_reproduce_goes_on_after_a_failure_and_names_the_cell(
    write_notebook, run, tmp_path, capsys, at_once
):
    write_notebook("01_show", SHOW, quick={"horizon": 2})
    write_notebook("02_wrong", "x = 3\nassert x < 2, 'too large'")
    write_notebook("03_dead", "import os\nos._exit(1)")
    write_notebook("04_show", SHOW)
    assert run("reproduce", "--scale", "quick", "--at-once", at_once) == 1
    lines, errors = (text.splitlines() for text in capsys.readouterr())
    wrong = "cell In [3] `x = 3`, line 2 `assert x < 2, 'too large'`: AssertionError: too large"
    assert f"failed: 02_wrong: {wrong}" in errors
    dead = "failed: 03_dead: cell In [3] `import os`: DeadKernelError"
    assert any(line.startswith(dead) for line in errors)
    assert [line.split()[1] for line in lines[:4]] == ["1/4]", "2/4]", "3/4]", "4/4]"]
    names = [line.split()[2] for line in lines[:4]]
    assert sorted(names) == ["01_show", "02_wrong", "03_dead", "04_show"]
    assert at_once == "2" or names == sorted(names)
    assert all(re.search(r"2 cells +\d+\.\d s .* about \d+ s left$", line) for line in lines[:3])
    assert "left" not in lines[3]
    files = executed(tmp_path)
    assert sorted(files) == [
        "01_show.ipynb",
        "02_wrong.failed.ipynb",
        "03_dead.failed.ipynb",
        "04_show.ipynb",
    ]
    assert text_of(files["01_show.ipynb"]).startswith("2 ")
    assert text_of(files["04_show.ipynb"]).startswith("4 ")


def test_an_error_is_shown_once_and_as_soon_as_it_is_there(
    write_notebook, run, monkeypatch, capsys
):
    def stop(notebook, *_):
        raise KeyboardInterrupt if notebook.name == "02_stop" else OSError("no room")

    write_notebook("01_wrong")
    write_notebook("02_stop")
    monkeypatch.setattr(runner_run, "run", stop)
    assert run("reproduce") == INTERRUPTED
    shown = capsys.readouterr()
    assert (shown.out + shown.err).count("no room") == 1
    assert "failed: 01_wrong: no room" in shown.err


def test_what_is_there_and_is_said_to_be_is_what_was_run_last(
    write_notebook, run, tmp_path, capsys
):
    write_notebook("01_change", "1 / 0")
    assert run("reproduce") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 notebooks failed"
    assert sorted(executed(tmp_path)) == ["01_change.failed.ipynb"]
    write_notebook("01_change", "1 / 1")
    write_notebook("02_wrong", "1 / 0")
    assert run("reproduce") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "1 of 2 notebooks failed"
    assert lines[-1].startswith("notebooks, figures and numbers are in ")
    assert sorted(executed(tmp_path)) == ["01_change.ipynb", "02_wrong.failed.ipynb"]


def test_the_kernel_is_this_python_whatever_the_user_has(
    write_notebook, run, tmp_path, monkeypatch
):
    for name in ("JUPYTER_PATH", "JUPYTER_DATA_DIR"):
        spec = tmp_path / name / "kernels" / "python3" / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": ["false"], "display_name": "P", "language": "python"}))
        monkeypatch.setenv(name, str(tmp_path / name))
    startup = tmp_path / "startup.py"
    startup.write_text("print('started')")
    monkeypatch.setenv("PYTHONSTARTUP", str(startup))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    write_notebook("01_where", "import sys\nprint(sys.prefix)\nassert __debug__", FIGURE)
    assert run("reproduce") == 0
    path = executed(tmp_path)["01_where.ipynb"]
    assert text_of(path) == f"{sys.prefix}\n"
    assert "image/png" in path.read_text()
    assert os.environ["MPLBACKEND"] == "agg"


@signals
def test_an_interrupt_leaves_no_half_file_and_no_kernel(write_notebook, tmp_path):
    """Of two notebooks at once, though only the program itself is told of it."""
    done = tmp_path / "out" / "notebooks" / "01_show.ipynb"
    done.parent.mkdir(parents=True)
    done.write_text("of a run before")
    marks = [tmp_path / name for name in ("one", "two")]
    for name, mark in zip(("01_show", "02_show"), marks, strict=True):
        told = f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\n"
        write_notebook(name, f"{told}time.sleep(600)")
    write_notebook("03_never", f"open({str(tmp_path / 'three')!r}, 'w')")
    places = ["--notebooks", tmp_path / "notebooks", "--out", tmp_path / "out"]
    with program("reproduce", *places) as process:
        wait_until(lambda: all(mark.exists() and mark.read_text() for mark in marks))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1].decode().strip().startswith("interrupted")
    assert process.returncode == INTERRUPTED
    assert [path.name for path in done.parent.iterdir()] == ["01_show.ipynb"]
    assert done.read_text() == "of a run before"
    assert not (tmp_path / "three").exists()
    wait_until(lambda: not any(is_running(int(mark.read_text())) for mark in marks))


def test_checks_that_python_removes_are_missed():
    """In a notebook that is opened by hand; the module itself can be used so."""
    code = (
        "import sys\n"
        "from marab_lib import policies, problems, simulate\n"
        "from marab_lib.runner import outputs\n"
        "assert sys.exit('assertions are on')\n"
        "simulate(problems.proof_of_concept(), policies.MIN(), 50, 1, 1)\n"
        "outputs.Outputs('', '01')\n"
    )
    ended = run_python("-c", code, PYTHONOPTIMIZE="1")
    assert ended.returncode == 1
    assert "RuntimeError: the checks of a notebook are assertions" in ended.stderr
    assert "PYTHONOPTIMIZE" in ended.stderr


# --- saving -------------------------------------------------------------------------------


def test_saving_twice_gives_the_same_bytes(write_notebook, run, capsys):
    widget = "import ipywidgets\nipywidgets.IntSlider(value=3)"
    stream = "import sys, time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.2)"
    path = write_notebook("01_show", SHOW, FIGURE, widget, stream)
    content = nbformat.read(path, as_version=4)  # with what an editor leaves
    content.cells[1].metadata["execution"] = {"iopub.status.busy": "2026-01-01"}
    content.metadata["widgets"] = {"state": {}}
    nbformat.write(content, path)
    empty = path.read_bytes()
    assert run("save", "01") == 0
    first = path.read_bytes()
    assert "changed" in capsys.readouterr().out
    assert run("save") == 0
    assert "unchanged" in capsys.readouterr().out
    assert path.read_bytes() == first != empty
    assert "4 0.5 MIN False [0.1, 0.2]" in text_of(path)
    saved = nbformat.read(path, as_version=4)
    assert sorted(saved.metadata) == ["kernelspec", "language_info", "marab"]
    assert [c.execution_count for c in saved.cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]
    assert "image/png" in first.decode()
    assert "widget-view" not in first.decode()
    assert "iopub" not in first.decode()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("print(1)\n1 / 0", "ZeroDivisionError"),
        ("import warnings\nwarnings.warn('odd')", "wrote to stderr"),
    ],
)
def test_a_notebook_that_fails_is_not_saved(write_notebook, run, capsys, cell, message):
    path = write_notebook("01_show", SHOW, cell)
    before = path.read_bytes()
    assert run("save") == 1
    assert message in capsys.readouterr().err
    assert path.read_bytes() == before


# --- an installed package -----------------------------------------------------------------


def test_an_installed_package_says_where_the_notebooks_are(tmp_path):
    """A copy that lies in no repository finds one around the current folder, or tells of it."""
    site, package = tmp_path / "site", Path(find.__file__).parents[1]
    shutil.copytree(package, site / "marab_lib", ignore=shutil.ignore_patterns("__pycache__"))
    called = "from marab_lib.runner.command_line import main\n"

    def python(folder, code):
        return run_python("-P", "-c", called + code, cwd=folder, PYTHONPATH=str(site))

    code = "print([main(given.split()) for given in ('list', 'run 6', 'reproduce')])"
    ended = python(tmp_path, code)
    assert ended.stdout == "[2, 2, 2]\n"
    told = ended.stderr.splitlines()
    assert len(told) == 3
    for line in told:
        assert f"no notebook NN_*.ipynb in {site / 'notebooks'}" in line
        assert "run this in a folder of the repository, or give --notebooks DIR" in line
    code = (
        "import marab_lib.paper.data as d\n"
        "assert main(['list']) == 0\n"
        "print(d.__file__, len(d.published_curves(1, 'a')) > 9)\n"
    )
    for folder in (find.FOLDER.parent, find.FOLDER):
        ended = python(folder, code)
        assert ended.returncode == 0, ended.stderr
        assert "06_proof_of_concept" in ended.stdout
        assert ended.stdout.endswith(f"{site / 'marab_lib' / 'paper' / 'data.py'} True\n")


# --- make ---------------------------------------------------------------------------------


def test_an_installation_prints_errors_only():
    """Some 160 packages would be named otherwise."""
    text = (find.FOLDER.parent / "Makefile").read_text(encoding="utf-8")
    installs = re.findall(r"(?:pip|\(PIP\)) install .*", text)
    assert len(installs) == 4
    assert all(" install --quiet " in line for line in installs)
