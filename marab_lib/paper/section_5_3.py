"""Section 5.3: figure 4 on the energy problem, and what an operator would pay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate, policies, risk
from .._rounding import first_least
from ..simulation.run import simulate
from ..statistics import LEVEL, draws, percentile_interval, student_half_width
from . import battery, data
from .battery import RewardTable
from .evidence import Evidence
from .rules import (
    Above,
    Below,
    Between,
    Finding,
    Findings,
    Resamples,
    Rule,
    claim,
    names_of,
    nearer,
    unchecked,
)

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "READINGS",
    "Energy",
    "bend",
    "bills",
    "energy",
    "figure_4_policies",
    "lower_tails",
    "printed_regrets",
    "regrets",
    "statements",
]


READINGS = ("optimistic", "pessimistic", "printed")  # of MV-LCB


def figure_4_policies() -> list[policies.Policy]:
    """The policies of figure 4, with MV-LCB in each of its three readings.

    Examples
    --------
    >>> len(figure_4_policies())
    26
    """
    rhos = (1, 2, 5, 10)
    return [
        *(policies.UCB(C) for C in (1e-6, 1e-3, 1.0, 10.0, 1e3)),
        *(policies.MVLCB(rho, bonus=bonus) for bonus in READINGS for rho in rhos),
        *(policies.ExpExp(rho) for rho in rhos),
        *(policies.MaRaB(alpha, C) for alpha in (0.001, 0.1) for C in (1e-6, 1e3)),
        policies.MIN(),
    ]


def printed_regrets(folder: str | os.PathLike | None = None) -> pandas.Series:
    """Regret at the right end of each curve of the printed figure 4 (iteration 1,998), by policy.

    The paper does not say which reading of MV-LCB it shows; its curves go by "MV-LCB(rho=...)".
    The reading error is 0.02.

    Examples
    --------
    >>> print(printed_regrets()["UCB(C=1000)"].round(1))
    31.1
    """
    curves = data.read_csv("published_curves.csv", folder)
    curves = curves[(curves["figure"] == 4) & curves["panel"].str.endswith("regret")]
    ends = curves.drop_duplicates(["policy", "alpha", "C", "rho"], keep="last")
    name = {
        "UCB": lambda row: policies.UCB(row.C).name,
        "MV-LCB": lambda row: policies.MVLCB(row.rho).name,
        "ExpExp": lambda row: policies.ExpExp(row.rho).name,
        "MaRaB": lambda row: policies.MaRaB(row.alpha, row.C).name,
        "MIN": lambda row: policies.MIN().name,
    }
    names = [name[row.policy](row) for row in ends.itertuples()]
    return ends.set_axis(names)["y"].rename("paper")


def regrets(result: xarray.Dataset, kind: str = "empirical") -> xarray.DataArray:
    """Cumulative regret at the horizon, in units of the reward: (policy, run).

    Parameters
    ----------
    result : Dataset
        Of `simulate` on one problem.
    kind : {"empirical", "theoretical"}
    """
    _validate.choice("kind", kind, ("empirical", "theoretical"))
    if result.sizes["problem"] != 1:
        raise ValueError(f"result must hold one problem, got {result.sizes['problem']}")
    return result[f"{kind}_regret"].isel(problem=0, checkpoint=-1, drop=True)


def lower_tails(result: xarray.Dataset, alpha: float = 0.1) -> xarray.DataArray:
    """Mean of the lowest share alpha of the rewards gathered in each run: (policy, run).

    Raises
    ------
    ValueError
        If the rewards were not recorded, or alpha is outside (0, 1).
    """
    rewards = _recorded(result, "rewards")
    return rewards[..., 0].copy(data=risk.cvar(rewards.values, alpha)).drop_vars("step")


def _recorded(result: xarray.Dataset, name: str) -> xarray.DataArray:
    if name not in result:
        raise ValueError(f"result must hold the {name}: simulate with record=({name!r},)")
    return result[name].isel(problem=0, drop=True)


def bend(steps: ArrayLike, curves: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a curve bends: the least-squares fit of two lines that meet.

    Parameters
    ----------
    steps : array_like, shape (n,)
        Increasing, n >= 5.
    curves : array_like, shape (..., n)

    Returns
    -------
    at, before, after : ndarray, shape (...)
        Step at which the lines meet (one of `steps`), and the two slopes.

    Examples
    --------
    >>> at, before, after = bend(np.arange(10), np.minimum(np.arange(10), 4))
    >>> int(at), round(float(before), 6), abs(round(float(after), 6))
    (4, 1.0, 0.0)
    """
    steps, curves = _validate.finite_array("steps", steps), _validate.finite_array("curves", curves)
    if steps.ndim != 1 or steps.size < 5 or not (np.diff(steps) > 0).all():
        raise ValueError(f"steps must be at least 5 increasing numbers, got {steps}")
    flat = curves.reshape(-1, steps.size).T
    knots = steps[1:-1, None]
    terms = [np.ones((knots.size, steps.size)), np.minimum(steps, knots), np.maximum(steps, knots)]
    q, r = np.linalg.qr(np.stack(terms, axis=-1))
    parts = q.transpose(0, 2, 1) @ flat  # (knot, term, curve)
    explained = (parts**2).sum(axis=1)  # most explained is least squares left
    best = first_least(-explained, tolerance=1e-12)
    fits = np.linalg.solve(r[best], parts[best, :, np.arange(best.size)][..., None])[..., 0]
    shape = curves.shape[:-1]
    at, before, after = (x.reshape(shape) for x in (knots[best, 0], fits[:, 1], fits[:, 2]))
    return at, before, after


