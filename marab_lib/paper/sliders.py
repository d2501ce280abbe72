"""Figures with sliders: simulated anew at each move in JupyterLab, or at all positions at once.

An `Explorer` shows itself in two forms: live sliders, for a front end that has widgets, and a
picture at the starting values, for all others (GitHub, nbconvert). A saved notebook keeps only the
picture. A `Grid` holds the curves at every position of the sliders; the static site shows it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from .. import _validate, plots, policies, problems, regret
from ..simulation.run import simulate
from . import section_5_1, section_5_2_2

if TYPE_CHECKING:
    import ipywidgets
    import xarray


__all__ = [
    "GRIDS",
    "Explorer",
    "Grid",
    "proof_of_concept",
    "proof_of_concept_grid",
    "risk_of_rewards",
    "risk_of_rewards_grid",
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
        (png,) = plots.drawn(figure, "png", dpi=100)  # half of a saved figure's: it is drawn fast
        self.values, self.figure, self.png = values, figure, png

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


def _ucb_and_marab(
    constants: Sequence[float], alphas: Sequence[float], **options: Any
) -> list[policies.Policy]:
    """UCB and MaRaB with all these parameters."""
    return [
        *(policies.UCB(C, label=f"UCB(C={C:g})", **options) for C in constants),
        *(
            policies.MaRaB(alpha, C, label=f"MaRaB(α={alpha:g}, C={C:g})", **options)
            for alpha in alphas
            for C in constants
        ),
    ]


def _of_figure_1(
    constants: Sequence[float], alphas: Sequence[float], first_pulls: str
) -> list[policies.Policy]:
    """MIN, UCB and MaRaB with all these parameters."""
    order: Any = {"first_pulls": first_pulls}
    return [policies.MIN(label="MIN", **order), *_ucb_and_marab(constants, alphas, **order)]


def _of_figure_3(
    constants: Sequence[float], alphas: Sequence[float], rhos: Sequence[float], mv_lcb: str
) -> list[policies.Policy]:
    """UCB, MaRaB, MV-LCB and ExpExp with all these parameters."""
    return [
        *_ucb_and_marab(constants, alphas),
        *(policies.MVLCB(rho, bonus=mv_lcb, label=f"MV-LCB(ρ={rho:g})") for rho in rhos),
        *(policies.ExpExp(rho, label=f"ExpExp(ρ={rho:g})") for rho in rhos),
    ]


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
        chosen = _of_figure_1((C,), (alpha,), first_pulls)
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
        chosen = _of_figure_3((C,), (alpha,), (rho,), mv_lcb)
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


@dataclass(frozen=True)
class Grid:
    """The curves of a figure with sliders at every position of them.

    Attributes
    ----------
    start : mapping from name to float
        The sliders, and where they stand at first.
    panels : mapping from title to mapping from a policy's title to Dataset
        ``mean`` and ``error`` (its standard error) along ``x``, and along those of the sliders
        that the policy depends on.
    labels : (str, str)
        Of the axes.
    caption : str
    log : bool
        Whether the second axis is logarithmic.
    """

    start: Mapping[str, float]
    panels: Mapping[str, Mapping[str, xarray.Dataset]]
    labels: tuple[str, str]
    caption: str
    log: bool = False


def _by_parameters(
    curves: xarray.DataArray, x: str, keep: Sequence[int]
) -> dict[str, xarray.Dataset]:
    """By title: mean and standard error over the runs, along x and the policies' own parameters."""
    import xarray

    mean, error = regret.mean_and_error(curves)
    both = xarray.Dataset({"mean": mean, "error": error}).rename({x: "x"}).sel(x=list(keep))
    found = {}
    for title in dict.fromkeys(curves.title.values.tolist()):
        part = both.isel(policy=np.flatnonzero(curves.title == title))
        own = [n for n in ("alpha", "C", "rho") if n in part.coords and part[n].notnull().all()]
        values = {n: ("policy", part[n].values) for n in own}
        part = part[["mean", "error"]].reset_coords(drop=True).drop_vars("policy", errors="ignore")
        if len(own) == 0:
            part = part.isel(policy=0)
        elif len(own) == 1:
            part = part.assign_coords(policy=values[own[0]][1]).rename(policy=own[0])
        else:
            part = part.assign_coords(values).set_index(policy=own).unstack("policy")
        found[title] = part.astype(np.float32)
    return found


def proof_of_concept_grid(horizon: int = 2000, runs: int = 20, seed: int = 2013) -> Grid:
    """The curves of `proof_of_concept` at every position of its sliders (3 s).

    Parameters
    ----------
    horizon, runs, seed
        See `simulate`.

    Examples
    --------
    >>> grid = proof_of_concept_grid(horizon=100, runs=2)
    >>> dict(grid.panels[""]["UCB"].sizes)["delta_max"]
    7
    """
    import pandas
    import xarray

    chosen = _of_figure_1(_CONSTANTS, _ALPHAS, "descending")
    by_margin = []
    for delta_max in _MARGINS:
        problem = problems.proof_of_concept(delta_max=delta_max)
        result = section_5_1.figure_1(problem, chosen, horizon, runs, seed).squeeze("problem")
        steps = result.checkpoint.values
        keep = steps[np.unique(np.geomspace(1, steps.size, 60).astype(int)) - 1]
        by_margin.append(_by_parameters(result.theoretical_regret, "checkpoint", keep))
    margins = pandas.Index(_MARGINS, name="delta_max")
    curves = {
        title: xarray.concat([one[title] for one in by_margin], margins) for title in by_margin[0]
    }
    return Grid(
        {"C": 1e-3, "alpha": 0.1, "delta_max": 1e-3},
        {"": curves},
        ("iteration t", "pseudo-regret"),
        f"Pseudo-regret in units of the reward, on a log axis: mean of {runs} runs, band: two "
        "standard errors.",
        log=True,
    )


def risk_of_rewards_grid(
    horizon: int = 2000, runs: int = 20, seed: int = 2013, n_problems: int = 1000
) -> Grid:
    """The curves of `risk_of_rewards` at every position of its sliders (a second).

    Parameters
    ----------
    horizon, runs, seed
        See `simulate`.
    n_problems : int
        Generated problems, of which two are shown: see `section_5_2_2.representative_problems`.
    """
    listed = problems.artificial(n_problems, seed)
    two = [listed[number] for number in section_5_2_2.representative_problems(listed)]
    chosen = _of_figure_3(_CONSTANTS, _ALPHAS, _RHOS, "optimistic")
    result = simulate(two, chosen, horizon, runs, seed, record="rewards", checkpoints=1)
    ordered = regret.sorted_rewards(result)
    ranks = np.r_[np.geomspace(1, horizon, 30), np.linspace(1, horizon, 40)].astype(int)
    keep = np.unique(ranks).tolist()
    panels = {
        f"{name} variance of the best arm": _by_parameters(ordered.sel(problem=n), "rank", keep)
        for n, name in enumerate(("low", "high"))
    }
    return Grid(
        {"C": 1e-3, "alpha": 0.2, "rho": 2.0},
        panels,
        ("rank of the reward in its run", "reward"),
        f"Sorted rewards on the two problems, as in figure 3: mean of {runs} runs, band: two "
        "standard errors.",
    )


GRIDS: Mapping[str, Callable[..., Grid]] = {  # by the name of the `Explorer` with these sliders
    "proof_of_concept": proof_of_concept_grid,
    "risk_of_rewards": risk_of_rewards_grid,
}
