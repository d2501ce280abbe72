"""A figure with sliders that needs no kernel and no network: `paper.sliders.Grid` by Bokeh."""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plots
from ..paper.sliders import Grid

if TYPE_CHECKING:
    import xarray

LIBRARY = ("bokeh.min.js", "bokeh-widgets.min.js")
_WIDTH = "12rem"  # of a slider or panel at least; what does not fit beside the others goes below
_DASHES = {"-": "solid", "--": "dashed", "-.": "dashdot"}  # Matplotlib's names, and Bokeh's
# Each line takes from its table the row that its sliders stand at.
_MOVED = """\
sources.forEach((source, i) => {
    const place = s => s.categories.indexOf(s.value)
    const row = sliders[i].reduce((row, s) => row * s.categories.length + place(s), 0)
    const [from, to] = [row * means[i].shape[1], (row + 1) * means[i].shape[1]]
    const mean = means[i].slice(from, to), error = errors[i].slice(from, to)
    const low = mean.map((m, k) => Math.max(m - 2 * error[k], least))
    source.data = {x: source.data.x, mean, low, high: mean.map((m, k) => m + 2 * error[k])}
})
"""


def copy_library(folder: Path) -> None:
    """Put Bokeh's own scripts into a folder of the site."""
    from bokeh.util.paths import static_path

    for name in LIBRARY:
        shutil.copy(static_path() / "js" / name, folder)


def figure(grid: Grid) -> tuple[str, str]:
    """The figure as a script, for a file of its own, and as the HTML of its place in a page."""
    from bokeh.embed import components
    from bokeh.models import CustomJS

    lines = [curves for panel in grid.panels.values() for curves in panel.values()]
    sliders = {name: _slider(name, lines, grid.start[name]) for name in grid.start}
    values = np.concatenate([curves["mean"].values.ravel() for curves in lines])
    span = (values[values > 0].min() / 2, values.max() * 2) if grid.log else (0, values.max())
    tables: dict[str, list] = {"sources": [], "sliders": [], "means": [], "errors": []}
    panels = []
    for title, panel in grid.panels.items():
        axes = _axes(grid, title, *map(float, span))
        for policy, curves in panel.items():
            names = [name for name in sliders if name in curves.dims]
            curves = curves.transpose(*names, "x")
            start = curves.sel({name: grid.start[name] for name in names})
            tables["sources"].append(_draw(axes, policy, start, span[0]))
            tables["sliders"].append([sliders[name] for name in names])
            tables["means"].append(curves["mean"].values.reshape(-1, curves.sizes["x"]))
            tables["errors"].append(curves["error"].values.reshape(-1, curves.sizes["x"]))
        panels.append(axes)
    moved = CustomJS(args={**tables, "least": float(span[0])}, code=_MOVED)
    for slider in sliders.values():
        slider.js_on_change("value", moved)
    script, places = components([*sliders.values(), *panels], wrap_script=False)
    parts = "".join(f'<div style="flex: 1 1 {_WIDTH}">{place}</div>' for place in places)
    label = html.escape(grid.caption, quote=True)
    style = "display: flex; flex-wrap: wrap; gap: 0.5em 1em"
    return script, f'<div role="figure" aria-label="{label}" style="{style}">{parts}</div>'


def _slider(name: str, lines: list[xarray.Dataset], start: float) -> Any:
    """A slider over all positions that some line has."""
    from bokeh.models.widgets.sliders import CategoricalSlider

    positions = np.unique(np.concatenate([c[name].values for c in lines if name in c.coords]))
    return CategoricalSlider(
        title=name,
        categories=[f"{value:g}" for value in positions],
        value=f"{start:g}",
        sizing_mode="stretch_width",
    )


def _axes(grid: Grid, title: str, low: float, high: float) -> Any:
    """Empty axes, which stay as they are when a slider moves."""
    from bokeh.models import Range1d
    from bokeh.plotting import figure

    return figure(
        title=title,
        x_axis_label=grid.labels[0],
        y_axis_label=grid.labels[1],
        y_axis_type="log" if grid.log else "linear",
        y_range=Range1d(start=low, end=high),
        height=380,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
    )


def _draw(axes: Any, policy: str, curve: xarray.Dataset, least: float) -> Any:
    """A line with its band in the policy's style; the table behind it."""
    from bokeh.models import ColumnDataSource

    mean, band = curve["mean"].values, 2 * curve["error"].values
    data = {"x": curve["x"].values, "mean": mean, "high": mean + band}
    source = ColumnDataSource(data | {"low": np.maximum(mean - band, least)})
    style = plots.policy_style(policy)
    dash = style["linestyle"]
    line = {
        "line_dash": _DASHES[dash] if isinstance(dash, str) else [2 * n for n in dash[1]],
        "line_width": 2,
        "legend_label": policy,
    }
    axes.varea("x", "low", "high", source=source, color=style["color"], alpha=0.18)
    axes.line("x", "mean", source=source, color=style["color"], **line)
    axes.legend.location = "bottom_right"
    return source
