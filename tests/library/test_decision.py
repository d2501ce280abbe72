"""Which arm and which policy: by hand where that is possible, and against the simulation."""

import numpy as np
import pandas as pd
import pytest

from marab_lib import arms, criteria, decision, own_data, policies, regret, risk, simulate

SKEW = own_data.from_table(
    pd.DataFrame({"safe": [3.0, 4, 3, 4, 3, 4], "wild": [0.0, 9, 9, 9, 9, 9]})
)
TEAM = [policies.UCB(1e3), policies.MaRaB(0.2), policies.MIN(), policies.ThompsonSampling()]
MEAN, CVAR = decision.aim("mean"), decision.aim("cvar:0.1")


def test_the_best_arms_and_their_rivals():
    """By the mean "wild", by the lowest tenth and the minimum "safe"."""
    judged = SKEW.judge([MEAN, CVAR, criteria.minimum()], 400, seed=1)
    best = decision.best_arms(judged)
    assert best["arm"].tolist() == ["wild", "safe", "safe"]
    assert best["next"].tolist() == ["safe", "wild", "wild"]
    assert best["value"].tolist() == [7.5, 3.0, 3.0]
    np.testing.assert_allclose(best["best"] + best["share"], 1)


def test_the_first_of_equal_arms_is_named_whatever_their_rounding():
    equal = own_data.from_table(pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}))
    best = decision.best_arms(equal.judge([MEAN], 100))
    assert best[["arm", "next"]].to_numpy().tolist() == [["a", "b"]]


def test_the_decision_is_that_of_the_regrets():
    found = decision.decide(SKEW, CVAR, 200, 30, 5, TEAM)
    regrets = found.regrets
    assert regrets["regret"].is_monotonic_increasing
    assert regrets["policy"].tolist()[:2] == [found.first.name, found.second.name]
    assert (regrets["reference"] == found.first.name).all()
    assert found.result.policy.values.tolist() == regrets["policy"].tolist()
    again = simulate(SKEW.problem(), [found.first, found.second], 200, 30, 6)
    lost = regret.cvar_regret(again, SKEW.problem(), 0.1).squeeze("problem")
    more, error = regret.paired_difference(lost, found.second.name, found.first.name)
    assert found.more == pytest.approx(float(more) * 9 / 200)
    assert found.error == pytest.approx(float(error) * 9 / 200)


def test_a_decision_in_words():
    found = decision.decide(SKEW, CVAR, 200, 30, 5, TEAM)
    said = {
        (0.5, 0.1): "A is the one to use, and B, the next, loses 0.5 ± 0.1 a pull more",
        (-0.5, 0.1): "B is the one to use, and A, the next, loses 0.5 ± 0.1 a pull more",
        (0.15, 0.1): "A and B are not told apart (they differ by 0.15 ± 0.1 a pull)",
        (0.0, 0.0): "A and B are not told apart (they differ by 0 ± 0 a pull)",
    }
    for (more, error), text in said.items():
        names = {"first": policies.MIN(label="A"), "second": policies.MIN(label="B")}
        same = decision.Decision(
            SKEW, CVAR, found.result, found.regrets, **names, more=more, error=error
        )
        assert str(same) == text


def test_those_not_told_from_the_first():
    found = decision.decide(SKEW, CVAR, 200, 30, 5, TEAM)
    low = found.regrets.set_index("policy")["low"]
    assert set(found.equals) == {n for n in low.index[1:] if low[n] <= 1e-9}


