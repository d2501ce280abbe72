"""Section 5.2.2: the worst rewards on random problems (figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate, policies, regret, risk
from .._rounding import first_least, order
from ..policies import Policy
from ..problems import Problem
from ..simulation.chunks import by_chunks
from ..simulation.result import parameter_coordinates
from ..statistics import LEVEL, Estimate, draws, percentile_interval, rank_correlation
from .evidence import Evidence
from .rules import (
    Above,
    Below,
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
    "Rewards",
    "change_intervals",
    "distance_between_settings",
    "figure_3_policies",
    "origin_table",
    "representative_problems",
    "reward_statements",
    "reward_summary",
    "rewards",
    "tail_differences",
]

LEVELS = (0.01, 0.05, 0.1, 0.15, 0.2)  # of the quantile values v_alpha
RIVAL = policies.ExpExp(2.0).name
WORST = 0.05  # the share of the rewards that count as the worst


def figure_3_policies(mv_lcb: str = "optimistic") -> dict[str, list[Policy]]:
    """The three settings of each policy of figure 3, by title.

    Examples
    --------
    >>> [policy.name for policy in figure_3_policies()["MV-LCB"]]
    ['MV-LCB(rho=1)', 'MV-LCB(rho=2)', 'MV-LCB(rho=10)']
    """
    rhos = (1.0, 2.0, 10.0)
    return {
        "UCB": [policies.UCB(C) for C in (1e-6, 1.0, 1e3)],
        "MV-LCB": [policies.MVLCB(r, bonus=mv_lcb, label=f"MV-LCB(rho={r:g})") for r in rhos],
        "ExpExp": [policies.ExpExp(r) for r in rhos],
        "MaRaB": [policies.MaRaB(a, 1e-6) for a in (0.001, 0.01, 0.2)],
    }


def representative_problems(
    problems: Sequence[Problem], shares: Sequence[float] = (0.05, 0.95)
) -> list[int]:
    """Numbers of the problems whose best arm's variance is nearest to given quantiles of them all.

    Parameters
    ----------
    problems : sequence of Problem
    shares : sequence of float
        In [0, 1].

    Returns
    -------
    list of int

    Examples
    --------
    >>> from marab_lib import problems
    >>> low, high = representative_problems(listed := problems.artificial(50, 0))
    >>> bool(listed[low].variances[listed[low].best_arm] < .04)
    True
    """
    variances = np.array([problem.variances[problem.best_arm] for problem in problems])
    for share in shares:
        _validate.number("shares", share, 0, 1)
    wanted = np.quantile(variances, list(shares))
    return [int(first_least(np.abs(variances - value))) for value in wanted]


def distance_between_settings(ordered: np.ndarray) -> np.ndarray:
    """Largest mean difference between two of the curves of sorted rewards of one policy.

    Parameters
    ----------
    ordered : ndarray, shape (setting, ..., rank)

    Returns
    -------
    ndarray, shape (...), in units of the reward

    Examples
    --------
    >>> float(distance_between_settings(np.array([[0.0, 1.0], [0.5, 1.0], [0.0, 0.0]])))
    0.75
    """
    pairs = [
        np.abs(ordered[i] - ordered[j]).mean(axis=-1) for i in range(len(ordered)) for j in range(i)
    ]
    return np.max(pairs, axis=0)


def reward_summary(groups: dict[str, list[Policy]], tau: int) -> Callable:
    """What `chunks.by_chunks` keeps for the statements of section 5.2.2.

    Parameters
    ----------
    groups : dict
        As `figure_3_policies` gives it.
    tau : int
        Length of ExpExp's exploration.

    Returns
    -------
    callable
        For `chunks.by_chunks`. Its Dataset holds ``quantile`` (policy, problem, level), the mean
        over runs of the quantile values v_alpha of a run's rewards; ``regret`` (policy, problem),
        theoretical; ``change`` (family, problem), see `distance_between_settings`; ``origin``
        (policy, problem, phase, arm), the shares of the lowest 5 % of the rewards by where they
        come from: "first" (a first pull), "early" (up to tau), "late", and "best" (the arm of best
        mean) or "other"; ``variance`` (problem), of the best arm.
    """

    def summary(result: xarray.Dataset, problems: Sequence[Problem]) -> xarray.Dataset:
        import xarray

        rewards, arms = result.rewards.values, result.arms.values
        horizon, k = rewards.shape[-1], result.sizes["arm"]
        ordered = np.sort(rewards, axis=-1)
        # v_alpha of a run: the reward of rank ceil(alpha T).
        ranks = [_rank(level, horizon) - 1 for level in LEVELS]
        names = result.policy.values.tolist()
        curves = ordered.mean(axis=2)
        change = np.stack([
            distance_between_settings(curves[[names.index(p.name) for p in listed]])
            for listed in groups.values()
        ])  # fmt: skip
        last = ordered[..., max(1, int(WORST * horizon)) - 1]
        worst = rewards <= last[..., None]  # with all that are equal to the last of them
        best = np.array([p.best_arm for p in problems])[None, :, None, None]
        from_best = worst & (arms == best)
        parts = [slice(0, k), slice(k, tau), slice(tau, None)]
        by_best, by_all = (
            np.stack([flags[..., part].sum(axis=(2, 3)) for part in parts])
            for flags in (from_best, worst)
        )
        origin = np.stack([by_best, by_all - by_best], axis=1) / by_all.sum(axis=0)
        return xarray.Dataset(
            {
                "quantile": (("policy", "problem", "level"), ordered[..., ranks].mean(axis=2)),
                "regret": result.theoretical_regret.isel(checkpoint=-1, drop=True).mean("run"),
                "change": (("family", "problem"), change),
                "origin": (("phase", "arm", "policy", "problem"), origin),
                "variance": ("problem", [p.variances[p.best_arm] for p in problems]),
            },
            {
                **{n: c for n, c in result.coords.items() if c.dims == ("policy",)},
                "level": list(LEVELS), "family": list(groups),
                "phase": ["first", "early", "late"], "arm": ["best", "other"],
            },
        )  # fmt: skip

    return summary


def origin_table(origin: xarray.DataArray) -> pandas.DataFrame:
    """Shares of the worst rewards by origin, a row a policy, from the ``origin`` of a summary.

    Parameters
    ----------
    origin : DataArray (policy, phase, arm)
    """
    import pandas

    names = [f"{p}, {a} arm" for p in origin.phase.values for a in origin.arm.values]
    values = origin.transpose("policy", "phase", "arm").values.reshape(-1, len(names))
    return pandas.DataFrame(values, index=origin.policy.values, columns=names)


def tail_differences(
    ordered: xarray.DataArray, group: Sequence[Policy], other: str = RIVAL
) -> pandas.DataFrame:
    """Quantile values v_alpha of some policies minus those of another, paired by run.

    Parameters
    ----------
    ordered : DataArray (policy, problem, run, rank)
        Of `regret.sorted_rewards`.
    group : sequence of Policy
    other : str
        Name of the policy to compare with.

    Returns
    -------
    DataFrame
        A row a policy and problem; by level, the mean and its standard error as text.
    """
    import pandas

    horizon = ordered.sizes["rank"]
    rows = {}
    for policy in group:
        for problem in ordered.problem.values:
            at = ordered.sel(problem=problem)
            found = [
                regret.paired_difference(at.sel(rank=_rank(level, horizon)), policy.name, other)
                for level in LEVELS
            ]
            rows[policy.name, problem] = [f"{float(m):+.3f} ± {float(e):.3f}" for m, e in found]
    columns = [f"{level:.0%}" for level in LEVELS]
    return pandas.DataFrame.from_dict(rows, orient="index", columns=columns)


def change_intervals(
    ordered: xarray.DataArray,
    groups: dict[str, list[Policy]],
    *,
    confidence: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> pandas.DataFrame:
    """`distance_between_settings` on each problem, with a bootstrap interval over the runs.

    Parameters
    ----------
    ordered : DataArray (policy, problem, run, rank)
        Of `regret.sorted_rewards`.
    groups : dict
        As `figure_3_policies` gives it.
    confidence, resamples, seed
        Of the percentile intervals.

    Returns
    -------
    DataFrame
        A row a family and problem: value, low, high.
    """
    import pandas

    confidence = _validate.number("confidence", confidence, 0, 1, open_low=True, open_high=True)
    runs = ordered.sizes["run"]
    drawn = draws(runs, resamples, seed)
    rows = {}
    for family, listed in groups.items():
        lines = ordered.sel(policy=[p.name for p in listed])
        for problem in ordered.problem.values:
            of_runs = lines.sel(problem=problem).transpose("policy", "run", "rank").values
            curves = np.stack([of_runs[:, d].mean(axis=1) for d in drawn], axis=1)
            value, *many = distance_between_settings(curves)
            rows[family, problem] = [value, *percentile_interval(many, confidence)]
    return pandas.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])


def _rank(level: float, horizon: int) -> int:
    """ceil(level T), counted from 1."""
    return max(1, risk.ceil_share(level, horizon))


class Rewards:
    """What is kept of the rewards, and resamples of the problems.

    The parameters are those of `reward_statements`.
    """

    def __init__(
        self,
        summary: xarray.Dataset,
        *,
        high_variance: float = 0.75,
        confidence: float = LEVEL,
        resamples: int = 1000,
        seed: int = 0,
    ) -> None:
        _validate.number("high_variance", high_variance, 0, 1, open_high=True)
        self.summary = summary
        self.variance = summary.variance.values
        self.high = self.variance > np.quantile(self.variance, high_variance)
        self.change = {str(f): summary.change.sel(family=f).values for f in summary.family.values}
        self.draws = Resamples(summary.sizes["problem"], confidence, resamples, seed)
        self.draws_of_high = Resamples(int(self.high.sum()), confidence, resamples, seed)

    def name(self, title: str, **parameters: float) -> str:
        """Name of the policy that has given parameters."""
        (name,) = names_of(self.summary, title, **parameters)
        return name

    def tail(self, policy: str, level: float) -> np.ndarray:
        """Quantile value v_level on each problem."""
        return self.summary["quantile"].sel(policy=policy, level=level).values

    def of_high(self, key: str, text: str, values: np.ndarray, rule: Rule) -> Finding:
        """The mean over the problems of high variance, resampled among themselves."""
        means = self.draws_of_high.mean(values[self.high])
        return self.draws_of_high.finding(key, text, means, rule)


def rewards(e: Evidence) -> Rewards:
    """Of the policies of figure 3."""
    named = figure_3_policies()
    groups = {title: e.interpretation.apply(listed) for title, listed in named.items()}
    horizon = e.horizons[0]
    summary = by_chunks(
        e.problems[:200],
        [policy for listed in groups.values() for policy in listed],
        horizon,
        e.runs,
        e.seed,
        reward_summary(groups, int(policies.ExpExp().parameters(20, horizon)[1])),
        threads=e.threads,
    )
    every = [policy for listed in named.values() for policy in listed]
    return Rewards(summary.assign_coords(parameter_coordinates(every)))  # as the paper names them


def _with_variance(r: Rewards, family: str, parameter: str, rule: Rule) -> Finding:
    both = np.stack([r.change[family], r.variance])
    correlation = r.draws.each(both, rank_correlation)
    text = f"rank correlation of the change of the rewards with {parameter} and the variance"
    return r.draws.finding(f"{family}, {parameter} and variance", text, correlation, rule)


@claim("5.2.2 UCB, C, variance")
def ucb_c_variance(e: Evidence) -> Iterator[Finding]:
    """UCB depends on C the more, the larger the best arm's variance."""
    yield _with_variance(e.once(rewards), "UCB", "C", Above(0))


