"""Figures of section 5.2: sorted regrets and rewards, statements, readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from ...plots import COLORS, label_ends, policy_style, printed_curve, shades

if TYPE_CHECKING:
    import pandas
    import xarray

    from ...problems import Problem


__all__ = [
    "best_arms",
    "by_groups",
    "figure_2",
    "goal_and_learning",
    "name_ends",
    "origin_panels",
    "reading_distances",
    "reward_panels",
    "run_and_means",
    "setting_means",
    "shares_of_origin",
    "sorted_regrets",
    "sorted_rewards",
    "statement_intervals",
    "tail_gaps",
    "tail_panels",
]


def sorted_regrets(
    axes: Axes,
    curves: Mapping[str, np.ndarray],
    printed: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    bands: Mapping[str, np.ndarray] | None = None,
    looks: Mapping[str, dict] | None = None,
    titles: Mapping[str, str] | None = None,
) -> Axes:
    """Sorted regrets of many problems, one curve a policy (figure 2).

    Parameters
    ----------
    axes : Axes
    curves : mapping from name to array, shape (n,)
        Sorted regrets; all curves of one picture have one n.
    printed : mapping from name to (rank, regret), optional
        Ranks of 1,000, drawn at the same share of n; hollow marks of the policy's colour, which
        the legend shows on its line.
    bands : mapping from name to array, shape (2, n), optional
        Lower and upper ends.
    looks : mapping from name to options of `Axes.plot`, optional
        Where a curve is to differ from its policy's style.
    titles : mapping from name to title, optional
        Where the name of a curve is not its policy's title.
    """
    n = max(len(curve) for curve in curves.values())
    for name, curve in curves.items():
        rank = (np.arange(len(curve)) + 0.5) * n / len(curve)
        title = (titles or {}).get(name, name)
        style = policy_style(title)
        look = style | {"marker": ""} | (looks or {}).get(name, {})
        axes.plot(rank, curve, **look)
        mark = style["marker"] if name in (printed or {}) else ""
        axes.plot([], [], label=name, **look | {"marker": mark, "markerfacecolor": "none"})
        if bands is not None and name in bands:
            axes.fill_between(rank, *bands[name], color=look["color"], alpha=0.2, linewidth=0)
    for name, (x, y) in (printed or {}).items():
        look = policy_style(name)
        share = np.asarray(x) / 1000
        printed_curve(axes, share * n, y, color=look["color"], marker=look["marker"])
    axes.axhline(0, color="#777777", lw=0.6)
    axes.set(xlabel=f"rank of the problem (of {n:,})", xlim=(0, n))
    return axes


def name_ends(axes: Axes, curves: Mapping[str, np.ndarray], titles: Mapping[str, str]) -> Axes:
    """Names of the curves of `sorted_regrets` at their ends, or where they leave the panel."""
    (_, n), (_, top), ends = axes.get_xlim(), axes.get_ylim(), []
    for name, curve in curves.items():
        color = policy_style(titles.get(name, name))["color"]
        if curve[-1] <= top:
            ends.append((curve[-1], name, color))
            continue
        share = np.searchsorted(curve, top) / len(curve)
        side, shift = ("left", 5) if share < 0.5 else ("right", -5)
        look = {"color": color, "ha": side, "va": "top", "fontsize": 7.5}
        axes.annotate(name, (share * n, top), (shift, 0), textcoords="offset points", **look)
    return label_ends(axes, ends)


def figure_2(
    axes: Sequence[Axes],
    result: xarray.Dataset,
    printed: Mapping[int, Mapping[str, tuple[np.ndarray, np.ndarray]]],
) -> Sequence[Axes]:
    """Sorted regrets of one run on each problem, one axes a horizon, with printed curves as marks.

    Parameters
    ----------
    axes : sequence of Axes
    result : Dataset of `section_5_2_1.final_regrets`
        Its first runs are drawn; the second policy of a title is dotted.
    printed : mapping from horizon to the printed curves of `sorted_regrets`
    """
    names, titles = (result[x].values.tolist() for x in ("policy", "title"))
    again = [name for i, name in enumerate(names) if titles[i] in titles[:i]]
    looks = {name: {"linestyle": ":", "linewidth": 1.8} for name in again}
    for axis, regrets in zip(axes, result.empirical_regret.isel(run=0), strict=True):
        horizon = regrets.horizon.item()
        curves = {name: np.sort(regrets.sel(policy=name)) for name in names}
        by_name = dict(zip(names, titles, strict=True))
        sorted_regrets(axis, curves, printed.get(horizon), looks=looks, titles=by_name)
        axis.set(title=f"T = {horizon}, one run a problem")
    axes[0].set(ylabel="empirical regret")
    return axes


def run_and_means(axes: Axes, result: xarray.Dataset) -> Axes:
    """Sorted regrets of one run and of the mean of all, of one policy at one horizon."""
    runs, empirical = result.sizes["run"], result.empirical_regret
    kinds = {
        "one run, empirical": (empirical.isel(run=0), "-"),
        f"mean of {runs} runs, empirical": (empirical.mean("run"), "--"),
        f"mean of {runs} runs, pseudo": (result.theoretical_regret.mean("run"), ":"),
    }
    for kind, (values, dash) in kinds.items():
        sorted_regrets(
            axes, {kind: np.sort(values)}, looks={kind: {"linestyle": dash, "color": "k"}}
        )
    axes.set(title=result.policy.item(), ylabel="regret")
    return axes


def statement_intervals(axes: Axes, table: pandas.DataFrame, names: Sequence[str]) -> Axes:
    """Values with their intervals, one line a statement; a cross marks the paper's number.

    Parameters
    ----------
    axes : Axes
    table : DataFrame with columns value, low, high, paper
    names : sequence of str
        For the lines, from the top.
    """
    height = np.arange(len(table))[::-1]
    error = np.abs(table[["low", "high"]].to_numpy().T - table["value"].to_numpy())
    axes.errorbar(table["value"], height, xerr=error, fmt="o", color=COLORS[0], ms=4, label="ours")
    if table["paper"].notna().any():
        axes.plot(table["paper"], height, "x", color=COLORS[3], label="paper's text")
    axes.set_yticks(height, names)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return axes


def setting_means(
    axes: Axes, x: Sequence[float], mean: np.ndarray, error: np.ndarray, level: float, label: str
) -> Axes:
    """Mean and standard error against a parameter on a log axis, with a level to compare with."""
    axes.errorbar(x, mean, yerr=error, fmt="o-", color=COLORS[3], ms=4, lw=1)
    axes.axhline(level, color=COLORS[0], ls="--", lw=1, label=label)
    axes.set(xscale="log", ylim=(0, None))
    axes.legend()
    return axes


def goal_and_learning(axes: Axes, goal: np.ndarray, learning: np.ndarray) -> Axes:
    """Both parts of each problem's regret, the problems in the order of their sum."""
    order = np.argsort(goal + learning, kind="stable")
    rank = np.arange(len(order)) + 0.5
    axes.plot(rank, learning[order], ".", ms=2, color=COLORS[0], alpha=0.5, label="learning")
    axes.plot(rank, goal[order], "^", ms=2.5, color=COLORS[3], alpha=0.5, label="goal")
    axes.plot(rank, (goal + learning)[order], "-", color="k", lw=1.2, label="sum")
    axes.set(xlabel=f"rank of the problem (of {len(order):,})", ylabel="theoretical regret")
    axes.set_xlim(0, len(order))
    axes.legend(markerscale=2.5, loc="upper left")
    return axes


