"""Regrets and summaries against the records of single pulls."""

from __future__ import annotations

import numpy as np
import pytest

from marab_lib import policies, problems, regret, simulate


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


def test_cvar_regret_pull_by_pull(result, listed):
    got = regret.cvar_regret(result, listed, 0.1)
    for j, problem in enumerate(listed):
        loss = problem.cvars(0.1).max() - problem.cvars(0.1)
        expected = loss[result.arms.values[:, j]].sum(axis=-1)
        np.testing.assert_allclose(got.sel(problem=j), expected, atol=1e-10)


def test_mean_variance_regret_pull_by_pull(result, listed):
    got = regret.mean_variance_regret(result, listed, 2.0)
    for j, problem in enumerate(listed):
        loss = problem.mean_variances(2.0) - problem.mean_variances(2.0).min()
        expected = loss[result.arms.values[:, j]].sum(axis=-1)
        np.testing.assert_allclose(got.sel(problem=j), expected, atol=1e-10)


def test_pull_share_sums_to_one(result):
    np.testing.assert_allclose(regret.pull_share(result).sum("arm"), 1)


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


def test_bad_input_is_named(listed):
    plain = simulate(listed, policies.MIN(), 50, 1, 1)
    with pytest.raises(ValueError, match="result holds no 'rewards': run simulate with record"):
        regret.sorted_rewards(plain)
    with pytest.raises(ValueError, match="problems must be the 2 that were simulated, got 1"):
        regret.cvar_regret(plain, listed[:1], 0.1)
    with pytest.raises(ValueError, match="over must span at least 2 repetitions"):
        regret.mean_and_error(plain.theoretical_regret)
    with pytest.raises(ValueError, match="average must be one of 'after', 'before', got 'x'"):
        regret.sorted_rewards(plain, average="x")
