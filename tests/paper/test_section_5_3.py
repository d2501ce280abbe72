"""Section 5.3: the data, the physics of the battery, the strategies, the statements.

Random inputs come from hypothesis with its derandomised profile; statistical tests state their
error rate.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marab_lib import policies, regret, simulate
from marab_lib.paper import battery, data, section_5_3
from marab_lib.paper import battery as energy
from marab_lib.paper.battery import Battery, Days, Tariff

FAST = settings(max_examples=60, deadline=None, derandomize=True)
DT = 0.5

# --- data ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demand() -> energy.Demand:
    return energy.load_demand()


@pytest.fixture(scope="module")
def days(demand) -> Days:
    return demand.days()


@pytest.fixture(scope="module")
def table(days) -> energy.RewardTable:
    return energy.reward_table(days)


@pytest.fixture
def folder(tmp_path):
    """A copy of the data that may be harmed."""
    for name in data._FILES:
        shutil.copy(data.folder() / name, tmp_path)
    return tmp_path


def test_demand_is_that_of_the_source() -> None:
    frame = data.read_csv("demand.csv", dtype=str)
    values = frame["demand_gw"].astype(float).to_numpy()
    assert len(frame) == 365 * 48
    assert (values[0], values.argmax()) == (3.91464713, 752)
    assert values.sum() == pytest.approx(80766.273361458, abs=1e-8)
    digest = hashlib.sha256(values.tobytes()).hexdigest()
    assert digest == "74e6b3c28368dbabb8dfc84699cf31804b089320cfb4553340d4d5e863a9b91a"


def test_demand_is_scaled_and_dated(demand) -> None:
    assert demand.power.shape == demand.temperature.shape == (365, 48)
    assert demand.power.mean() == pytest.approx(1, abs=1e-12)
    assert str(demand.dates[0]) == "2014-01-01"
    assert str(demand.dates[-1]) == "2014-12-31"
    # New Year's Day was a Wednesday and a holiday; the first Saturday came three days later.
    assert demand.work_day[:6].tolist() == [False, True, True, False, False, True]


def test_each_day_has_its_own_week_before(demand) -> None:
    days = demand.days([7, 151])
    assert [str(date) for date in days.dates] == ["2014-01-08", "2014-06-01"]
    for row, number in enumerate((7, 151)):
        assert (days.today[row] == demand.power[number]).all()
        assert (energy.days_ago(days.demand, 1)[row] == demand.power[number - 1]).all()
        assert (energy.days_ago(days.weather, 7)[row] == demand.temperature[number - 7]).all()


def test_the_sets_of_days_do_not_overlap(demand) -> None:
    used, other = demand.days().dates, demand.other_days().dates
    assert len(used) == len(other) == len(np.unique(other)) == 117
    assert (str(used[0]), str(used[-1])) == ("2014-06-01", "2014-09-25")
    assert not np.intersect1d(used, other).size


@pytest.mark.parametrize("numbers", [[6], [365], [-1], []])
def test_days_without_a_week_before_are_refused(demand, numbers) -> None:
    with pytest.raises(ValueError, match="numbers must"):
        demand.days(numbers)


@pytest.mark.parametrize("name", list(data._FILES))
def test_a_harmed_file_is_named_with_what_is_wrong(folder, name) -> None:
    load = {
        "demand.csv": energy.load_demand,
        "energy_table.csv": energy.load_rewards,
        "published_curves.csv": section_5_3.printed_regrets,
    }.get(name, lambda where: data.read_csv(name, where))
    load(folder)
    path = folder / name
    content = path.read_bytes()
    harmed = {
        "is cut": content[:-100],
        "was changed": content[:-2] + (b"8\n" if content[-2:-1] == b"9" else b"9\n"),
        "line endings": content.replace(b"\n", b"\r\n"),
    }
    for message, what in harmed.items():
        path.write_bytes(what)
        with pytest.raises(ValueError, match=message) as error:
            load(folder)
        assert name in str(error.value)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"{re.escape(name)} is missing"):
        load(folder)


def test_data_are_found_from_another_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert energy.load_rewards().shape == (20, 117)


def test_readme_gives_the_checksums() -> None:
    text = (data.folder() / "README.md").read_text(encoding="utf-8")
    for name, (size, digest) in data._FILES.items():
        assert name in text
        assert digest in text
        assert (data.folder() / name).stat().st_size == size


def test_saved_table_is_the_simulators(table) -> None:
    saved = energy.load_rewards()
    assert tuple(saved.index) == table.names == tuple(energy.strategies())
    assert saved.shape == (20, 117)
    assert list(saved.columns) == table.dates.astype(str).tolist()
    # Sums of 48 numbers may differ in the last bits from machine to machine.
    np.testing.assert_allclose(table.rewards, saved.to_numpy(), rtol=0, atol=1e-12)


# --- physics ------------------------------------------------------------------------------

shares = st.floats(0.01, 1)


@st.composite
def batteries(draw) -> Battery:
    reserve = draw(st.floats(0, 0.9))
    return Battery(
        capacity=draw(st.floats(0.1, 10)),
        power=draw(st.floats(0.05, 5)),
        charge_efficiency=draw(st.floats(0.5, 1)),
        discharge_efficiency=draw(st.floats(0.5, 1)),
        reserve=reserve,
        start=draw(st.floats(reserve, 1)),
        leak=draw(st.floats(0, 0.001)),
    )


wishes = arrays(float, (3, 48), elements=st.floats(-10, 10))
profiles = arrays(float, (3, 48), elements=st.floats(0.01, 3))


def play(wish: np.ndarray, profile: np.ndarray, battery: Battery) -> energy.Operation:
    """Any given powers as a strategy."""
    days = Days(np.tile(profile, 8), np.zeros((3, 384)))
    return energy.operate(lambda time, *_: wish[:, int(2 * time)], days, battery)


@FAST
@given(wishes, profiles, batteries())
def test_energy_is_conserved_up_to_the_stated_losses(wish, profile, battery) -> None:
    done = play(wish, profile, battery)
    before, after = done.stored[:, :-1], done.stored[:, 1:]
    leaked = battery.leak * before
    put_in = battery.charge_efficiency * done.charge * DT
    taken_out = done.discharge * DT / battery.discharge_efficiency
    np.testing.assert_allclose(after, before - leaked + put_in - taken_out, rtol=0, atol=1e-12)
    # What is bought and what the battery gives is what is used and what it takes.
    np.testing.assert_allclose(
        done.bought + done.discharge, done.demand + done.charge, rtol=0, atol=1e-12
    )


@FAST
@given(wishes, profiles, batteries())
def test_no_limit_is_ever_passed(wish, profile, battery) -> None:
    done = play(wish, profile, battery)
    assert (done.stored >= battery.lowest).all()
    assert (done.stored <= battery.capacity).all()
    for power in (done.charge, done.discharge):
        assert (power >= 0).all()
        assert (power <= battery.power).all()
    assert (done.discharge <= done.demand).all()
    assert (done.charge * done.discharge == 0).all()
    assert (done.bought >= 0).all()


@FAST
@given(wishes, profiles, batteries())
def test_a_feasible_wish_is_granted(wish, profile, battery) -> None:
    done = play(wish, profile, battery)
    x = done.discharge - done.charge
    again = play(x, profile, battery)
    np.testing.assert_allclose(again.discharge - again.charge, x, rtol=0, atol=1e-9)


@FAST
@given(profiles, batteries(), st.floats(0, 5), st.floats(0, 2))
def test_idle_has_its_closed_form(profile, battery, overrun, subscribed) -> None:
    tariff = Tariff(1.5, overrun, subscribed)
    done = play(np.zeros((3, 48)), profile, battery)
    left = battery.first * (1 - battery.leak) ** 48
    if left < battery.lowest:  # then it is not idle: it makes up the leak
        assert done.stored[0, -1] == pytest.approx(battery.lowest)
        return
    paid = 1.5 * profile.sum(axis=1) * DT
    paid += overrun * np.maximum(profile - subscribed, 0).sum(axis=1) * DT
    worth = 1.5 * battery.discharge_efficiency * (battery.first - left)
    np.testing.assert_allclose(done.cost(tariff), paid + worth, rtol=1e-12)
    np.testing.assert_allclose(
        done.unit_cost(tariff), (paid + worth) / profile.sum(axis=1) / DT, rtol=1e-12
    )


@FAST
@given(arrays(float, (3, 24), elements=st.floats(-0.3, 0.3)), profiles, st.floats(0, 3))
def test_without_losses_and_with_one_price_all_round_trips_cost_the_same(
    half, profile, price
) -> None:
    battery = Battery(charge_efficiency=1, discharge_efficiency=1, leak=0, capacity=20, power=1)
    trip = np.concatenate([half, -half[:, ::-1]], axis=1)
    profile = profile + 0.3  # so that the wish is never above the demand
    done = play(trip, profile, battery)
    np.testing.assert_allclose(done.stored[:, -1], battery.first, rtol=1e-12)
    flat = Tariff(price, overrun=0)
    np.testing.assert_allclose(
        done.cost(flat), price * profile.sum(axis=1) * DT, rtol=1e-12, atol=1e-12
    )


def test_losses_are_paid_for() -> None:
    """A round trip through a lossy battery costs the losses, by hand."""
    battery = Battery(leak=0)
    day = energy.operate(
        lambda time, *_: -0.4 if time < 1 else 0.1 if time >= 23 else 0.0,
        Days.repeat(np.ones(48)),
        battery,
    )
    stored = 1 + 0.95 * 0.4 - 0.1 / 0.95
    assert day.stored[0, -1] == pytest.approx(stored)
    expected = 24 + 0.4 - 0.1 - 0.95 * (stored - 1) + 5 * (1.4 - 1.25) * 1
    assert day.cost()[0] == pytest.approx(expected)


def test_many_days_at_once_are_each_day_alone(demand) -> None:
    """Vectorised over days, and nothing leaks from one day into another."""
    numbers = [160, 7, 364]
    together = demand.days(numbers)
    for name, plan in energy.strategies().items():
        stored = energy.operate(plan, together).stored
        for row, number in enumerate(numbers):
            alone = energy.operate(plan, demand.days([number])).stored[0]
            np.testing.assert_allclose(stored[row], alone, rtol=0, atol=1e-12, err_msg=name)


# --- strategies ---------------------------------------------------------------------------


def made_up() -> np.ndarray:
    """0.8 MW, 1.4 MW from 17 to 19 h."""
    hours = np.arange(48) / 2
    return np.where((hours >= 17) & (hours < 19), 1.4, 0.8)


def on(name: str, profile: np.ndarray | None = None, weather: float = 20.0) -> energy.Operation:
    days = Days.repeat(made_up() if profile is None else profile, weather)
    return energy.operate(energy.strategies()[name], days)


def test_idle_does_nothing() -> None:
    assert not on("idle").charge.any()
    assert not on("idle").discharge.any()


def test_use_first_empties_the_battery_at_once_and_never_recharges() -> None:
    day = on("use first")
    assert (day.discharge[0, :3] > 0).all()
    assert not day.discharge[0, 6:].any()
    # Only the leak at the lower limit is made up: under 1 kW.
    assert day.charge.max() < 1e-3


def test_full_reserve_is_full_before_the_peak_and_keeps_to_the_subscribed_power() -> None:
    day = on("full reserve")
    assert day.stored[0, 33] == pytest.approx(2, abs=0.01)
    np.testing.assert_allclose(day.discharge[0, 34:38], 0.15)
    assert day.bought.max() == pytest.approx(1.25)


@pytest.mark.parametrize("level", [1.0, 1.05, 1.1, 1.15, 1.25, 1.35])
def test_shaving_cuts_the_peak_to_its_level(level) -> None:
    day = on(f"shave {level:.2f}")
    np.testing.assert_allclose(day.bought[0, 34:38], level)
    # Valley filling: up to 0.95 MW, and at least 0.1 MW under the level.
    assert day.bought[0, 0] == pytest.approx(min(level - 0.1, 0.95))
    assert not day.discharge[0, :34].any()


@pytest.mark.parametrize(
    ("name", "charging", "discharging"),
    [
        ("night to evening", [(0, 6)], [(17, 21)]),
        ("night to two peaks", [(0, 6), (23, 24)], [(7, 10), (17, 21)]),
        ("night to afternoon", [(0, 6), (22, 24)], [(13, 18)]),
        ("night to day", [(0, 7), (22, 24)], [(9, 21)]),
        ("night to short peak", [(1, 6)], [(17.5, 20)]),
        ("solar-like", [(10, 15)], [(18, 22)]),
        ("mistimed", [(17, 22)], [(0, 6)]),
    ],
)
def test_timetables_keep_their_hours(name, charging, discharging) -> None:
    """On a battery so large that nothing is cut, the hours are exactly those of the name."""
    large = Battery(capacity=100, power=1, leak=0)
    day = energy.operate(energy.strategies()[name], Days.repeat(np.ones(48)), large)
    hours = np.arange(48) / 2

    def within(windows) -> np.ndarray:
        return np.any([(hours >= a) & (hours < b) for a, b in windows], axis=0)

    assert ((day.charge[0] > 0) == within(charging)).all()
    assert ((day.discharge[0] > 0) == within(discharging)).all()


@pytest.mark.parametrize(("name", "days_back"), [("as yesterday", 1), ("as last week", 7)])
def test_look_ahead_shaves_at_the_lowest_level_feasible_on_that_day(name, days_back) -> None:
    """A flat 0.8 MW but for one earlier day: the level is that day's, checked by simulation."""
    demand = np.full(384, 0.8)
    start = 336 - 48 * days_back
    demand[start : start + 48] = made_up()
    demand[336:] = np.minimum(made_up(), 1.3)
    battery = Battery()
    plan = energy.strategies(battery)[name]
    day = energy.operate(plan, Days(demand, np.full(384, 15.0)), battery)
    level = day.bought[0, 34]

    def feasible(at: float) -> bool:
        shaved = energy.operate(
            lambda time, d, soc, weather: energy._shaving(d[:, -1], at, energy._fill(at)),
            Days.repeat(made_up()),
        )
        return shaved.bought[0, 34:38].max() <= at + 1e-9

    planned = energy._lowest_level(made_up()[None], battery)[0]
    assert feasible(planned + 1e-5)
    assert not feasible(planned - 1e-5)
    assert level == pytest.approx(planned)


