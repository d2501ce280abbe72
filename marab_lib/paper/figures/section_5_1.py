"""Figures of section 5.1."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from ...plots import COLORS

__all__ = [
    "arm_intervals",
]


def arm_intervals(axes: Axes, low: np.ndarray, high: np.ndarray, mean: np.ndarray) -> Axes:
    """The support of each arm as a bar, its mean as a dot (section 5.1's problem)."""
    arms = np.arange(1, len(mean) + 1)
    axes.vlines(arms, low, high, color=COLORS[0], lw=4, alpha=0.5)
    axes.plot(arms, mean, "k_", markersize=7, label="mean")
    axes.plot(arms, low, "v", color=COLORS[3], markersize=4, label="essential infimum")
    axes.set(xlabel="arm $i$", ylabel="reward", xticks=arms[::3])
    axes.legend(loc="upper left")
    return axes
