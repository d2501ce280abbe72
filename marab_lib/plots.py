"""Figures: each function takes data and axes, draws, and returns the axes.

A policy keeps its colour, dash and marker everywhere, so that it can be told from the others
without colour too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.dates import DateFormatter

from . import regret

if TYPE_CHECKING:
    import xarray

    from . import energy

__all__ = [
    "arm_intervals",
    "battery_day",
    "cheapest_share",
    "curve",
    "demand_profiles",
    "demand_year",
    "distribution",
    "energy_regrets",
    "energy_sorted_rewards",
    "estimate_paths",
    "estimator_error",
    "heat_map",
    "label_ends",
    "policy_style",
    "printed_curve",
    "reward_distributions",
    "shades",
    "use_style",
]

_COLORS = sns.color_palette("colorblind").as_hex()
_STYLES = {
    "UCB": (_COLORS[0], "-", "o"),
    "MIN": ("#000000", "--", "s"),
    "MaRaB": (_COLORS[3], "-.", "^"),
    "MV-LCB": (_COLORS[4], (0, (5, 1, 1, 1, 1, 1)), "D"),
    "ExpExp": (_COLORS[2], (0, (3, 1)), "v"),
    "KL-UCB": (_COLORS[5], (0, (1, 1)), "P"),
    "eps-greedy": (_COLORS[6], (0, (6, 2)), "X"),
    "Thompson": (_COLORS[1], (0, (4, 1, 1, 1)), "*"),
}
_OTHER = ("#777777", (0, (2, 2)), "h")


def use_style() -> None:
    """Set the project's style for all figures that follow."""
    plt.style.use(Path(__file__).with_name("marab.mplstyle"))


def policy_style(name: str) -> dict[str, object]:
    """Colour, dash and marker of a policy, by its title or its full name with parameters.

    Examples
    --------
    >>> policy_style("MIN")["marker"], policy_style("MIN(ties=random)")["marker"]
    ('s', 's')
    """
    color, dash, marker = _STYLES.get(name.split("(")[0], _OTHER)
    return {"color": color, "linestyle": dash, "marker": marker}


