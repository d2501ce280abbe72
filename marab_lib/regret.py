"""Regrets and other summaries of a result of `simulate`, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from . import _validate, criteria
from .arms import stream_key
from .criteria import Criterion
from .kernels.laws import rewards_of_pulls
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
    "sorted_rewards",
    "theoretical_regret",
]


_LARGEST = 1e150  # of what is averaged: its square is then a finite float
_LARGEST_VALUE = 1e290  # of a criterion: so is its product with a number of pulls


def checked_result(result: xarray.Dataset, **needed: Sequence[str]) -> xarray.Dataset:
    """The result, if it is one of `simulate` that holds some variables with some dimensions."""
    import xarray

    if not isinstance(result, xarray.Dataset):
        raise TypeError(
            f"result must be a Dataset of marab_lib.simulate, got {_validate.shown(result)}"
        )
    for name, dims in needed.items():
        if name not in result or not set(dims) <= set(result[name].dims):
            got = result[name].dims if name in result else "none"
            raise ValueError(
                f"result must be of marab_lib.simulate and hold {name!r} with the dimensions "
                f"{tuple(dims)}, got {got}; isel(run=[0]) keeps a dimension, isel(run=0) does not"
            )
    return result


def checked_array(
    name: str, x: xarray.DataArray, *dims: str, largest: float = _LARGEST
) -> xarray.DataArray:
    """A DataArray of numbers that has some dimensions."""
    import xarray

    if not isinstance(x, xarray.DataArray):
        raise TypeError(f"{name} must be a DataArray, got {_validate.shown(x)}")
    for dim in dims:
        if dim not in x.dims:
            raise ValueError(f"{name} must have the dimension {dim!r}, got {x.dims}")
    if x.dtype.kind not in "iufb":
        raise TypeError(f"{name} must be a DataArray of numbers, got the type {x.dtype}")
    if (worst := max(float(x.max()), -float(x.min())) if x.size else 0.0) > largest:
        raise ValueError(f"{name} must be numbers in [{-largest:g}, {largest:g}], got {worst:g}")
    return x


def checked_criterion(criterion: Criterion, name: str = "criterion") -> Criterion:
    """The criterion, if it is one."""
    if not isinstance(criterion, Criterion):
        raise TypeError(
            f"{name} must be a Criterion such as criteria.cvar(0.1), got "
            f"{_validate.shown(criterion)}"
        )
    return criterion


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
    import xarray

    checked_array("pulls", pulls, "arm")
    checked_array("values", values, "arm", largest=_LARGEST_VALUE)
    try:
        pulls, values = xarray.align(pulls, values, join="exact")
    except ValueError:
        raise ValueError(
            f"pulls and values must have the same coordinates, got {dict(pulls.sizes)} and "
            f"{dict(values.sizes)}, or others of the same number"
        ) from None
    return (pulls * (values.max("arm") - values)).sum("arm")


def theoretical_regret(result: xarray.Dataset) -> xarray.DataArray:
    """Final theoretical regret t mu* - sum_k n_k mu_k (section 2.1), from the pulls."""
    checked_result(result, pulls=["arm"], mean=["arm"])
    return pseudo_regret(result.pulls, result["mean"])


def empirical_regret(result: xarray.Dataset) -> xarray.DataArray:
    """Empirical regret t mu* - (sum of rewards) at every step (section 2.1).

    Raises
    ------
    ValueError
        If the result has no ``rewards``.
    """
    rewards = _recorded(result, "rewards")
    checked_result(result, mean=["arm"])
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
    checked_criterion(criterion)
    listed = simulated_problems(result, problems)
    values = criterion_values(result, listed, criterion)
    pulls = checkpoint_pulls(result) if at == "checkpoints" else result.pulls
    if kind == "pseudo":
        return pseudo_regret(pulls, values)
    received = _of_received(result, listed, pulls, criterion.of_sample)
    return pulls.sum("arm") * (values.max("arm") - received)


def _of_received(result, listed: list[Problem], pulls, of_sample) -> xarray.DataArray:
    """A function of the rewards that a run received, without the dimension ``arm``."""
    import xarray

    checked_result(result, seed=(), stream=(), number=())
    counts = pulls.transpose(..., "arm")
    cells = {dim: size for dim, size in counts.sizes.items() if dim != "arm"}
    # By what is written of each run, not by its place: results may be parts, or joined.
    numbers, seeds, streams, places = (
        variable.set_dims(cells).transpose(*cells).values
        for variable in (
            *(result[name].variable for name in ("number", "seed", "stream")),
            xarray.Variable("problem", np.arange(len(listed))),
        )
    )
    encoded, keys = [problem.encode() for problem in listed], {}
    value = counts.isel(arm=0, drop=True).astype(np.float64)
    total, size = value.copy(deep=True), value.copy(deep=True)
    for cell in np.ndindex(value.shape):
        kinds, starts, sizes, laws = encoded[places[cell]]
        tape = str(seeds[cell]), str(streams[cell])
        if tape not in keys:
            if not (tape[0] + tape[1].replace(" ", "")).isdigit():
                raise ValueError(
                    f"result must have whole numbers as 'seed' and 'stream', got {tape}"
                )
            keys[tape] = stream_key(int(tape[0]), tuple(map(int, tape[1].split())))
        key, pulled = keys[tape], counts.values[cell]
        x = np.empty(pulled.sum())
        rewards_of_pulls(kinds, laws, starts, sizes, key[0], key[1], int(numbers[cell]), pulled, x)
        value.values[cell] = of_sample(x)
        total.values[cell], size.values[cell] = x.sum(), abs(x).sum()
    _compare_totals(result, listed, pulls, total, size)
    return value.transpose(*(d for d in pulls.dims if d != "arm"))


def _compare_totals(result, listed: list[Problem], pulls, total, size) -> None:
    """Raise ValueError if the rewards drawn again do not sum to the regret that is stored."""
    if "empirical_regret" not in result or "checkpoint" not in result.coords:
        return
    stored, done = result.empirical_regret, pulls.sum("arm")
    if "checkpoint" in stored.dims and "checkpoint" not in pulls.dims:
        stored = stored.isel(checkpoint=-1)
    best = done * _values(result, [problem.means for problem in listed]).max("arm")
    wrong = abs(best - total - stored) > 1e-9 * (size + abs(best))
    if (wrong & (stored.checkpoint == done)).any():
        raise ValueError(
            "result must hold the 'seed', 'number' and 'stream' of its runs as simulate wrote them "
            "and problems must be those that were simulated: the rewards drawn again do not sum to "
            "the stored 'empirical_regret'"
        )


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
    return _validate.several("problems", problems, Problem, "marab_lib.problems.Problem objects")


def checkpoint_pulls(result: xarray.Dataset) -> xarray.DataArray:
    """The pulls at the checkpoints, if the result holds them."""
    if "checkpoint_pulls" not in checked_result(result):
        raise ValueError(
            "result holds no pulls at its checkpoints: run simulate with record=('pulls',)"
        )
    checked_result(result, checkpoint_pulls=["checkpoint", "arm"], checkpoint=["checkpoint"])
    return result.checkpoint_pulls


def simulated_problems(
    result: xarray.Dataset, problems: Problem | Sequence[Problem]
) -> list[Problem]:
    """The problems as a list, if they are those that were simulated, in the same order."""
    listed = listed_problems(problems)
    checked_result(result, pulls=["problem", "arm"], mean=["problem", "arm"])
    if len(listed) != result.sizes["problem"]:
        raise ValueError(
            f"problems must be the {result.sizes['problem']} that were simulated, got {len(listed)}"
        )
    means = result["mean"].transpose("problem", ..., "arm").values
    for j, problem in enumerate(listed):
        if problem.n_arms != means.shape[-1] or not (means[j] == problem.means).all():
            raise ValueError(
                f"problems must be those that were simulated, in the same order; number {j}, "
                f"{problem.name!r}, has other means"
            )
    return listed


def criterion_values(
    result: xarray.Dataset, listed: list[Problem], criterion: Criterion
) -> xarray.DataArray:
    """The criterion of every arm, with dimensions problem and arm."""
    at_once, name = criterion.of_problems, criterion.name
    rows = list(at_once(listed) if at_once else map(criterion.of_problem, listed))
    if len(rows) != len(listed):
        raise ValueError(
            f"criterion {name!r} must give a row for each of the {len(listed)} problems, got "
            f"{len(rows)}"
        )
    for row, problem in zip(rows, listed, strict=True):
        values = _validate.finite_array(f"criterion {name!r}", row)
        if values.shape != (problem.n_arms,) or abs(values).max() > _LARGEST_VALUE:
            raise ValueError(
                f"criterion {name!r} must give one number of at most {_LARGEST_VALUE:g} for each "
                f"of the {problem.n_arms} arms of {problem.name!r}, got {_validate.shown(row)}"
            )
    return _values(result, rows)


def _values(result: xarray.Dataset, rows: list[np.ndarray]) -> xarray.DataArray:
    import xarray

    coordinates = {dim: result[dim] for dim in ("problem", "arm") if dim in result.coords}
    return xarray.DataArray(np.stack(rows), coordinates, ("problem", "arm"))


def _recorded(result: xarray.Dataset, name: str) -> xarray.DataArray:
    if name not in checked_result(result):
        raise ValueError(f"result holds no {name!r}: run simulate with record=({name!r},)")
    checked_result(result, **{name: ["step"]}, step=["step"])
    return result[name]


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
        rewards = checked_result(result, rewards=["run"]).rewards.mean("run")
    ordered = rewards.copy(data=np.sort(rewards.values, axis=rewards.get_axis_num("step")))
    return ordered.rename(step="rank")


def last_other_pull(result: xarray.Dataset, arm: int) -> xarray.DataArray:
    """Last step at which another arm than `arm` was played, 0 if there was none.

    Parameters
    ----------
    result : Dataset of `simulate` with ``arms``
    arm : int
        In [0, K - 1].
    """
    arms = _recorded(result, "arms")
    checked_result(result, arm=["arm"])
    other = arms != _validate.whole("arm", arm, 0, result.sizes["arm"] - 1)
    return (other * result.step).max("step")


def mean_and_error(
    x: xarray.DataArray, over: str | Sequence[str] = "run"
) -> tuple[xarray.DataArray, xarray.DataArray]:
    """Mean and its standard error over independent repetitions.

    Parameters
    ----------
    x : DataArray
        NaN is a repetition that is not there: each entry of the mean counts those that are. With
        one of them its error is NaN, with none its mean too.
    over : str or sequence of str
        Dimensions whose entries are independent. With several random problems these are the
        problems: average the runs of each first, ``mean_and_error(x.mean("run"), "problem")``,
        since the runs of one problem have its difficulty in common.

    Raises
    ------
    ValueError
        If the dimensions are not those of x, or span fewer than 2 repetitions.

    Examples
    --------
    >>> import xarray
    >>> mean, error = mean_and_error(xarray.DataArray([1.0, 2.0, 3.0], dims="run"))
    >>> float(mean), round(float(error), 4)
    (2.0, 0.5774)
    """
    checked_array("x", x)
    wanted = f"over must be dimensions of x, of {x.dims}"
    try:
        names = [over] if isinstance(over, str) else list(over)
    except TypeError:
        raise TypeError(f"{wanted}, got {_validate.shown(over)}") from None
    if not all(isinstance(name, str) and name in x.dims for name in names):
        raise ValueError(f"{wanted}, got {_validate.shown(over)}")
    n = int(np.prod([x.sizes[name] for name in set(names)]))
    if n < 2 or not names:
        raise ValueError(f"over must span at least 2 repetitions for an error, got {n}")
    x = x.astype(np.float64) if x.dtype.kind == "b" else x
    count = x.count(names)
    if (count > 1).all():
        return x.mean(names), x.std(names, ddof=1) / np.sqrt(count)
    known = x.where(count > 1, 0.0)  # NumPy warns of a spread of fewer than 2
    return x.mean(names), (known.std(names, ddof=1) / np.sqrt(count.clip(1))).where(count > 1)


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
        Dimensions of the repetitions; see `mean_and_error`, also for NaN: a pair of which one is
        not there does not count.
    """
    checked_array("x", x, "policy")
    names = x.policy.values.tolist()
    for argument, name in (("one", one), ("other", other)):
        if not isinstance(name, str) or names.count(name) != 1:
            raise ValueError(
                f"{argument} must be one of the policies {names}, got {_validate.shown(name)}"
            )
    difference = x.sel(policy=one, drop=True) - x.sel(policy=other, drop=True)
    return mean_and_error(difference, over)