def test_look_ahead_on_the_mean_week_is_more_careful() -> None:
    """5% more demand and 80% of the energy: a higher level than on the same profile alone."""
    weeks = np.tile(made_up(), 7)[None]
    plans = energy.strategies()
    careful = plans["as mean week"]
    assert careful.profile(weeks) == pytest.approx(1.05 * made_up()[None])
    part = energy._part(Battery(), 0.8)
    assert part.lowest == pytest.approx(0.2)
    assert (part.capacity, part.first) == pytest.approx((0.2 + 0.8 * 1.8, 0.2 + 0.8 * 0.8))
    assert on("as mean week").bought[0, 34] > on("as yesterday").bought[0, 34] + 0.01


@pytest.mark.parametrize(
    ("warmest", "like"), [(13.9, "full reserve"), (20, "shave 1.05"), (30.1, "full reserve")]
)
def test_by_weather_goes_by_yesterdays_largest_temperature(warmest, like) -> None:
    np.testing.assert_array_equal(
        on("by weather", weather=warmest).stored, on(like, weather=warmest).stored
    )


def test_a_strategy_sees_no_future() -> None:
    seen = []

    def spy(time, demand, soc, weather):
        seen.append((time, demand.shape, weather.shape, soc.shape))
        return 0.0

    energy.operate(spy, Days.repeat(np.ones(48)))
    assert [s[0] for s in seen] == [step / 2 for step in range(48)]
    assert all(s[1] == s[2] == (1, 337 + i) for i, s in enumerate(seen))
    assert all(s[3] == (1,) for s in seen)


