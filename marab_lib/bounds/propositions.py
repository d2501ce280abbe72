"""Propositions 4.3 and 4.4, the remark on UCB, and bounds beyond the paper without t."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from .._validate import float_or_array
from ..problems import Problem
from ._arguments import ZERO, checked_problem, constants, level, steps

_LARGEST = 1e300  # of a bound without its logarithm

# --- what the bounds read from a problem --------------------------------------------------


class _Known(NamedTuple):
    A: np.ndarray
    n_arms: int  # K
    mean: np.ndarray  # Delta_mu,i of the K - k arms of lower mean
    minimum: np.ndarray  # their Delta_a,i

    @property
    def n_worse(self) -> int:
        return self.mean.size

    @property
    def ratio(self) -> float:
        """Delta_mu,max / Delta_a,min."""
        return self.mean.max() / self.minimum.min()

    @property
    def pulls(self) -> float:
        """(K - k) Delta_mu,max: the cost of one pull of each worse arm, at most."""
        return self.n_worse * self.mean.max()


def _known(problem: Problem, A: ArrayLike | None, *, small_margins: bool = False) -> _Known:
    """A and the margins, once the assumptions of Prop. 4.3 (or 4.4) on them hold."""
    mean, minimum = checked_problem(problem).mean_gaps, problem.minimum_gaps
    A = constants(problem.lower_mass_constants.min(), A)
    met = assumptions(problem)
    worse = mean > ZERO
    if not worse.any():
        raise ValueError(
            "mean_gaps must be > 0 for at least one arm, got all 0: no regret to bound"
        )
    if not met.aligned:
        raise ValueError(
            "minimum_gaps must be 0 for an arm whose mean gap is 0, got "
            f"{minimum[~worse].min():g}: the arm of best mean must also have the best essential "
            "infimum (Prop. 4.3)"
        )
    if not met.separated:
        raise ValueError(
            "minimum_gaps must be > 0 for every arm whose mean gap is > 0, got 0: an arm of lower "
            "mean has the same essential infimum as the best arm"
        )
    if small_margins:
        message = "mean_gaps must be <= minimum_gaps (Prop. 4.4), got {:g} > {:g}"
        _validate.every(mean <= minimum + ZERO, message, mean, minimum, axes=("arm",))
    known = _Known(A, problem.n_arms, mean[worse], minimum[worse])
    with np.errstate(over="ignore"):
        scale = known.n_worse / A * max(known.ratio, 1 / known.ratio)
    message = f"problem must have margins and A such that its bounds stay below {_LARGEST:g}"
    _validate.every(scale <= _LARGEST, f"{message}, got {problem!r} with A = {{:g}}", A)
    return known


def _check_expectation(problem: Problem) -> None:
    """Bounds in expectation are for rewards in [0, 1], or after a shift."""
    low, high = problem.essential_infima.min(), problem.essential_suprema.max()
    if high - low > 1 + ZERO:
        raise ValueError(
            "problem must have all rewards in an interval of length 1 for a bound in expectation, "
            f"got rewards from {low:g} to {high:g}"
        )


def _in_probability(scale: ArrayLike, t: np.ndarray, delta: np.ndarray, known: _Known):
    """scale log(t K / delta) + (K - k) Delta_mu,max."""
    _validate.broadcast(t=t, delta=delta, A=known.A)
    return float_or_array(scale * (np.log(t) + np.log(known.n_arms) - np.log(delta)) + known.pulls)


def _in_expectation(scale: ArrayLike, t: np.ndarray, known: _Known):
    """The bound above at delta = scale / t, and scale more for the share delta of all runs."""
    log = 2 * np.log(t) + np.log(known.n_arms) - np.log(np.maximum(scale, 1e-300))
    return float_or_array(
        scale * (log + 1) + known.pulls
    )  # where A is inf, scale is 0, and so the product


# --- Proposition 4.3 ----------------------------------------------------------------------


def prop_4_3(
    problem: Problem, t: ArrayLike, delta: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Prop. 4.3 (eq. 6): with probability at least 1 - delta, MIN's regret R_t is at most this.

    (K - k)/A Delta_mu,max / Delta_a,min log(t K / delta) + (K - k) Delta_mu,max, with k optimal
    arms. Assumes that the arm of best mean has the best infimum, that every arm of lower mean has
    a lower infimum, and Lemma 4.1's assumption with A for each arm.

    Parameters
    ----------
    problem : Problem
    t : array_like
        Number of pulls, whole numbers >= 1.
    delta : array_like
        In (0, 1).
    A : array_like, optional
        At most the least lower-mass constant of the arms, which is the default.

    Returns
    -------
    float or ndarray, broadcast over t, delta and A, in the units of the reward

    Raises
    ------
    TypeError, ValueError
        If an argument is not so, or an assumption is broken: no positive lower-mass constant, the
        best arms differ, an arm of lower mean shares the best infimum.

    References
    ----------
    Galichet, Sebag and Teytaud (2013), Prop. 4.3.

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.2, 1), arms.Uniform(0, 1)])
    >>> round(prop_4_3(problem, 1000, .05), 3), round(prop_4_3_expectation(problem, 1000), 3)
    (5.398, 8.201)
    >>> round(constant_bound(problem), 6), round(constant_bound_probability(problem, .05), 4)
    (0.5, 1.5979)
    """
    known = _known(problem, A)
    scale = known.n_worse / known.A * known.ratio
    return _in_probability(scale, steps("t", t), level("delta", delta), known)


