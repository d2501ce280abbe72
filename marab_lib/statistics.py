"""A number and its interval: one place for every interval of the library and the paper.

===============================  ===============================================================
of                               interval
===============================  ===============================================================
`Estimate.exact`                 none: a number without error
`Estimate.mean`                  Student's, of independent values (`student_half_width`)
`Estimate.proportion`            Clopper and Pearson's (`proportion_interval` for many counts)
`Estimate.bootstrap`             percentiles of a function of whole repetitions drawn anew
`Estimate.resampled`             the same, of resamples that several statistics share (`draws`)
`growth_ratio`                   that bootstrap, of what two doublings of t add to R
===============================  ===============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from . import _validate
from ._rounding import order

if TYPE_CHECKING:
    import xarray

__all__ = [
    "LEVEL",
    "Estimate",
    "draws",
    "growth_ratio",
    "interval_coverage",
    "percentile_interval",
    "proportion_interval",
    "rank_correlation",
    "student_half_width",
]

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
        x = _validate.finite_array("sample", sample).ravel()
        if x.size < 2:
            raise ValueError(f"sample must hold at least 2 values, got {x.size}")
        half = student_half_width(x)
        return cls(float(x.mean()), float(x.mean() - half), float(x.mean() + half))

    @classmethod
    def proportion(cls, hits: ArrayLike) -> Estimate:
        """Share of true values, with the exact interval of Clopper and Pearson."""
        flags = np.asarray(hits, dtype=bool).ravel()
        if not flags.size:
            raise ValueError("hits must hold at least 1 value, got none")
        low, high = proportion_interval(flags.sum(), flags.size)
        return cls(float(flags.mean()), float(low), float(high))

    @classmethod
    def bootstrap(
        cls,
        statistic: Callable[..., np.ndarray],
        *samples: ArrayLike,
        seed: int = 0,
        resamples: int = 2000,
    ) -> Estimate:
        """A function of samples that were drawn together, with percentiles of its resamples.

        Parameters
        ----------
        statistic : callable
            Takes an array for each sample, and works along its last axis: (n,) becomes a number,
            (m, n) an array (m,), and of a sample of shape (k, n) both (k, n) and (k, m, n) come.
        *samples : array_like, shape (n,) or (k, n)
            n >= 2 repetitions along the last axis; they are resampled together.

        Raises
        ------
        ValueError
            If `statistic` mixes resamples, or returns another shape.
        """
        from scipy import stats

        arrays = [np.asarray(x, dtype=np.float64) for x in samples]
        n = arrays[0].shape[-1]

        def of_resamples(picks: np.ndarray, axis: int = -1) -> np.ndarray:
            return statistic(*(x[..., picks] for x in arrays))

        two = np.stack([np.arange(n), np.arange(n) // 2])  # the samples, and their first halves
        apart, together = [statistic(*arrays), of_resamples(two[1])], of_resamples(two)
        if np.shape(together) != (2,) or not np.allclose(together, apart, equal_nan=True):
            raise ValueError(
                "statistic must work along the last axis of its arrays, one resample after the "
                f"other: two resamples give {apart} one by one, {together} together"
            )
        value = float(apart[0])
        low, high = stats.bootstrap(
            (np.arange(n),),
            of_resamples,
            n_resamples=resamples,
            batch=min(resamples, 100),  # bounds the memory
            vectorized=True,
            confidence_level=LEVEL,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
        return cls(value, float(min(low, value)), float(max(high, value)))

    @classmethod
    def resampled(cls, values: ArrayLike) -> Estimate:
        """The first value, with percentiles of all others: what `draws` gave a statistic."""
        value, *others = np.asarray(values, dtype=np.float64).tolist()
        low, high = percentile_interval(others)
        return cls(value, min(float(low), value), max(float(high), value))


def student_half_width(sample: ArrayLike, confidence: float = LEVEL, axis: int = -1) -> np.ndarray:
    """Half the width of Student's interval of the mean of independent values along an axis.

    Examples
    --------
    >>> round(float(student_half_width([1, 2, 3])), 3)
    2.484
    """
    from scipy import stats

    sample = np.asarray(sample, dtype=np.float64)
    return stats.t.ppf((1 + confidence) / 2, sample.shape[axis] - 1) * stats.sem(sample, axis=axis)


def draws(n: int, resamples: int, seed: int) -> np.ndarray:
    """Places of n repetitions drawn with replacement, for statistics that share their resamples.

    Parameters
    ----------
    n : int
        Repetitions, >= 2.
    resamples, seed : int

    Returns
    -------
    ndarray of int, shape (1 + resamples, n)
        The first row is the sample itself.

    Examples
    --------
    >>> draws(3, 2, seed=0).tolist()
    [[0, 1, 2], [2, 1, 1], [0, 0, 0]]
    """
    n, resamples = _validate.whole("n", n, 2), _validate.whole("resamples", resamples, 1)
    rng = np.random.default_rng(_validate.whole("seed", seed, 0))
    return np.concatenate([np.arange(n)[None], rng.integers(n, size=(resamples, n))])


def percentile_interval(
    resampled: ArrayLike, confidence: float = LEVEL, axis: int = -1
) -> np.ndarray:
    """Ends of the central share of resampled values along an axis, the low one first.

    Examples
    --------
    >>> percentile_interval(np.arange(101), 0.5).tolist()
    [25.0, 75.0]
    """
    return np.quantile(
        np.asarray(resampled), [(1 - confidence) / 2, (1 + confidence) / 2], axis=axis
    )


def rank_correlation(pairs: ArrayLike) -> np.ndarray:
    """Spearman's correlation of two rows; 0 where one of them does not vary at all.

    Parameters
    ----------
    pairs : array_like, shape (..., 2, n)
        What differs by less than 1e-9 is equal but for rounding.

    Returns
    -------
    ndarray, shape (...), in [-1, 1]

    Examples
    --------
    >>> pairs = np.array([[[1.0, 5, 9], [1, 2, 3]], [[1, 1, 1], [1, 2, 3]]])
    >>> rank_correlation(pairs).round(9).tolist()
    [1.0, 0.0]
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.asarray(pairs, dtype=np.float64).round(9), axis=-1)
    apart = ranks - ranks.mean(axis=-1, keepdims=True)
    deviations = np.sqrt((apart**2).sum(axis=-1)).prod(axis=-1)
    together = apart.prod(axis=-2).sum(axis=-1)
    return together / np.where(deviations > 0, deviations, 1)


