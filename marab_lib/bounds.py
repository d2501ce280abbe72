r"""Section 4 as functions: every lemma, proposition and remark of the paper, and results beyond it.

Notation, as in the paper: K arms; arm i has mean mu_i, essential infimum a_i and lower-mass
constant A_i (P(X_i <= a_i + e) >= A_i e for 0 < e <= 1/A_i); mu* and a* are the largest mean and
infimum; Delta_mu,i = mu* - mu_i (`mean_gaps`) and Delta_a,i = a* - a_i (`minimum_gaps`). A is one
constant that suits every arm, the smallest of the A_i. An arm is optimal if Delta_mu,i = 0.

Numbers may be arrays: they broadcast, and gaps have the arms along their last axis, so gaps of
shape (n, K) with A of shape (n,) give n bounds. Gaps up to 1e-12 count as zero. Every function
refuses arguments that break the assumptions of its statement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _validate, risk
from .arms import RewardLaw
from .problems import Problem

__all__ = [
    "Assumptions",
    "ScaledGeometricSum",
    "assumptions",
    "auer_2002",
    "constant_bound",
    "constant_bound_margins",
    "constant_bound_probability",
    "event_complement",
    "event_complement_exact",
    "event_eps",
    "exponential_rate",
    "hoeffding",
    "interval_coverage",
    "lemma_4_1",
    "lemma_4_1_power",
    "lemma_4_2",
    "lemma_4_2_exact",
    "lemma_4_2_power",
    "lemma_4_2_product",
    "limit_regret",
    "linear_asymptote",
    "marab_cvar_regret",
    "marab_stuck_probability",
    "minimum_exceedance",
    "prop_4_3",
    "prop_4_3_expectation",
    "prop_4_3_least_t",
    "prop_4_4",
    "prop_4_4_expectation",
    "prop_4_4_least_t",
    "proportion_interval",
    "shared_minimum_share",
    "stopping_probabilities",
    "unsettled_chance",
]

_ZERO = 1e-12  # a gap up to this is rounding, not a gap


# --- arguments ----------------------------------------------------------------------------


def _plain(x: ArrayLike) -> np.ndarray | float:
    """A float for one number, an array for many."""
    array = np.asarray(x, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def _require(ok: ArrayLike, name: str, allowed: str, values: ArrayLike) -> None:
    ok = np.asarray(ok)
    if not ok.all():
        bad = np.broadcast_to(values, ok.shape)[~ok].flat[0]
        raise ValueError(f"{name} must be {allowed}, got {bad:g}")


def _positive(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    _require(x > 0, name, "> 0", x)
    return x


def _level(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    _require((x > 0) & (x < 1), name, "in (0, 1)", x)
    return x


def _steps(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    _require((x >= 1) & (x == np.floor(x)), name, "a whole number >= 1", x)
    return x


class _Margins(NamedTuple):
    """What the bounds of section 4 need of the gaps; each of the shape of the gaps without arms."""

    n_arms: int
    n_worse: np.ndarray  # K - k, for k optimal arms
    largest: np.ndarray  # Delta_mu,max
    ratio: np.ndarray  # Delta_mu,max / Delta_a,min


def _gaps(name: str, value: ArrayLike) -> np.ndarray:
    gaps = _validate.finite_array(name, value)
    if gaps.ndim == 0 or gaps.shape[-1] < 2:
        raise ValueError(f"{name} must list at least 2 arms, got shape {gaps.shape}")
    _require(gaps >= 0, name, ">= 0", gaps)
    _require(gaps.min(axis=-1) <= _ZERO, name, "0 for the best arm", gaps.min(axis=-1))
    return gaps


def _checked_gaps(mean_gaps: ArrayLike, minimum_gaps: ArrayLike) -> tuple[np.ndarray, ...]:
    """Both gaps, and which arms are worse in mean, once Prop. 4.3's assumptions on them hold."""
    mean, minimum = np.broadcast_arrays(
        _gaps("mean_gaps", mean_gaps), _gaps("minimum_gaps", minimum_gaps)
    )
    worse = mean > _ZERO
    if not np.all(worse.any(axis=-1)):
        raise ValueError(
            "mean_gaps must be > 0 for at least one arm, got all 0: no regret to bound"
        )
    if not np.all((~worse & (minimum <= _ZERO)).any(axis=-1)):
        raise ValueError(
            "minimum_gaps must be 0 for an arm whose mean gap is 0: the arm of best mean must also "
            "have the best essential infimum (Prop. 4.3)"
        )
    if np.any(worse & (minimum <= _ZERO)):
        raise ValueError(
            "minimum_gaps must be > 0 for every arm whose mean gap is > 0, got 0: an arm of lower "
            "mean has the same essential infimum as the best arm"
        )
    return mean, minimum, worse


