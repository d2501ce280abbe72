"""Figures of section 4: bounds against what is simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from ...plots import COLORS, policy_style
from ...regret import mean_and_error

if TYPE_CHECKING:
    import pandas
    import xarray

    from ...arms import RewardLaw


__all__ = [
    "bound_against_regret",
    "bound_curves",
    "exact_and_simulated_cdf",
    "faster_region",
    "lower_mass",
    "policy_points",
    "regret_paths",
    "shared_labels",
    "simulated_points",
    "winner_map",
]


_BOUND_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "linestyle": "-"},
    {"color": COLORS[0], "linestyle": "--"},
    {"color": COLORS[3], "linestyle": "-."},
    {"color": COLORS[2], "linestyle": ":", "linewidth": 2.0},
    {"color": COLORS[1], "linestyle": (0, (6, 1, 1, 1, 1, 1))},
)


def bound_curves(
    axes: Axes,
    x: np.ndarray,
    curves: Mapping[str, np.ndarray],
    *,
    scale: str = "log",
) -> Axes:
    """One line a bound over x, told apart by dash and colour in the order given."""
    for (label, y), style in zip(curves.items(), _BOUND_STYLES, strict=False):
        axes.plot(x, y, label=label, **style)
    axes.set_yscale(scale)
    return axes


def simulated_points(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    label: str = "simulated",
    color: str = "#000000",
    marker: str = "o",
) -> Axes:
    """Simulated values with their intervals, as hollow points with bars."""
    x, y, low, high = (np.asarray(v, dtype=float) for v in (x, y, low, high))
    # A zero has no place on a log axis: the upper end of its interval is drawn as an arrow head.
    zero = (y <= 0) & (axes.get_yscale() == "log")
    bars = np.maximum([y - low, high - y], 0)[:, ~zero]
    style: dict[str, Any] = {"color": color, "mfc": "white", "ms": 3.5, "zorder": 3}
    axes.errorbar(x[~zero], y[~zero], bars, fmt=marker, lw=1, label=label, **style)
    axes.plot(x[zero], high[zero], linestyle="", marker=7, **style)
    return axes


def policy_points(axes: Axes, regret: xarray.DataArray) -> Axes:
    """Mean over the runs of each policy with bars of two standard errors, in the policy's style.

    `regret` has the dimensions policy, run and checkpoint, and the coordinates of a result.
    """
    for name in regret.policy.values:
        values = regret.sel(policy=name)
        mean, error = (x.values for x in mean_and_error(values, "run"))
        style = policy_style(values.title.item())
        look = {"color": style["color"], "marker": style["marker"]}
        ends = mean - 2 * error, mean + 2 * error
        simulated_points(
            axes, values.checkpoint.values, mean, *ends, label=values.label.item(), **look
        )
    return axes


def shared_labels(axes: np.ndarray, ylabel: str) -> None:
    """One y label on the left and one legend below, for panels that share both."""
    first = np.ravel(axes)[0]
    first.set_ylabel(ylabel)
    handles, labels = first.get_legend_handles_labels()
    first.figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def lower_mass(axes: Axes, law: RewardLaw, name: str) -> Axes:
    """F(a + e) against the line A e (Lemma 4.1's assumption), with the place where they touch."""
    a, A = float(law.essential_infimum), float(law.lower_mass_constant)
    e = np.linspace(0, float(law.essential_supremum) - a, 400)[1:]
    cdf = np.asarray(law.cdf(a + e))
    axes.plot(e, cdf, color="#000000", label="F(a + e)")
    axes.plot(e, A * e, color=COLORS[3], linestyle="--", label="A e")
    if A > 0:
        at = int(np.argmin(cdf / e))
        axes.plot(e[at], cdf[at], "o", color=COLORS[3], mfc="white", clip_on=False, zorder=4)
    axes.set(xlim=(0, e[-1]), ylim=(0, 1.03), xlabel="e")
    axes.set_title(f"{name}\nA = {A:.3f}", fontsize=8)
    return axes


def faster_region(axes: Axes, cross: pandas.DataFrame, families: Iterable[str]) -> Axes:
    """Where the minimum is learnt before the mean: eps against A, measured and by the bounds.

    `cross` has columns family, A, crossing, s.e. and predicted.
    """
    edge = np.array([cross["A"].min() * 0.8, cross["A"].max() * 2.2])
    axes.plot(edge, edge / 2, color="#777777", linestyle=":")
    dashes = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)))
    for family, style, marker, dash in zip(
        families, _BOUND_STYLES[1:], "osD^", dashes, strict=False
    ):
        part = cross[cross["family"] == family]
        y, error = part["crossing"], 2 * part["s.e."]
        color = style["color"]
        axes.plot(part["A"], part["predicted"], color=color, linestyle=dash)
        simulated_points(axes, part["A"], y, y - error, y + error, color=color, marker=marker)
        end = part["A"].iloc[-1], part["predicted"].iloc[-1]
        axes.annotate(family, end, (7, -3), textcoords="offset points", color=color, fontsize=8)
    axes.set(
        xscale="log", yscale="log", xlabel="lower-mass constant A", ylabel="error ε", xlim=edge
    )
    axes.set_ylim(cross["crossing"].min() / 2, 1)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.text(0.03, 0.93, "mean learnt first", transform=axes.transAxes, fontsize=8)
    right: dict[str, Any] = {"transform": axes.transAxes, "ha": "right"}
    axes.text(0.97, 0.7, "dotted: the bounds cross, ε = A/2", fontsize=8, color="#555555", **right)
    axes.text(0.97, 0.05, "minimum learnt first", fontsize=8, **right)
    return axes


