"""Odd arguments to every public function and class of `bounds` and `energy`.

Each argument in turn is replaced by each odd value, the others being right. The answer is inside
its mathematical range, or an error that names the argument; a warning is an error too.
"""

import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from marab_lib import Problem, arms, bounds, problems, statistics
from marab_lib.paper import battery as energy

LAW = arms.Uniform([0.2, 0, 0.15], 1)
PROBLEM = Problem(LAW)
CROSSED = Problem(arms.Uniform([0.2, 0.0], [0.6, 1.0]))
DUEL = Problem(arms.Uniform([0.25, 0.3], [0.95, 0.5]))
SUM = bounds.ScaledGeometricSum([0.1, 0.2], [0.5, 0.25])

ODD = [
    None, "", "a", "0.5", b"1", math.nan, math.inf, -math.inf, -1, 0, 1, 0.5, 2, 10, 2.5, 1e308,
    -1e308, 1e-310, 5e-324, 1e150, 1e-150, 1e16, 1 - 1e-16, 2**64, 10**400, -(10**400), 1j, True,
    False, [], [[]], (), {}, {"a": 1}, {1, 2}, [1, 2, 3], [0.1, 0.2], [[1, 2], [3]], ["a", "b"],
    [None], [1, "a"], [math.nan, 1], [1e308, 1e-310], [[[0.5]]], range(3), Decimal("0.1"),
    Decimal("NaN"), Decimal("1e-400"), Fraction(1, 3), Fraction(10**400, 3), np.float32(0.1),
    np.float64(1e-310), np.int8(3), np.array(0.5), np.array([True, False]), np.ones((2, 3, 4)),
    np.array([1, 2], dtype=object), np.array([1j]), np.datetime64("2014-06-01"),
    np.ma.masked_array([0.1, 0.2], [1, 0]), np.zeros(5, dtype=[("x", float)]),
    pd.Series([0.1, 0.2]), pd.DataFrame({"x": [0.1], "y": [0.2]}), pd.NaT, object(), int, len,
    (x for x in (1, 2)), arms.Uniform(0, 1), LAW, PROBLEM, [PROBLEM], [LAW], Problem, bounds,
]  # fmt: skip

ODD_PROBLEMS = [
    Problem([arms.Empirical([0.5]), arms.Empirical([0.2])]),
    Problem([arms.Empirical([0.5]), arms.Empirical([0.5])]),
    Problem([arms.Bernoulli(0.5), arms.Bernoulli(1e-300)]),
    Problem([arms.Bernoulli(0.0), arms.Bernoulli(1.0)]),
    Problem([arms.Beta(2, 2), arms.Beta(1, 1)]),
    Problem([arms.Beta(0.01, 1e3), arms.Uniform(-1e-3, 1)]),
    Problem([arms.Beta(1e3, 1), arms.Uniform(0.9, 1)]),
    Problem(arms.Uniform([0, -1e-11], [1e150, 1])),
    Problem(arms.Uniform([-1e150, 0], 1e150)),
    Problem(arms.Uniform([0, 1e-13], [1, 1])),
    Problem(arms.Uniform([0, 1e-20], [1e-15, 2e-15])),
    Problem(arms.Uniform([1e-3, 0], [2, 3])),
    Problem([arms.Discrete([0, 1], [1e-200, 1]), arms.Uniform(0.5, 0.7)]),
    Problem([arms.Discrete([0, 0.8], [1e-100, 1]), arms.Uniform(0.5, 0.7)]),
    Problem(arms.TruncatedGaussianMixture([0, 0.1], 1, [1], [-3], [0.1])),
    Problem([arms.Discrete([-1e100, 0.5], [1e-111, 1]), arms.Empirical([0.5])]),
    *problems.aligned_uniform(2, 1),
    *problems.artificial(2, 1, n_arms=3),
    problems.proof_of_concept(),
]

# --- what is called, with right arguments and the range of the answer ----------------------

UNIT, COST, ANY = (0, 1), (0, 1.7e308), (-1.7e308, 1.7e308)


def _moments(law):
    return [law.mean, law.var, *law.cdf_bounds([0, law.mean]), *law.quantile_bounds(0.5)]


def _bracket(pair):
    low, high = pair
    assert np.all(np.asarray(low) <= np.asarray(high))
    return pair


