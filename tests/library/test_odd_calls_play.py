"""Odd values for every argument of `regret`, `comparison`, `policies`, `simulate` and `chunks`.

Each call must give an answer, or a TypeError, ValueError or MemoryError that names the argument;
never another error and, warnings being errors here, never one of NumPy's.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re

import numpy as np
import pandas as pd
import pytest
import xarray

from marab_lib import arms, comparison, criteria, policies, problems, regret, simulate
from marab_lib.simulation.chunks import by_chunks


class Thing:
    """An object that is nothing in particular."""


THING = Thing()
NUMBERS = [0, 1, -1, 2, 0.5, 1e308, -1e308, 1e-310, 5e-324, 2**64, 10**400, np.float32(0.1)]
OTHERS = [
    None, "a", "", b"1", float("nan"), float("inf"), -float("inf"), 1j, True, False, [], (), {},
    set(), {1}, {"a": 1}, [1], [[1], [1, 2]], ["a"], [None], THING, Thing, int, np.array([]),
    np.array([0.1, 0.2]), np.array(0.5), np.datetime64("2020-01-01"), pd.Series([1.0]),
    pd.Series([0.0, 1.0]), pd.Series(["a"]), pd.DataFrame({"a": [1.0]}), pd.DataFrame(),
    xarray.DataArray([1.0], dims="run"), xarray.DataArray(["a"], dims="policy"),
    xarray.DataArray(1j), xarray.Dataset(), xarray.Dataset({"pulls": 1.0}), lambda *_: 1, range(0),
    range(2), slice(1), criteria.Criterion, criteria.cvar, policies.Policy, policies.UCB,
    problems.Problem, arms.Uniform(0, 1), "1e-400", "1/2", iter([]), Exception("x"),
]  # fmt: skip
ODD = NUMBERS + OTHERS


def name_of(value: object) -> str:
    text = type(value).__name__ if isinstance(value, int) and abs(value) > 2**64 else repr(value)
    return text.replace("\n", " ")[:40]


def tried(call, argument: str, value: object, also: str = "") -> str | None:
    """What is wrong with the answer to an odd call, or None."""
    try:
        call()
    except (TypeError, ValueError, MemoryError) as error:
        text = str(error)
        if not re.search(rf"\b({argument}{also})\b", text):
            return f"{argument}={name_of(value)}: {type(error).__name__} does not name it: {text}"
        if len(text) > 1500:
            return f"{argument}={name_of(value)}: a message of {len(text)} characters"
    except BaseException as error:
        return f"{argument}={name_of(value)}: {type(error).__name__}: {error}"
    return None


PROBLEM = problems.Problem(
    [arms.Uniform(0.1, 0.6), arms.Beta(2, 3), arms.Discrete([0, 1], [0.4, 0.6])]
)
BERNOULLI = problems.Problem(arms.Bernoulli([0.3, 0.6, 0.5]))


@policies.index
def leader(t, arms, state, params, memory, history):
    for a in arms:
        a.index = a.mean


def plain(policy: type) -> policies.Policy:
    return policy(leader) if policy is policies.Custom else policy()


EVERY_POLICY = [
    value
    for name in policies.__all__
    if isinstance(value := getattr(policies, name), type) and value is not policies.Policy
]
PARAMETERS = [(p, f.name) for p in EVERY_POLICY for f in dataclasses.fields(p)]


def test_all_policies_are_tried():
    assert len(EVERY_POLICY) == 23
    assert len(PARAMETERS) == 166


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda p: p.__name__)
def test_odd_parameters_of_policies(policy):
    """161 parameters, 63 odd values each: 10,143 calls; what is accepted is played, 200 pulls."""
    problem = BERNOULLI if policy in (policies.BernoulliMVTS, policies.MCVTS) else PROBLEM
    own = functools.partial(policy, leader) if policy is policies.Custom else policy
    wrong = []
    for f in dataclasses.fields(policy):
        for value in ODD:
            if policy is policies.Custom and f.name == "function":
                make = functools.partial(policy, value)
            else:
                make = functools.partial(own, **{f.name: value})

            def call(make=make):
                result = simulate(problem, make(), 200, 1, 1, checkpoints=1)
                assert int(result.pulls.sum()) == 200
                assert len(str(result.policy.values[0])) < 300

            wrong.append(tried(call, f.name, value, "|policies"))
    assert not list(filter(None, wrong))


NO_NUMBERS = [b"1", "a", "1", True, 1j, [], [0.5], (), {}, set(), THING, Thing, np.array([0.5]),
              pd.Series([0.5]), pd.Series([0.5, 1.0]), np.datetime64("2020-01-01")]  # fmt: skip


def test_what_is_no_number_is_refused():
    """Every parameter of every policy whose default is a number, or None in its place."""
    wrong, n = [], 0
    for policy in EVERY_POLICY:
        for f in dataclasses.fields(policy):
            numeric = "float" in f.type or "int" in f.type
            if policy is policies.Custom or not numeric or f.name in ("alpha", "support", "values"):
                continue
            for value in NO_NUMBERS:
                n += 1
                try:
                    policy(**{f.name: value})
                except (TypeError, ValueError):
                    continue
                wrong.append((policy.__name__, f.name, value))
    assert not wrong
    assert n == 46 * 16


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda p: p.__name__)
@pytest.mark.parametrize("extreme", [5e-324, 1e-310, 1e-9, 1 - 2**-53, 1e100])
def test_all_parameters_extreme_at_once(policy, extreme):
    """Played for 300 pulls without a warning, all numbers that may be so at that extreme."""
    if policy is policies.Custom:
        return
    given = {}
    for f in dataclasses.fields(policy):
        try:
            policy(**{f.name: extreme})
        except (TypeError, ValueError):
            continue
        given[f.name] = extreme
    if "support" in {f.name for f in dataclasses.fields(policy)} and extreme == 1e100:
        given["support"] = (-1e100, 1e100)
    problem = BERNOULLI if policy in (policies.BernoulliMVTS, policies.MCVTS) else PROBLEM
    given.pop("upper", None)  # of the size of the rewards
    given.pop("tau", None)  # within the horizon
    assert simulate(problem, policy(**given), 300, 2, 1, checkpoints=1).pulls.sum() == 600


@pytest.mark.parametrize(
    "policy",
    [
        policies.UCB(1e100),
        policies.UCBV(zeta=1e100),
        policies.UUCB(c=1e100),
        policies.MaRaBOUT(C=1e100),
    ],
)
def test_extreme_parameters_do_not_stick_to_the_first_arm(policy):
    """Weights of exploration at their largest: no arm is left alone, all indices being finite."""
    pulls = simulate(BERNOULLI, policy, 300, 1, 1).pulls.values.ravel()
    assert pulls.tolist() == [100, 100, 100]


RESULT = simulate(
    [PROBLEM, PROBLEM], [policies.UCB(), policies.MIN()], 50, 3, 1,
    record=("rewards", "arms", "pulls"), checkpoints=[10, 50],
)  # fmt: skip
BOTH = [PROBLEM, PROBLEM]
MEAN = criteria.mean()
FINAL = RESULT.theoretical_regret.isel(checkpoint=-1)
TABLE = comparison.regret_table(RESULT, BOTH, [MEAN], "MIN")


def keep(result, _):
    return result[["pulls"]]


def valid() -> dict:
    """For each function the arguments of a call that works."""
    run = {"problems": BOTH, "horizon": 20, "runs": 2, "seed": 1}
    return {
        regret.pseudo_regret: {"pulls": RESULT.pulls, "values": RESULT["mean"]},
        regret.theoretical_regret: {"result": RESULT},
        regret.empirical_regret: {"result": RESULT},
        regret.criterion_regret: {
            "result": RESULT, "problems": BOTH, "criterion": MEAN, "kind": "empirical",
            "at": "end"},
        regret.cvar_regret: {
            "result": RESULT, "problems": BOTH, "alpha": 0.1, "kind": "empirical",
            "at": "end"},
        regret.mean_variance_regret: {
            "result": RESULT, "problems": BOTH, "rho": 1.0, "kind": "empirical",
            "at": "end"},
        regret.sorted_rewards: {"result": RESULT, "average": "after"},
        regret.last_other_pull: {"result": RESULT, "arm": 1},
        regret.mean_and_error: {"x": FINAL, "over": "run"},
        regret.paired_difference: {
            "x": FINAL, "one": "MIN", "other": "UCB(C=0.001)", "over": ("problem", "run")},
        comparison.regret_table: {
            "result": RESULT, "problems": BOTH, "criteria": [MEAN], "reference": "MIN",
            "kind": "pseudo", "level": 0.9},
        comparison.compare: {
            "own": policies.UCB(), **run, "alpha": 0.1, "criteria": MEAN, "others": policies.MIN()},
        comparison.everyone: {"alpha": 0.1},
        comparison.in_words: {"table": TABLE, "by": "policy", "pairs": True},
        comparison.wrong_runs: {"result": RESULT, "best": 0},
        comparison.growth: {
            "paths": RESULT.theoretical_regret.isel(problem=0), "early": 10},
        comparison.stuck_runs: {
            "result": RESULT, "problems": BOTH, "criterion": MEAN, "early": 10, "near": 0.1,
            "share": 0.01},
        comparison.best_policies: {
            "result": RESULT, "problems": BOTH, "teams": [(MEAN, [policies.MIN()])],
            "times": [10]},
        policies.for_cvar: {"alpha": 0.1},
        policies.since_2013: {"alpha": 0.1, "rho": 1.0, "theta": 5.0},
        policies.index: {"function": leader},
        by_chunks: {
            **run, "policies": policies.MIN(), "reduce": keep, "size": 1, "record": ("arms",),
            "threads": 1, "checkpoints": [5]},
        simulate: {
            **run, "policies": policies.MIN(), "threads": 1, "record": ("arms",),
            "checkpoints": [5], "progress": None, "client": None, "store": None},
    }  # fmt: skip


VALID = valid()
ALSO = {"x": "|over"}  # what a message may name instead


@pytest.mark.parametrize("function", VALID, ids=lambda f: f.__name__)
def test_odd_arguments(function, tmp_path, monkeypatch):
    """87 arguments of 24 functions, 63 odd values each: 5,481 calls."""
    monkeypatch.chdir(tmp_path)  # a store of odd name is made here
    function(**VALID[function])
    own = inspect.signature(function).parameters
    assert set(VALID[function]) == {n for n, p in own.items() if p.kind != p.VAR_KEYWORD}
    wrong = []
    for argument in VALID[function]:
        for value in ODD:
            if argument in ("progress", "reduce") and callable(value):
                continue  # it is called, and what it raises is its own
            call = functools.partial(function, **VALID[function] | {argument: value})
            wrong.append(tried(call, argument, value, ALSO.get(argument, "")))
    assert not list(filter(None, wrong))


def test_all_functions_are_tried():
    public = {getattr(module, name) for module in (regret, comparison) for name in module.__all__}
    assert public <= set(VALID)
    assert len(VALID) == 23
    assert sum(map(len, VALID.values())) == 87
    assert len(ODD) == 63


@pytest.mark.parametrize("function", VALID, ids=lambda f: f.__name__)
def test_results_that_lack_a_part(function):
    """Each variable and each dimension missing in turn: an answer, or an error that names it."""
    if "result" not in VALID[function]:
        return
    wrong = []
    for name in RESULT.variables:
        call = functools.partial(
            function, **VALID[function] | {"result": RESULT.drop_vars(name, errors="ignore")}
        )
        wrong.append(tried(call, "result", f"without {name}"))
    for dim in RESULT.dims:
        call = functools.partial(function, **VALID[function] | {"result": RESULT.isel({dim: 0})})
        wrong.append(tried(call, "result", f"one {dim}", "|runs"))
        call = functools.partial(
            function, **VALID[function] | {"result": RESULT.isel({dim: 0}, drop=True)}
        )
        wrong.append(tried(call, "result", f"one {dim}", "|runs"))
    assert not list(filter(None, wrong))
