"""Which arm and which policy to choose, for own rewards, an aim and a horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import _validate, comparison, criteria, regret, risk
from ._rounding import first_least, order
from .arms import UsedUp
from .criteria import Criterion
from .own_data import Rewards
from .policies import Policy
from .problems import Problem
from .simulation.run import simulate

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["Decision", "aim", "best_arms", "decide", "earned", "replayed"]

_LEVEL = "0.1"  # of the policies that aim at a CVaR, where the aim is another


def aim(text: str) -> Criterion:
    """A criterion that keeps its meaning under rescaling, from its text.

    Parameters
    ----------
    text : str
        "mean", "minimum", or "cvar:" and a level in (0, 1).

    Examples
    --------
    >>> aim("cvar:0.1").name
    'CVaR 10%'
    """
    name, _, level = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name == "cvar":
        return criteria.cvar(risk.exact_level(level, "the level of aim"))
    if text not in ("mean", "minimum"):
        raise ValueError(
            f"aim must be 'mean', 'minimum' or 'cvar:' and a level such as 'cvar:0.1', got "
            f"{_validate.shown(text)}"
        )
    return criteria.mean() if text == "mean" else criteria.minimum()


def best_arms(judged: pandas.DataFrame) -> pandas.DataFrame:
    """The best arm by each criterion, and the one that is so next often in the resamples.

    Parameters
    ----------
    judged : DataFrame of `Rewards.judge`

    Returns
    -------
    DataFrame
        One row a criterion: ``arm`` (the first of equals), its ``value`` with ``low`` and ``high``
        in the reader's unit, ``best``, the share of resamples in which it is; ``next``, the other
        arm of the largest share, and ``share``.
    """
    import pandas as pd

    rows = {}
    for criterion, part in judged.groupby("criterion", sort=False):
        at = part.loc[part.index[first_least(-part["value"])]]
        others = part[part["arm"] != at["arm"]]
        rival = others.iloc[int(first_least(-others["best"]))]
        kept = at[["arm", "value", "low", "high", "best"]].to_dict()
        rows[criterion] = kept | {"next": rival["arm"], "share": rival["best"]}
    return pd.DataFrame(rows).T.infer_objects()


@dataclass(frozen=True)
class Decision:
    """The policy to use, and how it was found. Made by `decide`.

    Attributes
    ----------
    rewards : Rewards
    criterion : Criterion
        The aim.
    result : Dataset of `simulate`
        All policies, with their rewards on [0, 1].
    regrets : DataFrame of `comparison.regret_table`
        The policy of least regret first; it is the reference.
    first, second : Policy
        The two of least regret.
    more, error : float
        What the second loses more than the first in a pull, and its standard error, in the reader's
        unit, on draws by which neither was chosen.
    """

    rewards: Rewards
    criterion: Criterion
    result: xarray.Dataset
    regrets: pandas.DataFrame
    first: Policy
    second: Policy
    more: float
    error: float

    @property
    def equals(self) -> list[str]:
        """The other policies whose paired 95 % interval to the first one holds 0."""
        near = order(self.regrets["low"], 0) <= 0
        return self.regrets["policy"][near].tolist()[1:]

    def __str__(self) -> str:
        first, second, more = self.first.name, self.second.name, self.more
        gap = f"{abs(more):.2g} ± {self.error:.1g} a pull"
        if order(abs(more), 2 * self.error) <= 0:
            return f"{first} and {second} are not told apart (they differ by {gap})"
        if more < 0:
            first, second = second, first
        return f"{first} is the one to use, and {second}, the next, loses {gap} more"


def decide(
    rewards: Rewards,
    criterion: Criterion,
    horizon: int,
    runs: int,
    seed: int,
    team: Sequence[Policy] | None = None,
) -> Decision:
    """Play policies on draws from the table; the two of least regret again, on other draws.

    Who has the least regret of many on some draws looks better than he is, so the difference to the
    next is taken from draws that nobody was chosen by.

    Parameters
    ----------
    rewards : Rewards
    criterion : Criterion
        What is to be large, such as ``aim("cvar:0.1")``; the regret is the pseudo-regret by it.
    horizon, runs, seed : int
        As for `simulate`; runs >= 2. The second draws have the seed after this.
    team : sequence of Policy, optional
        At least two. Default `comparison.everyone`, at a CVaR level of 10 %.

    Examples
    --------
    >>> from marab_lib import own_data, policies
    >>> rewards = own_data.from_pairs(["a", "b"] * 50, [3, 4] * 50)
    >>> team = [policies.UCB(1e3), policies.MIN()]
    >>> print(decide(rewards, aim("mean"), 20, 4, 0, team))
    MIN is the one to use, and UCB(C=1000), the next, loses 0.45 ± 0 a pull more
    """
    if not isinstance(rewards, Rewards):
        raise TypeError(f"rewards must be Rewards of own_data, got {_validate.shown(rewards)}")
    regret.checked_criterion(criterion)
    horizon = _validate.whole("horizon", horizon, len(rewards.arms), 2**31 - 1)
    seed = _validate.whole("seed", seed, 0)
    team = comparison.everyone(_LEVEL) if team is None else team
    team = _validate.several("team", team, Policy, "Policy objects such as policies.UCB()")
    _validate.distinct("team", [policy.name for policy in team])
    if len(team) < 2:
        raise ValueError(f"team must hold at least 2 policies, got {len(team)}")
    _validate.whole("runs", runs, 2)
    problem, scale = rewards.problem(), (rewards.high - rewards.low) / horizon
    result = simulate(problem, team, horizon, runs, seed, record=("rewards",), checkpoints=1)
    lost = regret.criterion_regret(result, problem, criterion).mean(["problem", "run"])
    ranks = np.argsort(lost.values.round(9), kind="stable")
    ordered = result.isel(policy=ranks)
    first, second = (team[i] for i in ranks[:2])
    regrets = comparison.regret_table(ordered, problem, [criterion], first.name)
    again = simulate(problem, [first, second], horizon, runs, seed + 1, checkpoints=1)
    lost = regret.criterion_regret(again, problem, criterion).squeeze("problem")
    more, error = (
        scale * float(x) for x in regret.paired_difference(lost, second.name, first.name)
    )
    return Decision(rewards, criterion, ordered, regrets, first, second, more, error)


def earned(
    rewards: Rewards, result: xarray.Dataset, level: float | str, over: str = "run"
) -> pandas.DataFrame:
    """What the rewards of a run amount to, in the reader's unit: mean, CVaR and the worst of them.

    Parameters
    ----------
    rewards : Rewards
        Whose problem was simulated.
    result : Dataset of `simulate` with ``rewards``
        Of one problem, or one run of each of several.
    level : float or str
        Of the CVaR.
    over : {"run", "problem"}
        What the standard errors are over.

    Returns
    -------
    DataFrame
        One row for each ``measure`` and ``policy``: ``value``, ``error``, ``title``.
    """
    import pandas as pd

    _validate.choice("over", over, ("run", "problem"))
    x = rewards.in_unit(regret.checked_result(result, rewards=["step"]).rewards)
    other = ({"run", "problem"} - {over}).pop()
    if x.sizes[other] > 1:
        raise ValueError(f"result must have one {other} for over={over!r}, got {x.sizes[other]}")
    x = x.squeeze(other)
    tail = x.isel(step=0, drop=True).copy(data=risk.cvar(x.values, level, "split"))
    name = criteria.cvar(level).name
    rows = []
    for measure, part in {"mean": x.mean("step"), name: tail, "worst": x.min("step")}.items():
        value, error = regret.mean_and_error(part, over)
        error = error.where(error > 1e-9 * (rewards.high - rewards.low), 0.0)  # rounding only
        rows.append(pd.DataFrame({
            "measure": measure,
            "policy": result.policy.values,
            "value": value.values,
            "error": error.values,
            "title": result.title.values,
        }))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def replayed(
    rewards: Rewards,
    team: Sequence[Policy],
    problems: Problem | Sequence[Problem],
    horizon: int,
    seed: int,
) -> pandas.DataFrame:
    """Mean reward of each policy where the file is replayed, in the reader's unit.

    Parameters
    ----------
    rewards : Rewards
    team : sequence of Policy
    problems : Problem or sequence of Problem
        `Rewards.replay` is played 20 times, which differ only where a policy draws random numbers;
        each of `Rewards.shuffled` once.
    horizon, seed : int

    Returns
    -------
    DataFrame
        One row a policy: ``value``, its standard ``error``, and ``ended``: "", or the message where
        a column was used up, and the numbers are NaN.
    """
    import pandas as pd

    over, runs = ("run", 20) if isinstance(problems, Problem) else ("problem", 1)
    team = list(team)
    try:
        result = simulate(problems, team, horizon, runs, seed, record=("rewards",), checkpoints=1)
    except UsedUp as error:
        if len(team) > 1:
            parts = [replayed(rewards, [policy], problems, horizon, seed) for policy in team]
            return pd.concat(parts)
        return pd.DataFrame(
            {"value": math.nan, "error": math.nan, "ended": str(error)}, index=[team[0].name]
        )
    table = earned(rewards, result, _LEVEL, over).set_index("policy")
    return table.loc[table["measure"] == "mean", ["value", "error"]].assign(ended="")
