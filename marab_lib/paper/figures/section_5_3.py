"""Figures of section 5.3: demand, battery, reward distributions, figure 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import DateFormatter

from ... import regret
from ...plots import COLORS, curve, policy_style, printed_curve

if TYPE_CHECKING:
    import pandas
    import xarray

    from .. import battery


__all__ = [
    "battery_day",
    "cheapest_share",
    "demand_profiles",
    "demand_year",
    "energy_differences",
    "energy_panels",
    "energy_regrets",
    "energy_sorted_rewards",
    "over_uniform",
    "reward_distributions",
]


_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
_MARKERS = "osD^vP"
_HALF_HOURS = np.arange(48) / 2


def demand_year(axes: Axes, demand: battery.Demand, days: battery.Days) -> Axes:
    """Mean, lowest and highest demand of each day of the year; the days used are shaded."""
    dates, power = demand.dates, demand.power
    axes.fill_between(
        dates, power.min(axis=1), power.max(axis=1), color=COLORS[0], alpha=0.25, lw=0
    )
    axes.plot(dates, power.mean(axis=1), color=COLORS[0], lw=1)
    axes.axvspan(days.dates[0], days.dates[-1], color="#000000", alpha=0.08, lw=0)
    axes.set(ylabel="demand (MW)", xlim=(dates[0], dates[-1]))
    axes.xaxis.set_major_formatter(DateFormatter("%b"))
    axes.set_title(f"{len(power)} days: mean, and lowest to highest half-hour")
    return axes


def demand_profiles(axes: Axes, days: battery.Days, subscribed: float) -> Axes:
    """Every day's demand by time of day, with the median and the middle 80% of the days."""
    axes.plot(_HALF_HOURS, days.today.T, color="#888888", lw=0.4, alpha=0.35)
    low, middle, high = np.quantile(days.today, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(_HALF_HOURS, low, high, color=COLORS[0], alpha=0.3, lw=0)
    axes.plot(_HALF_HOURS, middle, color=COLORS[0])
    _subscribed_line(axes, subscribed)
    axes.set(xlabel="hour of the day", ylabel="demand (MW)", xlim=(0, 24), xticks=range(0, 25, 6))
    axes.set_title(f"{len(days)} days: median, middle 80%")
    return axes


def _subscribed_line(axes: Axes, subscribed: float) -> None:
    axes.axhline(subscribed, color="#000000", lw=0.8, ls=":")
    axes.annotate(
        "G", (1, subscribed), (3, 0), axes.get_yaxis_transform(), "offset points", va="center"
    )


def battery_day(
    power_axes: Axes, soc_axes: Axes, operation: battery.Operation, day: int, subscribed: float
) -> tuple[Axes, Axes]:
    """One day of one strategy: demand and bought power above, state of charge below."""
    demand, bought = operation.demand[day], operation.bought[day]
    edges = np.arange(49) / 2
    power_axes.stairs(demand, edges, color="#888888", lw=1, baseline=None, label="demand")
    power_axes.stairs(bought, edges, color=COLORS[0], lw=1.4, baseline=None, label="bought")
    over = np.maximum(bought, subscribed)
    power_axes.stairs(over, edges, baseline=subscribed, fill=True, color=COLORS[3], label="overrun")
    _subscribed_line(power_axes, subscribed)
    battery = operation.battery
    soc_axes.plot(edges, operation.stored[day] / battery.capacity, color=COLORS[2])
    soc_axes.axhline(battery.reserve, color="#000000", lw=0.8, ls=":")
    soc_axes.set(xlabel="hour of the day", ylim=(0, 1.03), xlim=(0, 24), xticks=range(0, 25, 6))
    power_axes.set(xlim=(0, 24), xticks=range(0, 25, 6), xticklabels=[])
    return power_axes, soc_axes


def reward_distributions(axes: Axes, table: battery.RewardTable, alpha: float = 0.1) -> Axes:
    """All rewards of each strategy, from the best mean down, with mean, CVaR and minimum."""
    summary = table.summary(alpha)
    order = np.argsort(-summary["mean"].to_numpy(), kind="stable")
    for row, i in enumerate(order):
        axes.plot(
            table.rewards[i], np.full(table.rewards.shape[1], row), "|", color="#999999", ms=5
        )
    rows = np.arange(order.size)
    marks = (("mean", "o", COLORS[0]), (f"CVaR {alpha:.0%}", "D", COLORS[3]))
    for name, marker, color in (*marks, ("minimum", "<", "#000000")):
        axes.plot(summary[name].iloc[order], rows, marker, color=color, label=name, ms=4.5)
    numbers = [f"{summary.index[i]}  {i + 1}" for i in order]
    axes.set(yticks=rows, yticklabels=numbers, xlabel="reward", ylim=(order.size - 0.4, -0.6))
    axes.legend(loc="upper left")
    return axes


def cheapest_share(axes: Axes, tables: Mapping[str, battery.RewardTable]) -> Axes:
    """Share of the days on which each strategy is the cheapest, side by side for some tariffs."""
    height = 0.8 / len(tables)
    for j, (label, table) in enumerate(tables.items()):
        winners = np.bincount(table.cheapest(), minlength=len(table.names))
        rows = np.arange(len(table.names)) + (j - (len(tables) - 1) / 2) * height
        hatch = ("", "////", "....")[j % 3]
        axes.barh(rows, winners / winners.sum(), height, label=label, color=COLORS[j], hatch=hatch)
    names = [f"{name}  {i + 1}" for i, name in enumerate(table.names)]
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    axes.set_xlabel(f"share of {table.unit_cost.shape[1]} days on which it is cheapest")
    axes.legend(loc="lower right")
    return axes


def energy_sorted_rewards(axes: Axes, rewards: xarray.DataArray, labels: Mapping[str, str]) -> Axes:
    """Left column of figure 4: sorted rewards, mean over the runs.

    Parameters
    ----------
    axes : Axes
    rewards : DataArray with dimensions policy, run and rank
        Sorted run by run, see `marab_lib.regret.sorted_rewards`.
    labels : mapping
        Name of a policy to its label; the order gives dashes and markers.
    """
    _curves(axes, rewards, "rank", labels)
    axes.set(xlabel="rank of the reward", ylabel="reward")
    return axes


def energy_regrets(axes: Axes, regrets: xarray.DataArray, labels: Mapping[str, str]) -> Axes:
    """Right column of figure 4: regret (policy, run, checkpoint), mean over the runs."""
    _curves(axes, regrets, "checkpoint", labels)
    axes.set(xlabel="iteration", ylabel="empirical regret")
    return axes


def energy_panels(
    axes: np.ndarray,
    draw: Callable[[Axes, xarray.DataArray, Mapping[str, str]], Axes],
    ours: xarray.DataArray,
    printed: Mapping[str, tuple[np.ndarray, np.ndarray]],
    rows: Mapping[str, Mapping[str, str]],
) -> np.ndarray:
    """One column of figure 4, ours on the left, the printed curves on the right.

    Parameters
    ----------
    axes : ndarray of Axes, shape (4, 2)
    draw : callable
        `energy_sorted_rewards` or `energy_regrets`.
    ours : DataArray
        For `draw`.
    printed : mapping from name of a policy to (x, y)
    rows : mapping from title to mapping from name to label
    """
    for (title, labels), (left, right) in zip(rows.items(), axes, strict=True):
        draw(left, ours, labels).set_title(f"{title}, ours")
        for i, (name, label) in enumerate(labels.items()):
            if name in printed:
                look = _look(ours.sel(policy=name), i, len(labels))
                printed_curve(right, *printed[name], color=look["color"], marker=look["marker"])
                right.plot(*printed[name], lw=0.5, color=look["color"], label=label)
        right.set(title=f"{title}, printed", xlim=left.get_xlim())
        left.legend(fontsize=6.5, ncols=2 if len(labels) > 5 else 1)
    for axis in axes[:-1].flat:
        axis.set_xlabel("")
    axes[-1, 1].set_xlabel(axes[-1, 0].get_xlabel())
    return axes


def energy_differences(
    axes: np.ndarray,
    ranked: xarray.DataArray,
    regrets: xarray.DataArray,
    reference: str,
    labels: Mapping[str, str],
) -> np.ndarray:
    """Sorted rewards and regrets of some policies, less those of one: mean over the runs."""
    draw = (energy_sorted_rewards, energy_regrets)
    for axis, values, curves in zip(axes, (ranked, regrets), draw, strict=True):
        curves(axis, values - values.sel(policy=reference, drop=True), labels)
        title = values.sel(policy=reference).title.item()
        axis.set_ylabel(f"{axis.get_ylabel()}, less {title}'s")
    axes[0].legend(fontsize=7)
    return axes


def over_uniform(axes: Axes, table: pandas.DataFrame, errors: pandas.DataFrame) -> Axes:
    """Regrets over that of uniform play, a line a policy, a mark a column.

    Parameters
    ----------
    axes : Axes
    table : DataFrame
        A row a policy.
    errors : DataFrame
        Standard errors, of the columns that have one; drawn are two.
    """
    height = np.arange(len(table))[::-1]
    for name, marker, color in zip(table, "osD", ("#000000", *COLORS[:2]), strict=False):
        error = 2 * errors[name] if name in errors else None
        look = {"fmt": marker, "color": color, "mfc": "none", "ms": 5, "lw": 1, "label": name}
        axes.errorbar(table[name], height, xerr=error, **look)
    axes.axvline(1, color="#777777", lw=0.8, ls="--")
    axes.set_yticks(height, table.index)
    axes.set(xlabel="regret over that of uniform play", xlim=(0, None))
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=3)
    return axes


