"""Criteria by which an arm, or a run, is judged: each a number of a law and of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from . import _validate, risk
from .problems import Problem, cvars

__all__ = [
    "Criterion",
    "cvar",
    "entropic_risk",
    "mean",
    "mean_variance",
    "minimum",
    "rank_dependent_utility",
]


@dataclass(frozen=True)
class Criterion:
    """A number that is to be large, in units of the reward.

    Parameters
    ----------
    name : str
    of_problem : callable
        The criterion of each arm's law, shape (K,), from a `Problem`.
    of_sample : callable
        Its value for the empirical law of a sample, from an array of rewards.
    of_problems : callable, optional
        That of a list of problems with the same number of arms, shape (problems, K), where it is
        found faster for all at once. Default: one problem after the other.

    Examples
    --------
    >>> from marab_lib import problems
    >>> criterion = cvar(0.5)
    >>> criterion.name, criterion.of_problem(problems.stuck()).round(3).tolist()
    ('CVaR 50%', [0.425, 0.35])
    >>> round(criterion.of_sample(np.array([0.1, 0.2, 0.9])), 4)
    0.1333
    """

    name: str
    of_problem: Callable[[Problem], np.ndarray]
    of_sample: Callable[[np.ndarray], float]
    of_problems: Callable[[Sequence[Problem]], np.ndarray] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {_validate.shown(self.name)}")
        for name in ("of_problem", "of_sample", "of_problems"):
            value = getattr(self, name)
            if not callable(value) and (name != "of_problems" or value is not None):
                raise TypeError(f"{name} must be a function, got {_validate.shown(value)}")


def _criterion(
    name: str, of_problem: Callable, of_sample: Callable, of_problems: Callable | None = None
) -> Criterion:
    """A criterion whose first function takes problems alone."""

    def checked(problem: Problem) -> np.ndarray:
        if not isinstance(problem, Problem):
            shown = _validate.shown(problem)
            raise TypeError(f"problem must be a marab_lib.Problem, got {shown}")
        return of_problem(problem)

    return Criterion(name, checked, of_sample, of_problems)


def mean() -> Criterion:
    """Expectation."""
    return _criterion("mean", lambda p: p.means, risk.mean)


def minimum() -> Criterion:
    """Essential infimum; of a sample, its smallest value."""
    return _criterion("minimum", lambda p: p.essential_infima, risk.minimum)


def cvar(alpha: float | str | Fraction) -> Criterion:
    """Conditional value at risk at level alpha in (0, 1)."""
    level = risk.exact_level(alpha)
    return _criterion(
        f"CVaR {100 * float(level):g}%",
        lambda p: p.cvars(level),
        lambda x: risk.cvar(x, level, "split"),
        lambda listed: cvars(listed, level),
    )


def mean_variance(rho: float) -> Criterion:
    """rho mean - variance: the loss of section 2.2 with its sign changed, so that large is good."""
    rho = risk.check_rho(rho)
    return _criterion(
        f"mean-variance (rho = {rho:g})",
        lambda p: -p.mean_variances(rho),
        lambda x: -risk.mean_variance(x, rho),
    )


def entropic_risk(theta: float) -> Criterion:
    """-(1/theta) log E exp(-theta X), with risk aversion theta > 0."""
    theta = _validate.number("theta", theta, 0, open_low=True)
    return _criterion(
        f"entropic (theta = {theta:g})",
        lambda p: p.entropic_risks(theta),
        lambda x: risk.entropic_risk(x, theta),
    )


def rank_dependent_utility(gamma: float = 0.61, exponent: float = 1.0) -> Criterion:
    """Rank-dependent utility with the weighting of Tversky and Kahneman (1992)."""
    gamma, exponent = risk.check_rank_dependence(gamma, exponent)
    shown = f"gamma = {gamma:g}" + (f", exponent = {exponent:g}" if exponent != 1 else "")
    return _criterion(
        f"rank-dependent ({shown})",
        lambda p: p.rank_dependent_utilities(gamma, exponent),
        lambda x: risk.rank_dependent_utility(x, gamma, exponent),
    )
