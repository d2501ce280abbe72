"""Figures: each function takes data and axes, draws, and returns the axes.

A policy keeps its colour, dash and marker everywhere, so that it can be told from the others
without colour too.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.axes import Axes

__all__ = ["policy_style", "use_style"]

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


def caption(axes: Axes, text: str) -> None:
    """Small print under a panel: what is averaged over what, with n and units."""
    axes.text(0, -0.22, text, transform=axes.transAxes, fontsize=7.5, va="top", color="#444444")
