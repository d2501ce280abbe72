"""Which two problems figure 3 may show: a search among generated problems.

The paper does not give them. The *distance* of a problem from a printed panel is the mean over the
nine curves of UCB, MV-LCB and MaRaB, and over the ranks, of the absolute difference between our
sorted rewards (each run sorted, then averaged) and the printed ones. ExpExp has no say in it, since
the paper prints the same curves for both problems. The problem of least distance is found apart for
each panel and each interpretation of what the paper leaves open, in two stages: all problems with
few runs, then the nearest of them with 40 runs of another seed.

``python -m marab_lib.paper.figure_3`` makes ``data/figure_3.csv`` again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate, problems, regret
from ..problems import Problem
from ..simulation.chunks import by_chunks
from ..statistics import LEVEL, draws, percentile_interval
from . import data
from .evidence import AS_PRINTED, NEAREST, Interpretation
from .section_5_2_2 import RIVAL, distance_between_settings, figure_3_policies

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "PANELS",
    "RANKS",
    "distances",
    "find",
    "generated",
    "nearest",
    "number_intervals",
    "number_table",
    "numbers",
    "printed_rewards",
    "sorted_curves",
    "unusual",
    "with_interval",
]

_GROUPS = figure_3_policies()
PANELS = ("low", "high")  # the variance of the best arm
HORIZON = 2000
RANKS = np.arange(10, HORIZON + 1, 10)
N_PROBLEMS, PROBLEM_SEED = 1000, 2013  # those searched
CHOOSING = ("UCB", "MV-LCB", "MaRaB")  # the titles whose curves choose the problem


@cache
def printed_rewards(panel: str) -> Mapping[str, np.ndarray]:
    """The printed curves of one problem at `RANKS`, by the name of the policy.

    Parameters
    ----------
    panel : {"low", "high"}

    Examples
    --------
    >>> curves = printed_rewards("low")
    >>> len(curves), curves["UCB(C=1)"].shape
    (12, (200,))
    """
    _validate.choice("panel", panel, PANELS)
    found = {}
    for title, listed in _GROUPS.items():
        table = data.published_curves(3, f"{title.lower()} {panel}")
        for policy in listed:
            part = data.of_policy(table, policy)
            found[policy.name] = np.interp(RANKS, part["x"], part["y"])
    return found


def sorted_curves(
    listed: Sequence[Problem],
    interpretation: Interpretation,
    runs: int,
    seed: int,
    threads: int | None = None,
) -> xarray.DataArray:
    """Sorted rewards at `RANKS`, each run sorted, then averaged: (policy, problem, rank).

    The policies are those of figure 3 under the interpretation, with the paper's names.
    """
    every = [policy for group in _GROUPS.values() for policy in group]

    def keep(result: xarray.Dataset, _: Sequence[Problem]) -> xarray.Dataset:
        ordered = regret.sorted_rewards(result).isel(rank=RANKS - 1)
        return ordered.mean("run").to_dataset(name="curve")

    applied = interpretation.apply(every)
    return by_chunks(
        listed, applied, HORIZON, runs, seed, keep, size=20, record=("rewards",), threads=threads
    )["curve"]


def distances(curves: xarray.DataArray, wanted: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """How far problems are from wanted curves: over all ranks and settings of each policy.

    Parameters
    ----------
    curves : DataArray (policy, problem, rank)
        Of `sorted_curves`.
    wanted : mapping from name of a policy to array, shape (rank,)
        Such as `printed_rewards`.

    Returns
    -------
    dict from title to ndarray, shape (problem,)
        And ``distance``, the mean of those of UCB, MV-LCB and MaRaB; in units of the reward.
    """
    found = {}
    for title, listed in _GROUPS.items():
        apart = [
            np.abs(curves.sel(policy=p.name).values - wanted[p.name]).mean(axis=-1) for p in listed
        ]
        found[title] = np.mean(apart, axis=0)
    return {"distance": np.mean([found[title] for title in CHOOSING], axis=0)} | found


def numbers(curves: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What section 5.2.2 says of one panel, as numbers in units of the reward.

    Parameters
    ----------
    curves : mapping from name of a policy to array, shape (..., rank)
        Such as `printed_rewards`.

    Returns
    -------
    dict of numbers or ndarray, shape (...)
        The variance of the rewards of UCB with the least C, which plays good arms only; how much
        the curves of each policy differ between its settings; the mean reward of MV-LCB
        at its medium rho, less the better of the others; and for each alpha of MaRaB the least of
        its quantile values less ExpExp's, at the levels 1, 5, 10 and 15 %.
    """
    greedy = _GROUPS["UCB"][0].name
    found = {f"variance of the rewards of {greedy}": curves[greedy].var(axis=-1)}
    for title, listed in _GROUPS.items():
        apart = distance_between_settings(np.stack([curves[p.name] for p in listed]))
        found[f"change of {title} with its parameter"] = apart
    low, medium, high = (curves[p.name].mean(axis=-1) for p in _GROUPS["MV-LCB"])
    better = np.maximum(low, high)
    found["MV-LCB: mean reward at rho = 2 - the better of 1 and 10"] = medium - better
    at = np.searchsorted(RANKS, np.array([0.01, 0.05, 0.1, 0.15]) * HORIZON)
    for policy in _GROUPS["MaRaB"]:
        least = (curves[policy.name] - curves[RIVAL])[..., at].min(axis=-1)
        found[f"MaRaB ({float(policy.described()['alpha']):.1%}): least v - ExpExp's"] = least
    return found


