"""A reader's own table: what is read right, what is an error, and what is said of the rewards."""

import re
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from matplotlib import cbook
from scipy import stats

from marab_lib import decision, own_data, policies, simulate

TWO = {"a": [1.0, 3.0], "b": [2.0, 4.0]}
GAPS = {"a": [1.0, 3.0], "b": [4.0, 5.0]}


@pytest.fixture
def read(tmp_path):
    """Read a text as if it were a file."""

    def from_text(text: str | bytes, **options) -> own_data.Rewards:
        path = tmp_path / "rewards.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return own_data.read(path, **options)

    return from_text


def listed(rewards: own_data.Rewards) -> dict[str, list[float]]:
    return {arm: x.tolist() for arm, x in rewards.columns.items()}


DAYS = "day,a,b\n{}1,2\n{}3,4\n"
RISING = "n,a,b\n" + "".join(f"{n},{n % 2},{n % 3}\n" for n in range(5))
PAIRS = "who,what\nx,1\ny,2\nx,3\ny,4\n"


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        ("a,b\n1,2\n3,4\n", {}, TWO),
        ("a,b\n1,2\n3,4", {}, TWO),
        ("a,b\r\n1,2\r\n3,4\r\n", {}, TWO),
        (b"\xef\xbb\xbfa,b\n1,2\n3,4\n", {}, TWO),
        ("a,b\n1,2\n3,4\n".encode("utf-16"), {}, TWO),
        (" a , b\n 1 , 2\n 3 , 4 \n", {}, TWO),
        ('"a","b"\n"1","2"\n"3","4"\n', {}, TWO),
        ("# source\n\na,b\n1,2\n\n3,4\n\n", {}, TWO),
        ("a,b,\n1,2,\n3,4,\n", {}, TWO),
        ("a,b\n1,2,\n3,4,\n", {}, TWO),
        ("a;b\n1;2\n3;4\n", {}, TWO),
        ("a\tb\n1\t2\n3\t4\n", {}, TWO),
        ("a|b\n1|2\n3|4\n", {}, TWO),
        ("a,b\r1,2\r3,4\r", {}, TWO),
        ("a\u2028b,b\n1,2\n3,4\n", {}, {"a\u2028b": TWO["a"], "b": TWO["b"]}),
        ("day,a,b\nx\x0by,1,2\nz\x85,3,4\n", {}, TWO),
        ("a b\n1 2\n3 4\n", {"separator": " "}, TWO),
        ('"a, in m";b\n1,5;2\n3;4,0\n', {}, {"a, in m": [1.5, 3.0], "b": [2.0, 4.0]}),
        ("day;a;b\n01.02.2014;1,0;2\n02.02.2014;3;4\n", {}, TWO),
        ("a,b\n1,2\n3,4\n", {"costs": True}, {"a": [-1.0, -3.0], "b": [-2.0, -4.0]}),
        (DAYS.format("2014-01-01,", "2014-01-02,"), {}, TWO),
        (DAYS.format("Mon,", "Mon,"), {}, TWO),
        (DAYS.format("7,", "1,"), {"labels": True}, TWO),
        (DAYS.format("7,", "1,"), {}, {"day": [7.0, 1.0], **TWO}),
        ("a,b\nx,1,2\ny,3,4\n", {}, TWO),
        (",a,b\n0,1,2\n1,3,4\n", {}, TWO),
        (RISING, {}, {"a": [0, 1, 0, 1, 0], "b": [0, 1, 2, 0, 1]}),
        (RISING, {"labels": False},
         {"n": [0, 1, 2, 3, 4], "a": [0, 1, 0, 1, 0], "b": [0, 1, 2, 0, 1]}),
        ("0,1\n0.5,1\n1.5,2\n", {}, {"0": [0.5, 1.5], "1": [1.0, 2.0]}),
        ("a,b\n1,\nNA,4\n3,5\n", {}, GAPS),
        ("a,b\n1\n,4\n3,5\n", {}, GAPS),
        (PAIRS, {}, {"x": [1.0, 3.0], "y": [2.0, 4.0]}),
        ("t,Arm,Reward\n0,1,1\n1,2,2\n2,1,3\n3,2,4\n", {}, {"1": [1.0, 3.0], "2": [2.0, 4.0]}),
        ("arm,reward\nb,4\na,1\na,3\nb,5\na,\n", {}, {"b": [4.0, 5.0], "a": [1.0, 3.0]}),
        ("x,y\n1,5\n0.5,6\n1,7\n0.5,8\n", {"arm": "x", "reward": "y"},
         {"1": [5.0, 7.0], "0.5": [6.0, 8.0]}),
    ],
)  # fmt: skip
def test_a_file_is_read_right(read, text, options, columns):
    assert listed(read(text, **options)) == columns


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "must hold a line with the names of the columns, and rows below it"),
        ("a,b\n", {}, "must hold a line with the names"),
        ("a,b\n1,2\n", {}, "each arm must have at least 2 rewards, got 1 of 'a'"),
        ("a,b\n1,2\n3,high\n", {}, "line 3, column 'b' must be a number or empty, got 'high'"),
        ("# x\na,b\n1,2\n\n3,5%\n", {}, "line 5, column 'b' must be a number or empty, got '5%'"),
        ("a;b\n1,5;2\n3;4.x\n", {}, "line 3, column 'b' must be a number or empty, got '4.x'"),
        ("a,b\n1,inf\n3,4\n", {}, "line 2, column 'b' must be a number or empty, got 'inf'"),
        ("a,b\n1,-1e200\n3,4\n", {}, "must be numbers in [-1e+150, 1e+150], got -1e+200 of 'b'"),
        ("a,b,c\nx,1,2\n3,4,5\n", {}, "line 2, column 'a' must be a number or empty, got 'x'"),
        ("a,b\n1,\n3,\n", {}, "column 'b' must hold numbers, got none"),
        ("a,b\n1,2\n3,4,5\n", {}, "line 3 must have at most 2 cells, as many as there are names"),
        ("a,a\n1,2\n3,4\n", {}, "must have distinct names, got 'a' more than once"),
        ("a,,b\n1,2,3\n3,4,5\n", {}, "all columns but the first must have a name"),
        ("0.5,1.5\n1,2\n3,4\n", {}, "the first line must name the columns, got the numbers"),
        ("a b\n1 2\n3 4\n", {}, "must have at least 2 columns, got ['a b']: a separator other"),
        ("a,b\nyes,2\nno,4\n", {}, "must be of at least 2 arms, got ['b']"),
        ("a,b\n7,7\n7,7\n", {}, "the rewards must not all be equal, got 7.0 everywhere"),
        (PAIRS.replace("y,2", ",2"), {}, "line 3, column 'who' must name an arm, got none"),
        (PAIRS.replace("y,2", "y,two"), {}, "line 3, column 'what' must be a number or empty"),
        (PAIRS, {"arm": "who"}, "reward must be one of the columns ['who', 'what'], got ''"),
        ('a,b\n"1,2\n3,4\n', {}, "cannot be read as a table: "),
        ("\xe4,b\n1,2\n3,4\n".encode("latin-1"), {}, "must be a text in UTF-8, got another coding"),
        ("a,b\n" + "9" * 400 + ",2\n3,4\n", {}, "line 2, column 'a' must be a number or empty"),
        ("a" * 200_000 + ",b\n1,2\n3,4\n", {}, "must be a table in lines, got 'aaa"),
        ("a,b\n" + "1" * 200_000 + ",2\n3,4\n", {}, "must be a table in lines, got '111"),
        ('a,b\n"1,000",2\n"2,000",4\n', {}, "since the first column, 'a', labels the rows"),
        (b"\x1f\x8b\x08\x00\xff", {}, "must be a text in UTF-8"),
    ],
)  # fmt: skip
def test_a_bad_file_is_named_and_what_is_wrong_with_it(read, tmp_path, text, options, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(text, **options)
    assert str(error.value).startswith(f"{tmp_path / 'rewards.csv'}: ")


@pytest.mark.parametrize(
    "options", [{"separator": x} for x in ("::", "\n", '"', "é")] + [{"decimal": "x"}]
)
def test_odd_options_are_named(read, options):
    with pytest.raises(ValueError, match="separator must be one character and decimal"):
        read("a,b\n1,2\n3,4\n", **options)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        own_data.read(tmp_path / "none.csv")


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(ValueError, match=f"{tmp_path}: must be a text file, got a folder"):
        own_data.read(tmp_path)


@pytest.mark.parametrize(
    ("arms", "rewards", "message"),
    [
        ([], [], "rewards must be of at least 2 arms, got none"),
        (5, [1, 2], "arms and rewards must be one list each, got 5 and"),
        ("ab", [1, 2], "arms and rewards must be one list each, got 'ab' and"),
        (iter("ab"), [1, 2], "arms and rewards must be one list each"),
        ([[1], [2]], [1, 2], "arms and rewards must be one list each"),
        (["a", "b"], [[1, 2], [3, 4]], "arms and rewards must be one list each"),
        ([1, "1", 2] * 2, range(6), "arms must have distinct names, got '1' more than once"),
    ],
)
def test_what_are_no_pairs_is_named(arms, rewards, message):
    with pytest.raises((TypeError, ValueError), match=message):
        own_data.from_pairs(arms, rewards)


@pytest.mark.parametrize("table", [[[1, 2], [3, 4]], np.eye(2), None, pd.Series([1, 2])])
def test_what_is_no_table_is_named(table):
    with pytest.raises(TypeError, match="table must be a DataFrame, got "):
        own_data.from_table(table)


@pytest.mark.parametrize("judged", [[], ["mean"], 5])
def test_by_what_no_arm_is_judged(judged):
    with pytest.raises((TypeError, ValueError), match="judged must "):
        own_data.from_table(SKEW).judge(judged)


def test_what_was_assumed_is_said(read):
    assert read("a,b\n1,2\n3,4\n").notes == ("each column is an arm",)
    (label,) = read(DAYS.format("Mon,", "Tue,")).notes
    assert label == "each column is an arm, but the first (day), which labels the rows"
    skipped, pairs, costs = read("# by hand\n" + PAIRS, costs=True).notes
    assert skipped == "lines skipped before the names of the columns: 1"
    assert pairs == "each row is an arm ('who') and a reward ('what')"
    assert costs == "costs: a reward is a cost with its sign changed"


def test_gaps_are_counted_and_break_the_pairs_of_a_row(read):
    whole, gaps = read("a,b\n1,2\n3,4\n"), read("a,b\n1,\nNA,4\n3,5\n")
    assert (whole.missing, whole.paired) == ({"a": 0, "b": 0}, True)
    assert (gaps.missing, gaps.paired) == ({"a": 1, "b": 1}, False)
    pairs = read("arm,reward\nb,4\na,1\na,3\nb,5\na,\n")
    assert (pairs.missing, pairs.paired) == ({"b": 0, "a": 1}, False)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_million_rows_are_read_in_seconds(tmp_path, pairs):
    path, x = tmp_path / "big.csv", np.random.default_rng(0).integers(0, 1000, (10**6, 2)) / 8
    table = pd.DataFrame(x, columns=["a", "b"])
    if pairs:
        table = pd.DataFrame({"arm": np.tile(["a", "b"], 500_000), "reward": x[:, 0]})
    table.to_csv(path, index=False)
    start = perf_counter()
    rewards = own_data.read(path)
    assert perf_counter() - start < 20  # one second or two; the machine may be busy
    np.testing.assert_array_equal(rewards.columns["b"], x[1::2, 0] if pairs else x[:, 1])


# --- what is said of rewards ----------------------------------------------------------------

SKEW = pd.DataFrame({"safe": [3.0, 4, 3, 4, 3, 4], "wild": [0.0, 9, 9, 9, 9, 9]})


def test_rescaling_goes_there_and_back():
    rewards = own_data.from_table(SKEW, costs=True)
    assert (rewards.low, rewards.high) == (-9.0, 0.0)
    for scaled, x in zip(rewards.scaled(), rewards.columns.values(), strict=True):
        assert scaled.min() >= 0
        assert scaled.max() <= 1
        np.testing.assert_allclose(rewards.in_unit(scaled), x, atol=1e-14)
    np.testing.assert_allclose(rewards.problem().means, 1 - np.array([3.5, 7.5]) / 9)
    assert rewards.problem().essential_infima.min() == 0
    assert rewards.problem().essential_suprema.max() == 1


def test_a_description_by_hand():
    table = own_data.from_table(SKEW).describe()
    # The quartiles of "wild" are 9 and 9: its 0 lies outside of any fence.
    assert table.loc["wild"].tolist() == [6, 0, 1, 0.0, 9.0, 7.5, 9.0]
    assert table.loc["safe"].tolist() == [6, 0, 0, 3.0, 3.5, 3.5, 4.0]


JUDGED = [decision.aim(text) for text in ("mean", "cvar:0.5", "minimum")]


def test_each_arm_is_judged_by_each_criterion():
    table = own_data.from_table(SKEW).judge(JUDGED, 500, seed=2).set_index(["criterion", "arm"])
    values = table["value"].unstack().loc[[c.name for c in JUDGED], ["safe", "wild"]]
    np.testing.assert_allclose(values, [[3.5, 7.5], [3.0, 6.0], [3.0, 0.0]])
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    np.testing.assert_allclose(table["best"].groupby(level=0).sum(), 1)
    # "wild" is the best by its minimum where its 0 is not drawn: (5/6)**6 = 0.335, error 0.021.
    assert table.loc[("minimum", "wild"), "best"] == pytest.approx((5 / 6) ** 6, abs=5 * 0.021)


def test_the_interval_of_a_mean_has_the_width_that_it_should():
    """Close to the normal one for 2,000 rewards; its ends have errors of some 3 % of the width."""
    x = np.random.default_rng(1).random((2000, 2))
    row = own_data.from_table(pd.DataFrame(x)).judge(JUDGED[:1], 2000).iloc[1]
    half = 1.96 * x[:, 1].std() / np.sqrt(2000)
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=0.12)


