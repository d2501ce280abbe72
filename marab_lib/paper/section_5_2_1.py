"""Section 5.2.1: regret on random problems (figure 2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate, policies, regret
from .._rounding import order
from ..policies import Policy
from ..problems import Problem
from ..simulation.result import join_policies
from ..simulation.run import simulate
from ..statistics import LEVEL
from .evidence import Evidence
from .rules import (
    MARGIN,
    Above,
    Below,
    Between,
    Finding,
    Findings,
    Resamples,
    Rule,
    claim,
    names_of,
)

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "Regrets",
    "extra_policies",
    "figure_2_policies",
    "final_regrets",
    "goal_and_learning",
    "regret_statements",
    "regrets",
    "tune",
    "tuned_regrets",
    "uniform_regret",
]

NAMES = ("UCB", "MaRaB", "MV-LCB", "ExpExp")
TUNED_C = 0.1  # of UCB, the best on the tuning problems of notebook 07


def figure_2_policies(mv_lcb: str = "optimistic") -> list[Policy]:
    """The four policies of figure 2 with the printed parameters, under their titles.

    Parameters
    ----------
    mv_lcb : {"optimistic", "pessimistic", "printed"}
        Which reading of MV-LCB.

    Examples
    --------
    >>> [policy.name for policy in figure_2_policies()]
    ['UCB', 'MaRaB', 'MV-LCB', 'ExpExp']
    """
    return [
        policies.UCB(1e-3, label="UCB"),
        policies.MaRaB(0.2, 1e-6, label="MaRaB"),
        policies.MVLCB(2.0, bonus=mv_lcb, label="MV-LCB"),
        policies.ExpExp(2.0, label="ExpExp"),
    ]


def extra_policies(
    Cs: Sequence[float], alphas: Sequence[float], rhos: Sequence[float], mv_lcb: str = "optimistic"
) -> list[Policy]:
    """Other settings of MaRaB and MV-LCB, for the statements on their parameters.

    Examples
    --------
    >>> [policy.name for policy in extra_policies([1.0], [0.1], [1.0])]
    ['MaRaB(alpha=0.2, C=1)', 'MaRaB(alpha=0.1, C=1e-06)', 'MV-LCB(rho=1)']
    """
    listed: list[Policy] = [policies.MaRaB(0.2, C, label=f"MaRaB(alpha=0.2, C={C:g})") for C in Cs]
    listed += [policies.MaRaB(a, 1e-6, label=f"MaRaB(alpha={a:g}, C=1e-06)") for a in alphas]
    listed += [policies.MVLCB(r, bonus=mv_lcb, label=f"MV-LCB(rho={r:g})") for r in rhos]
    return list({policy.name: policy for policy in listed}.values())


def final_regrets(
    problems: Sequence[Problem],
    policies: Sequence[Policy],
    horizons: Sequence[int],
    runs: int,
    seed: int,
    threads: int | None = None,
) -> xarray.Dataset:
    """Final regrets at several horizons; a policy that knows no horizon is played once.

    Parameters
    ----------
    problems, policies, runs, seed, threads
        See `simulate`.
    horizons : sequence of int
        Increasing.

    Returns
    -------
    Dataset
        ``theoretical_regret`` and ``empirical_regret`` (horizon, policy, problem, run), ``pulls``
        (policy, problem, run, arm) at the largest horizon, ``mean`` (problem, arm).

    Examples
    --------
    >>> from marab_lib import problems
    >>> result = final_regrets(problems.artificial(2, 0), figure_2_policies(), [200, 400], 1, 0)
    >>> dict(result.empirical_regret.sizes)
    {'horizon': 2, 'policy': 4, 'problem': 2, 'run': 1}
    """
    import xarray

    k, last = problems[0].n_arms, max(horizons)
    by_need: dict[bool, list[Policy]] = {True: [], False: []}
    for policy in policies:
        needs = {policy.parameters(k, horizon) for horizon in horizons}
        by_need[len(needs) > 1].append(policy)
    parts = []
    for bound, listed in by_need.items():
        if listed:
            ends = [(h,) for h in horizons] if bound else [tuple(horizons)]
            played = [
                simulate(problems, listed, max(e), runs, seed, threads=threads, checkpoints=e)
                for e in ends
            ]
            names = ["theoretical_regret", "empirical_regret"]
            joined = xarray.concat([p[names] for p in played], "checkpoint", join="exact")
            parts.append(joined.assign(pulls=played[-1].pulls))
    result = join_policies(parts).rename(checkpoint="horizon")
    result = result.sel(policy=[policy.name for policy in policies])
    result["mean"] = ("problem", "arm"), np.stack([p.means for p in problems])
    result.attrs = {"horizons": list(horizons), "runs": runs, "seed": str(seed), "last": last}
    return result.transpose("horizon", "policy", "problem", "run", "arm")


def uniform_regret(problems: Sequence[Problem], horizon: int) -> np.ndarray:
    """Theoretical regret of uniform play on each problem: T times the mean margin."""
    return horizon * np.array([problem.mean_gaps.mean() for problem in problems])


def tune(
    candidates: Sequence[Policy],
    problems: Sequence[Problem],
    horizon: int,
    runs: int,
    seed: int,
    threads: int | None = None,
) -> pandas.DataFrame:
    """Mean theoretical regret of each candidate on problems kept for tuning, best first.

    Parameters
    ----------
    candidates : sequence of Policy
    problems, horizon, runs, seed, threads
        See `simulate`.

    Returns
    -------
    DataFrame
        By policy name: regret, and its standard error over the problems.
    """
    import pandas

    result = simulate(problems, candidates, horizon, runs, seed, threads=threads, checkpoints=1)
    by_problem = result.theoretical_regret.mean("run").squeeze("checkpoint")
    mean, error = regret.mean_and_error(by_problem, "problem")
    table = pandas.DataFrame({"regret": mean.to_series(), "standard error": error.to_series()})
    # Candidates that play alike tie but for rounding: they keep the order in which they came.
    return table.sort_values("regret", key=lambda x: x.round(9), kind="stable")


def goal_and_learning(
    result: xarray.Dataset, problems: Sequence[Problem], alpha: float = 0.2, policy: str = "MaRaB"
) -> xarray.Dataset:
    """Split a policy's mean regret into what its goal costs and what learning costs.

    The goal of MaRaB is the arm of largest CVaR, not of largest mean. Playing that arm alone costs
    ``goal`` = T (mu* - mu of that arm); the rest of the regret, which may be negative, is
    ``learning``. In CVaR regret the goal costs nothing.

    Parameters
    ----------
    result : Dataset of `final_regrets`
    problems : sequence of Problem
        Those that were simulated.
    alpha : float
        Level of the CVaR.
    policy : str
        Its name in the result.

    Returns
    -------
    Dataset with ``goal``, ``learning``, ``total`` (horizon, problem), theoretical, means over the
    runs; ``cvar_regret`` (problem) at the last horizon, and ``same_arm`` (problem).
    """
    import xarray

    _needs(result.theoretical_regret, (policy,))
    cvars = np.stack([problem.cvars(alpha) for problem in problems])
    aim = cvars.argmax(axis=1)
    gaps = np.array([p.mean_gaps[i] for p, i in zip(problems, aim, strict=True)])
    total = result.theoretical_regret.sel(policy=policy, drop=True).mean("run")
    goal = total.horizon * xarray.DataArray(gaps, dims="problem")
    values = xarray.DataArray(cvars, dims=("problem", "arm"))
    lost = regret.pseudo_regret(result.pulls.sel(policy=policy, drop=True), values).mean("run")
    return xarray.Dataset(
        {"goal": goal, "learning": total - goal, "total": total, "cvar_regret": lost}
        | {"same_arm": ("problem", gaps == 0)}
    )


def _needs(values: xarray.DataArray, names: Sequence[str]) -> None:
    for name in names:
        if name not in values.policy:
            raise ValueError(
                f"result must hold the policy {name!r}, got {values.policy.values.tolist()}"
            )


class Regrets:
    """Mean regrets over the problems, and over resamples of them that all policies share.

    The parameters are those of `regret_statements`.
    """

    def __init__(
        self,
        result: xarray.Dataset,
        problems: Sequence[Problem],
        settings: xarray.Dataset | None = None,
        *,
        kind: str = "empirical",
        margin: float = MARGIN,
        confidence: float = LEVEL,
        resamples: int = 1000,
        seed: int = 0,
    ) -> None:
        _validate.choice("kind", kind, ("empirical", "theoretical"))
        self.single = result[f"{kind}_regret"]
        _needs(self.single, NAMES)
        self.horizons = self.single.horizon.values.tolist()
        if len(self.horizons) != 2:
            raise ValueError(f"result must hold two horizons, got {self.horizons}")
        self.margin = margin
        self.draws = Resamples(self.single.sizes["problem"], confidence, resamples, seed)
        self.finding = self.draws.finding
        by_problem = self.single.mean("run")
        self.values = {
            (name, t): by_problem.sel(policy=name, horizon=t).values
            for name in NAMES
            for t in self.horizons
        }
        self.mean = {key: self.draws.mean(values) for key, values in self.values.items()}
        self.uniform = {t: uniform_regret(problems, t).mean() for t in self.horizons}
        if settings is not None:
            at = settings[f"{kind}_regret"].sel(horizon=self.horizons[0])
            self.settings = at.mean("run").transpose("policy", "problem")

    def others(self, name: str, t: int) -> list[np.ndarray]:
        """Mean regrets of all policies but one."""
        return [self.mean[other, t] for other in NAMES if other != name]

    def extra(self, t: int) -> np.ndarray:
        """Extra mean regret of MaRaB over UCB."""
        return self.mean["MaRaB", t] - self.mean["UCB", t]

    def means_of(self, title: str, **parameters: float) -> np.ndarray:
        """Mean regrets of a policy's other settings, by alpha."""
        chosen = self.settings.sel(policy=names_of(self.settings, title, **parameters))
        return self.draws.mean(chosen[np.argsort(chosen.alpha.values)].values)