def test_a_strategy_cannot_change_the_demand() -> None:
    def cheat(time, demand, soc, weather):
        demand[:] = 0
        return 0.0

    with pytest.raises(ValueError, match="read-only"):
        energy.operate(cheat, Days.repeat(np.ones(48)))


@pytest.mark.parametrize("wish", [np.nan, np.inf, "much", np.zeros(3), None])
def test_a_strategy_that_returns_no_power_is_named(wish) -> None:
    def broken(time, demand, soc, weather):
        return wish

    with pytest.raises(ValueError, match=r"'broken' must return MW.*at 0 h"):
        energy.operate(broken, Days.repeat(np.ones(48)))


DAY = Days.repeat(np.ones(48))


def _idle(time, demand, soc, weather) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: energy.operate(_idle, 5), "days must be of the class Days, got 5"),
        (lambda: energy.operate(_idle, DAY, 0), "battery must be of the class Battery, got 0"),
        (lambda: energy.operate(0.3, DAY), r"function of \(time, demand, soc, weather\), got 0.3"),
        (lambda: energy.operate(_idle, DAY).cost(0.2), "tariff must be of the class Tariff"),
        (lambda: energy.reward_table(DAY, plans=[_idle]), "plans must be a mapping of names"),
        (lambda: energy.load_demand().days(5), r"numbers must be .* in \[7, 364\], got 5"),
        (lambda: Days.repeat(np.ones(47)), r"demand must be a number or 48.*got shape \(47,\)"),
        (lambda: Days.repeat(1, np.ones((2, 48))), r"weather must be a number or 48.*\(2, 48\)"),
        (lambda: data.read_csv(["x"]), r"name must be one of 'demand.csv'.*got \['x'\]"),
        (lambda: data.published_curves(None, ["a"]), r"figure and panel .* \(None, \['a'\]\)"),
        (lambda: Battery(capacity=0), "capacity must be"),
        (lambda: Battery(power=-1), "power must be"),
        (lambda: Battery(charge_efficiency=1.1), "charge_efficiency must be"),
        (lambda: Battery(discharge_efficiency=0), "discharge_efficiency must be"),
        (lambda: Battery(reserve=1.0), "reserve must be"),
        (lambda: Battery(start=0.05), r"start must be a number in \[0.1, 1\]"),
        (lambda: Battery(leak=1), "leak must be"),
        (lambda: Battery(leak=0.9, capacity=10, power=0.1), "leak must be .* what the charger"),
        (lambda: Battery().step([1, 2], [1] * 3, [1]), "stored and request and demand must have"),
        (lambda: energy.days_ago(np.ones(336), 1), r"series must have shape \(days, >= 336\)"),
        (lambda: energy.load_demand().other_days(5, 365), r"first must be .* \[0, 364\], got 365"),
        (lambda: energy.RewardTable(["a"], [1, 2], [[1, 2, 3]]), "unit_cost must have a row"),
        (lambda: Tariff(price=-1), "price must be"),
        (lambda: Tariff(overrun=-1), "overrun must be"),
        (lambda: Tariff(subscribed=-1), "subscribed must be"),
        (lambda: Days(np.ones(48), np.ones(48)), "demand must have shape"),
        (lambda: Days(np.ones(384), np.ones(48)), "weather must have the shape"),
        (lambda: Days(-np.ones(384), np.ones(384)), "demand must be >= 0"),
        (lambda: Days(np.zeros(384), np.ones(384)), "0 for a whole day"),
        (lambda: energy.reward_table(DAY, plans={"a": _idle, "b": _idle}), "every strategy costs"),
        (lambda: energy.reward_table(DAY, plans={}), "at least one strategy"),
    ],
)
def test_bad_input_is_named(call, message) -> None:
    """What the odd calls would let pass."""
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_summary_takes_its_level_as_text_too(table) -> None:
    assert table.summary("0.1").equals(table.summary(0.1))
    assert table.best("0.1") == table.best(0.1)


