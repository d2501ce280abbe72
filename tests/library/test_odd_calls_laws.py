"""Odd values in every argument of `arms`, `problems`, `risk` and `criteria`.

Each call must give a right value, finite where it has to be, or an error that names the argument
and says what is allowed; no warning of NumPy. 141 arguments times 48 values are 6,768 calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from marab_lib import Problem, arms, criteria, problems, risk
from marab_lib.paper import battery

LAW = arms.Uniform([0.0, 0.1], 1.0)
PROBLEM = Problem(LAW)
X = [0.1, 0.5, 0.9]

VALUES = {
    "None": None,
    "text": "a",
    "digit": "1",
    "level": "0.1",
    "bytes": b"1",
    "bytearray": bytearray(b"1"),
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "-1": -1,
    "-0.0": -0.0,
    "1e308": 1e308,
    "-1e308": -1e308,
    "1e-310": 1e-310,
    "5e-324": 5e-324,
    "2**64": 2**64,
    "10**400": 10**400,
    "complex": 1j,
    "complex64": np.complex64(1),
    "true": True,
    "numpy true": np.array(True),
    "empty": [],
    "ragged": [[1, 2], [1]],
    "deep": [[[1.0]]],
    "one": [1.0],
    "array of one": np.array([0.5]),
    "texts": ["a", "b"],
    "masked": np.ma.masked,
    "masked array": np.ma.masked_array([-9.0, 0.2], [1, 0]),
    "masked in a list": [np.ma.masked_array([-9.0, 0.2], [1, 0]), [0.0, 1.0]],
    "decimal": Decimal("0.5"),
    "decimal nan": Decimal("NaN"),
    "decimal snan": Decimal("sNaN"),
    "fraction": Fraction(1, 2),
    "series": pd.Series([0.1, 0.9]),
    "series of one": pd.Series([0.5]),
    "frame": pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.5, 0.6, 0.7]}),
    "missing": pd.NA,
    "set": {1, 2},
    "dict": {"a": 1},
    "object": object(),
    "function": math.sqrt,
    "law": LAW,
    "problem": PROBLEM,
    "date": np.datetime64("2013-11-13"),
    "span": np.timedelta64(1),
    "float16": np.float16(0.5),
    "longdouble": np.longdouble("1e400"),
}


def of_law(law: arms.RewardLaw) -> Callable:
    """All numbers of a law, where it can be made at all."""

    def numbers_of(law) -> list:
        inside = [law.cdf(law.mean), law.quantile(0.3), law.cvar(0.3), law.cvar(1e-9)]
        assert np.all(np.asarray(inside[2]) <= law.quantile(0.3))
        return [law.mean, law.var, law.std, law.essential_infimum, law.essential_supremum, *inside,
                law.entropic_risk(2.0), law.rank_dependent_utility(), law.sample(3, 1),
                law.encode()[3]]  # fmt: skip

    result = numbers_of(law)
    assert np.all(np.asarray(law.lower_mass_constant) >= 0)  # infinite for a constant arm
    return result


ONE = [
    arms.Uniform(0, 1),
    arms.TruncatedGaussianMixture(0, 1, [0.5, 0.5], [0.2, 0.8], [0.1, 20]),
    arms.Empirical(X),
    arms.Discrete([0, 1], [0.1, 0.9]),
    arms.Bernoulli(0.3),
    arms.Beta(2, 3),
]
LAWS = {type(law).__name__: law for law in ONE}
MIXTURE = arms.TruncatedGaussianMixture


def table() -> dict[str, Callable]:
    """Every argument as "function argument", with the call that takes a value for it."""
    calls = {
        "Uniform low": lambda v: of_law(arms.Uniform(v, 1)),
        "Uniform high": lambda v: of_law(arms.Uniform(0, v)),
        "Mixture lower": lambda v: of_law(MIXTURE(v, 1, [1], [0.5], [0.3])),
        "Mixture upper": lambda v: of_law(MIXTURE(0, v, [1], [0.5], [0.3])),
        "Mixture weights": lambda v: of_law(MIXTURE(0, 1, v, [0.5], [0.3])),
        "Mixture means": lambda v: of_law(MIXTURE(0, 1, [1], v, [0.3])),
        "Mixture scales": lambda v: of_law(MIXTURE(0, 1, [1], [0.5], v)),
        "Empirical values": lambda v: of_law(arms.Empirical(v)),
        "Discrete values": lambda v: of_law(arms.Discrete(v, [0.5, 0.5])),
        "Discrete probabilities": lambda v: of_law(arms.Discrete([0, 1], v)),
        "Bernoulli p": lambda v: of_law(arms.Bernoulli(v)),
        "Beta a": lambda v: of_law(arms.Beta(v, 1)),
        "Beta b": lambda v: of_law(arms.Beta(1, v)),
        "make name": lambda v: arms.make(v, 0.5),
        "make p": lambda v: arms.make("Bernoulli", v).mean,
        "Problem arms": Problem,
        "Problem stream": lambda v: Problem(LAW, stream=v),
        "Problem.cvars alpha": PROBLEM.cvars,
        "Problem.cdfs x": PROBLEM.cdfs,
        "Problem.mean_variances rho": PROBLEM.mean_variances,
        "Problem.entropic_risks theta": PROBLEM.entropic_risks,
        "Problem.rank_dependent_utilities gamma": PROBLEM.rank_dependent_utilities,
        "Problem.rank_dependent_utilities exponent": lambda v: PROBLEM.rank_dependent_utilities(
            0.61, v
        ),
        "energy rewards": lambda v: battery.problem(v).means if v is not None else 0,
        "ceil_share alpha": lambda v: risk.ceil_share(v, 10),
        "ceil_share n": lambda v: risk.ceil_share(0.1, v),
        "exact_level alpha": risk.exact_level,
        "tail_sizes alpha": lambda v: risk.tail_sizes(v, 10),
        "tail_sizes horizon": lambda v: risk.tail_sizes(0.1, v),
        "tail_sizes share": lambda v: risk.tail_sizes(0.1, 5, v),
        "cvar x": lambda v: risk.cvar(v, 0.3),
        "cvar alpha": lambda v: risk.cvar(X, v),
        "cvar share": lambda v: risk.cvar(X, 0.3, v),
        "split cvar x": lambda v: risk.cvar(v, 0.3, "split"),
        "split cvar alpha": lambda v: risk.cvar(X, v, "split"),
        "mean x": risk.mean,
        "mean_variance x": lambda v: risk.mean_variance(v, 1),
        "mean_variance rho": lambda v: risk.mean_variance(X, v),
        "minimum x": risk.minimum,
        "entropic_risk x": lambda v: risk.entropic_risk(v, 2),
        "entropic_risk theta": lambda v: risk.entropic_risk(X, v),
        "probability_weight p": risk.probability_weight,
        "probability_weight gamma": lambda v: risk.probability_weight(0.5, v),
        "rank_dependent_utility x": risk.rank_dependent_utility,
        "rank_dependent_utility gamma": lambda v: risk.rank_dependent_utility(X, v),
        "rank_dependent_utility exponent": lambda v: risk.rank_dependent_utility(X, 0.61, v),
        "criteria.cvar alpha": lambda v: both(criteria.cvar(v)),
        "criteria.mean_variance rho": lambda v: both(criteria.mean_variance(v)),
        "criteria.entropic_risk theta": lambda v: both(criteria.entropic_risk(v)),
        "criteria.rank_dependent_utility gamma": lambda v: both(criteria.rank_dependent_utility(v)),
        "criteria.rank_dependent_utility exponent": lambda v: both(
            criteria.rank_dependent_utility(0.61, v)
        ),
        "criteria.mean problem": lambda v: criteria.mean().of_problem(v),
        "criteria.minimum problem": lambda v: criteria.minimum().of_problem(v),
        "criteria.cvar problem": lambda v: criteria.cvar(0.3).of_problem(v),
        "criteria.mean x": lambda v: criteria.mean().of_sample(v),
        "criteria.cvar x": lambda v: criteria.cvar(0.3).of_sample(v),
        "Criterion name": lambda v: criteria.Criterion(v, np.mean, np.mean),
        "Criterion of_problem": lambda v: criteria.Criterion("own", v, np.mean),
        "Criterion of_sample": lambda v: criteria.Criterion("own", np.mean, v),
        "Criterion of_problems": lambda v: criteria.Criterion("own", np.mean, np.mean, v),
    }
    for name, law in LAWS.items():
        calls[f"{name}.cdf x"] = law.cdf
        calls[f"{name}.quantile q"] = law.quantile
        calls[f"{name}.cvar alpha"] = law.cvar
        calls[f"{name}.entropic_risk theta"] = law.entropic_risk
        calls[f"{name}.rank_dependent_utility gamma"] = law.rank_dependent_utility
        calls[f"{name}.rank_dependent_utility exponent"] = lambda v, law=law: (
            law.rank_dependent_utility(0.61, v)
        )
        calls[f"{name}.sample n"] = lambda v, law=law: law.sample(v, 1)
        calls[f"{name}.sample seed"] = lambda v, law=law: law.sample(2, v)
        calls[f"{name}.sample run"] = lambda v, law=law: law.sample(2, 1, v)
        if law.atoms is None:
            calls[f"{name}.pdf x"] = law.pdf
    calls["cdf of many x"] = LAW.cdf
    calls["pdf of many x"] = LAW.pdf
    calls["quantile of many q"] = LAW.quantile
    for generator, arguments in {
        problems.proof_of_concept: ("n_arms", "mu_star", "a_star", "delta_max", "r_max"),
        problems.artificial: ("n_problems", "seed", "n_arms", "minima", "n_gaussians", "locations",
                              "spreads", "weights", "spread_is", "truncation"),
        problems.aligned_uniform: ("n_problems", "seed", "n_arms"),
        problems.multinomial: ("n_problems", "seed", "n_arms", "values"),
    }.items():  # fmt: skip
        usual = {} if generator is problems.proof_of_concept else {"n_problems": 2, "seed": 1}
        for argument in arguments:
            calls[f"{generator.__name__} {argument}"] = making(generator, argument, usual)
    return calls


def making(generator: Callable, argument: str, usual: dict) -> Callable:
    return lambda value: means(generator(**{**usual, argument: value}))


def both(criterion: criteria.Criterion) -> list:
    return [criterion.of_problem(PROBLEM), criterion.of_sample(np.array(X))]


def means(made: Problem | list[Problem]) -> list:
    return [problem.means for problem in ([made] if isinstance(made, Problem) else made)]


def numbers_in(result: object) -> Iterable[float]:
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from numbers_in(part)
    elif isinstance(result, (float, int, np.ndarray, np.floating)):
        yield from np.asarray(result, dtype=float).flat


CALLS = table()
# Arguments that a rule binds to another one, which the message may name instead.
PARTNERS = {"mu_star": "a_star", "means": "weights", "scales": "weights"}


@pytest.mark.parametrize("call", CALLS)
def test_odd_values_are_answered_or_refused_by_name(call):
    argument = call.split()[-1]
    names = argument, PARTNERS.get(argument, argument)
    faults = []
    for name, value in VALUES.items():
        try:
            result = CALLS[call](value)
        except (TypeError, ValueError, MemoryError) as error:
            told = " got " in str(error) or " would take about " in str(error)
            if not (told and any(n in str(error) for n in names)):
                faults.append((name, error))
        except Exception as error:  # a warning too
            faults.append((name, error))
        else:
            if not all(map(math.isfinite, numbers_in(result))):
                faults.append((name, result))
    assert not faults
