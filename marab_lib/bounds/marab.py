"""Beyond the paper: the CVaR regret of MaRaB is linear."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate, risk
from .._validate import float_or_array
from ..problems import Problem
from ._arguments import best_by_cvar, steps


def _stuck(
    problem: Problem, alpha: float | str | Fraction, rewards: int | None
) -> tuple[float, float, int]:
    """The probability of `marab_stuck_probability`, the gap to the second best CVaR, and m."""
    best, cvars, gap = best_by_cvar(problem, alpha)
    most = math.floor(1 / risk.exact_level(alpha))
    m = most if rewards is None else _validate.whole("rewards", rewards, 1, most)
    others = np.arange(cvars.size) != best
    level = problem.essential_infima[others].max()
    below = float(problem.cdfs(np.nextafter(level, -np.inf))[best])
    m = min(m, 10**300)  # fewer rewards give a smaller bound; no float holds more
    # Not all rewards of arm 1 are below a_2, as its CVaR is above: the logarithm is finite.
    return -math.expm1(m * math.log1p(-below)), gap, m


def marab_stuck_probability(
    problem: Problem, alpha: float | str | Fraction, rewards: int | None = None
) -> float:
    """Beyond the paper: MaRaB leaves the arm of best CVaR for ever with at least this probability.

    1 - (1 - P(X_1 < a_2))**m, with arm 1 best in CVaR_alpha, a_2 the largest infimum of the others
    and m = floor(1/alpha): while arm 1 has at most m rewards its estimate is their minimum, and one
    reward below a_2 puts it under arm 2 for good. Whatever C, tie rule and reading of t; each arm
    is pulled once first.

    Parameters
    ----------
    problem : Problem
        With a single arm of best CVaR.
    alpha : float, str or Fraction
        Risk level in (0, 1).
    rewards : int, optional
        m, from 1 to floor(1/alpha). Default floor(1/alpha).

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.25, .95), arms.Uniform(.3, .5)])
    >>> round(marab_stuck_probability(problem, .5, rewards=1), 4)
    0.0714
    >>> round(marab_stuck_probability(problem, .5), 4)
    0.1378
    """
    return _stuck(problem, alpha, rewards)[0]


def marab_cvar_regret(
    problem: Problem, t: ArrayLike, alpha: float | str | Fraction, rewards: int | None = None
) -> np.ndarray | float:
    """Beyond the paper: lower bound on the expected CVaR regret of MaRaB after t pulls.

    `marab_stuck_probability` times the gap to the second best CVaR times (t - m)+. The CVaR regret
    is sum_i n_i,t (CVaR* - CVaR_i).

    Parameters
    ----------
    problem, alpha, rewards
        As in `marab_stuck_probability`.
    t : array_like
        Number of pulls, whole numbers >= 1.

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.25, .95), arms.Uniform(.3, .5)])
    >>> round(marab_cvar_regret(problem, 10_000, .5), 1)
    103.3
    """
    probability, gap, m = _stuck(problem, alpha, rewards)
    t = steps("t", t)
    return float_or_array(probability * gap * np.maximum(0, t - m))
