"""Estimators of risk: properties, hand-made cases, exact ceilings."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marab_lib import risk

samples = st.lists(st.floats(-1, 1), min_size=1, max_size=60)
levels = st.integers(1, 99).map(lambda k: str(Fraction(k, 100)))
quiet = settings(deadline=None, derandomize=True)


@given(samples, levels)
@quiet
def test_cvar_equals_a_sort(x, alpha):
    lowest = sorted(x)[: math.ceil(Fraction(alpha) * len(x))]
    assert risk.cvar(x, alpha) == pytest.approx(math.fsum(lowest) / len(lowest), abs=1e-15)


@given(samples, levels)
@quiet
def test_cvar_lies_between_minimum_and_mean(x, alpha):
    assert min(x) - 1e-15 <= risk.cvar(x, alpha) <= np.mean(x) + 1e-15


@given(samples, levels, levels)
@quiet
def test_cvar_grows_with_alpha(x, one, other):
    low, high = sorted((one, other), key=Fraction)
    assert risk.cvar(x, low) <= risk.cvar(x, high) + 1e-15


@given(samples, levels, st.floats(-3, 3), st.floats(0, 3))
@quiet
def test_cvar_follows_shift_and_scale(x, alpha, shift, scale):
    moved = shift + scale * np.array(x)
    assert risk.cvar(moved, alpha) == pytest.approx(shift + scale * risk.cvar(x, alpha), abs=1e-12)


@given(levels, st.integers(0, 400))
@quiet
def test_tail_sizes_are_exact(alpha, n):
    assert risk.tail_sizes(alpha, n)[-1] == math.ceil(Fraction(alpha) * n)


@pytest.mark.parametrize("share", ["ceil", "floor", "round"])
@pytest.mark.parametrize(
    "alpha",  # some of whose products with n need more than 64 bits
    [0.2, 1 / 3, "0.123456789012345678901", Fraction(10**18 + 1, 3 * 10**18), Fraction(2, 10**30)],
)
def test_tail_sizes_are_those_of_whole_numbers(alpha, share):
    p, q = risk.exact_level(alpha).as_integer_ratio()
    exact = {
        "ceil": lambda n: -(-p * n // q),
        "floor": lambda n: p * n // q,
        "round": lambda n: (2 * p * n + q) // (2 * q),
    }[share]
    sizes = risk.tail_sizes(alpha, 70_000, share)
    assert sizes.dtype == np.int64
    assert sizes.tolist() == [0, *(max(1, exact(n)) for n in range(1, 70_001))]


def test_tail_sizes_hold_no_list():
    import tracemalloc

    tracemalloc.start()
    sizes = risk.tail_sizes(0.2, 10**6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * sizes.nbytes
    with pytest.raises(MemoryError, match="horizon=1000000000000000 would take about"):
        risk.tail_sizes(0.2, 10**15)


@pytest.mark.parametrize("x", [["0.1"], "0.1", [True, False], True, [0.5j], [Fraction(1, 2), "1"]])
def test_samples_of_no_numbers_are_named(x):
    with pytest.raises(TypeError, match="x must be numbers, got"):
        risk.cvar(x, 0.5)


def test_samples_may_be_numbers_of_any_kind():
    for x in ([1, 2], [Fraction(1), 2], np.float32([1, 2]), range(1, 3), (1, 2.0), [2**70, 1]):
        assert risk.minimum(x) == 1


def test_ceilings_where_floating_point_errs():
    assert math.ceil(0.07 * 100) == 8  # what is avoided
    assert risk.ceil_share(0.07, 100) == 7
    assert risk.tail_sizes(0.07, 100)[100] == 7
    wrong = [n for n in range(1, 4001) if math.ceil(0.07 * n) != risk.ceil_share(0.07, n)]
    assert wrong[:3] == [100, 200, 300]


@pytest.mark.parametrize("share", ["ceil", "floor", "round"])
@pytest.mark.parametrize("alpha", [0.001, 0.37, 0.999])
def test_tail_sizes_grow_by_at_most_one(alpha, share):
    steps = np.diff(risk.tail_sizes(alpha, 5000, share))
    assert set(steps.tolist()) <= {0, 1}
    assert steps[0] == 1


def test_by_hand():
    x = [0.9, 0.1, 0.5, 0.3]
    assert risk.cvar(x, 0.25) == risk.minimum(x) == 0.1
    assert risk.cvar(x, 0.26) == pytest.approx(0.2)
    assert risk.mean_variance(x, 2) == pytest.approx(0.0875 - 0.9)
    np.testing.assert_allclose(risk.cvar([x, x], 0.5), [0.2, 0.2])


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (risk.cvar, ([], 0.1), "x must hold at least one value"),
        (risk.cvar, ([0.1, math.nan], 0.1), "x must be finite numbers, got nan"),
        (risk.cvar, ([1, 10**400], 0.1), "x must be finite numbers, got"),
        (risk.cvar, ([0.1], 1), "alpha must .*, got 1"),
        (risk.cvar, ([0.1], 0.5, "floor"), "share must be one of 'ceil', 'split', got"),
        (risk.mean_variance, ([0.1], -1), "rho must .*, got -1"),
        (risk.mean_variance, ([0.1], 10**400), "rho must .*, got"),
        (risk.tail_sizes, (0.1, -1), "horizon must .* >= 0, got -1"),
        (risk.tail_sizes, (0.1, 10**400), "horizon must .* >= 0 and below"),
        (risk.tail_sizes, (0.1, 5, "up"), "share must be one of 'ceil', 'floor', 'round'"),
        (risk.tail_sizes, (0.1, 5, np.array(["ceil"] * 2)), "share must be .*, got array"),
        (risk.exact_level, ("1e-400",), "alpha must .*, got '1e-400'"),
        (risk.exact_level, ("1e-999999999",), "alpha must .*, got"),
        (risk.exact_level, ("0.99999999999999999999",), "alpha must .*, got '0.9999"),
        (risk.exact_level, (Fraction(1, 10**400),), "alpha must"),
        (risk.exact_level, (10**5000,), "alpha must .*, got int of 16610 bits"),
        (risk.entropic_risk, ([0.1], 0), "theta must .*, got 0"),
        (risk.probability_weight, ([0, 2],), r"p must .*, got 2.0 \(at index 1\)"),
        (risk.probability_weight, (0.5, 0.2), r"gamma must .* \[0.28, 1\], got"),
        (risk.rank_dependent_utility, ([-1.0], 0.61, 0.88), "x must be >= 0 unless exponent"),
    ],
)
def test_bad_input_is_named(function, given, message):
    with pytest.raises(ValueError, match=message):
        function(*given)


# --- entropic risk, rank-dependent utility, split CVaR ------------------------------------------


@given(samples, levels)
@quiet
def test_split_cvar_is_that_of_the_empirical_law(x, alpha):
    from marab_lib import arms

    assert risk.cvar(x, alpha, "split") == pytest.approx(arms.Empirical(x).cvar(alpha), abs=1e-12)


@given(samples, st.floats(0.1, 50))
@quiet
def test_entropic_risk_is_that_of_the_empirical_law(x, theta):
    from marab_lib import arms

    assert risk.entropic_risk(x, theta) == pytest.approx(
        arms.Empirical(x).entropic_risk(theta), abs=1e-10
    )
    assert min(x) - 1e-12 <= risk.entropic_risk(x, theta) <= np.mean(x) + 1e-12


@given(samples, st.floats(0.28, 1))
@quiet
def test_rank_dependent_utility_is_that_of_the_empirical_law(x, gamma):
    from marab_lib import arms

    got = risk.rank_dependent_utility(x, gamma)
    assert got == pytest.approx(arms.Empirical(x).rank_dependent_utility(gamma), abs=1e-9)
    assert min(x) - 1e-12 <= got <= max(x) + 1e-12


@pytest.mark.parametrize("theta", [1e-300, 1e-17, 1e-15, 1e-10, 1e-6, 1e-5, 3e-5, 1e-4])
def test_entropic_risk_of_little_aversion(theta):
    """Mean less theta / 2 times the variance; the third cumulant of these is 0."""
    x = [0.0, 1.0]
    assert risk.entropic_risk(x, theta) == pytest.approx(0.5 - theta / 8, abs=2e-11)
    assert risk.entropic_risk([x, [3, 3]], theta)[1] == 3


def test_entropic_risk_of_much_aversion():
    assert risk.entropic_risk([0.25, 7.0], 1e308) == 0.25


def test_entropic_risk_does_not_overflow():
    assert risk.entropic_risk([1000.0, 2000.0], 1.0) == pytest.approx(1000 + math.log(2))


def test_probability_weight_increases_and_has_the_published_shape():
    p = np.linspace(0, 1, 1001)
    for gamma in (0.28, 0.61, 1.0):
        w = risk.probability_weight(p, gamma)
        assert (np.diff(w) > 0).all()
        assert (w[0], w[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(risk.probability_weight(p, 1.0), p, atol=1e-15)
    # Overweighted when small, underweighted when large, crossing near 0.34 for gamma = 0.61.
    crossing = p[np.flatnonzero(np.diff(np.sign(risk.probability_weight(p)[1:-1] - p[1:-1])))[0]]
    assert 0.32 < crossing < 0.36


# --- what a level and a sample may be ------------------------------------------------------------


@pytest.mark.parametrize(
    "level",
    [0.1, np.float16(0.1), np.float32(0.1), np.float64(0.1), np.array(0.1, np.float32),
     np.longdouble("0.1"), "0.1", "1/10", Fraction(1, 10), Decimal("0.1")],
    ids=repr,
)  # fmt: skip
def test_a_level_is_its_decimal_text(level):
    assert risk.exact_level(level) == Fraction(1, 10)
    assert risk.ceil_share(level, 10) == 1


def test_a_policy_plays_the_level_that_its_name_says():
    from marab_lib import Problem, arms, policies, simulate

    problem = Problem(arms.Uniform([0.0, 0.1], [1.0, 0.8]))
    short, plain = policies.MaRaB(np.float32(0.1)), policies.MaRaB(0.1)
    assert short.name == plain.name
    got = [simulate(problem, p, 500, 3, 1).pulls.values.tolist() for p in (short, plain)]
    assert got[0] == got[1]


@pytest.mark.parametrize(
    "level", [b"0.1", [0.1], np.array([0.1]), np.ma.masked, 0.1j, Decimal("NaN"), Decimal("sNaN"),
              Decimal("1e-999999999")], ids=repr,
)  # fmt: skip
def test_what_is_no_level(level):
    with pytest.raises(ValueError, match=r"alpha must be a number in \(0, 1\), got"):
        risk.exact_level(level)


MASKED = np.ma.masked_array([-9.0, 0.2], [True, False])


@pytest.mark.parametrize(
    "x", [MASKED, [MASKED], (MASKED, [0.1, 0.2]), [np.ma.masked, 1.0], [[MASKED]]], ids=range(5)
)
def test_masked_values_are_refused(x):
    with pytest.raises(ValueError, match="x must have no masked values, got"):
        risk.minimum(x)


def test_a_masked_array_without_masked_values_is_an_array():
    assert risk.minimum(np.ma.masked_array([-9.0, 0.2], [False, False])) == -9
    assert risk.minimum(np.ma.masked_array([-9.0, 0.2])) == -9


def test_columns_of_a_frame_are_samples():
    import pandas as pd

    frame = pd.DataFrame({"a": [3.0, 1.0, 2.0], "b": [6.0, 5.0, 4.0]})
    assert risk.minimum(frame).tolist() == [1, 4]
    assert risk.minimum(frame["a"]) == 1
    assert risk.minimum(frame.to_numpy()).tolist() == [3, 1, 2]


@given(st.floats(-1, 1), st.integers(1, 40), levels)
@quiet
def test_criteria_of_equal_values_are_that_value(value, n, alpha):
    x = [value] * n
    assert risk.mean(x) == risk.cvar(x, alpha) == risk.cvar(x, alpha, "split") == value
    assert risk.mean_variance(x, 1) == -value


def test_split_cvar_at_tiny_levels_is_the_minimum():
    for level in ("1e-300", "1e-15", "1e-12", "0.001"):
        assert risk.cvar([0.3, 0.7, 0.9], level, "split") == 0.3
