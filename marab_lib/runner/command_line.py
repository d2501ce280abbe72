"""The command line: list, run and save notebooks, sweep, reproduce, report, own data."""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml

from ..simulation.warm import compile_all
from ..work.files import new_or_folder
from ..work.store import SHARED
from . import find, own, run, save, sweep
from .find import Notebook
from .run import CellError

INTERRUPTED = 130  # exit status of a program that Ctrl-C ended
UNREAD = 141  # and of one whose output nobody reads any more
_NO_OPTION = "\0"  # before a negative number on its way through argparse


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    arguments = sys.argv[1:] if arguments is None else arguments
    given = parser.parse_args(list(map(_no_option, arguments)))
    try:
        if getattr(given, "out", None):
            new_or_folder("--out", given.out)
        status = given.command(given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # as of `list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the last flush
        return UNREAD
    except (LookupError, ValueError, OSError) as error:
        # The text of a LookupError may be in quotes.
        said = error.args[0] if isinstance(error, LookupError) and error.args else error
        print(f"{parser.prog}: {said}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; what was finished before is kept", file=sys.stderr)
        return INTERRUPTED


def _no_option(argument: str) -> str:
    """Mark a negative number: argparse would take -1e-3 and -inf for options."""
    if argument.startswith("-"):
        with suppress(ValueError):
            float(argument)
            return _NO_OPTION + argument
    return argument


def _given(argument: str) -> str:
    return argument.removeprefix(_NO_OPTION)


def _file(argument: str) -> Path:
    argument = _given(argument)
    if not argument:
        raise argparse.ArgumentTypeError("must be the name of a file, got ''")
    return Path(argument)


def _folder(argument: str) -> Path:
    argument = _given(argument)
    if not argument:  # as a path it would be the current folder
        raise argparse.ArgumentTypeError("must be the name of a folder, got ''")
    return Path(argument)


def _count(argument: str) -> int:
    argument = _given(argument)
    if not (argument.isdecimal() and int(argument) > 0):
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1, got {argument!r}")
    return int(argument)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m marab_lib", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(function: Callable, name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.register("type", None, _given)  # of all arguments without a type of their own
        command.set_defaults(command=function)
        command.add_argument(
            "--notebooks", type=_folder, default=find.FOLDER, metavar="DIR",
            help="folder of the notebooks (default: the project's)",
        )  # fmt: skip
        return command

    command = add(_list, "list", "list the notebooks with paper section and run time")
    command.add_argument("name", nargs="?", metavar="NAME", help="show this one's parameters")

    command = add(_run, "run", "run one notebook; the saved one stays as it is")
    _add_parameters(command)
    _add_out(command, "out/runs", "folder for the notebook, figures and numbers")

    command = add(_sweep, "sweep", "run one notebook over a grid; a second call goes on")
    _add_parameters(command)
    command.add_argument(
        "-g", nargs="+", action="append", default=[], metavar=("PARAMETER", "VALUE"),
        help="values of a parameter, such as -g horizon 500 1000 2000; repeat it for a grid",
    )  # fmt: skip
    command.add_argument(
        "--out", type=_folder, metavar="DIR",
        help="for a folder of each point and one table of all (default: out/sweeps/NAME)",
    )  # fmt: skip

    command = add(_reproduce, "reproduce", "run all notebooks, the longest first")
    command.add_argument("--scale", choices=("paper", "quick"), default="paper")
    command.add_argument("--report", action="store_true", help="make the static site at the end")
    command.add_argument(
        "--at-once", type=_count, default=2, metavar="N",
        help="notebooks that are run at the same time (default: 2)",
    )  # fmt: skip
    _add_out(command, "out", "folder for notebooks, figures and numbers")

    command = add(_report, "report", "make a static site of the notebooks that were run")
    _add_out(command, "out", "folder with notebooks and numbers, and for report/")

    command = add(_own, "own", "which arm and which policy for a table of your own")
    _add_table(command)
    _add_out(command, "out/own", "folder for the notebook, figures, numbers and report/")

    command = add(_save, "save", "run from the defaults and save the outputs in the notebooks")
    command.add_argument("names", nargs="*", metavar="NAME", help="which ones (default: all)")
    _add_out(command, "out", "folder for a notebook that fails")
    return parser


def _add_parameters(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="its number, name or a part of the name")
    command.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("PARAMETER", "VALUE"),
        help='change a parameter, such as -p horizon 4000 or -p alphas "[0.01, 0.2]"',
    )  # fmt: skip
    command.add_argument("-y", metavar="YAML", default="{}", help="parameters as YAML")


