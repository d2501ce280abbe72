"""What all figures share: the style, the look of a policy, and the common kinds of drawing.

A policy keeps its colour, dash and marker everywhere, so that it can be told from the others
without colour too.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FormatStrFormatter,
    LogLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import ArrayLike

from ._rounding import order
from .comparison import checked_table
from .decision import best_arms
from .frontier import on_front

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "comparison",
    "curve",
    "distribution",
    "drawn",
    "earnings",
    "exploration_area",
    "frontier",
    "heat_map",
    "judged_arms",
    "label_ends",
    "paired_differences",
    "policy_style",
    "printed_curve",
    "regret_growth",
    "shades",
    "use_style",
]


# seaborn's palette "colorblind"; seaborn is imported where it draws, for it takes half a second.
COLORS = (
    "#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc",
    "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9",
)  # fmt: skip
_STYLES = {
    "UCB": (COLORS[0], "-", "o"),
    "MIN": ("#000000", "--", "s"),
    "MaRaB": (COLORS[3], "-.", "^"),
    "forced MaRaB": ("#6b0f1a", (0, (4, 1)), "<"),
    "MV-LCB": (COLORS[4], (0, (5, 1, 1, 1, 1, 1)), "D"),
    "ExpExp": (COLORS[2], (0, (3, 1)), "v"),
    "KL-UCB": (COLORS[5], (0, (1, 1)), "P"),
    "eps-greedy": (COLORS[6], (0, (6, 2)), "X"),
    "Thompson": (COLORS[1], (0, (4, 1, 1, 1)), "*"),
    "B-CVTS": ("#0b3c6f", "-", "o"),
    "M-CVTS": ("#1b7837", (0, (5, 1)), "P"),
    "CVaR-UCB": ("#e08214", (0, (4, 1, 1, 1)), "v"),
    "U-UCB": ("#7f3b08", (0, (1, 1)), "X"),
    "MaRaBOUT": ("#b2182b", (0, (6, 2)), "s"),
    "ETC": (COLORS[5], (0, (3, 1)), "<"),
    "SuccElim": ("#8c6d31", (0, (2, 1)), ">"),
    "RA-UCB": ("#7b3294", (0, (5, 1, 1, 1, 1, 1)), "D"),
    "MVTS": ("#c51b7d", (0, (3, 2, 1, 2)), "d"),
    "Bernoulli MVTS": ("#c51b7d", (0, (1, 2)), "d"),
    "UCB-V": (COLORS[9], (0, (1, 2)), "p"),
    "MOSS": ("#4393c3", (0, (7, 1, 2, 1)), "h"),
    "NPTS": ("#35978f", (0, (2, 2)), "*"),
}
_OTHER = ("#777777", (0, (2, 2)), "h")


def use_style() -> None:
    """Set the project's style for all figures that follow, whatever the user's own settings."""
    plt.style.use(["default", Path(__file__).with_name("marab.mplstyle")])


def drawn(figure: Figure, *formats: str, dpi: float | None = None) -> list[bytes]:
    """A figure in some formats, drawn once in each and laid out once for all.

    It has no layout engine after that: as long as it has one, be it "none", `savefig` draws twice.

    Parameters
    ----------
    figure : Figure
    formats : str
        Such as "png" and "pdf".
    dpi : float, optional
        Dots an inch. Default: that of the style.

    Returns
    -------
    list of bytes
        What a file of each format holds: the same for the same figure, for no date is in it.
    """
    files = [io.BytesIO() for _ in formats]
    if (dots := dpi or plt.rcParams["savefig.dpi"]) != "figure":
        figure.set_dpi(dots)  # before the layout, for which texts are measured
    if layout := figure.get_layout_engine():
        layout.execute(figure)
    with plt.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
        figure.set_layout_engine(None)
        for name, file in zip(formats, files, strict=True):
            undated = {"CreationDate": None} if name == "pdf" else None
            figure.savefig(file, format=name, dpi=figure.dpi, metadata=undated)
    return [file.getvalue() for file in files]


def policy_style(title: str) -> dict[str, Any]:
    """Colour, dash and marker of all policies of a title.

    Examples
    --------
    >>> policy_style("MIN")["marker"], policy_style("an own one")["marker"]
    ('s', 'h')
    """
    color, dash, marker = _STYLES.get(title, _OTHER)
    return {"color": color, "linestyle": dash, "marker": marker}


def curve(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    error: ArrayLike | None = None,
    *,
    label: str = "",
    markers: int = 8,
    **style: Any,
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
    style = {"marker": "", "markevery": max(1, x.size // markers), **style}
    (line,) = axes.plot(x, mean, label=label, **style)
    if error is not None:
        band = 2 * np.asarray(error)
        color = line.get_color()
        axes.fill_between(x, mean - band, mean + band, color=color, alpha=0.18, linewidth=0)
    return axes


def printed_curve(axes: Axes, x: np.ndarray, y: np.ndarray, **style: Any) -> Axes:
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


def label_ends(axes: Axes, entries: Sequence[tuple[float, str, str]], gap: float = 0.036) -> Axes:
    """Names to the right of the lines' ends, in the order of the lines.

    Names that would overlap are moved apart, and as little as that takes.

    Parameters
    ----------
    entries : sequence of (y, text, color)
        Height of each end in data units; the axis may be logarithmic.
    gap : float
        Least distance between two names, as a share of the axes' height.
    """
    from scipy.optimize import isotonic_regression  # here, for it takes a quarter of a second

    entries = sorted(entries, key=lambda entry: entry[0])
    heights = [*axes.get_ylim(), *(y for y, _, _ in entries)]
    low, high, *scaled = axes.yaxis.get_transform().transform(np.array(heights, dtype=float))
    ends = (np.array(scaled) - low) / (high - low)
    apart = gap * np.arange(len(entries))
    places = isotonic_regression(ends - apart).x + apart
    for end, place, (_, text, color) in zip(ends, places, entries, strict=True):
        axes.annotate(
            text,
            xy=(1.0, end),
            xytext=(1.035, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=7.5,
            va="center",
            color=color,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.6, "shrinkA": 1, "shrinkB": 0},
        )
    return axes


def heat_map(
    axes: Axes, values: np.ndarray, errors: np.ndarray, rows: Sequence, columns: Sequence
) -> Axes:
    """A table of means and standard errors, coloured by the logarithm of the mean."""
    import seaborn as sns

    text = np.array(
        [
            [f"{v:#.3g}\n±{e:.1g}" for v, e in zip(line, error, strict=True)]
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
    axes.hist(values, bins=bins, weights=weights, color=COLORS[0], alpha=0.75)
    if mark is not None:
        axes.axvline(mark, color="k", ls="--", lw=1, label=f"printed: {mark:.3f}")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1))
    axes.set(xlabel=label, ylabel="share")
    return axes


def regret_growth(
    axes: Axes, mean: xarray.DataArray, error: xarray.DataArray, names: Sequence[str]
) -> Axes:
    """Regret against the number of pulls on log axes, with bands of two standard errors.

    The band is that of the logarithm (standard error over mean), so that it stays above 0. The
    names stand at the ends of the lines.

    Parameters
    ----------
    axes : Axes
    mean, error : DataArray with dimensions policy and checkpoint
        Of a result of `simulate`, whose ``title`` and ``label`` give style and name.
    names : sequence of str
        Policies to draw, by name.
    """
    ends = []
    for name in names:
        y = mean.sel(policy=name)
        style = policy_style(y.title.item()) | {"markersize": 4, "lw": 1.1}
        curve(axes, y.checkpoint, y, label=y.label.item(), markers=4, **style)
        width = np.exp(2 * error.sel(policy=name) / y)
        band = axes.fill_between(y.checkpoint, y / width, y * width, color=style["color"])
        band.set(alpha=0.2, linewidth=0)
        ends.append((float(y[-1]), y.label.item(), style["color"]))
    axes.set(xscale="log", yscale="log", xlabel="pulls $t$")
    axes.set_xlim(right=float(mean.checkpoint[-1]))
    return label_ends(axes, ends, gap=0.05)


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
    checked_table(table, "criterion", "policy", "title", "regret", "error", "reference")
    parts = list(table.groupby("criterion", sort=False))
    if panels.size != len(parts):
        raise ValueError(f"axes must be {len(parts)}, one for each criterion, got {panels.size}")
    for panel, (criterion, part) in zip(panels, parts, strict=True):
        for place, row in zip(
            _rows(panel, part["policy"].tolist()), part.itertuples(), strict=True
        ):
            style = policy_style(row.title) | {"linestyle": ""}
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
    columns = ("criterion", "policy", "title", "label", "difference", "low", "high", "reference")
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
        style = policy_style(row.title) | {"linestyle": ""}
        axes.plot(row.difference, place, ms=4.5, **style)
        axes.hlines(place, row.low, row.high, color=style["color"], lw=1.4)
    axes.axvline(0, color="k", lw=0.8, ls=":")
    _scale_both_signs(axes, others["difference"], others["low"].min(), others["high"].max())
    labels = dict(zip(table["policy"], table["label"], strict=True))
    axes.set_xlabel(f"regret less that of {labels.get(reference, reference)}")
    return axes


def judged_arms(
    axes: Sequence[Axes], judged: pandas.DataFrame, arms: Sequence[str]
) -> Sequence[Axes]:
    """Value of each arm with its interval, one panel a criterion; the best one is filled.

    Parameters
    ----------
    axes : sequence of Axes
        As many as there are criteria.
    judged : DataFrame of `own_data.Rewards.judge`
    arms : sequence of str
        Those to draw, from the top down.
    """
    best = best_arms(judged)["arm"]
    for panel, (criterion, part) in zip(axes, judged.groupby("criterion", sort=False), strict=True):
        shown = part.set_index("arm").loc[arms]
        places = _rows(panel, arms)
        panel.hlines(places, shown["low"], shown["high"], color="0.55", lw=1.4)
        fill = np.where(shown.index == best[criterion], COLORS[0], "w")
        panel.scatter(shown["value"], places, s=9, c=fill, edgecolors=COLORS[0], zorder=3)
        panel.set_title(criterion, fontsize=8)
        panel.tick_params(axis="x", labelsize=6.5)
        panel.locator_params(axis="x", nbins=3)
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)
    return axes


def earnings(axes: Axes, earned: pandas.DataFrame, x: str, y: str, named: Sequence[str]) -> Axes:
    """Two measures of what each policy earned, with bars of two standard errors.

    Parameters
    ----------
    axes : Axes
    earned : DataFrame of `decision.earned`
    x, y : str
        Measures.
    named : sequence of str
        Policies whose names are written beside their marks; the legend has all.
    """
    wide = earned.pivot(index="policy", columns="measure", values=["value", "error", "title"])
    middle = (wide["value", x].min() + wide["value", x].max()) / 2
    for policy, row in wide.loc[earned["policy"].unique()].iterrows():
        place = row["value", x], row["value", y]
        bars = 2 * row["error", y], 2 * row["error", x]
        style = policy_style(row["title", x]) | {"linestyle": "", "markersize": 5.5}
        style |= {"mec": "w", "mew": 0.5, "elinewidth": 0.8, "zorder": 2 + (policy in named)}
        axes.errorbar(*place, *bars, label=policy, **style)
        if policy in named:
            side = "right" if place[0] > middle else "left"
            axes.annotate(policy, place, (0, 7), textcoords="offset points", fontsize=7, ha=side)
    axes.margins(0.08)
    axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


def _scale_both_signs(axes: Axes, differences: pandas.Series, low: float, high: float) -> None:
    """Linear up to the power of ten below the least difference, logarithmic beyond, few ticks."""
    sizes = differences.abs()[order(differences, 0) != 0]
    if sizes.empty:
        return
    first, last = (math.floor(math.log10(x)) for x in (sizes.min(), max(-low, high)))
    axes.set_xscale("symlog", linthresh=10.0**first)
    powers = 10.0 ** np.arange(last, first - 1, -math.ceil((last - first + 1) / 3))
    ticks = np.concatenate([-powers, [0.0], powers])
    axes.set_xticks(ticks[(ticks >= min(low, 0)) & (ticks <= max(high, 0))])
    axes.xaxis.set_minor_locator(NullLocator())


def frontier(
    axes: Axes,
    table: pandas.DataFrame,
    fronts: Sequence[np.ndarray],
    marked: Sequence[str] = (),
    corner: tuple[float, float] | None = None,
    least: float = 0.05,
) -> Axes:
    """Regret per pull against safety, and the Pareto front; both axes are scaled by square roots.

    Settings that are on the front in enough of the resamples are drawn in their style and named,
    with that share; all others are grey. The area of a marker grows with exploration.

    Parameters
    ----------
    axes : Axes
    table : DataFrame of `frontier.table`
        Its column ``label``, if it has one, names the settings, else ``policy``.
    fronts : sequence of ndarray, shape (1 + resamples, settings)
        Of `frontier.resampled`: the fronts of 100 resamples are drawn behind.
    marked : sequence of str
        Names of policies that are named anyhow, and get a ring.
    corner : (float, float), optional
        Largest regret and least safety of the panel. Default those of the table.
    least : float
        Share of the resamples that is enough. Default 5 %.
    """
    widest, deepest = corner or (table["regret"].max(), table["safety"].min())
    for scale in (axes.set_xscale, axes.set_yscale):
        scale("function", functions=(_signed_root, _signed_square))
    axes.set(xlim=(0, 1.1 * widest), ylim=(1.25 * deepest, max(0, table["safety"].max())))
    axes.set(xlabel="regret per pull", ylabel="safety")
    axes.xaxis.set_major_locator(FixedLocator(_ROUND))
    axes.yaxis.set_major_locator(FixedLocator([-x for x in _ROUND]))
    for regret, safety in zip(*(x[1:101] for x in fronts[:2]), strict=True):
        at = np.flatnonzero(on_front(regret, safety))
        x, y = np.sort(regret[at]), np.sort(safety[at])  # more safety costs more regret
        x, y = np.r_[x[0], x, 2 * widest], np.r_[2 * deepest, y, y[-1]]
        axes.plot(x, y, color="k", lw=0.8, alpha=0.04, drawstyle="steps-post", zorder=1)
    named = (table["share"] >= least) | table["policy"].isin(marked)
    areas = exploration_area(table["exploration"])
    rest = table[~named]
    axes.scatter(rest["regret"], rest["safety"], areas[~named], color="0.8", lw=0, zorder=2)
    entries = []
    for row in table.assign(area=areas, name=table.get("label", table["policy"]))[
        named
    ].itertuples():
        style, place = policy_style(row.title), (row.regret, row.safety)
        color, marker = style["color"], style["marker"]
        axes.scatter(*place, row.area, color=color, marker=marker, lw=0, zorder=4)
        if row.policy in marked:
            axes.scatter(*place, row.area + 50, facecolors="none", edgecolors="k", lw=0.7, zorder=5)
        entries.append((row.share > 0, *place, f"{row.name} ({row.share:.0%})", color))
    _name_points(axes, entries)
    return axes


_ROUND = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)  # readable on axes scaled by square roots


def exploration_area(share: Any) -> Any:
    """Area of the marker of `frontier` for a share of the pulls, in square points."""
    return 10 + 45 * share


def _signed_root(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.sqrt(np.abs(x))


def _signed_square(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.square(x)


def _name_points(axes: Axes, entries: Sequence[tuple[bool, float, float, str, str]]) -> None:
    """Names of points: those at or near the front in a column at the right, others beside them."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    look: dict[str, Any] = {"fontsize": 7, "bbox": box, "zorder": 6}
    entries = sorted(entries, key=lambda entry: entry[2])
    on_axes = axes.transData + axes.transAxes.inverted()
    points = on_axes.transform([place for _, *place, _, _ in entries])
    front = points[[on for on, *_ in entries]]
    near = [np.linalg.norm(front - point, axis=1).min(initial=1) < 0.15 for point in points]
    apart = 0.057 * np.arange(np.sum(near))
    heights = np.maximum.accumulate(points[near, 1] + 0.03 - apart) + apart  # each above its point
    heights = iter(heights - max(0, heights.max(initial=0) - 0.96))
    line = {"arrowstyle": "-", "lw": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5)}
    for (_, x, y, text, color), (right, _), close in zip(entries, points, near, strict=True):
        if close:
            place, arrow = (1, next(heights)), {"color": color, **line}
            how: dict[str, Any] = {"textcoords": "axes fraction", "arrowprops": arrow}
            axes.annotate(text, (x, y), place, ha="right", va="center", **how, **look)
        else:
            offset, side = ((0, 8), "center") if right < 0.85 else ((4, -13), "right")
            axes.annotate(text, (x, y), offset, textcoords="offset points", ha=side, **look)
