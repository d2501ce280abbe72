"""Which battery and tariff come nearest to the printed figure 4: a search on a grid.

The paper's table of realizations is private, and nothing is printed of its battery and tariff.
What can be compared are regrets at the horizon over that of uniform play (UCB with C = 1000). The
*distance* of a setting from the figure is the mean absolute difference of these ratios over the 17
other curves. Which of its readings MV-LCB is shown in is part of the search, as are the capacity
and the power of the battery, the price of overruns (only its ratio to the price of energy matters),
the subscribed power, and the worth of the energy left at midnight. All settings are compared with
few runs, then the nearest of them with 40 runs of another seed.

``python -m marab_lib.paper.figure_4`` makes ``data/figure_4.csv`` again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate, policies
from ..simulation.run import simulate
from . import battery, data
from .section_5_3 import READINGS, figure_4_policies, printed_regrets, regrets

if TYPE_CHECKING:
    import pandas


__all__ = [
    "READINGS",
    "distances",
    "in_reading",
    "labels",
    "nearest",
    "over_uniform",
    "parts",
    "printed_curves",
    "printed_over_uniform",
    "printed_tails",
    "readings",
    "search",
    "settings",
]

HORIZON = 2000
_UNIFORM = policies.UCB(1e3).name
_GRID = {
    "capacity": (0.25, 0.5, 1.0, 2.0, 4.0),
    "power": (0.05, 0.1, 0.25, 0.5, 1.0),
    "overrun": (0.0, 1.0, 2.0, 5.0, 20.0),
    "subscribed": (1.15, 1.25, 1.35),
    "end_value": (0.0, 1.0),
}


def settings() -> Iterator[dict[str, float]]:
    """All combinations of the grid's values.

    Examples
    --------
    >>> next(settings())
    {'capacity': 0.25, 'power': 0.05, 'overrun': 0.0, 'subscribed': 1.15, 'end_value': 0.0}
    """
    for values in itertools.product(*_GRID.values()):
        yield dict(zip(_GRID, values, strict=True))


def parts(
    capacity: float, power: float, overrun: float, subscribed: float, end_value: float
) -> tuple[battery.Battery, battery.Tariff]:
    """The battery and the tariff of a setting; what it does not name is as frozen."""
    return (
        battery.Battery(capacity, power),
        battery.Tariff(overrun=overrun, subscribed=subscribed, end_value=end_value),
    )


def printed_tails(alpha: float = 0.1) -> pandas.Series:
    """Mean of the lowest share alpha of the printed rewards, by the name of the policy.

    Parameters
    ----------
    alpha : float
        At most 0.34, where the first of the printed curves ends.

    Examples
    --------
    >>> print(printed_tails()["MIN"].round(3))
    0.472
    """
    import pandas

    ranks = np.arange(1, _validate.number("alpha", alpha, 0, 0.34, open_low=True) * HORIZON + 1)
    curves = printed_curves("rewards").items()
    return pandas.Series({name: np.interp(ranks, x, y).mean() for name, (x, y) in curves})


def printed_over_uniform() -> pandas.Series:
    """The printed regrets over that of uniform play, by the name of the policy.

    Examples
    --------
    >>> print(printed_over_uniform()["UCB(C=0.001)"].round(2))
    0.29
    """
    printed = printed_regrets()
    return printed / printed[_UNIFORM]


def over_uniform(
    table: battery.RewardTable, runs: int, seed: int, threads: int | None = None
) -> pandas.Series:
    """Our mean empirical regrets at T = 2,000 over that of uniform play, by name of the policy."""
    result = simulate(
        battery.problem(table.rewards), figure_4_policies(), HORIZON, runs, seed,
        checkpoints=1, threads=threads,
    )  # fmt: skip
    mean = regrets(result).mean("run").to_series()
    return mean / mean[_UNIFORM]


def labels() -> dict[str, dict[str, str]]:
    """What the curves of the four rows of the figure are called, by title and policy's name.

    MV-LCB is optimistic, and for one rho it is there in the two other readings too.
    """
    rows: dict[str, dict[str, str]] = {"UCB": {}, "MV-LCB": {}, "ExpExp": {}, "MaRaB": {}}
    for p in figure_4_policies():
        match p:
            case policies.UCB():
                rows["UCB"][p.name] = f"C = {p.C:g}"
            case policies.MVLCB(bonus="optimistic"):
                rows["MV-LCB"][p.name] = f"ρ = {p.rho:g}"
            case policies.MVLCB(rho=2):
                rows["MV-LCB"][p.name] = f"{p.bonus}, ρ = 2"
            case policies.ExpExp():
                rows["ExpExp"][p.name] = f"ρ = {p.rho:g}"
            case policies.MaRaB():
                rows["MaRaB"][p.name] = f"α = {float(p.alpha):g}, C = {p.C:g}"
            case policies.MIN():
                rows["MaRaB"][p.name] = "MIN"
    return rows


def printed_curves(shown: str, unit: float = 1.0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The printed curves, x and y, by the name of the policy; MV-LCB's as if optimistic.

    Parameters
    ----------
    shown : {"rewards", "regret"}
    unit : float
        What y is divided by.
    """
    found = {}
    for p in figure_4_policies():
        if getattr(p, "bonus", "optimistic") == "optimistic":
            row = "marab" if p.title == "MIN" else p.title.lower()
            part = data.of_policy(data.published_curves(4, f"{row} {shown}"), p)
            found[p.name] = part["x"].to_numpy(), part["y"].to_numpy() / unit
    return found