def _compared(result: xarray.Dataset, mv_lcb: str) -> list[str]:
    """Names of the policies of figure 4 with one reading of MV-LCB, if the result has them."""
    chosen = (p for p in figure_4_policies() if getattr(p, "bonus", mv_lcb) == mv_lcb)
    wanted = [policy.name for policy in chosen]
    held = set(result["policy"].values.tolist())
    for name in wanted:
        if name not in held:
            raise ValueError(f"result must hold the policies of figure 4, but {name!r} is missing")
    return wanted


class Energy:
    """Means over the runs, and over resamples of the runs that all policies share.

    The rewards come from one tape, so the runs are resampled for all policies at once: every
    difference is a paired one. The parameters are those of `statements`.
    """

    def __init__(
        self,
        result: xarray.Dataset,
        *,
        mv_lcb: str = "optimistic",
        kind: str = "empirical",
        alpha: float = 0.1,
        confidence: float = LEVEL,
        resamples: int = 2000,
        seed: int = 0,
    ) -> None:
        _validate.choice("mv_lcb", mv_lcb, READINGS)
        names = _compared(result, mv_lcb)
        runs = result.sizes["run"]
        if runs < 2:
            raise ValueError(f"result must hold at least 2 runs for an interval, got {runs}")
        self.draws = Resamples(runs, confidence, resamples, seed)
        self.policies = result.policy.sel(policy=names)  # with their parameters
        self.steps = result["checkpoint"].values
        self.tau = policies.ExpExp().parameters(result.sizes["arm"], result.attrs["horizon"])[1]
        # (policy, 1 + resamples)
        self.regret = self.draws.mean(regrets(result, kind).sel(policy=names).values)
        self.tail = self.draws.mean(lower_tails(result, alpha).sel(policy=names).values)
        arms = _recorded(result, "arms").sel(policy=names)
        same = (arms == arms.sel(policy="MIN")).mean("step")
        self.same = self.draws.mean(same.values)  # share of the pulls on which it plays as MIN
        # (1 + resamples, checkpoint), the mean regret curve of ExpExp
        exploring = names_of(self.policies, "ExpExp")
        curves = result[f"{kind}_regret"].isel(problem=0).sel(policy=exploring).mean("policy")
        self.curves = self.draws.mean(curves.values.T).T

        self.ucb, self.mv_lcb, self.marab = map(self.of, ("UCB", "MV-LCB", "MaRaB"))
        self.uniform = self.regret[self.of("UCB", C=1e3)][0]
        self.ucb_regret = self.regret[self.ucb].min(axis=0)

    def of(self, title: str, **parameters: float) -> np.ndarray:
        """Which policies have a title and given parameters."""
        return self.policies.isin(names_of(self.policies, title, **parameters)).values

    def best(self, title: str) -> tuple[np.ndarray, np.ndarray]:
        """Least regret and highest lower tail over the settings of one policy."""
        mine = self.of(title)
        return self.regret[mine].min(axis=0), self.tail[mine].max(axis=0)

    def marab_over_ucb(self) -> np.ndarray:
        """Lower tails of MaRaB's settings, less that of UCB at the C of least regret."""
        best = first_least(self.regret[self.ucb])[None]
        return self.tail[self.marab] - np.take_along_axis(self.tail[self.ucb], best, axis=0)

    def finding(self, key: str, text: str, values: np.ndarray, rule: Rule, **more: Any) -> Finding:
        """See `Resamples.finding`."""
        return self.draws.finding(key, text, values, rule, **more)


