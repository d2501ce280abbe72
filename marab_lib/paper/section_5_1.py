"""Section 5.1: MIN, UCB and MaRaB on uniform arms (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import policies, problems, regret
from .._rounding import first_least
from ..simulation.run import simulate
from ..statistics import Estimate, growth_ratio
from ..work.store import shared_store
from . import data
from .rules import LOGARITHMIC, Above, Below, Finding, claim, names_of, nearer

if TYPE_CHECKING:
    import xarray

    from .evidence import Evidence


__all__ = [
    "EXPONENTS",
    "figure_1",
    "found_by",
    "marab_ends",
    "min_pulls",
    "printed_ends",
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


def _printed_setting(e: Evidence) -> tuple[dict[str, list[policies.Policy]], int]:
    options = {"first_pulls": "descending", **e.interpretation.options_of("")}
    chosen = printed_policies(alphas=(0.001, 0.01, 0.1, 0.3), **options)
    return chosen, max(200, e.n_problems // 4)


def printed_runs(e: Evidence) -> xarray.Dataset:
    """MIN and UCB of figure 1 at the printed setting."""
    chosen, runs = _printed_setting(e)
    listed = chosen["MIN"] + chosen["UCB"]
    return figure_1(problems.proof_of_concept(), listed, e.horizons[0], runs, e.seed)


def marab_ends(
    problem: problems.Problem,
    chosen: Sequence[policies.Policy],
    horizon: int,
    runs: int,
    seed: int,
) -> xarray.Dataset:
    """MaRaB of figure 1 at the horizon only: what notebooks 06 and 10 both need, played once."""
    return simulate(problem, chosen, horizon, runs, seed, checkpoints=1, store=shared_store())


def printed_ends(e: Evidence) -> xarray.Dataset:
    """MaRaB of figure 1 at the printed setting, at the horizon."""
    chosen, runs = _printed_setting(e)
    problem = problems.proof_of_concept()
    return marab_ends(problem, chosen["MaRaB"], e.horizons[0], runs, e.seed)


def min_pulls(e: Evidence) -> xarray.Dataset:
    """MIN with every single pull."""
    chosen, horizon = e.interpretation.apply(printed_policies()["MIN"]), e.horizons[0]
    problem, runs = problems.proof_of_concept(), 100 * e.runs
    return simulate(problem, chosen, horizon, runs, e.seed, record=("arms",), checkpoints=1)


def found_by(result: xarray.Dataset, step: int, best_arm: int = 0) -> Estimate:
    """Share of MIN's runs that play only the best arm after a step; needs ``arms``."""
    last = regret.last_other_pull(result.sel(policy=["MIN"]), best_arm)
    return Estimate.proportion(last.values <= step)


def printed_end(panel: str, policy: str, step: int = 2000, **parameters: float) -> float:
    """Regret of a printed curve at a step."""
    curves = data.published_curves(1, panel)
    chosen = curves["policy"] == policy
    for name, value in parameters.items():
        chosen &= curves[name] == value
    return float(np.interp(step, curves.loc[chosen, "x"], curves.loc[chosen, "y"]))


@claim("5.1 MIN finds", "Section 5.1 and figure 1", printed="50 iterations")
def min_finds(e: Evidence) -> Iterator[Finding]:
    """MIN has found the best arm after 50 iterations."""
    text = "share of runs that play only the best arm after 50"
    yield Finding(text, found_by(e.once(min_pulls), 50), nearer(1, 0))
    curve = e.once(printed_runs).theoretical_regret.sel(policy="MIN").isel(problem=0)
    share = Estimate.bootstrap(
        lambda early, final: early.mean(-1) / final.mean(-1),
        curve.sel(checkpoint=50, method="ffill").values,
        curve.isel(checkpoint=-1).values,
    )
    printed = printed_end("a", "MIN", 50) / printed_end("a", "MIN")
    text = "regret at 50 over the final one (limit: the printed curve of panel (a))"
    yield Finding(text, share, Above(printed), printed)


@claim("5.1 MIN constant", "Section 5.1 and figure 1")
def min_constant(e: Evidence) -> Iterator[Finding]:
    """From then on the regret of MIN is constant."""
    curve = e.once(printed_runs).theoretical_regret.sel(policy="MIN").isel(problem=0)
    at = curve.sel(checkpoint=[20, 50], method="ffill")
    logs = np.log(int(curve.checkpoint[-1]) / 50) / np.log(50 / 20)
    growth = Estimate.bootstrap(
        lambda first, early, final: (
            (final.mean(-1) - early.mean(-1)) / (early.mean(-1) - first.mean(-1)) / logs
        ),
        *at.transpose("checkpoint", "run").values,
        curve.isel(checkpoint=-1).values,
    )
    text = "growth per log t after step 50, over that from 20 to 50 (0: constant, 1: like log t)"
    yield Finding(text, growth, nearer(0, 1))


