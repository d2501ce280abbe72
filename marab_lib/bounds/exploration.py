"""Beyond the paper: how much exploration makes the regret of MaRaB logarithmic, or nearly so.

A reward law stands here for one arm: values and weights over which any function of the reward is
summed (atoms as they are, densities by quadrature), so that every exponential moment is a sum.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .. import _validate, risk
from .._validate import float_or_array
from ..arms import RewardLaw
from ..problems import Problem
from ._arguments import ZERO, best_by_cvar, checked_law, steps

_GRID = 16  # levels between the two best CVaRs that are tried, and shares of a rival's rewards
_NODES = 12  # points of a panel of the quantile function
_HALVINGS = 50  # of a panel
_STEEP = 40.0  # an exponential of that rate, over the width of the law, is integrated well
_EXACT = 1e-13  # of an integral
_LARGEST = 1e100  # of a weight or an exponent
_MOST = 1e9  # largest rate of an exponential, over the width of the law


def _points(law: RewardLaw, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights, of sum `share`, of the lowest `share` of the rewards of one arm."""
    if law.atoms is not None:
        values = np.unique(law.atoms)
        return values, np.diff(np.minimum(law.cdf(values), share), prepend=0.0)
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    low, width = law.essential_infimum, law.essential_supremum - law.essential_infimum

    def panels(left: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
        values = law.quantile(left[:, None] + size * (x + 1) / 2)
        place = (values - low) / width
        return values, size / 2 * np.stack([place @ weights, np.exp(-_STEEP * place) @ weights])

    left, size, kept = share * np.arange(32) / 32, share / 32, []
    values, whole = panels(left, size)
    for _ in range(_HALVINGS):  # halved until that changes no integral
        halves = np.ravel([left, left + size / 2], "F")
        inner, parts = panels(halves, size / 2)
        done = (abs(parts.reshape(2, -1, 2).sum(axis=2) - whole) < _EXACT).all(axis=0)
        kept.append((values[done], size))
        still = np.repeat(~done, 2)
        left, size, values, whole = halves[still], size / 2, inner[still], parts[:, still]
        if done.all():
            break
    kept.append((values, size))
    weights = np.concatenate([s / 2 * np.tile(weights, len(v)) for v, s in kept])
    values = np.concatenate([v.ravel() for v, _ in kept])
    order = np.argsort(values)
    return values[order], weights[order]


def _cramer(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """sup over r >= 0 of r level - log E exp(r Y): P(mean of n >= level) is at most exp(-n sup)."""
    from scipy import optimize

    values, weights = values[weights > 0], weights[weights > 0]
    if level > values.max():
        return math.inf
    width = np.ptp(values) or 1.0
    below, target = (values - values.max()) / width, (level - values.max()) / width

    def excess(rate: float) -> float:
        return float(weights * np.exp(rate * below) @ (below - target))

    if excess(0) >= 0:  # no deviation
        return 0.0
    most = 1.0
    while excess(most) < 0 and most < _MOST:
        most *= 2
    rate = optimize.brentq(excess, 0, most) if excess(most) > 0 else most
    return max(0.0, float(rate * target - math.log(weights @ np.exp(rate * below))))


def stuck_exponent(
    law: RewardLaw, alpha: float | str | Fraction, gap: ArrayLike
) -> float | np.ndarray:
    """Beyond the paper: rate I at which the CVaR of an arm is underestimated by `gap` or more.

    With v the alpha-quantile and Y = (v - X)+, I is the Cramer exponent of Y at E[Y] + alpha gap,
    the supremum over r of r (E[Y] + alpha gap) - log E[exp(r Y)]. The mean of the ceil(alpha n)
    lowest of n rewards is ever so low, for some n >= m, with probability at most exp(-m I): a
    maximal inequality, without a sum over n. I >= 2 (alpha gap / (v - a))**2, a the infimum.

    Parameters
    ----------
    law : RewardLaw
        Of one arm.
    alpha : float, str or Fraction
        Risk level in (0, 1).
    gap : array_like
        In the unit of the reward; 0 or less has the exponent 0.

    Returns
    -------
    float or ndarray
        Of the shape of gap; inf where E[Y] + alpha gap is above the largest Y.

    Examples
    --------
    >>> from marab_lib import arms
    >>> round(stuck_exponent(arms.Uniform(.25, .95), .5, gap=.075), 4)
    0.0507
    """
    if checked_law(law).shape:
        raise ValueError(f"law must be that of one arm, got {law!r}")
    share = float(risk.exact_level(alpha))
    gap = _validate.finite_array("gap", gap)
    values, weights = _points(law, share)
    short, weights = np.r_[law.quantile(share) - values, 0.0], np.r_[weights, 1 - share]
    mean = float(weights @ short)
    exponents = [_cramer(short, weights, mean + share * g) for g in gap.ravel()]
    return float_or_array(np.reshape(exponents, gap.shape))


def _pulls_above(
    points: tuple[np.ndarray, np.ndarray], alpha: float, level: float, m: int
) -> float:
    """Bound on the sum over n >= m of P(CVaR estimate of n rewards > level), for a CVaR below it.

    Take the lowest share beta > alpha of the rewards (an atom is split). Either they are fewer
    than alpha n, with chance exp(-n kl(alpha, beta)), or their mean is at least the estimate, and
    the sum of their excesses over the level is positive, with chance exp(-n J). The best beta of a
    grid.
    """
    values, weights = points
    if values[-1] <= level:
        return 0.0
    least = math.inf
    for beta in alpha + (1 - alpha) * np.arange(1, _GRID + 1) / _GRID:
        part = np.diff(np.minimum(np.cumsum(weights), beta), prepend=0.0)
        few = special.rel_entr(alpha, beta) + special.rel_entr(1 - alpha, 1 - beta)
        high = _cramer(np.r_[values - level, 0.0], np.r_[part, max(0, 1 - part.sum())], 0.0)
        rates = np.array([few, high])
        if rates.min() > 0:
            start = max(m, math.ceil(math.log(2) / rates.min()))  # the terms before count as 1
            least = min(
                least, start - m + float((np.exp(-start * rates) / -np.expm1(-rates)).sum())
            )
    return least


def _race(problem: Problem, alpha: float | str | Fraction, of: str, m: int) -> tuple:
    """Costs of a pull, the best arm, gaps below its CVaR, and for each gap what the other arms cost
    by pulls number m + 1 and more while the best one's estimate is above that.
    """
    best, cvars, lead = best_by_cvar(problem, alpha)
    _validate.choice("of", of, ("cvar", "mean"))
    costs = cvars[best] - cvars if of == "cvar" else problem.mean_gaps
    if costs[best] > ZERO:
        raise ValueError(
            "problem must have the best mean at the arm of best CVaR for of='mean', got means "
            f"{problem.means.tolist()} and CVaRs {cvars.tolist()}: the regret is then linear"
        )
    share, gaps = float(risk.exact_level(alpha)), lead * np.arange(1, _GRID + 1) / (_GRID + 1)
    rivals = [
        (cost, _points(law, 1.0))
        for cost, law in zip(costs, problem.arms, strict=True)
        if cost > ZERO
    ]
    pulls = [
        sum(c * _pulls_above(p, share, float(cvars[best]) - gap, m) for c, p in rivals)
        for gap in gaps
    ]
    return costs, problem.arms[best], gaps, np.array(pulls)


def marab_rounds_regret(
    problem: Problem,
    t: ArrayLike,
    alpha: float | str | Fraction,
    rounds: int,
    C: float = 0.0,
    of: str = "cvar",
) -> np.ndarray | float:
    """Beyond the paper: upper bound on the expected regret of MaRaB with m first rounds.

    For bounded rewards and the options of eq. 2 (the ceiling, the mean of the tail). With D_i what
    a pull of arm i costs, and I the `stuck_exponent` of the best arm at a gap below
    the lead over the second, it is, after t pulls,

    sum_i D_i (m + sum_(n >= m) P(CVaR estimate of n rewards of arm i > c_1 - gap))
    + max D (t - K m)+ exp(-m I),

    for every such gap; the least over a grid is returned, or the trivial bound if that is less.
    It is O(log t) with m = log(t) / I for a fixed gap.

    Parameters
    ----------
    problem : Problem
        With a single arm of best CVaR.
    t : array_like
        Number of pulls, whole numbers >= 1.
    alpha : float, str or Fraction
        Risk level in (0, 1).
    rounds : int
        m >= 1, the option `rounds` of `policies.MaRaB`.
    C : float
        Weight of the pessimistic bonus, >= 0. Default 0. The bonus of the best arm, at most
        C sqrt(log ceil(alpha t) / ceil(alpha m)) with the largest t, is taken off the gap.
    of : {"cvar", "mean"}
        Which regret. The mean's only where the arm of best CVaR has the best mean.

    Examples
    --------
    >>> from marab_lib.problems import stuck
    >>> [round(marab_rounds_regret(stuck(), 20_000, .5, m)) for m in (80, 160, 320)]
    [105, 21, 24]
    """
    m, C = _validate.whole("rounds", rounds, 1), _validate.number("C", C, 0)
    t = steps("t", t)
    costs, law, gaps, others = _race(problem, alpha, of, m)
    tail_t = max(1.0, math.ceil(float(risk.exact_level(alpha)) * t.max(initial=1)))
    bonus = C * math.sqrt(math.log(tail_t) / math.ceil(risk.exact_level(alpha) * m))
    stuck = np.exp(-m * np.asarray(stuck_exponent(law, alpha, gaps - bonus)))
    left = costs.max() * np.maximum(0, t - problem.n_arms * m)[..., None]
    return float_or_array(m * costs.sum() + np.minimum(left, others + left * stuck).min(axis=-1))


def forced_marab_regret(
    problem: Problem,
    t: ArrayLike,
    alpha: float | str | Fraction,
    scale: float = 1.0,
    of: str = "cvar",
) -> np.ndarray | float:
    """Beyond the paper: upper bound on the expected regret of `policies.ForcedMaRaB`, O(log(t)**2).

    Of that policy with one first round and its other options at their defaults. With
    f(t) = scale log(t)**2, the costs D_i and the exponent I as in `marab_rounds_regret`, it is

    sum_i D_i (max(1, ceil f(t)) + sum_(n >= 1) P(CVaR estimate of n rewards of arm i > c_1 - gap))
    + max D sum_(s <= t) exp(-f(s) I),

    for every gap below the lead, or the trivial bound. The last sum is bounded in t, though large
    where I is small: nothing but a single arm of best CVaR is asked of the problem.

    Parameters
    ----------
    problem, t, alpha, of
        As in `marab_rounds_regret`.
    scale : float
        > 0, at most 1e100. Default 1.

    Examples
    --------
    >>> from marab_lib.problems import stuck
    >>> [round(forced_marab_regret(stuck(), 10**k, .5)) for k in (2, 4, 6, 8)]
    [8, 101, 287, 376]
    """
    t, scale = steps("t", t), _validate.number("scale", scale, 0, _LARGEST, open_low=True)
    costs, law, gaps, others = _race(problem, alpha, of, 1)
    log_t = np.log(t)[..., None, None]
    forced = np.maximum(1, np.ceil(scale * log_t[..., 0] ** 2))
    # The sum is at most 1 and the integral from 1 to t, here over log s.
    x, weights = np.polynomial.legendre.leggauss(200)
    rates = scale * np.minimum(_LARGEST, stuck_exponent(law, alpha, gaps))[:, None]
    log_s = log_t * (x + 1) / 2
    lost = 1 + log_t[..., 0] * (np.exp(log_s - rates * log_s**2) @ weights) / 2
    bound = costs.sum() * forced + others + costs.max() * lost
    return float_or_array(np.minimum(costs.max() * t, bound.min(axis=-1)))