def energy(e: Evidence) -> Energy:
    """Of the policies of figure 4."""
    shared = e.interpretation.options_of("")
    listed = [replace(policy, label=policy.name, **shared) for policy in figure_4_policies()]
    result = simulate(
        battery.problem(), listed, e.horizons[0], 20 * e.runs, e.seed,
        record=("rewards", "arms"), checkpoints=50,
    )  # fmt: skip
    return Energy(result, mv_lcb=e.interpretation.options_of("MV-LCB").get("bonus", "optimistic"))


@claim("5.3 UCB least")
def ucb_least(e: Evidence) -> Iterator[Finding]:
    """UCB at its best C has the least regret."""
    s = e.once(energy)
    lead = s.regret[~s.ucb].min(axis=0) - s.ucb_regret
    text = "least regret of all others - UCB's at its best C"
    yield s.finding("UCB least", text, lead, Above(0))


@claim("5.3 MV-LCB dominated")
def mv_lcb_dominated(e: Evidence) -> Iterator[Finding]:
    """MV-LCB is dominated by all others, in regret and in risk avoidance (each at its best)."""
    s = e.once(energy)
    regret, tail = s.best("MV-LCB")
    tuned = np.array([s.best(title) for title in ("UCB", "ExpExp", "MaRaB", "MIN")])
    text = "MV-LCB's least regret - the largest of the others at their best"
    yield s.finding("MV-LCB regret", text, regret - tuned[:, 0].max(axis=0), Above(0))
    text = "lowest tail of the others at their best - MV-LCB's best"
    yield s.finding("MV-LCB tail", text, tuned[:, 1].min(axis=0) - tail, Above(0))


@claim("5.3 ExpExp bends")
def exp_exp_bends(e: Evidence) -> Iterator[Finding]:
    """ExpExp's regret grows linearly during its exploration and is flat after it."""
    s = e.once(energy)
    at, before, after = bend(s.steps, s.curves)
    text = "ExpExp's bend over the end of its exploration (limits: halfway to both ends of the run)"
    between = Between(0.5, (1 + s.steps[-1] / s.tau) / 2)
    yield s.finding("ExpExp bend", text, at / s.tau, between)
    text = "its slope after the bend / before (1: linear on, 0: flat)"
    yield s.finding("ExpExp flat", text, after / before, nearer(0, 1))


@claim("5.3 MaRaB avoids risk")
def marab_avoids_risk(e: Evidence) -> Iterator[Finding]:
    """MaRaB avoids risk well whatever C is."""
    s = e.once(energy)
    rivals = np.maximum(s.best("ExpExp")[1], s.best("MV-LCB")[1])
    text = "MaRaB's worst tail - the best of ExpExp and MV-LCB"
    yield s.finding("MaRaB over rivals", text, s.tail[s.marab].min(axis=0) - rivals, Above(0))
    alphas = np.unique(s.policies.alpha[s.marab])
    change = np.max([np.ptp(s.tail[s.of("MaRaB", alpha=a)], axis=0) for a in alphas], axis=0)
    ends = s.of("UCB", C=1e-6) | s.of("UCB", C=1e3)
    text = "largest change of MaRaB's tail with C - UCB's with the same C"
    apart = change - np.ptp(s.tail[ends], axis=0)
    yield s.finding("MaRaB any C", text, apart, Below(0))


