"""Figures of section 3: one run from inside, the CVaR estimate and its two phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from ...plots import COLORS
from ...statistics import Estimate

__all__ = [
    "error_over_theory",
    "estimate_paths",
    "estimator_error",
    "one_run",
]

_MARKS = "o^sDv"


def one_run(
    axes: Sequence[Axes], arms: np.ndarray, indices: np.ndarray, shown: Mapping[int, str]
) -> Sequence[Axes]:
    """Which arm is played when (upper axes), and the index of each arm (lower axes).

    Parameters
    ----------
    axes : sequence of two Axes
    arms : ndarray of int, shape (T,)
    indices : ndarray, shape (T, K)
        Of `one_run.index_paths`.
    shown : mapping from arm to name
        Arms with a colour and a dash of their own; the others are grey.
    """
    t = np.arange(1, len(arms) + 1)
    dashes = "-", "--", "-."
    looks = {arm: (COLORS[(0, 1, 3)[k]], dashes[k]) for k, arm in enumerate(shown)}
    for arm in sorted(range(indices.shape[1]), key=lambda arm: arm in looks):
        color, dash = looks.get(arm, ("0.75", "-"))
        played = t[arms == arm]
        axes[0].plot(played, np.full(len(played), arm), "|", color=color, ms=6, mew=0.9)
        width = 1.2 if arm in looks else 0.5
        axes[1].plot(t, indices[:, arm], dash, color=color, lw=width, label=shown.get(arm))
    axes[0].set_yticks(list(shown), list(shown.values()))
    axes[0].set_ylim(indices.shape[1] - 0.5, -0.5)
    axes[1].set_xlabel("pull $t$")
    return axes


def estimator_error(
    axes: Axes, n: np.ndarray, rmse: Mapping[str, np.ndarray], theory: Mapping[str, np.ndarray]
) -> Axes:
    """Root mean square error of the CVaR estimate against n on log axes, with its theory."""
    for k, (name, values) in enumerate(rmse.items()):
        color = COLORS[k]
        axes.plot(n, values, _MARKS[k % 5], color=color, label=name)
        axes.plot(n, theory[name], "-", color=color, lw=0.9)
    axes.set(xscale="log", yscale="log", xlabel="rewards $n$", ylabel="RMSE of the estimate")
    axes.legend(title="simulated (line: $\\sqrt{V/n}$)", title_fontsize=8)
    return axes


def error_over_theory(axes: Axes, ratios: Mapping[str, Mapping[int, Estimate]]) -> Axes:
    """Mean square error over its asymptotic value V / n, with intervals, against n (log axis)."""
    for k, (name, by_size) in enumerate(ratios.items()):
        n = np.array(list(by_size)) * 1.03 ** (k - 1)  # side by side
        low, value, high = np.array([[e.low, e.value, e.high] for e in by_size.values()]).T
        axes.errorbar(
            n, value, yerr=[value - low, high - value], fmt=_MARKS[k % 5], color=COLORS[k],
            lw=0.9, label=name,
        )  # fmt: skip
    axes.axhline(1, color="k", lw=0.8, ls=":")
    axes.set(xscale="log", xlabel="rewards $n$", ylabel="MSE / $(V/n)$")
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
