"""Section 5.1: MIN, UCB and MaRaB on uniform arms (figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import policies, problems, regret
from ..simulation.run import simulate
from ..statistics import Estimate

if TYPE_CHECKING:
    import xarray


__all__ = [
    "EXPONENTS",
    "figure_1",
    "found_by",
    "growth_after",
    "largest_gap_to_min",
    "printed_policies",
    "ratio_to_min",
    "sensitivity_to_c",
    "stuck_share",
]

EXPONENTS = tuple(range(-6, 4))  # C = 10^i, as printed


def printed_policies(
    exponents: Sequence[int] = EXPONENTS,
    alphas: Sequence[float] = (0.001, 0.01, 0.1, 0.2, 0.3, 0.5),
    **options: str,
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
    return simulate(problem, chosen, horizon, runs, seed, checkpoints=steps, record=record)


def _curve(result: xarray.Dataset, policy: str) -> xarray.DataArray:
    """Theoretical regret of one policy: (run, checkpoint)."""
    return result.theoretical_regret.sel(policy=policy).isel(problem=0)


def _final(result: xarray.Dataset, policy: str) -> np.ndarray:
    return _curve(result, policy).isel(checkpoint=-1).values


def found_by(result: xarray.Dataset, step: int, best_arm: int = 0) -> Estimate:
    """Share of MIN's runs that play only the best arm after a step; needs ``arms``."""
    last = regret.last_other_pull(result.sel(policy=["MIN"]), best_arm)
    return Estimate.proportion(last.values <= step)


def growth_after(result: xarray.Dataset, step: int, policy: str = "MIN") -> Estimate:
    """By what share of its final value the mean regret still grows after a step."""
    curve = _curve(result, policy)
    at = curve.sel(checkpoint=step, method="ffill").values
    return Estimate.bootstrap(
        lambda final, early: 1 - early.mean(-1) / final.mean(-1), _final(result, policy), at
    )


def ratio_to_min(result: xarray.Dataset, names: Sequence[str]) -> Estimate:
    """Least mean final regret among the named policies, over that of MIN."""
    return Estimate.bootstrap(
        lambda others, least: others.mean(-1).min() / least.mean(-1),
        np.stack([_final(result, name) for name in names]),
        _final(result, "MIN"),
    )


def largest_gap_to_min(result: xarray.Dataset, names: Sequence[str]) -> Estimate:
    """Largest difference of a named policy's mean final regret from MIN's, over MIN's."""
    return Estimate.bootstrap(
        lambda others, least: abs(others.mean(-1) - least.mean(-1)).max() / least.mean(-1),
        np.stack([_final(result, name) for name in names]),
        _final(result, "MIN"),
    )


def sensitivity_to_c(result: xarray.Dataset, names: Sequence[str]) -> Estimate:
    """Largest over least mean final regret among MaRaB's values of C at one alpha."""
    return Estimate.bootstrap(
        lambda x: x.mean(-1).max() / x.mean(-1).min(),
        np.stack([_final(result, name) for name in names]),
    )


def stuck_share(result: xarray.Dataset, policy: str, times: float = 5.0) -> Estimate:
    """Share of runs that end with more than `times` the worst regret of MIN: on a wrong arm."""
    return Estimate.proportion(_final(result, policy) > times * _final(result, "MIN").max())