def _runs(e: Evidence) -> xarray.Dataset:
    """The four policies of figure 2, and UCB at its best C, at both horizons."""
    tuned = policies.UCB(TUNED_C, label="UCB tuned")
    chosen = e.interpretation.apply([*figure_2_policies(e.interpretation.mv_lcb), tuned])
    return final_regrets(e.problems, chosen, e.horizons, e.runs, e.seed, e.threads)


def regrets(e: Evidence) -> Regrets:
    """Of the four, with other settings of MaRaB and MV-LCB."""
    alphas = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)  # as in notebook 07
    extra = extra_policies((1e-6, 1.0, 1e3), alphas, [1, 2, 10], e.interpretation.mv_lcb)
    extra, few = e.interpretation.apply(extra), max(3, e.runs // 3)
    settings = final_regrets(e.problems, extra, e.horizons[:1], few, e.seed, e.threads)
    return Regrets(e.once(_runs).sel(policy=list(NAMES)), e.problems, settings)


def tuned_regrets(e: Evidence) -> Regrets:
    """The same with UCB at the C that does best on other problems (notebook 07)."""
    result = e.once(_runs).sel(policy=["UCB tuned", *NAMES[1:]])
    return Regrets(result.assign_coords(policy=list(NAMES)), e.problems)


Statement = Callable[[Regrets, int], Finding]  # at a horizon


def _at_both(statement: Statement) -> Callable[[Regrets], list[Finding]]:
    return lambda r: [statement(r, t) for t in r.horizons]


def _against_ucb(e: Evidence, find: Callable[[Regrets], list[Finding]]) -> Iterator[Finding]:
    """With UCB at the printed C, and at that which does best on other problems."""
    yield from find(e.once(regrets))
    for f in find(e.once(tuned_regrets)):
        yield replace(f, text=f"{f.text}, UCB at C = {TUNED_C:g}")


def _ucb_best(r: Regrets, t: int) -> Finding:
    lead = np.min(r.others("UCB", t), axis=0) - r.mean["UCB", t]
    return r.finding(f"UCB best at {t}", "least mean regret of the others - UCB's", lead, Above(0))


@claim("5.2.1 UCB best")
def ucb_best(e: Evidence) -> Iterator[Finding]:
    """With a well-tuned C, UCB has the least regret."""
    yield from _against_ucb(e, _at_both(_ucb_best))


def _extra(r: Regrets, t: int) -> Finding:
    return r.finding(f"MaRaB - UCB at {t}", "extra mean regret", r.extra(t), Above(0))


@claim("5.2.1 MaRaB extra")
def marab_extra(e: Evidence) -> Iterator[Finding]:
    """MaRaB suffers more regret than UCB."""
    yield from _against_ucb(e, _at_both(_extra))


def _extra_bounded(r: Regrets) -> list[Finding]:
    short, medium = (r.extra(t) for t in r.horizons)
    limit = r.margin * r.uniform[r.horizons[0]]
    text = "extra regret at the second horizon"
    return [
        r.finding("MaRaB - UCB grows", f"{text} - at the first", medium - short, Below(limit)),
        r.finding(
            "MaRaB - UCB ratio", f"{text} / at the first", medium / short, Below(1 + r.margin)
        ),
    ]


@claim("5.2.1 extra bounded")
def extra_bounded(e: Evidence) -> Iterator[Finding]:
    """The extra regret does not seem to grow with the horizon."""
    yield from _against_ucb(e, _extra_bounded)


@claim("5.2.1 extra falls with alpha")
def extra_falls_with_alpha(e: Evidence) -> Iterator[Finding]:
    """The extra regret decreases as alpha increases."""
    r = e.once(regrets)
    means = r.means_of("MaRaB", C=1e-6)
    if len(means) > 1:
        text = "least fall of the mean from one alpha to the next"
        falls = -np.diff(means, axis=0).max(axis=0)
        yield r.finding("MaRaB falls with alpha", text, falls, Above(0))
        text = "mean regret at the least alpha - at the largest"
        yield r.finding("MaRaB, alpha from end to end", text, means[0] - means[-1], Above(0))


def _range(r: Regrets, key: str, means: np.ndarray) -> Iterator[Finding]:
    if len(means) > 1:
        span = np.ptp(means, axis=0) / r.uniform[r.horizons[0]]
        text = "range of mean regrets, as a share of uniform play's"
        yield r.finding(key, text, span, Below(r.margin))


@claim("5.2.1 MaRaB any C")
def marab_any_c(e: Evidence) -> Iterator[Finding]:
    """MaRaB hardly depends on C."""
    r = e.once(regrets)
    yield from _range(r, "MaRaB any C", r.means_of("MaRaB", alpha=0.2))


def _mv_lcb_worst(r: Regrets, t: int) -> Finding:
    excess = r.mean["MV-LCB", t] - np.max(r.others("MV-LCB", t), axis=0)
    text = "MV-LCB's mean regret - the largest of the others"
    return r.finding(f"MV-LCB worst at {t}", text, excess, Above(0))


@claim("5.2.1 MV-LCB worst")
def mv_lcb_worst(e: Evidence) -> Iterator[Finding]:
    """MV-LCB has the largest regret of all."""
    yield from _at_both(_mv_lcb_worst)(e.once(regrets))


@claim("5.2.1 MV-LCB any rho")
def mv_lcb_any_rho(e: Evidence) -> Iterator[Finding]:
    """MV-LCB hardly depends on rho."""
    r = e.once(regrets)
    yield from _range(r, "MV-LCB any rho", r.means_of("MV-LCB"))


def _below(values: np.ndarray) -> float:
    """Share of the ranks at which the first of two sorted curves is below the second."""
    one, other = np.sort(values, axis=-1)
    return float(np.mean(order(one, other) < 0))


_SHARES = {  # that section 5.2.1 gives, at its two horizons
    ("ExpExp", "MV-LCB"): (0.9, 0.9),
    ("ExpExp", "UCB"): (0.1, 0.2),
    ("MaRaB", "ExpExp"): (0.7, 0.7),
}


def _improves(r: Regrets, pair: tuple[str, str], t: int, how: str) -> Finding:
    """How often one policy has less regret than the other, in a reading of "probability"."""
    both = r.single.sel(policy=list(pair), horizon=t).transpose("policy", "problem", "run").values
    mean = both.mean(axis=-1)
    match how:
        case "sorted":
            text, share = (
                "share of ranks, curves of single runs",
                r.draws.each(both[..., 0], _below),
            )
        case "sorted means":
            text, share = "share of ranks, curves of mean regrets", r.draws.each(mean, _below)
        case "means":
            text, share = "share of problems, mean regrets", r.draws.mean(order(*mean) < 0)
        case "paired":
            text = "share of runs, paired"
            share = r.draws.mean((order(*both) < 0).mean(axis=-1))
    paper = _SHARES[pair][r.horizons.index(t)]
    rule = Between(max(0, paper - r.margin), min(1, paper + r.margin))
    return r.finding(f"{pair[0]} < {pair[1]} at {t}, {how}", text, share, rule, paper=paper)


def _printed_share(e: Evidence, one: str, other: str, usually: Rule) -> Iterator[Finding]:
    """The printed share in two readings of "probability", and whether it is a majority at all."""
    found = [
        _improves(e.once(regrets), (one, other), t, how)
        for t in e.horizons
        for how in ("sorted", "paired")
    ]
    yield from found
    for f in found:
        yield replace(f, rule=usually, text="is it the majority?")


@claim("5.2.1 ExpExp over MV-LCB", printed="90 %")
def exp_exp_over_mv_lcb(e: Evidence) -> Iterator[Finding]:
    """ExpExp improves on MV-LCB with probability about 90 %."""
    yield from _printed_share(e, "ExpExp", "MV-LCB", Above(0.5))


@claim("5.2.1 ExpExp over UCB", printed="10 %, 20 %")
def exp_exp_over_ucb(e: Evidence) -> Iterator[Finding]:
    """ExpExp improves on UCB with probability 10 %, 20 % at the longer horizon."""
    yield from _printed_share(e, "ExpExp", "UCB", Below(0.5))


@claim("5.2.1 MaRaB over ExpExp", printed="70 %")
def marab_over_exp_exp(e: Evidence) -> Iterator[Finding]:
    """MaRaB improves on ExpExp with probability 70 %."""
    yield from _printed_share(e, "MaRaB", "ExpExp", Above(0.5))


def _quantile_above(r: Regrets, t: int, one: str, other: str, end: str, q: float) -> Finding:
    both = np.stack([r.values[one, t], r.values[other, t]])
    apart = r.draws.each(both, lambda v: -np.diff(np.quantile(v, q, axis=1))[0])
    text = f"{one}'s {100 * q:g} % quantile - {other}'s"
    return r.finding(f"{one} {end} at {t}", text, apart, Above(0))


def _exp_exp_low(r: Regrets, t: int) -> Finding:
    return _quantile_above(r, t, "ExpExp", "UCB", "low", 0.01)


@claim("5.2.1 ExpExp never low")
def exp_exp_never_low(e: Evidence) -> Iterator[Finding]:
    """ExpExp never has a very low regret, because of its exploration."""
    yield from _at_both(_exp_exp_low)(e.once(regrets))


def _marab_high(r: Regrets, t: int) -> Finding:
    return _quantile_above(r, t, "MaRaB", "ExpExp", "high", 0.99)


@claim("5.2.1 MaRaB's largest")
def marabs_largest(e: Evidence) -> Iterator[Finding]:
    """The largest regrets of MaRaB are above those of ExpExp."""
    yield from _at_both(_marab_high)(e.once(regrets))


def _extra_slight(r: Regrets, t: int) -> Finding:
    text = "extra mean regret, share of uniform play's"
    share = r.extra(t) / r.uniform[t]
    return r.finding(f"MaRaB - UCB slight at {t}", text, share, Below(r.margin))


@claim("5.2.1 MaRaB slightly behind")
def marab_slightly_behind(e: Evidence) -> Iterator[Finding]:
    """At alpha = 20 % MaRaB is only slightly behind UCB, at both horizons."""
    yield from _against_ucb(e, _at_both(_extra_slight))


@claim("5.2.1 order kept")
def order_kept(e: Evidence) -> Iterator[Finding]:
    """Doubling the horizon does not change the order of the policies."""
    r = e.once(regrets)
    mean = np.stack([[r.mean[name, t] for name in NAMES] for t in r.horizons])
    pairs = itertools.combinations(range(len(NAMES)), 2)
    agree = [np.prod(order(mean[:, a], mean[:, b]), axis=0) for a, b in pairs]
    text = "Kendall's tau of the orders of the means at both horizons"
    yield r.finding("order kept", text, np.mean(agree, axis=0), Between(1, 1))


def regret_statements(
    result: xarray.Dataset,
    problems: Sequence[Problem],
    settings: xarray.Dataset | None = None,
    **options: Any,
) -> Findings:
    """Each statement of section 5.2.1 as a number with its interval over the problems.

    Parameters
    ----------
    result : Dataset of `final_regrets`
        At two horizons, with the policies UCB, MaRaB, MV-LCB and ExpExp.
    problems : sequence of Problem
        Those that were simulated.
    settings : Dataset of `final_regrets`, optional
        On the same problems at the first horizon, with other settings of MaRaB and MV-LCB (see
        `extra_policies`), for what is said of their parameters.
    **options
        Those below.
    kind : {"empirical", "theoretical"}
        Which regret. Default "empirical".
    margin : float
        How far a share may be from the printed one, and what "slight" and "low" mean: less than
        this share of the regret of uniform play.
    confidence : float
        Of the percentile intervals, in (0, 1).
    resamples, seed : int
        Of the bootstrap over problems, the same problems for all policies.

    Returns
    -------
    Findings
        By key; ``frame()`` shows them as a table.

    Raises
    ------
    ValueError
        If a policy or a horizon is missing, or an argument is out of range.

    Examples
    --------
    >>> from marab_lib import problems
    >>> listed = problems.artificial(30, seed=0)
    >>> result = final_regrets(listed, figure_2_policies(), [200, 400], runs=2, seed=0)
    >>> print(regret_statements(result, listed)["UCB best at 200"].rule)
    > 0
    """
    e = Evidence()
    r = e.made[regrets] = Regrets(result, problems, settings, **options)
    several = r.single.sizes["run"] > 1
    readings = ("sorted", "sorted means", "means", "paired") if several else ("sorted", "paired")
    found = [_improves(r, pair, t, how) for pair in _SHARES for t in r.horizons for how in readings]
    at_each = (_ucb_best, _mv_lcb_worst, _extra, _extra_slight, _marab_high, _exp_exp_low)
    found += [statement(r, t) for t in r.horizons for statement in at_each]
    found += [*_extra_bounded(r), *order_kept.findings(e)]
    if settings is not None:
        for of_settings in (extra_falls_with_alpha, marab_any_c, mv_lcb_any_rho):
            found += of_settings.findings(e)
    return Findings(found)