def prop_4_3_least_t(
    problem: Problem, *, condition: str = "proof", A: ArrayLike | None = None
) -> np.ndarray | float:
    """From which t on Prop. 4.3 bounds the expectation.

    Parameters
    ----------
    problem, A
        As in `prop_4_3`.
    condition : {"proof", "printed"}
        "proof": (K - k)/A Delta_mu,max / Delta_a,min, which makes the proof's delta at most 1.
        "printed": with the ratio upside down, as the statement has it.

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.01, .99), arms.Uniform(0, .5)])
    >>> round(prop_4_3_least_t(problem, A=1.), 6)
    25.0
    >>> round(prop_4_3_least_t(problem, A=1., condition="printed"), 6)
    0.04
    """
    _validate.choice("condition", condition, ("proof", "printed"))
    known = _known(problem, A)
    return float_or_array(
        known.n_worse / known.A * known.ratio ** (1 if condition == "proof" else -1)
    )


def prop_4_3_expectation(
    problem: Problem, t: ArrayLike, *, condition: str = "proof", A: ArrayLike | None = None
) -> np.ndarray | float:
    """Prop. 4.3 (eq. 7): E[R_t] of MIN is at most this, for t large enough and rewards in [0, 1].

    (K - k)/A r (log(t**2 K A / ((K - k) r)) + 1) + (K - k) Delta_mu,max, r = Delta_mu,max /
    Delta_a,min.

    Parameters
    ----------
    problem, t, A
        As in `prop_4_3`.
    condition : {"proof", "printed"}
        Which least t is asked for, see `prop_4_3_least_t`. The printed one lets through values of
        t at which the bound is false.

    Raises
    ------
    TypeError, ValueError
        If t is below `prop_4_3_least_t`, the rewards lie in no interval of length 1, or as in
        `prop_4_3`.
    """
    least = np.asarray(prop_4_3_least_t(problem, condition=condition, A=A))
    _check_expectation(problem)
    t, least = _validate.broadcast(t=steps("t", t), A=least)
    message = f"t must be at least {{:g}} (Prop. 4.3, {condition} condition), got {{:g}}"
    _validate.every(t >= least, message, least, t)
    known = _known(problem, A)
    return _in_expectation(known.n_worse / known.A * known.ratio, t, known)


# --- Proposition 4.4 and the remark on UCB ------------------------------------------------


