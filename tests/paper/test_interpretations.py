"""The search for the reading of figure 2: its distances, its choices, and the saved result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray

from marab_lib import policies, problems, simulate
from marab_lib.paper import data, interpretations, section_5_2_1


@pytest.fixture(scope="module")
def saved():
    return data.read_csv("readings.csv")


def test_printed_curve_goes_through_what_was_read_off():
    table = data.published_curves(2, "a")
    part = table[table["policy"] == "MaRaB"]
    curve = interpretations.printed_curve("MaRaB")
    assert curve.shape == (1000,)
    np.testing.assert_allclose(curve[part["x"].astype(int)], part["y"])
    assert (np.diff(curve) >= 0).all()
    with pytest.raises(ValueError, match="curve must be one of 'UCB'"):
        interpretations.printed_curve("MIN")


def test_compare_by_hand():
    line = np.arange(1000.0)
    found = interpretations.compare(np.stack([line + 1, line - 3]), line)
    assert found["distance"] == pytest.approx(1)
    assert found["bias"] == found["low"] == found["middle"] == found["high"] == pytest.approx(-1)
    assert found["pair"] == found["floor"] == found["floor_max"] == pytest.approx(4)
    assert "floor" not in interpretations.compare(line[None], line)


def test_compare_takes_other_numbers_of_problems():
    # 100 regrets at the centres of the ranks of 1,000: the same curve but for its ends.
    line = np.arange(1000.0)
    few = np.arange(100) * 10 + 4.5
    assert interpretations.compare(few[None], line)["distance"] < 0.05


def test_beside_printed_by_hand():
    printed = interpretations.printed_curve("UCB", "b")
    shape = ("horizon", "policy", "problem", "run")
    regrets = np.stack([printed[::-1] + 1, printed + 3], axis=-1)[None, None]
    result = xarray.Dataset({"empirical_regret": (shape, regrets)}).assign_coords(
        horizon=[4000], policy=["own"], title=("policy", ["UCB"])
    )
    row = interpretations.beside_printed(result, {2000: "a", 4000: "b"}).loc[(4000, "own")]
    assert row["paper"] == pytest.approx(printed.mean())
    assert row["ours"] == pytest.approx(printed.mean() + 2)
    assert row["standard error"] == pytest.approx(
        ((printed + printed[::-1]) / 2).std(ddof=1) / 1000**0.5
    )
    assert row["distance"] == pytest.approx(1)
    assert row["noise alone"] == interpretations.yardstick("UCB", panel="b") * 2**0.5
    assert interpretations.beside_printed(result, {2000: "a"}).empty


def test_yardstick_falls_as_one_over_the_root():
    for curve in interpretations.CURVES:
        ratio = interpretations.yardstick(curve, 250) / interpretations.yardstick(curve, 1000)
        assert 1.6 < ratio < 2.4  # 2 in the limit


def test_default_reading_comes_first():
    name, options = next(iter(interpretations.generators().items()))
    used = problems.artificial(2, 0)[1]
    same = problems.artificial(2, 0, **options)[1]
    np.testing.assert_array_equal(used.means, same.means)
    assert "against" not in name
    firsts = {curve: next(iter(rules.values())) for curve, rules in interpretations.rules().items()}
    assert {c: repr(p).split("label")[0] for c, p in firsts.items()} == {
        p.name: repr(p).split("label")[0] for p in section_5_2_1.figure_2_policies()
    }


def test_every_reading_is_one_of_its_own():
    for rules in interpretations.rules().values():
        keys = {(p.identity(), p.parameters(20, 2000)) for p in rules.values()}
        assert len(keys) == len(rules)
    generated = [
        tuple(problems.artificial(1, 0, **o)[0].means)
        for o in interpretations.generators().values()
    ]
    assert len(set(generated)) == len(generated)


def test_sorted_curves_are_sorted_means_of_runs():
    rules = list(interpretations.rules()["UCB"].values())[:2]
    curves = interpretations.sorted_curves(rules, {"n_gaussians": 4}, 5, 2, 7, runs=3, horizon=100)
    assert curves.shape == (2, 2, 5)
    result = simulate(problems.artificial(5, 8, n_gaussians=4), rules, 100, 3, 8, checkpoints=1)
    expected = np.sort(result.empirical_regret.mean("run").values[1, :, -1])
    np.testing.assert_allclose(curves[1, 1], expected)


def test_a_search_finds_the_reading_that_made_the_curves(monkeypatch):
    """Curves of a known reading in place of the printed ones: it must come out best and remain.

    With 300 problems each; the seeds are fixed and none of them is used twice.
    """
    name = "equal, variance, 1-4"
    wanted = [("UCB", "as printed"), ("ExpExp", "choosing anew")]
    rules = [interpretations.rules()[curve][rule] for curve, rule in wanted]
    made = interpretations.sorted_curves(rules, interpretations.generators()[name], 1000, 1, 4242)[
        0
    ]
    pretended = dict(zip([curve for curve, _ in wanted], made, strict=True))
    monkeypatch.setattr(interpretations, "printed_curve", lambda curve, panel: pretended[curve])
    every = [("UCB", "as printed"), ("ExpExp", "as printed"), ("ExpExp", "choosing anew")]
    tried = [name, "dirichlet, sd, 1-4", "equal, sd, 4"]
    table = interpretations.confirm([(g, every) for g in tried], 300, 4, 99)
    table = table.set_index(["generator", "curve", "rule"])
    for curve, rule in wanted:
        own = table.xs(curve, level="curve")
        assert own["distance"].idxmin() == (name, rule)
        assert own.loc[(name, rule), "verdict"] != "excluded"
    assert table.loc[("dirichlet, sd, 1-4", "ExpExp", "as printed"), "verdict"] == "excluded"


def test_joint_takes_the_best_rule_of_each_curve():
    rows = [
        ("a", "UCB", "x", 3.0), ("a", "UCB", "y", 2.0), ("a", "MaRaB", "x", 4.0),
        ("a", "MV-LCB", "x", 5.0), ("a", "ExpExp", "x", 6.0),
        ("b", "UCB", "x", 1.0), ("b", "MaRaB", "x", 1.0), ("b", "MV-LCB", "x", 1.0),
        ("b", "ExpExp", "x", 1.0),
    ]  # fmt: skip
    table = interpretations.joint(
        pd.DataFrame(rows, columns=["generator", "curve", "rule", "distance"])
    )
    assert table.index.tolist() == ["b", "a"]
    assert table.loc["a", "UCB"] == 2
    assert table.loc["a", "UCB rule"] == "y"
    expected = sum(
        d / interpretations.yardstick(c)
        for c, d in zip(interpretations.CURVES, (2, 4, 5, 6), strict=True)
    )
    assert table.loc["a", "total"] == pytest.approx(expected)


def test_saved_result_holds_every_reading(saved):
    screened = saved[saved["stage"] == "screen"]
    named = {(c, r) for c, rules in interpretations.rules().items() for r in rules}
    assert {*zip(screened["curve"], screened["rule"], strict=True)} == named
    assert {*screened["generator"]} == {*interpretations.generators()}
    assert len(screened) == len(named) * len(interpretations.generators())
    assert not screened.duplicated(["curve", "generator", "rule"]).any()


def test_saved_result_can_be_made_again(saved):
    """One reading of each stage anew: a part of the second, the first to its last digit."""
    row = saved[(saved["stage"] == "confirm") & (saved["curve"] == "ExpExp")].iloc[0]
    policy = interpretations.rules()["ExpExp"][row["rule"]]
    curves = interpretations.sorted_curves(
        [policy], interpretations.generators()[row["generator"]], row["problems"], 2, row["seed"]
    )
    two = interpretations.compare(curves[:, 0], interpretations.printed_curve("ExpExp"))
    # Two of its ten repetitions: within the scatter of repetitions, by the triangle inequality.
    assert abs(two["distance"] - row["distance"]) <= 2 * row["floor_max"]
    screened = saved[(saved["stage"] == "screen") & (saved["curve"] == "ExpExp")].iloc[0]
    curve = interpretations.sorted_curves(
        [interpretations.rules()["ExpExp"][screened["rule"]]],
        interpretations.generators()[screened["generator"]],
        screened["problems"], 1, screened["seed"],
    )  # fmt: skip
    again = interpretations.compare(curve[:, 0], interpretations.printed_curve("ExpExp"))
    for name in ("distance", "bias", "low", "middle", "high"):
        assert again[name] == pytest.approx(screened[name], abs=6e-4)


def test_saved_verdicts_follow_the_rule(saved):
    confirmed = saved[saved["stage"] == "confirm"]
    ratio = confirmed["distance"] / confirmed["floor_max"]
    np.testing.assert_array_equal(confirmed["verdict"] == "remains", ratio <= 1)
    np.testing.assert_array_equal(confirmed["verdict"] == "excluded", ratio > 2)


def test_finalists_keep_what_they_should(saved):
    chosen = interpretations.finalists(saved[saved["stage"] == "screen"])
    assert chosen[0][0] == next(iter(interpretations.generators()))
    assert sum("against" in generator for generator, _ in chosen) == 2
    for _, named in chosen:
        assert {curve for curve, _ in named} == set(interpretations.CURVES)
        assert ("MaRaB", "as printed") in named
    confirmed = saved[saved["stage"] == "confirm"]
    assert list(dict.fromkeys(confirmed["generator"])) == [generator for generator, _ in chosen]


def test_the_command_writes_a_whole_file(tmp_path, capsys):
    path = tmp_path / "readings.csv"
    interpretations.main(
        ["--out", str(path), "--problems", "8", "--screen-problems", "3", "--repetitions", "2"]
    )
    table = pd.read_csv(path)
    assert {*table["stage"]} == {
        "screen", "confirm", "runs", "out of sample", "open", "open, confirmed"
    }  # fmt: skip
    by_stage = table.groupby("stage")["panel"].unique().map(set)
    assert by_stage["out of sample"] == {"b"}
    assert by_stage["open"] == by_stage["open, confirmed"] == {"a", "b"}
    assert by_stage["screen"] == by_stage["confirm"] == by_stage["runs"] == {"a"}
    assert {*table.loc[table["stage"] == "runs", "runs"]} == {5, 40}
    assert "confirmed" in capsys.readouterr().out


def test_every_word_of_a_name_is_explained():
    names = [*interpretations.generators()]
    names += [rule for rules in interpretations.rules().values() for rule in rules]
    assert {part for name in names for part in name.split(", ")} == set(interpretations.WORDS)
    opened = interpretations.open_rules(2000).values()
    parts = {part for rules in opened for name in rules for part in name.split(", ")}
    known = interpretations.WORDS | interpretations.OPEN_WORDS
    assert parts - {"10 %"} <= set(known)
    assert set(interpretations.open_generators()) <= set(known)


def test_once_a_problem_draws_once():
    def drawn(**options):
        (law,) = interpretations.once_a_problem(1, 5, n_arms=4, **options)[0]._laws
        return law

    assert len(np.unique(drawn().scales)) == 16
    assert len(np.unique(drawn(sigma_once="arm").scales)) == 4
    assert len(np.unique(drawn(sigma_once="problem").scales)) == 1
    weights = drawn(weights_once=True).weights
    assert len(np.unique(weights[0])) == 4
    np.testing.assert_array_equal(weights, np.tile(weights[:1], (4, 1)))
    few = drawn(number=(1, 30), number_once=True).weights > 0
    assert (
        len(set(few.sum(axis=1))) == 1 < len(set((drawn(number=(1, 30)).weights > 0).sum(axis=1)))
    )


def test_open_exp_exp_is_that_of_the_library():
    listed = problems.artificial(6, 3, weights="equal", n_gaussians=4)
    own = policies.ExpExp(exploit="updated", label="library")
    opened = interpretations.open_rules(600)["ExpExp"]["choosing anew"]
    regrets = simulate(listed, [own, opened], 600, 3, 3, checkpoints=1).empirical_regret.values
    np.testing.assert_array_equal(regrets[0], regrets[1])


def test_together_by_hand():
    rows = []
    for generator, at in (("a", 1.0), ("b", 2.0)):
        for curve, found in interpretations.open_rules(2000).items():
            for rule in found:
                far = at * (2 if rule.startswith("two") else 1) + ("round" in rule.split(", "))
                for p in "ab":
                    unit = interpretations.yardstick(curve, panel=p)
                    rows.append((generator, curve, rule, p, far * unit))
    table = pd.DataFrame(rows, columns=["generator", "curve", "rule", "panel", "distance"])
    found = interpretations.together(table)
    assert found.index[0] == ("a", "one round")
    assert found.loc[("a", "one round"), "total"] == pytest.approx(8)
    assert found.loc[("b", "two rounds"), "total"] == pytest.approx(2 * (3 * 4 + 2))
    assert found.loc[("a", "one round"), "MaRaB"] == "one round, 10 %, floor"