def bound_against_regret(
    axes: Axes, groups: Mapping[str, tuple[np.ndarray, np.ndarray]], bound: str
) -> Axes:
    """One point a problem: its bound over its simulated regret, with the line of equality.

    Each axis spans its own values; the line is drawn over the regrets.

    `groups` gives (regret, bound) for each kind of problem; `bound` names the bound.
    """
    regrets, values = (np.concatenate(part) for part in zip(*groups.values(), strict=True))
    edge = np.array([regrets.min() / 1.5, regrets.max() * 1.5])
    axes.plot(edge, edge, color="#777777", linestyle="--", linewidth=1, label="equal")
    for (label, (regret, value)), style, marker in zip(
        groups.items(), _BOUND_STYLES[1:], "osD^", strict=False
    ):
        axes.plot(regret, value, marker, color=style["color"], mfc="none", ms=3.5, label=label)
    axes.set(xscale="log", yscale="log", xlabel="simulated regret", ylabel=bound, xlim=edge)
    axes.set_ylim(min(edge[0], values.min() / 1.5), max(edge[1], values.max() * 1.5))
    return axes


def regret_paths(
    axes: Axes, t: np.ndarray, paths: np.ndarray, lines: Mapping[str, np.ndarray], n_paths: int = 25
) -> Axes:
    """Single runs as thin lines, and curves over them; paths of shape (runs, len(t))."""
    shown = np.asarray(paths)[:n_paths].T
    labels = ["single runs"] + [None] * (shown.shape[1] - 1)
    axes.plot(t, shown, color="#999999", linewidth=0.5, alpha=0.6, label=labels)
    for (label, y), style in zip(lines.items(), _BOUND_STYLES, strict=False):
        axes.plot(t, y, label=label, **style)
    axes.set(xlabel="t", ylabel="regret")
    return axes


def winner_map(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    ratio: np.ndarray,
    edge: tuple[np.ndarray, np.ndarray] | None = None,
) -> Axes:
    """Regret of one policy over another's on a grid of x and y, on logarithmic axes.

    Each cell shows its number, so that the map can be read without colour; `edge` is the line at
    which two bounds are equal, as (x, y).
    """

    def borders(v: np.ndarray) -> np.ndarray:
        inner = np.sqrt(v[1:] * v[:-1])
        return np.concatenate([[v[0] ** 2 / inner[0]], inner, [v[-1] ** 2 / inner[-1]]])

    limit = max(1.0, float(np.nanmax(np.abs(np.log10(ratio)))))
    cells = axes.pcolormesh(
        borders(x), borders(y), np.log10(ratio), cmap="PuOr_r", vmin=-limit, vmax=limit, alpha=0.8
    )
    for i, row in enumerate(ratio):
        for j, value in enumerate(row):
            text = f"{value:.2f}" if value >= 0.01 else "<.01"
            color = "white" if abs(np.log10(value)) > 0.6 * limit else "black"
            # The line of equal bounds may pass here: a halo in the colour of the cell, as it looks.
            behind = 0.8 * np.array(cells.to_rgba(np.log10(value))[:3]) + 0.2
            halo = [withStroke(linewidth=2.5, foreground=behind)]
            place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
            axes.text(x[j], y[i], text, color=color, path_effects=halo, **place)
    if edge is not None:
        axes.plot(*edge, color="#000000", linestyle="--", label="bounds are equal")
    axes.set(xscale="log", yscale="log", xlim=borders(x)[[0, -1]], ylim=borders(y)[[0, -1]])
    axes.grid(False)
    return axes


def exact_and_simulated_cdf(
    axes: Axes,
    x: np.ndarray,
    bracket: tuple[np.ndarray, np.ndarray],
    sample: np.ndarray,
    band: float,
) -> Axes:
    """Exact cdf (between two bounds), empirical cdf of a sample, and a band around the latter."""
    ordered = np.sort(sample)
    share = np.searchsorted(ordered, x, side="right") / ordered.size
    axes.fill_between(
        x, share - band, share + band, step="post", color=COLORS[0], alpha=0.25, linewidth=0
    )
    axes.step(x, share, where="post", color=COLORS[0], label="simulated, with band")
    middle = (bracket[0] + bracket[1]) / 2
    axes.step(x, middle, where="post", color="#000000", linestyle="--", label="exact limit")
    axes.set(ylim=(0, 1.02), xlim=(x[0], x[-1]))
    return axes
