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
from ..problems import Problem, artificial
from ..problems import cvars as all_cvars
from ..simulation.result import join_policies, parameter_coordinates
from ..simulation.run import simulate
from ..statistics import LEVEL
from .evidence import Evidence
from .interpretations import printed_curve
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
    "tuned_ucb",
    "uniform_regret",
]

NAMES = ("UCB", "MaRaB", "MV-LCB", "ExpExp")
_PANELS = "ab"  # of figure 2, at its two horizons
_EXPONENTS = range(-6, 4)  # C = 10^i, as printed
LEVELS = (0.001, 0.01, 0.1, 0.2)  # of MaRaB, in the figures of section 5


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
    """Other settings of MaRaB, MV-LCB and UCB, for the statements on their parameters.

    Examples
    --------
    >>> [policy.name for policy in extra_policies([1.0], [0.1], [1.0])]
    ['UCB(C=1)', 'MaRaB(alpha=0.2, C=1)', 'MaRaB(alpha=0.1, C=1e-06)', 'MV-LCB(rho=1)']
    """
    listed: list[Policy] = [policies.UCB(C, label=f"UCB(C={C:g})") for C in Cs]
    listed += [policies.MaRaB(0.2, C, label=f"MaRaB(alpha=0.2, C={C:g})") for C in Cs]
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
    cvars = all_cvars(problems, alpha)
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
        settings: xarray.Dataset | None = None,
        *,
        kind: str = "empirical",
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
        self.draws = Resamples(self.single.sizes["problem"], confidence, resamples, seed)
        self.finding = self.draws.finding
        by_problem = self.single.mean("run")
        self.values = {
            (name, t): by_problem.sel(policy=name, horizon=t).values
            for name in NAMES
            for t in self.horizons
        }
        self.mean = {key: self.draws.mean(values) for key, values in self.values.items()}
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


def _printed_extra(panel: str) -> float:
    """MaRaB's extra mean regret over UCB in a printed panel."""
    marab, ucb = (printed_curve(name, panel) for name in ("MaRaB", "UCB"))
    return float(marab.mean() - ucb.mean())


def tuned_ucb(e: Evidence) -> Policy:
    """UCB at the C of least regret on other problems."""
    candidates = e.interpretation.apply([policies.UCB(10.0**i) for i in _EXPONENTS])
    others = artificial(100, e.seed + 1, **e.interpretation.generator)
    best = tune(candidates, others, e.horizons[0], 4, e.seed + 1, e.threads).index[0]
    return next(policy for policy in candidates if policy.name == best)