def reading_distances(axes: Axes, table: pandas.DataFrame, columns: Sequence[str]) -> Axes:
    """Distance of each generator's best rule from the printed curves, in units of noise alone."""
    height = np.arange(len(table))[::-1]
    for name in columns:
        look = policy_style(name)
        axes.plot(
            table[name], height, look["marker"], color=look["color"], ms=4.5, mfc="none", label=name
        )
    axes.axvline(1, color="#777777", lw=0.8, ls="--")
    axes.set_yticks(height, table.index)
    axes.tick_params(axis="y", labelsize=6.5)
    axes.set(xscale="log", xlabel="distance to the printed curve / distance by noise alone")
    axes.legend(loc="upper center", ncol=4, bbox_to_anchor=(0.4, 1.09))
    return axes


def sorted_rewards(
    axes: Axes, curves: Mapping[str, np.ndarray], bands: Mapping[str, np.ndarray]
) -> Axes:
    """Sorted rewards of a few settings of one policy with pointwise bands (figure 3)."""
    dashes = ("-", "--", ":", "-.")
    colors = shades(len(curves))
    for (name, curve), dash, color in zip(curves.items(), dashes, colors, strict=False):
        rank = np.arange(1, len(curve) + 1)
        axes.plot(rank, curve, ls=dash, color=color, lw=1.2, label=name)
        axes.fill_between(rank, *bands[name], color=color, alpha=0.2, linewidth=0)
    axes.set(xlim=(0, len(rank)), ylim=(0, 1))
    return axes


def shares_of_origin(axes: Axes, shares: pandas.DataFrame) -> Axes:
    """Where the worst rewards come from: stacked shares, one bar a policy."""
    hatches = ("", "///", "...", "\\\\\\", "xxx", "++")
    left = np.zeros(len(shares))
    height = np.arange(len(shares))[::-1]
    for name, color, hatch in zip(shares, shades(len(shares.columns)), hatches, strict=False):
        value = shares[name].to_numpy()
        axes.barh(
            height, value, left=left, color=color, hatch=hatch, edgecolor="w", lw=0.4, label=name
        )
        left += value
    axes.set_yticks(height, shares.index)
    axes.set(xlim=(0, 1))
    axes.grid(visible=False, axis="y")
    return axes