@claim("5.2.2 MV-LCB, rho, variance")
def mv_lcb_rho_variance(e: Evidence) -> Iterator[Finding]:
    """MV-LCB depends on rho the more, the larger the best arm's variance."""
    yield _with_variance(e.once(rewards), "MV-LCB", "rho", Above(0))


@claim("5.2.2 MV-LCB, medium rho")
def mv_lcb_medium_rho(e: Evidence) -> Iterator[Finding]:
    """On high-variance problems MV-LCB does best with a medium rho."""
    r = e.once(rewards)
    low, medium, high = (
        r.summary.regret.sel(policy=r.name("MV-LCB", rho=rho)).values for rho in (1, 2, 10)
    )
    text = "best regret at rho 1 and 10 - at rho 2, high variance"
    yield r.of_high("MV-LCB, medium rho", text, np.minimum(low, high) - medium, Above(0))


@claim("5.2.2 ExpExp explores")
def exp_exp_explores(e: Evidence) -> Iterator[Finding]:
    """ExpExp's risky trials come from its exploration."""
    r = e.once(rewards)
    origin = r.summary.origin.sel(policy=r.name("ExpExp", rho=2)).sum("arm")
    early = r.draws.mean(origin.sel(phase=["first", "early"]).sum("phase").values)
    text = "share of its worst rewards from the exploration"
    yield r.draws.finding("ExpExp explores", text, early, nearer(1, 0))


