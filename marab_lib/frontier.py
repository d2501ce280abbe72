"""Exploitation, safety and exploration of many policies, and who is on the Pareto front.

Three numbers describe a run of T pulls:

===============  ==================================================================================
``regret``       exploitation: pseudo-regret per pull, in units of the reward; less is better
``safety``       mean of the worst rewards that the run collects (their lowest share, the level),
                 less that of the arm of best CVaR pulled T times in the same run; more is better
``exploration``  share of the pulls before the run settles: from then on, at most 5 % of the pulls
                 go to other arms than one
===============  ==================================================================================

The CVaR is convex in the law, so no mixture of arms has more than the best arm's: of many pulls,
safety is at most 0, but for chance. Of several settings, each with its means over problems, one is
on the Pareto front if no other is as good in regret and in safety, and better in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from . import _validate, criteria, policies, regret, risk
from ._rounding import order
from .comparison import everyone
from .problems import Problem
from .regret import checked_array, criterion_values
from .simulation.arguments import checked_policies
from .simulation.chunks import by_chunks
from .statistics import draws, percentile_interval

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = [
    "distances",
    "exploration",
    "on_front",
    "play",
    "resampled",
    "settings",
    "short_name",
    "table",
]

_NUMBERS = ("regret", "safety", "exploration")
_ELSEWHERE = 20  # once a run has settled, one pull in so many goes to other arms, at most
_PARTS = 100  # of a run, after each of which it is asked whether it has settled
_REWARDS = 20_000_000  # kept at a time, 160 MB

_GRIDS: dict[str, list[policies.Policy]] = {
    "UCB": [policies.UCB(C) for C in (1e-3, 0.03, 0.1, 0.3, 2**0.5)],
    "MaRaB": [
        *(policies.MaRaB(alpha) for alpha in (0.01, 0.05, 0.1, 0.2, 0.5)),
        policies.MaRaB(0.2, 0.1),
    ],
    "forced MaRaB": [
        *(policies.ForcedMaRaB(0.2, scale) for scale in (0.03, 0.1, 1)),
        policies.ForcedMaRaB(0.1, 0.1),
    ],
    "MV-LCB": [policies.MVLCB(rho) for rho in (1, 2, 10, 100)],
    "ExpExp": [policies.ExpExp(rho) for rho in (1, 2, 10)],
    "KL-UCB": [policies.KLUCB(c) for c in (0, 3)],
    "eps-greedy": [policies.EpsilonGreedy(eps) for eps in (0.01, 0.03, 0.1, 1)],
    "B-CVTS": [policies.BCVTS(alpha) for alpha in (0.05, 0.1, 0.5)],
    "CVaR-UCB": [policies.CVaRUCB(alpha) for alpha in (0.05, 0.1, 0.5)],
    "U-UCB": [policies.UUCB(0.1, c) for c in (1e-3, 0.01, 0.1, 1)],
    "MaRaBOUT": [policies.MaRaBOUT(0.1, C) for C in (1e-4, 0.01, 2)],
    "ETC": [policies.ExploreThenCommit(alpha) for alpha in (0.1, 0.5)],
    "SuccElim": [policies.SuccessiveElimination(alpha) for alpha in (0.1, 0.5)],
    "RA-UCB": [policies.RAUCB(theta) for theta in (5, 20)],
    "MVTS": [policies.MVTS(rho) for rho in (1, 10, 100)],
    "UCB-V": [policies.UCBV(zeta) for zeta in (0.01, 0.1, 1)],
}


def settings() -> list[policies.Policy]:
    """All policies of `comparison.everyone` over a grid of their parameters.

    A policy without a parameter, or without a grid, is at its default.

    Examples
    --------
    >>> [policy.name for policy in settings() if policy.title in ("MIN", "ExpExp")]
    ['MIN', 'ExpExp(rho=1)', 'ExpExp(rho=2)', 'ExpExp(rho=10)']
    """
    titles = {policy.title: [policy] for policy in everyone()}
    return [policy for title, one in titles.items() for policy in _GRIDS.get(title, one)]


def short_name(policy: policies.Policy) -> str:
    """The title and the parameters, without those that are last and at their default.

    Examples
    --------
    >>> [short_name(p) for p in (policies.MaRaB(0.2), policies.MaRaB(0.2, 0.1), policies.MIN())]
    ['MaRaB 0.2', 'MaRaB 0.2, 0.1', 'MIN']
    """
    own = [field for field in fields(policy) if not field.kw_only]
    while len(own) > 1 and getattr(policy, own[-1].name) == own[-1].default:
        own.pop()
    values = policy.described()
    shown = ", ".join(f"{values[field.name]:.3g}" for field in own)
    return f"{policy.title} {shown}".strip()


def exploration(counts: xarray.DataArray) -> xarray.DataArray:
    """Share of the pulls of a run before it settles on one arm.

    Parameters
    ----------
    counts : DataArray with dimensions checkpoint and arm
        Pulls of each arm up to each checkpoint, the last of which is the end of the run.

    Returns
    -------
    DataArray without checkpoint and arm
        In [0, 1]: the first checkpoint, or 0, after which at most 5 % of all pulls go to other arms
        than the one most pulled from then on, over the last checkpoint; 1 if there is none.

    Examples
    --------
    >>> import xarray
    >>> counts = [[5, 5], [9, 11], [10, 20], [10, 30]]
    >>> counts = xarray.DataArray(counts, {"checkpoint": [10, 20, 30, 40]}, ("checkpoint", "arm"))
    >>> float(exploration(counts))
    0.5
    """
    checked_array("counts", counts, "checkpoint", "arm")
    if not (counts.sizes["checkpoint"] and counts.sizes["arm"]):
        raise ValueError(f"counts must hold a checkpoint and an arm, got {dict(counts.sizes)}")
    counts = counts.transpose(..., "checkpoint", "arm")
    done = np.insert(counts.values, 0, 0, axis=-2)[..., :-1, :]
    later = counts.values[..., -1:, :] - done
    left = later.sum(axis=-1)
    settled = _ELSEWHERE * (left - later.max(axis=-1)) <= left
    times = np.insert(counts.checkpoint.values, 0, 0)
    first = np.where(settled, times[:-1] / times[-1], 1.0).min(axis=-1)
    return counts.isel(checkpoint=-1, arm=0, drop=True).copy(data=first)


def _worst_of_best_arm(
    result: xarray.Dataset, listed: Sequence[Problem], level: float
) -> xarray.DataArray:
    """Mean of the worst rewards of the arm of best CVaR, if it is played in every pull of a run."""
    values = criterion_values(result, list(listed), criteria.cvar(level))
    always = result.sizes["step"] * (values.arm == values.argmax("arm"))
    alone = result.drop_vars("empirical_regret").assign(pulls=always.expand_dims(run=result.run))
    lost = regret.cvar_regret(alone, listed, level, "empirical")
    return values.max("arm") - lost / result.sizes["step"]


def play(
    problems: Problem | Sequence[Problem],
    policies: Sequence[policies.Policy],
    horizon: int,
    seed: int | np.random.Generator,
    levels: Sequence[float] = (0.05,),
    threads: int | None = None,
) -> xarray.Dataset:
    """One run of each policy on each problem, in three numbers.

    Parameters
    ----------
    problems, policies, horizon, seed, threads
        See `simulate`.
    levels : sequence of float
        Shares of the rewards that are called the worst, in (0, 1). Default 5 %.

    Returns
    -------
    Dataset
        ``regret`` and ``exploration`` (policy, problem) and ``safety`` (level, policy, problem),
        see the module's text.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> played = play(problems.artificial(3, 0), [policies.MIN(), policies.UCB()], 200, seed=1)
    >>> played.safety.shape
    (1, 2, 3)
    """
    import xarray

    try:
        exact = {level: risk.exact_level(level, "levels") for level in levels}
    except TypeError:
        raise TypeError(
            f"levels must be a list of numbers in (0, 1), got {_validate.shown(levels)}"
        ) from None
    if not exact:
        raise ValueError("levels must hold at least one, got an empty list")
    policies, horizon = checked_policies(policies), _validate.whole("horizon", horizon, 2)

    def keep(result: xarray.Dataset, listed: Sequence[Problem]) -> xarray.Dataset:
        total = result.theoretical_regret.isel(checkpoint=-1, drop=True)
        ordered, safety = result.rewards.values, []
        ordered.sort(axis=-1)  # in their place: they are all of the memory, and not asked for again
        for level in exact:
            worst = total.copy(data=risk.split_cvar(ordered, exact[level]))
            safety.append(worst - _worst_of_best_arm(result, listed, level))
        numbers = {
            "regret": total / horizon,
            "exploration": exploration(result.checkpoint_pulls),
            "safety": xarray.concat(safety, xarray.Variable("level", list(exact))),
        }
        return xarray.Dataset(numbers).isel(run=0, drop=True)

    ends = sorted({max(1, part * horizon // _PARTS) for part in range(1, _PARTS + 1)})
    size = max(1, _REWARDS // (len(policies) * horizon))
    record = ("rewards", "pulls")
    return by_chunks(
        problems, policies, horizon, 1, seed, keep,
        size=size, record=record, checkpoints=ends, threads=threads,
    )  # fmt: skip


def on_front(regret: ArrayLike, safety: ArrayLike) -> np.ndarray:
    """Which settings no other one beats: none is as good in both numbers, and better in one.

    Parameters
    ----------
    regret, safety : array_like, shape (..., settings)
        To be small, and to be large.

    Returns
    -------
    ndarray of bool, shape (..., settings)

    Examples
    --------
    >>> on_front([0.1, 0.2, 0.3], [-0.3, -0.1, -0.2]).tolist()
    [True, True, False]
    """
    r, s = _pairs(regret, safety)
    less_regret = order(r[..., None, :], r[..., :, None])  # of the first of two settings, or equal
    more_safety = order(s[..., :, None], s[..., None, :])
    as_good = (less_regret >= 0) & (more_safety >= 0)
    better = (less_regret > 0) | (more_safety > 0)
    return np.asarray(~(as_good & better).any(axis=-2))


def distances(regret: ArrayLike, safety: ArrayLike) -> np.ndarray:
    """How much some other setting is better in both numbers at once; 0 on the Pareto front.

    Parameters
    ----------
    regret, safety : array_like, shape (..., settings)

    Returns
    -------
    ndarray, shape (..., settings)
        In units of the reward: the least number that, taken off the regret and added to the safety
        of a setting, would leave none that is better in both.

    References
    ----------
    Drugan and Nowé (2013), Designing multi-objective multi-armed bandits algorithms: a study.

    Examples
    --------
    >>> distances([0.1, 0.2, 0.3], [-0.3, -0.1, -0.2]).round(6).tolist()
    [0.0, 0.0, 0.1]
    """
    r, s = _pairs(regret, safety)
    less_regret = r[..., None, :] - r[..., :, None]
    more_safety = s[..., :, None] - s[..., None, :]
    return np.minimum(less_regret, more_safety).max(axis=-2)


def _pairs(regret: ArrayLike, safety: ArrayLike) -> tuple[np.ndarray, ...]:
    r = _validate.finite_array("regret", regret)
    s = _validate.finite_array("safety", safety)
    if r.shape != s.shape or r.ndim == 0 or r.shape[-1] == 0:
        raise ValueError(
            "regret and safety must be of one shape (..., settings), with at least one setting, "
            f"got {r.shape} and {s.shape}"
        )
    return r, s


def _at(played: xarray.Dataset, level: float) -> xarray.Dataset:
    """A result of `play` at one of its levels."""
    import xarray

    if not isinstance(played, xarray.Dataset) or not {*_NUMBERS} <= {*played.data_vars}:
        raise TypeError(f"played must be a Dataset of frontier.play, got {_validate.shown(played)}")
    levels = played.level.values.tolist()
    if level not in levels:
        raise ValueError(f"level must be one of {levels}, got {_validate.shown(level)}")
    at = played.sel(level=level).transpose("policy", "problem")
    if (n := at.sizes["problem"]) < 2:
        raise ValueError(f"played must have at least 2 problems for an error, got {n}")
    return at


def resampled(
    played: xarray.Dataset, level: float = 0.05, resamples: int = 1000, seed: int = 0
) -> tuple[np.ndarray, ...]:
    """Means of each setting over problems that are drawn again.

    Parameters
    ----------
    played : Dataset of `play`
    level : float
        One of its levels.
    resamples, seed
        Whole problems are drawn with replacement, and all settings with them.

    Returns
    -------
    tuple of three ndarray, shape (1 + resamples, settings)
        Regret, safety and exploration; the first row is of the problems themselves.
    """
    at = _at(played, level)
    drawn = draws(at.sizes["problem"], resamples, seed)
    return tuple(at[name].values[:, drawn].mean(axis=-1).T for name in _NUMBERS)


def table(
    played: xarray.Dataset, level: float = 0.05, resamples: int = 1000, seed: int = 0
) -> pandas.DataFrame:
    """The three numbers of each setting, and how sure it is that it is on the Pareto front.

    Parameters
    ----------
    played, level, resamples, seed
        See `resampled`.

    Returns
    -------
    DataFrame
        One row a setting: ``policy``, ``title``; the means over problems ``regret``, ``safety`` and
        ``exploration`` with their standard errors (``regret error``, ...); whether it is on the
        ``front``, and in which ``share`` of the resamples; its ``distance`` to the front, ``low``
        and ``high`` (95 %, percentiles).
    """
    import pandas as pd
    from scipy import stats

    at = _at(played, level)
    found = pd.DataFrame({"policy": at.policy.values, "title": at.title.values})
    for name in _NUMBERS:
        found[name] = at[name].values.mean(axis=1)
        found[f"{name} error"] = stats.sem(at[name].values, axis=1)
    means = resampled(played, level, resamples, seed)[:2]
    front, far = on_front(*means), distances(*means)
    low, high = percentile_interval(far[1:], axis=0)
    found["front"], found["share"], found["distance"] = front[0], front[1:].mean(axis=0), far[0]
    found["low"], found["high"] = np.minimum(low, far[0]), np.maximum(high, far[0])
    return found
