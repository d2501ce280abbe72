"""The command line: list, run and save notebooks, sweep over parameters, reproduce, report."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from . import notebooks
from .notebooks import CellError, Notebook

INTERRUPTED = 130  # exit status of a program that Ctrl-C ended


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return given.command(given)
    except (LookupError, ValueError) as error:
        print(f"{parser.prog}: {error.args[0]}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; what was finished before is kept", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m marab_lib", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(function: Callable, name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=function)
        command.add_argument(
            "--notebooks", type=Path, default=notebooks.FOLDER, metavar="DIR",
            help="folder of the notebooks (default: the project's)",
        )  # fmt: skip
        return command

    command = add(_list, "list", "list the notebooks with paper section and run time")
    command.add_argument("name", nargs="?", metavar="NAME", help="show this one's parameters")

    command = add(_run, "run", "run one notebook; the saved one stays as it is")
    command.add_argument("name", metavar="NAME", help="its number, name or a part of the name")
    command.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("PARAMETER", "VALUE"),
        help='change a parameter, such as -p horizon 4000 or -p alphas "[0.01, 0.2]"',
    )  # fmt: skip
    command.add_argument("-y", metavar="YAML", default="{}", help="parameters as YAML")
    _add_out(command, "out/runs", "folder for the notebook, figures and numbers")

    command = add(_reproduce, "reproduce", "run all notebooks in order")
    command.add_argument("--scale", choices=("paper", "quick"), default="paper")
    command.add_argument("--report", action="store_true", help="make the static site at the end")
    _add_out(command, "out", "folder for notebooks, figures and numbers")

    command = add(_report, "report", "make a static site of the notebooks that were run")
    _add_out(command, "out", "folder with notebooks and numbers, and for report/")

    command = add(_save, "save", "run from the defaults and save the outputs in the notebooks")
    command.add_argument("names", nargs="*", metavar="NAME", help="which ones (default: all)")
    _add_out(command, "out", "folder for a notebook that fails")
    return parser


def _add_out(command: argparse.ArgumentParser, default: str, text: str) -> None:
    command.add_argument(
        "--out",
        type=Path,
        default=Path(default),
        metavar="DIR",
        help=f"{text} (default: {default})",
    )


def _list(given: argparse.Namespace) -> int:
    found = notebooks.find(given.notebooks)
    if given.name:
        picked = notebooks.pick(given.name, found)
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
    notebook = notebooks.pick(given.name, notebooks.find(given.notebooks))
    values = notebook.check({**_mapping(given.y), **dict(given.p)})

    def run(notebook: Notebook, bar: dict | bool) -> str:
        return f"-> {notebooks.run(notebook, values, given.out, bar)}"

    return _each([notebook], run)


def _mapping(text: str) -> dict[str, object]:
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"-y must be a YAML mapping of parameters to values, got {text!r}")
    return values


def _reproduce(given: argparse.Namespace) -> int:
    found = notebooks.find(given.notebooks)
    quick = given.scale == "quick"
    values = {n.name: n.check(n.quick) if quick else {} for n in found}

    def run(notebook: Notebook, bar: dict | bool) -> str:
        notebooks.run(notebook, values[notebook.name], given.out, bar)
        return ""

    status = _each(found, run)
    print(f"notebooks, figures and numbers are in {given.out.resolve()}")
    return (_report(given) if given.report else 0) or status


def _report(given: argparse.Namespace) -> int:
    from . import report  # needs packages of its own

    page, flaws = report.build(given.out, given.notebooks)
    for flaw in flaws:
        print(flaw, file=sys.stderr)
    print(f"report: {page.resolve()}")
    return 0


def _save(given: argparse.Namespace) -> int:
    found = notebooks.find(given.notebooks)
    if given.names:
        found = [notebooks.pick(name, found) for name in given.names]

    def run(notebook: Notebook, bar: dict | bool) -> str:
        return "changed" if notebooks.save(notebook, given.out, bar) else "unchanged"

    return _each(found, run)


def _each(found: list[Notebook], run: Callable[[Notebook, dict | bool], str]) -> int:
    """Run notebooks one after the other, a line each, also after one that fails."""
    terminal = sys.stderr.isatty() and sys.stdout.isatty()
    width = max(len(notebook.name) for notebook in found)
    failures = []
    for number, notebook in enumerate(found, 1):
        label = f"[{number:2}/{len(found)}] {notebook.name:{width}}"
        if not terminal:
            print(label, end="  ", flush=True)
        start = time.perf_counter()
        try:
            end = run(notebook, {"desc": label, "leave": False} if terminal else False)
        except (CellError, RuntimeError, OSError) as error:
            end = f"FAILED: {error}"
            failures.append(f"{notebook.name}: {error}")
        line = f"{notebook.cells:3} cells {time.perf_counter() - start:7.1f} s  {end}"
        print(f"{label}  {line}" if terminal else line, flush=True)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