@claim("5.2.2 MaRaB robust")
def marab_robust(e: Evidence) -> Iterator[Finding]:
    """MaRaB is robust to alpha on high-variance problems (tested: more than UCB is to C)."""
    text = "change of the rewards with alpha - UCB's with C, high variance"
    change = e.once(rewards).change
    yield e.once(rewards).of_high("MaRaB robust", text, change["MaRaB"] - change["UCB"], Below(0))


def _tails(r: Rewards, levels: Sequence[float]) -> Iterator[Finding]:
    """The quantile values of MaRaB against those of ExpExp (rho = 2)."""
    other = r.name("ExpExp", rho=2)
    for alpha in (0.2, 0.01, 0.001):
        name = r.name("MaRaB", alpha=alpha)
        for level in levels:
            apart = r.tail(name, level) - r.tail(other, level)
            key = f"{name} v_{level:g}"
            text = "mean of v_alpha - ExpExp's"
            yield r.draws.finding(key, text, r.draws.mean(apart), Above(0))
            share = r.draws.mean(order(apart, 0) > 0)
            text = "share of problems in which it is higher (1: consistently, 1/2: by chance)"
            yield r.draws.finding(f"{key} share", text, share, nearer(1, 0.5))


@claim("5.2.2 quantile values")
def quantile_values(e: Evidence) -> Iterator[Finding]:
    """For alpha below 20 % MaRaB's quantile values are above those of ExpExp."""
    yield from _tails(e.once(rewards), LEVELS[:-1])