@pytest.mark.parametrize("text", ["mean", "cvar:0.2"])
def test_the_intervals_are_those_of_scipy(text):
    """Of 4,000 resamples each; an end has an error of about 2 % of the width."""
    x, criterion = np.random.default_rng(2).gamma(2, size=(80, 2)), decision.aim(text)
    row = own_data.from_table(pd.DataFrame(x)).judge([criterion], 4000).iloc[0]
    low, high = stats.bootstrap(
        (x[:, 0],), lambda x, axis: criterion.of_sample(x), n_resamples=4000, rng=3,
        method="percentile", vectorized=True,
    ).confidence_interval  # fmt: skip
    np.testing.assert_allclose([row["low"], row["high"]], [low, high], atol=0.1 * (high - low))


def test_of_many_rewards_a_part_is_drawn_and_scaled_to_the_whole(monkeypatch):
    """The interval of a mean is as wide as if all were drawn, to some 5 % by chance."""
    rewards = own_data.from_table(pd.DataFrame(np.random.default_rng(1).random((5000, 2))))
    whole = rewards.judge(JUDGED[:2], 2000, seed=1)
    monkeypatch.setattr("marab_lib.own_data._MOST", 500)
    part = rewards.judge(JUDGED[:2], 2000, seed=2)
    np.testing.assert_allclose(part["value"], whole["value"])
    widths = [table["high"] - table["low"] for table in (part, whole)]
    np.testing.assert_allclose(*widths, rtol=0.2)


