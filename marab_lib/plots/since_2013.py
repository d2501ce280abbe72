"""Figures that compare many policies by many criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter, NullLocator

from ..comparison import checked_table
from .style import curve, policy_style

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["comparison", "paired_differences", "regret_growth"]


def regret_growth(
    axes: Axes, mean: xarray.DataArray, error: xarray.DataArray, names: Sequence[str]
) -> Axes:
    """Regret against the number of pulls on log axes, with bands of two standard errors.

    The band is that of the logarithm (standard error over mean), so that it stays above 0.

    Parameters
    ----------
    axes : Axes
    mean, error : DataArray with dimensions policy and checkpoint
    names : sequence of str
        Policies to draw, by name.
    """
    for name in names:
        y, label = mean.sel(policy=name), name.split("(")[0]
        style = policy_style(name) | {"markersize": 4, "lw": 1.1}
        curve(axes, y.checkpoint, y, label=label, markers=4, **style)
        width = np.exp(2 * error.sel(policy=name) / y)
        band = axes.fill_between(y.checkpoint, y / width, y * width, color=style["color"])
        band.set(alpha=0.2, linewidth=0)
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

    The row of the reference, in `compare` the own policy, is shaded. The errors are those of each
    policy alone: whether it beats another is for `paired_differences` to say.

    Parameters
    ----------
    axes : Axes or sequence of Axes
        As many as the table has criteria.
    table : DataFrame of `compare` or `comparison.regret_table`

    Returns
    -------
    ndarray of Axes
    """
    panels = np.ravel(np.asarray(axes))
    checked_table(table, "criterion", "policy", "regret", "error", "reference")
    parts = list(table.groupby("criterion", sort=False))
    if panels.size != len(parts):
        raise ValueError(f"axes must be {len(parts)}, one for each criterion, got {panels.size}")
    for panel, (criterion, part) in zip(panels, parts, strict=True):
        for place, row in zip(
            _rows(panel, part["policy"].tolist()), part.itertuples(), strict=True
        ):
            style = policy_style(row.policy) | {"linestyle": ""}
            if row.policy == row.reference:  # the own policy of `compare`
                panel.axhline(place, color="0.92", lw=9, zorder=0)
            panel.errorbar(row.regret, place, xerr=2 * row.error, capsize=2, ms=4.5, **style)
        panel.set(title=criterion, xlabel="regret by this criterion")
        if part["regret"].min() > 0:
            panel.set_xscale("log")
            few = part["regret"].max() > 200 * part["regret"].min()  # decades, or their parts too
            panel.xaxis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
            panel.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            panel.xaxis.set_minor_formatter(NullFormatter())
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return panels


def paired_differences(axes: Axes, table: pandas.DataFrame) -> Axes:
    """Differences to the reference with their intervals, for one criterion of a `regret_table`."""
    columns = ("criterion", "policy", "difference", "low", "high", "reference")
    checked_table(table, *columns)
    for column in ("criterion", "reference"):
        if table[column].nunique() > 1:
            raise ValueError(
                f"table must have one {column}, got {table[column].unique().tolist()}: choose one "
                f"by table[table.{column} == ...]"
            )
    reference = table["reference"].iloc[0]
    others = table[table["policy"] != reference]
    if others.empty:
        raise ValueError(f"table must hold other policies than its reference {reference!r}")
    for place, row in zip(_rows(axes, others["policy"].tolist()), others.itertuples(), strict=True):
        style = policy_style(row.policy) | {"linestyle": ""}
        axes.plot(row.difference, place, ms=4.5, **style)
        axes.hlines(place, row.low, row.high, color=style["color"], lw=1.4)
    axes.axvline(0, color="k", lw=0.8, ls=":")
    _scale_both_signs(axes, others["difference"], others["low"].min(), others["high"].max())
    axes.set_xlabel(f"regret less that of {reference.split('(')[0]}")
    return axes


def _scale_both_signs(axes: Axes, differences: pandas.Series, low: float, high: float) -> None:
    """Linear up to the power of ten below the least difference, logarithmic beyond, few ticks."""
    sizes = differences.abs()[differences != 0]
    if sizes.empty:
        return
    first, last = (math.floor(math.log10(x)) for x in (sizes.min(), max(-low, high)))
    axes.set_xscale("symlog", linthresh=10.0**first)
    powers = 10.0 ** np.arange(last, first - 1, -math.ceil((last - first + 1) / 3))
    ticks = np.concatenate([-powers, [0.0], powers])
    axes.set_xticks(ticks[(ticks >= min(low, 0)) & (ticks <= max(high, 0))])
    axes.xaxis.set_minor_locator(NullLocator())
