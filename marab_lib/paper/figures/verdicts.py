"""Figure of all claims: how many got which verdict."""

from __future__ import annotations

import pandas
from matplotlib.axes import Axes

__all__ = [
    "verdict_bars",
]

_LOOK = {  # colour and hatch, so that the parts are told apart without colour
    "holds": ("#029e73", ""),
    "holds in part": ("#ece133", "//"),
    "open": ("#56b4e9", "\\\\"),
    "does not hold": ("#d55e00", "xx"),
    "cannot be checked": ("#bbbbbb", ".."),
}


def verdict_bars(axes: Axes, counts: pandas.DataFrame) -> Axes:
    """A bar a section, its parts the verdicts; `counts` as `verdicts.count_verdicts` gives it."""
    start = pandas.Series(0, index=counts.index)
    for verdict, (color, hatch) in _LOOK.items():
        part = counts[verdict]
        axes.barh(
            counts.index, part, left=start, color=color, hatch=hatch, edgecolor="white",
            label=verdict,
        )  # fmt: skip
        start = start + part
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="claims", ylabel="section")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=5, fontsize=7)
    return axes