def _runs(e: Evidence) -> xarray.Dataset:
    """The four policies of figure 2, and UCB at its best C, at both horizons."""
    chosen = e.interpretation.apply(figure_2_policies())
    chosen.append(replace(e.once(tuned_ucb), label="UCB tuned"))
    return final_regrets(e.problems, chosen, e.horizons, e.runs // 5, e.seed, e.threads)


def regrets(e: Evidence) -> Regrets:
    """Of the four, with other settings of UCB, MaRaB and MV-LCB."""
    listed = extra_policies([10.0**i for i in (-6, -3, 0, 3)], LEVELS, [1, 2, 10])
    played = final_regrets(
        e.problems, e.interpretation.apply(listed), e.horizons[:1], 1, e.seed, e.threads
    )
    settings = played.assign_coords(parameter_coordinates(listed))  # as the paper names them
    return Regrets(e.once(_runs).sel(policy=list(NAMES)), settings)


def tuned_regrets(e: Evidence) -> Regrets:
    """The same with UCB at the C that does best on other problems."""
    result = e.once(_runs).sel(policy=["UCB tuned", *NAMES[1:]])
    return Regrets(result.assign_coords(policy=list(NAMES)))


Statement = Callable[[Regrets, int], Finding]  # at a horizon


def _at_both(statement: Statement, r: Regrets) -> list[Finding]:
    return [statement(r, t) for t in r.horizons]


def _ucb_best(r: Regrets, t: int) -> Finding:
    lead = np.min(r.others("UCB", t), axis=0) - r.mean["UCB", t]
    return r.finding(f"UCB best at {t}", "least mean regret of the others - UCB's", lead, Above(0))


@claim("5.2.1 UCB best")
def ucb_best(e: Evidence) -> Iterator[Finding]:
    """With a well-tuned C, UCB has the least regret."""
    yield from _at_both(_ucb_best, e.once(tuned_regrets))


def _extra(r: Regrets, t: int) -> Finding:
    return r.finding(f"MaRaB - UCB at {t}", "extra mean regret", r.extra(t), Above(0))


@claim("5.2.1 MaRaB extra")
def marab_extra(e: Evidence) -> Iterator[Finding]:
    """MaRaB suffers more regret than UCB at its best C."""
    yield from _at_both(_extra, e.once(tuned_regrets))


def _extra_bounded(r: Regrets) -> Finding:
    short, medium = (r.extra(t) for t in r.horizons)
    text = "extra regret at the second horizon / at the first (1: bounded, 2: as the horizon)"
    printed = _printed_extra("b") / _printed_extra("a")
    rule = nearer(1, 2, ratio=True)
    return r.finding("MaRaB - UCB ratio", text, medium / short, rule, paper=printed)


@claim("5.2.1 extra bounded")
def extra_bounded(e: Evidence) -> Iterator[Finding]:
    """The extra regret does not seem to grow with the horizon."""
    yield _extra_bounded(e.once(tuned_regrets))


@claim("5.2.1 extra falls with alpha")
def extra_falls_with_alpha(e: Evidence) -> Iterator[Finding]:
    """The extra regret decreases as alpha increases (tested: at the levels of section 5)."""
    r = e.once(regrets)
    means = r.means_of("MaRaB", C=1e-6)
    if len(means) > 1:
        text = "least fall of the mean from one alpha to the next"
        falls = -np.diff(means, axis=0).max(axis=0)
        yield r.finding("MaRaB falls with alpha", text, falls, Above(0))
        text = "mean regret at the least alpha - at the largest"
        yield r.finding("MaRaB, alpha from end to end", text, means[0] - means[-1], Above(0))


def _range(r: Regrets, key: str, means: np.ndarray) -> Iterator[Finding]:
    """A range over settings beside that of UCB over C."""
    of_ucb = r.means_of("UCB")
    if min(len(means), len(of_ucb)) > 1:
        apart = np.ptp(means, axis=0) - np.ptp(of_ucb, axis=0)
        yield r.finding(key, "range of mean regrets - UCB's over C", apart, Below(0))


@claim("5.2.1 MaRaB any C")
def marab_any_c(e: Evidence) -> Iterator[Finding]:
    """MaRaB hardly depends on C."""
    r = e.once(regrets)
    means = r.means_of("MaRaB", alpha=0.2)
    yield from _range(r, "MaRaB any C", means)
    text = "largest mean regret over C - ExpExp's, the next in the printed order"
    apart = means.max(axis=0) - r.mean["ExpExp", r.horizons[0]]
    yield r.finding("MaRaB's place, any C", text, apart, Below(0))


def _mv_lcb_worst(r: Regrets, t: int) -> Finding:
    excess = r.mean["MV-LCB", t] - np.max(r.others("MV-LCB", t), axis=0)
    text = "MV-LCB's mean regret - the largest of the others"
    return r.finding(f"MV-LCB worst at {t}", text, excess, Above(0))


@claim("5.2.1 MV-LCB worst")
def mv_lcb_worst(e: Evidence) -> Iterator[Finding]:
    """MV-LCB has the largest regret of all."""
    yield from _at_both(_mv_lcb_worst, e.once(regrets))


@claim("5.2.1 MV-LCB any rho")
def mv_lcb_any_rho(e: Evidence) -> Iterator[Finding]:
    """MV-LCB hardly depends on rho."""
    r = e.once(regrets)
    means = r.means_of("MV-LCB")
    yield from _range(r, "MV-LCB any rho", means)
    text = "least mean regret over rho - the largest of the others"
    apart = means.min(axis=0) - np.max(r.others("MV-LCB", r.horizons[0]), axis=0)
    yield r.finding("MV-LCB's place, any rho", text, apart, Above(0))


_ROUNDED = 0.05  # the text gives tens of per cent
_CURVES = 4  # runs of each problem, a sorted curve of each: more tell little more


def _below(values: np.ndarray) -> float:
    """Share of the ranks at which the first of two sorted curves is below the second.

    Values of shape (2, ..., problem): the mean of the shares of all pairs of curves.
    """
    return float(np.mean(order(*values) < 0))


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
                r.draws.each_sorted(both[..., :_CURVES].swapaxes(1, 2), _below),
            )
        case "sorted means":
            text, share = (
                "share of ranks, curves of mean regrets",
                r.draws.each_sorted(mean, _below),
            )
        case "means":
            text, share = "share of problems, mean regrets", r.draws.mean(order(*mean) < 0)
        case "paired":
            text = "share of runs, paired"
            share = r.draws.mean((order(*both) < 0).mean(axis=-1))
    at = r.horizons.index(t)
    said = _SHARES[pair][at]
    one, other = (printed_curve(name, _PANELS[at]) for name in pair)
    shown = float(np.mean(one < other))
    rule = Between(min(said - _ROUNDED, shown), max(said + _ROUNDED, shown))
    return r.finding(f"{pair[0]} < {pair[1]} at {t}, {how}", text, share, rule, paper=said)