def tuned_ucb(e: Evidence) -> str:
    """Name of UCB with the C of least regret in other runs."""
    options = {"first_pulls": "descending", **e.interpretation.options_of("")}
    listed = printed_policies(**options)["UCB"]
    runs = figure_1(problems.proof_of_concept(), listed, e.horizons[0], 200, e.seed + 1)
    names = [policy.name for policy in listed]
    return names[int(first_least(_final(runs, names).mean(axis=-1)))]


def _final_of_ucb(e: Evidence) -> np.ndarray:
    return _final(e.once(printed_runs), e.once(tuned_ucb))


@claim("5.1 UCB logarithmic", "Caption of figure 1")
def ucb_logarithmic(e: Evidence) -> Iterator[Finding]:
    """With a well-tuned C, UCB's regret grows logarithmically."""
    name = e.once(tuned_ucb)
    ratio = growth_ratio(e.once(printed_runs).theoretical_regret.sel(policy=name))
    early, middle, late = (printed_end("a", "UCB", t, C=1e-3) for t in (125, 500, 2000))
    text = f"growth of the regret of {name} over two doublings of t, over that before"
    yield Finding(text, ratio, LOGARITHMIC, (late - middle) / (middle - early))


@claim("5.1 UCB far behind", printed="about 25")
def ucb_far_behind(e: Evidence) -> Iterator[Finding]:
    """UCB is disappointing beside MIN."""
    ratio = Estimate.bootstrap(
        lambda ucb, least: ucb.mean(-1) / least.mean(-1),
        e.once(_final_of_ucb),
        _final(e.once(printed_runs), "MIN"),
    )
    printed = printed_end("a", "UCB", C=1e-6) / printed_end("a", "MIN")
    text = f"regret of {e.once(tuned_ucb)} over MIN's"
    yield Finding(text, ratio, nearer(printed, 1, ratio=True), printed)


@claim("5.1 MaRaB close", "Section 5.1 and figure 1 (b)")
def marab_close(e: Evidence) -> Iterator[Finding]:
    """MaRaB is close to MIN for all printed C and alpha."""
    printed_min = printed_end("b", "MIN")
    printed = max(
        abs(printed_end("b", "MaRaB", C=C, alpha=alpha) / printed_min - 1)
        for C in (1e-6, 1e3)
        for alpha in (0.001, 0.01, 0.1)
    )
    least = _final(e.once(printed_runs), "MIN")
    for alpha in (0.001, 0.01, 0.1):
        marab = _final(e.once(printed_ends), names_of(e.once(printed_ends), "MaRaB", alpha=alpha))

        def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return abs(x.mean(-1) - y.mean(-1)).max(0) / y.mean(-1)

        gap = Estimate.bootstrap(distance, marab, least)
        text = f"largest distance from MIN over C at alpha = {alpha:.1%}, over MIN's regret"
        yield Finding(f"{text} (limit: the largest printed)", gap, Below(printed), printed)
        apart = Estimate.bootstrap(
            lambda x, y, ucb, distance=distance: distance(x, y) - distance(ucb[None], y),
            marab, least, e.once(_final_of_ucb),
        )  # fmt: skip
        yield Finding(f"{text}, less UCB's at its best C", apart, Below(0))


def sensitivity_to_c(result: xarray.Dataset, names: Sequence[str]) -> Estimate:
    """Largest over least mean final regret among MaRaB's values of C at one alpha."""
    return Estimate.bootstrap(
        lambda x: x.mean(-1).max(0) / x.mean(-1).min(0), _final(result, list(names))
    )


@claim("5.1 sensitivity low")
def sensitivity_low(e: Evidence) -> Iterator[Finding]:
    """The sensitivity to C increases only slightly for alpha above 20 %."""
    result = e.once(printed_ends)
    low, high = (_final(result, names_of(result, "MaRaB", alpha=alpha)) for alpha in (0.1, 0.3))
    ucb = _final(e.once(printed_runs), names_of(e.once(printed_runs), "UCB"))

    def apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        spread = [np.log(z.mean(-1).max(0) / z.mean(-1).min(0)) for z in (x, y)]
        return np.exp(spread[0] - spread[1])

    text = "largest over least regret over all C at alpha = 30 %, over"
    yield Finding(f"{text} that at 10 %", Estimate.bootstrap(apart, high, low), Above(1))
    yield Finding(f"{text} UCB's", Estimate.bootstrap(apart, high, ucb), Below(1))


def stuck_share(result: xarray.Dataset, policy: str, times: float = 5.0) -> Estimate:
    """Share of runs that end with more than `times` the worst regret of MIN: on a wrong arm."""
    return Estimate.proportion(_final(result, policy) > times * _final(result, "MIN").max())
