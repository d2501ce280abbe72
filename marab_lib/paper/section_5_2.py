"""Section 5.2: figures 2 and 3 as numbers, and each of its statements with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate, policies, regret, risk
from .._rounding import first_least, order
from ..policies import Policy
from ..problems import Problem
from ..simulation.result import join_policies
from ..simulation.run import simulate
from ..statistics import Estimate, percentile_interval
from .rules import Above, Below, Between, Findings

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "change_intervals",
    "distance_between_settings",
    "extra_policies",
    "figure_2_policies",
    "figure_3_policies",
    "final_regrets",
    "goal_and_learning",
    "origin_table",
    "regret_statements",
    "representative_problems",
    "reward_statements",
    "reward_summary",
    "tail_differences",
    "tail_gain",
    "tune",
    "uniform_regret",
]

LEVELS = (0.01, 0.05, 0.1, 0.15, 0.2)  # of the quantile values v_alpha
WORST = 0.05  # the share of the rewards that count as the worst
_PAPER = {  # shares that section 5.2.1 gives
    ("ExpExp", "MV-LCB"): (0.9, 0.9),
    ("ExpExp", "UCB"): (0.1, 0.2),
    ("MaRaB", "ExpExp"): (0.7, 0.7),
}


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


# --- the statements of 5.2.1 ------------------------------------------------------------------


class _Table:
    """Makes findings, each a statistic over problems with a bootstrap interval."""

    def __init__(self, n: int, confidence: float, resamples: int, seed: int) -> None:
        resamples = _validate.whole("resamples", resamples, 1)
        if n < 2:
            raise ValueError(f"problems must be at least 2 for an interval, got {n}")
        rng = np.random.default_rng(_validate.whole("seed", seed, 0))
        drawn = rng.integers(n, size=(resamples, n))
        # The first line is the sample itself; all statistics share the resamples.
        self.drawn = np.concatenate([np.arange(n)[None], drawn])
        self.found = Findings(confidence)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean over problems in each resample, for values of shape (..., problem)."""
        return np.stack([values[..., d].mean(axis=-1) for d in self.drawn], axis=-1)

    def each(self, values: np.ndarray, statistic: Callable) -> np.ndarray:
        """Another statistic over problems, of the values of each resample."""
        return np.array([statistic(values[..., d]) for d in self.drawn])

    def add(self, key: str, text: str, values: np.ndarray, low: float, high: float, **more) -> None:
        """A finding; the statement holds if the statistic lies between low and high."""
        rule = Below(high) if low == -np.inf else Above(low) if high == np.inf else None
        self.found.add(key, text, values, rule or Between(low, high), **more)


def _below(values: np.ndarray) -> float:
    """Share of the ranks at which the first of two sorted curves is below the second."""
    one, other = np.sort(values, axis=-1)
    return float(np.mean(order(one, other) < 0))