# --- bad input ----------------------------------------------------------------------------


def test_numbers_of_any_kind_make_the_same_battery_and_tariff(days) -> None:
    battery = Battery(Decimal("2"), Fraction(1, 2), start=np.float32(0.5))
    assert (battery, Tariff(1, Decimal(5))) == (Battery(), Tariff())
    assert {type(x) for x in (*vars(battery).values(), *vars(Tariff(1, 5)).values())} == {float}


# --- the table and the literal model ------------------------------------------------------


def test_rewards_are_the_unit_costs_turned_round(table) -> None:
    assert (table.rewards.min(), table.rewards.max()) == (0, 1)
    np.testing.assert_allclose(table.to_unit_cost(table.rewards), table.unit_cost, rtol=1e-12)
    row, day = np.unravel_index(table.unit_cost.argmax(), table.unit_cost.shape)
    assert table.rewards[row, day] == 0


def test_the_literal_model_has_one_winner(days) -> None:
    literal = energy.reward_table(days, tariff=Tariff(overrun=0))
    assert np.unique(literal.unit_cost.argmin(axis=0)).size == 1


def test_only_the_ratio_of_the_prices_counts(days) -> None:
    one = energy.reward_table(days, tariff=Tariff(1, 5))
    ten = energy.reward_table(days, tariff=Tariff(10, 50))
    np.testing.assert_allclose(one.rewards, ten.rewards, rtol=0, atol=1e-12)


