"""Figures with sliders: each move gives the figure of a plain simulation at these values."""

import base64
import json

import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure

from marab_lib import policies, problems, regret, simulate
from marab_lib.paper import sliders
from marab_lib.runner.command_line import main

SMALL = {"horizon": 200, "runs": 4, "seed": 3}


def drawn(explorer: sliders.Explorer, title: str, panel: int = 0) -> np.ndarray:
    """The line of a policy in a panel."""
    lines = explorer.figure.axes[panel].lines
    return next(line.get_ydata() for line in lines if line.get_label().startswith(title))


def slider(explorer: sliders.Explorer, name: str):
    return next(s for s in explorer.widget.children[0].children if s.description == name)


def picture(explorer: sliders.Explorer) -> bytes:
    return bytes(explorer.widget.children[1].value)


def bars(figure: Figure, height: float) -> None:
    figure.subplots().bar([0], [height])


def bar(**start: float) -> sliders.Explorer:
    return sliders.Explorer(bars, {"height": (1.0, 2.0)}, start, size=(2, 1))


def test_a_move_draws_the_figure_again():
    explorer = bar(height=1.0)
    first = picture(explorer)
    slider(explorer, "height").value = 2.0
    assert explorer.values == {"height": 2.0}
    assert explorer.figure.axes[0].patches[0].get_height() == 2.0
    assert picture(explorer) == explorer.png != first
    slider(explorer, "height").value = 1.0
    assert picture(explorer) == first


def test_a_start_between_the_positions_becomes_one():
    explorer = bar(height=1.5)
    assert [value for _, value in slider(explorer, "height").options] == [1.0, 1.5, 2.0]
    assert slider(explorer, "height").value == 1.5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"height": 3.0}, r"height must be one of \[1.0, 2.0\], got 3.0"),
        ({"width": 1.0}, "slider must be one of 'height', got 'width'"),
    ],
)
def test_a_place_that_is_none_is_an_error(values, message):
    explorer = bar(height=1.0)
    with pytest.raises(ValueError, match=message):
        explorer.set(**values)
    assert explorer.values == {"height": 1.0}


def test_what_cannot_be_drawn_does_not_move():
    def draw(figure: Figure, height: float) -> None:
        if height == 2.0:
            raise ValueError("too high")
        bars(figure, height)

    explorer = sliders.Explorer(draw, {"height": (1.0, 2.0, 3.0)}, {"height": 1.0}, (2, 1))
    before = explorer.figure, explorer.png
    with pytest.raises(ValueError, match="too high"):
        explorer.set(height=2.0)
    assert explorer.values == {"height": 1.0}
    assert (explorer.figure, explorer.png) == before
    explorer.set(height=3.0)
    assert explorer.values == {"height": 3.0}


def test_every_level_of_a_slider_can_be_drawn():
    two = dict(zip(("one", "two"), problems.artificial(2, seed=1), strict=True))
    size = {"horizon": 50, "runs": 2, "seed": 3}
    for explorer in (
        sliders.proof_of_concept(**size),
        sliders.risk_of_rewards(two, **size),
    ):
        levels = [level for _, level in slider(explorer, "alpha").options]
        for level in levels:
            explorer.set(alpha=level)
        assert explorer.values["alpha"] == levels[-1] < 1


def test_every_slider_needs_a_start():
    with pytest.raises(ValueError, match="start must give height, got width"):
        bar(width=1.0)


def test_without_a_kernel_it_is_a_picture():
    explorer = bar(height=1.0)
    bundle = explorer._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "image/png"}
    assert base64.b64decode(bundle["image/png"]) == explorer.png
    assert bundle["text/plain"] == "sliders at height = 1"


