"""Section 5.2's statements: against cases made by hand, closed forms and slow twins; bad input."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray
from scipy import stats

from marab_lib import Problem, arms, policies, problems, regret, simulate
from marab_lib.paper import figures, interpretations, section_5_2_1, section_5_2_2
from marab_lib.paper.evidence import Evidence
from marab_lib.paper.rules import Below, Resamples
from marab_lib.simulation.chunks import by_chunks

NAMES = ["UCB", "MaRaB", "MV-LCB", "ExpExp"]


def made_up(values, horizons=(10, 20)):
    """A result with given regrets of shape (horizon, policy, problem, run)."""
    values = np.asarray(values, dtype=float)
    dims = ("horizon", "policy", "problem", "run")
    coordinates = {"horizon": list(horizons), "policy": NAMES}
    regrets = xarray.DataArray(values, coordinates, dims)
    return xarray.Dataset({"empirical_regret": regrets, "theoretical_regret": regrets})


@pytest.fixture(scope="module")
def listed():
    return problems.artificial(12, seed=3)


@pytest.fixture(scope="module")
def result(listed):
    return section_5_2_1.final_regrets(
        listed, section_5_2_1.figure_2_policies(), [300, 600], 3, seed=3
    )


def test_final_regrets_are_those_of_one_call_a_horizon(listed, result):
    for horizon in (300, 600):
        expected = simulate(listed, section_5_2_1.figure_2_policies(), horizon, 3, 3, checkpoints=1)
        for name in ("theoretical_regret", "empirical_regret"):
            np.testing.assert_array_equal(
                result[name].sel(horizon=horizon), expected[name].isel(checkpoint=-1)
            )
    np.testing.assert_array_equal(result.pulls, expected.pulls)
    assert result.policy.values.tolist() == NAMES


def test_uniform_regret_by_hand():
    problem = Problem(arms.Bernoulli([0.2, 0.6, 0.7]))
    assert section_5_2_1.uniform_regret([problem], 30) == pytest.approx([30 * (0.5 + 0.1) / 3])


def test_shares_by_hand():
    # Sorted: ExpExp 1 2 3 4 against UCB 2 3 3 3: below at the first two ranks of four.
    # Paired, problem by problem: 4 < 2, 1 < 3, 2 < 3, 3 < 3: two of four.
    one_horizon = [[2, 3, 3, 3], [0, 0, 0, 9], [9, 9, 9, 9], [4, 1, 2, 3]]
    values = np.repeat(np.array([one_horizon, one_horizon])[..., None], 2, axis=-1)
    table = section_5_2_1.regret_statements(made_up(values), resamples=50).frame()
    assert table.loc["ExpExp < UCB at 10, sorted", "value"] == 0.5
    assert table.loc["ExpExp < UCB at 10, paired", "value"] == 0.5
    assert table.loc["MaRaB < ExpExp at 20, sorted", "value"] == 0.75
    assert table.loc["MaRaB < ExpExp at 20, paired", "value"] == 0.75
    assert table.loc["MaRaB - UCB at 10", "value"] == pytest.approx(9 / 4 - 11 / 4)
    assert table.loc["MV-LCB worst at 10", "verdict"] == "holds"
    assert table.loc["UCB best at 10", "value"] == pytest.approx(min(9, 36, 10) / 4 - 11 / 4)
    ranked = table[table.index.str.startswith("order kept")]  # means 0... of MaRaB 9/4, ExpExp 10/4
    assert ranked["value"].tolist() == pytest.approx([1 / 4, 1 / 4, 25 / 4])
    assert table.loc["MaRaB - UCB ratio", "value"] == 1
    assert table.loc["ExpExp < UCB at 20, sorted", "holds if"] == "0.15 to 0.25"
    assert table.loc["MaRaB - UCB slight at 10", "paper"] == pytest.approx(35, abs=0.1)


def test_order_that_is_turned_round():
    first = np.broadcast_to(np.arange(4.0)[:, None, None], (4, 4, 1))
    table = section_5_2_1.regret_statements(made_up([first, first[::-1]]), resamples=20).frame()
    ranked = table[table.index.str.startswith("order kept")]
    assert (ranked[["value", "low", "high"]] == -1).all(axis=None)
    assert (ranked["verdict"] == "does not hold").all()
    assert table.loc["MV-LCB worst at 10", "verdict"] == "does not hold"


def test_intervals_cover_the_truth():
    """95 % intervals of a mean difference over 60 problems: 400 of them, 4.5 sd of the binomial.

    The percentile interval of a mean of 60 covers a little less than it says, about 94 %.
    """
    rng = np.random.default_rng(5)
    covered = 0
    for k in range(400):
        draws = Resamples(60, 0.95, 300, k)
        values = draws.mean(rng.normal(1.0, 1.0, 60))
        estimate = draws.finding("mean", "", values, Below(1)).estimate
        covered += estimate.low < 1.0 < estimate.high
    assert abs(covered / 400 - 0.94) < 4.5 * np.sqrt(0.94 * 0.06 / 400)


def test_resamples_by_counts_are_those_by_places():
    draws = Resamples(30, 0.95, 20, 1)
    values = np.random.default_rng(6).normal(size=(2, 3, 30)).round(1)  # with equal ones
    means = [values[..., d].mean(axis=-1) for d in draws.drawn]
    np.testing.assert_allclose(draws.mean(values), np.stack(means, axis=-1), rtol=1e-12)
    ordered = draws.each_sorted(values, lambda x: x)
    assert (ordered == draws.each(values, lambda x: np.sort(x, axis=-1))).all()


def test_settings_of_marab_and_mv_lcb(listed, result):
    extra = section_5_2_1.extra_policies([1e-6, 1e3], [0.01, 0.2, 0.5], [1.0, 2.0])
    settings = section_5_2_1.final_regrets(listed, extra, [300], 2, seed=3)
    table = section_5_2_1.regret_statements(result, settings, resamples=50).frame()
    mean = settings.empirical_regret.sel(horizon=300).mean(["run", "problem"])
    names = [f"MaRaB(alpha={a:g}, C=1e-06)" for a in (0.01, 0.2, 0.5)]
    falls = -np.diff(mean.sel(policy=names))
    assert table.loc["MaRaB falls with alpha", "value"] == pytest.approx(falls.min())
    over_c = [[f"{p}{C})" for C in ("1e-06", "1000")] for p in ("MaRaB(alpha=0.2, C=", "UCB(C=")]
    marab, ucb = (mean.sel(policy=names).values for names in over_c)
    apart = np.ptp(marab) - np.ptp(ucb)
    assert table.loc["MaRaB any C", "value"] == pytest.approx(apart)
    exp_exp = float(result.empirical_regret.sel(horizon=300, policy="ExpExp").mean())
    assert table.loc["MaRaB's place, any C", "value"] == pytest.approx(marab.max() - exp_exp)
    assert "MV-LCB's place, any rho" in table.index


def test_a_curve_that_leaves_the_panel_is_named_where_it_does():
    figure, axis = plt.subplots()
    axis.set(xlim=(0, 4), ylim=(0, 10))
    curves = {"UCB": np.array([1.0, 2, 3, 4]), "MIN": np.array([1.0, 11, 12, 13])}
    figures.name_ends(axis, curves, {})
    assert {text.get_text(): text.xy for text in axis.texts} == {"MIN": (1, 10), "UCB": (1, 0.4)}
    plt.close(figure)


def test_printed_curves_have_the_means_of_the_figure():
    means = {name: interpretations.printed_curve(name, "b").mean() for name in NAMES}
    assert sorted(means, key=means.get) == ["UCB", "ExpExp", "MaRaB", "MV-LCB"]
    assert means["UCB"] == pytest.approx(90.8, abs=0.1)


def test_tuned_ucb_is_the_best_of_the_grid():
    evidence = Evidence(n_problems=20)
    tuned = section_5_2_1.tuned_ucb(evidence)
    assert tuned.C == 0.1  # as notebook 07 finds on the same problems


def test_goal_and_learning_of_known_arms():
    """Arm 0 has the better mean, arm 1 the better CVaR; constant rewards leave nothing to learn."""
    problem = Problem([arms.Uniform(0.0, 1.0), arms.Uniform(0.4, 0.5)])
    played = section_5_2_1.final_regrets(
        [problem] * 2, section_5_2_1.figure_2_policies(), [400, 800], 5, seed=1
    )
    parts = section_5_2_1.goal_and_learning(played, [problem] * 2, alpha=0.2)
    np.testing.assert_allclose(parts.goal.sel(horizon=400), 400 * 0.05)
    np.testing.assert_allclose(parts.goal + parts.learning, parts.total)
    # CVaR at 20 %: .1 and .41; only pulls of arm 0 cost.
    pulls = played.pulls.sel(policy="MaRaB").mean("run")
    np.testing.assert_allclose(parts.cvar_regret, 0.31 * pulls.sel(arm=0))
    assert not parts.same_arm.any()


def test_tuning_finds_the_better_of_two(listed):
    table = section_5_2_1.tune([policies.UCB(1e3), policies.UCB(0.01)], listed, 500, 2, seed=1)
    assert table.index[0] == "UCB(C=0.01)"
    assert (table["standard error"] > 0).all()


def test_equal_candidates_keep_their_order(listed):
    """Sorts for newer processors keep none; this many equal values show it."""
    candidates = [policies.MIN(label=f"MIN {i}") for i in range(40)]
    table = section_5_2_1.tune(candidates, listed[:2], 50, runs=1, seed=1)
    assert table.index.tolist() == [p.name for p in candidates]


def test_representative_problems_follow_the_rule(listed):
    variances = [problem.variances[problem.best_arm] for problem in listed]
    found = section_5_2_2.representative_problems(listed, [0, 0.5, 1])
    assert found[0] == np.argmin(variances)
    assert found[2] == np.argmax(variances)
    assert abs(variances[found[1]] - np.median(variances)) == min(
        abs(np.array(variances) - np.median(variances))
    )


def test_chunks_give_what_one_call_gives(listed):
    chosen = [policies.MIN(), policies.ExpExp()]

    def keep(part, of):
        assert part.sizes["problem"] == len(of)
        return part[["rewards", "pulls"]]

    whole = simulate(listed, chosen, 200, 2, 9, record=("rewards",))
    for size in (1, 5, 50):
        parts = by_chunks(listed, chosen, 200, 2, 9, keep, size=size, record=("rewards",))
        for name in ("rewards", "pulls"):
            np.testing.assert_array_equal(parts[name].transpose(*whole[name].dims), whole[name])


def test_chunks_of_problems_without_streams():
    plain = [Problem(arms.Uniform([0.0, 0.1], 1.0)) for _ in range(3)]
    whole = simulate(plain, policies.MIN(), 50, 2, 9, record="rewards")
    parts = by_chunks(plain, [policies.MIN()], 50, 2, 9, lambda part, _: part[["rewards"]], size=2)
    np.testing.assert_array_equal(parts.rewards.transpose(*whole.rewards.dims), whole.rewards)


@pytest.fixture(scope="module")
def rewards(listed):
    groups = section_5_2_2.figure_3_policies()
    every = list(itertools.chain(*groups.values()))
    played = simulate(listed, every, 200, 3, 3, record=("rewards", "arms"), checkpoints=1)
    tau = int(policies.ExpExp().parameters(20, 200)[1])
    return groups, played, tau, section_5_2_2.reward_summary(groups, tau)(played, listed)


def test_summary_against_a_slow_twin(listed, rewards):
    _, played, tau, summary = rewards
    for policy in ("UCB(C=1)", "ExpExp(rho=2)"):
        for j in (0, 7):
            tails, first, late_best = [], 0, 0
            for run in range(3):
                at = played.sel(policy=policy, problem=j, run=run)
                x, i = at.rewards.values, at.arms.values
                tails.append(sorted(x)[200 // 10 - 1])  # level 10 %: rank 20
                for step in sorted(range(200), key=lambda s, x=x: x[s])[:10]:
                    first += step < 20
                    late_best += step >= tau and i[step] == listed[j].best_arm
            at = summary.sel(policy=policy, problem=j)
            assert at["quantile"].sel(level=0.1).item() == pytest.approx(np.mean(tails))
            assert at.origin.sel(phase="first").sum().item() == pytest.approx(first / 30)
            assert at.origin.sel(phase="late", arm="best").item() == pytest.approx(late_best / 30)
    np.testing.assert_allclose(summary.origin.sum(["phase", "arm"]), 1)
    table = section_5_2_2.origin_table(summary.origin.mean("problem"))
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert table.columns[0] == "first, best arm"


def test_distance_between_settings_is_the_largest_of_the_pairs(rewards):
    groups, played, _, summary = rewards
    ordered = regret.sorted_rewards(played).mean("run")
    a, b, c = (ordered.sel(policy=p.name) for p in groups["UCB"])
    pairs = [abs(x - y).mean("rank") for x, y in ((a, b), (a, c), (b, c))]
    np.testing.assert_allclose(summary.change.sel(family="UCB"), np.max(pairs, axis=0))


def test_reward_statements(rewards):
    summary = rewards[3]
    table = section_5_2_2.reward_statements(summary, resamples=50).frame()
    tails = summary["quantile"].sel(level=0.05)
    gap = tails.sel(policy="MaRaB(alpha=0.2, C=1e-06)") - tails.sel(policy="ExpExp(rho=2)")
    key = "MaRaB(alpha=0.2, C=1e-06) v_0.05"
    assert table.loc[key, "value"] == pytest.approx(float(gap.mean()))
    assert table.loc[f"{key} share", "value"] == pytest.approx(float((gap > 0).mean()))
    expected = stats.spearmanr(summary.change.sel(family="UCB"), summary.variance).statistic
    assert table.loc["UCB, C and variance", "value"] == pytest.approx(expected)


def test_tail_gain_by_hand(rewards):
    evidence = Evidence()
    evidence.made[section_5_2_2.rewards] = section_5_2_2.Rewards(rewards[3], resamples=5)
    found = section_5_2_2.explores_less.found(evidence)
    tails = rewards[3]["quantile"].sel(level=0.1)
    gap = tails.sel(policy="MaRaB(alpha=0.2, C=1e-06)") - tails.sel(policy="MV-LCB(rho=2)")
    assert found[3].text == "v_0.1 of MaRaB (20 %) - that of MV-LCB(rho=2)"
    assert found[3].estimate.value == pytest.approx(float(gap.mean()))


def test_tables_of_the_two_problems(rewards):
    groups, played, *_ = rewards
    ordered = regret.sorted_rewards(played).isel(problem=[0, 1])
    table = section_5_2_2.tail_differences(ordered, groups["MaRaB"])
    x = ordered.sel(rank=10, problem=0)  # level 5 % of 200
    d = x.sel(policy="MaRaB(alpha=0.2, C=1e-06)") - x.sel(policy="ExpExp(rho=2)")
    shown = table.loc[[("MaRaB(alpha=0.2, C=1e-06)", 0)], "5%"].item()
    assert shown == f"{float(d.mean()):+.3f} ± {float(d.std(ddof=1)) / 3**0.5:.3f}"
    changes = section_5_2_2.change_intervals(ordered, groups, resamples=50)
    assert (changes["low"] <= changes["high"]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "x"}, "kind must be one of 'empirical'"),
        ({"confidence": 1}, r"confidence must be a number in \(0, 1\), got 1"),
        ({"resamples": 0}, "resamples must be a whole number >= 1, got 0"),
    ],
)
def test_bad_arguments_are_named(result, change, message):
    with pytest.raises(ValueError, match=message):
        section_5_2_1.regret_statements(result, **change)


def test_bad_results_are_named(listed, result):
    with pytest.raises(ValueError, match=r"result must hold the policy 'ExpExp', got \['UCB'"):
        section_5_2_1.regret_statements(result.sel(policy=NAMES[:3]))
    with pytest.raises(ValueError, match=r"result must hold two horizons, got \[300\]"):
        section_5_2_1.regret_statements(result.sel(horizon=[300]))
    with pytest.raises(ValueError, match="problems must be at least 2 for an interval, got 1"):
        section_5_2_1.regret_statements(result.isel(problem=[0]))
    with pytest.raises(ValueError, match="size must be a whole number >= 1, got 0"):
        by_chunks(listed, [policies.MIN()], 50, 1, 0, lambda *_: None, size=0)
    with pytest.raises(ValueError, match=r"shares must be a number in \[0, 1\], got 2"):
        section_5_2_2.representative_problems(listed, [2])