BOUNDS = [
    (bounds.minimum_exceedance, {"law": LAW, "t": 3, "eps": 0.1}, UNIT),
    (bounds.lemma_4_1_power, {"law": LAW, "t": 3, "eps": 0.1, "A": 0.5}, UNIT),
    (bounds.lemma_4_1, {"law": LAW, "t": 3, "eps": 0.1, "A": 0.5}, UNIT),
    (bounds.exponential_rate, {"law": LAW}, (0, math.inf)),
    (bounds.lemma_4_2_exact, {"arms": LAW, "t": 3, "eps": 0.1}, UNIT),
    (bounds.lemma_4_2_product, {"arms": LAW, "t": 3, "eps": 0.1, "A": 0.5}, UNIT),
    (bounds.lemma_4_2_power, {"arms": LAW, "t": 3, "eps": 0.1, "A": 0.5}, (0, 20)),
    (bounds.lemma_4_2, {"arms": LAW, "t": 3, "eps": 0.1, "A": 0.5}, (0, 20)),
    (bounds.event_complement, {"arms": LAW, "t": 3, "eps": 0.1, "A": 0.5}, UNIT),
    (bounds.event_complement_exact, {"arms": LAW, "t": 3, "eps": 0.1}, UNIT),
    (bounds.prop_4_3, {"problem": PROBLEM, "t": 50, "delta": 0.1, "A": 0.5}, COST),
    (bounds.prop_4_3_least_t, {"problem": PROBLEM, "condition": "printed", "A": 0.5}, COST),
    (bounds.prop_4_3_expectation, {"problem": PROBLEM, "t": 50, "condition": "proof", "A": 0.5},
     COST),
    (bounds.prop_4_4, {"problem": PROBLEM, "t": 50, "delta": 0.1, "A": 0.5}, COST),
    (bounds.prop_4_4_least_t, {"problem": PROBLEM, "A": 0.5}, COST),
    (bounds.prop_4_4_expectation, {"problem": PROBLEM, "t": 50, "A": 0.5}, COST),
    (bounds.auer_2002, {"problem": PROBLEM, "t": 50}, COST),
    (bounds.constant_bound, {"problem": PROBLEM, "A": 0.5}, COST),
    (bounds.constant_bound_margins, {"problem": PROBLEM, "A": 0.5}, COST),
    (bounds.constant_bound_probability, {"problem": PROBLEM, "delta": 0.1, "A": 0.5}, COST),
    (lambda problem: list(vars(bounds.assumptions(problem)).values()), {"problem": PROBLEM}, UNIT),
    (lambda **flags: list(vars(bounds.Assumptions(**flags)).values()),
     dict.fromkeys(("lower_mass", "bounded", "aligned", "separated", "margins"), True), UNIT),
    (bounds.stopping_probabilities, {"problem": PROBLEM, "ties": "lowest"}, UNIT),
    (lambda problem, ties: _moments(bounds.limit_regret(problem, ties)),
     {"problem": PROBLEM, "ties": "lowest"}, COST),
    (bounds.unsettled_chance, {"problem": PROBLEM, "t": 50}, UNIT),
    (bounds.linear_asymptote, {"problem": CROSSED, "ties": "lowest"}, ANY),
    (bounds.shared_minimum_share, {"density_1": 1.0, "density_2": 3.0}, UNIT),
    (lambda scales, p: _moments(bounds.ScaledGeometricSum(scales, p)),
     {"scales": [0.1, 0.2], "p": [0.5, 0.25]}, COST),
    (lambda x, points: _bracket(SUM.cdf_bounds(x, points)), {"x": 1.0, "points": 100}, UNIT),
    (lambda q, points: _bracket(SUM.quantile_bounds(q, points)), {"q": 0.5, "points": 100}, COST),
    (bounds.marab_stuck_probability, {"problem": DUEL, "alpha": 0.3, "rewards": 1}, UNIT),
    (bounds.marab_cvar_regret, {"problem": DUEL, "t": 9, "alpha": 0.3, "rewards": 1}, COST),
    (bounds.expected_pulls, {"problem": PROBLEM, "t": 50}, COST),
    (bounds.expected_regret, {"problem": PROBLEM, "t": 50}, COST),
    (bounds.stuck_exponent, {"law": arms.Uniform(0.2, 1), "alpha": 0.3, "gap": 0.1}, (0, math.inf)),
    (bounds.marab_rounds_regret,
     {"problem": DUEL, "t": 9, "alpha": 0.3, "rounds": 2, "C": 0.1, "of": "cvar"}, COST),
    (bounds.forced_marab_regret,
     {"problem": DUEL, "t": 9, "alpha": 0.3, "scale": 1.0, "of": "cvar"}, COST),
    (statistics.proportion_interval, {"successes": [1, 2], "runs": 10, "confidence": 0.9}, UNIT),
    (statistics.interval_coverage, {"p": 0.5, "runs": 10, "confidence": 0.9}, UNIT),
]  # fmt: skip