def test_equal_costs_are_a_tie_whatever_the_last_bit(days) -> None:
    """With delta = 0 strategies cost the same on some days but for rounding: the first wins."""
    (changed,) = [(b, t) for name, b, t in energy.variants() if name == "delta = 0"]
    costs = energy.reward_table(days, *changed)
    exact = costs.unit_cost.argmin(axis=0)
    by_hand = costs.unit_cost.round(9).argmin(axis=0)
    assert (exact != by_hand).any()
    assert costs.cheapest().tolist() == by_hand.tolist()


def test_variants_change_one_value_each() -> None:
    frozen, *changed = list(energy.variants())
    assert frozen[1:] == (Battery(), Tariff())
    touched = set()
    for name, store, tariff in changed:
        now = {**vars(store), **vars(tariff)}
        before = {**vars(Battery()), **vars(Tariff())}
        different = [key for key in now if now[key] != before[key]]
        assert len(different) == 1, name
        touched.add(different[0])
    assert touched == {*vars(Battery()), *vars(Tariff())}


# --- figure 4 -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return simulate(
        battery.problem(),
        section_5_3.figure_4_policies(),
        600,
        runs=12,
        seed=4,
        record=("rewards", "arms"),
        checkpoints=60,
    )


def test_arms_are_the_saved_table() -> None:
    problem = battery.problem()
    saved = energy.load_rewards().to_numpy()
    np.testing.assert_allclose(problem.means, saved.mean(axis=1))
    np.testing.assert_allclose(problem.essential_infima, saved.min(axis=1))


