"""Section 5.1: MIN, UCB and MaRaB on uniform arms (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import policies, problems, regret
from ..simulation.run import simulate
from ..statistics import Estimate, growth_exponent
from .rules import MARGIN, ROOT, Above, Below, Finding, claim, names_of

if TYPE_CHECKING:
    import xarray

    from .evidence import Evidence


__all__ = [
    "EXPONENTS",
    "figure_1",
    "found_by",
    "min_pulls",
    "printed_policies",
    "printed_runs",
    "sensitivity_to_c",
    "stuck_share",
]

EXPONENTS = tuple(range(-6, 4))  # C = 10^i, as printed


def printed_policies(
    exponents: Sequence[int] = EXPONENTS,
    alphas: Sequence[float] = (0.001, 0.01, 0.1, 0.2, 0.3, 0.5),
    **options: Any,
) -> dict[str, list[policies.Policy]]:
    """MIN, UCB and MaRaB with the parameters of figure 1, by title.

    Parameters
    ----------
    exponents : sequence of int
        C = 10**i.
    alphas : sequence of float
        Levels of MaRaB; the paper prints those up to 0.1.
    **options
        Shared options of the policies, such as ``first_pulls``.
    """
    return {
        "MIN": [policies.MIN(label="MIN", **options)],
        "UCB": [policies.UCB(10.0**i, label=f"UCB(C={10.0**i:g})", **options) for i in exponents],
        "MaRaB": [
            policies.MaRaB(a, 10.0**i, label=f"MaRaB({a:g}, {10.0**i:g})", **options)
            for a in alphas
            for i in exponents
        ],
    }


def figure_1(
    problem: problems.Problem,
    chosen: Sequence[policies.Policy],
    horizon: int,
    runs: int,
    seed: int,
    *,
    record: Sequence[str] = (),
) -> xarray.Dataset:
    """Runs of the policies with a checkpoint at every early step and every 20th later one."""
    early = min(60, horizon)
    steps = np.unique(np.r_[np.arange(1, early), np.arange(early, horizon, 20), horizon])
    return simulate(problem, chosen, horizon, runs, seed, checkpoints=steps.tolist(), record=record)


def _final(result: xarray.Dataset, policy: str | Sequence[str]) -> np.ndarray:
    """Theoretical regret at the horizon: (run,), or (policy, run) of several."""
    return result.theoretical_regret.sel(policy=policy).isel(problem=0, checkpoint=-1).values


def printed_runs(e: Evidence) -> xarray.Dataset:
    """All policies of figure 1 at the printed setting."""
    options = {"first_pulls": "descending", **e.interpretation.options}
    chosen = printed_policies(alphas=(0.001, 0.01, 0.1, 0.3), **options)
    listed = [policy for group in chosen.values() for policy in group]
    runs = max(200, 2 * e.n_problems)
    return figure_1(problems.proof_of_concept(), listed, e.horizons[0], runs, e.seed)


def min_pulls(e: Evidence) -> xarray.Dataset:
    """MIN with every single pull."""
    chosen, horizon = e.interpretation.apply(printed_policies()["MIN"]), e.horizons[0]
    problem, runs = problems.proof_of_concept(), 100 * e.runs
    return simulate(problem, chosen, horizon, runs, e.seed, record=("arms",), checkpoints=1)


def found_by(result: xarray.Dataset, step: int, best_arm: int = 0) -> Estimate:
    """Share of MIN's runs that play only the best arm after a step; needs ``arms``."""
    last = regret.last_other_pull(result.sel(policy=["MIN"]), best_arm)
    return Estimate.proportion(last.values <= step)


@claim("5.1 MIN finds", "Section 5.1 and figure 1", printed="50 iterations")
def min_finds(e: Evidence) -> Iterator[Finding]:
    """MIN has found the best arm after 50 iterations."""
    text = "share of runs that play only the best arm after 50"
    yield Finding(text, found_by(e.once(min_pulls), 50), Above(1 - MARGIN))


@claim("5.1 MIN constant", "Section 5.1 and figure 1")
def min_constant(e: Evidence) -> Iterator[Finding]:
    """From then on the regret of MIN is constant."""
    curve = e.once(printed_runs).theoretical_regret.sel(policy="MIN").isel(problem=0)
    growth = Estimate.bootstrap(
        lambda final, early: 1 - early.mean(-1) / final.mean(-1),
        curve.isel(checkpoint=-1).values,
        curve.sel(checkpoint=50, method="ffill").values,
    )
    yield Finding("growth after step 50, as a share of the final regret", growth, Below(MARGIN))


@claim("5.1 UCB logarithmic", "Caption of figure 1")
def ucb_logarithmic(e: Evidence) -> Iterator[Finding]:
    """With a well-tuned C, UCB's regret grows logarithmically."""
    for C in (1e-3, 1e-6):
        (name,) = names_of(e.once(printed_runs), "UCB", C=C)
        exponent = growth_exponent(e.once(printed_runs).theoretical_regret.sel(policy=name))
        text = f"exponent of the regret at {name}, from T/2 to T"
        yield Finding(text, exponent, Below(ROOT))


@claim("5.1 UCB far behind", printed="about 25")
def ucb_far_behind(e: Evidence) -> Iterator[Finding]:
    """UCB is disappointing beside MIN."""
    ratio = Estimate.bootstrap(
        lambda ucb, least: ucb.mean(-1).min() / least.mean(-1),
        _final(e.once(printed_runs), names_of(e.once(printed_runs), "UCB")),
        _final(e.once(printed_runs), "MIN"),
    )
    yield Finding("regret of UCB at its best C over MIN's", ratio, Above(2))


@claim("5.1 MaRaB close", "Section 5.1 and figure 1 (b)")
def marab_close(e: Evidence) -> Iterator[Finding]:
    """MaRaB is close to MIN for all printed C and alpha."""
    for alpha in (0.001, 0.01, 0.1):
        gap = Estimate.bootstrap(
            lambda marab, least: abs(marab.mean(-1) - least.mean(-1)).max() / least.mean(-1),
            _final(e.once(printed_runs), names_of(e.once(printed_runs), "MaRaB", alpha=alpha)),
            _final(e.once(printed_runs), "MIN"),
        )
        text = (
            f"largest distance from MIN over C at alpha = {alpha:.1%}, as a share of MIN's regret"
        )
        yield Finding(text, gap, Below(MARGIN))


def sensitivity_to_c(result: xarray.Dataset, names: Sequence[str]) -> Estimate:
    """Largest over least mean final regret among MaRaB's values of C at one alpha."""
    return Estimate.bootstrap(
        lambda x: x.mean(-1).max() / x.mean(-1).min(), _final(result, list(names))
    )


@claim("5.1 sensitivity low")
def sensitivity_low(e: Evidence) -> Iterator[Finding]:
    """The sensitivity to C increases only slightly for alpha above 20 %."""
    ratio = sensitivity_to_c(
        e.once(printed_runs), names_of(e.once(printed_runs), "MaRaB", alpha=0.3)
    )
    yield Finding("largest over least regret over all C at alpha = 30 %", ratio, Below(2))


def stuck_share(result: xarray.Dataset, policy: str, times: float = 5.0) -> Estimate:
    """Share of runs that end with more than `times` the worst regret of MIN: on a wrong arm."""
    return Estimate.proportion(_final(result, policy) > times * _final(result, "MIN").max())