def in_reading(values: pandas.Series, reading: str) -> pandas.Series:
    """Those of our values that are printed, with MV-LCB in one reading, by the printed names."""
    chosen = {
        policies.MVLCB(p.rho).name if isinstance(p, policies.MVLCB) else p.name: p.name
        for p in figure_4_policies()
        if getattr(p, "bonus", reading) == reading
    }
    names = printed_regrets().index
    return values[[chosen[name] for name in names]].set_axis(names)


def distances(ratios: pandas.Series, other: pandas.Series | None = None) -> dict[str, float]:
    """How far regrets over uniform play are from the printed ones, by the reading of MV-LCB.

    Parameters
    ----------
    ratios : Series
        As `over_uniform` gives it.
    other : Series, optional
        A second one to compare with, in place of the printed ones.
    """
    found = {}
    for reading in READINGS:
        wanted = printed_over_uniform() if other is None else in_reading(other, reading)
        apart = (in_reading(ratios, reading) - wanted).drop(_UNIFORM)
        found[reading] = float(apart.abs().mean())
    return found


def readings(ratios: pandas.Series, errors: pandas.Series) -> pandas.DataFrame:
    """How the three readings of MV-LCB compare with the printed one.

    Parameters
    ----------
    ratios, errors : Series
        Regrets over that of uniform play and their standard errors, by the name of the policy.

    Returns
    -------
    DataFrame
        A row a reading: ``order``, Kendall's rank correlation of the 18 regrets with the printed
        ones; ``distance``, see `distances`; MV-LCB's least and largest regret over uniform play's,
        and its largest standard error.
    """
    import pandas
    from scipy.stats import kendalltau

    printed = printed_over_uniform()
    mv_lcb = [p.name for p in figure_4_policies() if getattr(p, "bonus", "") == "optimistic"]
    columns = ["order", "distance", "least", "most", "standard error"]
    rows = {}
    for reading, distance in distances(ratios).items():
        ours, error = in_reading(ratios, reading), in_reading(errors, reading)
        order = kendalltau(printed, ours).statistic
        mine = ours[mv_lcb]
        rows[reading] = order, distance, mine.min(), mine.max(), error[mv_lcb].max()
    rows["the paper"] = 1.0, 0.0, printed[mv_lcb].min(), printed[mv_lcb].max(), np.nan
    return pandas.DataFrame.from_dict(rows, "index", columns=columns)


def nearest(search: pandas.DataFrame) -> tuple[dict[str, float], str]:
    """The setting and the reading of MV-LCB that come nearest, from the saved search."""
    sure = search[search["stage"] == "confirm"].reset_index(drop=True)
    place, reading = sure[list(READINGS)].stack().idxmin()
    return {name: float(sure.loc[place, name]) for name in _GRID}, str(reading)


def search(
    days: battery.Days,
    seed: int,
    *,
    screen_runs: int = 10,
    runs: int = 40,
    best: int = 20,
    threads: int | None = None,
    among: Sequence[dict[str, float]] | None = None,
) -> pandas.DataFrame:
    """Both stages of the search.

    Parameters
    ----------
    days : Days
    seed : int
        Of the rewards in the first stage; the second has a seed of its own.
    screen_runs, runs : int
        Runs of each setting in the first and in the second stage.
    best : int
        Settings that reach the second stage.
    threads : int, optional
        See `simulate`.
    among : sequence of dict, optional
        Default all `settings`.

    Returns
    -------
    DataFrame
        By stage and setting: runs, seed, the distance in each reading of MV-LCB, and in stage
        "confirm" ``floor``, the distance between two repetitions in the reading that is nearest.
    """
    import pandas

    rows = []
    grid = list(settings() if among is None else among)
    for setting in grid:
        ratios = over_uniform(_table(days, setting), screen_runs, seed, threads)
        rows.append(
            {"stage": "screen", **setting, "runs": screen_runs, "seed": seed, **distances(ratios)}
        )
    least = pandas.DataFrame(rows)[list(READINGS)].min(axis=1).to_numpy()
    for i in np.argsort(least, kind="stable")[:best]:
        table, later = _table(days, grid[i]), seed + 1000
        one, other = (over_uniform(table, runs, s, threads) for s in (later, later + 1000))
        found = distances(one)
        nearest = min(found, key=lambda reading: found[reading])
        floor = {"floor": distances(one, other)[nearest]}
        rows.append({"stage": "confirm", **grid[i], "runs": runs, "seed": later, **found, **floor})
    return pandas.DataFrame(rows)


def _table(days: battery.Days, setting: dict[str, float]) -> battery.RewardTable:
    return battery.reward_table(days, *parts(**setting))


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the saved result of the search again."""
    days = battery.load_demand().days()
    data.remake("figure_4.csv", partial(search, days), arguments, 4, runs=40, seed=41, threads=1)


if __name__ == "__main__":
    main()