def reward_panels(
    axes: np.ndarray,
    curve: xarray.DataArray,
    band: xarray.DataArray,
    groups: Mapping[str, Sequence],
    names: Sequence[str],
    printed: Sequence[Mapping[str, np.ndarray]] = (),
) -> np.ndarray:
    """Figure 3: a row of panels for each policy, a column for each problem.

    Parameters
    ----------
    axes : ndarray of Axes, shape (policy, problem)
    curve : DataArray (policy, problem, rank)
        Mean of the sorted runs.
    band : DataArray (quantile, policy, problem, rank)
        Two ends.
    groups : mapping from title to policies
        As `section_5_2_2.figure_3_policies` gives it; the first parameter of each tells them apart.
    names : sequence of str
        For the problems.
    printed : sequence of mappings from name of a policy to array, shape (n,), optional
        The printed curves of each problem, at n evenly spaced ranks; hollow marks.
    """
    for row, (title, group) in zip(axes, groups.items(), strict=True):
        for j, axis in enumerate(row):
            first = {p.name: next(iter(p.described().items())) for p in group}
            labels = {name: f"{parameter}={value:g}" for name, (parameter, value) in first.items()}
            lines = {label: curve.sel(policy=p).values[j] for p, label in labels.items()}
            ends = {label: band.sel(policy=p).values[:, j] for p, label in labels.items()}
            sorted_rewards(axis, lines, ends)
            for p, color, marker in zip(labels, shades(len(labels)), "os^", strict=True):
                for of_problem in printed[j : j + 1]:
                    y = of_problem[p]
                    x = np.arange(1, len(y) + 1) * curve.sizes["rank"] / len(y)
                    printed_curve(axis, x, y, color=color, marker=marker)
            axis.set(title=f"{title}, {names[j]} variance")
        row[0].set(ylabel="reward")
        row[0].legend(loc="lower right")
    for axis in axes[-1]:
        axis.set(xlabel="rank of the reward in its run")
    return axes


def origin_panels(axes: Sequence[Axes], tables: Mapping[str, pandas.DataFrame]) -> Sequence[Axes]:
    """`shares_of_origin` in one panel a problem, with one legend below."""
    for axis, (title, table) in zip(axes, tables.items(), strict=True):
        shares_of_origin(axis, table)
        axis.set(title=title, xlabel="share")
        axis.tick_params(axis="y", labelsize=7)
    handles = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(*handles, loc="outside lower center", ncol=3)
    return axes


def tail_gaps(axes: Axes, levels: np.ndarray, gaps: np.ndarray) -> Axes:
    """Differences of quantile values over problems: median, central half, central 90 %.

    Parameters
    ----------
    axes : Axes
    levels : ndarray, shape (n,)
        In [0, 1].
    gaps : ndarray, shape (problem, n)
    """
    at = np.quantile(gaps, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    x = 100 * np.asarray(levels)
    axes.fill_between(x, at[0], at[4], color=COLORS[0], alpha=0.15, lw=0)
    axes.fill_between(x, at[1], at[3], color=COLORS[0], alpha=0.3, lw=0)
    axes.plot(x, at[2], "k.-")
    axes.axhline(0, color="#777777", lw=0.8)
    axes.set(xlabel="level (%)")
    return axes


def tail_panels(
    axes: np.ndarray, quantiles: Mapping[str, xarray.DataArray], names: Sequence[str], other: str
) -> np.ndarray:
    """`tail_gaps` of some policies less another: a row an interpretation, a column a policy.

    Parameters
    ----------
    axes : ndarray of Axes, shape (interpretation, policy)
    quantiles : mapping from interpretation to DataArray (policy, problem, level)
        With the coordinate alpha.
    names : sequence of str
        Of the policies.
    other : str
        The one to compare with.
    """
    for row, (title, of) in zip(axes, quantiles.items(), strict=True):
        for axis, name in zip(row, names, strict=True):
            gaps = (of.sel(policy=name) - of.sel(policy=other)).transpose("problem", "level")
            tail_gaps(axis, gaps.level.values, gaps.values)
            alpha = float(of.sel(policy=name).alpha)
            axis.set(title=f"α = {alpha:.1%}, {title}", xlabel="")
    for axis in axes[-1]:
        axis.set(xlabel="level (%)")
    return axes


def best_arms(axes: Sequence[Axes], problems: Sequence[Problem]) -> Sequence[Axes]:
    """Densities of the arms of best mean and of best CVaR at 20 %, a panel a problem."""
    x = np.linspace(0, 1, 400)
    for axis, problem in zip(axes, problems, strict=True):
        laws: Sequence[Any] = problem.arms  # with densities
        axis.plot(x, laws[problem.best_arm].pdf(x), "k-", label="best mean")
        axis.plot(x, laws[int(problem.cvars(0.2).argmax())].pdf(x), "C1--", label="best CVaR")
        axis.set(xlabel="reward")
    axes[0].set(ylabel="density", ylim=(0, None))
    axes[0].legend()
    return axes


def by_groups(
    axes: Axes, x: np.ndarray, y: np.ndarray, name: str, label: str, groups: int = 10
) -> Axes:
    """Mean and standard error of y in groups of equal size by x, in a policy's style."""
    parts = np.array_split(np.argsort(x, kind="stable"), groups)
    mean = [y[part].mean() for part in parts]
    error = [y[part].std(ddof=1) / np.sqrt(len(part)) for part in parts]
    centre = [x[part].mean() for part in parts]
    axes.errorbar(centre, mean, yerr=error, ms=4, label=label, **policy_style(name))
    return axes
