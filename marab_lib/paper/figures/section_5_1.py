"""Figures of section 5.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from ... import plots
from ...plots import COLORS

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = [
    "arm_intervals",
    "figure_1a",
    "figure_1b",
    "last_other_pull",
    "sensitivity",
]

_MARKS = {1e-6: "o", 1e-3: "s", 1.0: "^", 10.0: "v", 1e3: "D"}  # of C
_LEVELS = {0.001: (COLORS[0], "-", "o"), 0.01: (COLORS[2], "--", "^"), 0.1: (COLORS[3], "-.", "D")}


def arm_intervals(axes: Axes, low: np.ndarray, high: np.ndarray, mean: np.ndarray) -> Axes:
    """The support of each arm as a bar, its mean as a dot (section 5.1's problem)."""
    arms = np.arange(1, len(mean) + 1)
    axes.vlines(arms, low, high, color=COLORS[0], lw=4, alpha=0.5)
    axes.plot(arms, mean, "k_", markersize=7, label="mean")
    axes.plot(arms, low, "v", color=COLORS[3], markersize=4, label="essential infimum")
    axes.set(xlabel="arm $i$", ylabel="reward", xticks=arms[::3])
    axes.legend(loc="upper left")
    return axes


def figure_1a(
    axes: Axes,
    mean: xarray.DataArray,
    error: xarray.DataArray,
    printed: pandas.DataFrame,
    bands: Sequence[float],
) -> Axes:
    """Regret of UCB for each C and of MIN, with printed curves as marks.

    Parameters
    ----------
    axes : Axes
    mean, error : DataArray with dimensions policy and checkpoint
        Of a result of `section_5_1.figure_1`.
    printed : DataFrame
        Of `data.published_curves`; may have no row.
    bands : sequence of float
        Values of C that get a band of two standard errors, as MIN does.
    """
    steps, least = mean.checkpoint.values, mean.sel(policy=mean.title == "MIN")[0]
    ucb = mean.sel(policy=mean.title == "UCB")
    colors = dict(zip(ucb.C.values.tolist(), plots.shades(ucb.sizes["policy"]), strict=True))
    plots.curve(axes, steps, least, error.sel(policy=least.policy), color="k", ls="--")
    ends = [(float(least[-1]), "MIN", "black")]
    for y, (C, color) in zip(ucb, colors.items(), strict=True):
        band = error.sel(policy=y.policy) if C in bands else None
        plots.curve(axes, steps, y, band, color=color, lw=1.1)
        ends.append((float(y[-1]), f"C = {C:g}", color))
    for (policy, C), part in printed.groupby(["policy", "C"], dropna=False):
        look = {"color": "black", "marker": "x", "label": "printed MIN"}
        if policy == "UCB":
            look = {"color": colors.get(C, "#999999"), "label": f"printed C = {C:g}"}
            look["marker"] = _MARKS[C]
        plots.printed_curve(axes, part["x"], part["y"], **look)
    axes.set(xlabel="iteration $t$", ylabel="pseudo-regret", xlim=(0, steps[-1]), ylim=(0, None))
    plots.label_ends(axes, ends)
    if len(printed):  # the marks have names, the lines are labelled at their ends
        axes.legend(loc="upper left")
    return axes


def figure_1b(
    axes: Sequence[Axes],
    mean: xarray.DataArray,
    error: xarray.DataArray,
    printed: pandas.DataFrame,
    Cs: Sequence[float],
) -> Sequence[Axes]:
    """Regret of MaRaB at the printed levels and of MIN, one axes a C, with printed curves as marks.

    See `figure_1a`; the band is that of MIN.
    """
    steps, least = mean.checkpoint.values, mean.sel(policy=mean.title == "MIN")[0]
    for axis, C in zip(axes, Cs, strict=True):
        for alpha, (color, dash, mark) in _LEVELS.items():
            for y in mean.sel(policy=(mean.alpha == alpha) & (mean.C == C)):
                plots.curve(axis, steps, y, color=color, ls=dash, label=f"$\\alpha$ = {alpha:g}")
            part = printed[(printed["alpha"] == alpha) & np.isclose(printed["C"], C)]
            plots.printed_curve(axis, part["x"], part["y"], color=color, marker=mark)
        band = error.sel(policy=least.policy)
        plots.curve(axis, steps, least, band, color="k", ls=":", label="MIN")
        part = printed[printed["policy"] == "MIN"]
        plots.printed_curve(axis, part["x"], part["y"], color="k", marker="x")
        axis.set(xlabel="iteration $t$", xscale="log", xlim=(1, steps[-1]), title=f"C = {C:g}")
    axes[0].set(ylabel="pseudo-regret", ylim=(0, 0.03 if len(printed) else None))
    axes[0].legend(loc="lower right")
    return axes


def sensitivity(axes: Axes, mean: xarray.DataArray, error: xarray.DataArray) -> Axes:
    """Final regret of MaRaB for each alpha (rows) and C (columns), both with dimension policy."""
    alphas, Cs = (np.unique(mean[name]) for name in ("alpha", "C"))
    order = np.lexsort((mean.C, mean.alpha))
    values, errors = (x.values[order].reshape(len(alphas), -1) for x in (mean, error))
    plots.heat_map(axes, values, errors, [f"{a:.1%}" for a in alphas], [f"{C:g}" for C in Cs])
    axes.set(xlabel="C", ylabel="$\\alpha$")
    return axes


def last_other_pull(axes: Axes, last: np.ndarray, label: str, step: int) -> Axes:
    """Share of runs that have played another arm for the last time, with a printed step."""
    axes.ecdf(last, color="k")
    axes.axvline(step, color="#777777", ls="-.", lw=1)
    axes.annotate(label, (step, 0.1), (6, 0), textcoords="offset points", fontsize=8)
    axes.set(xlabel="iteration $t$", ylabel="share of runs", xscale="log")
    return axes
