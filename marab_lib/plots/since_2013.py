"""Figures that compare many policies by many criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from .style import curve, policy_style

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["comparison", "paired_differences", "regret_growth"]


def regret_growth(
    axes: Axes, mean: xarray.DataArray, error: xarray.DataArray, names: Sequence[str]
) -> Axes:
    """Regret against the number of pulls on log axes, with bands of two standard errors.

    Parameters
    ----------
    axes : Axes
    mean, error : DataArray with dimensions policy and checkpoint
    names : sequence of str
        Policies to draw, by name.
    """
    for name in names:
        y = mean.sel(policy=name)
        label = name.split("(")[0]
        style = policy_style(name) | {"markersize": 4, "lw": 1.1}
        curve(axes, y.checkpoint, y, error.sel(policy=name), label=label, markers=4, **style)
    axes.set(xscale="log", yscale="log", xlabel="pulls $t$")
    return axes


def _rows(axes: Axes, names: Sequence[str]) -> np.ndarray:
    """One row a policy, the first on top."""
    places = np.arange(len(names))[::-1]
    axes.set_yticks(places, names, fontsize=7)
    axes.set_ylim(-0.6, len(names) - 0.4)
    return places


def comparison(axes: Axes | Sequence[Axes], table: pandas.DataFrame) -> np.ndarray:
    """Final regret of each policy with two standard errors, one panel a criterion.

    Parameters
    ----------
    axes : Axes or sequence of Axes
        As many as the table has criteria.
    table : DataFrame of `compare` or `comparison.regret_table`

    Returns
    -------
    ndarray of Axes
    """
    panels = np.atleast_1d(axes)
    parts = list(table.groupby("criterion", sort=False))
    for panel, (criterion, part) in zip(panels, parts, strict=True):
        for place, row in zip(
            _rows(panel, part["policy"].tolist()), part.itertuples(), strict=True
        ):
            style = policy_style(row.policy) | {"linestyle": ""}
            panel.errorbar(row.regret, place, xerr=2 * row.error, capsize=2, ms=4.5, **style)
        panel.set(title=criterion, xlabel="regret")
        if part["regret"].min() > 0:
            panel.set_xscale("log")
            few = part["regret"].max() > 20 * part["regret"].min()  # decades, or their parts too
            panel.xaxis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
            panel.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            panel.xaxis.set_minor_formatter(NullFormatter())
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return panels


def paired_differences(axes: Axes, table: pandas.DataFrame) -> Axes:
    """Differences to the reference with their intervals, for one criterion of a `regret_table`."""
    others = table[(table["difference"] != 0) | (table["low"] != table["high"])]
    for place, row in zip(_rows(axes, others["policy"].tolist()), others.itertuples(), strict=True):
        style = policy_style(row.policy) | {"linestyle": ""}
        axes.plot(row.difference, place, ms=4.5, **style)
        axes.hlines(place, row.low, row.high, color=style["color"], lw=1.4)
    axes.axvline(0, color="k", lw=0.8, ls=":")
    axes.set_xscale("symlog", linthresh=100)
    axes.set_xlabel("difference of regret")
    return axes