def test_rows_that_belong_together_are_resampled_together():
    """An arm that is better by 1 in every row is the best in every resample; alone, it is not."""
    x = np.random.default_rng(1).normal(0, 30, 50)
    table = pd.DataFrame({"less": x, "more": x + 1})
    together = own_data.from_table(table).judge(JUDGED[:1], 200)
    alone = own_data.from_pairs(np.repeat(["less", "more"], 50), table.T.to_numpy().ravel())
    assert together["best"].tolist() == [0, 1]
    assert 0.1 < alone.judge(JUDGED[:1], 200)["best"][0] < 0.9


def test_constant_columns_are_known_exactly_and_ties_are_divided():
    table = own_data.from_table(pd.DataFrame({"a": [1.0] * 9, "b": [1.0] * 9, "c": [0.0] * 9}))
    judged = table.judge(JUDGED, 100)
    assert judged["best"].tolist() == [0.5, 0.5, 0.0] * 3
    assert (judged[["low", "high"]].sub(judged["value"], axis=0) == 0).all(axis=None)
    assert table.describe()["outliers"].tolist() == [0, 0, 0]


def test_fewer_resamples_of_many_rewards(monkeypatch):
    monkeypatch.setattr("marab_lib.own_data._DRAWN", 12 * 150)
    assert own_data.from_table(SKEW).judge(JUDGED[:1])["resamples"].tolist() == [150, 150]
    monkeypatch.setattr("marab_lib.own_data._DRAWN", 12 * 50)
    assert own_data.from_table(SKEW).judge(JUDGED[:1])["resamples"].tolist() == [100, 100]


