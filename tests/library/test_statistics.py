"""Intervals of estimates: their coverage, and what they refuse."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
import xarray
from scipy import stats

from marab_lib.statistics import Estimate, draws, growth_ratio, rank_correlation


def coverage(make, truth, repetitions=400):
    rng = np.random.default_rng(1)
    hits = [make(rng) for _ in range(repetitions)]
    return np.mean([e.low <= truth <= e.high for e in hits])


def test_intervals_cover_at_their_level():
    """400 repetitions each: 95% is within 4 standard errors (0.044), error rate 6e-5."""
    assert abs(coverage(lambda r: Estimate.mean(r.normal(2, 1, 12)), 2.0) - 0.95) < 0.044
    assert coverage(lambda r: Estimate.proportion(r.random(50) < 0.3), 0.3) > 0.95 - 0.044
    boot = coverage(
        lambda r: Estimate.bootstrap(lambda x: x.mean(-1), r.normal(2, 1, 80), resamples=300), 2.0
    )
    assert abs(boot - 0.95) < 0.055  # a percentile interval of 80 values covers a little less
    drawn = draws(80, 300, seed=2)
    boot = coverage(lambda r: Estimate.resampled(r.normal(2, 1, 80)[drawn].mean(-1)), 2.0)
    assert abs(boot - 0.95) < 0.055


@pytest.mark.parametrize(("power", "expected"), [(1, 4), (1 / 2, 2), (-1, 1 / 4)])
def test_growth_ratio_of_powers(power, expected):
    steps = [1, 100, 150, 400, 1600]
    curves = np.multiply.outer(
        [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]], np.array(steps, float) ** power
    )
    paths = xarray.DataArray(curves, {"checkpoint": steps}, ("run", "problem", "checkpoint"))
    assert growth_ratio(paths).value == pytest.approx(expected)
    assert growth_ratio(paths[:, 0]).value == pytest.approx(expected)
    with pytest.raises(ValueError, match="paths must have the dimensions"):
        growth_ratio(paths.expand_dims("policy"))
    with pytest.raises(ValueError, match=r"paths must have three checkpoints near T/16.*got \[400"):
        growth_ratio(paths[..., -2:])
    with pytest.raises(ValueError, match=r"paths must grow from T/16 to T/4, got .* 0 at both"):
        growth_ratio(0 * paths)


def test_growth_ratio_of_a_logarithm_is_1_whatever_the_steps():
    steps = [90, 450, 1600]
    paths = xarray.DataArray(
        np.outer([1, 2], np.log(steps)), {"checkpoint": steps}, ("run", "checkpoint")
    )
    assert growth_ratio(paths).value == pytest.approx(1)


def test_bootstrap_resamples_together():
    """The ratio of a sample to itself has no spread; to another it has."""
    rng = np.random.default_rng(0)
    x, y = rng.random(30), rng.random(30)

    def ratio(a, b):
        return a.mean(-1) / b.mean(-1)

    together = Estimate.bootstrap(ratio, x, x)
    assert (together.low, together.high) == (1.0, 1.0)
    apart = Estimate.bootstrap(ratio, x, y)
    assert apart.low < apart.value < apart.high


@pytest.mark.parametrize("statistic", [np.max, lambda x: x.mean(-1) / x.max(), lambda x: x])
def test_a_statistic_that_mixes_resamples_is_refused(statistic):
    """The last axis is a resample, the one before it are resamples."""
    with pytest.raises(ValueError, match="statistic must work along the last axis of its arrays"):
        Estimate.bootstrap(statistic, [0.1, 0.5, 0.9])


def test_several_rows_are_resampled_together():
    x = np.random.default_rng(0).random((3, 30))
    rows = Estimate.bootstrap(lambda x: x.mean(-1).max(0), x)
    one_by_one = Estimate.bootstrap(lambda *x: np.max([y.mean(-1) for y in x], axis=0), *x)
    assert astuple(rows) == pytest.approx(astuple(one_by_one), rel=1e-12)


def test_text():
    assert str(Estimate.exact(0)) == "0"
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.5 (0.25 to 0.75)"


def test_rounding_makes_no_interval():
    """0.1 + 0.2 is the float after 0.3, and 1e-17 what is left where two sums should cancel."""
    assert str(Estimate(0.3, 0.3, 0.1 + 0.2)) == "0.3"
    assert str(Estimate(0.0, -1e-17, 1e-17)) == "0"
    assert str(Estimate(0.5, -1e-17, 0.75)) == "0.5 (0 to 0.75)"
    assert str(Estimate(1e-6, 0.9e-6, 1e-6)) == "1e-06 (9e-07 to 1e-06)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Estimate(0.1, 0.2, 0.3), r"value must lie in \[low, high\], got 0.1 in"),
        (lambda: Estimate.mean([1.0]), "sample must hold at least 2 values, got 1"),
        (lambda: Estimate.mean([1.0, np.nan]), "sample must be finite numbers, got nan"),
        (lambda: Estimate.proportion([]), "hits must hold at least 1 value, got none"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_rank_correlations_are_scipys_but_0_for_a_row_that_does_not_vary():
    pairs = np.random.default_rng(7).normal(size=(4, 3, 2, 30)).round(1)  # with equal ones
    pairs[0, 0, 1] = 2.0
    found = rank_correlation(pairs)
    assert found.shape == (4, 3)
    assert found[0, 0] == 0
    for place in [*np.ndindex(4, 3)][1:]:
        assert found[place] == pytest.approx(stats.spearmanr(*pairs[place]).statistic, abs=1e-12)


def test_a_row_that_does_not_vary_correlates_with_nothing():
    assert rank_correlation(np.array([[1.0, 1, 1], [1, 2, 3]])) == 0
    assert rank_correlation(np.array([[1.0, 1 + 1e-12, 1], [1, 2, 3]])) == 0
    assert rank_correlation(np.array([[1.0, 5, 9], [1, 2, 3]])) == pytest.approx(1)
