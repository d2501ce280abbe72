"""Checks of what the bounds are given."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate
from ..arms import RewardLaw
from ..problems import Problem

ZERO = 1e-12  # a gap up to this is rounding, not a gap
_MOST = 1e100  # steps; t times the largest reward is then a finite float
_LEAST_CONSTANT = 1e-150  # a smaller one stands for a width beyond that of any law


def positive(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    _validate.every(x > 0, f"{name} must be > 0, got {{:g}}", x)
    return x


def level(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    _validate.every((x > 0) & (x < 1), f"{name} must be in (0, 1), got {{:g}}", x)
    return x


def steps(name: str, value: ArrayLike) -> np.ndarray:
    x = _validate.finite_array(name, value)
    whole = (x >= 1) & (x == np.floor(x))
    _validate.every(whole, f"{name} must be a whole number >= 1, got {{:g}}", x)
    _validate.every(x <= _MOST, f"{name} must be at most {_MOST:g}, got {{:g}}", x)
    return x


def checked_problem(value: Problem) -> Problem:
    if not isinstance(value, Problem):
        raise TypeError(f"problem must be a Problem of several arms, got {_validate.shown(value)}")
    return value


def best_by_cvar(problem: Problem, alpha: float | str | Fraction) -> tuple[int, np.ndarray, float]:
    """The one arm of best CVaR, the CVaRs of all, and its lead over the second."""
    cvars = checked_problem(problem).cvars(alpha)
    best = int(np.argmax(cvars))
    lead = float(cvars[best] - np.delete(cvars, best).max())
    if lead <= ZERO:
        raise ValueError(f"problem must have a single arm of best CVaR, got CVaRs {cvars.tolist()}")
    return best, cvars, lead


def checked_law(value: RewardLaw) -> RewardLaw:
    if not isinstance(value, RewardLaw):
        raise TypeError(f"law must be a reward law of marab_lib.arms, got {_validate.shown(value)}")
    return value


def laws(value: Problem | RewardLaw) -> list[RewardLaw]:
    """The laws that hold the arms."""
    if isinstance(value, Problem):
        return value.arms
    if isinstance(value, RewardLaw):
        return [value]
    raise TypeError(
        f"arms must be a Problem or a reward law of marab_lib.arms, got {_validate.shown(value)}"
    )


def constants(own: ArrayLike, A: ArrayLike | None) -> np.ndarray:
    """The lower-mass constants of some arms, or the smaller one that is given instead."""
    own = np.asarray(own)
    if A is None:
        _validate.every(own > 0, "A must be > 0 (eq. 3), got arms of lower-mass constant {:g}", own)
        return own
    given, least = _validate.broadcast(A=_validate.finite_array("A", A), arms=own)
    _validate.every(
        (given >= _LEAST_CONSTANT) & (given <= least * (1 + 1e-9)),
        f"A must be in [{_LEAST_CONSTANT:g}, {{:g}}], at most the lower-mass constant of the arms, "
        "got {:g}",
        least,
        given,
    )
    return given