def growth_ratio(paths: xarray.DataArray) -> Estimate:
    """How much more a regret grows with log t late than before, by a bootstrap over the runs.

    It is (R(T) - R(T/4)) / (R(T/4) - R(T/16)): what two doublings of the time add, over what the
    two before added. It is 0 if the regret stays constant, 1 if it grows like log t, 2 if like the
    root of t, 4 if it is linear.

    Parameters
    ----------
    paths : DataArray with dimensions run and checkpoint
        Regret of one policy; over a dimension ``problem`` the mean is taken. T is the last
        checkpoint; where T/4 or T/16 is none, the nearest is taken, and each increment is divided
        by that of log t.

    Examples
    --------
    >>> import xarray
    >>> steps = np.array([100, 400, 1600])
    >>> paths = np.outer([1, 2, 3], np.sqrt(steps))
    >>> paths = xarray.DataArray(paths, {"checkpoint": steps}, ("run", "checkpoint"))
    >>> print(growth_ratio(paths))
    2
    """
    if not {"run", "checkpoint"} <= set(paths.dims) <= {"problem", "run", "checkpoint"}:
        raise ValueError(
            f"paths must have the dimensions run and checkpoint, and may have problem, "
            f"got {paths.dims}"
        )
    if "problem" in paths.dims:
        paths = paths.mean("problem")
    last = int(paths.checkpoint[-1])
    at = paths.sel(checkpoint=[last / 16, last / 4, last], method="nearest")
    logs = np.diff(np.log(at.checkpoint.values))
    if not (logs > 0).all():
        raise ValueError(
            f"paths must have three checkpoints near T/16, T/4 and T, "
            f"got {paths.checkpoint.values.tolist()}"
        )
    early = at.isel(checkpoint=[0, 1]).mean("run").values
    if early[0] == early[1]:
        raise ValueError(
            f"paths must grow from T/16 to T/4, got a mean regret of {early[0]:g} at both"
        )

    def ratio(*regrets: np.ndarray) -> np.ndarray:
        early, late = np.diff([x.mean(-1) for x in regrets], axis=0)
        return (late / logs[1]) / (early / logs[0])

    return Estimate.bootstrap(ratio, *at.transpose("checkpoint", "run").values)


_MOST_RUNS = 2**53  # a count up to this is exact as a float


def proportion_interval(
    successes: ArrayLike, runs: int, confidence: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """Clopper-Pearson interval of a probability from many counts at once.

    The same as ``scipy.stats.binomtest(k, runs).proportion_ci(confidence)``, count by count.

    Parameters
    ----------
    successes : array_like of int
        In [0, runs].
    runs : int
        >= 1.
    confidence : float
        In (0, 1). Default 0.95.

    Returns
    -------
    tuple of ndarray
        Lower and upper ends, of the shape of `successes`.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits.

    Examples
    --------
    >>> low, high = proportion_interval([0, 5], 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    from scipy import stats

    runs = _validate.whole("runs", runs, 1, _MOST_RUNS)
    confidence = _validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True)
    k = _validate.finite_array("successes", successes)
    possible = (k >= 0) & (k <= runs) & (k == np.floor(k))
    _validate.every(possible, f"successes must be in 0, ..., {runs}, got {{:g}}", k)
    half = (1 - confidence) / 2
    # The beta law needs positive shapes; the ends 0 and 1 are put in by hand.
    low = stats.beta.ppf(half, np.maximum(k, 1), runs - k + 1)
    high = stats.beta.isf(half, k + 1, np.maximum(runs - k, 1))
    return np.where(k == 0, 0.0, low), np.where(k == runs, 1.0, high)


def interval_coverage(p: ArrayLike, runs: int, confidence: float = LEVEL) -> np.ndarray | float:
    """Exact chance that `proportion_interval` of a binomial count holds the true probability p.

    At least the confidence; more for p near 0 or 1, where few counts are possible.

    Examples
    --------
    >>> round(interval_coverage(.5, 10), 4)
    0.9785
    """
    from scipy import stats

    p = _validate.finite_array("p", p)
    _validate.every((p >= 0) & (p <= 1), "p must be in [0, 1], got {:g}", p)
    runs = _validate.whole("runs", runs, 1, _MOST_RUNS)
    _validate.fits_in_memory(f"the counts of {runs:,} runs", 80.0 * runs, "use fewer runs")
    low, high = proportion_interval(np.arange(runs + 1), runs, confidence)
    # The counts whose interval holds p are a range: the ends increase with the count.
    first = np.searchsorted(high, p, side="left")
    last = np.searchsorted(low, p, side="right") - 1
    return _validate.float_or_array(
        stats.binom.cdf(last, runs, p) - stats.binom.cdf(first - 1, runs, p)
    )
