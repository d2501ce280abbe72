"""Section 2: what the paper says of the algorithms and criteria that it builds on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import arms, policies, problems, regret
from ..simulation.run import simulate
from ..statistics import Estimate

if TYPE_CHECKING:
    import xarray


__all__ = [
    "bernoulli_study",
    "explore_rate_exponent",
    "extra_regret",
    "gap_exponent",
    "lai_robbins_constant",
    "lai_robbins_ratio",
    "maxmin_agreement",
]


def bernoulli_study(
    horizon: int,
    runs: int,
    seed: int,
    means: Sequence[float] = (0.5, 0.45, 0.4, 0.3),
    apply: Callable = list,
) -> xarray.Dataset:
    """Epsilon-greedy, UCB and KL-UCB on Bernoulli arms, with checkpoints at powers of two.

    `apply` may change the options of the policies.
    """
    chosen = [
        policies.EpsilonGreedy(0.1, label="eps-greedy"),
        policies.UCB(np.sqrt(2), label="UCB"),
        policies.KLUCB(label="KL-UCB"),
    ]
    steps = [horizon >> k for k in range(int(np.log2(horizon / 100)), -1, -1)]
    problem = problems.Problem(arms.Bernoulli(list(means)), "Bernoulli")
    return simulate(problem, apply(chosen), horizon, runs, seed, checkpoints=steps)


def _curve(result: xarray.Dataset, policy: str) -> np.ndarray:
    """Theoretical regret: (checkpoint, run)."""
    return result.theoretical_regret.sel(policy=policy).isel(problem=0).values.T


def lai_robbins_constant(means: Sequence[float]) -> float:
    """Least possible limit of R / log t on Bernoulli arms: sum of Delta_i / kl(mu_i, mu*).

    References
    ----------
    Lai and Robbins (1985), Asymptotically efficient adaptive allocation rules.
    """
    from scipy.special import rel_entr

    mu = np.asarray(means, dtype=float)
    best = mu.max()
    worse = mu[mu < best]
    divergence = rel_entr(worse, best) + rel_entr(1 - worse, 1 - best)
    return float(((best - worse) / divergence).sum())


def lai_robbins_ratio(result: xarray.Dataset, policy: str) -> Estimate:
    """Growth of the regret per unit of log t over the last four doublings, over the least one."""
    constant = lai_robbins_constant(result["mean"].values[0])
    return Estimate.bootstrap(
        lambda x: (x[-1] - x[-5]).mean(-1) / (4 * np.log(2) * constant), _curve(result, policy)
    )


def extra_regret(result: xarray.Dataset, one: str, other: str) -> Estimate:
    """Mean final regret of one policy minus that of another on the same tape."""
    return Estimate.mean((_curve(result, one) - _curve(result, other))[-1])


def gap_exponent(
    listed: Sequence[problems.Problem], horizon: int, runs: int, seed: int
) -> Estimate:
    """Exponent in t of the spread of empirical minus theoretical regret: 1/2 for a random walk."""
    result = simulate(
        listed, policies.UCB(), horizon, runs, seed, checkpoints=[horizon // 16, horizon]
    )
    gap = (result.empirical_regret - result.theoretical_regret)[0].stack(all=("problem", "run"))
    early, late = gap.values
    return Estimate.bootstrap(
        lambda x, y: np.log(np.std(y, axis=-1) / np.std(x, axis=-1)) / np.log(16), early, late
    )


def _over_horizons(
    policy: policies.Policy, listed: Sequence[problems.Problem], horizons, runs, seed
) -> np.ndarray:
    """Mean-variance regret over t, at each horizon: (horizon, problem)."""
    rows = []
    for horizon in horizons:
        result = simulate(listed, policy, horizon, runs, seed, checkpoints=1)
        loss = regret.mean_variance_regret(result, listed, policy.rho)
        rows.append(loss.squeeze("policy").mean("run").values / horizon)
    return np.stack(rows)


def _exponent(rates: np.ndarray, horizons: Sequence[int]) -> np.ndarray:
    return np.log(rates[-1].mean(-1) / rates[0].mean(-1)) / np.log(horizons[-1] / horizons[0])


def explore_rate_exponent(
    listed: Sequence[problems.Problem], horizons: Sequence[int], runs: int, seed: int
) -> Estimate:
    """Exponent in T of ExpExp's mean-variance regret per pull; the bound's is -1/3."""
    rates = _over_horizons(policies.ExpExp(1.0), listed, horizons, runs, seed)
    return Estimate.bootstrap(lambda x: _exponent(x, horizons), rates)


def maxmin_agreement(listed: Sequence[problems.Problem], alpha: float) -> Estimate:
    """Share of problems whose arm of best CVaR is that of the largest essential infimum."""
    return Estimate.proportion(
        [p.cvars(alpha).argmax() == p.essential_infima.argmax() for p in listed]
    )
