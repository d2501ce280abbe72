"""Figures beyond the paper: MIN's exact regret, and MaRaB with first rounds or forced pulls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas
import xarray
from matplotlib.axes import Axes

from ... import plots
from ...regret import mean_and_error
from .section_4 import bound_curves, policy_points, simulated_points

__all__ = ["exact_regret", "growth_with_bounds", "regret_over_rounds"]

_GREY = "#777777"


def exact_regret(
    axes: Axes,
    exact: pandas.Series,
    mean: np.ndarray,
    error: np.ndarray,
    limit: float,
    printed: Mapping[str, pandas.DataFrame],
) -> Axes:
    """Exact expected regret over t, simulated means at every third t, printed curves as marks."""
    t = exact.index.to_numpy()
    axes.plot(t, exact, color="black", label="exact")
    axes.axhline(limit, color=_GREY, ls=":", label="limit")
    ends = mean - 2 * error, mean + 2 * error
    simulated_points(axes, *(x[::3] for x in (t, mean, *ends)))
    for (panel, curve), mark in zip(printed.items(), "x+", strict=True):
        part = curve[(curve["x"] >= t[0]) & (curve["x"] <= 70)]
        look = {"marker": mark, "label": f"printed ({panel})", "zorder": 4}
        plots.printed_curve(axes, part["x"], part["y"], **look)
    axes.set(xlabel="pulls $t$", ylabel="pseudo-regret", xlim=(t[0] - 1, 70))
    axes.legend(loc="lower right")
    return axes


def regret_over_rounds(axes: Axes, table: pandas.DataFrame, enough: int) -> Axes:
    """Simulated regret and its bound over the number of first rounds, with log(T) / I marked.

    `table` has the index m and the columns regret, s.e. and bound.
    """
    bound_curves(axes, table.index, {"bound": table["bound"]})
    ends = (table["regret"] + k * table["s.e."] for k in (-2, 2))
    simulated_points(axes, table.index, table["regret"], *ends)
    axes.axvline(enough, color=_GREY, ls=":", label=f"log(T)/I = {enough}")
    axes.set(xscale="log", xlabel="first rounds $m$", ylabel="CVaR regret")
    axes.legend(loc="lower left")
    return axes


def growth_with_bounds(
    axes: Axes, paths: xarray.DataArray, grey: str, limits: Mapping[str, np.ndarray]
) -> Axes:
    """Regret of policies over t, one of them in grey, with bounds; both axes logarithmic."""
    t = paths.checkpoint.values
    bound_curves(axes, t, limits)
    policy_points(axes, paths.sel(policy=[name for name in paths.policy.values if name != grey]))
    mean, error = (x.values for x in mean_and_error(paths.sel(policy=grey)))
    ends = mean - 2 * error, mean + 2 * error
    simulated_points(axes, t, mean, *ends, label=grey, color=_GREY, marker="D")
    axes.set(xscale="log", xlabel="pulls $t$", ylabel="CVaR regret", ylim=(0.2, None))
    axes.figure.legend(loc="outside right upper")
    return axes