def test_rewards_of_a_run_are_rewards_of_the_table(result) -> None:
    saved = energy.load_rewards().to_numpy()
    played = result["arms"].isel(problem=0).values.ravel()[:5000]
    rewards = result["rewards"].isel(problem=0).values.ravel()[:5000]
    assert all(reward in saved[arm] for arm, reward in zip(played, rewards, strict=True))


def test_min_is_marab_at_a_small_level(result) -> None:
    """Exact: ceil(t alpha) = 1 while t <= 1 / alpha, so C has no effect (section 3)."""
    arms = result["arms"].isel(problem=0)
    for C in (1e-6, 1e3):
        name = policies.MaRaB(0.001, C).name
        assert (arms.sel(policy=name) == arms.sel(policy="MIN")).all()


def test_lower_tails_and_sorted_rewards_by_hand(result) -> None:
    rewards = result["rewards"].isel(problem=0).sel(policy="MIN", run=3).values
    lowest = np.sort(rewards)
    tail = section_5_3.lower_tails(result, 0.1).sel(policy="MIN", run=3)
    assert float(tail) == pytest.approx(lowest[:60].mean(), rel=1e-12)
    ranked = regret.sorted_rewards(result).isel(problem=0).sel(policy="MIN", run=3)
    assert (ranked.values == lowest).all()