def curve(
    axes: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    error: np.ndarray | None = None,
    *,
    label: str = "",
    markers: int = 8,
    **style: object,
) -> Axes:
    """A line with a band of two standard errors and a few markers along it.

    Parameters
    ----------
    axes : Axes
    x, mean, error : array_like, shape (n,)
        Position, mean and its standard error (None draws no band).
    label : str
        For the legend.
    markers : int
        How many markers, spread evenly.
    **style
        For `Axes.plot`, such as `policy_style` of a policy.
    """
    x, mean = np.asarray(x), np.asarray(mean)
    style = {"marker": "", "markevery": max(1, len(x) // markers)} | style
    (line,) = axes.plot(x, mean, label=label, **style)
    if error is not None:
        band = 2 * np.asarray(error)
        color = line.get_color()
        axes.fill_between(x, mean - band, mean + band, color=color, alpha=0.18, linewidth=0)
    return axes


def printed_curve(axes: Axes, x: np.ndarray, y: np.ndarray, **style: object) -> Axes:
    """A curve of the printed paper: hollow marks, thinned out, without a line."""
    step = max(1, len(x) // 14)
    look = {"color": "#444444", "marker": "o"} | style
    axes.plot(
        np.asarray(x)[::step],
        np.asarray(y)[::step],
        linestyle="",
        markersize=3.6,
        markerfacecolor="none",
        markeredgewidth=0.9,
        **look,
    )
    return axes


def label_ends(axes: Axes, entries: Sequence[tuple[float, str, str]], gap: float = 0.05) -> Axes:
    """Names to the right of the lines' ends; names that would overlap share one place.

    Parameters
    ----------
    entries : sequence of (y, text, color)
        Height of each end in data units.
    gap : float
        Least distance between two names, as a share of the axes' height.
    """
    low, high = axes.get_ylim()
    groups: list[list[tuple[float, str, str]]] = []
    for entry in sorted(entries):
        if groups and (entry[0] - groups[-1][-1][0]) / (high - low) < gap:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    for group in groups:
        text = ", ".join(name for _, name, _ in group)
        height = np.mean([y for y, _, _ in group])
        axes.annotate(
            "\n".join(textwrap.wrap(text, 16)),
            xy=(1.01, (height - low) / (high - low)),
            xycoords="axes fraction",
            fontsize=7.5,
            va="center",
            color=group[0][2],
        )
    return axes


def arm_intervals(axes: Axes, low: np.ndarray, high: np.ndarray, mean: np.ndarray) -> Axes:
    """The support of each arm as a bar, its mean as a dot (section 5.1's problem)."""
    arms = np.arange(1, len(mean) + 1)
    axes.vlines(arms, low, high, color=_COLORS[0], lw=4, alpha=0.5)
    axes.plot(arms, mean, "k_", markersize=7, label="mean")
    axes.plot(arms, low, "v", color=_COLORS[3], markersize=4, label="essential infimum")
    axes.set(xlabel="arm $i$", ylabel="reward", xticks=arms[::3])
    axes.legend(loc="upper left")
    return axes


def estimator_error(
    axes: Axes, n: np.ndarray, rmse: Mapping[str, np.ndarray], theory: Mapping[str, np.ndarray]
) -> Axes:
    """Root mean square error of the CVaR estimate against n on log axes, with its theory."""
    marks = "o^sDv"
    for k, (name, values) in enumerate(rmse.items()):
        color = _COLORS[k]
        axes.plot(n, values, marks[k % 5], color=color, label=name)
        axes.plot(n, theory[name], "-", color=color, lw=0.9)
    axes.set(xscale="log", yscale="log", xlabel="rewards $n$", ylabel="RMSE of the estimate")
    axes.legend(title="simulated (line: $\\sqrt{V/n}$)", title_fontsize=8)
    return axes


def estimate_paths(
    axes: Axes, paths: np.ndarray, minima: np.ndarray, exact: float, phase_end: float
) -> Axes:
    """CVaR estimates of single samples against n, with the running minimum and the phase change."""
    n = np.arange(1, paths.shape[1] + 1)
    for k, (path, minimum) in enumerate(zip(paths, minima, strict=True)):
        axes.plot(n, path, color=_COLORS[0], lw=1, label="CVaR estimate" if k == 0 else None)
        axes.plot(
            n, minimum, color="k", lw=0.8, ls=":", label="smallest reward" if k == 0 else None
        )
    axes.axhline(exact, color=_COLORS[3], lw=1, ls="--", label="exact CVaR")
    axes.axvline(phase_end, color="#777777", lw=0.8, ls="-.", label="$n = 1/\\alpha$")
    axes.set(xscale="log", xlabel="rewards $n$", ylabel="reward")
    return axes


def heat_map(
    axes: Axes, values: np.ndarray, errors: np.ndarray, rows: Sequence, columns: Sequence
) -> Axes:
    """A table of means and standard errors, coloured by the logarithm of the mean."""
    text = np.array(
        [
            [f"{v:.3g}\n±{e:.1g}" for v, e in zip(line, error, strict=True)]
            for line, error in zip(values, errors, strict=True)
        ]
    )
    sns.heatmap(
        np.log10(values),
        ax=axes,
        annot=text,
        fmt="",
        cmap="cividis",
        annot_kws={"fontsize": 6.5},
        cbar_kws={"label": "$\\log_{10}$ of the regret"},
        xticklabels=columns,
        yticklabels=rows,
    )
    axes.tick_params(axis="y", rotation=0)
    axes.grid(False)
    return axes


def shades(n: int) -> list[str]:
    """n colours from dark to light in the order of a parameter, told apart in grey too."""
    return [to_hex(color) for color in plt.get_cmap("viridis")(np.linspace(0, 0.88, n))]


def distribution(
    axes: Axes, values: np.ndarray, label: str, mark: float | None = None, bins: int = 40
) -> Axes:
    """Histogram of simulated values as shares, with a printed value as a dashed line."""
    weights = np.full(len(values), 1 / len(values))
    axes.hist(values, bins=bins, weights=weights, color=_COLORS[0], alpha=0.75)
    if mark is not None:
        axes.axvline(mark, color="k", ls="--", lw=1, label=f"printed: {mark:.3f}")
        axes.legend()
    axes.set(xlabel=label, ylabel="share")
    return axes


# --- section 5.3 --------------------------------------------------------------------------

_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
_MARKERS = "osD^vP"
_HALF_HOURS = np.arange(48) / 2


def demand_year(axes: Axes, demand: energy.Demand, days: energy.Days) -> Axes:
    """Mean, lowest and highest demand of each day of the year; the days used are shaded."""
    dates, power = demand.dates, demand.power
    axes.fill_between(
        dates, power.min(axis=1), power.max(axis=1), color=_COLORS[0], alpha=0.25, lw=0
    )
    axes.plot(dates, power.mean(axis=1), color=_COLORS[0], lw=1)
    axes.axvspan(days.dates[0], days.dates[-1], color="#000000", alpha=0.08, lw=0)
    axes.set(ylabel="demand (MW)", xlim=(dates[0], dates[-1]))
    axes.xaxis.set_major_formatter(DateFormatter("%b"))
    axes.set_title(f"{len(power)} days: mean, and lowest to highest half-hour")
    return axes


def demand_profiles(axes: Axes, days: energy.Days, subscribed: float) -> Axes:
    """Every day's demand by time of day, with the median and the middle 80% of the days."""
    axes.plot(_HALF_HOURS, days.today.T, color="#888888", lw=0.4, alpha=0.35)
    low, middle, high = np.quantile(days.today, [0.1, 0.5, 0.9], axis=0)
    axes.fill_between(_HALF_HOURS, low, high, color=_COLORS[0], alpha=0.3, lw=0)
    axes.plot(_HALF_HOURS, middle, color=_COLORS[0])
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
    power_axes: Axes, soc_axes: Axes, operation: energy.Operation, day: int, subscribed: float
) -> tuple[Axes, Axes]:
    """One day of one strategy: demand and bought power above, state of charge below."""
    demand, bought = operation.demand[day], operation.bought[day]
    edges = np.arange(49) / 2
    power_axes.stairs(demand, edges, color="#888888", lw=1, baseline=None, label="demand")
    power_axes.stairs(bought, edges, color=_COLORS[0], lw=1.4, baseline=None, label="bought")
    over = np.maximum(bought, subscribed)
    power_axes.stairs(
        over, edges, baseline=subscribed, fill=True, color=_COLORS[3], label="overrun"
    )
    _subscribed_line(power_axes, subscribed)
    battery = operation.battery
    soc_axes.plot(edges, operation.stored[day] / battery.capacity, color=_COLORS[2])
    soc_axes.axhline(battery.reserve, color="#000000", lw=0.8, ls=":")
    soc_axes.set(xlabel="hour of the day", ylim=(0, 1.03), xlim=(0, 24), xticks=range(0, 25, 6))
    power_axes.set(xlim=(0, 24), xticks=range(0, 25, 6), xticklabels=[])
    return power_axes, soc_axes


def reward_distributions(axes: Axes, table: energy.RewardTable, alpha: float = 0.1) -> Axes:
    """All rewards of each strategy, from the best mean down, with mean, CVaR and minimum."""
    summary = table.summary(alpha)
    order = np.argsort(-summary["mean"].to_numpy(), kind="stable")
    for row, i in enumerate(order):
        axes.plot(
            table.rewards[i], np.full(table.rewards.shape[1], row), "|", color="#999999", ms=5
        )
    rows = np.arange(order.size)
    marks = (("mean", "o", _COLORS[0]), (f"CVaR {alpha:.0%}", "D", _COLORS[3]))
    for name, marker, color in (*marks, ("minimum", "<", "#000000")):
        axes.plot(summary[name].iloc[order], rows, marker, color=color, label=name, ms=4.5)
    numbers = [f"{summary.index[i]}  {i + 1}" for i in order]
    axes.set(yticks=rows, yticklabels=numbers, xlabel="reward", ylim=(order.size - 0.4, -0.6))
    axes.legend(loc="upper left")
    return axes


def cheapest_share(axes: Axes, tables: Mapping[str, energy.RewardTable]) -> Axes:
    """Share of the days on which each strategy is the cheapest, side by side for some tariffs."""
    height = 0.8 / len(tables)
    for j, (label, table) in enumerate(tables.items()):
        winners = np.bincount(table.unit_cost.argmin(axis=0), minlength=len(table.names))
        rows = np.arange(len(table.names)) + (j - (len(tables) - 1) / 2) * height
        hatch = ("", "////", "....")[j % 3]
        axes.barh(rows, winners / winners.sum(), height, label=label, color=_COLORS[j], hatch=hatch)
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


def _curves(axes: Axes, values: xarray.DataArray, along: str, labels: Mapping[str, str]) -> None:
    """A curve a policy: its own colour, shaded by the order, with dash and marker by the order.

    The markers are staggered, so that curves that coincide are seen to.
    """
    x, n = values[along].values, len(labels)
    for i, (name, label) in enumerate(labels.items()):
        mean, error = regret.mean_and_error(values.sel(policy=name))
        color = policy_style(name)["color"]
        if "pessimistic" in name:
            color = "#000000"
        elif n > 2 and color != "#000000":
            color = sns.light_palette(color, n + 3).as_hex()[3 + i]
        every = max(1, x.size // 8)
        curve(
            axes,
            x,
            mean,
            error,
            label=label,
            color=color,
            linestyle=_DASHES[i % len(_DASHES)],
            marker=_MARKERS[i % len(_MARKERS)],
            markevery=(every * (i + 1) // (n + 1), every),
            markersize=3.5,
        )
    axes.set_xlim(0, x[-1])
