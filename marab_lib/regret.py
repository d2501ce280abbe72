"""Regrets and other summaries of a result of `simulate`, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from . import _kernels, _validate, criteria
from .arms import stream_key
from .criteria import Criterion
from .problems import Problem

if TYPE_CHECKING:
    import xarray

__all__ = [
    "criterion_regret",
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


def criterion_regret(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    criterion: Criterion,
    kind: str = "pseudo",
    at: str = "end",
) -> xarray.DataArray:
    """Regret by any criterion, from the pulls of a run that was done already.

    Parameters
    ----------
    result : Dataset of `simulate`
    problems : Problem or sequence of Problem
        Those that were simulated, in the same order.
    criterion : Criterion
        Such as ``criteria.cvar(0.1)``.
    kind : {"pseudo", "empirical"}
        "pseudo": the sum over the pulls of what the pulled arm falls short of the best.
        "empirical": t times what the criterion of *all rewards received* up to t falls short of the
        best arm's, so that switching between arms counts too.
    at : {"end", "checkpoints"}
        At the end of the run, or at each checkpoint (needs ``record="pulls"``).

    Returns
    -------
    DataArray with dimensions policy, problem, run (and checkpoint), in units of the criterion

    Notes
    -----
    The empirical kind needs no recorded rewards: the u-th reward of an arm in a run is a fixed
    number, so the numbers of pulls say which rewards were received, and they are drawn again.

    References
    ----------
    Sani, Lazaric and Munos (2012), Risk-aversion in multi-armed bandits, for the empirical kind;
    they take the best arm's own sample where we take its law.

    Examples
    --------
    >>> from marab_lib import criteria, policies, problems, simulate
    >>> result = simulate(problems.stuck(), policies.MIN(), 100, runs=3, seed=1)
    >>> criterion_regret(result, problems.stuck(), criteria.cvar(0.5)).dims
    ('policy', 'problem', 'run')
    """
    _validate.choice("kind", kind, ("pseudo", "empirical"))
    _validate.choice("at", at, ("end", "checkpoints"))
    listed = simulated_problems(result, problems)
    values = _values(result, [criterion.of_problem(p) for p in listed])
    pulls = checkpoint_pulls(result) if at == "checkpoints" else result.pulls
    if kind == "pseudo":
        return pseudo_regret(pulls, values)
    received = _of_received(result, listed, pulls, criterion.of_sample)
    return pulls.sum("arm") * (values.max("arm") - received)


def _of_received(result, listed: list[Problem], pulls, of_sample) -> xarray.DataArray:
    """A function of the rewards that a run received, without the dimension ``arm``."""
    if "seed" not in result.attrs:
        raise ValueError("result must have its attributes, among them 'seed', for kind='empirical'")
    seed = int(result.attrs["seed"])
    counts = pulls.transpose("problem", "run", ..., "arm")
    value = counts.isel(arm=0, drop=True).astype(np.float64)
    # By their coordinates, not their places: part of a result has the tapes of the whole.
    runs, numbers = counts.run.values, counts.problem.values
    for j, problem in enumerate(listed):
        kinds, starts, sizes, laws = problem.encode()
        stream = problem.stream if problem.stream is not None else (int(numbers[j]),)
        key = stream_key(seed, stream)
        for i, run in enumerate(runs):
            block, target = counts.values[j, i], value.values[j, i]
            for place in np.ndindex(block.shape[:-1]):
                x = np.empty(block[place].sum())
                _kernels.rewards_of_pulls(
                    kinds, laws, starts, sizes, key[0], key[1], int(run), block[place], x
                )
                target[place] = of_sample(x)
    return value.transpose(*(d for d in pulls.dims if d != "arm"))


def cvar_regret(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    alpha: float | str | Fraction,
    kind: str = "pseudo",
    at: str = "end",
) -> xarray.DataArray:
    """CVaR regret at any level alpha in (0, 1); see `criterion_regret`."""
    return criterion_regret(result, problems, criteria.cvar(alpha), kind, at)


def mean_variance_regret(
    result: xarray.Dataset,
    problems: Problem | Sequence[Problem],
    rho: float,
    kind: str = "pseudo",
    at: str = "end",
) -> xarray.DataArray:
    """Mean-variance regret; see `criterion_regret`.

    The pseudo kind is t times the first term of the regret of Sani et al. (2012); their second, the
    variance that comes from switching between arms, is in the empirical kind only.
    """
    return criterion_regret(result, problems, criteria.mean_variance(rho), kind, at)


def listed_problems(problems: Problem | Sequence[Problem]) -> list[Problem]:
    """One problem or several as a list."""
    return [problems] if isinstance(problems, Problem) else list(problems)


def checkpoint_pulls(result: xarray.Dataset) -> xarray.DataArray:
    """The pulls at the checkpoints, if the result holds them."""
    if "checkpoint_pulls" not in result:
        raise ValueError(
            "result holds no pulls at its checkpoints: run simulate with record=('pulls',)"
        )
    return result.checkpoint_pulls


def simulated_problems(
    result: xarray.Dataset, problems: Problem | Sequence[Problem]
) -> list[Problem]:
    """The problems as a list, if they are those that were simulated, in the same order."""
    listed = listed_problems(problems)
    if len(listed) != result.sizes["problem"]:
        raise ValueError(
            f"problems must be the {result.sizes['problem']} that were simulated, got {len(listed)}"
        )
    means = result["mean"].transpose("problem", "arm").values
    for j, problem in enumerate(listed):
        if not np.array_equal(problem.means, means[j]):
            raise ValueError(
                f"problems must be those that were simulated, in the same order; number {j}, "
                f"{problem.name!r}, has other means"
            )
    return listed


def _values(result: xarray.Dataset, rows: list[np.ndarray]) -> xarray.DataArray:
    import xarray

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

    Parameters
    ----------
    x : DataArray
    over : str or sequence of str
        Dimensions whose entries are independent. With several random problems these are the
        problems: average the runs of each first, ``mean_and_error(x.mean("run"), "problem")``,
        since the runs of one problem have its difficulty in common.

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