@claim("5.2.2 explores less", "Sections 1 and 5.2.2")
def explores_less(e: Evidence) -> Iterator[Finding]:
    """MaRaB tries arms with bad lower tails less often than UCB and the policies of Sani et al."""
    r = e.once(rewards)
    marab = r.name("MaRaB", alpha=0.2)
    for other in (r.name("UCB", C=1e-6), r.name("MV-LCB", rho=2), r.name("ExpExp", rho=2)):
        for level in (0.05, 0.1):
            gain = Estimate.mean(r.tail(marab, level) - r.tail(other, level))
            yield Finding(f"v_{level:g} of MaRaB (20 %) - that of {other}", gain, Above(0))


two_problems = unchecked(
    "5.2.2 the two problems",
    "Figure 3",
    "The two problems shown are representative.",
    reason="the paper does not give them; notebook 08 chooses two by a rule, and searches for the "
    "two whose curves are nearest to the printed ones",
)


def reward_statements(summary: xarray.Dataset, **options: Any) -> Findings:
    """Each statement of section 5.2.2 as a number with its interval over the problems.

    Parameters
    ----------
    summary : Dataset of `chunks.by_chunks` with `reward_summary`
        On the policies of `figure_3_policies`.
    **options
        Those below.
    high_variance : float
        Problems whose best arm's variance is above this quantile count as of high variance.
        Default 0.75.
    confidence, resamples, seed
        See `regret_statements`.

    Returns
    -------
    Findings
        As `regret_statements` gives them.
    """
    e = Evidence()
    r = e.made[rewards] = Rewards(summary, **options)
    single = [
        *ucb_c_variance.findings(e),
        *mv_lcb_rho_variance.findings(e),
        _with_variance(r, "MaRaB", "alpha", Below(0)),
        *marab_robust.findings(e),
        *mv_lcb_medium_rho.findings(e),
        *exp_exp_explores.findings(e),
    ]
    return Findings([*_tails(r, LEVELS), *single])