def _add_table(command: argparse.ArgumentParser) -> None:
    def add(name: str, text: str, **options) -> None:
        command.add_argument(f"--{name}", help=text, **options)

    command.add_argument(
        "data", type=_file, metavar="CSV", help="a column an arm, or arm and reward"
    )
    add("aim", "mean, minimum or cvar:LEVEL (default: cvar:0.1)", default="cvar:0.1")
    add("horizon", "pulls (default: 500)", default="500", metavar="T")
    add("costs", "the numbers are costs", action="store_true")
    add("levels", 'of the CVaR by which arms are judged, such as "[0.05, 0.5]"')
    add("labels", "whether the first column only labels the rows", choices=("auto", "yes", "no"))
    add("arm", "column of the arms in rows of arm and reward", metavar="NAME")
    add("reward", "column of the rewards in such rows", metavar="NAME")
    add("separator", "of the columns, if it is none of , ; TAB |", metavar="CHARACTER")
    command.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("PARAMETER", "VALUE"),
        help="change another parameter of the notebook, such as -p runs 50",
    )  # fmt: skip


def _add_out(command: argparse.ArgumentParser, default: str, text: str) -> None:
    command.add_argument(
        "--out",
        type=_folder,
        default=Path(default),
        metavar="DIR",
        help=f"{text} (default: {default})",
    )


def _list(given: argparse.Namespace) -> int:
    found = find.find(given.notebooks)
    if given.name:
        picked = find.pick(given.name, found)
        print(f"{picked.name}: {picked.title}")
        for parameter in picked.parameters().values():
            print(f"  {parameter}")
        return 0
    width = max(len(notebook.name) for notebook in found)
    for n in found:
        time_needed = "" if math.isnan(n.minutes) else f"{n.minutes:g} min"
        print(f"{n.name:{width}}  {n.section:>8}  {time_needed:>8}  {n.title}")
    return 0


def _run(given: argparse.Namespace) -> int:
    notebook = find.pick(given.name, find.find(given.notebooks))
    values = notebook.check({**_mapping(given.y), **dict(given.p)})

    def job(bar: dict | bool) -> str:
        return f"-> {run.run(notebook, values, given.out, bar)}"

    return min(1, _failures([_Job(notebook.name, notebook.cells, job)]))


def _sweep(given: argparse.Namespace) -> int:
    notebook = find.pick(given.name, find.find(given.notebooks))
    out = given.out or new_or_folder("--out", Path("out", "sweeps", notebook.name))
    names = [name for name, *_ in given.g]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"-g must have each parameter once, got {name!r} more than once")
    fixed = {**_mapping(given.y), **dict(given.p)}
    listed = sweep.points(notebook, {name: values for name, *values in given.g}, out, fixed)

    def job(point: sweep.Point, bar: dict | bool) -> str:
        if point.is_done():
            return "done before"
        point.run(bar)
        return ""

    try:
        return min(1, _failures([_Job(p.name, notebook.cells, partial(job, p)) for p in listed]))
    finally:  # also of an interrupted or partly failed sweep
        table = sweep.gather(listed, out)
        path, done = table.attrs["path"].resolve(), table.attrs["points"]
        print(f"{len(table)} numbers of {notebook.name} are in {path}")
        if done < len(listed):
            print(f"only {done} of {len(listed)} points are done: sweep.csv waits for the others")


def _mapping(text: str) -> dict[str, object]:
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"-y must be a YAML mapping of parameters to values, got {text!r}")
    return values


def _reproduce(given: argparse.Namespace) -> int:
    found = find.find(given.notebooks)
    # The longest first, so that no process is left without work: also of the quick runs.
    found.sort(key=lambda n: 0.0 if math.isnan(n.minutes) else -n.minutes)
    quick = given.scale == "quick"
    values = {n.name: n.check(n.quick) if quick else {} for n in found}
    for notebook in found:  # before any is run
        run.places(notebook, given.out)

    jobs = [
        _Job(
            n.name, n.cells, partial(_run_quietly, n, values[n.name], given.out),
            share=1.0 if quick or math.isnan(n.minutes) else n.minutes,
        )
        for n in found
    ]  # fmt: skip
    prepared = threading.Thread(target=_prepare_report, daemon=True)
    if given.report:  # an error comes again where the report is made
        prepared.start()
    with tempfile.TemporaryDirectory(prefix="marab-") as folder:
        os.environ[SHARED] = folder  # the kernels get it too
        try:
            failed = _failures(jobs, given.at_once)
        finally:
            del os.environ[SHARED]
    if failed:
        print(f"{failed} of {len(found)} notebooks failed")
    if failed < len(found):
        print(f"notebooks, figures and numbers are in {given.out.resolve()}")
    if not given.report:
        return min(1, failed)
    prepared.join()
    return _report(given) or min(1, failed)


def _run_quietly(
    notebook: Notebook, values: Mapping[str, object], out: Path, bar: dict | bool
) -> str:
    run.run(notebook, values, out, bar)
    return ""