def _printed_share(e: Evidence, one: str, other: str, usually: Rule) -> Iterator[Finding]:
    """Whether it is a majority, of ranks and of runs; and the share of ranks, as printed."""
    for t in e.horizons:
        of_ranks, of_runs = (
            _improves(e.once(regrets), (one, other), t, how) for how in ("sorted", "paired")
        )
        for f in (of_ranks, of_runs):
            yield replace(f, rule=usually, text=f"{f.text}: is it the majority?")
        yield replace(of_ranks, text=f"{of_ranks.text} (limits: what the text and the figure say)")


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
    apart = r.draws.each(both, lambda v: -np.diff(np.quantile(v, q, axis=-1))[:, 0])
    text = f"{one}'s {100 * q:g} % quantile - {other}'s"
    return r.finding(f"{one} {end} at {t}", text, apart, Above(0))


def _exp_exp_low(r: Regrets, t: int) -> Finding:
    return _quantile_above(r, t, "ExpExp", "UCB", "low", 0.01)


@claim("5.2.1 ExpExp never low")
def exp_exp_never_low(e: Evidence) -> Iterator[Finding]:
    """ExpExp never has a very low regret, because of its exploration."""
    yield from _at_both(_exp_exp_low, e.once(regrets))


def _marab_high(r: Regrets, t: int) -> Finding:
    return _quantile_above(r, t, "MaRaB", "ExpExp", "high", 0.99)


@claim("5.2.1 MaRaB's largest")
def marabs_largest(e: Evidence) -> Iterator[Finding]:
    """The largest regrets of MaRaB are above those of ExpExp."""
    yield from _at_both(_marab_high, e.once(regrets))


def _extra_slight(r: Regrets, t: int) -> Finding:
    printed = _printed_extra(_PANELS[r.horizons.index(t)])
    text = "extra mean regret (limit: the extra in the printed figure)"
    return r.finding(f"MaRaB - UCB slight at {t}", text, r.extra(t), Below(printed), paper=printed)


@claim("5.2.1 MaRaB slightly behind")
def marab_slightly_behind(e: Evidence) -> Iterator[Finding]:
    """At alpha = 20 % MaRaB is only slightly behind UCB at its best C, at both horizons."""
    yield from _at_both(_extra_slight, e.once(tuned_regrets))


@claim("5.2.1 order kept")
def order_kept(e: Evidence) -> Iterator[Finding]:
    """Doubling the horizon does not change the order of the policies."""
    r = e.once(regrets)
    first, second = r.horizons
    ranked = sorted(NAMES, key=lambda name: r.mean[name, first][0])
    for better, worse in itertools.pairwise(ranked):
        apart = r.mean[worse, second] - r.mean[better, second]
        text = f"mean regret of {worse} - of {better}, the next at the first horizon, at the second"
        yield r.finding(f"order kept, {better} and {worse}", text, apart, Above(0))


def regret_statements(
    result: xarray.Dataset,
    settings: xarray.Dataset | None = None,
    **options: Any,
) -> Findings:
    """Each statement of section 5.2.1 as a number with its interval over the problems.

    Parameters
    ----------
    result : Dataset of `final_regrets`
        At two horizons, with the policies UCB, MaRaB, MV-LCB and ExpExp.
    settings : Dataset of `final_regrets`, optional
        On the same problems at the first horizon, with other settings of UCB, MaRaB and
        MV-LCB (see `extra_policies`), for what is said of their parameters.
    **options
        Those below.
    kind : {"empirical", "theoretical"}
        Which regret. Default "empirical".
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
    >>> print(regret_statements(result)["UCB best at 200"].rule)
    > 0
    """
    e = Evidence()
    r = e.made[regrets] = Regrets(result, settings, **options)
    several = r.single.sizes["run"] > 1
    readings = ("sorted", "sorted means", "means", "paired") if several else ("sorted", "paired")
    found = [_improves(r, pair, t, how) for pair in _SHARES for t in r.horizons for how in readings]
    at_each = (_ucb_best, _mv_lcb_worst, _extra, _extra_slight, _marab_high, _exp_exp_low)
    found += [statement(r, t) for t in r.horizons for statement in at_each]
    found += [_extra_bounded(r), *order_kept.findings(e)]
    if settings is not None:
        for of_settings in (extra_falls_with_alpha, marab_any_c, mv_lcb_any_rho):
            found += of_settings.findings(e)
    return Findings(found)