DAYS = energy.Days.repeat(np.linspace(0.5, 1.5, 48))
DEMAND = energy.load_demand()
TABLE = energy.reward_table(DAYS)
DAY = energy.operate(energy.strategies()["shave 1.00"], DAYS)


def _evening(time, demand, soc, weather):
    return 0.2 if time > 17 else 0.0


def _with_battery(**fields):
    battery = energy.Battery(**fields)
    return energy.operate(energy.strategies(battery)["as mean week"], DAYS, battery).unit_cost()


def _over(days):
    return energy.operate(_evening, days).unit_cost()


ENERGY = [
    (_with_battery, {
        "capacity": 2.0, "power": 0.5, "charge_efficiency": 0.95, "discharge_efficiency": 0.95,
        "reserve": 0.1, "start": 0.5, "leak": 0.001}, ANY),
    (lambda **f: DAY.cost(energy.Tariff(**f)),
     {"price": 1.0, "overrun": 5.0, "subscribed": 1.2, "end_value": 1.0}, ANY),
    (lambda demand, weather, dates: _over(energy.Days(demand, weather, dates)),
     {"demand": DAYS.demand, "weather": DAYS.weather, "dates": ["1 June"]}, ANY),
    (lambda demand, weather: _over(energy.Days.repeat(demand, weather)),
     {"demand": 1.0, "weather": 15.0}, ANY),
    (lambda power, temperature, work_day, dates:
     energy.Demand(power, temperature, work_day, dates).days([9]).served,
     {"power": DEMAND.power, "temperature": DEMAND.temperature, "work_day": DEMAND.work_day,
      "dates": DEMAND.dates}, COST),
    (lambda numbers: DEMAND.days(numbers).served, {"numbers": [151, 152]}, COST),
    (lambda n_days, first, n: DEMAND.other_days(n_days, first, n).served,
     {"n_days": 5, "first": 100, "n": 7}, COST),
    (lambda folder: DEMAND if energy.load_demand(folder) is None else 0, {"folder": None}, UNIT),
    (lambda folder: energy.load_rewards(folder).to_numpy(), {"folder": None}, UNIT),
    (lambda stored, request, demand: np.concatenate(
        [x.ravel() for x in energy.Battery().step(stored, request, demand)]),
     {"stored": np.ones(2), "request": np.ones(2), "demand": np.ones(2)}, (0, 1e16)),
    (lambda demand, charge, discharge, stored, battery:
     energy.Operation(demand, charge, discharge, stored, battery).unit_cost(),
     {"demand": DAY.demand, "charge": DAY.charge, "discharge": DAY.discharge,
      "stored": DAY.stored, "battery": energy.Battery()}, ANY),
    (lambda tariff: DAY.cost(tariff), {"tariff": energy.Tariff()}, ANY),
    (lambda tariff: DAY.unit_cost(tariff), {"tariff": energy.Tariff()}, ANY),
    (lambda strategy, days, battery: energy.operate(strategy, days, battery).unit_cost(),
     {"strategy": _evening, "days": DAYS, "battery": energy.Battery()}, ANY),
    (lambda power: energy.operate(lambda *given: power, DAYS).unit_cost(), {"power": 0.1}, ANY),
    (lambda rewards: energy.problem(rewards).means, {"rewards": TABLE.rewards}, ANY),
    (energy.days_ago, {"series": DAYS.demand, "days": 1}, ANY),
    (lambda battery, tariff: len(energy.strategies(battery, tariff)),
     {"battery": energy.Battery(), "tariff": energy.Tariff()}, (20, 20)),
    (lambda days, battery, tariff, plans:
     energy.reward_table(days, battery, tariff, plans).rewards,
     {"days": DAYS, "battery": energy.Battery(), "tariff": energy.Tariff(),
      "plans": {"a": _evening, "b": energy.strategies()["idle"]}}, UNIT),
    (lambda names, dates, unit_cost: energy.RewardTable(names, dates, unit_cost).rewards,
     {"names": ("a", "b"), "dates": [1], "unit_cost": [[1.0], [2.0]]}, UNIT),
    (TABLE.reward, {"unit_cost": 1.0}, ANY),
    (TABLE.to_unit_cost, {"reward": 0.5}, ANY),
    (lambda alpha: TABLE.summary(alpha).to_numpy(), {"alpha": 0.1}, UNIT),
    (lambda alpha: len(TABLE.best(alpha)), {"alpha": 0.1}, (3, 3)),
]  # fmt: skip


