"""Risk of a sample: conditional value at risk, mean-variance, minimum, and exact ceilings.

A sample lies along the last axis of an array; in a DataFrame, each column is one.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from . import _validate
from ._validate import float_or_array

__all__ = [
    "ceil_share",
    "cvar",
    "entropic_risk",
    "exact_level",
    "mean",
    "mean_variance",
    "minimum",
    "probability_weight",
    "rank_dependent_utility",
    "tail_sizes",
]

_SHARES = ("ceil", "floor", "round")

LARGEST = 1e150  # of a reward and of rho: squares and products are then finite floats

# For theta times the width of the support below this, two terms of the cumulant series of an
# entropic risk are more precise than a logarithm near 0; both then err by some 1e-11 of the width.
FLAT = 2e-5


def exact_level(alpha: float | str | Fraction | Decimal, name: str = "alpha") -> Fraction:
    """The risk level as the exact fraction that its decimal text says: 0.07 is 7/100.

    Parameters
    ----------
    alpha : float, str, Fraction or Decimal
        Level in (0, 1). A float, NumPy's shorter ones too, is read by the shortest decimal text
        that tells it from others of its type.

    Raises
    ------
    ValueError
        If alpha is not a number in (0, 1), or is rounded to 0 or 1 as a float.

    Examples
    --------
    >>> exact_level(0.07)
    Fraction(7, 100)
    """
    try:
        if isinstance(alpha, (str, Fraction, Decimal)):
            text = alpha
        else:
            _validate.number(name, alpha)
            exact = isinstance(alpha, (np.floating, np.ndarray))
            text = str(np.asarray(alpha)[()]) if exact else repr(float(alpha))
        if not (isinstance(text, str) and "/" in text) and not 0 < float(text) < 1:
            raise ValueError  # before a fraction writes out the zeros of "1e-999999999"
        level = Fraction(text)
        inside = 0 < level < 1 and 0 < float(level) < 1
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        inside = False
    if not inside:
        shown = _validate.shown(alpha)
        raise ValueError(f"{name} must be a number in (0, 1), got {shown}")
    return level


def ceil_share(alpha: float | str | Fraction, n: int) -> int:
    """ceil(alpha n) in exact arithmetic (section 3).

    Examples
    --------
    >>> math.ceil(0.07 * 100), ceil_share(0.07, 100)
    (8, 7)
    """
    return math.ceil(exact_level(alpha) * _validate.whole("n", n, 0))


def tail_sizes(alpha: float | str | Fraction, horizon: int, share: str = "ceil") -> np.ndarray:
    """Number of rewards in the lower tail of n = 0, ..., horizon rewards.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1).
    horizon : int
        Largest n.
    share : {"ceil", "floor", "round"}
        How alpha n is made whole; the paper (section 3) takes the ceiling. The result is at
        least 1 from n = 1 on.

    Returns
    -------
    ndarray of int64, shape (horizon + 1,)
        Grows by 0 or 1 from each entry to the next.

    Examples
    --------
    >>> tail_sizes(0.2, 11).tolist()
    [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    """
    level = exact_level(alpha)
    horizon = _validate.whole("horizon", horizon, 0)
    _validate.choice("share", share, _SHARES)
    _validate.fits_in_memory(f"horizon={horizon}", 8 * (horizon + 1), "use a smaller horizon")
    p, q = level.numerator, level.denominator
    line = {"ceil": (p, q - 1, q), "floor": (p, 0, q), "round": (2 * p, q, 2 * q)}[share]
    result = _floors(*line, horizon + 1)
    np.maximum(result[1:], 1, out=result[1:])
    return result


def _floors(a: int, b: int, c: int, n: int) -> np.ndarray:
    """(a k + b) // c for k = 0, ..., n - 1, exactly, for 0 < a <= c."""
    size = min(2**16, (2**63 - 1 - c) // a)  # of a block: 64 bits hold it, and so does the cache
    if size < 16:
        return np.fromiter(((a * k + b) // c for k in range(n)), np.int64, n)
    result = np.arange(n)
    for first in range(0, n, size):
        whole, rest = divmod(a * first + b, c)
        block = result[first : first + size]
        block -= first
        block *= a
        block += rest
        block //= c
        block += whole
    return result


def _sample(x: ArrayLike) -> np.ndarray:
    array = _validate.finite_array("x", _validate.columns(x))
    if array.ndim == 0 or array.shape[-1] == 0:
        shown = _validate.shown(x)
        raise ValueError(f"x must hold at least one value along its last axis, got {shown}")
    message = f"x must be in [{-LARGEST:g}, {LARGEST:g}], got {{}}"
    _validate.every(abs(array) <= LARGEST, message, array)
    return array


def moments(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean along the last axis, never outside of the values, and variance (divisor n)."""
    mean = np.clip(array.mean(axis=-1), array.min(axis=-1), array.max(axis=-1))
    centred = array - mean[..., None]
    return mean, (centred * centred).mean(axis=-1)


def mean(x: ArrayLike) -> np.ndarray | float:
    """Mean along the last axis, never outside of the values.

    Examples
    --------
    >>> mean([0.1, 0.1, 0.1])
    0.1
    """
    return float_or_array(moments(_sample(x))[0])


def split_cvar(ordered: np.ndarray, level: Fraction) -> np.ndarray:
    """CVaR of the empirical law of values that increase along the last axis."""
    size = level * ordered.shape[-1]
    whole = math.floor(size)
    low = ordered[..., 0]
    excess = ordered[..., : whole + 1] - low[..., None]
    total = excess[..., :whole].sum(axis=-1)
    if size > whole:
        total = total + float(size - whole) * excess[..., whole]
    # A level below all floats is a share of the smallest value alone.
    value = low + total / float(size) if whole else low
    return np.minimum(value, ordered[..., math.ceil(size) - 1])


def cvar(x: ArrayLike, alpha: float | str | Fraction, share: str = "ceil") -> np.ndarray | float:
    """Empirical CVaR: mean of the ceil(alpha n) lowest values (eq. 1 of the paper).

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples along the last axis, in the units of the reward; of a DataFrame, its columns.
    alpha : float, str or Fraction
        Risk level in (0, 1).
    share : {"ceil", "split"}
        "split" takes the share alpha of the sample exactly, its last value in part: the CVaR of the
        empirical law.

    Returns
    -------
    float, or ndarray of shape (...)

    Raises
    ------
    ValueError
        If x is empty or not finite, or alpha is outside (0, 1).

    References
    ----------
    Chen, S. X. (2008), Nonparametric estimation of expected shortfall. Brown (2007), Large
    deviations bounds for estimating conditional value-at-risk ("split").

    Examples
    --------
    >>> cvar([.9, .1, .5, .3], .5), cvar([.9, .1, .5, .3], .3)
    (0.2, 0.2)
    >>> round(cvar([.9, .1, .5, .3], .3, "split"), 4)
    0.1333
    """
    array = _sample(x)
    _validate.choice("share", share, ("ceil", "split"))
    if share == "split":
        result = split_cvar(np.sort(array, axis=-1), exact_level(alpha))
    else:
        m = ceil_share(alpha, array.shape[-1])
        lowest = np.sort(np.partition(array, m - 1, axis=-1)[..., :m], axis=-1)
        result = np.clip(lowest.mean(axis=-1), lowest[..., 0], lowest[..., -1])
    return float_or_array(result)


def check_rho(rho: float) -> float:
    """The weight of the mean in a mean-variance, valid."""
    rho = _validate.number("rho", rho, 0)
    return _validate.number("rho", rho, 0, LARGEST)


def mean_variance(x: ArrayLike, rho: float) -> np.ndarray | float:
    """Empirical mean-variance, a loss: population variance minus rho times the mean (sec. 2.2).

    Examples
    --------
    >>> mean_variance([0., 1.], 1.)
    -0.25
    """
    array = _sample(x)
    rho = check_rho(rho)
    average, var = moments(array)
    return float_or_array(var - rho * average)


def minimum(x: ArrayLike) -> np.ndarray | float:
    """Smallest value along the last axis: the quality that MIN gives an arm (section 4)."""
    return float_or_array(_sample(x).min(axis=-1))


def entropic_risk(x: ArrayLike, theta: float) -> np.ndarray | float:
    """Empirical entropic risk -(1/theta) log mean exp(-theta x) along the last axis.

    Parameters
    ----------
    x : array_like, shape (..., n)
    theta : float
        Risk aversion > 0, per unit of x.

    References
    ----------
    Maillard (2013), Robust risk-averse stochastic multi-armed bandits.

    Examples
    --------
    >>> round(entropic_risk([0., 1.], 2.), 4)
    0.2831
    """
    array = _sample(x)
    theta = _validate.number("theta", theta, 0, open_low=True)
    least = array.min(axis=-1, keepdims=True)  # taken out, so that no exponential overflows
    with np.errstate(over="ignore"):  # the exponential of minus infinity is the 0 that it should be
        excess = theta * (array - least)
        result = least[..., 0] - np.log(np.exp(-excess).mean(axis=-1)) / theta
        average, var = moments(array)
        flat = average - theta * var / 2
    return float_or_array(np.where(excess.max(axis=-1) < FLAT, flat, result))


def check_rank_dependence(gamma: float, exponent: float) -> tuple[float, float]:
    """The two parameters of a rank-dependent utility, valid."""
    gamma = _validate.number("gamma", gamma, 0.28, 1)
    return gamma, _validate.number("exponent", exponent, 0, open_low=True)


def probability_weight(p: ArrayLike, gamma: float = 0.61) -> np.ndarray | float:
    """Weighting w(p) = p**g / (p**g + (1 - p)**g)**(1/g) of a probability.

    Small probabilities are overweighted, large ones underweighted.

    Parameters
    ----------
    p : array_like
        In [0, 1].
    gamma : float
        In [0.28, 1]: below 0.28 the function is not increasing. Default 0.61 (gains).

    References
    ----------
    Tversky and Kahneman (1992), Advances in prospect theory, eq. 6.

    Examples
    --------
    >>> probability_weight([0.0, 0.1, 0.9, 1.0]).round(3).tolist()
    [0.0, 0.186, 0.712, 1.0]
    """
    gamma, _ = check_rank_dependence(gamma, 1.0)
    p = _validate.finite_array("p", p)
    _validate.every((p > -1e-9) & (p < 1 + 1e-9), "p must be in [0, 1], got {}", p)
    clipped = np.clip(p, 0, 1)
    return float_or_array(_weight(clipped, 1 - clipped, gamma))


def _weight(p: np.ndarray, rest: np.ndarray, gamma: float) -> np.ndarray:
    """The weighting of a probability p, of which the other side is `rest`."""
    q = p**gamma
    return q / (q + rest**gamma) ** (1 / gamma)


def utility(x: np.ndarray, exponent: float) -> np.ndarray:
    """x**exponent, finite; x must be >= 0 unless the exponent is 1."""
    if exponent == 1:
        return x
    with np.errstate(over="ignore"):
        value = x**exponent
    message = f"exponent must keep utilities finite, got {exponent!r} for {{}}"
    _validate.every(abs(value) <= LARGEST, message, x)
    return value


def rank_dependent_sum(values: np.ndarray, p: np.ndarray, gamma: float) -> np.ndarray:
    """Sum of increasing values with decision weights, along the last axis."""
    # P(X >= value) and P(X < value). The weighting is steep at 0 and at 1, so that each must keep
    # its digits where it is small: the larger one follows from the smaller.
    above = np.cumsum(p[..., ::-1], axis=-1)[..., ::-1]
    below = np.concatenate([np.zeros_like(p[..., :1]), np.cumsum(p, axis=-1)[..., :-1]], axis=-1)
    small = np.minimum(np.minimum(above, below), 1)
    upper = above < below
    weights = _weight(np.where(upper, small, 1 - small), np.where(upper, 1 - small, small), gamma)
    # Summed by parts, from the smallest value on: so the result errs in proportion to the width.
    return values[..., 0] + (np.diff(values, axis=-1) * weights[..., 1:]).sum(axis=-1)


def rank_dependent_utility(
    x: ArrayLike, gamma: float = 0.61, exponent: float = 1.0
) -> np.ndarray | float:
    """Empirical rank-dependent utility: sum of u(x) with decision weights w(P(>= x)) - w(P(> x)).

    u(x) = x**exponent, and w is `probability_weight`.

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples along the last axis, >= 0 unless exponent is 1.
    gamma : float
        In [0.28, 1]. Default 0.61.
    exponent : float
        > 0. Default 1.

    References
    ----------
    Quiggin (1982), A theory of anticipated utility. Tversky and Kahneman (1992).

    Examples
    --------
    >>> rank_dependent_utility([0., 1.], gamma=1.0), round(rank_dependent_utility([0., 1.]), 4)
    (0.5, 0.4206)
    """
    array = np.sort(_sample(x), axis=-1)
    gamma, exponent = check_rank_dependence(gamma, exponent)
    if exponent != 1 and array.min() < 0:
        raise ValueError(f"x must be >= 0 unless exponent is 1, got {array.min()}")
    n = array.shape[-1]
    below = np.arange(1, n)
    weights = _weight((n - below) / n, below / n, gamma)
    u = utility(array, exponent)
    return float_or_array(u[..., 0] + (np.diff(u, axis=-1) * weights).sum(axis=-1))