@claim("5.3 MIN the same")
def min_the_same(e: Evidence) -> Iterator[Finding]:
    """MIN gives the same results as MaRaB (tested: nearer to it than to any other policy)."""
    s = e.once(energy)
    least, marab = s.of("MIN"), s.of("MaRaB", alpha=0.001)
    others = [s.of(title) for title in ("UCB", "MV-LCB", "ExpExp")]
    for key, of, what in (("tail", s.tail, "lower tail"), ("regret", s.regret, "regret")):
        apart = abs(of - of[least])
        nearest = np.min([apart[other].min(axis=0) for other in others], axis=0)
        text = f"distance of MIN's {what} from MaRaB's (.1 %) - from the nearest other policy's"
        yield s.finding(f"MIN {key}", text, apart[marab].max(axis=0) - nearest, Below(0))


@claim("5.3 slight increase")
def slight_increase(e: Evidence) -> Iterator[Finding]:
    """MaRaB's regret is slightly above that of UCB at its best."""
    printed = printed_regrets()
    ucb, marab = (printed[printed.index.str.startswith(name)] for name in ("UCB", "MaRaB"))
    extra = float((marab.min() - ucb.min()) / printed[policies.UCB(1e3).name])
    s = e.once(energy)
    increase = s.regret[s.marab].min(axis=0) - s.ucb_regret
    text = "MaRaB's regret at its best - UCB's"
    yield s.finding("increase", f"{text} at its best", increase, Above(0))
    text += ", as a share of uniform play's (limit: that of the printed figure)"
    yield s.finding("increase slight", text, increase / s.uniform, Below(extra), paper=extra)


@claim("5.3 better tail")
def better_tail(e: Evidence) -> Iterator[Finding]:
    """MaRaB's low rewards are slightly better than UCB's."""
    more = e.once(energy).marab_over_ucb().max(axis=0)
    text = "MaRaB's tail at its best - UCB's at the C of least regret"
    yield e.once(energy).finding("MaRaB tail", text, more, Above(0))


printed_numbers = unchecked(
    "5.3 the printed numbers",
    "Figure 4",
    "The regrets that figure 4 prints.",
    reason="the table of realizations is private; ours is built from other demand",
)


def statements(result: xarray.Dataset, **options: Any) -> Findings:
    """Each statement of section 5.3 as a number with its interval.

    Parameters
    ----------
    result : Dataset
        Of `simulate` on the energy problem with `figure_4_policies`, with the rewards and arms
        recorded, at least two runs, and at least 20 checkpoints.
    **options
        Those below.
    mv_lcb : {"optimistic", "pessimistic", "printed"}
        Which reading of MV-LCB, see `marab_lib.policies.MVLCB`.
    kind : {"empirical", "theoretical"}
        Which regret.
    alpha : float
        The lower tail is the lowest share alpha of the rewards of a run; its mean is the measure
        of risk avoidance.
    confidence : float
        Of the percentile intervals, in (0, 1).
    resamples, seed : int
        Of the bootstrap over runs, the same runs for all policies.

    Returns
    -------
    Findings
        By key; ``frame()`` shows them as a table.

    Raises
    ------
    ValueError
        If the result lacks a policy, the rewards or the arms, or an argument is out of range.

    Examples
    --------
    >>> from marab_lib import simulate
    >>> from marab_lib.paper import battery
    >>> result = simulate(battery.problem(), figure_4_policies(), 400, runs=10, seed=1,
    ...                   record=("rewards", "arms"))
    >>> print(statements(result)["MV-LCB regret"].rule)
    > 0
    """
    e = Evidence()
    s = e.made[energy] = Energy(result, **options)
    text = "MaRaB's tail at its worst - UCB's at the C of least regret"
    worst = s.finding("MaRaB tail, all", text, s.marab_over_ucb().min(axis=0), Above(0))
    text = "share of pulls on which MaRaB (.1%) plays MIN's arm"
    share = s.same[s.of("MaRaB", alpha=0.001)].min(axis=0)
    as_min = s.finding("MIN pulls", text, share, nearer(1, 0))
    found = [
        finding
        for claim in (ucb_least, mv_lcb_dominated, exp_exp_bends, better_tail, marab_avoids_risk,
                      min_the_same, slight_increase)
        for finding in claim.findings(e)
    ]  # fmt: skip
    return Findings([*found, worst, as_min])


