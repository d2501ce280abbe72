"""Lemmas 4.1 and 4.2 and the event in the proof of Prop. 4.3: how far the minimum is from a."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from .._validate import float_or_array
from ..arms import RewardLaw
from ..problems import Problem
from ._arguments import checked_law, constants, laws, positive, steps

# --- Lemma 4.1 ----------------------------------------------------------------------------


def _all_above(p: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(1 - p)**t, to full precision for small p too."""
    with np.errstate(divide="ignore"):
        return np.exp(t * np.log1p(-p))


def _some(p: np.ndarray, n: ArrayLike = 1) -> np.ndarray:
    """1 - the product of (1 - p)**n over the last axis: some of independent events happens."""
    with np.errstate(divide="ignore"):
        return -np.expm1((n * np.log1p(-p)).sum(axis=-1))


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

    Raises
    ------
    TypeError, ValueError
        If an argument is not so.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> round(minimum_exceedance(Uniform(0, 1), 2, .1), 6)
    0.81
    """
    a = np.asarray(checked_law(law).essential_infimum)
    t, eps = steps("t", t), positive("eps", eps)
    _validate.broadcast(t=t, eps=eps, law=a)
    # P(X < x) is the cdf just left of x: an atom at x does not count.
    below = law.cdf(np.nextafter(a + eps, -np.inf))
    return float_or_array(_all_above(np.asarray(below), t))


def _lemma_4_1_terms(
    law: RewardLaw, t: ArrayLike, eps: ArrayLike, A: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """t and A eps."""
    A = constants(checked_law(law).lower_mass_constant, A)
    t, eps = steps("t", t), positive("eps", eps)
    _validate.broadcast(t=t, eps=eps, law=A)
    with np.errstate(over="ignore"):
        return t, A * eps


def lemma_4_1_power(
    law: RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """(1 - A eps)**t, the step between the exact probability and Lemma 4.1's bound.

    Assumes P(X <= a + e) >= A e for 0 < e <= 1/A. For eps > 1/A it is 0, as is the probability:
    the assumption at e = 1/A puts all of the law below a + 1/A.

    The arguments are those of `lemma_4_1`.
    """
    t, x = _lemma_4_1_terms(law, t, eps, A)
    return float_or_array(_all_above(np.minimum(1, x), t))


def lemma_4_1(
    law: RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Lemma 4.1 (eq. 4): P(min of t rewards >= a + eps) <= exp(-t A eps).

    Assumes P(X <= a + e) >= A e for 0 < e <= 1/A (eq. 3, where the paper has all e > 0).

    Parameters
    ----------
    law : RewardLaw, shape () or (K,)
    t : array_like
        Sample size, whole numbers >= 1; broadcasts against eps and the law.
    eps : array_like
        Distance from the essential infimum a, > 0.
    A : array_like, optional
        At most the law's lower-mass constant, which is the default.

    Raises
    ------
    TypeError, ValueError
        If t < 1, eps <= 0, A is too large, or the law's own constant is 0.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Lemma 4.1.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> law = Uniform(0, 1)
    >>> round(lemma_4_1(law, 2, .1), 6), round(lemma_4_1_power(law, 2, .1), 6)
    (0.818731, 0.81)
    """
    t, x = _lemma_4_1_terms(law, t, eps, A)
    with np.errstate(over="ignore"):
        return float_or_array(np.exp(-t * x))


def exponential_rate(law: RewardLaw) -> np.ndarray | float:
    """Largest A' with P(min of t rewards >= a + eps) <= exp(-t A' eps) for all t and eps.

    It is the infimum over e of -log(1 - F(a + e)) / e, at least the lower-mass constant: Lemma
    4.1's conclusion may hold with a better constant than its assumption. The least value on a grid
    of 4,000 values of e from 1e-6 of the support on: up to 0.35 % above the infimum where the law
    has atoms, and small but not 0 where the infimum is 0; inf for a constant arm.

    Examples
    --------
    >>> from marab_lib.arms import TruncatedGaussianMixture
    >>> law = TruncatedGaussianMixture(0, 1, [1], [0], [.3])
    >>> round(law.lower_mass_constant, 2), round(exponential_rate(law), 2)
    (1.0, 2.66)
    """
    a = np.asarray(checked_law(law).essential_infimum)
    width = np.asarray(law.essential_supremum) - a
    share = np.geomspace(1e-6, 1, 4001)[:-1].reshape((-1,) + (1,) * a.ndim)
    below = np.asarray(law.cdf(a + share * width))
    with np.errstate(divide="ignore"):
        return float_or_array((-np.log1p(-below) / (share * width)).min(axis=0))


# --- Lemma 4.2 ----------------------------------------------------------------------------


def lemma_4_2_exact(arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike) -> np.ndarray | float:
    """P(the minimum of t rewards of some arm is >= a_i + eps), exact for independent arms.

    The arguments are those of `lemma_4_2`.
    """
    parts = laws(arms)
    t, eps = _validate.broadcast(t=steps("t", t), eps=positive("eps", eps))
    one = [np.asarray(minimum_exceedance(law, t[..., None], eps[..., None])) for law in parts]
    return float_or_array(_some(np.concatenate(one, axis=-1)))