def test_without_widgets_it_is_a_picture(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ipywidgets", None)
    monkeypatch.setattr("IPython.get_ipython", lambda: type("Shell", (), {"kernel": 1}))
    assert bar(height=1.0)._repr_mimebundle_().keys() == {"text/plain", "image/png"}


def test_a_kernel_gets_both_and_a_saved_notebook_keeps_the_picture(write_notebook, tmp_path):
    show = (
        "from marab_lib.paper import sliders\n"
        "shown = sliders.proof_of_concept(horizon=100, runs=2)\n"
        "print(sorted(shown._repr_mimebundle_()))\n"
        "shown"
    )
    path = write_notebook("01_show", show)
    arguments = ["--notebooks", str(path.parent), "--out", str(tmp_path)]
    assert main(["save", *arguments]) == 0
    before = path.read_bytes()
    assert main(["save", *arguments]) == 0
    assert path.read_bytes() == before
    printed, shown = nbformat.read(path, as_version=4).cells[-1].outputs
    keys = json.loads(printed.text.replace("'", '"'))
    assert keys == ["application/vnd.jupyter.widget-view+json", "image/png", "text/plain"]
    assert shown.data.keys() == {"text/plain", "image/png"}
    assert shown.data["text/plain"].startswith("sliders at C = 0.001, alpha = 0.1")


@pytest.mark.parametrize(
    ("moved", "changed"),
    [({"C": 1.0}, "UCB"), ({"alpha": 0.5}, "MaRaB"), ({"delta_max": 0.01}, "MIN")],
)
def test_section_5_1_is_that_of_simulate(moved, changed):
    explorer = sliders.proof_of_concept(**SMALL)
    before = drawn(explorer, changed)
    for name, value in moved.items():
        slider(explorer, name).value = value
    at = {"C": 1e-3, "alpha": 0.1, "delta_max": 1e-3} | moved
    problem = problems.proof_of_concept(delta_max=at["delta_max"])
    chosen = [
        policies.MIN(first_pulls="descending"),
        policies.UCB(at["C"], first_pulls="descending"),
        policies.MaRaB(at["alpha"], at["C"], first_pulls="descending"),
    ]
    result = simulate(problem, chosen, checkpoints=explorer_steps(explorer), **SMALL)
    mean = result.theoretical_regret.mean(["problem", "run"])
    for title, line in zip(("MIN", "UCB", "MaRaB"), mean.values, strict=True):
        assert drawn(explorer, title) == pytest.approx(line, rel=1e-12)
    assert not np.array_equal(drawn(explorer, changed), before)


def explorer_steps(explorer: sliders.Explorer) -> list[int]:
    return [int(step) for step in explorer.figure.axes[0].lines[0].get_xdata()]


@pytest.mark.parametrize(
    ("moved", "changed"),
    [
        ({"C": 1.0}, {"UCB", "MaRaB"}),
        ({"alpha": 0.001}, {"MaRaB"}),
        ({"rho": 0.0}, {"MV-LCB", "ExpExp"}),
    ],
)
def test_section_5_2_is_that_of_simulate(moved, changed):
    two = dict(zip(("one", "two"), problems.artificial(2, seed=1), strict=True))
    explorer = sliders.risk_of_rewards(two, **SMALL)
    titles = ("UCB", "MaRaB", "MV-LCB", "ExpExp")
    before = {title: drawn(explorer, title, 1) for title in titles}
    for name, value in moved.items():
        slider(explorer, name).value = value
    at = {"C": 1e-3, "alpha": 0.2, "rho": 2.0} | moved
    chosen = [
        policies.UCB(at["C"]),
        policies.MaRaB(at["alpha"], at["C"]),
        policies.MVLCB(at["rho"]),
        policies.ExpExp(at["rho"]),
    ]
    result = simulate(list(two.values()), chosen, record="rewards", **SMALL)
    expected = regret.sorted_rewards(result).mean("run").values
    for panel in (0, 1):
        for title, line in zip(titles, expected[:, panel], strict=True):
            assert drawn(explorer, title, panel) == pytest.approx(line, rel=1e-12)
    after = {title: drawn(explorer, title, 1) for title in titles}
    assert {t for t in titles if not np.array_equal(before[t], after[t])} == changed


@pytest.mark.parametrize(
    ("title", "at"),
    [
        ("MIN", {"delta_max": 0.01}),
        ("UCB", {"delta_max": 0.01, "C": 1.0}),
        ("MaRaB", {"delta_max": 0.01, "C": 1.0, "alpha": 0.5}),
    ],
)
def test_a_grid_has_the_curves_of_section_5_1_at_every_position(title, at):
    curves = sliders.proof_of_concept_grid(**SMALL).panels[""][title].sel(at)
    explorer = sliders.proof_of_concept(C=1.0, alpha=0.5, delta_max=0.01, **SMALL)
    steps = explorer_steps(explorer)
    line = dict(zip(steps, drawn(explorer, title), strict=True))
    shown = curves["x"].values.tolist()
    assert shown[0] == 1
    assert shown[-1] == 200
    assert curves["mean"].values == pytest.approx([line[t] for t in shown], rel=1e-6)
    assert (curves["error"] >= 0).all()
    assert (curves["error"] > 0).any()


@pytest.mark.parametrize(
    ("title", "at"),
    [("UCB", {"C": 1.0}), ("MaRaB", {"C": 1.0, "alpha": 0.5}), ("ExpExp", {"rho": 5.0})],
)
def test_a_grid_has_the_curves_of_section_5_2_at_every_position(title, at):
    grid = sliders.risk_of_rewards_grid(n_problems=3, **SMALL)
    listed = problems.artificial(3, seed=SMALL["seed"])
    variances = [problem.variances[problem.best_arm] for problem in listed]
    two = {"low": listed[np.argmin(variances)], "high": listed[np.argmax(variances)]}
    start = {"C": 1.0, "alpha": 0.5, "rho": 5.0}
    explorer = sliders.risk_of_rewards(two, **start, **SMALL)
    for number, panel in enumerate(grid.panels.values()):
        curves = panel[title].sel(at)
        expected = drawn(explorer, title, number)[curves["x"].values - 1]
        assert curves["mean"].values == pytest.approx(expected, rel=1e-6)
