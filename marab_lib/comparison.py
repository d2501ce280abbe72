"""One call that sets an own policy beside the others: regrets, and paired differences to it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from . import criteria as _criteria
from . import policies as _policies
from .criteria import Criterion
from .problems import Problem
from .regret import criterion_regret
from .simulate import simulate

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["compare", "regret_table"]


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
        the same reward tape). With several problems a repetition is a problem, else a run.
    """
    import pandas as pd
    from scipy import stats

    names = result.policy.values.tolist()
    if reference not in names:
        raise ValueError(f"reference must be one of the policies {names}, got {reference!r}")
    rows = []
    for criterion in criteria:
        regret = criterion_regret(result, problems, criterion, kind)
        over = "run" if regret.sizes["problem"] == 1 else "problem"
        sample = regret.mean("run" if over == "problem" else "problem").transpose("policy", over)
        n = sample.sizes[over]
        if n < 2:
            raise ValueError("runs must be at least 2 for an interval, or problems, got 1 of each")
        pairs = (sample - sample.sel(policy=reference)).values
        half = stats.t.ppf((1 + level) / 2, n - 1) * pairs.std(axis=1, ddof=1) / np.sqrt(n)
        for i, name in enumerate(names):
            rows.append({
                "criterion": criterion.name,
                "policy": name,
                "regret": sample.values[i].mean(),
                "error": sample.values[i].std(ddof=1) / np.sqrt(n),
                "difference": pairs[i].mean(),
                "low": pairs[i].mean() - half[i],
                "high": pairs[i].mean() + half[i],
            })  # fmt: skip
    return pd.DataFrame(rows)


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
        Default MaRaB, MIN, UCB and all of ``policies.since_2013(alpha)``.
    **options
        Handed to `simulate` (threads, progress, store, ...).

    Returns
    -------
    DataFrame
        See `regret_table`; a negative ``low`` to ``high`` is a policy that beats the own one. Drawn
        by ``plots.comparison``.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> own = policies.UCB(0.2, label="mine")
    >>> table = compare(own, problems.stuck(), 200, 4, 0, others=[policies.MIN()])
    >>> table[["criterion", "policy"]].values.tolist()[:2]
    [['mean', 'mine'], ['mean', 'MIN']]
    """
    if criteria is None:
        criteria = [_criteria.mean(), _criteria.cvar(alpha)]
    if others is None:
        classic = [_policies.MaRaB(alpha), _policies.MIN(), _policies.UCB(1.0)]
        others = [*classic, *_policies.since_2013(alpha)]
    result = simulate([*_listed(problems)], [own, *others], horizon, runs, seed, **options)
    return regret_table(result, _listed(problems), criteria, own.name)


def _listed(problems: Problem | Sequence[Problem]) -> list[Problem]:
    return [problems] if isinstance(problems, Problem) else list(problems)