@pytest.mark.parametrize(("team", "runs"), [([], 5), ([policies.MIN()], 5), (TEAM, 1)])
def test_what_no_decision_can_be_made_of(team, runs):
    with pytest.raises(ValueError, match=r"team must hold at least|runs must be"):
        decision.decide(SKEW, MEAN, 100, runs, 0, team)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 0}, r"horizon must be a whole number in \[2, 2147483647\], got 0"),
        ({"horizon": "x"}, "horizon must be a whole number in .*, got 'x'"),
        ({"horizon": 10**400}, "horizon must be a whole number in "),
        ({"seed": np.random.default_rng(0)}, "seed must be a whole number >= 0, got Generator"),
        ({"criterion": "mean"}, "criterion must be a Criterion such as .*, got 'mean'"),
        ({"rewards": {"a": [1, 2]}}, "rewards must be Rewards of own_data, got {'a'"),
        ({"team": policies.MIN()}, "team must hold at least 2 policies, got 1"),
        ({"team": 5}, "team must be Policy objects such as .*, got 5"),
        ({"team": [policies.MIN(), policies.MIN()]}, "team must have distinct names, got 'MIN'"),
    ],
)
def test_a_bad_argument_of_a_decision_is_named(change, message):
    given = {"rewards": SKEW, "criterion": MEAN, "horizon": 50, "runs": 4, "seed": 0, "team": TEAM}
    with pytest.raises((TypeError, ValueError), match=message):
        decision.decide(**(given | change))


@pytest.mark.parametrize("text", [5, None, "", "min", "mean:0.1"])
def test_what_is_no_aim_is_shown(text):
    with pytest.raises(ValueError, match=f"aim must be 'mean', .*, got {text!r}$"):
        decision.aim(text)


def test_a_result_of_several_runs_and_problems_has_no_earnings():
    result = simulate([SKEW.problem()] * 2, TEAM[2], 20, 3, 0, record=("rewards",))
    with pytest.raises(ValueError, match="result must have one problem for over='run', got 2"):
        decision.earned(SKEW, result, 0.1)


def test_what_was_earned_by_hand():
    result = simulate(SKEW.problem(), TEAM, 50, 8, 3, record=("rewards",))
    table = decision.earned(SKEW, result, 0.1).set_index(["measure", "policy"])
    x = SKEW.in_unit(result.rewards.sel(policy="MIN").values[0])
    measures = {"mean": x.mean(1), "CVaR 10%": risk.cvar(x, 0.1, "split"), "worst": x.min(1)}
    for measure, values in measures.items():
        row = table.loc[(measure, "MIN")]
        assert row["value"] == pytest.approx(values.mean())
        assert row["error"] == pytest.approx(values.std(ddof=1) / np.sqrt(8))
    np.testing.assert_allclose(
        50 * 7.5 - 50 * table.loc["mean", "value"],
        9 * result.empirical_regret.isel(problem=0, checkpoint=-1).mean("run"),
    )


def replayed(policy, problems, horizon: int) -> tuple[float, float]:
    row = decision.replayed(SKEW, [policy], problems, horizon, 0).loc[policy.name]
    assert row["ended"] == ""
    return row["value"], row["error"]


def test_a_replay_gives_the_mean_of_the_file_where_all_is_played():
    """Twelve pulls are all rewards of two columns of six, if each policy is told to share them."""
    uniform = policies.UCB(1e3)
    assert replayed(uniform, SKEW.replay(), 12) == (pytest.approx(5.5), 0)
    assert replayed(uniform, SKEW.shuffled(5, seed=1), 12) == (pytest.approx(5.5), 0)


def test_a_replay_of_another_order_is_another_number():
    own = replayed(policies.MIN(), SKEW.replay(), 5)
    mean, error = replayed(policies.MIN(), SKEW.shuffled(50, seed=1), 5)
    # In the file's order MIN sees 3 and 0 first, and keeps to "safe": 3, 0, 4, 3, 4.
    assert own == (pytest.approx(14 / 5), 0)
    assert mean > own[0] + 2 * error


def test_a_column_that_is_used_up_is_said_of_each_policy_alone():
    table = decision.replayed(SKEW, [policies.MIN(), policies.UCB(1e3)], SKEW.replay(), 12, 0)
    wanted = "problems: arm 0 of 'replay' is a log of 6 rewards, and MIN asks"
    assert table.loc["MIN", "ended"].startswith(wanted)
    assert np.isnan(table.loc["MIN", ["value", "error"]].astype(float)).all()
    assert table.iloc[1].tolist() == [pytest.approx(5.5), 0, ""]


def test_a_replay_hides_no_other_error():
    with pytest.raises(ValueError, match="horizon must be") as error:
        decision.replayed(SKEW, TEAM, SKEW.replay(), 1, 0)
    assert not isinstance(error.value, arms.UsedUp)