@FAST
@given(st.integers(5, 55), st.floats(-2, 2), st.floats(-2, 2), st.floats(-1, 1))
def test_bend_finds_the_meeting_of_two_lines(at, before, after, offset) -> None:
    x = np.arange(60.0)
    y = offset + before * np.minimum(x, at) + after * np.maximum(x - at, 0)
    found = section_5_3.bend(x, np.stack([y, y]))
    if abs(before - after) > 1e-3:
        np.testing.assert_array_equal(found[0], at)
    np.testing.assert_allclose(found[1], before, atol=1e-6)
    np.testing.assert_allclose(found[2], after, atol=1e-6)


def test_statements_are_paired_means_over_the_runs(result) -> None:
    found = section_5_3.statements(result, resamples=500).frame()
    finals = section_5_3.regrets(result).mean("run").to_series()
    groups = {t: finals[finals.index.str.startswith(t)] for t in ("UCB", "ExpExp", "MaRaB", "MIN")}
    mv = finals[[policies.MVLCB(rho).name for rho in (1, 2, 5, 10)]]
    best = {title: group.min() for title, group in groups.items()}
    others = min(best["ExpExp"], best["MaRaB"], best["MIN"], mv.min())
    assert found.loc["UCB least", "value"] == pytest.approx(others - best["UCB"])
    assert found.loc["MV-LCB regret", "value"] == pytest.approx(mv.min() - max(best.values()))
    assert found.loc["increase", "value"] == pytest.approx(best["MaRaB"] - best["UCB"])
    assert found.loc["MIN pulls", "value"] == 1
    assert (found["low"] <= found["high"]).all()


def test_equal_policies_differ_by_nothing(result) -> None:
    """No interval may come from the order of a sum: here all but one policy play as MIN does."""
    names = result.policy.values.tolist()
    twins = ("UCB", "ExpExp", "MaRaB", "MIN")
    played = ["MIN" if name.startswith(twins) else name for name in names]
    parameters = {n: c for n, c in result.coords.items() if c.dims == ("policy",)}
    equal = result.sel(policy=played).assign_coords(parameters)
    found = section_5_3.statements(equal, resamples=500)
    for key in ("MIN tail", "MIN regret", "MaRaB any C", "MaRaB over rivals"):
        assert str(found[key].estimate) == "0", key
        assert found.frame().loc[key, ["value", "low", "high"]].tolist() == [0, 0, 0], key
    assert str(found["MIN pulls"].estimate) == "1"