def _margins(mean_gaps: ArrayLike, minimum_gaps: ArrayLike) -> _Margins:
    mean, minimum, worse = _checked_gaps(mean_gaps, minimum_gaps)
    largest = mean.max(axis=-1)
    least = np.where(worse, minimum, np.inf).min(axis=-1)
    return _Margins(mean.shape[-1], worse.sum(axis=-1), largest, largest / least)


def _check_small_margins(mean_gaps: ArrayLike, minimum_gaps: ArrayLike) -> None:
    """Prop. 4.4: Delta_mu,i <= Delta_a,i for every arm."""
    mean, minimum = np.broadcast_arrays(np.asarray(mean_gaps), np.asarray(minimum_gaps))
    excess = mean - minimum
    if np.any(excess > _ZERO):
        i = tuple(np.argwhere(excess > _ZERO)[0])
        raise ValueError(
            f"mean_gaps must be <= minimum_gaps for every arm (Prop. 4.4), got {mean[i]:g} > "
            f"{minimum[i]:g} at arm {i[-1]}"
        )


def _below(law: RewardLaw, x: ArrayLike) -> np.ndarray:
    """P(X < x): the cdf just left of x, so that an atom at x does not count."""
    return np.asarray(law.cdf(np.nextafter(x, -np.inf)))


# --- Lemma 4.1 ----------------------------------------------------------------------------