def _answer(function, given, span, named):
    """Call it: the answer lies in its span, or the error says which argument, and what it got."""
    try:
        values = function(**given)
    except (TypeError, ValueError, MemoryError, FileNotFoundError) as error:
        text = str(error)
        assert any(re.search(rf"\b{name}\b", text) for name in named), text
        assert re.search(r"\bgot\b|returned|would take|is missing", text), text
        return
    for part in values if isinstance(values, (list, tuple)) else [values]:
        part = np.asarray(part, dtype=float)
        assert np.all((part >= span[0]) & (part <= span[1])), part


def _name(case):
    function, given, _ = case
    source = inspect.getsource(function) if function.__name__ == "<lambda>" else ""
    found = re.search(r"(?:bounds|energy|SUM|DEMAND|DAY|TABLE)\.([\w.]+)", source)
    return f"{found[1] if found else function.__name__}-{'-'.join(given)}"


def _names_of(case, argument, value):
    """What an error may name: the argument; those it does not go with, if it is right alone."""
    given = case[1]
    together = set(given) if isinstance(value, (int, float, list, np.ndarray)) else set()
    more = {"problem": {"A", "mean_gaps", "minimum_gaps"}, "arms": {"A"}, "law": {"A"}}
    more["rewards"] = {"values", "arms"}  # of the law, and of the problem
    more["power"] = {"must return MW"}
    return {argument} | together | more.get(argument, set())


@pytest.mark.parametrize("case", BOUNDS + ENERGY, ids=_name)
def test_odd_values(case):
    function, given, span = case
    for argument in given:
        for value in ODD:
            named = _names_of(case, argument, value)
            try:
                _answer(function, {**given, argument: value}, span, named)
            except Exception as error:
                raise AssertionError(f"{argument} = {value!r:.100}") from error


EXACT = (bounds.event_complement_exact, bounds.expected_pulls, bounds.expected_regret)
SUMS = (bounds.marab_rounds_regret, bounds.forced_marab_regret)
LARGE = (1, 10**6, 1e100)


@pytest.mark.parametrize("case", [c for c in BOUNDS if {"problem", "arms"} & set(c[1])], ids=_name)
def test_odd_problems(case):
    function, given, span = case
    about = ("problem", "arms", "A", "mean_gaps", "minimum_gaps", "t", "scales", "p")
    argument = "problem" if "problem" in given else "arms"
    for problem in ODD_PROBLEMS:
        for constant in ({}, {"A": None}, {"A": 1e-150}):
            if constant and "A" not in given:
                continue
            # What is slow takes smaller numbers of pulls, or all at once.
            times = (1, 50) if function in EXACT else (LARGE,) if function in SUMS else LARGE
            for t in times if "t" in given else (None,):
                changed = {**given, argument: problem, **constant} | ({"t": t} if t else {})
                try:
                    _answer(function, changed, span, about)
                except Exception as error:
                    laws = [str(law) for law in problem.arms]
                    raise AssertionError(f"{laws}, {constant}, t = {t}") from error


def test_all_that_is_public_is_called():
    called = " ".join(f"{inspect.getsource(f)} {f.__name__}" for f, *_ in BOUNDS)
    assert {name for name in bounds.__all__ if name not in called} == set()
    called = " ".join(f"{inspect.getsource(f)} {f.__name__}" for f, *_ in ENERGY)
    # `_with_battery` makes a Battery; variants takes no arguments.
    assert {name for name in energy.__all__ if name not in called} <= {"Battery", "variants"}
