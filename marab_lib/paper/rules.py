"""Claims of the paper, the rules that their numbers have to meet, and the verdicts of these.

A rule compares: with another policy, with the number that the paper prints or that its figure
shows, or, where it says in words how large something is, with what would speak against it: `nearer`
puts the limit halfway between the two. No limit is a number of ours alone. Direction and size are
findings of their own.

These rules are the second set, written down before the verdicts by them were computed, but after
those by the first set were known; notebook 10 says what was changed and why.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate
from .._rounding import order
from ..statistics import LEVEL, Estimate, draws, percentile_interval

if TYPE_CHECKING:
    import pandas
    import xarray

    from .evidence import Evidence


__all__ = [
    "LINEAR",
    "LOGARITHMIC",
    "Above",
    "Below",
    "Between",
    "Claim",
    "Finding",
    "Findings",
    "Resamples",
    "Rule",
    "Verdict",
    "claim",
    "combine",
    "names_of",
    "nearer",
    "unchecked",
]


class Verdict(StrEnum):
    """The five possible answers."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    OPEN = "open"
    FAILS = "does not hold"
    UNKNOWN = "cannot be checked"


class Rule(ABC):
    """Where an estimate has to lie for a statement to hold."""

    @abstractmethod
    def side(self, estimate: Estimate) -> int:
        """1 if the whole interval agrees with the statement, -1 if none of it does, else 0."""

    @property
    def limits(self) -> tuple[float, ...]:
        """The numbers at which the answer changes."""
        return tuple(vars(self).values())


@dataclass(frozen=True)
class Above(Rule):
    """The number is above a limit.

    Examples
    --------
    >>> [Above(0).side(Estimate(1, low, high)) for low, high in ((0.5, 2), (-1, 2))]
    [1, 0]
    """

    limit: float

    def side(self, estimate: Estimate) -> int:
        if order(estimate.low, self.limit) > 0:
            return 1
        return 0 if order(estimate.high, self.limit) > 0 else -1

    def __str__(self) -> str:
        return f"> {self.limit:g}"


@dataclass(frozen=True)
class Below(Rule):
    """The number is at or below a limit."""

    limit: float

    def side(self, estimate: Estimate) -> int:
        if order(estimate.high, self.limit) <= 0:
            return 1
        return -1 if order(estimate.low, self.limit) > 0 else 0

    def __str__(self) -> str:
        return f"<= {self.limit:g}"


@dataclass(frozen=True)
class Between(Rule):
    """The number lies in an interval, which is the tolerance of the statement."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _validate.number("high", self.high, self.low)

    def side(self, estimate: Estimate) -> int:
        if order(estimate.low, self.low) >= 0 and order(estimate.high, self.high) <= 0:
            return 1
        outside = order(estimate.high, self.low) < 0 or order(estimate.low, self.high) > 0
        return -1 if outside else 0

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


def nearer(said: float, otherwise: float, *, ratio: bool = False) -> Rule:
    """The number is nearer to what the paper says than to what would speak against it.

    Parameters
    ----------
    said, otherwise : float
        The two numbers; with ``ratio`` both > 0, and the middle is the geometric one.

    Examples
    --------
    >>> print(nearer(1, 0), nearer(1, 4, ratio=True))
    > 0.5 <= 2
    """
    middle = float(np.sqrt(said * otherwise)) if ratio else (said + otherwise) / 2
    return Above(middle) if said > otherwise else Below(middle)


# `statistics.growth_ratio` of a regret that grows like log t, like the root of t, like t.
_LOG, _ROOT, _LINEAR = 1.0, 2.0, 4.0
LOGARITHMIC = nearer(_LOG, _ROOT, ratio=True)
LINEAR = nearer(_LINEAR, _ROOT, ratio=True)


@dataclass(frozen=True)
class Finding:
    """One number, what it is, and the rule that it has to meet."""

    text: str
    estimate: Estimate
    rule: Rule
    paper: float = float("nan")  # the printed number, if there is one
    key: str = ""  # what tells it from the other findings of its kind: horizon, policies, level

    @property
    def side(self) -> int:
        """See `Rule.side`."""
        return self.rule.side(self.estimate)

    @property
    def more(self) -> float:
        """If it is open: by which factor more repetitions would decide it, if the number stays.

        The width of an interval falls with the root of the repetitions; infinite if the number
        lies on the limit.
        """
        x = self.estimate
        needed = []
        for limit in self.rule.limits:
            gap = abs(x.value - limit)
            half = x.high - x.value if x.value < limit else x.value - x.low
            needed.append((half / gap) ** 2 if order(gap, 0) else np.inf)
        return float(max(needed))

    @classmethod
    def resampled(
        cls,
        key: str,
        text: str,
        values: np.ndarray,
        rule: Rule,
        confidence: float = LEVEL,
        paper: float = float("nan"),
    ) -> Finding:
        """The finding whose number is values[0] and whose bootstrap resamples are values[1:]."""
        _validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True)
        low, high = percentile_interval(values[1:], confidence)
        value = float(values[0])
        estimate = Estimate(value, float(min(low, value)), float(max(high, value)))
        return cls(text, estimate, rule, paper, key)


def combine(findings: Iterable[Finding]) -> Verdict:
    """The verdict of a statement that has one finding or several.

    It holds if all findings are for it, does not hold if all are against it, and holds in part if
    some are for and some against it. It is open if some intervals reach over their limits, and
    what the others say does not make it hold in part already.
    """
    sides = {finding.side for finding in findings}
    if not sides:
        raise ValueError("findings must hold at least one, got none")
    if {1, -1} <= sides:
        return Verdict.IN_PART
    if 0 in sides:
        return Verdict.OPEN
    return Verdict.HOLDS if sides == {1} else Verdict.FAILS


class Findings(dict[str, Finding]):
    """Findings by key."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__((finding.key, finding) for finding in findings)

    def frame(self) -> pandas.DataFrame:
        """A row a finding: statement, paper, value, low, high, "holds if", verdict."""
        import pandas

        rows = [
            {
                "key": f.key,
                "statement": f.text,
                "paper": f.paper,
                "value": f.estimate.value,
                "low": f.estimate.low,
                "high": f.estimate.high,
                "holds if": str(f.rule),
                "verdict": str(combine([f])),
            }
            for f in self.values()
        ]
        return pandas.DataFrame(rows).set_index("key")


