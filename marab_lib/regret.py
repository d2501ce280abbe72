"""Regrets and other summaries of a result of `simulate`, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from . import _validate
from .problems import Problem

if TYPE_CHECKING:
    import xarray

__all__ = [
    "cvar_regret",
    "empirical_regret",
    "last_other_pull",
    "mean_and_error",
    "mean_variance_regret",
    "paired_difference",
    "pseudo_regret",
    "pull_share",
    "sorted_rewards",
    "theoretical_regret",
]


def pseudo_regret(pulls: xarray.DataArray, values: xarray.DataArray) -> xarray.DataArray:
    """Sum over the arms of their pulls times what each falls short of the best value.

    Parameters
    ----------
    pulls : DataArray with dimension ``arm``
        Number of pulls.
    values : DataArray with dimension ``arm``
        What is to be large, such as the mean or the CVaR of each arm.

    Returns
    -------
    DataArray without ``arm``, in units of the value
    """
    return (pulls * (values.max("arm") - values)).sum("arm")


def theoretical_regret(result: xarray.Dataset) -> xarray.DataArray:
    """Final theoretical regret t mu* - sum_k n_k mu_k (section 2.1), from the pulls."""
    return pseudo_regret(result.pulls, result["mean"])


def empirical_regret(result: xarray.Dataset) -> xarray.DataArray:
    """Empirical regret t mu* - (sum of rewards) at every step (section 2.1).

    Raises
    ------
    ValueError
        If the result has no ``rewards``.
    """
    rewards = _recorded(result, "rewards")
    return result.step * result["mean"].max("arm") - rewards.cumsum("step")


def cvar_regret(
    result: xarray.Dataset, problems: Sequence[Problem], alpha: float | str | Fraction
) -> xarray.DataArray:
    """Final CVaR regret: as the theoretical regret, with the CVaR at level alpha for the mean.

    Parameters
    ----------
    result : Dataset of `simulate`
    problems : sequence of Problem
        Those that were simulated, in the same order.
    alpha : float, str or Fraction
        Level in (0, 1).
    """
    return pseudo_regret(result.pulls, _values(result, [p.cvars(alpha) for p in _listed(problems)]))


def mean_variance_regret(
    result: xarray.Dataset, problems: Sequence[Problem], rho: float
) -> xarray.DataArray:
    """Final mean-variance regret: pulls times the excess of variance - rho mean over the least.

    This is the first term of the regret of Sani et al. (2012); their second, the variance that
    comes from switching between arms, is left out.
    """
    losses = [p.mean_variances(rho) for p in _listed(problems)]
    return pseudo_regret(result.pulls, -_values(result, losses))


def _listed(problems: Problem | Sequence[Problem]) -> list[Problem]:
    return [problems] if isinstance(problems, Problem) else list(problems)


def _values(result: xarray.Dataset, rows: list[np.ndarray]) -> xarray.DataArray:
    import xarray

    if len(rows) != result.sizes["problem"]:
        raise ValueError(
            f"problems must be the {result.sizes['problem']} that were simulated, got {len(rows)}"
        )
    coordinates = {"problem": result.problem, "arm": result.arm}
    return xarray.DataArray(np.stack(rows), coordinates, ("problem", "arm"))


def _recorded(result: xarray.Dataset, name: str) -> xarray.DataArray:
    if name not in result:
        raise ValueError(f"result holds no {name!r}: run simulate with record=({name!r},)")
    return result[name]


def pull_share(result: xarray.Dataset) -> xarray.DataArray:
    """Share of the pulls that each arm got, in [0, 1]."""
    return result.pulls / result.pulls.sum("arm")


def sorted_rewards(result: xarray.Dataset, average: str = "after") -> xarray.DataArray:
    """Rewards in increasing order: the empirical cdf of figures 3 and 4, left.

    Parameters
    ----------
    result : Dataset of `simulate` with ``rewards``
    average : {"after", "before"}
        "after": each run is sorted, and keeps its dimension ``run`` (average it after). "before":
        the runs are averaged step by step and the averages sorted, as the paper's footnote words
        it; this hides the worst rewards.

    Returns
    -------
    DataArray with dimension ``rank`` (1 to T) in place of ``step``
    """
    _validate.choice("average", average, ("after", "before"))
    rewards = _recorded(result, "rewards")
    if average == "before":
        rewards = rewards.mean("run")
    ordered = rewards.copy(data=np.sort(rewards.values, axis=rewards.get_axis_num("step")))
    return ordered.rename(step="rank")


def last_other_pull(result: xarray.Dataset, arm: int) -> xarray.DataArray:
    """Last step at which another arm than `arm` was played, 0 if there was none."""
    other = _recorded(result, "arms") != arm
    return (other * result.step).max("step")


def mean_and_error(
    x: xarray.DataArray, over: str | Sequence[str] = "run"
) -> tuple[xarray.DataArray, xarray.DataArray]:
    """Mean and its standard error over independent repetitions.

    Examples
    --------
    >>> import xarray
    >>> mean, error = mean_and_error(xarray.DataArray([1.0, 2.0, 3.0], dims="run"))
    >>> float(mean), round(float(error), 4)
    (2.0, 0.5774)
    """
    names = [over] if isinstance(over, str) else list(over)
    n = int(np.prod([x.sizes[name] for name in names]))
    if n < 2:
        raise ValueError(f"over must span at least 2 repetitions for an error, got {n}")
    return x.mean(names), x.std(names, ddof=1) / np.sqrt(n)


def paired_difference(
    x: xarray.DataArray, one: str, other: str, over: str | Sequence[str] = "run"
) -> tuple[xarray.DataArray, xarray.DataArray]:
    """Mean and standard error of x[one] - x[other], which share the reward tape run by run.

    Parameters
    ----------
    x : DataArray with dimension ``policy``
    one, other : str
        Names of policies in it.
    over : str or sequence of str
        Dimensions of the repetitions.
    """
    difference = x.sel(policy=one, drop=True) - x.sel(policy=other, drop=True)
    return mean_and_error(difference, over)