@pytest.mark.parametrize("text", ["median", "cvar", "cvar:2", "cvar:x", "", "mean:1"])
def test_an_odd_aim_is_named(text):
    with pytest.raises(ValueError, match=r"aim must be|the level of aim must be"):
        decision.aim(text)


def test_problems_of_a_table():
    rewards = own_data.from_table(SKEW)
    empirical, replay, orders = rewards.problem(), rewards.replay(), rewards.shuffled(3, seed=1)
    np.testing.assert_array_equal(empirical.means, replay.means)
    assert [law.values.tolist() for law in replay.arms] == [x.tolist() for x in rewards.scaled()]
    tables = [np.stack([law.values for law in order.arms]) for order in orders]
    assert {len(np.unique(table.tolist(), axis=1)) for table in tables} == {2}
    for table in tables:
        np.testing.assert_array_equal(np.sort(table), np.sort(rewards.scaled()))
    assert not np.array_equal(tables[0], tables[1])
    result = simulate(replay, policies.MIN(), 6, 1, 0, record=("rewards",))
    safe, wild = rewards.scaled()
    assert result.rewards.values.ravel().tolist() == [safe[0], wild[0], *safe[1:5]]


def test_the_top_of_a_shuffled_table_is_that_of_the_whole():
    rewards = own_data.from_table(SKEW)
    whole, top = rewards.shuffled(3, seed=1), rewards.shuffled(3, seed=1, most=2)
    for order, part in zip(whole, top, strict=True):
        for law, kept in zip(order.arms, part.arms, strict=True):
            assert kept.values.tolist() == law.values[:2].tolist()
    with pytest.raises(ValueError, match="most must be a whole number >= 1, got 0"):
        rewards.shuffled(3, seed=1, most=0)


