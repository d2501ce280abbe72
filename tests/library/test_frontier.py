"""The three numbers of a run by hand, the Pareto front pair by pair, and how sure it is."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray

from marab_lib import arms, comparison, frontier, plots, policies, problems, simulate
from marab_lib.simulation import by_chunks

HORIZON, SEED = 300, 5


@pytest.fixture(scope="module")
def chosen():
    return [policies.MIN(), policies.UCB(0.1), policies.MaRaB(0.2), policies.EpsilonGreedy(1)]


@pytest.fixture(scope="module")
def listed():
    return problems.artificial(4, 3, n_arms=6)


@pytest.fixture(scope="module")
def played(chosen, listed):
    return frontier.play(listed, chosen, HORIZON, SEED, levels=(0.05, 0.07))


@pytest.fixture(scope="module")
def single_pulls(chosen, listed):
    return simulate(listed, chosen, HORIZON, 1, SEED, record=("rewards", "arms")).isel(run=0)


# --- a run in three numbers ---------------------------------------------------------------------


def test_regret_pull_by_pull(played, listed, single_pulls):
    for i, j in np.ndindex(played.regret.shape):
        lost = [listed[j].mean_gaps[a] for a in single_pulls.arms.values[i, j]]
        assert played.regret.values[i, j] == pytest.approx(np.mean(lost), abs=1e-12)


@policies.index
def one_arm(t, arms, state, params, memory, history):
    for a in arms:
        a.index = 0.0
    arms[int(params[0])].index = 1.0


def test_safety_is_the_worst_rewards_less_those_of_the_best_arm(played, listed, single_pulls):
    only = [policies.Custom(one_arm, (arm,), first_pulls="none") for arm in range(6)]
    alone = simulate(listed, only, HORIZON, 1, SEED, record=("rewards", "arms")).isel(run=0)
    assert (alone.arms == alone.arm.rename(arm="policy").drop_vars("policy")).all()
    for level, worst in {0.05: 15, 0.07: 21}.items():
        for j, problem in enumerate(listed):
            best = alone.rewards[int(problem.cvars(level).argmax()), j]
            for i in range(len(played.policy)):
                runs = (np.sort(x)[:worst].mean() for x in (single_pulls.rewards[i, j], best))
                wanted = np.subtract(*runs)
                assert played.safety.sel(level=level).values[i, j] == pytest.approx(wanted)


def test_who_always_plays_the_safest_arm_has_safety_zero():
    """But for one pull of the other arm, here among the 100 worst: MIN does not go back."""
    far_apart = problems.Problem(arms.Uniform([0.6, 0.1], [0.9, 0.2]), stream=(0,))
    found = frontier.play([far_apart], [policies.MIN()], 200, 1, levels=(0.5,))
    assert -0.8 / 100 < found.safety.item() < -0.4 / 100
    assert found.regret.item() == pytest.approx(0.6 / 200)
    assert found.exploration.item() == pytest.approx(0.0)  # 1 of 200 pulls is less than 5 %


def naive_exploration(arms: np.ndarray) -> float:
    """Percent by percent, from the list of pulls."""
    for percent in range(100):
        later = arms[percent * len(arms) // 100 :]
        counts = np.unique(later, return_counts=True)[1]
        if len(later) - counts.max() <= len(later) / 20:
            return (percent * len(arms) // 100) / len(arms)
    return 1.0


def test_exploration_against_single_pulls(played, single_pulls):
    for i, j in np.ndindex(played.exploration.shape):
        wanted = naive_exploration(single_pulls.arms.values[i, j])
        assert played.exploration.values[i, j] == pytest.approx(wanted)
    assert played.exploration.min() < 0.5 < played.exploration.max()


@pytest.mark.parametrize(
    ("arms", "share"),
    [
        ([0] * 20, 0.0),
        ([0] * 19 + [1], 0.0),  # 5 % elsewhere
        ([0] * 18 + [1] * 2, 0.9),
        ([0, 1] * 10, 0.95),  # the last pull is one arm's
        ([0] * 12 + [1] * 8, 0.6),  # the arm that is left does not count, however often pulled
        ([2, 1, 0] + [3] * 17, 0.15),  # 1 of the last 18 pulls elsewhere is too much
    ],
)
def test_exploration_of_given_pulls(arms, share):
    steps = np.arange(1, len(arms) + 1)
    counts = (np.array(arms)[:, None] == np.arange(4)).cumsum(axis=0)
    counts = xarray.DataArray(counts, {"checkpoint": steps}, ("checkpoint", "arm"))
    assert float(frontier.exploration(counts)) == pytest.approx(share)


def test_parts_of_the_problems_give_the_same_numbers(monkeypatch, chosen, listed, played):
    monkeypatch.setattr(frontier, "_REWARDS", 1)
    again = frontier.play(listed, chosen, HORIZON, SEED, levels=(0.05, 0.07))
    xarray.testing.assert_equal(played, again)


def test_by_chunks_hands_on_the_checkpoints(listed):
    def steps(result, part):
        return result.theoretical_regret.to_dataset(name="regret")

    found = by_chunks(listed, policies.MIN(), 50, 1, 0, steps, size=3, checkpoints=[10, 50])
    assert found.checkpoint.values.tolist() == [10, 50]


@pytest.mark.parametrize("level", [0, 1, "x", None])
def test_a_bad_level_is_named(listed, level):
    with pytest.raises(ValueError, match="levels"):
        frontier.play(listed, [policies.MIN()], HORIZON, SEED, levels=(0.05, level))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": 0.05}, r"levels must be a list of numbers in \(0, 1\), got 0.05"),
        ({"levels": []}, "levels must hold at least one"),
        ({"policies": []}, "policies must hold at least one"),
        ({"policies": 5}, "policies must be Policy objects .*, got 5"),
        ({"horizon": 0}, "horizon must be a whole number >= 2, got 0"),
        ({"horizon": "x"}, "horizon must be a whole number >= 2, got 'x'"),
    ],
)
def test_a_bad_argument_of_a_play_is_named(listed, change, message):
    given = {"problems": listed, "policies": [policies.MIN()], "horizon": HORIZON, "seed": SEED}
    with pytest.raises((TypeError, ValueError), match=message):
        frontier.play(**(given | change))


def test_one_policy_and_a_generator_of_some_are_played(listed):
    alone = frontier.play(listed, policies.MIN(), HORIZON, SEED)
    xarray.testing.assert_identical(
        alone, frontier.play(listed, (policy for policy in [policies.MIN()]), HORIZON, SEED)
    )


@pytest.mark.parametrize("function", [frontier.table, frontier.resampled])
def test_what_is_no_result_of_a_play_is_named(played, function):
    with pytest.raises(ValueError, match=r"level must be one of \[.*\], got 0.7"):
        function(played, 0.7)
    with pytest.raises(TypeError, match=r"played must be a Dataset of frontier.play, got None"):
        function(None)
    with pytest.raises(ValueError, match=r"played must have at least 2 problems .*, got 1"):
        function(played.isel(problem=[0]))


@pytest.mark.parametrize("function", [frontier.on_front, frontier.distances])
@pytest.mark.parametrize(
    ("regret", "safety", "message"),
    [
        ([1], [1, 2], r"must be of one shape .*, got \(1,\) and \(2,\)"),
        (1, 2, r"must be of one shape .*, got \(\) and \(\)"),
        ([], [], "with at least one setting"),
        ([np.nan, 1], [1, 2], "regret must be finite numbers, got nan"),
        ([1], ["x"], "safety must be numbers"),
    ],
)
def test_what_has_no_front_is_named(function, regret, safety, message):
    with pytest.raises((TypeError, ValueError), match=message):
        function(regret, safety)


def test_no_checkpoint_is_no_end_of_a_run():
    counts = xarray.DataArray(np.ones((0, 2)), {"checkpoint": []}, ("checkpoint", "arm"))
    with pytest.raises(ValueError, match="counts must hold a checkpoint and an arm"):
        frontier.exploration(counts)


# --- the settings -------------------------------------------------------------------------------


def test_all_policies_have_settings():
    settings = frontier.settings()
    assert {p.title for p in settings} == {p.title for p in comparison.everyone()}
    assert set(frontier._GRIDS) <= {p.title for p in settings}
    assert all(p.title == title for title, grid in frontier._GRIDS.items() for p in grid)
    names = [p.name for p in settings]
    assert len(set(names)) == len(names) == len({frontier.short_name(p) for p in settings})


# --- the front ----------------------------------------------------------------------------------


def naive_front(points: list[tuple[float, float]]) -> list[bool]:
    return [
        not any(
            r <= regret and s >= safety and (r < regret or s > safety)
            for r, s in points
        )
        for regret, safety in points
    ]  # fmt: skip


def test_the_front_against_all_pairs():
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 5, (200, 2, 7)) / 10  # with many ties
    for (regret, safety), front in zip(
        drawn, frontier.on_front(*drawn.swapaxes(0, 1)), strict=True
    ):
        assert front.tolist() == naive_front(list(zip(regret, safety, strict=True)))
        assert front.any()


def test_equal_settings_are_both_on_the_front_or_both_off():
    assert frontier.on_front([0.1, 0.1 + 1e-16], [0.2, 0.2]).tolist() == [True, True]
    assert frontier.on_front([0.1, 0.1, 0.05], [0.2, 0.2, 0.2]).tolist() == [False, False, True]


def test_the_distance_is_the_least_gain_that_leads_to_the_front():
    rng = np.random.default_rng(1)
    regret, safety = rng.random((2, 9))
    far = frontier.distances(regret, safety)
    assert (far[frontier.on_front(regret, safety)] == 0).all()
    assert far.max() > 0.1
    for i in np.flatnonzero(far > 0):
        for gain, on in ((far[i] + 1e-6, True), (far[i] - 1e-6, False)):
            r, s = regret.copy(), safety.copy()
            r[i], s[i] = r[i] - gain, s[i] + gain
            assert frontier.on_front(r, s)[i] == on


# --- how sure it is -----------------------------------------------------------------------------


def of_law(regrets, safeties, n: int, noise: float, seed: int) -> xarray.Dataset:
    """Settings of known means on n problems, whose difficulty they have in common."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    r = np.array(regrets)[:, None] + common + noise * rng.normal(size=(len(regrets), n))
    s = np.array(safeties)[:, None] - common + noise * rng.normal(size=(len(regrets), n))
    dims, names = ("policy", "problem"), list("abcdefg"[: len(regrets)])
    coordinates = {"policy": names, "title": ("policy", names)}
    variables = {"regret": (dims, r), "exploration": (dims, np.zeros_like(r))}
    variables["safety"] = (("level", *dims), s[None])
    return xarray.Dataset(variables, {**coordinates, "level": [0.05]})


