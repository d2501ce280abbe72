"""Intervals for a probability from counts, beside the bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from ._arguments import plain

__all__ = ["interval_coverage", "proportion_interval"]

_MOST_RUNS = 2**53  # a count up to this is exact as a float


def proportion_interval(
    successes: ArrayLike, runs: int, confidence: float = 0.95
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


def interval_coverage(p: ArrayLike, runs: int, confidence: float = 0.95) -> np.ndarray | float:
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
    return plain(stats.binom.cdf(last, runs, p) - stats.binom.cdf(first - 1, runs, p))