def prop_4_4(
    problem: Problem, t: ArrayLike, delta: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Prop. 4.4: with probability at least 1 - delta, MIN's regret R_t is at most this.

    (K - k)/A log(t K / delta) + (K - k) Delta_mu,max. Assumes what `prop_4_3` does, and
    Delta_mu,i <= Delta_a,i for every arm.

    The arguments are those of `prop_4_3`.

    Examples
    --------
    >>> from marab_lib import Problem, arms
    >>> problem = Problem([arms.Uniform(.2, 1), arms.Uniform(0, 1)])
    >>> round(prop_4_4(problem, 1000, .05), 3), prop_4_4_least_t(problem)
    (10.697, 1.0)
    >>> round(prop_4_4_expectation(problem, 1000), 3), constant_bound_margins(problem)
    (15.609, 1.0)
    >>> round(auer_2002(problem, 1000), 2)
    553.05
    """
    known = _known(problem, A, small_margins=True)
    return _in_probability(known.n_worse / known.A, steps("t", t), level("delta", delta), known)


def prop_4_4_least_t(problem: Problem, *, A: ArrayLike | None = None) -> np.ndarray | float:
    """Prop. 4.4 bounds the expectation for t > (K - k) / A.

    The arguments are those of `prop_4_4`.
    """
    known = _known(problem, A, small_margins=True)
    return float_or_array(known.n_worse / known.A)


def prop_4_4_expectation(
    problem: Problem, t: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Prop. 4.4 (eq. 13): E[R_t] of MIN is at most this, for t > (K - k)/A and rewards in [0, 1].

    (K - k)/A (log(t**2 K A / (K - k)) + 1) + (K - k) Delta_mu,max.

    The arguments are those of `prop_4_4`.

    Raises
    ------
    TypeError, ValueError
        If t <= (K - k)/A, the rewards lie in no interval of length 1, Delta_mu,i > Delta_a,i for an
        arm, or as in `prop_4_3`.
    """
    known = _known(problem, A, small_margins=True)
    _check_expectation(problem)
    t, least = _validate.broadcast(t=steps("t", t), A=known.n_worse / known.A)
    _validate.every(t > least, "t must be above {:g} (Prop. 4.4), got {:g}", least, t)
    return _in_expectation(least, t, known)


def auer_2002(problem: Problem, t: ArrayLike) -> np.ndarray | float:
    """UCB's bound in the remark (eq. 12) after Prop. 4.3.

    E[R_t] <= 8 sum_i log(t) / Delta_mu,i + (1 + pi**2/3) sum_i Delta_mu,i.

    The sums run over the arms of lower mean. It is proved for UCB with C = sqrt(2) and
    rewards in [0, 1].

    Parameters
    ----------
    problem : Problem
        With all rewards in an interval of length 1.
    t : array_like
        Number of pulls, whole numbers >= 1.

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem,
    Theorem 1.
    """
    gaps = checked_problem(problem).mean_gaps
    _check_expectation(problem)
    gaps = gaps[gaps > ZERO]
    inverse = (1 / gaps).sum()
    return float_or_array(8 * np.log(steps("t", t)) * inverse + (1 + math.pi**2 / 3) * gaps.sum())


@dataclass(frozen=True)
class Assumptions:
    """Which assumptions of section 4 a problem meets."""

    lower_mass: bool  #: every arm has a lower-mass constant A > 0 (eq. 3)
    bounded: bool  #: all rewards lie in [0, 1]
    aligned: bool  #: the arm of best mean also has the best essential infimum
    separated: bool  #: every arm of lower mean has a lower infimum than the best
    margins: bool  #: Delta_mu,i <= Delta_a,i for every arm

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, bool):
                raise TypeError(f"{f.name} must be True or False, got {_validate.shown(value)}")

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
    mean, minimum = checked_problem(problem).mean_gaps, problem.minimum_gaps
    worse = mean > ZERO
    return Assumptions(
        lower_mass=bool(np.all(problem.lower_mass_constants > 0)),
        bounded=bool(
            problem.essential_infima.min() >= -ZERO and problem.essential_suprema.max() <= 1 + ZERO
        ),
        aligned=bool(np.any(~worse & (minimum <= ZERO))),
        separated=bool(np.all(minimum[worse] > ZERO)),
        margins=bool(np.all(mean <= minimum + ZERO)),
    )


# --- beyond the paper: bounds without t ---------------------------------------------------


def constant_bound(problem: Problem, *, A: ArrayLike | None = None) -> np.ndarray | float:
    """Beyond the paper: E[R_t] <= sum_i Delta_mu,i max(1, 1 / (A Delta_a,i)) for every t.

    It is (1/A) sum Delta_mu,i / Delta_a,i while A Delta_a,i <= 1; each arm costs at least one pull.
    Assumes what `prop_4_3` does.

    The arguments are those of `prop_4_3`.
    """
    known = _known(problem, A)
    mass = np.minimum(1, known.minimum * known.A[..., None])
    return float_or_array((known.mean / mass).sum(axis=-1))


def constant_bound_margins(problem: Problem, *, A: ArrayLike | None = None) -> np.ndarray | float:
    """Beyond the paper: E[R_t] <= sum_i max(1/A, Delta_mu,i) under Prop. 4.4's margins, for all t.

    It is (K - k)/A while Delta_mu,max <= 1/A. Assumes what `prop_4_4` does.

    The arguments are those of `prop_4_4`.
    """
    known = _known(problem, A, small_margins=True)
    return float_or_array(np.maximum(1 / known.A[..., None], known.mean).sum(axis=-1))


def constant_bound_probability(
    problem: Problem, delta: ArrayLike, *, A: ArrayLike | None = None
) -> np.ndarray | float:
    """Beyond the paper: with probability at least 1 - delta, R_t is at most this for all t at once.

    sum_i Delta_mu,i (1 + log((K - k) / delta) / (A Delta_a,i)). Assumes what `prop_4_3` does.

    The arguments are those of `prop_4_3`.
    """
    known = _known(problem, A)
    delta, A = _validate.broadcast(delta=level("delta", delta), A=known.A)
    cost = (known.mean / known.minimum).sum()
    return float_or_array(known.mean.sum() + cost * (np.log(known.n_worse) - np.log(delta)) / A)