def test_what_all_settings_have_in_common_does_not_blur_the_front():
    table = frontier.table(of_law([0.1, 0.2, 0.3], [-0.3, -0.1, -0.2], 30, 1e-3, 0))
    assert table["share"].tolist() == [1, 1, 0]
    assert table["front"].tolist() == [True, True, False]
    assert table["regret error"].min() > 0.1  # the problems differ much more than the settings
    assert table["distance"].tolist() == pytest.approx([0, 0, 0.1], abs=2e-3)
    assert table["high"].max() - table["low"].max() < 4e-3


def test_two_alike_settings_share_the_front():
    table = frontier.table(of_law([0.1, 0.1, 0.5], [-0.1, -0.1, -0.5], 200, 0.05, 1))
    assert table["share"][:2].between(0.02, 0.98).all()
    assert table["share"][2] == 0


def test_the_interval_of_a_distance_holds_the_true_one():
    """A normal law would put 190 of 200 in; 174 or fewer have probability 1e-5."""
    hits = 0
    for seed in range(200):
        row = frontier.table(of_law([0.1, 0.4], [-0.1, -0.5], 60, 0.3, seed), resamples=300).loc[1]
        hits += row["low"] <= 0.3 <= row["high"]
    assert hits > 174


def test_the_first_resample_is_the_sample(played):
    regret, safety, exploration = frontier.resampled(played, 0.05, 20, seed=1)
    assert regret.shape == safety.shape == exploration.shape == (21, played.sizes["policy"])
    np.testing.assert_allclose(regret[0], played.regret.mean("problem"), rtol=1e-12)
    np.testing.assert_allclose(safety[0], played.safety.sel(level=0.05).mean("problem"), rtol=1e-12)
    assert len({*regret[:, 0].round(12)}) > 10


