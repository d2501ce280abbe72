"""Section 4: the lemmas, propositions and remarks on MIN, as estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import bounds, policies, problems
from .._rounding import first_least
from ..arms import RewardLaw
from ..simulation.run import simulate
from ..statistics import Estimate, growth_exponent

if TYPE_CHECKING:
    import xarray


__all__ = [
    "bound_over_mean",
    "error_exponents",
    "lemma_4_1_excess",
    "lemma_4_2_excess",
    "min_growth",
    "min_runs",
    "min_wins",
    "printed_condition_failures",
    "violation_rate",
]

_T = (1, 2, 5, 10, 20, 50, 100, 200)
_EPS = (0.01, 0.02, 0.05, 0.1, 0.2)


def lemma_4_1_excess(laws: Sequence[RewardLaw]) -> Estimate:
    """Largest P(min >= a + eps) - exp(-t A eps) on a grid with eps <= 1/A; exact."""
    excess = [
        bounds.minimum_exceedance(law, t, e) - bounds.lemma_4_1(law, t, e)
        for law in laws
        for t in _T
        for e in _EPS
        if e * law.lower_mass_constant <= 1
    ]
    return Estimate.exact(np.max(excess))


def lemma_4_2_excess(listed: Sequence[problems.Problem]) -> Estimate:
    """Largest P(some minimum >= a_i + eps) - K exp(-t A eps) over the problems; exact."""
    excess = []
    for problem in listed:
        A = problem.lower_mass_constants.min()
        for t in _T:
            for e in (e for e in _EPS if e * A <= 1):
                exact = bounds.lemma_4_2_exact(problem, t, e)
                excess.append(exact - bounds.lemma_4_2(problem, t, e))
    return Estimate.exact(np.max(excess))


def error_exponents(law: RewardLaw, sizes: Sequence[int], runs: int, seed: int) -> list[Estimate]:
    """Slopes of log(error) against log(t), of the minimum (-1) and of the mean (-1/2)."""
    sample = np.stack([law.sample(max(sizes), seed, run=r) for r in range(runs)])
    logs = np.log(np.asarray(sizes, dtype=float))

    def slope(errors: np.ndarray) -> float:
        return float(np.polyfit(logs, np.log(errors.mean(axis=-1)), 1)[0])

    low = np.stack([sample[:, :t].min(axis=1) - law.essential_infimum for t in sizes])
    middle = np.stack([abs(sample[:, :t].mean(axis=1) - law.mean) for t in sizes])
    return [Estimate.bootstrap(slope, errors, resamples=500) for errors in (low, middle)]


def min_runs(
    listed: Sequence[problems.Problem],
    horizon: int,
    runs: int,
    seed: int,
    apply: Callable = list,
) -> xarray.Dataset:
    """Runs of MIN with checkpoints at powers of two and at the horizon.

    `apply` may change the options of the policy.
    """
    steps = [horizon >> k for k in range(5, -1, -1)]
    return simulate(listed, apply([policies.MIN()]), horizon, runs, seed, checkpoints=steps)


def _final(result: xarray.Dataset) -> np.ndarray:
    """Theoretical regret at the horizon: (problem, run)."""
    return result.theoretical_regret.isel(policy=0, checkpoint=-1).values


def violation_rate(
    result: xarray.Dataset, listed: Sequence[problems.Problem], delta: float, bound=bounds.prop_4_3
) -> Estimate:
    """Share of runs whose regret is above the bound that holds with probability 1 - delta."""
    t = int(result.attrs["horizon"])
    limits = np.array([bound(problem, t, delta) for problem in listed])
    return Estimate.proportion(_final(result) > limits[:, None])


def bound_over_mean(
    result: xarray.Dataset,
    listed: Sequence[problems.Problem],
    bound=bounds.prop_4_3_expectation,
    least_t=bounds.prop_4_3_least_t,
) -> Estimate:
    """Least ratio, over the problems, of the bound in expectation to the mean regret.

    Problems for which the horizon is too short for the bound are left out. The interval is that of
    the problem of least ratio.
    """
    t = int(result.attrs["horizon"])
    kept = [j for j, p in enumerate(listed) if t > least_t(p)]
    limits = np.array([bound(listed[j], t) for j in kept])
    final = _final(result)[kept]
    worst = int(first_least(limits / final.mean(axis=1)))
    return Estimate.bootstrap(lambda x: limits[worst] / x.mean(-1), final[worst])


def printed_condition_failures(problem: problems.Problem, least: int) -> Estimate:
    """Steps t that the printed condition admits and at which the bound is below the regret.

    At `least`, the first step of interest, MIN has paid at least for one pull of each arm.
    """
    first = max(least, int(np.ceil(bounds.prop_4_3_least_t(problem, condition="printed"))))
    last = int(bounds.prop_4_3_least_t(problem, condition="proof"))
    steps = np.arange(first, max(first, last))
    if not steps.size:
        return Estimate.exact(0)
    limits = bounds.prop_4_3_expectation(problem, steps, condition="printed")
    return Estimate.exact(np.sum(np.asarray(limits) < problem.mean_gaps.sum()))


def min_wins(problem: problems.Problem, horizon: int, runs: int, seed: int, C: float) -> Estimate:
    """Mean regret of UCB minus that of MIN on the same tape; above 0 where MIN wins."""
    result = simulate(problem, [policies.UCB(C), policies.MIN()], horizon, runs, seed)
    final = result.theoretical_regret.isel(problem=0, checkpoint=-1).values
    return Estimate.mean(final[0] - final[1])


def min_growth(listed: Sequence[problems.Problem], horizon: int, runs: int, seed: int) -> Estimate:
    """Growth exponent of MIN's regret: 1 where its arm is not the best in the mean."""
    result = min_runs(listed, horizon, runs, seed)
    return growth_exponent(result.theoretical_regret.isel(policy=0))
