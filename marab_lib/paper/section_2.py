"""Section 2: what the paper says of the algorithms and criteria that it builds on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import arms, policies, problems, regret
from ..simulation.run import simulate
from ..statistics import Estimate, growth_ratio
from .rules import LINEAR, LOGARITHMIC, Above, Below, Finding, claim, nearer, unchecked

if TYPE_CHECKING:
    import xarray

    from .evidence import Evidence


__all__ = ["bernoulli", "lai_robbins_constant"]


_HORIZON, _MEANS = 25_600, [0.5, 0.45, 0.4, 0.3]


def bernoulli(e: Evidence) -> xarray.Dataset:
    """Epsilon-greedy, UCB and KL-UCB on Bernoulli arms, with checkpoints at powers of two."""
    chosen = [
        policies.EpsilonGreedy(0.1, label="eps-greedy"),
        policies.UCB(np.sqrt(2), label="UCB"),
        policies.KLUCB(label="KL-UCB"),
    ]
    steps = [_HORIZON >> k for k in range(8, -1, -1)]
    problem = problems.Problem(arms.Bernoulli(_MEANS), "Bernoulli")
    return simulate(
        problem, e.interpretation.apply(chosen), _HORIZON, 10 * e.runs, e.seed, checkpoints=steps
    )


def _curve(e: Evidence, policy: str) -> np.ndarray:
    """Theoretical regret: (checkpoint, run)."""
    return e.once(bernoulli).theoretical_regret.sel(policy=policy).isel(problem=0).values.T


_GROWTH = "growth of the regret over two doublings of t, over that before"


def _growth(e: Evidence, policy: str) -> tuple[str, Estimate]:
    return _GROWTH, growth_ratio(e.once(bernoulli).theoretical_regret.sel(policy=policy))


@claim("2.1 eps-greedy linear", of_others=True)
def eps_greedy_linear(e: Evidence) -> Iterator[Finding]:
    """Epsilon-greedy with a constant epsilon suffers a regret that grows linearly."""
    yield Finding(*_growth(e, "eps-greedy"), LINEAR)


def long_runs(e: Evidence) -> xarray.Dataset:
    """UCB for 16 times as long: it needs some 10,000 pulls to tell the two best arms apart."""
    (ucb,) = e.interpretation.apply([policies.UCB(np.sqrt(2), label="UCB")])
    horizon = 16 * _HORIZON
    steps = [horizon // 16, horizon // 4, horizon]
    problem = problems.Problem(arms.Bernoulli(_MEANS), "Bernoulli")
    return simulate(problem, ucb, horizon, 10 * e.runs, e.seed, checkpoints=steps)


@claim("2.1 UCB logarithmic", of_others=True)
def ucb_logarithmic(e: Evidence) -> Iterator[Finding]:
    """The regret of UCB grows logarithmically."""
    yield Finding(_GROWTH, growth_ratio(e.once(long_runs).theoretical_regret[0]), LOGARITHMIC)


@claim("2.1 KL-UCB logarithmic", of_others=True)
def kl_ucb_logarithmic(e: Evidence) -> Iterator[Finding]:
    """The regret of KL-UCB grows logarithmically."""
    yield Finding(*_growth(e, "KL-UCB"), LOGARITHMIC)


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


@claim("2.1 KL-UCB optimal", of_others=True)
def kl_ucb_optimal(e: Evidence) -> Iterator[Finding]:
    """KL-UCB reaches the optimal rate."""
    least = 4 * np.log(2) * lai_robbins_constant(e.once(bernoulli)["mean"].values[0])

    def distance(x: np.ndarray) -> np.ndarray:  # over the last four doublings
        return abs(np.log((x[-1] - x[-5]).mean(-1) / least))

    nearness = Estimate.bootstrap(
        lambda ucb, kl_ucb: distance(ucb) - distance(kl_ucb), _curve(e, "UCB"), _curve(e, "KL-UCB")
    )
    text = (
        "growth per log t, over the least possible (Lai and Robbins): its log is nearer to 0 than "
        "UCB's by"
    )
    yield Finding(text, nearness, Above(0))


@claim("2.1 KL-UCB over UCB", of_others=True)
def kl_ucb_over_ucb(e: Evidence) -> Iterator[Finding]:
    """KL-UCB improves on UCB."""
    extra = Estimate.mean((_curve(e, "UCB") - _curve(e, "KL-UCB"))[-1])
    yield Finding("regret of UCB minus that of KL-UCB, paired", extra, Above(0))


@claim("2.1 regrets apart")
def regrets_apart(e: Evidence) -> Iterator[Finding]:
    """Theoretical and empirical regret differ by no more than the order of log t."""
    horizon = e.horizons[1]
    result = simulate(
        e.problems[:50], policies.UCB(), horizon, 10, e.seed, checkpoints=[horizon // 16, horizon]
    )
    gap = (result.empirical_regret - result.theoretical_regret)[0].stack(all=("problem", "run"))
    exponent = Estimate.bootstrap(  # 1/2 for a random walk
        lambda early, late: np.log(np.std(late, axis=-1) / np.std(early, axis=-1)) / np.log(16),
        *gap.values,
    )
    text = "exponent in t of the spread of the difference (0: log t, 1/2: root t)"
    yield Finding(text, exponent, nearer(0, 0.5))


@claim("2.2 CVaR to max-min", of_others=True)
def cvar_to_maxmin(e: Evidence) -> Iterator[Finding]:
    """As alpha goes to 0, maximising the CVaR becomes the max-min choice."""
    listed = e.problems[:1000]
    safest = np.array([p.essential_infima.argmax() for p in listed])
    early, late = (problems.cvars(listed, alpha).argmax(axis=1) == safest for alpha in (1e-4, 1e-8))
    text = "share of problems where CVaR at {} and max-min choose one arm"
    yield Finding(text.format("1e-08"), Estimate.proportion(late), nearer(1, 0))
    more = Estimate.mean(late.astype(float) - early)
    yield Finding(text.format("1e-08") + ", less that at 1e-04", more, Above(0))


mv_lcb_rate = unchecked(
    "2.2 MV-LCB rate",
    "Section 2.2",
    "MV-LCB's mean-variance regret per pull falls like log(t)^2 / t.",
    reason="an asymptotic bound: at any horizon in reach the bonus is larger than the gaps",
    of_others=True,
)


@claim("2.2 ExpExp rate", of_others=True)
def exp_exp_rate(e: Evidence) -> Iterator[Finding]:
    """ExpExp's mean-variance regret per pull falls at least like T^(-1/3)."""
    policy, listed, horizons = policies.ExpExp(1.0), e.problems[:100], (4000, 64_000)
    rates = []
    for horizon in horizons:
        result = simulate(listed, policy, horizon, 2, e.seed, checkpoints=1)
        loss = regret.mean_variance_regret(result, listed, policy.rho)
        rates.append(loss.squeeze("policy").mean("run").values / horizon)
    exponent = Estimate.bootstrap(
        lambda x: np.log(x[-1].mean(-1) / x[0].mean(-1)) / np.log(horizons[-1] / horizons[0]),
        np.stack(rates),
    )
    yield Finding("exponent in T of the mean-variance regret per pull", exponent, Below(-1 / 3))