def regret_statements(
    result: xarray.Dataset,
    problems: Sequence[Problem],
    settings: xarray.Dataset | None = None,
    *,
    kind: str = "empirical",
    margin: float = 0.05,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
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
    kind : {"empirical", "theoretical"}
        Which regret.
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
    _validate.choice("kind", kind, ("empirical", "theoretical"))
    single = result[f"{kind}_regret"]
    _needs(single, ("UCB", "MaRaB", "MV-LCB", "ExpExp"))
    horizons = single.horizon.values.tolist()
    if len(horizons) != 2:
        raise ValueError(f"result must hold two horizons, got {horizons}")
    table = _Table(single.sizes["problem"], confidence, resamples, seed)
    for pair, paper in _PAPER.items():
        for horizon, share in zip(horizons, paper, strict=True):
            _improvement(table, single.sel(horizon=horizon), pair, horizon, share, margin)
    by_problem = single.mean("run")
    uniform = {h: uniform_regret(problems, h).mean() for h in horizons}
    for horizon in horizons:
        _ranks(table, by_problem.sel(horizon=horizon), horizon, uniform[horizon], margin)
    _growth(table, by_problem, horizons, uniform, margin)
    if settings is not None:
        values = settings[f"{kind}_regret"].sel(horizon=horizons[0]).mean("run")
        _parameters(table, values, uniform[horizons[0]], margin)
    return table.found


def _needs(values: xarray.DataArray, names: Sequence[str]) -> None:
    for name in names:
        if name not in values.policy:
            raise ValueError(
                f"result must hold the policy {name!r}, got {values.policy.values.tolist()}"
            )


def _improvement(table, single, pair, horizon, paper, margin) -> None:
    """How often one policy has less regret than the other, in three readings of "probability"."""
    both = single.sel(policy=list(pair)).transpose("policy", "problem", "run").values
    key = f"{pair[0]} < {pair[1]} at {horizon}"
    bounds = max(0, paper - margin), min(1, paper + margin)
    add = lambda name, text, v: table.add(f"{key}, {name}", text, v, *bounds, paper=paper)  # noqa: E731
    add("sorted", "share of ranks, curves of single runs", table.each(both[..., 0], _below))
    mean = both.mean(axis=-1)
    if both.shape[-1] > 1:
        add("sorted means", "share of ranks, curves of mean regrets", table.each(mean, _below))
        add("means", "share of problems, mean regrets", table.mean(order(*mean) < 0))
    add("paired", "share of runs, paired", table.mean((order(*both) < 0).mean(axis=-1)))


def _ranks(table, by_problem, horizon, uniform, margin) -> None:
    """Which policy is best and worst in the mean, and the ends of the sorted curves."""
    at = {name: by_problem.sel(policy=name).values for name in ("UCB", "MaRaB", "MV-LCB", "ExpExp")}
    mean = {name: table.mean(values) for name, values in at.items()}
    others = np.min([mean[n] for n in ("MaRaB", "MV-LCB", "ExpExp")], axis=0)
    table.add(f"UCB best at {horizon}", "least mean regret of the others - UCB's",
              others - mean["UCB"], 0, np.inf)  # fmt: skip
    others = np.max([mean[n] for n in ("UCB", "MaRaB", "ExpExp")], axis=0)
    table.add(f"MV-LCB worst at {horizon}", "MV-LCB's mean regret - the largest of the others",
              mean["MV-LCB"] - others, 0, np.inf)  # fmt: skip
    extra = mean["MaRaB"] - mean["UCB"]
    table.add(f"MaRaB - UCB at {horizon}", "extra mean regret", extra, 0, np.inf)
    table.add(f"MaRaB - UCB slight at {horizon}", "extra mean regret, share of uniform play's",
              extra / uniform, -np.inf, margin)  # fmt: skip
    for name, q, text in (("high", 0.99, "99 %"), ("low", 0.01, "1 %")):
        one, other = ("MaRaB", "ExpExp") if name == "high" else ("ExpExp", "UCB")
        values = np.stack([at[one], at[other]])
        difference = table.each(values, lambda v, q=q: -np.diff(np.quantile(v, q, axis=1))[0])
        table.add(f"{one} {name} at {horizon}", f"{one}'s {text} quantile - {other}'s",
                  difference, 0, np.inf)  # fmt: skip


def _growth(table, by_problem, horizons, uniform, margin) -> None:
    """Whether MaRaB's extra regret grows, and whether the order of the policies is kept."""
    names = ("UCB", "MaRaB", "MV-LCB", "ExpExp")
    mean = np.stack([table.mean(by_problem.sel(horizon=h, policy=list(names)).values)
                     for h in horizons])  # fmt: skip
    extra = mean[:, 1] - mean[:, 0]
    table.add("MaRaB - UCB grows", "extra regret at the second horizon - at the first",
              extra[1] - extra[0], -np.inf, margin * uniform[horizons[0]])  # fmt: skip
    table.add("MaRaB - UCB ratio", "extra regret at the second horizon / at the first",
              extra[1] / extra[0], -np.inf, 1 + margin)  # fmt: skip
    pairs = [(a, b) for a in range(4) for b in range(a)]
    agree = [np.prod(order(mean[:, a], mean[:, b]), axis=0) for a, b in pairs]
    table.add("order kept", "Kendall's tau of the orders of the means at both horizons",
              np.mean(agree, axis=0), 1, 1)  # fmt: skip


def _parameters(table, by_problem, uniform, margin) -> None:
    """How the regret depends on alpha and C of MaRaB and on rho of MV-LCB."""
    names = [str(name) for name in by_problem.policy.values]
    levels = [n for n in names if n.startswith("MaRaB(alpha=") and n.endswith("C=1e-06)")]
    levels = sorted(levels, key=lambda n: float(n.split("=")[1].split(",")[0]))
    if len(levels) > 1:
        means = table.mean(by_problem.sel(policy=levels).values)
        table.add("MaRaB falls with alpha", "least fall of the mean from one alpha to the next",
                  -np.diff(means, axis=0).max(axis=0), 0, np.inf)  # fmt: skip
        table.add("MaRaB, alpha from end to end", "mean regret at the least alpha - at the largest",
                  means[0] - means[-1], 0, np.inf)  # fmt: skip
    for start, key in (("MaRaB(alpha=0.2,", "MaRaB any C"), ("MV-LCB(", "MV-LCB any rho")):
        settings = [n for n in names if n.startswith(start)]
        if len(settings) > 1:
            means = table.mean(by_problem.sel(policy=settings).values)
            table.add(key, "range of mean regrets, as a share of uniform play's",
                      np.ptp(means, axis=0) / uniform, -np.inf, margin)  # fmt: skip


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


# --- rewards: figure 3 and the statements of 5.2.2 --------------------------------------------


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
        ascending = np.argsort(rewards, axis=-1, kind="stable")
        ordered = np.take_along_axis(rewards, ascending, axis=-1)
        # v_alpha of a run: the reward of rank ceil(alpha T).
        ranks = [_rank(level, horizon) - 1 for level in LEVELS]
        names = result.policy.values.tolist()
        curves = ordered.mean(axis=2)
        change = np.stack([
            distance_between_settings(curves[[names.index(p.name) for p in listed]])
            for listed in groups.values()
        ])  # fmt: skip
        worst = ascending[..., : max(1, int(WORST * horizon))]
        best = np.array([p.best_arm for p in problems])[None, :, None, None]
        from_best = np.take_along_axis(arms, worst, axis=-1) == best
        phases = [worst < k, (worst >= k) & (worst < tau), worst >= tau]
        origin = np.stack(
            [[(phase & at).mean(axis=(2, 3)) for at in (from_best, ~from_best)] for phase in phases]
        )
        return xarray.Dataset(
            {
                "quantile": (("policy", "problem", "level"), ordered[..., ranks].mean(axis=2)),
                "regret": result.theoretical_regret.isel(checkpoint=-1, drop=True).mean("run"),
                "change": (("family", "problem"), change),
                "origin": (("phase", "arm", "policy", "problem"), origin),
                "variance": ("problem", [p.variances[p.best_arm] for p in problems]),
            },
            {
                "policy": names, "level": list(LEVELS), "family": list(groups),
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
    ordered: xarray.DataArray, group: Sequence[Policy], other: str = "ExpExp(rho=2)"
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
    drawn = np.random.default_rng(seed).integers(runs, size=(resamples, runs))
    rows = {}
    for family, listed in groups.items():
        lines = ordered.sel(policy=[p.name for p in listed])
        for problem in ordered.problem.values:
            of_runs = lines.sel(problem=problem).transpose("policy", "run", "rank").values
            value = distance_between_settings(of_runs.mean(axis=1))
            many = [distance_between_settings(of_runs[:, d].mean(axis=1)) for d in drawn]
            rows[family, problem] = [value, *percentile_interval(many, confidence)]
    return pandas.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])


def _rank(level: float, horizon: int) -> int:
    """ceil(level T), counted from 1."""
    return max(1, risk.ceil_share(level, horizon))


def _rank_correlation(values: np.ndarray) -> float:
    """Spearman's correlation of two rows; 0 where one of them does not vary at all."""
    from scipy.stats import rankdata

    if (order(np.ptp(values, axis=1), 0) == 0).any():
        return 0.0
    return float(np.corrcoef(rankdata(values, axis=1))[0, 1])


def reward_statements(
    summary: xarray.Dataset,
    *,
    high_variance: float = 0.75,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Findings:
    """Each statement of section 5.2.2 as a number with its interval over the problems.

    Parameters
    ----------
    summary : Dataset of `chunks.by_chunks` with `reward_summary`
        On the policies of `figure_3_policies`.
    high_variance : float
        Problems whose best arm's variance is above this quantile count as of high variance.
    confidence, resamples, seed
        See `regret_statements`.

    Returns
    -------
    Findings
        As `regret_statements` gives them.
    """
    _validate.number("high_variance", high_variance, 0, 1, open_high=True)
    table = _Table(summary.sizes["problem"], confidence, resamples, seed)
    variance = summary.variance.values
    high = variance > np.quantile(variance, high_variance)
    for alpha in (0.2, 0.01, 0.001):
        _tails(table, summary["quantile"], f"MaRaB(alpha={alpha:g}, C=1e-06)")
    change = {f: summary.change.sel(family=f).values for f in summary.family.values}
    for family, parameter in (("UCB", "C"), ("MV-LCB", "rho"), ("MaRaB", "alpha")):
        both = np.stack([change[family], variance])
        text = f"rank correlation of the change of the rewards with {parameter} and the variance"
        sign = (-np.inf, 0) if family == "MaRaB" else (0, np.inf)
        table.add(f"{family}, {parameter} and variance", text,
                  table.each(both, _rank_correlation), *sign)  # fmt: skip
    # Of the problems of high variance, resampled among themselves.
    of_high = _Table(int(high.sum()), confidence, resamples, seed)
    of_high.add("MaRaB robust", "change of the rewards with alpha - UCB's with C, high variance",
                of_high.mean((change["MaRaB"] - change["UCB"])[high]), -np.inf, 0)  # fmt: skip
    regrets = {r: summary.regret.sel(policy=f"MV-LCB(rho={r:g})").values for r in (1, 2, 10)}
    ends = np.minimum(regrets[1], regrets[10]) - regrets[2]
    of_high.add("MV-LCB, medium rho", "best regret at rho 1 and 10 - at rho 2, high variance",
                of_high.mean(ends[high]), 0, np.inf)  # fmt: skip
    table.found |= of_high.found
    origin = summary.origin.sum("arm")
    early = origin.sel(policy="ExpExp(rho=2)", phase=["first", "early"]).sum("phase").values
    table.add("ExpExp explores", "share of its worst rewards from the exploration",
              table.mean(early), 0.5, 1)  # fmt: skip
    return table.found


def tail_gain(summary: xarray.Dataset, one: str, other: str, level: float) -> Estimate:
    """Mean over the problems of one policy's quantile value v_level minus another's."""
    values = summary["quantile"].sel(level=level)
    return Estimate.mean((values.sel(policy=one) - values.sel(policy=other)).values)


def _tails(table: _Table, quantiles: xarray.DataArray, name: str) -> None:
    """The quantile values of MaRaB against those of ExpExp (rho = 2)."""
    pair = quantiles.sel(policy=[name, "ExpExp(rho=2)"])
    difference = pair[0].values - pair[1].values  # (problem, level)
    for i, level in enumerate(quantiles.level.values):
        key = f"{name} v_{level:g}"
        table.add(key, "mean of v_alpha - ExpExp's", table.mean(difference[:, i]), 0, np.inf)
        table.add(f"{key} share", "share of problems in which it is higher",
                  table.mean(order(difference[:, i], 0) > 0), 0.5, 1)  # fmt: skip