# --- public tables --------------------------------------------------------------------------


def played_to_the_end(rewards: own_data.Rewards) -> None:
    """All that the notebook does with a table, in small."""
    best = decision.best_arms(rewards.judge(JUDGED, 100))
    assert best["best"].between(0, 1).all()
    team = [policies.UCB(0.1), policies.MaRaB(0.1), policies.MIN()]
    found = decision.decide(rewards, JUDGED[1], 100, 4, 0, team)
    assert found.second.name in str(found)
    assert (
        decision.earned(rewards, found.result, 0.1)["value"]
        .between(rewards.low, rewards.high)
        .all()
    )
    steps = max(rewards.shortest, len(rewards.arms))
    again = decision.replayed(rewards, team, rewards.replay(), steps, 0)
    assert again["value"].between(rewards.low, rewards.high).all()


def test_monthly_prices_of_ten_shares():
    """matplotlib: a line of comment, days as labels, gaps, ten columns of unequal length."""
    with cbook.get_sample_data("Stocks.csv") as file:
        prices = own_data.read(file.name)
    assert prices.arms[:3] == ["IBM", "AAPL", "MSFT"]
    assert len(prices.arms) == 10
    assert prices.missing["GOOGL"] > prices.missing["IBM"] == 0
    assert not prices.paired
    with cbook.get_sample_data("Stocks.csv") as file:
        table = pd.read_csv(file, comment="#", index_col="Date").dropna(how="all")
    returns = own_data.from_table(table.pct_change(fill_method=None).dropna(how="all"))
    played_to_the_end(returns)


def test_daily_returns_of_a_share_by_weekday():
    """matplotlib: pairs of arm and reward, in unequal numbers."""
    prices = cbook.get_sample_data("goog.npz")["price_data"]
    day = pd.DatetimeIndex(prices["date"]).day_name()[1:]
    close = prices["adj_close"]
    rewards = own_data.from_pairs(day, close[1:] / close[:-1] - 1)
    assert sorted(rewards.arms) == ["Friday", "Monday", "Thursday", "Tuesday", "Wednesday"]
    assert sum(x.size for x in rewards.columns.values()) == len(prices) - 1
    played_to_the_end(rewards)


def test_a_share_by_night_and_by_day():
    """matplotlib: a column an arm, written and read again."""
    with cbook.get_sample_data("msft.csv") as file:
        table = pd.read_csv(file).iloc[::-1]
    night = table["Open"] / table["Close"].shift() - 1
    day = table["Close"] / table["Open"] - 1
    rewards = own_data.from_table(pd.DataFrame({"night": night, "day": day})[1:])
    assert rewards.paired
    played_to_the_end(rewards)
