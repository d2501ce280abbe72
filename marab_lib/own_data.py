"""A reader's own rewards: a table is read, described, resampled, and made a bandit problem."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from . import _validate, risk
from .arms import Empirical, Replay
from .criteria import Criterion
from .problems import Problem
from .statistics import percentile_interval

if TYPE_CHECKING:
    import pandas

__all__ = ["Rewards", "from_pairs", "from_table", "read"]

_SEPARATORS = ",;\t|"
_NAMES = ("arm", "reward")  # of the columns of pairs
_FENCE = 3.0  # interquartile ranges beyond the quartiles: Tukey's outer fence
_RISING = 5  # rows from which rising whole numbers in the first column are taken for labels
_DRAWN = 5e7  # numbers that a bootstrap draws at most, but for the fewest resamples
_FEWEST = 100
_AT_ONCE = 2e6  # numbers of a batch
_MOST = 20_000  # rewards of an arm in a resample


@dataclass(frozen=True)
class Rewards:
    """What each arm gave, in the order of the file. Made by `read`, `from_table`, `from_pairs`.

    Attributes
    ----------
    columns : dict of str to ndarray
        The rewards of each arm, without gaps, in the reader's unit; costs are negative here.
    missing : dict of str to int
        Gaps that were left out of each column.
    paired : bool
        Whether a row is one occasion for all arms: a column an arm, and no gap.
    notes : tuple of str
        What was assumed in reading.

    Examples
    --------
    >>> import pandas
    >>> rewards = from_table(pandas.DataFrame({"a": [1.0, 3.0, 2.0], "b": [0.0, 5.0, None]}))
    >>> rewards.low, rewards.high, rewards.missing
    (0.0, 5.0, {'a': 0, 'b': 1})
    >>> rewards.problem().means.round(3).tolist(), rewards.in_unit(0.4)
    ([0.4, 0.5], 2.0)
    """

    columns: dict[str, np.ndarray]
    missing: dict[str, int]
    paired: bool
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise ValueError(f"the rewards must be of at least 2 arms, got {list(self.columns)}")
        for arm, x in self.columns.items():
            if x.size < 2:
                raise ValueError(f"each arm must have at least 2 rewards, got {x.size} of {arm!r}")
            if not (abs(x) <= risk.LARGEST).all():
                worst = x[~(abs(x) <= risk.LARGEST)][0]
                limits = f"[{-risk.LARGEST:g}, {risk.LARGEST:g}]"
                raise ValueError(f"rewards must be numbers in {limits}, got {worst} of {arm!r}")
        if self.low == self.high:
            raise ValueError(f"the rewards must not all be equal, got {self.low} everywhere")

    @property
    def arms(self) -> list[str]:
        """Names of the arms."""
        return list(self.columns)

    @property
    def low(self) -> float:
        """Smallest of all rewards: 0 on the scale that policies see."""
        return float(min(x.min() for x in self.columns.values()))

    @property
    def high(self) -> float:
        """Largest of all rewards: 1 on the scale that policies see."""
        return float(max(x.max() for x in self.columns.values()))

    @property
    def shortest(self) -> int:
        """Rewards of the arm that has the fewest."""
        return min(x.size for x in self.columns.values())

    def scaled(self) -> list[np.ndarray]:
        """The rewards of each arm on [0, 1]."""
        low, width = self.low, self.high - self.low
        return [np.clip((x - low) / width, 0, 1) for x in self.columns.values()]

    def in_unit(self, x):
        """Rewards on [0, 1] in the reader's unit; a difference or a regret is x (high - low)."""
        return self.low + x * (self.high - self.low)

    def problem(self) -> Problem:
        """Draws with replacement from each column, scaled to [0, 1]."""
        return Problem([Empirical(x) for x in self.scaled()], "own data")

    def replay(self) -> Problem:
        """The file in its own order, without replacement, scaled to [0, 1]."""
        return Problem([Replay(x) for x in self.scaled()], "replay")

    def shuffled(self, n: int, seed: int, most: int | None = None) -> list[Problem]:
        """n replays, each with every column in another random order.

        Parameters
        ----------
        n, seed : int
        most : int, optional
            Keep so many rewards of each column, at the top of its new order: as many as there will
            be pulls. Default all, which of a long table takes n times its memory.
        """
        rng = np.random.default_rng(_validate.whole("seed", seed, 0))
        columns, n = self.scaled(), _validate.whole("n", n, 1)
        most = None if most is None else _validate.whole("most", most, 1)
        return [
            Problem([Replay(rng.permutation(x)[:most]) for x in columns], f"shuffled {i}")
            for i in range(n)
        ]

    def describe(self) -> pandas.DataFrame:
        """Per arm: its rewards, gaps and outliers in number, minimum, median, mean, maximum.

        An outlier lies more than three interquartile ranges below the lower or above the upper
        quartile of its column (Tukey's outer fences). Outliers are counted, never left out.
        """
        import pandas as pd

        return pd.DataFrame([
            {
                "arm": arm,
                "rewards": x.size,
                "missing": self.missing[arm],
                "outliers": _outliers(x),
                "minimum": x.min(),
                "median": np.median(x),
                "mean": x.mean(),
                "maximum": x.max(),
            }
            for arm, x in self.columns.items()
        ]).set_index("arm")  # fmt: skip

    def judge(
        self, judged: Sequence[Criterion], resamples: int = 2000, seed: int = 0
    ) -> pandas.DataFrame:
        """Each arm by each criterion, with bootstrap intervals, and how often it is the best.

        Rows are resampled, of all arms together if they are `paired`, else of each arm alone. The
        bootstrap knows no reward below those of the file: the interval of a minimum, or of a CVaR
        of a few rewards, has no room below and is too optimistic.

        Parameters
        ----------
        judged : sequence of Criterion
        resamples : int
            Default 2000; fewer where these would be more than 5e7 numbers, but at least 100. Where
            an arm has more than 20,000 rewards, so many are drawn, and what they differ by from
            the whole is multiplied by the root of their share.
        seed : int

        Returns
        -------
        DataFrame
            One row for each criterion and arm: ``value``, ``low`` and ``high`` (95 %, percentiles),
            in the reader's unit, and ``best``, the share of the resamples in which the arm is the
            best, that of ties divided; ``resamples``, how many there were.

        References
        ----------
        Bickel, Goetze and van Zwet (1997), Resampling fewer than n observations.
        """
        import pandas as pd

        wanted = "criteria such as criteria.mean()"
        judged = _validate.several("judged", judged, Criterion, wanted)
        x = list(self.columns.values())
        samples = [np.stack(x)] if self.paired else [one[None] for one in x]
        resamples = _validate.whole("resamples", resamples, _FEWEST)
        drawn = sum(min(one.size, _MOST) for one in x)
        resamples = min(resamples, max(_FEWEST, int(_DRAWN // drawn)))
        rng = np.random.default_rng(_validate.whole("seed", seed, 0))
        again = np.concatenate([_resampled(one, judged, resamples, rng) for one in samples], axis=1)
        tables = []
        for criterion, values in zip(judged, again, strict=True):
            value = np.array([criterion.of_sample(one) for one in x])
            low, high = percentile_interval(values)
            tied = values == values.max(axis=0)
            tables.append(pd.DataFrame({
                "criterion": criterion.name,
                "arm": self.arms,
                "value": value,
                "low": np.minimum(low, value),
                "high": np.maximum(high, value),
                "best": (tied / tied.sum(axis=0)).mean(axis=1),
                "resamples": resamples,
            }))  # fmt: skip
        return pd.concat(tables, ignore_index=True)


def _outliers(x: np.ndarray) -> int:
    lower, upper = np.quantile(x, [0.25, 0.75])
    room = _FENCE * (upper - lower)
    return int(((x < lower - room) | (x > upper + room)).sum())


def _resampled(
    x: np.ndarray, judged: Sequence[Criterion], resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Each criterion of each row of x, of columns drawn together: [criterion, row, resample]."""
    n, drawn = x.shape[1], min(x.shape[1], _MOST)
    batch = max(1, int(_AT_ONCE // (len(x) * drawn)))
    parts = []
    for first in range(0, resamples, batch):
        again = x[:, rng.integers(n, size=(min(batch, resamples - first), drawn))]
        parts.append([criterion.of_sample(again) for criterion in judged])
    values = np.concatenate(parts, axis=-1)
    if drawn == n:
        return values
    whole = np.array([criterion.of_sample(x) for criterion in judged])[..., None]
    return whole + np.sqrt(drawn / n) * (values - whole)


# --- from tables ----------------------------------------------------------------------------


def from_table(table: pandas.DataFrame, costs: bool = False) -> Rewards:
    """Rewards from a table with a column an arm; gaps are left out and counted, row by row.

    A row that is a gap of all arms counts as none.

    Parameters
    ----------
    table : DataFrame
        Numbers, in the reader's unit.
    costs : bool
        The numbers are costs: their sign is changed.
    """
    if not hasattr(table, "columns") or not hasattr(table, "iloc"):
        raise TypeError(f"table must be a DataFrame, got {_validate.shown(table)}")
    names = list(map(str, table.columns))
    _validate.distinct("the columns", names)
    filled = table.dropna(how="all")
    columns, missing = {}, {}
    for place, name in enumerate(names):
        x = _validate.numbers(f"column {name!r}", filled.iloc[:, place].to_numpy())
        present = ~np.isnan(x)
        columns[name] = _signed(x[present], costs)
        missing[name] = int((~present).sum())
    return Rewards(columns, missing, paired=not any(missing.values()), notes=_of_costs(costs))


def from_pairs(arms: Sequence, rewards: ArrayLike, costs: bool = False) -> Rewards:
    """Rewards from pairs of arm and reward, in their order; pairs without a reward are counted.

    Examples
    --------
    >>> from_pairs(["a", "b", "a", "b"], [1, 2, 3, 4]).columns["a"].tolist()
    [1.0, 3.0]
    """
    import pandas as pd

    x = _validate.numbers("rewards", rewards)
    if not hasattr(arms, "__len__") or np.ndim(arms) != 1 or x.ndim != 1:
        raise TypeError(
            "arms and rewards must be one list each, got "
            f"{_validate.shown(arms)} and {_validate.shown(rewards)}"
        )
    if len(arms) != x.size:
        raise ValueError(f"arms and rewards must be as many, got {len(arms)} and {x.size}")
    if not x.size:
        raise ValueError("rewards must be of at least 2 arms, got none")
    codes, names = pd.factorize(pd.Series(arms))
    if (codes < 0).any():
        raise ValueError(f"each reward must have an arm, got none in row {np.argmin(codes) + 1}")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
    parts = np.split(x[np.argsort(codes, kind="stable")], ends)
    names = [_validate.plain(x) if isinstance(x, float) else str(x) for x in names]
    _validate.distinct("arms", names)
    present = [part[~np.isnan(part)] for part in parts]
    columns = {name: _signed(some, costs) for name, some in zip(names, present, strict=True)}
    missing = {
        name: part.size - some.size for name, part, some in zip(names, parts, present, strict=True)
    }
    return Rewards(columns, missing, paired=False, notes=_of_costs(costs))


def _signed(x: np.ndarray, costs: bool) -> np.ndarray:
    return 0.0 - x if costs else x  # no negative zeros


def _of_costs(costs: bool) -> tuple[str, ...]:
    return ("costs: a reward is a cost with its sign changed",) if costs else ()


# --- from files -----------------------------------------------------------------------------


def read(
    path: str | os.PathLike,
    *,
    costs: bool = False,
    labels: bool | None = None,
    arm: str = "",
    reward: str = "",
    separator: str = "",
    decimal: str = "",
) -> Rewards:
    """Rewards from a text file, with a column an arm or rows of arm and reward.

    The first line names the columns; empty lines and lines with ``#`` before it are skipped.
    What is not given is found as said below, and `Rewards.notes` says what was assumed.

    Parameters
    ----------
    path : path
        UTF-8 (or UTF-16 with its mark, as spreadsheets write it).
    costs : bool
        The numbers are costs: their sign is changed.
    labels : bool, optional
        Whether the first column only labels the rows. Default: it does if it has no name, holds no
        number, or holds whole numbers that rise over at least 5 rows.
    arm, reward : str
        Names of the columns of rows of (arm, reward); others are not used. Default: columns called
        "arm" and "reward"; or, of just two columns, the first if it is text that repeats.
    separator : str
        Default: that of comma, semicolon, tab and bar which is the most frequent in the first line.
    decimal : str
        "." or ",". Default ",", if the separator is another and a comma stands between digits.

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file, and of a cell that is no number its line, column and text.
    """
    wrong = len(separator) > 1 or not separator.isascii() or separator in ('"', "\r", "\n")
    if wrong or decimal not in ("", ".", ","):
        raise ValueError(
            "separator must be one character and decimal '.' or ',' (of ASCII, no quote), got "
            f"{separator!r} and {decimal!r}"
        )
    try:
        lines = _lines(_text(Path(path)))
        skipped = next((i for i, line in enumerate(lines) if _is_data(line)), len(lines))
        names, table, decimal = _table(lines, skipped, separator, decimal)
        found = _rewards(names, table, costs, labels, (arm, reward), decimal)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    before = f"lines skipped before the names of the columns: {skipped}"
    notes = ((before,) if skipped else ()) + found.notes
    return Rewards(found.columns, found.missing, found.paired, notes)


def _text(path: Path) -> str:
    if path.is_dir():
        raise ValueError("must be a text file, got a folder")
    content = path.read_bytes()
    coding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(coding)
    except UnicodeDecodeError as error:
        raise ValueError(f"must be a text in UTF-8, got another coding ({error.reason})") from None


def _lines(text: str) -> list[str]:
    """As a table has them: other marks that Python takes for the end of a line stand in cells."""
    return list(io.StringIO(text, newline=None))


def _is_data(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _table(
    lines: list[str], skipped: int, separator: str, decimal: str
) -> tuple[list[str], pandas.DataFrame, str]:
    """The names of the columns, their cells by the line of the file, and the decimal sign."""
    import pandas as pd

    lines = lines[skipped:]
    if len(lines) < 2:
        raise ValueError("must hold a line with the names of the columns, and rows below it")
    outside = re.sub(r'"[^"]*"', "", lines[0])
    separator = separator or max(_SEPARATORS, key=outside.count)
    names = [name.strip() for name in _cells(lines[0], separator)]
    if not decimal:
        comma = separator != "," and any(re.search(r"\d,\d", line) for line in lines[1:100])
        decimal = "," if comma else "."
    row = _cells(lines[1], separator)
    if len(row) == len(names) + 1:  # as R writes it, or a separator at the end of each row
        names = ["", *names] if row[-1].strip() else [*names, ""]
    try:
        table = pd.read_csv(
            io.StringIO("".join(lines[1:])), sep=separator, header=None, names=range(len(names)),
            index_col=False, decimal=decimal, skipinitialspace=True, skip_blank_lines=False,
            low_memory=False,
        )  # fmt: skip
    except pd.errors.ParserError as error:
        _check_widths(lines, skipped, separator, len(names))
        raise ValueError(f"cannot be read as a table: {str(error).strip()}") from None
    while not names[-1] and table.iloc[:, -1].isna().all():  # as spreadsheets leave it behind
        names, table = names[:-1], table.iloc[:, :-1]
    _check_names(names)
    table.index += skipped + 2
    return names, table.dropna(how="all"), decimal


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise ValueError(
            f"must be a table in lines, got {_validate.shown(line)}: {error}"
        ) from None


def _check_widths(lines: list[str], skipped: int, separator: str, width: int) -> None:
    """Raise ValueError at the first line that has more cells than there are names."""
    for line, row in enumerate(csv.reader(lines, delimiter=separator), skipped + 1):
        if len(row) > width:
            raise ValueError(
                f"line {line} must have at most {width} cells, as many as there are names of "
                f"columns, got {len(row)}"
            )


def _rewards(names, table, costs, labels, pair, decimal) -> Rewards:
    """What the cells mean: pairs of arm and reward, or a column an arm."""
    import pandas as pd

    if pairs := _of_pairs(names, table, pair):
        arms, rewards = (names.index(name) for name in pairs)
        if (none := table.iloc[:, arms].isna()).any():
            raise ValueError(
                f"line {none.idxmax()}, column {pairs[0]!r} must name an arm, got none"
            )
        x = _numbers(table.iloc[:, rewards], pairs[1], decimal)
        found = from_pairs(table.iloc[:, arms], x, costs)
        note = f"each row is an arm ({pairs[0]!r}) and a reward ({pairs[1]!r})"
        return Rewards(found.columns, found.missing, found.paired, (note, *found.notes))
    note = "each column is an arm"
    if _are_labels(names[0], table.iloc[:, 0]) if labels is None else labels:
        note += f", but the first ({names[0] or 'without a name'}), which labels the rows"
        if len(names) == 2:
            raise ValueError(
                f"the rewards must be of at least 2 arms, got {names[1:]}, since the first column, "
                f"{names[0]!r}, labels the rows"
            )
        names, table = names[1:], table.iloc[:, 1:]
    columns = {n: _numbers(table.iloc[:, i], n, decimal) for i, n in enumerate(names)}
    found = from_table(pd.DataFrame(columns), costs)
    return Rewards(found.columns, found.missing, found.paired, (note, *found.notes))


def _check_names(names: list[str]) -> None:
    if len(names) < 2:
        raise ValueError(
            f"must have at least 2 columns, got {names}: a separator other than comma, semicolon, "
            "tab and bar has to be given"
        )
    _validate.distinct("the columns", names)
    if "" in names[1:]:
        raise ValueError(f"all columns but the first must have a name, got {names}")
    if all(re.fullmatch(r"[-+]?\d*[.,]\d+(e[-+]?\d+)?", name) for name in names if name):
        raise ValueError(f"the first line must name the columns, got the numbers {names}")


def _of_pairs(names: list[str], table: pandas.DataFrame, given: tuple[str, str]) -> list[str]:
    """The names of the columns of arm and reward, or none where a column is an arm."""
    if any(given):
        for what, name in zip(_NAMES, given, strict=True):
            if name not in names or not name:
                raise ValueError(f"{what} must be one of the columns {names}, got {name!r}")
        return list(given)
    lower = [name.lower() for name in names]
    if all(name in lower for name in _NAMES):
        return [names[lower.index(name)] for name in _NAMES]
    first = table.iloc[:, 0]
    text = _is_text(first) and first.dropna().duplicated().any()
    return names if len(names) == 2 and text else []


def _is_text(column: pandas.Series) -> bool:
    """Whether a column has cells, and none of them is a number."""
    import pandas as pd

    if column.dtype.kind in "iuf":
        return False
    cells = column.dropna()
    return cells.size > 0 and bool(pd.to_numeric(cells.astype(str), errors="coerce").isna().all())


def _are_labels(name: str, column: pandas.Series) -> bool:
    if not name or _is_text(column):
        return True
    x = column.to_numpy()
    return x.dtype.kind == "i" and x.size >= _RISING and bool((np.diff(x) > 0).all())


def _numbers(column: pandas.Series, name: str, decimal: str) -> np.ndarray:
    """A column as numbers, NaN where a cell is empty."""
    import pandas as pd

    if column.dtype.kind in "iuf":
        x = column.to_numpy(np.float64)
    else:
        text = column.where(column.isna(), column.astype(str))
        x = pd.to_numeric(text.str.replace(decimal, "."), errors="coerce").to_numpy()
    bad = ~np.isfinite(x) & column.notna().to_numpy()
    if bad.any():
        line, cell = column.index[bad.argmax()], str(column.iloc[bad.argmax()])
        raise ValueError(
            f"line {line}, column {name!r} must be a number or empty, got {_validate.shown(cell)}"
        )
    if np.isnan(x).all():
        raise ValueError(f"column {name!r} must hold numbers, got none")
    return x