def _prepare_report() -> None:
    with suppress(Exception):
        from . import report

        report.prepare()


def _report(given: argparse.Namespace) -> int:
    from . import report  # needs packages of its own

    page, flaws = report.build(given.out, given.notebooks)
    for flaw in flaws:
        print(flaw, file=sys.stderr)
    if not any((given.out / "notebooks").glob("*.ipynb")):
        print(f"nothing was run in {given.out}: the report shows the saved notebooks")
    print(f"report: {page.resolve()}")
    return 0


def _own(given: argparse.Namespace) -> int:
    names = ("aim", "horizon", "costs", "levels", "labels", "arm", "reward", "separator")
    values = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    try:
        told = own.answer(given.data, {**values, **dict(given.p)}, given.out, given.notebooks)
    except CellError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    print(told)
    print(f"report: {own.page(given.out, given.notebooks).resolve()}")
    return 0


def _save(given: argparse.Namespace) -> int:
    found = find.find(given.notebooks)
    if given.names:
        found = [find.pick(name, found) for name in given.names]

    def job(notebook: Notebook, bar: dict | bool) -> str:
        return "changed" if save.save(notebook, given.out, bar) else "unchanged"

    return min(1, _failures([_Job(n.name, n.cells, partial(job, n)) for n in found]))


class _Job(NamedTuple):
    """One run of a notebook, for `_failures`."""

    name: str
    cells: int
    run: Callable[[dict | bool], str]  # gets options of the progress bar, says how it ended
    share: float = 0.0  # of the time of all jobs, in any unit; 0 is unknown


class _Ended(NamedTuple):
    """A run that has ended: after how many seconds, how, and what went wrong."""

    seconds: float
    how: str
    failure: str = ""


def _failures(jobs: list[_Job], at_once: int = 1) -> int:
    """Do all runs, a line each as it ends, also after one that fails; how many failed.

    A line says how much time is left for all, where the jobs say what share of it they take.
    """
    terminal = sys.stderr.isatty() and sys.stdout.isatty()
    at_once = min(at_once, len(jobs))
    width, rest, failures = max(len(job.name) for job in jobs), [*jobs], 0

    def label(job: _Job) -> str:
        return f"[{len(jobs) - len(rest) + 1:2}/{len(jobs)}] {job.name:{width}}"

    def one_by_one() -> Iterator[tuple[_Job, _Ended]]:
        for job in jobs:
            if not terminal:
                print(label(job), end="  ", flush=True)
            yield job, _attempt(job, {"desc": label(job), "leave": False} if terminal else False)

    compile_all()  # once, and said here: in a notebook it would be an output
    start = time.perf_counter()
    for job, ended in one_by_one() if at_once == 1 else _together(jobs, at_once):
        line = f"{job.cells:3} cells {ended.seconds:7.1f} s  {ended.how}"
        if terminal or at_once > 1:
            line = f"{label(job)}  {line}"
        rest.remove(job)
        print(f"{line}{_time_left(time.perf_counter() - start, jobs, rest)}".rstrip(), flush=True)
        if ended.failure:  # at once: an interrupt may come before the last run
            failures += 1
            print(ended.failure, file=sys.stderr, flush=True)
    return failures


def _time_left(seconds: float, jobs: list[_Job], rest: list[_Job]) -> str:
    """Of all jobs, from the time that those took that are done."""
    left, whole = (sum(job.share for job in some) for some in (rest, jobs))
    if not 0 < left < whole:
        return ""
    left = seconds * left / (whole - left)
    return f"  about {left / 60:.0f} min left" if left > 90 else f"  about {left:.0f} s left"


def _attempt(job: _Job, bar: dict | bool) -> _Ended:
    start, failure = time.perf_counter(), ""
    try:
        how = job.run(bar)
    except (CellError, RuntimeError, OSError) as error:
        how, failure = "FAILED", f"failed: {job.name}: {error}"
    return _Ended(time.perf_counter() - start, how, failure)


def _together(jobs: list[_Job], at_once: int) -> Iterator[tuple[_Job, _Ended]]:
    """Runs in processes of their own: while one of them draws, the other computes."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(at_once, mp_context=spawn, initializer=_own_group) as pool:
        rest = iter(jobs)
        running = {
            pool.submit(_attempt, job, False): job for job in itertools.islice(rest, at_once)
        }
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    # Not before: what the pool is given, it begins, also after an interrupt.
                    for other in itertools.islice(rest, 1):
                        running[pool.submit(_attempt, other, False)] = other
                    yield job, future.result()
        except BaseException:
            for child in multiprocessing.active_children():
                if child.pid:
                    os.kill(child.pid, signal.SIGINT)
            raise


def _own_group() -> None:
    """Leave it to the parent to pass on an interrupt, which a terminal sends to a whole group."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