HOURS_A_YEAR = 8760  # MWh a year too, since the mean demand is 1 MW


def bills(
    table: RewardTable,
    result: xarray.Dataset,
    *,
    alpha: float = 0.1,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> pandas.DataFrame:
    """What risk-awareness costs a year, and what it saves on the worst days.

    Two questions: for who knows the table, the strategy that is best in mean against the one that
    is best in CVaR; for who has to learn it, UCB at its best C against the others.

    Parameters
    ----------
    table : RewardTable
        The costs behind the rewards of `result`.
    result : Dataset
        Of `simulate` with `figure_4_policies`, rewards recorded, at least two runs.
    alpha : float
        The worst days are the share alpha of days on which a MWh served is dearest.
    confidence : float
        Of the intervals, in (0, 1).
    resamples, seed : int
        Of the bootstrap over the weeks of the table.

    Returns
    -------
    DataFrame
        In units of the price p of a MWh, for a mean demand of 1 MW: ``a year`` (8,760 MWh) and
        ``worst day`` (24 MWh), with ``more a year`` and ``saved a worst day`` against the first
        row of the same question, and their intervals: by weeks of the table where the table is
        known, by runs (paired, one tape) where it is learned.
    """
    import pandas

    confidence = _validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True)
    best = table.best(alpha)
    known = list(dict.fromkeys([best["mean"], best[f"CVaR {alpha:.0%}"], "idle"]))
    rows = _known_bills(table, known, alpha, confidence, resamples, seed)
    ucb, exploring = (_least(result, title) for title in ("UCB", "ExpExp"))
    others = names_of(result, "MaRaB") + names_of(result, "MIN")
    rows += _learned_bills(table, result, [ucb, *others, exploring], alpha, confidence)
    return pandas.DataFrame(rows).set_index(["table", "choice"])


def _least(result: xarray.Dataset, title: str) -> str:
    """Name of the setting of a policy that has the least regret."""
    names = names_of(result, title)
    return names[int(first_least(regrets(result).mean("run").sel(policy=names).values))]


def _cost_of(unit_cost: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Cost of a year, and of one of the worst days, from unit costs along the last axis."""
    return HOURS_A_YEAR * unit_cost.mean(axis=-1), -24 * np.asarray(risk.cvar(-unit_cost, alpha))


def _bill(table: str, choice: str, costs, more, low, high) -> dict:
    """A row; the pairs hold the year and the worst day, on which less is saved, not more."""
    return {
        "table": table,
        "choice": choice,
        "a year": costs[0],
        "more a year": more[0],
        "more low": low[0],
        "more high": high[0],
        "worst day": costs[1],
        "saved a worst day": 0.0 - more[1],
        "saved low": 0.0 - high[1],
        "saved high": 0.0 - low[1],
    }


def _known_bills(table, names, alpha, confidence, resamples, seed) -> list[dict]:
    """Strategies that are chosen once; neighbouring days are alike, so weeks are resampled."""
    unit_cost = table.unit_cost[[table.names.index(name) for name in names]]
    weeks = np.array_split(np.arange(unit_cost.shape[1]), max(1, round(unit_cost.shape[1] / 7)))
    samples = [
        np.concatenate([weeks[i] for i in drawn]) for drawn in draws(len(weeks), resamples, seed)
    ]
    costs = np.array([_cost_of(unit_cost[:, days], alpha) for days in samples])
    more = costs - costs[:, :, :1]
    low, high = percentile_interval(more[1:], confidence, axis=0)
    return [
        _bill("known", name, costs[0, :, i], more[0, :, i], low[:, i], high[:, i])
        for i, name in enumerate(names)
    ]


def _learned_bills(table, result, names, alpha, confidence) -> list[dict]:
    rewards = _recorded(result, "rewards").sel(policy=names).values
    costs = np.array(_cost_of(table.to_unit_cost(rewards), alpha))  # (2, policy, run)
    more = costs - costs[:, :1]
    half = student_half_width(more, confidence)
    costs, more = costs.mean(axis=-1), more.mean(axis=-1)
    return [
        _bill("learned", name, costs[:, i], more[:, i], (more - half)[:, i], (more + half)[:, i])
        for i, name in enumerate(names)
    ]