def _lemma_4_2_terms(
    arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike, A: ArrayLike | None
) -> tuple[int, np.ndarray, np.ndarray]:
    """K, t and A eps."""
    own = np.concatenate([np.atleast_1d(law.lower_mass_constant) for law in laws(arms)])
    A = constants(own.min(), A)
    t, eps = steps("t", t), positive("eps", eps)
    _validate.broadcast(t=t, eps=eps, A=A)
    with np.errstate(over="ignore"):
        return own.size, t, A * eps


def lemma_4_2_product(
    arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """1 - (1 - (1 - A eps)**t)**K: first term of Lemma 4.2's chain. Needs independent arms.

    The arguments are those of `lemma_4_2`.
    """
    K, t, x = _lemma_4_2_terms(arms, t, eps, A)
    return float_or_array(_some(_all_above(np.minimum(1, x), t)[..., None], K))


def lemma_4_2_power(
    arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """K (1 - A eps)**t: second term of Lemma 4.2's chain, a union bound. May exceed 1.

    The arguments are those of `lemma_4_2`.
    """
    K, t, x = _lemma_4_2_terms(arms, t, eps, A)
    return float_or_array(K * _all_above(np.minimum(1, x), t))


def lemma_4_2(
    arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Lemma 4.2 (eq. 5): P(some arm's minimum of t is >= a_i + eps) <= K exp(-t A eps).

    Assumes Lemma 4.1's assumption with the same A for each of the K arms. May exceed 1.

    Parameters
    ----------
    arms : Problem or RewardLaw
        The K arms; a law of shape () is one.
    t : array_like
        Sample size an arm, whole numbers >= 1; broadcasts against eps.
    eps : array_like
        Distance from each arm's essential infimum, > 0.
    A : array_like, optional
        At most the least lower-mass constant of the arms, which is the default.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Lemma 4.2.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> round(lemma_4_2(Uniform([0] * 20, 1), 50, .1), 4)
    0.1348
    >>> two = Uniform([0, 0], 1)
    >>> chain = lemma_4_2_exact, lemma_4_2_product, lemma_4_2_power, lemma_4_2
    >>> [round(term(two, 1, .9), 3) for term in chain]
    [0.19, 0.19, 0.2, 0.813]
    >>> round(event_complement(two, 10, 10.), 6)
    0.000908
    """
    K, t, x = _lemma_4_2_terms(arms, t, eps, A)
    with np.errstate(over="ignore"):
        return float_or_array(K * np.exp(-t * x))


# --- the event in the proof of Prop. 4.3 --------------------------------------------------


def event_complement(
    arms: Problem | RewardLaw, t: ArrayLike, eps: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """P(not E) <= min(1, t K exp(-A eps)), in the proof of Prop. 4.3.

    E (eq. 8): for every arm and every u <= t, the minimum of u rewards exceeds a_i by at most
    eps / u.

    The arguments are those of `lemma_4_2`.
    """
    K, t, x = _lemma_4_2_terms(arms, t, eps, A)
    return float_or_array(np.exp(np.minimum(0, np.log(t) + np.log(K) - x)))


def event_complement_exact(arms: Problem | RewardLaw, t: int, eps: float) -> np.ndarray:
    r"""P(not E) after 1, ..., t pulls of each arm, exact for independent arms.

    With S_u = P(X > a + eps/u), the probability c_u that u is the first time at which the minimum
    of one arm is above a + eps/u obeys sum_{v <= u} c_v S_u^{u-v} = S_u^u: the minimum of u
    exceeds its threshold exactly if some v was first and the later rewards exceed it too, as the
    thresholds decrease.

    Parameters
    ----------
    arms : Problem or RewardLaw
        The K arms; a law of shape () is one.
    t : int
        >= 1. Takes time t**2 K.
    eps : float
        > 0.

    Returns
    -------
    ndarray, shape (t,)

    Raises
    ------
    MemoryError
        If the t K numbers do not fit in the memory that is free.

    Examples
    --------
    >>> from marab_lib.arms import Uniform
    >>> event_complement_exact(Uniform(0, 1), 2, .5).round(6).tolist()
    [0.5, 0.6875]
    """
    parts = laws(arms)
    t = _validate.whole("t", t, 1)
    eps = _validate.number("eps", eps, 0, open_low=True)
    n_arms = sum(np.size(law.essential_infimum) for law in parts)
    _validate.fits_in_memory(f"t = {t:,} pulls", 40.0 * t * n_arms, "ask for fewer")
    u = np.arange(1, t + 1)
    above = [1 - np.asarray(law.cdf(law.essential_infimum + eps / u[:, None])) for law in parts]
    survival = np.concatenate(above, axis=-1)
    first = np.zeros_like(survival)
    for k in range(t):
        powers = survival[k] ** u[:k][::-1, None]
        first[k] = np.maximum(0, survival[k] ** (k + 1) - (first[:k] * powers).sum(axis=0))
    return _some(np.minimum(1, np.cumsum(first, axis=0)))