def names_of(
    result: xarray.Dataset | xarray.DataArray, title: str, **parameters: float
) -> list[str]:
    """Names of the policies of a result that have a title and given parameters."""
    chosen = result.title == title
    for name, value in parameters.items():
        chosen &= result[name] == value
    return result.policy.values[chosen.values].tolist()


class Resamples:
    """Problems or runs drawn with replacement, and the findings of statistics over them.

    All statistics share the draws, so every difference is a paired one.
    """

    def __init__(self, n: int, confidence: float, resamples: int, seed: int) -> None:
        self.confidence = confidence
        if n < 2:
            raise ValueError(f"problems must be at least 2 for an interval, got {n}")
        self.drawn = draws(n, resamples, seed)

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each resample has each repetition, shape (1 + resamples, n)."""
        n = self.drawn.shape[1]
        return np.stack([np.bincount(d, minlength=n) for d in self.drawn]).astype(float)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean over the repetitions of each resample, for values of shape (..., n)."""
        # Not a matrix product, whose last bits differ between processors.
        return np.einsum("...n,rn->...r", values, self.counts) / self.drawn.shape[1]

    def each(self, values: np.ndarray, statistic: Callable) -> np.ndarray:
        """Another statistic, of the last axis of values of shape (1 + resamples, ..., n)."""
        return statistic(np.moveaxis(values[..., self.drawn], -2, 0))

    def each_sorted(self, values: np.ndarray, statistic: Callable) -> np.ndarray:
        """As `each`, of values that each resample has in increasing order."""
        n, places = values.shape[-1], values.argsort(axis=-1)
        rows = np.take_along_axis(values, places, axis=-1).reshape(-1, n)
        found = []
        for drawn in self.drawn:
            often = np.bincount(drawn, minlength=n)[places.reshape(-1, n)]
            again = [np.repeat(*pair) for pair in zip(rows, often, strict=True)]
            found.append(statistic(np.reshape(again, values.shape)))
        return np.array(found)

    def finding(self, key: str, text: str, values: np.ndarray, rule: Rule, **more) -> Finding:
        """See `Finding.resampled`."""
        return Finding.resampled(key, text, values, rule, self.confidence, **more)


@dataclass(frozen=True)
class Claim:
    """One statement of the paper.

    Parameters
    ----------
    key : str
        Section and a short name.
    place : str
        Where it stands.
    text : str
        Our paraphrase.
    findings : callable, optional
        Makes the findings from an `Evidence`; None if the claim cannot be checked.
    printed : str
        What the paper prints for it, if it is a number.
    reason : str
        Why it cannot be checked.
    of_others : bool
        Whether it repeats what other authors have proved; such claims are counted apart.
    """

    key: str
    place: str
    text: str
    findings: Any = None
    printed: str = ""
    reason: str = ""
    of_others: bool = False

    def found(self, evidence: Evidence) -> list[Finding]:
        """Its findings, none if it cannot be checked."""
        return evidence.once(self._found)

    def _found(self, evidence: Evidence) -> list[Finding]:
        return list(self.findings(evidence)) if self.findings else []

    def verdict(self, evidence: Evidence) -> Verdict:
        """The verdict by this claim's rules."""
        found = self.found(evidence)
        return combine(found) if found else Verdict.UNKNOWN


def claim(
    key: str, place: str = "", printed: str = "", of_others: bool = False
) -> Callable[[Callable[[Evidence], Iterator[Finding]]], Claim]:
    """Make a `Claim` of the function below it: its docstring is the text, it yields the findings.

    The place is the section that the key begins with, unless said otherwise.
    """
    place = place or f"Section {key.split()[0]}"
    return lambda find: Claim(
        key, place, " ".join(str(find.__doc__).split()), find, printed, of_others=of_others
    )


def unchecked(key: str, place: str, text: str, reason: str, of_others: bool = False) -> Claim:
    """A `Claim` that cannot be checked."""
    return Claim(key, place, text, reason=reason, of_others=of_others)
