"""Beyond the paper: the exact regret of MIN after t pulls, and the exact law of its limit."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from .._validate import float_or_array
from ..problems import Problem
from ._arguments import ZERO, checked_problem, level, positive, steps

_LEAST_P = 1e-150  # of a chance, and
_LARGEST = 1e150  # of a mean: sums and squares of such numbers are finite floats
_LATEST = 100_000  # pulls after which the exact regret is computed, in seconds
_LEAST_X = 1e-290  # end of a lattice: its steps are then normal floats


def stopping_probabilities(problem: Problem, ties: str = "lowest") -> np.ndarray:
    """Chance p_i that a reward of arm i ends its play under MIN; 0 for arms that share a*.

    With continuous laws p_i = P(X_i < a*): arm i is played until its first reward below a*, N_i
    pulls, N_i geometric with parameter p_i. With atoms at a*, p_i is P(X_i <= a*) where a reward
    of a* is enough: if some arm of infimum a* never reaches it, or reaches it and wins the tie.

    Parameters
    ----------
    problem : Problem
    ties : {"lowest", "highest", "random"}
        The tie rule of MIN; matters only if every arm of infimum a* has an atom there.

    Returns
    -------
    ndarray, shape (K,)

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.2, .6), arms.Uniform(0, .8)])
    >>> stopping_probabilities(problem).round(3).tolist()
    [0.0, 0.25]
    """
    _validate.choice("ties", ties, ("lowest", "highest", "random"))
    infima = checked_problem(problem).essential_infima
    a_star = infima.max()
    best = infima == a_star
    below = problem.cdfs(np.nextafter(a_star, -np.inf))
    reached = problem.cdfs(a_star)
    if np.all(reached[best] > 0):  # every best arm comes down to a*: the tie rule decides
        arm = np.arange(problem.n_arms)
        wins = {
            "lowest": arm < arm[best].min(),
            "highest": arm > arm[best].max(),
            "random": np.ones_like(best),
        }[ties]
        reached = np.where(wins, below, reached)
    return np.where(best, 0.0, reached)


@dataclass(frozen=True, eq=False)
class ScaledGeometricSum:
    """Law of sum_i scale_i N_i with independent N_i, geometric on 1, 2, ... with parameter p_i.

    The limit of MIN's regret, with scales Delta_mu,i (see `limit_regret`).

    Parameters
    ----------
    scales : array_like, shape (n,)
        >= 0.
    p : array_like, shape (n,)
        In (0, 1], at least 1e-150.

    Raises
    ------
    TypeError, ValueError
        If an argument is not so, or the mean is above 1e150.

    Examples
    --------
    >>> law = ScaledGeometricSum([.1, .2], [.5, .25])
    >>> round(law.mean, 3), round(law.var, 3)
    (1.0, 0.5)
    """

    # array_like where they are given, arrays where they are read
    scales: Any
    p: Any

    def __post_init__(self) -> None:
        scales, p = (_validate.finite_array(name, getattr(self, name)) for name in ("scales", "p"))
        for name, array in (("scales", scales), ("p", p)):
            if array.ndim > 1:
                raise ValueError(f"{name} must be a list of numbers, got shape {array.shape}")
        scales, p = _validate.broadcast(scales=scales, p=p)
        if scales.ndim != 1 or scales.size == 0:
            raise ValueError(
                f"scales must be a list of at least 1 number, got shape {scales.shape}"
            )
        _validate.every(scales >= 0, "scales must be >= 0, got {:g}", scales)
        message = f"p must be in (0, 1], and at least {_LEAST_P:g}, got {{:g}}"
        _validate.every((p >= _LEAST_P) & (p <= 1), message, p)
        message = f"scales must be so small that scale / p is at most {_LARGEST:g}, got {{:g}}"
        _validate.every(scales <= _LARGEST * p, message, scales)
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "p", p)

    @property
    def mean(self) -> float:
        """sum_i scale_i / p_i."""
        return float((self.scales / self.p).sum())

    @property
    def var(self) -> float:
        """sum_i scale_i**2 (1 - p_i) / p_i**2."""
        return float(((self.scales / self.p) ** 2 * (1 - self.p)).sum())

    def _lattice_cdf(self, step: float, points: int, up: bool) -> np.ndarray:
        """P(sum <= j step), j = 0..points, with each scale rounded to a multiple of the step.

        Adding scale N turns the probabilities f into g(x) = p f(x - scale) + (1 - p) g(x - scale),
        an exact convolution: one recursive filter along every residue class of the scale.
        """
        from scipy import signal  # here, since it takes most of a second to import

        f = np.zeros(points + 1)
        f[0] = 1.0
        for scale, p in zip(self.scales, self.p, strict=True):
            ratio = scale / step if scale < step * (points + 1.0) else points + 1.0
            # A positive scale rounded up is one step at least.
            d = max(1, math.ceil(ratio - 1e-9)) if up and scale else math.floor(ratio + 1e-9)
            if d == 0:
                continue
            if d > points:  # each term is at least one scale
                return np.zeros(points + 1)
            rows = -(-f.size // d)
            table = np.pad(f, (0, rows * d - f.size)).reshape(rows, d)
            f = signal.lfilter([0.0, p], [1.0, p - 1.0], table, axis=0).ravel()[: points + 1]
        return np.minimum(1, np.cumsum(f))

    def cdf_bounds(
        self, x: ArrayLike, points: int = 2**16
    ) -> tuple[np.ndarray | float, np.ndarray | float]:
        """Two numbers between which P(sum <= x) lies, each of the shape of x.

        By exact convolution on a lattice of `points` steps up to the largest x, with the scales
        rounded up (lower bound) and down (upper bound); no simulation is involved.

        Parameters
        ----------
        x : array_like
            >= 0.
        points : int
            >= 1. Default 65,536.
        """
        x = _validate.finite_array("x", x)
        _validate.every(x >= 0, "x must be >= 0, got {:g}", x)
        if x.size == 0:
            raise ValueError("x must hold at least one number, got none")
        points = _points(points)
        step = max(float(x.max()), _LEAST_X) / points
        at = np.minimum(np.floor(x / step + 1e-9), points).astype(int)
        low, high = (self._lattice_cdf(step, points, up)[at] for up in (True, False))
        return float_or_array(low), float_or_array(high)

    def quantile_bounds(
        self, q: ArrayLike, points: int = 2**16
    ) -> tuple[np.ndarray | float, np.ndarray | float]:
        """Two numbers between which the smallest x with P(sum <= x) >= q lies, for q in (0, 1)."""
        q = level("q", q)
        if q.size == 0:
            raise ValueError("q must hold at least one number, got none")
        points = _points(points)
        # A union bound over the terms gives an x that no q-quantile exceeds.
        tail = (1 - q.max()) / self.p.size
        with np.errstate(divide="ignore"):
            terms = np.ceil(np.log(tail) / np.log1p(-self.p))
        if not self.scales.any():
            return float_or_array(np.zeros_like(q)), float_or_array(np.zeros_like(q))
        most = max(float((self.scales * np.maximum(terms, 1)).sum()), _LEAST_X)
        step = most / points * (1 + 1e-3)
        low, high = (self._lattice_cdf(step, points, up) for up in (False, True))
        return float_or_array(np.searchsorted(low, q) * step), float_or_array(
            np.minimum(np.searchsorted(high, q), points) * step
        )


def _points(value: object) -> int:
    points = _validate.whole("points", value, 1)
    _validate.fits_in_memory(f"points = {points:,}", 100.0 * points, "use fewer")
    return points


def _worse_arms(problem: Problem) -> np.ndarray:
    """Which arms cost regret, once it is sure that all arms that share a* have the best mean."""
    checked_problem(problem)
    best = problem.essential_infima == problem.essential_infima.max()
    if np.any(problem.mean_gaps[best] > ZERO):
        raise ValueError(
            f"problem must have the best mean at every arm of best essential infimum, got "
            f"{problem!r} without: MIN's regret is then linear (see linear_asymptote)"
        )
    return problem.mean_gaps > ZERO


def limit_regret(problem: Problem, ties: str = "lowest") -> ScaledGeometricSum:
    """Law of MIN's final regret R_infinity = sum_i Delta_mu,i N_i: beyond the paper, exact.

    R_t increases to it almost surely, and E[R_t] to its mean sum_i Delta_mu,i / p_i. Assumes
    independent arms and the best mean at every arm of infimum a*; needs neither continuity nor a
    lower-mass constant.

    Parameters
    ----------
    problem : Problem
    ties : {"lowest", "highest", "random"}
        See `stopping_probabilities`.

    Examples
    --------
    >>> from marab_lib.problems import proof_of_concept
    >>> round(limit_regret(proof_of_concept(delta_max=.1, r_max=.399)).mean, 3)
    1.607
    """
    worse = _worse_arms(problem)
    if not worse.any():
        raise ValueError(f"problem must have an arm of lower mean, got {problem!r} without")
    return ScaledGeometricSum(
        problem.mean_gaps[worse], stopping_probabilities(problem, ties)[worse]
    )


def unsettled_chance(problem: Problem, t: ArrayLike) -> np.ndarray | float:
    """Beyond the paper: chance that MIN has still to pull a worse arm at t, to first order in 1/t.

    (1/t) sum_i d_i / (p_i d*), at most 1, with d_i the density of arm i at a* (from above), d* that
    of the safe arm, and p_i = P(X_i <= a*). Assumes one safe arm, continuous laws and d* > 0.

    Parameters
    ----------
    problem : Problem
    t : int or array_like of int
        Numbers of pulls, >= 1.

    Examples
    --------
    >>> from marab_lib.problems import aligned_uniform
    >>> round(unsettled_chance(aligned_uniform(1, 51)[0], 100), 4)
    0.0374
    """
    t = steps("t", t)
    a, safe = (
        checked_problem(problem).essential_infima.max(),
        int(problem.essential_infima.argmax()),
    )
    step = 1e-7 * (problem.essential_suprema.max() - a)
    mass = problem.cdfs(a)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        density = (problem.cdfs(a + step) - mass) / step  # nan where no reward is above a*
    several = np.sum(problem.essential_infima == a) > 1
    if several or not (density[safe] > 0 and np.isfinite(density).all()):
        raise ValueError(
            f"problem must have one arm of largest infimum, with a positive density there, got "
            f"{problem!r}"
        )
    others = np.arange(density.size) != safe
    message = f"problem must have chances of a reward <= a* of at least {_LEAST_P:g}, got {{:g}}"
    _validate.every(mass[others] >= _LEAST_P, message, mass[others])
    rates = density[others] / mass[others]
    return float_or_array(np.minimum(1, rates.sum() / density[safe] / t))


def expected_pulls(problem: Problem, t: ArrayLike) -> np.ndarray:
    """Beyond the paper, exact: how often MIN has pulled each arm after t pulls, in expectation.

    With T_j(x) the rank of the first reward of arm j below x, geometric with parameter F_j(x),

    E[n_i,t] = 1 + integral of P(T_1(x) + ... + T_K(x) + T_i'(x) <= t) f_i(x) / F_i(x)**2 dx,

    over all x that every arm can fall below, T_i' an independent copy of T_i, f_i the density: MIN
    does not pull an arm whose minimum is below x while another's is above, so all minima are below
    x after T_1(x) + ... + T_K(x) pulls.
    By adaptive quadrature, to about 1e-6 of a pull; the time goes with K t.

    Parameters
    ----------
    problem : Problem
        Independent arms of continuous laws; then no two minima are equal. A density that is too
        steep for the quadrature is an error.
    t : int or array_like of int
        Numbers of pulls, from K to 100,000.

    Returns
    -------
    ndarray, shape (..., K)
        For t of shape (...).

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> pair = Problem([arms.Uniform(.2, .6), arms.Uniform(0, .8)])
    >>> expected_pulls(pair, [2, 3, 1000]).round(3).tolist()
    [[1.0, 1.0], [1.5, 1.5], [996.008, 3.992]]
    """
    from scipy import integrate, signal  # here, since it takes most of a second to import

    t = steps("t", t)
    laws: list[Any] = checked_problem(problem).arms  # those with a density
    k = len(laws)
    _validate.every(t >= k, f"t must be at least the number of arms, {k}, got {{:g}}", t)
    if any(law.atoms is not None for law in laws):
        raise ValueError(f"problem must have arms of continuous laws, got {problem!r}")
    _validate.every(
        t <= _LATEST, f"t must be at most {_LATEST:,} (see limit_regret), got {{:g}}", t
    )
    most = int(t.max(initial=k))
    at, low, high = t.ravel().astype(int), problem.essential_infima, problem.essential_suprema
    start, ones = np.eye(1, most + 1)[0], np.ones(k)
    steep = f"problem must have densities that can be integrated, got {problem!r}"

    def integrand(levels: np.ndarray) -> np.ndarray:
        p = np.stack([law.cdf(levels[:, 0]) for law in laws], axis=1)
        density = np.stack([law.pdf(levels[:, 0]) for law in laws], axis=1)
        rows = np.zeros((len(p), at.size, k))
        for row, chance, f in zip(rows, p, density, strict=True):
            if chance.min() > 0:  # each factor of the generating function is p z / (1 - q z)
                factors = np.column_stack([0 * ones, chance, 0 * ones, ones, chance - 1, 0 * ones])
                fallen = np.cumsum(signal.sosfilt(factors, start))
                for i in np.flatnonzero(f):
                    once_more = signal.lfilter([0, chance[i]], [1, chance[i] - 1], fallen)
                    with np.errstate(over="ignore"):  # the square of a chance may be no float
                        row[:, i] = once_more[at] / chance[i] / chance[i] * f[i]
        if not np.isfinite(rows).all():
            raise ValueError(steep)
        return rows

    # Below the largest infimum an arm never falls; near it, all goes by its chances of order 1/t.
    safe, ends = laws[int(low.argmax())], (low.max(), high.max())
    kinks = np.r_[ends, low, high, safe.quantile(0.5 ** np.arange(1, 12 + int(math.log2(most))))]
    edges = np.unique(kinks[(kinks >= ends[0]) & (kinks <= ends[1])])
    total = np.ones((at.size, k))
    for begin, end in itertools.pairwise(edges):  # SciPy does not refine the worst of given parts
        found = integrate.cubature(
            integrand, [begin], [end], rule="gk15", rtol=1e-7, atol=1e-7 / edges.size,
            max_subdivisions=100,
        )  # fmt: skip
        if found.status != "converged":
            raise ValueError(steep)
        total += found.estimate
    return total.reshape(*t.shape, k)


def expected_regret(problem: Problem, t: ArrayLike) -> np.ndarray | float:
    """Beyond the paper, exact: E[R_t] of MIN, sum_i Delta_mu,i E[n_i,t].

    Parameters and errors as for `expected_pulls`. Whether or not the safe arm is the best in mean.

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> round(expected_regret(Problem([arms.Uniform(.2, .6), arms.Uniform(0, .7)]), 3), 4)
    0.0714
    """
    return float_or_array(expected_pulls(problem, t) @ problem.mean_gaps)


def linear_asymptote(problem: Problem, ties: str = "lowest") -> tuple[float, float]:
    """Slope and intercept of E[R_t] of MIN when the arm of best infimum is not the best in mean.

    E[R_t] - slope t tends to the intercept; the slope is Delta_mu,i* and the intercept
    sum_i (Delta_mu,i - Delta_mu,i*) / p_i over the other arms.

    Raises
    ------
    ValueError
        If several arms share the best infimum with different means: the slope is then random (see
        `shared_minimum_share`).

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.2, .6), arms.Uniform(0, 1)])
    >>> slope, intercept = linear_asymptote(problem)
    >>> round(slope, 3), round(intercept, 3)
    (0.1, -0.5)
    """
    best = checked_problem(problem).essential_infima == problem.essential_infima.max()
    slopes = problem.mean_gaps[best]
    if np.ptp(slopes) > ZERO:
        raise ValueError(
            f"problem must have one mean for all arms of best essential infimum, got {problem!r} "
            f"with mean gaps {slopes.tolist()}"
        )
    slope = float(slopes[0])
    p = stopping_probabilities(problem, ties)[~best]
    message = f"problem must have chances to stop an arm of at least {_LEAST_P:g}, got {{:g}}"
    _validate.every(p >= _LEAST_P, message, p)
    return slope, float(((problem.mean_gaps[~best] - slope) / p).sum())


def shared_minimum_share(density_1: ArrayLike, density_2: ArrayLike) -> np.ndarray | float:
    """Mean share of pulls of arm 1 under MIN when two arms share a*, in the limit of large t.

    The share tends in law to T_1 / (T_1 + T_2), T_i exponential with rate the density of arm i just
    above a*: arm i needs T_i pulls to come down to any low level. The mean is
    (r log r + 1 - r) / (r - 1)**2 with r = density_1 / density_2.

    Parameters
    ----------
    density_1, density_2 : array_like
        Densities at a*+, > 0.

    Examples
    --------
    >>> round(shared_minimum_share(1., 1.), 3), round(shared_minimum_share(3., 1.), 3)
    (0.5, 0.324)
    """
    first, second = _validate.broadcast(
        density_1=positive("density_1", density_1), density_2=positive("density_2", density_2)
    )
    log_r = np.log(first) - np.log(second)
    near = abs(log_r) < 1e-4  # the formula is 0/0 at r = 1: a series there
    away = np.where(near, 1.0, abs(log_r))
    x = np.exp(-away)  # r or 1/r, the smaller: neither overflows
    share = np.where(log_r > 0, away * x + x * x - x, 1 - x - away * x) / (1 - x) ** 2
    return float_or_array(np.where(near, 0.5 - log_r / 6, share))