def number_intervals(
    ordered: xarray.DataArray,
    *,
    confidence: float = LEVEL,
    resamples: int = 500,
    seed: int = 0,
) -> pandas.DataFrame:
    """`numbers` of the mean curves of one problem, with bootstrap intervals over the runs.

    Parameters
    ----------
    ordered : DataArray (policy, run, rank)
        Of `regret.sorted_rewards`, at all ranks of `HORIZON` pulls.
    confidence, resamples, seed
        Of the percentile intervals.

    Returns
    -------
    DataFrame with columns value, low, high
    """
    import pandas

    values = ordered.isel(rank=RANKS - 1).transpose("policy", "run", "rank").values
    names = ordered.policy.values.tolist()
    drawn = draws(ordered.sizes["run"], resamples, seed)
    curves = np.stack([values[:, d].mean(axis=1) for d in drawn], axis=1)
    table = pandas.DataFrame(numbers(dict(zip(names, curves, strict=True))))
    low, high = percentile_interval(table.to_numpy()[1:], confidence, axis=0)
    return pandas.DataFrame({"value": table.iloc[0], "low": low, "high": high})


def number_table(
    sorted_of: Mapping[str, xarray.DataArray], resamples: int = 500, seed: int = 0
) -> pandas.DataFrame:
    """`numbers` of the printed curves, and with intervals those of problems in their place.

    Parameters
    ----------
    sorted_of : mapping from interpretation to DataArray (policy, problem, run, rank)
        Of two problems each, one for each of `PANELS`.
    resamples, seed
        See `number_intervals`.

    Returns
    -------
    DataFrame of texts
        A row a number; by panel, "printed" and the interpretations.
    """
    import pandas

    columns = {}
    for j, panel in enumerate(PANELS):
        columns[panel, "printed"] = pandas.Series(numbers(printed_rewards(panel))).map(
            "{:.3f}".format
        )
        for name, ordered in sorted_of.items():
            table = number_intervals(ordered[:, j], resamples=resamples, seed=seed)
            columns[panel, name] = with_interval(table)
    return pandas.DataFrame(columns)


def with_interval(table: pandas.DataFrame) -> pandas.Series:
    """The columns value, low and high as one text a row."""
    import pandas

    rows = table[["value", "low", "high"]].itertuples(index=False)
    texts = [f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in rows]
    return pandas.Series(texts, table.index)


