"""Figures of section 3: the CVaR estimate and its two phases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from ...plots import COLORS

__all__ = [
    "estimate_paths",
    "estimator_error",
]


def estimator_error(
    axes: Axes, n: np.ndarray, rmse: Mapping[str, np.ndarray], theory: Mapping[str, np.ndarray]
) -> Axes:
    """Root mean square error of the CVaR estimate against n on log axes, with its theory."""
    marks = "o^sDv"
    for k, (name, values) in enumerate(rmse.items()):
        color = COLORS[k]
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
        axes.plot(n, path, color=COLORS[0], lw=1, label="CVaR estimate" if k == 0 else None)
        axes.plot(
            n, minimum, color="k", lw=0.8, ls=":", label="smallest reward" if k == 0 else None
        )
    axes.axhline(exact, color=COLORS[3], lw=1, ls="--", label="exact CVaR")
    axes.axvline(phase_end, color="#777777", lw=0.8, ls="-.", label="$n = 1/\\alpha$")
    axes.set(xscale="log", xlabel="rewards $n$", ylabel="reward")
    return axes
