"""Estimators of risk: properties, hand-made cases, exact ceilings."""

from __future__ import annotations

import math
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
    ("make", "message"),
    [
        (lambda: risk.cvar([], 0.1), "x must hold at least one value"),
        (lambda: risk.cvar([0.1, math.nan], 0.1), "x must be finite numbers, got nan"),
        (lambda: risk.cvar([0.1], 1), r"alpha must be a number in \(0, 1\), got 1"),
        (lambda: risk.mean_variance([0.1], -1), r"rho must be a number in \[0, inf\), got -1"),
        (lambda: risk.tail_sizes(0.1, -1), "horizon must be a whole number >= 0, got -1"),
        (lambda: risk.tail_sizes(0.1, 5, "up"), "share must be one of 'ceil', 'floor', 'round'"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
