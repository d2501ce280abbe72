"""Figures: each function takes data and axes, draws, and returns the axes.

A policy keeps its colour, dash and marker everywhere, so that it can be told from the others
without colour too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

if TYPE_CHECKING:
    import pandas

__all__ = [
    "arm_intervals",
    "bound_against_regret",
    "bound_curves",
    "curve",
    "distribution",
    "estimate_paths",
    "estimator_error",
    "exact_and_simulated_cdf",
    "faster_region",
    "heat_map",
    "label_ends",
    "lower_mass",
    "policy_style",
    "printed_curve",
    "regret_paths",
    "shades",
    "simulated_points",
    "use_style",
    "winner_map",
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


# --- section 4: bounds --------------------------------------------------------------------

_BOUND_STYLES = (
    {"color": "#000000", "linestyle": "-"},
    {"color": _COLORS[0], "linestyle": "--"},
    {"color": _COLORS[3], "linestyle": "-."},
    {"color": _COLORS[2], "linestyle": ":", "linewidth": 2.0},
    {"color": _COLORS[1], "linestyle": (0, (6, 1, 1, 1, 1, 1))},
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
    style = {"color": color, "mfc": "white", "ms": 3.5, "zorder": 3}
    axes.errorbar(x[~zero], y[~zero], bars, fmt=marker, lw=1, label=label, **style)
    axes.plot(x[zero], high[zero], linestyle="", marker=7, **style)
    return axes


def lower_mass(axes: Axes, e: np.ndarray, cdf: np.ndarray, constant: float) -> Axes:
    """F(a + e) against the line A e (Lemma 4.1's assumption), with the place where they touch."""
    line = constant * e
    axes.plot(e, cdf, color="#000000", label="F(a + e)")
    axes.plot(e, line, color=_COLORS[3], linestyle="--", label="A e")
    if constant > 0:
        at = int(np.argmin(cdf / e))
        axes.plot(e[at], cdf[at], "o", color=_COLORS[3], mfc="white", clip_on=False, zorder=4)
    axes.set(xlim=(0, e[-1]), ylim=(0, 1.03), xlabel="e")
    return axes


def faster_region(axes: Axes, cross: pandas.DataFrame, families: Iterable[str]) -> Axes:
    """Where the minimum is learnt before the mean: eps against A, measured and by the bounds.

    `cross` has columns family, A, crossing, s.e. and predicted.
    """
    edge = np.array([cross["A"].min() * 0.8, cross["A"].max() * 1.2])
    axes.plot(edge, edge / 2, color="#777777", linestyle="--", label="bounds: A / 2")
    axes.fill_between(edge, edge / 2, 1, color="#777777", alpha=0.12, linewidth=0)
    for family, style, marker in zip(families, _BOUND_STYLES[1:], "osD^", strict=False):
        part = cross[cross["family"] == family]
        y, error = part["crossing"], 2 * part["s.e."]
        color = style["color"]
        axes.plot(part["A"], part["predicted"], color=color, label=f"{family}: predicted")
        simulated_points(
            axes, part["A"], y, y - error, y + error, label=family, color=color, marker=marker
        )
    axes.set(xscale="log", yscale="log", xlabel="lower-mass constant A", ylabel="ε", xlim=edge)
    axes.set_ylim(cross["crossing"].min() / 2, 1)
    axes.text(0.97, 0.93, "mean first", transform=axes.transAxes, ha="right", fontsize=8)
    axes.text(0.97, 0.05, "minimum first", transform=axes.transAxes, ha="right", fontsize=8)
    return axes


def bound_against_regret(
    axes: Axes, groups: Mapping[str, tuple[np.ndarray, np.ndarray]], bound: str
) -> Axes:
    """One point a problem: its bound over its simulated regret, with the line of equality.

    `groups` gives (regret, bound) for each kind of problem; `bound` names the bound.
    """
    everything = np.concatenate([np.concatenate(pair) for pair in groups.values()])
    edge = np.array([everything.min() / 1.5, everything.max() * 1.5])
    axes.plot(edge, edge, color="#777777", linestyle="--", linewidth=1, label="equal")
    for (label, (regret, value)), style, marker in zip(
        groups.items(), _BOUND_STYLES[1:], "osD^", strict=False
    ):
        axes.plot(regret, value, marker, color=style["color"], mfc="none", ms=3.5, label=label)
    axes.set(xscale="log", yscale="log", xlabel="simulated regret", ylabel=bound)
    return axes


def regret_paths(
    axes: Axes, t: np.ndarray, paths: np.ndarray, lines: Mapping[str, np.ndarray], n_paths: int = 25
) -> Axes:
    """Single runs as thin lines, and curves over them; paths of shape (runs, len(t))."""
    axes.plot(t, np.asarray(paths)[:n_paths].T, color="#999999", linewidth=0.5, alpha=0.6)
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
    axes.pcolormesh(
        borders(x), borders(y), np.log10(ratio), cmap="PuOr_r", vmin=-limit, vmax=limit, alpha=0.8
    )
    for i, row in enumerate(ratio):
        for j, value in enumerate(row):
            text = f"{value:.2g}" if value >= 0.01 else "<.01"
            color = "white" if abs(np.log10(value)) > 0.6 * limit else "black"
            axes.text(x[j], y[i], text, ha="center", va="center", fontsize=6.5, color=color)
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
        x, share - band, share + band, step="post", color=_COLORS[0], alpha=0.25, linewidth=0
    )
    axes.step(x, share, where="post", color=_COLORS[0], label="simulated, with band")
    middle = (bracket[0] + bracket[1]) / 2
    axes.step(x, middle, where="post", color="#000000", linestyle="--", label="exact limit")
    axes.set(ylim=(0, 1.02), xlim=(x[0], x[-1]))
    return axes
