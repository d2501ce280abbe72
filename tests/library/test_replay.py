"""A log replayed in its own order: pull by pull as its twin, and what a log that ends says."""

import naive
import numpy as np
import pytest

from marab_lib import Problem, arms, criteria, policies, regret, simulate

LOGS = np.random.default_rng(3).random((3, 60))


@pytest.mark.parametrize("run", [0, 2])
@pytest.mark.parametrize(
    ("policy", "twin", "options"),
    [
        (policies.MIN(), naive.MIN, {}),
        (policies.UCB(0.1), naive.UCB, {"C": 0.1}),
        (policies.MaRaB(0.2, 0.01), naive.MaRaB, {"alpha": 0.2, "C": 0.01}),
    ],
    ids=["MIN", "UCB", "MaRaB"],
)
def test_a_replay_agrees_with_its_twin_in_every_run(policy, twin, options, run):
    problem = Problem([arms.Replay(LOGS[0]), arms.Replay(LOGS[1:]), arms.Uniform(0, 0.4)])
    result = simulate(problem, policy, 60, 3, seed=8, record=("arms", "rewards"))
    expected = twin(problem, 8, run, 60, **options).play()
    assert result.arms[0, 0, run].values.tolist() == expected.played
    assert result.rewards[0, 0, run].values.tolist() == pytest.approx(expected.gains, abs=1e-15)
    for arm, log in enumerate(LOGS):
        mine = result.rewards[0, 0, run].values[np.array(expected.played) == arm]
        assert mine.tolist() == log[: mine.size].tolist()


def test_all_rewards_of_a_log_can_be_played_and_no_more():
    problem = Problem(arms.Replay([[0.5, 0.6], [0.7, 0.1]]), name="two days")
    uniform = policies.UCB(1e3)
    assert simulate(problem, uniform, 4, 2, 0).pulls.values.tolist() == [[[[2, 2], [2, 2]]]]
    wanted = (
        "arm 0 of 'two days' is a log of 2 rewards, and UCB(C=1000) asks for more of them "
        "within 5 pulls (run 0): use a shorter horizon, or arms.Empirical"
    )
    with pytest.raises(arms.UsedUp) as error:
        simulate(problem, [policies.UCB(1e3)], 5, 2, 0)
    assert wanted in str(error.value)


def test_the_error_names_the_policy_and_problem_that_met_the_end():
    """Where other policies, problems and laws that never end are played beside it."""
    bad = Problem([arms.Replay([0.9, 0.1, 0.1]), arms.Uniform(0.2, 0.3)], name="bad")
    good = Problem([arms.Replay([0.3] * 20), arms.Uniform(0.2, 0.3)], name="good")
    cautious, bold = policies.MIN(), policies.UCB(1e3)
    assert bad.lengths.tolist() == [3, np.inf]
    simulate([good, bad], cautious, 20, 2, 0)
    with pytest.raises(arms.UsedUp, match=r"arm 0 of 'bad' is a log of 3 .*UCB\(C=1000\)"):
        simulate([good, bad], [cautious, bold], 20, 2, 0)


def test_a_sample_of_a_log_is_its_beginning():
    law = arms.Replay(LOGS)
    np.testing.assert_array_equal(law.sample(40, seed=1, run=5), LOGS[:, :40])
    with pytest.raises(arms.UsedUp, match="n must be at most 60, the length of the log, got 61"):
        law.sample(61, seed=1)
    with pytest.raises(ValueError, match="values must list at least one realization"):
        arms.Replay([])


def test_what_is_known_of_a_log_is_that_of_all_its_rewards():
    law, same = arms.Replay(LOGS), arms.Empirical(LOGS)
    for known in ("mean", "var", "essential_infimum"):
        np.testing.assert_array_equal(getattr(law, known), getattr(same, known))
    np.testing.assert_array_equal(law.cvar(0.1), same.cvar(0.1))
    assert arms.make("Replay", LOGS[0]).mean == law.mean[0]
    assert law[1].sample(2, 0).tolist() == LOGS[1, :2].tolist()


def test_regrets_read_the_log_again():
    """The empirical kind draws the rewards again: for a log they are those of the file."""
    problem = Problem(arms.Replay(LOGS))
    result = simulate(problem, policies.UCB(), 50, 1, 4, record=("rewards",))
    got = regret.criterion_regret(result, problem, criteria.cvar(0.2), "empirical").item()
    cvar = criteria.cvar(0.2)
    best = cvar.of_problem(problem).max()
    assert got == pytest.approx(50 * (best - cvar.of_sample(result.rewards.values.ravel())))