def _look(of_policy: xarray.DataArray, i: int, n: int) -> dict[str, Any]:
    """Colour, dash and marker of the i-th of n curves."""
    import seaborn as sns

    color = policy_style(of_policy.title.item())["color"]
    if of_policy.bonus == "pessimistic":
        color = "#000000"
    elif of_policy.bonus == "printed":
        color = "#777777"
    elif n > 2 and color != "#000000":
        color = sns.light_palette(color, n + 3).as_hex()[3 + i]
    return {
        "color": color,
        "linestyle": _DASHES[i % len(_DASHES)],
        "marker": _MARKERS[i % len(_MARKERS)],
    }


def _curves(axes: Axes, values: xarray.DataArray, along: str, labels: Mapping[str, str]) -> None:
    """A curve a policy: its own colour, shaded by the order, with dash and marker by the order.

    The markers are staggered, so that curves that coincide are seen to.
    """
    x, n = values[along].values, len(labels)
    for i, (name, label) in enumerate(labels.items()):
        of_policy = values.sel(policy=name)
        mean, error = regret.mean_and_error(of_policy)
        every = max(1, x.size // 8)
        curve(
            axes,
            x,
            mean,
            error,
            label=label,
            markevery=(every * (i + 1) // (n + 1), every),
            markersize=3.5,
            **_look(of_policy, i, n),
        )
    axes.set_xlim(0, x[-1])
