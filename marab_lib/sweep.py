"""One notebook over a grid of parameters: a folder a point, and one table of all results.

A point is done once its mark is written, the last of its files. Another call runs what is missing,
and what was done with another version of the notebook, of this package or of its data.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from . import _work, data, notebooks
from .notebooks import Notebook
from .outputs import replace_when_done

if TYPE_CHECKING:
    import pandas

__all__ = ["Point", "gather", "points"]

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
        cells = nbformat.read(self.notebook.path, as_version=4).cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        return _work.fingerprint(self.values, code, _digest_of_package())

    def is_done(self) -> bool:
        """Whether its results are there, from the notebook and package as they are now."""
        try:
            mark = json.loads((self.folder / _MARK).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return mark["fingerprint"] == self.fingerprint()

    def run(self, progress_bar: bool | dict = False) -> None:
        """Run the notebook; see `notebooks.run`. What an earlier version left is removed."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        notebooks.run(self.notebook, self.values, self.folder, progress_bar)
        mark = {"parameters": dict(self.values), "fingerprint": self.fingerprint()}
        with replace_when_done(self.folder / _MARK) as part:
            part.write_text(json.dumps(mark, indent=1), encoding="utf-8")


@cache
def _digest_of_package() -> str:
    """Digest of this package's code and of the data files."""
    package = sorted(Path(__file__).parent.rglob("*.py"))
    files = package + sorted(data.folder().glob("*.csv"))
    return _work.fingerprint(*[file.read_bytes() for file in files])


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
        in the grid and fixed; or if it is the output folder, which a sweep sets itself.

    Examples
    --------
    >>> grid = {"runs": [10, 20], "horizon": [500]}
    >>> found = points(notebooks.pick("6", notebooks.find()), grid, Path("out"))
    >>> [point.name for point in found]
    ['runs=10, horizon=500', 'runs=20, horizon=500']
    """
    fixed = notebook.check(fixed or {})
    typed = {name: _typed(notebook, name, values) for name, values in grid.items()}
    for name in typed:
        if name in fixed:
            raise ValueError(f"parameter {name} is both in the grid and fixed")
    if "output_dir" in [*typed, *fixed]:
        raise ValueError("output_dir is not for the grid: each point has a folder of its own")
    if not typed:
        raise ValueError("the grid must have at least one parameter, got none")
    places = [dict(zip(typed, p, strict=True)) for p in itertools.product(*typed.values())]
    return [
        Point(notebook, place, {**fixed, **place}, out / "points" / _folder({**fixed, **place}))
        for place in places
    ]


def _typed(notebook: Notebook, name: str, values: Sequence[object]) -> list[object]:
    """The values of one parameter in its type."""
    converted = [notebook.check({name: value})[name] for value in values]
    if not converted:
        raise ValueError(f"parameter {name} must have at least one value, got none")
    for value in converted:
        if converted.count(value) > 1:
            raise ValueError(f"the values of {name} must be distinct, got {value!r} more than once")
    return converted


def _folder(values: Mapping[str, object]) -> str:
    """A legible name that is the same for the same values only."""
    text = re.sub(r"[^\w.+=,-]+", "", ",".join(f"{n}={v}" for n, v in values.items()))
    return f"{text[:80]}-{_work.fingerprint(sorted(values.items()))[:8]}"


# --- results ------------------------------------------------------------------------------


def gather(points: Sequence[Point], out: Path) -> pandas.DataFrame:
    """Put the tables of all points that are done into one, with the parameters as columns.

    Writes ``sweep.csv``, a line a number: the parameters, ``table``, ``row`` (what the table's
    first columns say), ``quantity`` (its column) and ``value``. And ``tables/NAME.csv`` for each
    table: its own columns after those of the parameters.

    Parameters
    ----------
    points : sequence of Point
    out : Path
        Folder of the sweep.

    Returns
    -------
    DataFrame
        That of ``sweep.csv``; values are text, as the notebooks wrote them.
    """
    import pandas

    done = [point for point in points if point.is_done()]
    names = sorted({path.name for point in done for path in point.folder.glob("numbers/*.csv")})
    tables = {name: _joined(done, name) for name in names}
    for name, table in tables.items():
        with replace_when_done(out / "tables" / name) as part:
            table.to_csv(part, index=False)
    parameters = list(points[0].place) if points else []
    columns = [*parameters, "table", "row", "quantity", "value"]
    long = [_long(point, Path(name).stem, name, columns) for point in done for name in names]
    result = pandas.concat([pandas.DataFrame(columns=columns, dtype=str), *long])
    with replace_when_done(out / "sweep.csv") as part:
        result.to_csv(part, index=False)
    return result.reset_index(drop=True)


def _read(point: Point, name: str) -> tuple[pandas.DataFrame, int]:
    """A table of a point as text, and how many of its first columns name its rows."""
    import pandas

    path = point.folder / "numbers" / name
    if not path.exists():
        return pandas.DataFrame(), 0
    table = pandas.read_csv(path, dtype=str, keep_default_na=False)
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
    """One table of one point, a line a number."""
    import pandas

    table, labels = _read(point, name)
    place = [str(value) for value in point.place.values()]
    lines = [
        [*place, title, ", ".join(row.iloc[:labels]), quantity, value]
        for _, row in table.iterrows()
        for quantity, value in row.iloc[labels:].items()
    ]
    return pandas.DataFrame(lines, columns=columns)