# --- the drawing --------------------------------------------------------------------------------


def test_the_figure_names_the_front_and_what_is_marked(played, chosen):
    table, fronts = frontier.table(played), frontier.resampled(played)
    table["label"] = [frontier.short_name(policy) for policy in chosen]
    axes = plots.frontier(plt.figure().subplots(), table, fronts, [chosen[3].name])
    named = {text.get_text() for text in axes.texts}
    front = table[(table["share"] >= 0.05) | (table["policy"] == chosen[3].name)]
    assert named == {f"{row.label} ({row.share:.0%})" for row in front.itertuples()}
    assert len(axes.lines) == 100
    drawn = np.concatenate([part.get_offsets() for part in axes.collections])
    wanted = table[["regret", "safety"]].to_numpy()
    assert {tuple(x) for x in wanted.round(9)} == {tuple(x) for x in drawn.round(9)}
    plt.close("all")


def test_a_staircase_is_the_border_of_what_is_beaten(played):
    """Each setting lies on its side of the staircase of its resample."""
    table, fronts = frontier.table(played, resamples=1), frontier.resampled(played, resamples=1)
    axes = plots.frontier(plt.figure().subplots(), table, fronts)
    (line,) = axes.lines
    x, y = line.get_data()
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    for regret, safety in zip(fronts[0][1], fronts[1][1], strict=True):
        assert safety <= y[x <= regret + 1e-12].max() + 1e-12
    plt.close("all")