def find(
    interpretation: Interpretation,
    n_problems: int,
    problem_seed: int,
    seed: int,
    *,
    runs: int = 40,
    screen_runs: int = 4,
    best: int = 20,
    threads: int | None = None,
) -> pandas.DataFrame:
    """The search under one interpretation.

    Parameters
    ----------
    interpretation : Interpretation
        Of the policies and of the generator.
    n_problems, problem_seed : int
        The problems, see `problems.artificial`.
    seed : int
        Of the rewards in the first stage; each other stage has a seed of its own.
    runs, screen_runs : int
        Runs of a problem in the second and in the first stage.
    best : int
        Problems of each panel that reach the second stage.
    threads : int, optional
        See `simulate`.

    Returns
    -------
    DataFrame
        By stage, panel and problem: runs, seed, and what `distances` gives. Stage "screen" has all
        problems; "confirm" the nearest of them, with ``floor``, the distance between two
        repetitions; "yardstick" says how near the first stage comes to the curves of a problem
        that is of the generator, but is not among those searched: each of the first 5 % in turn
        (with as many runs as the printed curves have), compared with all others.
    """
    import pandas

    listed = problems.artificial(n_problems, problem_seed, **interpretation.generator)
    screened = sorted_curves(listed, interpretation, screen_runs, seed, threads)
    frames = []
    for j, panel in enumerate(PANELS):
        first = pandas.DataFrame(distances(screened, printed_rewards(panel)))
        keep = np.argsort(first["distance"].to_numpy(), kind="stable")[:best]
        one, other = (
            sorted_curves([listed[i] for i in keep], interpretation, runs, s, threads)
            for s in (seed + 1000 + j, seed + 2000 + j)
        )
        second = pandas.DataFrame(distances(one, printed_rewards(panel)), keep)
        second["floor"] = _floor(one, other)
        frames += [
            first.assign(stage="screen", panel=panel, runs=screen_runs, seed=seed),
            second.assign(stage="confirm", panel=panel, runs=runs, seed=seed + 1000 + j),
        ]
    targets = sorted_curves(
        listed[: max(1, n_problems // 20)], interpretation, runs, seed + 3000, threads
    )
    rows = []
    for i in range(targets.sizes["problem"]):
        wanted = {str(p): targets.sel(policy=p)[i].values for p in targets.policy.values}
        apart = pandas.DataFrame(distances(screened, wanted)).drop(index=i)
        rows.append(apart.loc[apart["distance"].idxmin()])
    yard = pandas.DataFrame(rows).reset_index(drop=True)
    frames.append(yard.assign(stage="yardstick", panel="", runs=runs, seed=seed + 3000))
    table = pandas.concat(frames).rename_axis("problem").reset_index()
    columns = ["stage", "panel", "problem", "runs", "seed"]
    return table[[*columns, *(c for c in table if c not in columns)]]


def _floor(one: xarray.DataArray, other: xarray.DataArray) -> np.ndarray:
    """Distance of two repetitions on each problem."""
    names = [p.name for title in CHOOSING for p in _GROUPS[title]]
    apart = abs(one.sel(policy=names) - other.sel(policy=names)).mean(["policy", "rank"])
    return apart.values


def generated(interpretation: Interpretation) -> list[Problem]:
    """The problems that the saved search went through."""
    return problems.artificial(N_PROBLEMS, PROBLEM_SEED, **interpretation.generator)


def nearest(search: pandas.DataFrame) -> pandas.DataFrame:
    """The problem found for each interpretation and panel, with what its distance is to be held to.

    Parameters
    ----------
    search : DataFrame
        The saved one, ``data.read_csv("figure_3.csv")``.

    Returns
    -------
    DataFrame
        By interpretation and panel: problem, distance, floor and the distance by title, of the
        second stage; ``screened``, the least distance of the first stage, and the median and the
        largest yardstick, which are of that stage too.
    """
    by = ["interpretation", "panel"]
    stage = dict(list(search.groupby("stage")))
    sure = stage["confirm"]
    found = sure.loc[sure.groupby(by, sort=False)["distance"].idxmin()].set_index(by)
    found = found[["problem", "distance", "floor", *_GROUPS]]
    found["screened"] = stage["screen"].groupby(by)["distance"].min().reindex(found.index)
    yard = stage["yardstick"].groupby("interpretation")["distance"]
    names = found.index.get_level_values("interpretation")
    found["yardstick"] = names.map(yard.median())
    found["largest yardstick"] = names.map(yard.max())
    return found


def unusual(listed: Sequence[Problem], number: int) -> dict[str, tuple[float, float]]:
    """Numbers of a problem's best arm, each with the share of all problems that have less.

    The lead is the best mean less that of all arms: what uniform play loses a pull.
    """
    cvars = problems.cvars(listed, 0.2)
    values = {
        "variance of the best arm": [p.variances[p.best_arm] for p in listed],
        "its mean": [p.best_mean for p in listed],
        "its lead": [p.best_mean - p.means.mean() for p in listed],
        "its CVaR (20 %)": [row[p.best_arm] for p, row in zip(listed, cvars, strict=True)],
        "best CVaR (20 %)": cvars.max(axis=1),
    }
    return {
        name: (float(v[number]), float((np.array(v) < v[number]).mean()))
        for name, v in values.items()
    }


def search(
    problems: int, problem_seed: int, runs: int, seed: int, threads: int
) -> pandas.DataFrame:
    """`find` under both readings, as it is saved."""
    import pandas

    tables = {}
    for reading in (AS_PRINTED, NEAREST):
        found = find(reading, problems, problem_seed, seed, runs=runs, threads=threads)
        tables[reading.name] = found
        print("searched:", reading.name, flush=True)
    return pandas.concat(tables, names=["interpretation"]).reset_index(level=0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the saved result of the search again."""
    given = {"problems": N_PROBLEMS, "problem_seed": PROBLEM_SEED, "runs": 40, "seed": 31}
    data.remake("figure_3.csv", search, arguments, 4, **given, threads=1)


if __name__ == "__main__":
    main()
