"""One call that sets an own policy beside the others: regrets, and paired differences to it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _validate
from . import criteria as _criteria
from . import policies as _policies
from ._rounding import first_least, order
from .criteria import Criterion
from .policies.since_2013 import KNOWLEDGE
from .problems import Problem
from .regret import (
    checked_array,
    checked_criterion,
    checked_result,
    checkpoint_pulls,
    criterion_regret,
    criterion_values,
    listed_problems,
    mean_and_error,
    simulated_problems,
)
from .simulation.run import simulate
from .statistics import proportion_interval, student_half_width

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = [
    "best_policies",
    "compare",
    "everyone",
    "growth",
    "in_words",
    "regret_table",
    "stuck_runs",
    "wrong_runs",
]


_PLAYED = {"policy": ["policy"], "pulls": ["policy", "problem", "run", "arm"]}


def regret_table(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    criteria: Sequence[Criterion],
    reference: str,
    kind: str = "pseudo",
    level: float = 0.95,
) -> pandas.DataFrame:
    """Final regret of each policy by each criterion, and its paired difference to one policy.

    Parameters
    ----------
    result : Dataset of `simulate`
    problems : Problem or sequence of Problem
        Those that were simulated, in the same order.
    criteria : sequence of Criterion
    reference : str
        Name of the policy that is subtracted.
    kind : {"pseudo", "empirical"}
        See `regret.criterion_regret`.
    level : float
        Of the intervals. Default 0.95.

    Returns
    -------
    DataFrame
        One row for each criterion and policy: ``regret`` and its standard ``error``; the
        ``difference`` to the reference, ``low`` and ``high`` (Student's interval for the pairs on
        the same reward tape); the name of the ``reference``; the policy's ``title`` and its
        ``label`` in legends. With several problems a repetition is a problem, else a run.
    """
    import pandas as pd

    criteria = _distinct(criteria)
    checked_result(result, **_PLAYED, title=["policy"], label=["policy"])
    names, titles, labels = (result[x].values.tolist() for x in ("policy", "title", "label"))
    if not isinstance(reference, str) or names.count(reference) != 1:
        raise ValueError(
            f"reference must be one of the policies {names}, got {_validate.shown(reference)}"
        )
    _validate.number("level", level, 0, 1, open_low=True, open_high=True)
    rows = []
    for criterion in criteria:
        sample = _repetitions(criterion_regret(result, problems, criterion, kind))
        n = sample.shape[1]
        pairs = sample - sample[names.index(reference)]
        half = student_half_width(pairs, level)
        for i, name in enumerate(names):
            rows.append({
                "criterion": criterion.name,
                "policy": name,
                "regret": sample[i].mean(),
                "error": sample[i].std(ddof=1) / np.sqrt(n),
                "difference": pairs[i].mean(),
                "low": pairs[i].mean() - half[i],
                "high": pairs[i].mean() + half[i],
                "reference": reference,
                "title": titles[i],
                "label": labels[i],
            })  # fmt: skip
    return pd.DataFrame(rows)


def _distinct(criteria: Criterion | Sequence[Criterion]) -> list[Criterion]:
    """One criterion or several as a list of distinct names."""
    listed = _validate.several("criteria", criteria, Criterion, "Criterion objects")
    _validate.distinct("criteria", [criterion.name for criterion in listed])
    return listed


def checked_table(table: pandas.DataFrame, *columns: str) -> pandas.DataFrame:
    """The table, if it is one of `regret_table` that holds at least one row and some columns."""
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"table must be a DataFrame of compare or regret_table, got {_validate.shown(table)}"
        )
    for column in columns:
        if column not in table.columns:
            raise ValueError(
                f"table must be of compare or regret_table and hold the column {column!r}, got "
                f"{list(table.columns)}"
            )
    if table.empty:
        raise ValueError("table must hold at least one row, got none")
    for column in {"regret", "error", "difference", "low", "high"} & set(columns):
        _validate.finite_array(f"table[{column!r}]", table[column].tolist())
    return table


def _repetitions(regret: xarray.DataArray) -> np.ndarray:
    """Independent repetitions, shape (policies, n): of problems, or of runs where one is played."""
    if extra := sorted(set(map(str, regret.dims)) - {"policy", "problem", "run"}):
        raise ValueError(
            f"result must have no dimensions but those of simulate, got also {extra}: join "
            "results along 'run' or 'problem'"
        )
    over, within = ("run", "problem") if regret.sizes["problem"] == 1 else ("problem", "run")
    if regret.sizes[over] < 2:
        raise ValueError("runs must be at least 2 for an interval on one problem, got 1")
    return regret.mean(within).transpose("policy", over).values


def compare(
    own: _policies.Policy,
    problems: Problem | Sequence[Problem],
    horizon: int,
    runs: int,
    seed: int | np.random.Generator,
    *,
    alpha: float | str | Fraction = 0.1,
    criteria: Sequence[Criterion] | None = None,
    others: Sequence[_policies.Policy] | None = None,
    **options,
) -> pandas.DataFrame:
    """Play an own policy and the others on the same rewards, and tell all regrets apart.

    Parameters
    ----------
    own : Policy
        Such as ``policies.Custom(function, params)``.
    problems, horizon, runs, seed
        As for `simulate`.
    alpha : float, str or Fraction
        Level of the policies and of the regret that aim at the CVaR. Default 0.1.
    criteria : sequence of Criterion, optional
        Default the mean and the CVaR at alpha.
    others : sequence of Policy, optional
        Default `everyone`, less those that cannot play the problems (a warning names them) and
        those of the own policy's name.
    **options
        Handed to `simulate` (threads, progress, store, ...).

    Returns
    -------
    DataFrame
        See `regret_table`; a negative ``low`` to ``high`` is a policy that beats the own one. Drawn
        by ``plots.comparison`` and ``plots.paired_differences``.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> own = policies.UCB(0.2, label="mine")
    >>> table = compare(own, problems.stuck(), 200, 4, 0, others=[policies.MIN()])
    >>> table[["criterion", "policy"]].values.tolist()[:2]
    [['mean', 'mine'], ['mean', 'MIN']]
    """
    listed = listed_problems(problems)
    if not isinstance(own, _policies.Policy):
        raise TypeError(f"own must be a Policy such as policies.UCB(), got {_validate.shown(own)}")
    usual = [_criteria.mean(), _criteria.cvar(alpha)]
    criteria = _distinct(usual if criteria is None else criteria)
    if len(listed) == 1 and _validate.whole("runs", runs, 1) == 1:
        raise ValueError("runs must be at least 2 for an interval on one problem, got 1")
    if others is None:
        others = _able([p for p in everyone(alpha) if p.name != own.name], listed)
    elif not isinstance(others, (list, tuple)) or others:
        others = _validate.several("others", others, _policies.Policy, _POLICIES)
    result = simulate(listed, [own, *others], horizon, runs, seed, **options)
    return regret_table(result, listed, criteria, own.name)


_POLICIES = "Policy objects such as policies.UCB()"


def everyone(alpha: float | str | Fraction = 0.1) -> list[_policies.Policy]:
    """All policies that play any rewards in [0, 1], those that aim at a CVaR at level alpha.

    UCB comes at the C of the paper's figure 2 (1e-3), at the one that notebook 07 finds best there
    (0.1), and at that of its analysis (sqrt(2)); all others at their defaults.

    Examples
    --------
    >>> len(everyone())
    22
    """
    ucb = [_policies.UCB(C) for C in (1e-3, 0.1, 2**0.5)]
    marab = [_policies.MaRaB(alpha), _policies.ForcedMaRaB(alpha)]
    paper = [*marab, _policies.MIN(), _policies.MVLCB(), _policies.ExpExp()]
    plain = [_policies.KLUCB(), _policies.ThompsonSampling(), _policies.EpsilonGreedy()]
    return [*paper, *ucb, *plain, *_policies.since_2013(alpha)]


def _able(policies: list[_policies.Policy], problems: list[Problem]) -> list[_policies.Policy]:
    """Those that can play all problems; a warning names the others, each reason once."""
    able: list[_policies.Policy] = []
    reasons: dict[str, list[str]] = {}
    for policy in policies:
        try:
            for problem in problems:
                policy.check_problem(problem)
        except ValueError as error:
            reason = str(error).removeprefix("problems: ").removeprefix(policy.name).strip()
            reasons.setdefault(reason, []).append(policy.name)
        else:
            able.append(policy)
    if reasons:
        parts = [f"{', '.join(names)} (each {reason})" for reason, names in reasons.items()]
        warnings.warn("left out: " + "; ".join(parts), stacklevel=3)
    return able


def _rounded(x: float, digits: int, sign: str = "") -> str:
    """x with so many decimals; negative digits round to tens, hundreds, ..."""
    return f"{round(x, digits) + 0.0:{sign},.{max(digits, 0)}f}"


def in_words(table: pandas.DataFrame, by: str = "policy", pairs: bool = False) -> pandas.DataFrame:
    """A `regret_table` as text: regret ± standard error (to two digits), policies by criteria.

    Parameters
    ----------
    table : DataFrame of `regret_table`
    by : str
        Column that names the rows.
    pairs : bool
        Add the interval of the paired difference to the reference.
    """
    if not isinstance(pairs, (bool, np.bool_)):
        raise TypeError(f"pairs must be True or False, got {_validate.shown(pairs)}")
    columns = ("criterion", "policy", "regret", "error", "low", "high")
    checked_table(table, *(columns if pairs else columns[:4]))
    if not isinstance(by, str) or by not in table.columns:
        raise ValueError(
            f"by must be a column of the table, of {list(table.columns)}, got {_validate.shown(by)}"
        )
    if table.duplicated([by, "criterion"]).any():
        raise ValueError(f"by must name the rows of each criterion apart, got {by!r}")

    def text(row: pandas.Series) -> str:
        error = row["error"] if row["error"] > 1e-9 * abs(row["regret"]) else 0.0  # rounding only
        digits = 1 - math.floor(math.log10(error)) if error else 3
        plain = f"{_rounded(row['regret'], digits)} ± {_rounded(error, digits) if error else 0}"
        if not pairs or row["policy"] == row.get("reference"):
            return plain
        return (
            f"{plain} ({_rounded(row['low'], digits, '+')} to {_rounded(row['high'], digits, '+')})"
        )

    wide = table.assign(text=table.apply(text, axis=1)).pivot(
        index=by, columns="criterion", values="text"
    )
    return wide.loc[table[by].unique(), table["criterion"].unique()]


def _share(hits: int, n: int) -> str:
    low, high = proportion_interval(hits, n)
    return f"{hits}/{n} ({low:.3f} to {high:.3f})"


def wrong_runs(result: xarray.Dataset, best: int) -> pandas.Series:
    """Runs that gave most of their pulls to other arms than `best`, with an exact 95 % interval."""
    import pandas as pd

    checked_result(result, **_PLAYED)
    best = _validate.whole("best", best, 0, result.sizes["arm"] - 1)
    others = result.pulls.sum("arm") - result.pulls.isel(arm=best)
    wrong = (2 * others > result.pulls.sum("arm")).sum(["problem", "run"])
    n = result.sizes["problem"] * result.sizes["run"]
    return pd.Series({str(x.policy.values): _share(int(x), n) for x in wrong}, name="wrong")


def growth(paths: xarray.DataArray, early: int) -> pandas.DataFrame:
    """Final mean regret over that at an earlier checkpoint, with its standard error.

    Parameters
    ----------
    paths : DataArray with dimensions policy, run and checkpoint
    early : int
        A checkpoint.
    """
    import pandas as pd

    for dim in ("policy", "run", "checkpoint"):
        checked_array("paths", paths, dim)
    if "problem" in paths.dims:
        raise ValueError("paths must be of one problem: use .squeeze('problem') or .sel")
    checkpoints = paths.checkpoint.values.tolist()
    if _validate.whole("early", early, 1) not in checkpoints:
        raise ValueError(f"early must be one of {checkpoints}, got {early}")
    first, last = paths.sel(checkpoint=early), paths.isel(checkpoint=-1)
    mean = first.mean("run")
    ratio = last.mean("run") / mean.where(mean != 0)
    # The delta method, for two means of the same runs.
    _, error = mean_and_error(last.drop_vars("checkpoint") - ratio * first)
    columns = {"ratio": ratio.values, "error": (error / mean.where(mean != 0)).values}
    return pd.DataFrame(columns, index=paths.policy.values)


def stuck_runs(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    criterion: Criterion,
    early: int,
    near: float = 0.1,
    share: float = 0.01,
) -> pandas.Series:
    """Runs in which hardly a late pull went to a nearly best arm, with an exact 95 % interval.

    Parameters
    ----------
    result : Dataset of `simulate` with ``record="pulls"``
    problems : Problem or sequence of Problem
        Those that were simulated, in the same order.
    criterion : Criterion
    early : int
        Checkpoint after which pulls are late.
    near : float
        Nearly best: within this share of the criterion's spread over the arms.
    share : float
        Hardly: less than this share of the late pulls.
    """
    import pandas as pd

    counts = checkpoint_pulls(checked_result(result, **_PLAYED))
    checkpoints = counts.checkpoint.values.tolist()
    if _validate.whole("early", early, 1) not in checkpoints[:-1]:
        raise ValueError(
            f"early must be a checkpoint before the last of {checkpoints}, got {early}"
        )
    near = _validate.number("near", near, 0, 1)
    share = _validate.number("share", share, 0, 1, open_low=True)
    listed = simulated_problems(result, problems)
    values = criterion_values(result, listed, checked_criterion(criterion)).values
    best, least = values.max(axis=1, keepdims=True), values.min(axis=1, keepdims=True)
    good = order(values, best - near * (best - least)) >= 0
    late = counts.isel(checkpoint=-1, drop=True) - counts.sel(checkpoint=early, drop=True)
    pulls = late.transpose("policy", "problem", "run", "arm").values
    stuck = (pulls * good[:, None]).sum(axis=-1) < share * pulls.sum(axis=-1)
    names = result.policy.values.tolist()
    shares = [_share(int(hits.sum()), hits.size) for hits in stuck]
    return pd.Series(shares, index=names, name="stuck")


def _listed(name: str, given: Any, wanted: str) -> list:
    """A sequence as a list."""
    array = isinstance(given, np.ndarray) and given.ndim > 0
    if not array and (not isinstance(given, Sequence) or isinstance(given, (str, bytes))):
        raise TypeError(f"{name} must be a list of {wanted}, got {_validate.shown(given)}")
    if not len(given):
        raise ValueError(f"{name} must hold at least one of {wanted}, got none")
    return list(given)


def best_policies(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    teams: Sequence[tuple[Criterion, Sequence[_policies.Policy]]],
    times: Sequence[int],
) -> pandas.DataFrame:
    """Which policy has the least mean regret, for each criterion and horizon.

    Parameters
    ----------
    result : Dataset of `simulate` with ``record="pulls"``
    problems : Problem or sequence of Problem
    teams : sequence of (Criterion, policies)
        What is aimed at, and which of the policies to judge by it.
    times : sequence of int
        Checkpoints.

    Returns
    -------
    DataFrame
        The policy, its regret and standard error, what it must know, and (within error) the others
        whose paired 95 % interval to it (Student's) contains 0.
    """
    import pandas as pd
    from scipy import stats

    rows, counts = [], checkpoint_pulls(checked_result(result, **_PLAYED))
    checkpoints = counts.checkpoint.values.tolist()
    times = _listed("times", times, "checkpoints")
    for t in times:
        if _validate.whole("times", t, 1) not in checkpoints:
            raise ValueError(f"times must be checkpoints, of {checkpoints}, got {t}")
    names = result.policy.values.tolist()
    for pair in (teams := _listed("teams", teams, "pairs of a Criterion and its policies")):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"teams must be pairs of a Criterion and its policies, got {_validate.shown(pair)}"
            )
        checked_criterion(pair[0], "teams")
        for policy in _validate.several("teams", pair[1], _policies.Policy, _POLICIES):
            if policy.name not in names:
                raise ValueError(f"teams must be of the policies {names}, got {policy.name!r}")
    for criterion, team in teams:
        team = _validate.several("teams", team, _policies.Policy, _POLICIES)
        chosen = result.sel(policy=[p.name for p in team])
        regret = criterion_regret(chosen, problems, criterion, at="checkpoints")
        for t in times:
            sample = _repetitions(regret.sel(checkpoint=t))
            first = int(first_least(sample.mean(axis=1)))
            pairs = sample - sample[first]
            half = student_half_width(pairs)
            near = np.flatnonzero(order(pairs.mean(axis=1) - half, 0) <= 0)
            rows.append({
                "aim": criterion.name,
                "T": t,
                "least regret": team[first].name,
                "regret": float(f"{sample[first].mean():.3g}"),
                "error": float(f"{stats.sem(sample[first]):.2g}"),
                "it needs": KNOWLEDGE.get(team[first].title, "nothing"),
                "within error": "; ".join(team[i].name for i in near if i != first) or "none",
            })  # fmt: skip
    return pd.DataFrame(rows)
