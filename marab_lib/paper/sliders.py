"""Figures with sliders for JupyterLab, which are plain figures everywhere else.

An `Explorer` shows itself in two forms at once: live sliders, for a front end that has widgets, and
a picture at the starting values, for all others (GitHub, nbconvert, the static site). A saved
notebook keeps only the picture.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from .. import _validate, plots, policies, problems, regret
from ..simulation.run import simulate
from . import section_5_1

if TYPE_CHECKING:
    import ipywidgets


__all__ = [
    "Explorer",
    "proof_of_concept",
    "risk_of_rewards",
]

_CONSTANTS = tuple(10.0**i for i in range(-6, 4))
_ALPHAS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9)  # below 1, where MaRaB is not defined
_RHOS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
_MARGINS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


class Explorer:
    """A figure with a slider for each of its parameters.

    Parameters
    ----------
    draw : callable
        ``draw(figure, **values)`` draws on an empty `matplotlib.figure.Figure`.
    choices : mapping from name to sequence of float
        Positions of each slider; a starting value that is none of them is added.
    start : mapping from name to float
        Where the sliders stand at first.
    size : (float, float)
        Of the figure, in inches.

    Attributes
    ----------
    values : dict
        Where the sliders stand.
    figure : Figure
        What is shown at these values.
    png : bytes
        The same as a picture.

    Raises
    ------
    ValueError
        If a slider has no starting value.

    Examples
    --------
    >>> def line(figure, slope):
    ...     figure.subplots().plot([0, 1], [0, slope])
    >>> shown = Explorer(line, {"slope": (1.0, 2.0)}, {"slope": 1.0})
    >>> shown
    sliders at slope = 1
    >>> shown.set(slope=2.0)
    >>> float(shown.figure.axes[0].lines[0].get_ydata()[-1])
    2.0
    """

    def __init__(
        self,
        draw: Callable[..., object],
        choices: Mapping[str, Sequence[float]],
        start: Mapping[str, float],
        size: tuple[float, float] = (6.5, 3.4),
    ) -> None:
        if set(choices) != set(start):
            raise ValueError(f"start must give {', '.join(choices)}, got {', '.join(start)}")
        self._draw, self._size = draw, size
        self._choices = {n: sorted({*c, start[n]}) for n, c in choices.items()}
        self._show(dict(start))

    def set(self, **values: float) -> None:
        """Move some sliders and draw the figure again; if it cannot be drawn, nothing moves."""
        for name, value in values.items():
            _validate.choice("slider", name, self.values)
            if value not in self._choices[name]:
                raise ValueError(f"{name} must be one of {self._choices[name]}, got {value!r}")
        self._show(self.values | values)

    def _show(self, values: dict[str, float]) -> None:
        figure = Figure(figsize=self._size, layout="constrained")
        self._draw(figure, **values)
        # Once: drawing a figure again may shift its layout by a fraction of a pixel.
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=100)  # half of a saved figure's: it is drawn fast
        self.values, self.figure, self.png = values, figure, buffer.getvalue()

    @cached_property
    def widget(self) -> ipywidgets.Widget:
        """Sliders above the figure, made when first asked for."""
        import ipywidgets

        at_its_size = ipywidgets.Layout(align_self="flex-start", max_width="100%")
        picture = ipywidgets.Image(value=self.png, format="png", layout=at_its_size)

        def moved(change: Mapping) -> None:
            self.set(**{change["owner"].description: change["new"]})
            picture.value = self.png

        sliders = []
        for name, listed in self._choices.items():
            slider = ipywidgets.SelectionSlider(
                options=[(f"{value:g}", value) for value in listed],
                value=self.values[name],
                description=name,
                continuous_update=False,  # one redrawing a move, not one a position passed
                layout=ipywidgets.Layout(width="250px"),
            )
            slider.observe(moved, names="value")
            sliders.append(slider)
        row = ipywidgets.Layout(flex_flow="row wrap")
        return ipywidgets.VBox([ipywidgets.Box(sliders, layout=row), picture])

    def __repr__(self) -> str:
        return f"sliders at {', '.join(f'{n} = {v:g}' for n, v in self.values.items())}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, object]:
        picture = base64.b64encode(self.png).decode()
        return {**_live(self), "text/plain": repr(self), "image/png": picture}


def _live(explorer: Explorer) -> dict[str, object]:
    """The widget's own form, where a notebook's kernel runs this."""
    try:
        from IPython import get_ipython

        if getattr(get_ipython(), "kernel", None) is None:
            return {}
        return explorer.widget._repr_mimebundle_()
    except ImportError:
        return {}


def proof_of_concept(
    *,
    C: float = 1e-3,
    alpha: float = 0.1,
    delta_max: float = 1e-3,
    r_max: float = 0.499,
    n_arms: int = 20,
    horizon: int = 2000,
    runs: int = 40,
    seed: int = 2013,
    first_pulls: str = "descending",
) -> Explorer:
    """Section 5.1 with sliders for C, alpha and Delta_max: regrets of MIN, UCB and MaRaB.

    Parameters
    ----------
    C, alpha, delta_max
        Where the sliders start; see `policies.UCB`, `policies.MaRaB`, `problems.proof_of_concept`.
    r_max, n_arms
        See `problems.proof_of_concept`.
    horizon, runs, seed
        See `simulate`.
    first_pulls
        See `policies.Policy`.

    Examples
    --------
    >>> proof_of_concept(horizon=100, runs=2)
    sliders at C = 0.001, alpha = 0.1, delta_max = 0.001
    """

    def draw(figure: Figure, C: float, alpha: float, delta_max: float) -> None:
        problem = problems.proof_of_concept(n_arms=n_arms, delta_max=delta_max, r_max=r_max)
        chosen = [
            policies.MIN(first_pulls=first_pulls, label="MIN"),
            policies.UCB(C, first_pulls=first_pulls, label=f"UCB(C={C:g})"),
            policies.MaRaB(alpha, C, first_pulls=first_pulls, label=f"MaRaB(α={alpha:g}, C={C:g})"),
        ]
        result = section_5_1.figure_1(problem, chosen, horizon, runs, seed)
        mean, error = regret.mean_and_error(result.theoretical_regret.squeeze("problem"))
        axes = figure.subplots()
        for policy in chosen:
            drawn = mean.sel(policy=policy.name), error.sel(policy=policy.name)
            style = plots.policy_style(policy.title)
            plots.curve(axes, mean.checkpoint, *drawn, label=policy.name, **style)
        axes.set(xlabel="iteration $t$", ylabel="pseudo-regret", yscale="log")
        axes.set(xlim=(0, horizon), title=f"$\\Delta_{{\\max}}$ = {delta_max:g}")
        figure.legend(loc="outside lower center", ncols=3)

    choices = {"C": _CONSTANTS, "alpha": _ALPHAS, "delta_max": _MARGINS}
    return Explorer(draw, choices, {"C": C, "alpha": alpha, "delta_max": delta_max})


def risk_of_rewards(
    shown: Mapping[str, problems.Problem],
    *,
    C: float = 1e-3,
    alpha: float = 0.2,
    rho: float = 2.0,
    horizon: int = 2000,
    runs: int = 10,
    seed: int = 2013,
    mv_lcb: str = "optimistic",
) -> Explorer:
    """Figure 3 with sliders for C, alpha and rho: sorted rewards of four policies.

    Parameters
    ----------
    shown : mapping from title to Problem
        A panel each.
    C, alpha, rho
        Where the sliders start: C of UCB and MaRaB, alpha of MaRaB, rho of MV-LCB and ExpExp.
    horizon, runs, seed
        See `simulate`.
    mv_lcb
        The reading of MV-LCB; see `policies.MVLCB`.

    Examples
    --------
    >>> risk_of_rewards({"one": problems.artificial(1, seed=0)[0]}, horizon=100, runs=2)
    sliders at C = 0.001, alpha = 0.2, rho = 2
    """
    listed = list(shown.values())

    def draw(figure: Figure, C: float, alpha: float, rho: float) -> None:
        chosen = [
            policies.UCB(C, label=f"UCB(C={C:g})"),
            policies.MaRaB(alpha, C, label=f"MaRaB(α={alpha:g}, C={C:g})"),
            policies.MVLCB(rho, bonus=mv_lcb, label=f"MV-LCB(ρ={rho:g})"),
            policies.ExpExp(rho, label=f"ExpExp(ρ={rho:g})"),
        ]
        result = simulate(listed, chosen, horizon, runs, seed, record="rewards", checkpoints=1)
        curves = regret.sorted_rewards(result).mean("run")
        axes = figure.subplots(1, len(listed), sharey=True, squeeze=False)[0]
        for axis, title, number in zip(axes, shown, range(len(listed)), strict=True):
            for policy in chosen:
                y, style = curves.sel(policy=policy.name), plots.policy_style(policy.title)
                plots.curve(axis, y["rank"], y.sel(problem=number), label=policy.name, **style)
            axis.set(title=title, xlabel="rank of the reward in its run", xlim=(0, horizon))
        axes[0].set(ylabel="reward", ylim=(0, 1))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)

    choices = {"C": _CONSTANTS, "alpha": _ALPHAS, "rho": _RHOS}
    return Explorer(draw, choices, {"C": C, "alpha": alpha, "rho": rho})
