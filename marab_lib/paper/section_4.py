"""Section 4: the lemmas, propositions and remarks on MIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import arms, bounds, policies, problems
from .._rounding import first_least
from ..simulation.run import simulate
from ..statistics import Estimate, growth_ratio
from .rules import LINEAR, LOGARITHMIC, Above, Below, Finding, claim, nearer

if TYPE_CHECKING:
    import xarray

    from .evidence import Evidence


__all__ = [
    "aligned",
    "aligned_runs",
    "bound_over_mean",
    "favourable",
    "favourable_runs",
    "min_runs",
    "violation_rate",
]

_T = (1, 2, 5, 10, 20, 50, 100, 200)
_EPS = (0.01, 0.02, 0.05, 0.1, 0.2)
_EXCESS = "largest excess of the probability over the bound, exact"


@claim("4 Lemma 4.1", "Lemma 4.1, eq. 4")
def lemma_4_1(e: Evidence) -> Iterator[Finding]:
    """P(minimum of t rewards >= a + eps) <= exp(-t A eps)."""
    excess = [
        bounds.minimum_exceedance(law, t, eps) - bounds.lemma_4_1(law, t, eps)
        for law in (arms.Uniform(0.2, 0.9), arms.Beta(0.5, 1.0), *e.problems[0].arms[:5])
        for t in _T
        for eps in _EPS
        if eps * law.lower_mass_constant <= 1
    ]
    yield Finding(_EXCESS, Estimate.exact(max(map(float, excess))), Below(0))


@claim("4 minimum faster", "After Lemma 4.1")
def minimum_faster(e: Evidence) -> Iterator[Finding]:
    """The minimum converges faster than the mean."""
    sizes = [50, 100, 200, 400, 800]
    law = arms.Uniform(0, 1)
    sample = np.stack([law.sample(max(sizes), e.seed, run=r) for r in range(400)])
    logs = np.log(np.asarray(sizes, dtype=float))

    def slope(errors: np.ndarray) -> np.ndarray:
        return np.polyfit(logs, np.log(errors.mean(axis=-1)), 1)[0]

    low = np.stack([sample[:, :t].min(axis=1) - law.essential_infimum for t in sizes])
    middle = np.stack([abs(sample[:, :t].mean(axis=1) - law.mean) for t in sizes])
    exponent = Estimate.bootstrap(slope, low, resamples=500)
    yield Finding("exponent in t of the minimum's error", exponent, nearer(-1, -0.5))
    apart = Estimate.bootstrap(lambda x, y: slope(x) - slope(y), low, middle, resamples=500)
    yield Finding("exponent of the minimum's error less that of the mean's", apart, Below(0))


@claim("4 Lemma 4.2", "Lemma 4.2, eq. 5")
def lemma_4_2(e: Evidence) -> Iterator[Finding]:
    """P(some arm's minimum >= a_i + eps) <= K exp(-t A eps)."""
    excess = [
        bounds.lemma_4_2_exact(problem, t, eps) - bounds.lemma_4_2(problem, t, eps)
        for problem in e.once(aligned)[:10]
        for t in _T
        for eps in _EPS
        if eps * problem.lower_mass_constants.min() <= 1
    ]
    yield Finding(_EXCESS, Estimate.exact(max(map(float, excess))), Below(0))


def min_runs(
    listed: Sequence[problems.Problem], horizon: int, runs: int, seed: int, policy: policies.Policy
) -> xarray.Dataset:
    """Runs of MIN with checkpoints at powers of two and at the horizon."""
    steps = [horizon >> k for k in range(5, -1, -1)]
    return simulate(listed, policy, horizon, runs, seed, checkpoints=steps)


def aligned(e: Evidence) -> list[problems.Problem]:
    """Problems that meet the assumptions of Prop. 4.3."""
    return problems.aligned_uniform(60, e.seed)


def aligned_runs(e: Evidence) -> xarray.Dataset:
    """MIN on them."""
    (policy,) = e.interpretation.apply([policies.MIN()])
    return min_runs(e.once(aligned), 4000, 2 * e.runs, e.seed, policy)


def favourable(e: Evidence) -> list[problems.Problem]:
    """Problems that meet those of Prop. 4.4, inside [0, 1]."""
    return [
        problems.proof_of_concept(delta_max=d, r_max=0.499 - d) for d in (0.001, 0.01, 0.1, 0.25)
    ]


def favourable_runs(e: Evidence) -> xarray.Dataset:
    """MIN on them."""
    (policy,) = e.interpretation.apply([policies.MIN()])
    return min_runs(e.once(favourable), 4000, 10 * e.runs, e.seed, policy)


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


_ABOVE = "share of runs above the bound at delta = 0.05"
_RATIO = "least ratio of bound to mean regret"


@claim("4 Prop. 4.3, probability", "Prop. 4.3, eq. 6", printed="at most delta")
def prop_4_3_probability(e: Evidence) -> Iterator[Finding]:
    """With probability 1 - delta the regret of MIN is below the bound."""
    yield Finding(_ABOVE, violation_rate(e.once(aligned_runs), e.once(aligned), 0.05), Below(0.05))


@claim("4 Prop. 4.3, expectation", "Prop. 4.3, eq. 7")
def prop_4_3_expectation(e: Evidence) -> Iterator[Finding]:
    """In expectation the regret of MIN is below the bound, for t large enough."""
    yield Finding(_RATIO, bound_over_mean(e.once(aligned_runs), e.once(aligned)), Above(1))


@claim("4 MIN logarithmic", "Sections 4 and 6")
def min_logarithmic(e: Evidence) -> Iterator[Finding]:
    """MIN achieves a regret that is at most logarithmic."""
    ratio = growth_ratio(e.once(aligned_runs).theoretical_regret.isel(policy=0))
    text = "growth of MIN's regret over two doublings of t, over that before"
    yield Finding(text, ratio, LOGARITHMIC)


@claim("4 Prop. 4.4, probability", "Prop. 4.4", printed="at most delta")
def prop_4_4_probability(e: Evidence) -> Iterator[Finding]:
    """With margins Delta_mu <= Delta_a the bound needs no ratio of margins."""
    share = violation_rate(e.once(favourable_runs), e.once(favourable), 0.05, bounds.prop_4_4)
    yield Finding(_ABOVE, share, Below(0.05))


@claim("4 Prop. 4.4, expectation", "Prop. 4.4, eq. 13")
def prop_4_4_expectation(e: Evidence) -> Iterator[Finding]:
    """The same in expectation."""
    ratio = bound_over_mean(
        e.once(favourable_runs),
        e.once(favourable),
        bounds.prop_4_4_expectation,
        bounds.prop_4_4_least_t,
    )
    yield Finding(_RATIO, ratio, Above(1))


@claim("4 MIN over UCB", "Discussion of section 4")
def min_over_ucb(e: Evidence) -> Iterator[Finding]:
    """MIN may do better than UCB if the mean margins are small and A is not (tested at A near 1;
    notebook 04 has cases against it at A <= 0.5).
    """
    for delta in (0.01, 0.1):
        problem = problems.proof_of_concept(delta_max=delta, r_max=0.499 - delta)
        for C in (0.1, 2**0.5):
            both = [policies.UCB(C), policies.MIN()]
            result = simulate(problem, both, e.horizons[1], 5 * e.runs, e.seed)
            ucb, least = result.theoretical_regret.isel(problem=0, checkpoint=-1).values
            text = f"regret of UCB (C = {C:.3g}) minus MIN's, largest margin {delta:g}"
            yield Finding(text, Estimate.mean(ucb - least), Above(0))


@claim("4 conflict", "Discussion of section 4")
def conflict(e: Evidence) -> Iterator[Finding]:
    """Where some mean margin exceeds the minimum margin, safety and regret probably conflict."""
    apart = [problems.Problem(arms.Uniform([0.3, 0.0], [0.5, 1.0]))]
    steep = [p for p in e.once(aligned) if (p.mean_gaps > p.minimum_gaps).any()]
    for listed, where in (
        (apart, "the best arms differ"),
        (steep, "they agree but some mean margin is larger"),
    ):
        result = min_runs(listed, e.horizons[1], e.runs, e.seed, policies.MIN())
        ratio = growth_ratio(result.theoretical_regret.isel(policy=0))
        text = "growth of MIN's regret over two doublings of t, over that before, where"
        yield Finding(f"{text} {where}", ratio, LINEAR)
