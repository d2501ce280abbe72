"""One notebook over a grid of parameters: a folder for each point, and one table of them all.

A point is done once its folder, which is made beside its place, was moved there with its mark.
Another call runs what is missing, and what was done with another version of the notebook, of this
package or of its data; what such a run left stays until the new one has come to its end.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..paper import data
from ..work.files import below, replace_folder_when_done, replace_when_done
from ..work.store import fingerprint
from . import find, run
from .find import Notebook, Parameter
from .outputs import read_table
from .run import CellError

if TYPE_CHECKING:
    import pandas

_MARK = "point.json"


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes
    ----------
    notebook : Notebook
    place : mapping
        Its values of the parameters that vary.
    values : mapping
        All parameters that are not at their defaults.
    folder : Path
        For its notebook, figures and numbers.
    """

    notebook: Notebook
    place: Mapping[str, object]
    values: Mapping[str, object]
    folder: Path

    @property
    def name(self) -> str:
        """Such as ``alpha=0.1, runs=20``."""
        return ", ".join(f"{name}={value}" for name, value in self.place.items())

    def fingerprint(self) -> str:
        """Digest of all that decides the results."""
        path = self.notebook.path
        code = _code(path, path.stat().st_mtime_ns)
        return fingerprint(self.values, code, _digest_of_package())

    def is_done(self) -> bool:
        """Whether its results are there, from the notebook and package as they are now."""
        try:
            mark = json.loads((self.folder / _MARK).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return isinstance(mark, dict) and mark.get("fingerprint") == self.fingerprint()

    def run(self, progress_bar: bool | dict = False) -> None:
        """Run the notebook; see `runner.run.run`.

        What an earlier version left is replaced when this run has come to its end; a notebook that
        fails is kept beside it.
        """
        # Before the run: the notebook may be changed while it runs.
        mark = {"parameters": dict(self.values), "fingerprint": self.fingerprint()}
        with replace_folder_when_done(self.folder) as part:
            try:
                done = run.run(self.notebook, self.values, part, progress_bar)
            except CellError:
                self._keep_failed(part)
                raise
            _name_folder(done, part, self.folder)
            (part / _MARK).write_text(json.dumps(mark, indent=1), encoding="utf-8")

    def _keep_failed(self, part: Path) -> None:
        for failed in part.glob("notebooks/*.failed.ipynb"):
            _name_folder(failed, part, self.folder)
            with replace_when_done(below(self.folder, "notebooks", failed.name)) as kept:
                os.replace(failed, kept)


def _name_folder(executed: Path, part: Path, folder: Path) -> None:
    """Let an executed notebook name the folder where it will lie, not the one it was made in."""
    text = executed.read_text(encoding="utf-8")
    executed.write_text(text.replace(part.name, folder.resolve().name), encoding="utf-8")


@cache
def _code(path: Path, changed: int) -> list[str]:
    """The code cells of a notebook as it was changed last: read once, not once a point."""
    cells = find.read(path).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


@cache
def _digest_of_package() -> str:
    """Digest of this package's code and of the data files."""
    package = sorted(Path(__file__).parents[1].rglob("*.py"))
    files = package + sorted(data.folder().glob("*.csv"))
    return fingerprint(*[file.read_bytes() for file in files])


def points(
    notebook: Notebook,
    grid: Mapping[str, Sequence[object]],
    out: Path,
    fixed: Mapping[str, object] | None = None,
) -> list[Point]:
    """All points of a grid, the last parameter varying fastest.

    Parameters
    ----------
    notebook : Notebook
    grid : mapping from parameter to its values
    out : Path
        Folder of the sweep.
    fixed : mapping, optional
        Other parameters, the same for all points.

    Raises
    ------
    ValueError
        If a parameter is unknown, has no value, one of another type, or one twice; if it is both
        in the grid and fixed; if it is the output folder, which a sweep sets itself; or if a place
        in `out` is a link.

    Examples
    --------
    >>> grid = {"runs": [10, 20], "horizon": [500]}
    >>> found = points(find.pick("6", find.find()), grid, Path("out"))
    >>> [point.name for point in found]
    ['runs=10, horizon=500', 'runs=20, horizon=500']
    """
    fixed = fixed or {}
    known = notebook.known([*fixed, *grid])  # once: each call reads the notebook
    fixed = {name: known[name].convert(value) for name, value in fixed.items()}
    typed = {name: _typed(known[name], values) for name, values in grid.items()}
    for name in typed:
        if name in fixed:
            raise ValueError(f"parameter {name} is both in the grid and fixed")
    if "output_dir" in [*typed, *fixed]:
        raise ValueError("output_dir is not for the grid: each point has a folder of its own")
    if not typed:
        raise ValueError("the grid must have at least one parameter, got none")
    places = [dict(zip(typed, p, strict=True)) for p in itertools.product(*typed.values())]
    for name in ("sweep.csv", "sweep.part.csv", "tables", "tables.part"):  # for `gather`
        below(out, name)
    return [
        Point(notebook, place, values, below(out, "points", _folder(values)))
        for place in places
        for values in [{**fixed, **place}]
    ]


def _typed(parameter: Parameter, values: Sequence[object]) -> list[object]:
    """The values of one parameter in its type."""
    name = parameter.name
    converted = [parameter.convert(value) for value in values]
    if not converted:
        raise ValueError(f"parameter {name} must have at least one value, got none")
    for value in converted:
        if converted.count(value) > 1:
            raise ValueError(f"the values of {name} must be distinct, got {value!r} more than once")
    return converted


def _folder(values: Mapping[str, object]) -> str:
    """A legible name that is the same for the same values only."""
    text = re.sub(r"[^\w.+=,-]+", "", ",".join(f"{n}={v}" for n, v in values.items()))
    return f"{text[:80]}-{fingerprint(sorted(values.items()))[:8]}"


# --- results ------------------------------------------------------------------------------


def gather(points: Sequence[Point], out: Path) -> pandas.DataFrame:
    """Put the tables of all points that are done into one, with the parameters as columns.

    Writes ``sweep.csv``, in which each line is one number: the parameters, ``table``, ``row`` (what
    the table's first columns say), ``quantity`` (its column) and ``value``. And, for each table,
    ``tables/NAME.csv``: its own columns after those of the parameters. As long as some points are
    not done these are ``sweep.part.csv`` and ``tables.part/``: what is whole stays as it is.

    Parameters
    ----------
    points : sequence of Point
    out : Path
        Folder of the sweep.

    Returns
    -------
    DataFrame
        That of ``sweep.csv``; values are text, as the notebooks wrote them. Its ``attrs`` say
        where it was written (``path``) and how many points are in it (``points``).

    Raises
    ------
    ValueError
        If a table of a point cannot be read, or a place in `out` is a link; the message names it.
    """
    import pandas

    done = [point for point in points if point.is_done()]
    part = "" if len(done) == len(points) else ".part"
    shutil.rmtree(out / "tables.part", ignore_errors=True)
    names = sorted({path.name for point in done for path in point.folder.glob("numbers/*.csv")})
    tables = {name: _joined(done, name) for name in names}
    for name, table in tables.items():
        with replace_when_done(below(out, f"tables{part}", name)) as file:
            table.to_csv(file, index=False)
    parameters = list(points[0].place) if points else []
    columns = [*parameters, "table", "row", "quantity", "value"]
    long = [_long(point, Path(name).stem, name, columns) for point in done for name in names]
    result = pandas.concat([pandas.DataFrame(columns=columns, dtype=str), *long])
    path = below(out, f"sweep{part}.csv")
    with replace_when_done(path) as file:
        result.to_csv(file, index=False)
    if not part:
        (out / "sweep.part.csv").unlink(missing_ok=True)
    result = result.reset_index(drop=True)
    result.attrs = {"path": path, "points": len(done)}
    return result


def _read(point: Point, name: str) -> tuple[pandas.DataFrame, int]:
    """A table of a point as text, and how many of its first columns name its rows."""
    import pandas

    path = point.folder / "numbers" / name
    if not path.exists():
        return pandas.DataFrame(), 0
    table = read_table(path)
    unnamed = list(itertools.takewhile(lambda c: c.startswith("Unnamed: "), table.columns))
    rows = {column: f"row {i}" if i > 1 else "row" for i, column in enumerate(unnamed, 1)}
    return table.rename(columns=rows), max(1, len(unnamed))


def _joined(done: Sequence[Point], name: str) -> pandas.DataFrame:
    """One table of all points below each other."""
    import pandas

    parts = []
    for point in done:
        table, _ = _read(point, name)
        for place, (parameter, value) in enumerate(point.place.items()):
            free = parameter if parameter not in table else f"{parameter} (parameter)"
            table.insert(place, free, str(value))
        parts.append(table)
    return pandas.concat(parts, ignore_index=True)


def _long(point: Point, title: str, name: str, columns: Sequence[str]) -> pandas.DataFrame:
    """One table of one point, with one number a line."""
    import pandas

    table, labels = _read(point, name)
    place = [str(value) for value in point.place.values()]
    lines = [
        [*place, title, ", ".join(row.iloc[:labels]), quantity, value]
        for _, row in table.iterrows()
        for quantity, value in row.iloc[labels:].items()
    ]
    return pandas.DataFrame(lines, columns=columns)