def test_bootstrap_interval_is_that_of_scipy(result) -> None:
    """The interval of the regret increase against SciPy's, to Monte-Carlo accuracy.

    The ends are quantiles of 4,000 resamples, with standard errors below 5% of the width: 0.25
    widths are five of them, an error rate below 1e-5.
    """
    from scipy import stats

    found = section_5_3.statements(result, resamples=4000).frame().loc["increase"]
    finals = section_5_3.regrets(result)
    marab, ucb = (
        finals.sel(policy=[name for name in finals.policy.values if name.startswith(title)]).values
        for title in ("MaRaB", "UCB")
    )

    def increase(run: np.ndarray, axis: int) -> np.ndarray:
        run = run.astype(int)
        return marab[:, run].mean(-1).min(0) - ucb[:, run].mean(-1).min(0)

    other = stats.bootstrap(
        (np.arange(12),), increase, method="percentile", n_resamples=4000, vectorized=True, rng=1
    ).confidence_interval
    width = other.high - other.low
    assert abs(found["low"] - other.low) < 0.25 * width
    assert abs(found["high"] - other.high) < 0.25 * width


def test_statements_refuse_what_they_cannot_judge(result) -> None:
    with pytest.raises(ValueError, match="mv_lcb must be one of"):
        section_5_3.statements(result, mv_lcb="best")
    with pytest.raises(ValueError, match="'MIN' is missing"):
        section_5_3.statements(result.sel(policy=[p for p in result.policy.values if p != "MIN"]))
    with pytest.raises(ValueError, match="must hold the rewards"):
        section_5_3.statements(result.drop_vars("rewards"))
    with pytest.raises(ValueError, match="at least 2 runs"):
        section_5_3.statements(result.isel(run=[0]))
    with pytest.raises(ValueError, match="confidence must be"):
        section_5_3.statements(result, confidence=1)
    with pytest.raises(ValueError, match="5 increasing"):
        section_5_3.bend([1, 2], [1, 2])


def test_bills_are_the_costs_of_the_rewards(result, table) -> None:
    found = section_5_3.bills(table, result, resamples=200)
    reserve = table.unit_cost[table.names.index("full reserve")]
    assert found.loc[("known", "full reserve"), "a year"] == pytest.approx(8760 * reserve.mean())
    dearest = np.sort(reserve)[-12:]  # ceil(10% of 117)
    assert found.loc[("known", "full reserve"), "worst day"] == pytest.approx(24 * dearest.mean())
    # The first row of each question is what the others are compared with.
    for question, reference in (("known", 0), ("learned", 0)):
        rows = found.loc[question]
        more = rows["a year"] - rows["a year"].iloc[reference]
        saved = rows["worst day"].iloc[reference] - rows["worst day"]
        np.testing.assert_allclose(rows["more a year"], more, atol=1e-9)
        np.testing.assert_allclose(rows["saved a worst day"], saved, atol=1e-9)


def test_regret_and_bill_are_the_same_money(result, table) -> None:
    """The difference of two regrets, in money: (U_max - U_min) a unit of reward."""
    found = section_5_3.bills(table, result, resamples=10)
    finals = section_5_3.regrets(result).mean("run").to_series()
    reference, other = found.loc["learned"].index[[0, -1]]
    money = (finals[other] - finals[reference]) / 600 * np.ptp(table.unit_cost) * 8760
    assert found.loc[("learned", other), "more a year"] == pytest.approx(money)


def test_printed_regrets_are_those_of_the_figure() -> None:
    printed = section_5_3.printed_regrets()
    names = {
        p.name
        for p in section_5_3.figure_4_policies()
        if getattr(p, "bonus", "optimistic") == "optimistic"
    }
    assert set(printed.index) == names
    # Uniform play is UCB with the largest C: no curve but MV-LCB's lies above it.
    above = printed[printed > printed["UCB(C=1000)"]].index
    assert all(name.startswith("MV-LCB") for name in above)


def test_mv_lcb_readings_stay_on_their_side_of_uniform_play(result) -> None:
    """Keeping to the worst first reward is worse than uniform play, the sound rule is better.

    Differences of some 50 and 1000 standard errors of the mean: the error rate is negligible.
    """
    finals = section_5_3.regrets(result, "theoretical").mean("run").to_series()
    uniform = finals["UCB(C=1000)"]
    assert finals["MV-LCB(rho=1)"] < uniform < finals["MV-LCB(rho=1, bonus=printed)"]
