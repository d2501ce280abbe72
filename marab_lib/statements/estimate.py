"""An estimate with its interval: what every statement comes down to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from .._rounding import order

__all__ = ["LEVEL", "Estimate"]

LEVEL = 0.95  # of every interval, unless said otherwise


def _without_rounding(x: float, *targets: float) -> float:
    """The first of the targets that x equals but for rounding, else x."""
    return next((target for target in targets if order(x, target) == 0), x)


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds the true one in 95 of 100 repetitions.

    An exact number has an interval of no width, and rounding gives it none: what differs from 0 or
    from the value by less than `_rounding.TOLERANCE` is taken as equal to it.

    Examples
    --------
    >>> print(Estimate(0.924, 0.916, 0.932))
    0.924 (0.916 to 0.932)
    >>> print(Estimate.exact(0))
    0
    """

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"value must lie in [low, high], got {self.value} in [{self.low}, {self.high}]"
            )
        value = _without_rounding(self.value, 0.0)
        object.__setattr__(self, "value", value)
        for end in ("low", "high"):
            object.__setattr__(self, end, _without_rounding(getattr(self, end), value, 0.0))

    def __str__(self) -> str:
        value, low, high = (f"{x:.3g}" for x in (self.value, self.low, self.high))
        return value if self.low == self.high else f"{value} ({low} to {high})"

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A number without error, such as a count of exceptions to an identity."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def mean(cls, sample: ArrayLike) -> Estimate:
        """Mean of independent values, with Student's interval."""
        from scipy import stats

        x = _validate.finite_array("sample", sample).ravel()
        if x.size < 2:
            raise ValueError(f"sample must hold at least 2 values, got {x.size}")
        half = stats.t.ppf((1 + LEVEL) / 2, x.size - 1) * stats.sem(x)
        return cls(float(x.mean()), float(x.mean() - half), float(x.mean() + half))

    @classmethod
    def proportion(cls, hits: ArrayLike) -> Estimate:
        """Share of true values, with the exact interval of Clopper and Pearson."""
        from scipy import stats

        flags = np.asarray(hits, dtype=bool).ravel()
        if not flags.size:
            raise ValueError("hits must hold at least 1 value, got none")
        interval = stats.binomtest(int(flags.sum()), flags.size).proportion_ci(LEVEL)
        return cls(float(flags.mean()), float(interval.low), float(interval.high))

    @classmethod
    def bootstrap(
        cls,
        statistic: Callable[..., np.ndarray],
        *samples: ArrayLike,
        seed: int = 0,
        resamples: int = 2000,
    ) -> Estimate:
        """A function of samples that were drawn together, with a percentile interval.

        Parameters
        ----------
        statistic : callable
            Takes arrays of shape (..., n), one a sample, and works along their last axis.
        *samples : array_like, shape (..., n)
            Repetitions along the last axis; they are resampled together.
        """
        arrays = [np.asarray(x, dtype=np.float64) for x in samples]
        n = arrays[0].shape[-1]
        value = float(statistic(*arrays))
        rng = np.random.default_rng(seed)
        values = []
        for _ in range(resamples):
            pick = rng.integers(n, size=n)
            values.append(float(statistic(*(x[..., pick] for x in arrays))))
        low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return cls(value, float(min(low, value)), float(max(high, value)))