def minimum_exceedance(law: RewardLaw, t: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """P(min of t rewards >= a + eps) = P(X >= a + eps)**t, exact for any law (Lemma 4.1).

    For a continuous law this is (1 - F(a + eps))**t.

    Parameters
    ----------
    law : RewardLaw, shape () or (K,)
    t : array_like
        Sample size, whole numbers >= 1; broadcasts against eps and the law.
    eps : array_like
        Distance from the essential infimum a, > 0.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> round(minimum_exceedance(Uniform(0, 1), 2, .1), 6)
    0.81
    """
    t, eps = _steps("t", t), _positive("eps", eps)
    return _plain((1 - _below(law, law.essential_infimum + eps)) ** t)


def lemma_4_1_power(t: ArrayLike, eps: ArrayLike, A: ArrayLike) -> np.ndarray | float:
    """(1 - A eps)**t, the step between the exact probability and Lemma 4.1's bound.

    Assumes P(X <= a + e) >= A e for 0 < e <= 1/A. For eps > 1/A it is 0, as is the probability:
    the assumption at e = 1/A puts all of the law below a + 1/A.

    Parameters
    ----------
    t : array_like
        Sample size, whole numbers >= 1.
    eps, A : array_like
        > 0.

    Examples
    --------
    >>> round(lemma_4_1_power(2, .1, 1), 6), lemma_4_1_power(2, 3, 1)
    (0.81, 0.0)
    """
    t, eps, A = _steps("t", t), _positive("eps", eps), _positive("A", A)
    return _plain(np.maximum(0, 1 - A * eps) ** t)


def lemma_4_1(t: ArrayLike, eps: ArrayLike, A: ArrayLike) -> np.ndarray | float:
    """Lemma 4.1 (eq. 4): P(min of t rewards >= a + eps) <= exp(-t A eps).

    Assumes P(X <= a + e) >= A e for 0 < e <= 1/A (eq. 3, where the paper has all e > 0).

    Parameters
    ----------
    t : array_like
        Sample size, whole numbers >= 1.
    eps, A : array_like
        > 0.

    Raises
    ------
    ValueError
        If t < 1, eps <= 0 or A <= 0.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Lemma 4.1.

    Examples
    --------
    >>> round(lemma_4_1(2, .1, 1), 6)
    0.818731
    """
    t, eps, A = _steps("t", t), _positive("eps", eps), _positive("A", A)
    return _plain(np.exp(-t * A * eps))


def exponential_rate(law: RewardLaw) -> np.ndarray | float:
    """Largest A' with P(min of t rewards >= a + eps) <= exp(-t A' eps) for all t and eps.

    It is the infimum over e of -log(1 - F(a + e)) / e, at least the lower-mass constant: Lemma
    4.1's conclusion may hold with a better constant than its assumption. The least value on a grid
    of 4,000 values of e from 1e-6 of the support on: up to 0.35 % above the infimum where the law
    has atoms, and small but not 0 where the infimum is 0.

    Examples
    --------
    >>> from marab_lib.arms import TruncatedGaussianMixture
    >>> law = TruncatedGaussianMixture(0, 1, [1], [0], [.3])
    >>> round(law.lower_mass_constant, 2), round(exponential_rate(law), 2)
    (1.0, 2.66)
    """
    a = np.asarray(law.essential_infimum)
    width = np.asarray(law.essential_supremum) - a
    share = np.geomspace(1e-6, 1, 4001)[:-1].reshape((-1,) + (1,) * a.ndim)
    below = np.asarray(law.cdf(a + share * width))
    with np.errstate(divide="ignore"):
        return _plain((-np.log1p(-below) / (share * width)).min(axis=0))


def hoeffding(t: ArrayLike, eps: ArrayLike, width: ArrayLike = 1.0) -> np.ndarray | float:
    """P(mean of t rewards >= mu + eps) <= exp(-2 t eps**2 / width**2), which 4.1 is compared with.

    Parameters
    ----------
    t : array_like
        Sample size, whole numbers >= 1.
    eps : array_like
        > 0.
    width : array_like
        Length of an interval that holds the rewards, > 0. Default 1.

    References
    ----------
    Hoeffding (1963), Probability inequalities for sums of bounded random variables.

    Examples
    --------
    >>> round(hoeffding(50, .1), 4)
    0.3679
    """
    t, eps, width = _steps("t", t), _positive("eps", eps), _positive("width", width)
    return _plain(np.exp(-2 * t * (eps / width) ** 2))


# --- Lemma 4.2 ----------------------------------------------------------------------------


def lemma_4_2_exact(law: RewardLaw, t: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """P(the minimum of t rewards of some arm is >= a_i + eps), exact for independent arms.

    Parameters
    ----------
    law : RewardLaw, shape (K,)
        The arms.
    t, eps : array_like
        As in `minimum_exceedance`; broadcast against each other.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> round(lemma_4_2_exact(Uniform([0, 0], 1), 1, .9), 6)
    0.19
    """
    t, eps = np.broadcast_arrays(_steps("t", t), _positive("eps", eps))
    len(law)  # refuses a single arm
    one = np.asarray(minimum_exceedance(law, t[..., None], eps[..., None]))
    with np.errstate(divide="ignore"):
        return _plain(-np.expm1(np.log1p(-one).sum(axis=-1)))


def lemma_4_2_product(K: ArrayLike, t: ArrayLike, eps: ArrayLike, A: ArrayLike):
    """1 - (1 - (1 - A eps)**t)**K: first term of Lemma 4.2's chain. Needs independent arms.

    Examples
    --------
    >>> round(lemma_4_2_product(2, 1, .9, 1), 6)
    0.19
    """
    one = np.asarray(lemma_4_1_power(t, eps, A))
    K = _steps("K", K)
    with np.errstate(divide="ignore"):
        return _plain(-np.expm1(K * np.log1p(-one)))


def lemma_4_2_power(K: ArrayLike, t: ArrayLike, eps: ArrayLike, A: ArrayLike):
    """K (1 - A eps)**t: second term of Lemma 4.2's chain, a union bound. May exceed 1.

    Examples
    --------
    >>> round(lemma_4_2_power(2, 1, .9, 1), 6)
    0.2
    """
    return _plain(_steps("K", K) * lemma_4_1_power(t, eps, A))


def lemma_4_2(K: ArrayLike, t: ArrayLike, eps: ArrayLike, A: ArrayLike):
    """Lemma 4.2 (eq. 5): P(some arm's minimum of t is >= a_i + eps) <= K exp(-t A eps).

    Assumes Lemma 4.1's assumption with the same A for each of the K arms. May exceed 1.

    Parameters
    ----------
    K, t : array_like
        Number of arms and sample size an arm, whole numbers >= 1.
    eps, A : array_like
        > 0.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Lemma 4.2.

    Examples
    --------
    >>> round(lemma_4_2(20, 50, .1, 1), 4)
    0.1348
    """
    return _plain(_steps("K", K) * lemma_4_1(t, eps, A))


# --- Proposition 4.3 ----------------------------------------------------------------------


def event_complement(K: ArrayLike, t: ArrayLike, eps: ArrayLike, A: ArrayLike):
    """P(not E) <= min(1, t K exp(-A eps)), in the proof of Prop. 4.3.

    E (eq. 8): for every arm and every u <= t, the minimum of u rewards exceeds a_i by at most
    eps / u.

    Examples
    --------
    >>> round(event_complement(2, 10, 10., 1.), 6)
    0.000908
    """
    K, t = _steps("K", K), _steps("t", t)
    return _plain(np.minimum(1, t * K * np.exp(-_positive("A", A) * _positive("eps", eps))))


def event_eps(K: ArrayLike, t: ArrayLike, delta: ArrayLike, A: ArrayLike):
    """The eps that the proof of Prop. 4.3 takes: log(t K / delta) / A, so that P(not E) <= delta.

    Examples
    --------
    >>> eps = event_eps(2, 10, .05, 1.)
    >>> round(event_complement(2, 10, eps, 1.), 6)
    0.05
    """
    K, t, delta = _steps("K", K), _steps("t", t), _level("delta", delta)
    return _plain(np.log(t * K / delta) / _positive("A", A))


def event_complement_exact(law: RewardLaw, t: int, eps: float) -> np.ndarray | float:
    r"""P(not E) after 1, ..., t pulls of each arm, exact for independent arms.

    With S_u = P(X > a + eps/u), the probability c_u that u is the first time at which the minimum
    of one arm is above a + eps/u obeys sum_{v <= u} c_v S_u^{u-v} = S_u^u: the minimum of u
    exceeds its threshold exactly if some v was first and the later rewards exceed it too, as the
    thresholds decrease.

    Parameters
    ----------
    law : RewardLaw, shape () or (K,)
    t : int
        >= 1. Takes time t**2 K.
    eps : float
        > 0.

    Returns
    -------
    ndarray, shape (t,)

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> event_complement_exact(Uniform(0, 1), 2, .5).round(6).tolist()
    [0.5, 0.6875]
    """
    t = _validate.whole("t", t, 1)
    eps = _validate.number("eps", eps, 0, open_low=True)
    a = np.atleast_1d(law.essential_infimum)
    u = np.arange(1, t + 1)
    survival = 1 - np.asarray(law.cdf(a + eps / u[:, None])).reshape(t, a.size)
    first = np.zeros((t, a.size))
    for k in range(t):
        powers = survival[k] ** u[:k][::-1, None]
        first[k] = np.maximum(0, survival[k] ** (k + 1) - (first[:k] * powers).sum(axis=0))
    with np.errstate(divide="ignore"):
        return -np.expm1(np.log1p(-np.minimum(1, np.cumsum(first, axis=0))).sum(axis=-1))


def prop_4_3(t: ArrayLike, delta: ArrayLike, A: ArrayLike, mean_gaps, minimum_gaps):
    """Prop. 4.3 (eq. 6): with probability at least 1 - delta, MIN's regret R_t is at most this.

    (K - k)/A Delta_mu,max / Delta_a,min log(t K / delta) + (K - k) Delta_mu,max, with k optimal
    arms. Assumes that the arm of best mean has the best infimum, that every arm of lower mean has
    a lower infimum, and Lemma 4.1's assumption with A for each arm.

    Parameters
    ----------
    t : array_like
        Number of pulls, whole numbers >= 1.
    delta : array_like
        In (0, 1).
    A : array_like
        Lower-mass constant of all arms, > 0.
    mean_gaps, minimum_gaps : array_like, shape (..., K)
        Delta_mu,i and Delta_a,i, 0 for the best arm, in the units of the reward.

    Returns
    -------
    float or ndarray, broadcast over t, delta, A and the leading axes of the gaps

    Raises
    ------
    ValueError
        If an assumption is broken: delta outside (0, 1), A <= 0, the best arms differ, an arm of
        lower mean shares the best infimum.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Prop. 4.3.

    Examples
    --------
    >>> round(prop_4_3(1000, .05, 1., [0, .1], [0, .2]), 3)
    5.398
    """
    t, delta, A = _steps("t", t), _level("delta", delta), _positive("A", A)
    m = _margins(mean_gaps, minimum_gaps)
    return _plain(m.n_worse / A * m.ratio * np.log(t * m.n_arms / delta) + m.n_worse * m.largest)


def prop_4_3_least_t(A: ArrayLike, mean_gaps, minimum_gaps, condition: str = "proof"):
    """From which t on Prop. 4.3 bounds the expectation.

    Parameters
    ----------
    A, mean_gaps, minimum_gaps
        As in `prop_4_3`.
    condition : {"proof", "printed"}
        "proof": (K - k)/A Delta_mu,max / Delta_a,min, which makes the proof's delta at most 1.
        "printed": with the ratio upside down, as the statement has it.

    Examples
    --------
    >>> round(prop_4_3_least_t(1., [0, .25], [0, .01]), 6)
    25.0
    >>> round(prop_4_3_least_t(1., [0, .25], [0, .01], condition="printed"), 6)
    0.04
    """
    _validate.choice("condition", condition, ("proof", "printed"))
    m = _margins(mean_gaps, minimum_gaps)
    return _plain(m.n_worse / _positive("A", A) * m.ratio ** (1 if condition == "proof" else -1))


def prop_4_3_expectation(
    t: ArrayLike, A: ArrayLike, mean_gaps, minimum_gaps, condition: str = "proof"
):
    """Prop. 4.3 (eq. 7): E[R_t] of MIN is at most this, for t large enough and rewards in [0, 1].

    (K - k)/A r (log(t**2 K A / ((K - k) r)) + 1) + (K - k) Delta_mu,max, r = Delta_mu,max /
    Delta_a,min.

    Parameters
    ----------
    t, A, mean_gaps, minimum_gaps
        As in `prop_4_3`.
    condition : {"proof", "printed"}
        Which least t is asked for, see `prop_4_3_least_t`. The printed one lets through values of
        t at which the bound is false.

    Raises
    ------
    ValueError
        If t is below `prop_4_3_least_t`, or an assumption of `prop_4_3` is broken.

    Examples
    --------
    >>> round(prop_4_3_expectation(1000, 1., [0, .1], [0, .2]), 3)
    8.201
    """
    t, A = _steps("t", t), _positive("A", A)
    least = np.asarray(prop_4_3_least_t(A, mean_gaps, minimum_gaps, condition))
    _require(t >= least, "t", f"at least {least.max():g} (Prop. 4.3, {condition} condition)", t)
    m = _margins(mean_gaps, minimum_gaps)
    scale = m.n_worse / A * m.ratio
    return _plain(scale * (np.log(t**2 * m.n_arms / scale) + 1) + m.n_worse * m.largest)


# --- Proposition 4.4 and the remark on UCB ------------------------------------------------


def prop_4_4(t: ArrayLike, delta: ArrayLike, A: ArrayLike, mean_gaps, minimum_gaps):
    """Prop. 4.4: with probability at least 1 - delta, MIN's regret R_t is at most this.

    (K - k)/A log(t K / delta) + (K - k) Delta_mu,max. Assumes what `prop_4_3` does, and
    Delta_mu,i <= Delta_a,i for every arm.

    Parameters
    ----------
    t, delta, A, mean_gaps, minimum_gaps
        As in `prop_4_3`.

    Examples
    --------
    >>> round(prop_4_4(1000, .05, 1., [0, .1], [0, .2]), 3)
    10.697
    """
    _check_small_margins(mean_gaps, minimum_gaps)
    t, delta, A = _steps("t", t), _level("delta", delta), _positive("A", A)
    m = _margins(mean_gaps, minimum_gaps)
    return _plain(m.n_worse / A * np.log(t * m.n_arms / delta) + m.n_worse * m.largest)


def prop_4_4_least_t(A: ArrayLike, mean_gaps, minimum_gaps):
    """Prop. 4.4 bounds the expectation for t > (K - k) / A."""
    return _plain(_margins(mean_gaps, minimum_gaps).n_worse / _positive("A", A))


def prop_4_4_expectation(t: ArrayLike, A: ArrayLike, mean_gaps, minimum_gaps):
    """Prop. 4.4 (eq. 13): E[R_t] of MIN is at most this, for t > (K - k)/A and rewards in [0, 1].

    (K - k)/A (log(t**2 K A / (K - k)) + 1) + (K - k) Delta_mu,max.

    Parameters
    ----------
    t, A, mean_gaps, minimum_gaps
        As in `prop_4_4`.

    Raises
    ------
    ValueError
        If t <= (K - k)/A, Delta_mu,i > Delta_a,i for an arm, or an assumption of `prop_4_3` is
        broken.

    Examples
    --------
    >>> from marab_lib.problems import proof_of_concept
    >>> p = proof_of_concept()
    >>> round(prop_4_4_expectation(4000, p.lower_mass_constants.min(), p.mean_gaps, p.minimum_gaps))
    335
    """
    _check_small_margins(mean_gaps, minimum_gaps)
    t, A = _steps("t", t), _positive("A", A)
    m = _margins(mean_gaps, minimum_gaps)
    scale = m.n_worse / A
    _require(t > scale, "t", f"above {np.max(scale):g} (Prop. 4.4)", t)
    return _plain(scale * (np.log(t**2 * m.n_arms / scale) + 1) + m.n_worse * m.largest)


def auer_2002(t: ArrayLike, mean_gaps: ArrayLike) -> np.ndarray | float:
    """UCB's bound in the remark (eq. 12) after Prop. 4.3.

    E[R_t] <= 8 sum_i log(t) / Delta_mu,i + (1 + pi**2/3) sum_i Delta_mu,i.

    The first sum runs over the arms of lower mean. It is proved for UCB with C = sqrt(2) and
    rewards in [0, 1].

    Parameters
    ----------
    t : array_like
        Number of pulls, whole numbers >= 1.
    mean_gaps : array_like, shape (..., K)
        Delta_mu,i, 0 for the best arm.

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem,
    Theorem 1.

    Examples
    --------
    >>> round(auer_2002(1000, [0, .1]), 2)
    553.05
    """
    t, gaps = _steps("t", t), _gaps("mean_gaps", mean_gaps)
    worse = gaps > _ZERO
    inverse = np.divide(1, gaps, out=np.zeros_like(gaps), where=worse).sum(axis=-1)
    return _plain(8 * np.log(t) * inverse + (1 + math.pi**2 / 3) * gaps.sum(axis=-1))


@dataclass(frozen=True)
class Assumptions:
    """Which assumptions of section 4 a problem meets."""

    lower_mass: bool  #: every arm has a lower-mass constant A > 0 (eq. 3)
    bounded: bool  #: all rewards lie in [0, 1]
    aligned: bool  #: the arm of best mean also has the best essential infimum
    separated: bool  #: every arm of lower mean has a lower infimum than the best
    margins: bool  #: Delta_mu,i <= Delta_a,i for every arm

    @property
    def prop_4_3(self) -> bool:
        """All that Prop. 4.3 assumes."""
        return self.lower_mass and self.bounded and self.aligned and self.separated

    @property
    def prop_4_4(self) -> bool:
        """All that Prop. 4.4 assumes."""
        return self.prop_4_3 and self.margins


def assumptions(problem: Problem) -> Assumptions:
    """Check a problem against the assumptions of Props. 4.3 and 4.4.

    Examples
    --------
    >>> from marab_lib.problems import proof_of_concept
    >>> assumptions(proof_of_concept(delta_max=.1, r_max=.399)).prop_4_4
    True
    """
    mean, minimum = problem.mean_gaps, problem.minimum_gaps
    worse = mean > _ZERO
    return Assumptions(
        lower_mass=bool(np.all(problem.lower_mass_constants > 0)),
        bounded=bool(
            problem.essential_infima.min() >= -_ZERO
            and problem.essential_suprema.max() <= 1 + _ZERO
        ),
        aligned=bool(np.any(~worse & (minimum <= _ZERO))),
        separated=bool(np.all(minimum[worse] > _ZERO)),
        margins=bool(np.all(mean <= minimum + _ZERO)),
    )


# --- beyond the paper: the regret of MIN stays bounded ------------------------------------


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
    infima = problem.essential_infima
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
        In (0, 1].

    Examples
    --------
    >>> law = ScaledGeometricSum([.1, .2], [.5, .25])
    >>> round(law.mean, 3), round(law.var, 3)
    (1.0, 0.5)
    """

    scales: ArrayLike
    p: ArrayLike

    def __post_init__(self) -> None:
        scales, p = np.broadcast_arrays(
            _validate.finite_array("scales", self.scales), _validate.finite_array("p", self.p)
        )
        if scales.ndim != 1 or scales.size == 0:
            raise ValueError(
                f"scales must be a list of at least 1 number, got shape {scales.shape}"
            )
        _require(scales >= 0, "scales", ">= 0", scales)
        _require((p > 0) & (p <= 1), "p", "in (0, 1]", p)
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "p", p)

    @property
    def mean(self) -> float:
        """sum_i scale_i / p_i."""
        return float((self.scales / self.p).sum())

    @property
    def var(self) -> float:
        """sum_i scale_i**2 (1 - p_i) / p_i**2."""
        return float((self.scales**2 * (1 - self.p) / self.p**2).sum())

    def sample(self, runs: int, seed: int) -> np.ndarray:
        """Independent draws, shape (runs,)."""
        runs, seed = _validate.whole("runs", runs, 1), _validate.whole("seed", seed, 0)
        rng = np.random.default_rng(seed)
        return rng.geometric(self.p, (runs, self.p.size)) @ self.scales

    def _lattice_cdf(self, step: float, points: int, up: bool) -> np.ndarray:
        """P(sum <= j step), j = 0..points, with each scale rounded to a multiple of the step.

        Adding scale N turns the probabilities f into g(x) = p f(x - scale) + (1 - p) g(x - scale),
        an exact convolution: one recursive filter along every residue class of the scale.
        """
        from scipy import signal  # here, since it takes most of a second to import

        f = np.zeros(points + 1)
        f[0] = 1.0
        for scale, p in zip(self.scales, self.p, strict=True):
            ratio = scale / step
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

    def cdf_bounds(self, x: ArrayLike, points: int = 2**16) -> tuple[np.ndarray, np.ndarray]:
        """Two numbers between which P(sum <= x) lies.

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
        _require(x >= 0, "x", ">= 0", x)
        if x.size == 0:
            raise ValueError("x must hold at least one number, got none")
        points = _validate.whole("points", points, 1)
        step = max(float(x.max()), 1e-300) / points
        at = np.minimum(np.floor(x / step + 1e-9), points).astype(int)
        return _plain(self._lattice_cdf(step, points, True)[at]), _plain(
            self._lattice_cdf(step, points, False)[at]
        )

    def quantile_bounds(self, q: ArrayLike, points: int = 2**16) -> tuple[np.ndarray, np.ndarray]:
        """Two numbers between which the smallest x with P(sum <= x) >= q lies, for q in (0, 1)."""
        q = _level("q", q)
        points = _validate.whole("points", points, 1)
        # A union bound over the terms gives an x that no q-quantile exceeds.
        tail = (1 - q.max()) / self.p.size
        with np.errstate(divide="ignore"):
            terms = np.ceil(np.log(tail) / np.log1p(-self.p))
        step = float((self.scales * np.maximum(terms, 1)).sum()) / points * (1 + 1e-3)
        if step == 0.0:  # all scales are 0, and so is the sum
            return _plain(np.zeros_like(q)), _plain(np.zeros_like(q))
        low, high = (self._lattice_cdf(step, points, up) for up in (False, True))
        return _plain(np.searchsorted(low, q) * step), _plain(
            np.minimum(np.searchsorted(high, q), points) * step
        )


def _worse_arms(problem: Problem) -> np.ndarray:
    """Which arms cost regret, once it is sure that all arms that share a* have the best mean."""
    best = problem.essential_infima == problem.essential_infima.max()
    if np.any(problem.mean_gaps[best] > _ZERO):
        raise ValueError(
            f"problem must have the best mean at every arm of best essential infimum, got "
            f"{problem!r} without: MIN's regret is then linear (see linear_asymptote)"
        )
    return problem.mean_gaps > _ZERO


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
    t = _steps("t", t)
    a, safe = problem.essential_infima.max(), int(problem.essential_infima.argmax())
    step = 1e-7 * (problem.essential_suprema.max() - a)
    mass = problem.cdfs(a)
    density = (problem.cdfs(a + step) - mass) / step
    if np.sum(problem.essential_infima == a) > 1 or not density[safe] > 0:
        raise ValueError(
            f"problem must have one arm of largest infimum, with a positive density there, got "
            f"{problem!r}"
        )
    others = np.arange(density.size) != safe
    rates = density[others] / mass[others]
    return _plain(np.minimum(1, rates.sum() / density[safe] / t))


def constant_bound(A: ArrayLike, mean_gaps, minimum_gaps) -> np.ndarray | float:
    """Beyond the paper: E[R_t] <= sum_i Delta_mu,i max(1, 1 / (A Delta_a,i)) for every t.

    It is (1/A) sum Delta_mu,i / Delta_a,i while A Delta_a,i <= 1; each arm costs at least one pull.
    Assumes what `prop_4_3` does.

    Parameters
    ----------
    A, mean_gaps, minimum_gaps
        As in `prop_4_3`.

    Examples
    --------
    >>> constant_bound(1., [0, .1, .1], [0, .2, .5])
    0.7
    """
    A = _positive("A", A)
    mean, minimum, worse = _checked_gaps(mean_gaps, minimum_gaps)
    mass = np.minimum(1, np.where(worse, minimum, 1) * A[..., None])
    return _plain((np.where(worse, mean, 0) / mass).sum(axis=-1))


def constant_bound_margins(A: ArrayLike, mean_gaps, minimum_gaps) -> np.ndarray | float:
    """Beyond the paper: E[R_t] <= sum_i max(1/A, Delta_mu,i) under Prop. 4.4's margins, for all t.

    It is (K - k)/A while Delta_mu,max <= 1/A. Assumes what `prop_4_4` does.

    Examples
    --------
    >>> constant_bound_margins(1., [0, .1, .1], [0, .2, .5])
    2.0
    """
    _check_small_margins(mean_gaps, minimum_gaps)
    A = _positive("A", A)
    mean, _, worse = _checked_gaps(mean_gaps, minimum_gaps)
    return _plain(np.where(worse, np.maximum(1 / A[..., None], mean), 0).sum(axis=-1))


def constant_bound_probability(delta: ArrayLike, A: ArrayLike, mean_gaps, minimum_gaps):
    """Beyond the paper: with probability at least 1 - delta, R_t is at most this for all t at once.

    sum_i Delta_mu,i (1 + log((K - k) / delta) / (A Delta_a,i)). Assumes what `prop_4_3` does.

    Parameters
    ----------
    delta, A, mean_gaps, minimum_gaps
        As in `prop_4_3`.

    Examples
    --------
    >>> round(constant_bound_probability(.05, 1., [0, .1], [0, .2]), 4)
    1.5979
    """
    delta, A = _level("delta", delta), _positive("A", A)
    mean, minimum, worse = _checked_gaps(mean_gaps, minimum_gaps)
    cost = np.divide(mean, minimum, out=np.zeros_like(mean), where=worse).sum(axis=-1)
    n_worse = worse.sum(axis=-1)
    return _plain(np.where(worse, mean, 0).sum(axis=-1) + cost * np.log(n_worse / delta) / A)


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
    best = problem.essential_infima == problem.essential_infima.max()
    slopes = problem.mean_gaps[best]
    if np.ptp(slopes) > _ZERO:
        raise ValueError(
            f"problem must have one mean for all arms of best essential infimum, got {problem!r} "
            f"with mean gaps {slopes.tolist()}"
        )
    slope = float(slopes[0])
    p = stopping_probabilities(problem, ties)[~best]
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
    r = _positive("density_1", density_1) / _positive("density_2", density_2)
    away = np.where(abs(r - 1) < 1e-4, 2.0, r)  # the formula is 0/0 at 1: a series there
    exact = (away * np.log(away) + 1 - away) / (away - 1) ** 2
    return _plain(np.where(abs(r - 1) < 1e-4, 0.5 - (r - 1) / 6, exact))


# --- beyond the paper: the CVaR regret of MaRaB is linear ---------------------------------


def _cvar_problem(problem: Problem, alpha) -> tuple[int, float, float]:
    """Best arm in CVaR, its chance of a reward below every reward of another arm, least gap."""
    cvars = problem.cvars(alpha)
    best = int(np.argmax(cvars))
    others = np.arange(problem.n_arms) != best
    gap = float(cvars[best] - cvars[others].max())
    if gap <= _ZERO:
        raise ValueError(f"problem must have a single arm of best CVaR, got CVaRs {cvars.tolist()}")
    level = problem.essential_infima[others].max()
    return best, float(problem.cdfs(np.nextafter(level, -np.inf))[best]), gap


def _first_rewards(alpha: float | str | Fraction, rewards: int | None) -> int:
    """How many first rewards of the best arm count, at most floor(1 / alpha)."""
    most = math.floor(1 / risk.exact_level(alpha))
    return most if rewards is None else _validate.whole("rewards", rewards, 1, most)


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
    m = _first_rewards(alpha, rewards)
    _, below, _ = _cvar_problem(problem, alpha)
    return 1 - (1 - below) ** m


def marab_cvar_regret(
    problem: Problem, alpha: float | str | Fraction, t: ArrayLike, rewards: int | None = None
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
    >>> round(marab_cvar_regret(problem, .5, 10_000), 1)
    103.3
    """
    t = _steps("t", t)
    m = _first_rewards(alpha, rewards)
    _, _, gap = _cvar_problem(problem, alpha)
    return _plain(marab_stuck_probability(problem, alpha, m) * gap * np.maximum(0, t - m))


# --- simulated frequencies beside the bounds ----------------------------------------------


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

    runs = _validate.whole("runs", runs, 1)
    k = _validate.finite_array("successes", successes)
    _require((k >= 0) & (k <= runs) & (k == np.floor(k)), "successes", f"in 0, ..., {runs}", k)
    half = (1 - float(_level("confidence", confidence))) / 2
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
    _require((p >= 0) & (p <= 1), "p", "in [0, 1]", p)
    low, high = proportion_interval(np.arange(runs + 1), runs, confidence)
    # The counts whose interval holds p are a range: the ends increase with the count.
    first = np.searchsorted(high, p, side="left")
    last = np.searchsorted(low, p, side="right") - 1
    return _plain(stats.binom.cdf(last, runs, p) - stats.binom.cdf(first - 1, runs, p))
