"""Risk of a sample: conditional value at risk, mean-variance, minimum, and exact ceilings."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from . import _validate

__all__ = ["ceil_share", "cvar", "exact_level", "mean_variance", "minimum", "tail_sizes"]

_SHARES = ("ceil", "floor", "round")


def exact_level(alpha: float | str | Fraction, name: str = "alpha") -> Fraction:
    """The risk level as the exact fraction that its decimal text says: 0.07 is 7/100.

    Parameters
    ----------
    alpha : float, str or Fraction
        Level in (0, 1). A float is read by its shortest decimal text.

    Raises
    ------
    ValueError
        If alpha is not a number in (0, 1).

    Examples
    --------
    >>> exact_level(0.07)
    Fraction(7, 100)
    """
    try:
        if isinstance(alpha, (bool, np.bool_)):
            raise ValueError
        level = Fraction(alpha if isinstance(alpha, (str, Fraction)) else repr(float(alpha)))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{name} must be a number in (0, 1), got {alpha!r}") from None
    if not 0 < level < 1:
        raise ValueError(f"{name} must be a number in (0, 1), got {alpha!r}")
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
    p, q = level.numerator, level.denominator
    if share == "ceil":
        sizes = [-(-p * n // q) for n in range(horizon + 1)]
    elif share == "floor":
        sizes = [p * n // q for n in range(horizon + 1)]
    else:
        sizes = [(2 * p * n + q) // (2 * q) for n in range(horizon + 1)]
    result = np.array(sizes, dtype=np.int64)
    result[1:] = np.maximum(result[1:], 1)
    return result


def _sample(x: ArrayLike) -> np.ndarray:
    array = _validate.finite_array("x", x)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"x must hold at least one value along its last axis, got {x!r}")
    return array


def cvar(x: ArrayLike, alpha: float | str | Fraction) -> np.ndarray | float:
    """Empirical CVaR: mean of the ceil(alpha n) lowest values (eq. 1 of the paper).

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples along the last axis, in the units of the reward.
    alpha : float, str or Fraction
        Risk level in (0, 1).

    Returns
    -------
    float, or ndarray of shape (...)

    Raises
    ------
    ValueError
        If x is empty or not finite, or alpha is outside (0, 1).

    References
    ----------
    Chen, S. X. (2008), Nonparametric estimation of expected shortfall.

    Examples
    --------
    >>> cvar([.9, .1, .5, .3], .5)
    0.2
    """
    array = _sample(x)
    m = ceil_share(alpha, array.shape[-1])
    lowest = np.partition(array, m - 1, axis=-1)[..., :m]
    result = np.sort(lowest, axis=-1).mean(axis=-1)
    return float(result) if result.ndim == 0 else result


def mean_variance(x: ArrayLike, rho: float) -> np.ndarray | float:
    """Empirical mean-variance, a loss: population variance minus rho times the mean (sec. 2.2).

    Examples
    --------
    >>> mean_variance([0., 1.], 1.)
    -0.25
    """
    array = _sample(x)
    rho = _validate.number("rho", rho, 0)
    result = array.var(axis=-1) - rho * array.mean(axis=-1)
    return float(result) if result.ndim == 0 else result


def minimum(x: ArrayLike) -> np.ndarray | float:
    """Smallest value along the last axis: the quality that MIN gives an arm (section 4)."""
    result = _sample(x).min(axis=-1)
    return float(result) if result.ndim == 0 else result
