"""Regrets and summaries against the records of single pulls."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray

from marab_lib import (
    arms,
    compare,
    comparison,
    criteria,
    plots,
    policies,
    problems,
    regret,
    simulate,
)
from marab_lib.paper import battery
from marab_lib.work.files import load_dataset, save_dataset


@pytest.fixture(scope="module")
def listed():
    return problems.artificial(2, 3)


@pytest.fixture(scope="module")
def result(listed):
    chosen = [policies.UCB(0.1), policies.MaRaB(0.2)]
    return simulate(listed, chosen, 200, 6, 1, record=("rewards", "arms"))


def test_theoretical_regret_is_that_of_the_simulation(result):
    got = regret.theoretical_regret(result)
    np.testing.assert_allclose(got, result.theoretical_regret[..., -1], atol=1e-10)


def test_empirical_regret_is_that_of_the_simulation(result):
    got = regret.empirical_regret(result).transpose(*result.rewards.dims)
    np.testing.assert_allclose(
        got.sel(step=result.checkpoint.values), result.empirical_regret, atol=1e-10
    )


@pytest.mark.parametrize(
    ("of", "parameter", "value"),
    [
        (regret.cvar_regret, 0.1, lambda problem: problem.cvars(0.1)),
        (regret.mean_variance_regret, 2.0, lambda problem: -problem.mean_variances(2.0)),
    ],
)
def test_named_regrets_pull_by_pull(result, listed, of, parameter, value):
    got = of(result, listed, parameter)
    for j, problem in enumerate(listed):
        loss = value(problem).max() - value(problem)
        expected = loss[result.arms.values[:, j]].sum(axis=-1)
        np.testing.assert_allclose(got.sel(problem=j), expected, atol=1e-10)


def test_sorted_rewards(result):
    after = regret.sorted_rewards(result)
    np.testing.assert_array_equal(after[0, 1, 2], np.sort(result.rewards[0, 1, 2]))
    before = regret.sorted_rewards(result, average="before")
    np.testing.assert_array_equal(before[1, 0], np.sort(result.rewards[1, 0].mean("run")))
    assert after.dims[-1] == before.dims[-1] == "rank"
    # Averaging first hides the worst rewards.
    assert (before[..., 0] > after[..., 0].mean("run")).all()


def test_last_other_pull(result):
    got = regret.last_other_pull(result, 3)
    played = result.arms.values[1, 0, 4]
    assert got[1, 0, 4] == max(step for step, arm in enumerate(played, 1) if arm != 3)


def test_paired_difference_is_narrower_than_the_two_apart(result):
    x = result.empirical_regret[..., -1]
    mean, error = regret.paired_difference(x, "UCB(C=0.1)", "MaRaB(alpha=0.2, C=1e-06)")
    means, _ = regret.mean_and_error(x)
    np.testing.assert_allclose(mean, means[0] - means[1])
    difference = (x[0] - x[1]).values
    np.testing.assert_allclose(error, difference.std(axis=1, ddof=1) / np.sqrt(6))


def test_bad_input_is_named(result, listed):
    plain = simulate(listed, policies.MIN(), 50, 1, 1)
    lone = partial(compare, policies.MIN(label="mine"), listed[0], 50, 1, 0)
    mean = criteria.mean()
    for call, message in (
        (lambda: regret.sorted_rewards(plain), "result holds no 'rewards': run simulate with rec"),
        (lambda: regret.sorted_rewards(plain, average="x"), "average must be one of .*, got 'x'"),
        (lambda: regret.cvar_regret(plain, listed[:1], 0.1), "problems must be the 2 .*, got 1"),
        (lambda: regret.mean_and_error(plain.theoretical_regret), "over must span at least 2"),
        (lambda: regret.criterion_regret(result, listed, mean, "x"), "kind must be .*, got 'x'"),
        (
            lambda: regret.criterion_regret(result, listed, mean, at="checkpoints"),
            "no pulls at its checkpoints: run simulate with record",
        ),
        (lambda: lone(others=[policies.UCB()]), "runs must be at least 2 for an interval"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# --- any criterion, from the same run -----------------------------------------------------------

EVERY = [
    criteria.mean(),
    criteria.minimum(),
    criteria.cvar(0.05),
    criteria.cvar(0.5),
    criteria.mean_variance(2.0),
    criteria.entropic_risk(5.0),
    criteria.rank_dependent_utility(),
]


@pytest.fixture(scope="module")
def with_pulls(listed):
    chosen = [policies.UCB(0.1), policies.BCVTS(0.2)]
    record = ("rewards", "arms", "pulls")
    return simulate(listed, chosen, 200, 3, 1, record=record, checkpoints=[20, 77, 200])


@pytest.mark.parametrize("criterion", EVERY, ids=lambda c: c.name)
def test_empirical_regret_of_any_criterion_from_the_recorded_rewards(with_pulls, listed, criterion):
    """The rewards are drawn again from the pulls; here they are compared with the record."""
    got = regret.criterion_regret(with_pulls, listed, criterion, "empirical", "checkpoints")
    for j, problem in enumerate(listed):
        best = criterion.of_problem(problem).max()
        for t in (20, 77, 200):
            rewards = with_pulls.rewards.sel(problem=j)[..., :t]
            expected = t * (best - np.apply_along_axis(criterion.of_sample, -1, rewards.values))
            at_t = got.sel(problem=j, checkpoint=t)
            np.testing.assert_allclose(at_t, expected, rtol=1e-9, atol=1e-9)
    last = regret.criterion_regret(with_pulls, listed, criterion, "empirical")
    np.testing.assert_array_equal(last, got.sel(checkpoint=200))


@pytest.mark.parametrize("criterion", EVERY, ids=lambda c: c.name)
def test_pseudo_regret_of_any_criterion_pull_by_pull(with_pulls, listed, criterion):
    got = regret.criterion_regret(with_pulls, listed, criterion, at="checkpoints")
    for j, problem in enumerate(listed):
        values = criterion.of_problem(problem)
        loss = (values.max() - values)[with_pulls.arms.sel(problem=j).values]
        for t in (20, 77, 200):
            at_t = got.sel(problem=j, checkpoint=t)
            np.testing.assert_allclose(at_t, loss[..., :t].sum(axis=-1), atol=1e-10)


def test_a_criterion_of_several_problems_at_once_is_that_of_each(listed):
    criterion = criteria.cvar(0.15)
    fresh = [problems.Problem(problem.arms) for problem in listed]  # which know no CVaR yet
    one_by_one = [criterion.of_problem(problem) for problem in fresh]
    np.testing.assert_allclose(criterion.of_problems(listed), one_by_one, atol=1e-14)


def test_a_criterion_that_forgets_a_problem_is_named(with_pulls, listed):
    criterion = criteria.Criterion("own", lambda p: p.means, np.mean, lambda ps: [ps[0].means])
    message = f"criterion 'own' must give a row for each of the {len(listed)} problems, got 1"
    with pytest.raises(ValueError, match=message):
        regret.criterion_regret(with_pulls, listed, criterion)


def test_mean_criterion_is_the_regret_of_the_simulation(with_pulls, listed):
    for kind, name in (("pseudo", "theoretical_regret"), ("empirical", "empirical_regret")):
        got = regret.criterion_regret(with_pulls, listed, criteria.mean(), kind, "checkpoints")
        np.testing.assert_allclose(got, with_pulls[name], atol=1e-9)


def test_criteria_of_a_law_and_of_its_whole_table_agree():
    problem = problems.Problem(battery.problem().arms[:2])
    table = np.stack([arm.values for arm in problem.arms])
    for criterion in EVERY:
        of_table = [criterion.of_sample(x) for x in table]
        np.testing.assert_allclose(criterion.of_problem(problem), of_table, atol=1e-9)


def test_checkpoint_pulls_end_in_the_pulls(with_pulls):
    np.testing.assert_array_equal(with_pulls.checkpoint_pulls[..., -1, :], with_pulls.pulls)
    totals = with_pulls.checkpoint_pulls.sum("arm")
    assert (totals == totals.checkpoint).all()


def test_compare_own_policy_with_all(listed):
    table = compare(policies.UCB(0.05, label="mine"), listed[0], 100, 5, 0)
    assert set(table["criterion"]) == {"mean", "CVaR 10%"}
    assert (table["policy"] == "mine").sum() == 2
    assert (table.loc[table["policy"] == "mine", "difference"] == 0).all()
    # The interval of a paired difference, by hand.
    chosen = [policies.UCB(0.05, label="mine"), policies.MIN()]
    final = simulate(listed[0], chosen, 100, 5, 0).theoretical_regret[..., -1].squeeze()
    pairs = (final[1] - final[0]).values
    row = table[(table["policy"] == "MIN") & (table["criterion"] == "mean")].iloc[0]
    assert row["difference"] == pytest.approx(pairs.mean())
    half = 2.776445 * pairs.std(ddof=1) / np.sqrt(5)
    assert row["high"] - row["difference"] == pytest.approx(half, rel=1e-6)


def test_risk_of_all_rewards_sees_switching():
    """Two constant arms: no pull bears a risk, but the rewards of a run vary by its switching."""
    problem = problems.Problem(arms.Empirical([[0.2], [0.6]]))
    result = simulate(problem, policies.ExploreThenCommit(0.5, m=50), 100, 2, 0)
    assert (regret.mean_variance_regret(result, problem, 0.0) == 0).all()
    empirical = regret.mean_variance_regret(result, problem, 0.0, "empirical")
    np.testing.assert_allclose(empirical, 100 * 0.04)


# --- tables of notebook 12, by hand -------------------------------------------------------------


@pytest.fixture(scope="module")
def duel():
    """Two constant arms: always the same pulls, so that every entry is known."""
    problem = problems.Problem(arms.Empirical([[0.2], [0.6]]))
    chosen = [policies.ExploreThenCommit(0.5, m=10), policies.SuccessiveElimination(0.5)]
    result = simulate(problem, chosen, 100, 3, 0, record="pulls", checkpoints=[20, 50, 100])
    return problem, chosen, result


def test_best_policies_by_hand(duel):
    problem, chosen, result = duel
    etc, elimination = (policy.name for policy in chosen)
    table = comparison.best_policies(result, problem, [(criteria.mean(), chosen)], [20, 100])
    # Ten pulls of the worse arm cost 4 at both times for ETC; 20 each are 4 for the other, then 20.
    assert table["regret"].tolist() == [4.0, 4.0]
    assert table["least regret"].tolist() == [etc, etc]
    assert table["it needs"].tolist() == ["T", "T"]
    assert table["within error"].tolist() == [elimination, "none"]


def test_stuck_wrong_and_growth_by_hand(duel):
    problem, chosen, result = duel
    etc, elimination = (p.name for p in chosen)
    wrong = comparison.wrong_runs(result, best=0)
    assert wrong[etc].startswith("3/3")  # 90 of 100 pulls at arm 1
    assert wrong[elimination].startswith("0/3")  # 50 to 50
    reversed_ = criteria.Criterion("least", lambda p: -p.means, lambda x: -x.mean())
    assert comparison.stuck_runs(result, [problem], reversed_, 20)[etc].startswith("3/3")
    assert comparison.stuck_runs(result, problem, criteria.mean(), 20)[etc].startswith("0/3")
    paths = regret.criterion_regret(result, problem, criteria.mean(), at="checkpoints")
    grown = comparison.growth(paths.squeeze("problem"), 20)
    assert grown.loc[etc].tolist() == pytest.approx([1, 0])
    assert grown.loc[elimination].tolist() == pytest.approx([5, 0])


def test_table_in_words(duel):
    problem, chosen, result = duel
    table = comparison.regret_table(result, problem, [criteria.mean()], chosen[0].name)
    words = comparison.in_words(table, pairs=True)
    assert words["mean"].tolist() == ["4.000 ± 0", "20.000 ± 0 (+16.000 to +16.000)"]


def test_table_in_words_rounds_to_the_error():
    row = {"criterion": "mean", "regret": 22061.4, "error": 1043.0, "low": -12.0, "high": 2150.0}
    small = row | {"regret": 0.123456, "error": 0.00123, "low": 0.01, "high": 0.02}
    table = pd.DataFrame([row | {"policy": "a"}, small | {"policy": "b"}])
    words = comparison.in_words(table, pairs=True)["mean"].tolist()
    assert words == ["22,100 ± 1,000 (+0 to +2,200)", "0.1235 ± 0.0012 (+0.0100 to +0.0200)"]


def test_part_of_a_result_has_the_tapes_of_the_whole():
    problems_ = [problems.Problem(arms.Uniform([0, 0.1 * j], [1, 0.9])) for j in (1, 2)]
    result = simulate(problems_, policies.UCB(), 50, 4, 1)
    whole = regret.criterion_regret(result, problems_, criteria.cvar(0.3), "empirical")
    for part, some in (
        ({"run": [2]}, problems_),
        ({"problem": [1]}, problems_[1:]),
        ({"problem": [1, 0], "run": [3, 1]}, problems_[::-1]),
    ):
        of_part = regret.criterion_regret(result.isel(part), some, criteria.cvar(0.3), "empirical")
        np.testing.assert_array_equal(of_part, whole.isel(part))
    with pytest.raises(ValueError, match=r"in the same order; number 0, .* has other means"):
        regret.criterion_regret(result, problems_[::-1], criteria.mean())
    with pytest.raises(ValueError, match="problems must be the 2 that were simulated, got 1"):
        regret.criterion_regret(result, problems_[:1], criteria.mean())


@pytest.fixture(scope="module")
def two_seeds():
    """Results of other seeds, one beyond 64 bits, with the rewards of every pull."""
    listed = problems.artificial(2, 3)
    chosen = [policies.UCB(0.1), policies.MIN()]
    return listed, [simulate(listed, chosen, 60, 3, s, record="rewards") for s in (1, 10**40)]


def concat(results, along, coords="different"):
    compat = "override" if coords == "minimal" else "equals"
    return xarray.concat(results, along, data_vars="all", coords=coords, compat=compat)


JOINS = {
    "runs": lambda results: concat(results, "run"),
    "renumbered": lambda results: concat(results, "run").assign_coords(run=range(6)),
    "unnumbered": lambda results: concat(results, "run").drop_vars("run"),
    "shuffled": lambda results: concat(results, "run").isel(run=[4, 0, 5]),
    "new dimension": lambda results: concat(results, "batch"),
    "problems": lambda results: concat(results, "problem"),
    "problems, renumbered": lambda x: concat(x, "problem").assign_coords(problem=range(4)),
    "policies": lambda results: concat(results, "policy"),
}


@pytest.mark.parametrize("join", JOINS)
def test_joined_results_keep_their_tapes(two_seeds, join, tmp_path):
    """The empirical CVaR regret of joined results, against the rewards that were recorded."""
    listed, results = two_seeds
    listed = listed * 2 if join.startswith("problems") else listed
    save_dataset(JOINS[join](results), tmp_path / "joined.nc")
    joined = load_dataset(tmp_path / "joined.nc")
    got = regret.cvar_regret(joined, listed, 0.1, "empirical")
    received = xarray.apply_ufunc(
        criteria.cvar(0.1).of_sample, joined.rewards, input_core_dims=[["step"]], vectorize=True
    )
    best = xarray.DataArray([p.cvars(0.1).max() for p in listed], dims="problem")
    np.testing.assert_allclose(got, (60 * (best - received)).transpose(*got.dims), atol=1e-9)


def test_rewards_of_another_tape_are_refused(two_seeds):
    listed, (one, two) = two_seeds
    other_law = [problems.Problem(arms.Bernoulli(p.means), stream=p.stream) for p in listed]
    for result, given, message in (
        (concat([one, two], "batch", "minimal"), listed, "'seed'.*stored 'empirical_regret'"),
        (concat([one, two], "problem", "minimal"), listed * 2, "stored 'empirical_regret'"),
        (one.assign_coords(seed=two.seed), listed, "stored 'empirical_regret'"),
        (one.assign_coords(number=one.number + 1), listed, "stored 'empirical_regret'"),
        (one, other_law, "problems must be those that were simulated"),
        (one.drop_vars("stream"), listed, "result must .* hold 'stream'"),
        (one.assign_coords(seed=("run", ["x"] * 3)), listed, "result must .* as 'seed'"),
    ):
        with pytest.raises(ValueError, match=message):
            regret.cvar_regret(result, given, 0.1, "empirical")


def test_error_counts_what_is_there():
    """The spread of 1, 2 and 4 is sqrt(7/3); over sqrt(3) it is .8819."""
    x = xarray.DataArray([[1, 2, np.nan, 4], [np.nan, 3, np.nan, np.nan], [np.nan] * 4],
                         dims=("policy", "run"))  # fmt: skip
    mean, error = regret.mean_and_error(x)
    np.testing.assert_allclose(mean, [7 / 3, 3, np.nan])
    np.testing.assert_allclose(error, [0.881917, np.nan, np.nan], rtol=1e-6)
    pairs = xarray.DataArray([[1, 2, np.nan, 4], [0, 4, 1, 5]], {"policy": ["a", "b"]},
                             ("policy", "run"))  # fmt: skip
    mean, error = regret.paired_difference(pairs, "a", "b")  # 1, -2, -1: mean -2/3, spread 1.5275
    assert (float(mean), float(error)) == pytest.approx((-2 / 3, 0.881917), rel=1e-6)


@pytest.mark.parametrize("arm", [-1, 20, 1.0, True])
def test_last_other_pull_of_an_arm_that_is_not_there(result, arm):
    with pytest.raises((TypeError, ValueError), match=r"arm must be a whole number in \[0, 19\]"):
        regret.last_other_pull(result, arm)


def test_criteria_of_one_name_are_refused():
    for twice in ([criteria.cvar(0.1), criteria.cvar("0.10")], [criteria.mean()] * 2):
        with pytest.raises(ValueError, match="criteria must have distinct names, got"):
            compare(policies.UCB(), problems.stuck(), 50, 3, 1, criteria=twice)


def test_compare_leaves_out_who_cannot_play_and_who_is_there_already():
    """With one reason for all of them."""
    problem = problems.Problem(arms.Uniform([-0.5, 0.0], [0.5, 1.0]))
    with pytest.warns(UserWarning, match="left out") as caught:
        table = compare(policies.MIN(), problem, 30, 2, 0)
    text = str(caught[0].message)
    assert text.count("needs rewards in [0, 1]") == 1
    assert all(name in text for name in ("U-UCB", "MOSS", "RA-UCB", "Thompson", "KL-UCB"))
    assert (table["policy"] == "MIN").sum() == 2
    assert "UCB(C=0.1)" in set(table["policy"])
    assert not table["policy"].str.startswith("U-UCB").any()


def test_the_reference_is_named_where_another_policy_ties_it():
    """A tie in all: differences of 0, but only one of the two is what is subtracted."""
    own = policies.UCBV(label="mine")
    others = [policies.UCBV(), policies.MIN()]
    table = compare(own, problems.stuck(), 100, 4, 1, others=others)
    part = table[table["criterion"] == "mean"]
    tied = part[part["policy"] == others[0].name].iloc[0]
    assert tied["difference"] == tied["low"] == tied["high"] == 0
    assert (table["reference"] == "mine").all()
    words = comparison.in_words(table, pairs=True)["mean"]
    assert "(+0" in words[others[0].name]
    assert "(" not in words["mine"]
    figure, axes = plt.subplots(1, 3)
    plots.comparison(axes[:2], table)
    assert [len(panel.lines) for panel in axes[:2]] == [3 * 3 + 1] * 2  # one row is shaded
    plots.paired_differences(axes[2], part)
    rows = [label.get_text() for label in axes[2].get_yticklabels()]
    assert rows == [others[0].name, "MIN"]
    assert axes[2].get_xlabel() == "regret less that of mine"
    with pytest.raises(ValueError, match="table must have one criterion"):
        plots.paired_differences(axes[2], table)
    plt.close(figure)


def test_names_stand_at_the_heights_of_the_ends():
    """On a logarithmic axis too: 1, 10 and 100 between 0.1 and 1,000 are a quarter apart."""
    figure, axis = plt.subplots()
    axis.set(yscale="log", ylim=(0.1, 1000))
    plots.label_ends(axis, [(100, "third", "k"), (1, "first", "k"), (10, "second", "k")])
    assert {text.get_text(): round(text.xy[1], 9) for text in axis.texts} == {
        "first": 0.25, "second": 0.5, "third": 0.75
    }  # fmt: skip
    plt.close(figure)


def test_bad_input_of_the_tables_is_named(duel):
    problem, chosen, result = duel
    mean, own = criteria.mean(), chosen[0].name
    one = result.isel(run=[0])
    stuck, best = comparison.stuck_runs, comparison.best_policies
    team = [(mean, chosen)]
    by_text = partial(compare, policies.MIN(), horizon=9, runs=2, seed=0, criteria=["mean"])
    for call, given, message in (
        (comparison.regret_table, (result, problem, [mean], own, "pseudo", 2), "level .*, got 2"),
        (stuck, (result, problem, mean, 100), r"early .* of \[20, 50, 100\], got 100"),
        (stuck, (result, problem, mean, 20, -1), "near must be .*, got -1"),
        (stuck, (result, [problem] * 2, mean, 20), "problems must be the 1 .*, got 2"),
        (best, (one, problem, team, [20]), "runs must be at least 2 .*, got 1"),
        (best, (result, problem, team, [21]), r"times .* of \[20, 50, 100\], got 21"),
        (comparison.wrong_runs, (result, 2), r"best must be .* \[0, 1\], got 2"),
        (by_text, (problem,), "criteria must be .*, got 'mean'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call(*given)
