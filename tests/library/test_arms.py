"""Closed forms of the reward laws against SciPy's own distributions and numerical integration."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from marab_lib import Problem, arms, policies, simulate

LEVELS = (0.001, 0.05, 0.2, 0.5, 0.9)


def scipy_mixture(law):
    """SciPy's mixture before truncation, and its mass below and inside the interval."""
    parts = [stats.Normal(mu=m, sigma=s) for m, s in zip(law.means, law.scales, strict=True)]
    whole = stats.Mixture(parts, weights=law.weights)
    below = whole.cdf(law.lower)
    return whole, below, whole.cdf(law.upper) - below


MIXTURES = [
    arms.TruncatedGaussianMixture(0.02, 1, [1.0], [0.4], [0.3]),
    arms.TruncatedGaussianMixture(0.0, 1, [0.3, 0.7], [0.1, 0.9], [0.12, 0.5]),
    arms.TruncatedGaussianMixture(0.05, 1, [0.2, 0.3, 0.5], [0.0, 1.0, 0.5], [0.12, 0.12, 0.2]),
    arms.TruncatedGaussianMixture(0.5, 1, [0.5, 0.5], [0.2, 1.4], [0.2, 0.3]),
]


@pytest.mark.parametrize("law", MIXTURES)
def test_mixture_agrees_with_scipy(law):
    whole, below, mass = scipy_mixture(law)
    x = np.linspace(float(law.lower), float(law.upper), 41)
    np.testing.assert_allclose(law.cdf(x), (whole.cdf(x) - below) / mass, atol=1e-12)
    np.testing.assert_allclose(law.pdf(x), whole.pdf(x) / mass, rtol=1e-10)


def test_one_gaussian_agrees_with_scipy_truncation():
    law = MIXTURES[0]
    reference = stats.truncate(stats.Normal(mu=0.4, sigma=0.3), 0.02, 1)
    assert law.mean == pytest.approx(reference.mean(), rel=1e-9)
    assert law.var == pytest.approx(reference.variance(), rel=1e-9)
    assert law.quantile(0.3) == pytest.approx(reference.icdf(0.3), rel=1e-9)


@pytest.mark.parametrize("law", [*MIXTURES, arms.Uniform(-0.1, 0.7), arms.Beta(2.0, 0.8)])
def test_continuous_laws_agree_with_integration(law):
    low, high = law.essential_infimum, law.essential_supremum

    def expectation(g, end=high):
        return integrate.quad(lambda x: g(x) * law.pdf(x), low, end, epsabs=1e-12, limit=200)[0]

    assert expectation(lambda x: 1) == pytest.approx(1, abs=1e-9)
    assert expectation(lambda x: x) == pytest.approx(law.mean, abs=1e-9)
    assert expectation(lambda x: (x - law.mean) ** 2) == pytest.approx(law.var, abs=1e-9)
    for alpha in LEVELS:
        v = law.quantile(alpha)
        assert law.cdf(v) == pytest.approx(alpha, abs=1e-12)
        assert expectation(lambda x: x, v) / alpha == pytest.approx(law.cvar(alpha), abs=1e-8)


def all_laws():
    return [
        *MIXTURES,
        arms.Uniform(-0.1, 0.7),
        arms.Beta(2.0, 0.8),
        arms.Beta(0.5, 0.5),
        arms.Beta(1.0, 3.0),
        arms.Beta(1.0, 0.5),
        arms.Bernoulli(0.3),
        arms.Empirical([0.1, 0.4, 0.4, 0.6, 0.95]),
        arms.Discrete([0.0, 0.25, 0.5, 1.0], [0.1, 0.4, 0.3, 0.2]),
    ]


@pytest.mark.parametrize("law", all_laws(), ids=repr)
def test_lower_mass_constant_is_the_largest(law):
    """F(a + e) >= A e on a fine grid of 0 < e <= 1/A, and a slightly larger A fails somewhere."""
    A = law.lower_mass_constant
    width = law.essential_supremum - law.essential_infimum
    e = np.unique(
        np.concatenate([np.linspace(0, width, 200_001)[1:], np.geomspace(1e-8, width, 2000)])
    )
    # Left limits for the laws with jumps: the constant is an infimum, reached from below.
    larger = A * 1.001 if A > 0 else 1e-4
    e = np.append(e, 1 / larger)
    below = law.cdf(law.essential_infimum + e * (1 - 1e-12))
    assert (law.cdf(law.essential_infimum + e) >= A * e * (1 - 1e-9))[e <= 1 / max(A, 1e-9)].all()
    assert (below < larger * e)[e <= 1 / larger].any()


@pytest.mark.parametrize("law", all_laws(), ids=repr)
def test_cvar_of_a_law_is_the_limit_of_the_sample(law):
    """40,000 draws in batches; 5 standard errors of the tail mean: error rate 1e-5."""
    from marab_lib import risk

    x = law.sample(40_000, 5).reshape(40, 1000)
    for alpha in (0.1, 0.5):
        batches = risk.cvar(x, alpha)
        assert abs(batches.mean() - law.cvar(alpha)) < 5 * batches.std() / np.sqrt(40) + 2e-3


def test_empirical_law_by_hand():
    law = arms.Empirical([0.3, 0.1, 0.2, 0.2, 0.9])
    assert law.mean == pytest.approx(0.34)
    assert law.var == pytest.approx(0.0824)
    assert (law.essential_infimum, law.essential_supremum) == (0.1, 0.9)
    assert (law.cdf(0.05), law.cdf(0.2), law.cdf(1)) == (0.0, 0.6, 1.0)
    assert (law.quantile(0.2), law.quantile(0.21), law.quantile(1)) == (0.1, 0.2, 0.9)
    # alpha n = 1.5: the lowest value and half of the next.
    assert law.cvar(0.3) == pytest.approx((0.1 + 0.5 * 0.2) / 1.5)
    # The cdf is 1/5 before .2, 3/5 before .3, 4/5 before .9: the least ratio is .8 / .8 = 1.
    assert law.lower_mass_constant == pytest.approx(1.0)


def test_quantile_takes_decimal_shares():
    law = arms.Empirical(np.arange(1, 101))
    assert law.quantile(0.07) == 7


def test_truncation_of_the_whole_changes_the_weights():
    # The first Gaussian has half of its mass outside, the second none: weights 1/3 and 2/3.
    law = arms.TruncatedGaussianMixture(0, 1, [0.5, 0.5], [0.0, 0.5], [0.01, 0.01])
    assert law.cdf(0.25) == pytest.approx(1 / 3)


def test_components_far_outside_keep_their_precision():
    law = arms.TruncatedGaussianMixture(0.9, 1, [1.0], [0.0], [0.1])  # 9 standard deviations away
    reference = stats.truncnorm(9, 10, scale=0.1)
    assert law.mean == pytest.approx(reference.mean(), rel=1e-9)
    assert law.cdf(0.92) == pytest.approx(reference.cdf(0.92), rel=1e-9)
    assert stats.kstest(law.sample(5000, 1), reference.cdf).pvalue > 1e-4


def test_many_arms_at_once_equal_one_by_one():
    many = arms.TruncatedGaussianMixture(
        [0.0, 0.03], 1, [[0.4, 0.6], [1.0, 0.0]], [[0.2, 0.7], [0.5, 0.0]], [[0.2, 0.3], [0.4, 1]]
    )
    single = arms.TruncatedGaussianMixture(0.03, 1, [1.0], [0.5], [0.4])
    assert len(many) == 2
    assert many.mean[1] == pytest.approx(single.mean)
    assert many[1].var == pytest.approx(single.var)
    assert many[1].cvar(0.1) == pytest.approx(single.cvar(0.1))
    assert many[1].quantile([0.1, 0.9]) == pytest.approx(single.quantile([0.1, 0.9]))
    assert many[1].lower_mass_constant == pytest.approx(single.lower_mass_constant)
    assert many.cvar(0.1)[1] == pytest.approx(single.cvar(0.1))
    assert many.lower_mass_constant[1] == pytest.approx(single.lower_mass_constant)
    assert many.cdf(np.array([[0.1], [0.5]])).shape == (2, 2)
    assert [law.essential_infimum for law in many] == [0.0, 0.03]


def test_laws_are_frozen():
    law = arms.Uniform([0.0, 0.1], 1.0)
    with pytest.raises(AttributeError):
        law.low = 3
    with pytest.raises(ValueError, match="read-only"):
        law.low[0] = 3


@given(
    p=st.floats(0, 1),
    alpha=st.sampled_from(["0.05", "0.3", "0.5", "0.99"]),
)
@settings(deadline=None, max_examples=50, derandomize=True)
def test_bernoulli_equals_a_table_of_its_values(p, alpha):
    ones = round(p * 1000)
    table = arms.Empirical(np.r_[np.zeros(1000 - ones), np.ones(ones)])
    law = arms.Bernoulli(ones / 1000)
    assert law.cvar(alpha) == pytest.approx(table.cvar(alpha), abs=1e-9)
    assert law.var == pytest.approx(table.var)
    assert law.essential_infimum == table.essential_infimum
    assert law.lower_mass_constant == pytest.approx(table.lower_mass_constant)


U, MIXTURE, D = arms.Uniform, arms.TruncatedGaussianMixture, arms.Discrete


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (U, (1, 1), "low .* high, got low=1.0, high=1.0"),
        (U, ([0, 2], 1), r"low .* high, got low=2.0, high=1.0 \(arm 1\)"),
        (U, ([0, 1], [1, 2, 3]), r"low and high .*, got \(2,\) and \(3,\)"),
        (U, (np.zeros((2, 2)), 1), r"low .*, got shape \(2, 2\)"),
        (U, (-1e308, 1e308), r"low .*, got -1e\+308"),
        (U, ("0", 2), "low must be numbers, got '0'"),
        (U, (True, 2), "low must be numbers, got True"),
        (U, ([True, False], 2), "low must be numbers, got"),
        (MIXTURE, (0, 1, [0.5, 0.5], [0], [1, 1, 1]), "weights and means and scales must"),
        (MIXTURE, (0, 1, [0.5, 0.6], [0, 1], [1, 1]), "weights must sum to 1, got a sum of 1.1"),
        (MIXTURE, (0, 1, [1.5, -0.5], [0, 1], [1, 1]), "weights must be >= 0, got -0.5"),
        (MIXTURE, (0, 1, [1.0], [0], [0]), "scales must be > 0, got 0.0"),
        (MIXTURE, (1, 0, [1.0], [0], [1]), "lower must .* got lower=1.0, upper=0.0"),
        (MIXTURE, (0, 1, [1.0], [100], [0.1]), r"no component has mass in .* \[0.0, 1.0\]"),
        (MIXTURE, (0, 1, [0.2, 0.8], [0, 1], [1, 1e7]), r"scales .*, got 1.*\(component 1\)"),
        (MIXTURE, (0, 1, [[[1.0]]], 0, 1), r"weights .*, got shape \(1, 1, 1\)"),
        (arms.Bernoulli, (1.2,), "p must .*, got 1.2"),
        (arms.Bernoulli, ([[0.1]],), r"p must .*, got shape \(1, 1\)"),
        (arms.Beta, (0, 1), "a must be > 0, got 0.0"),
        (arms.Beta, (1e308, 1), r"a must be .*, got 1e\+308"),
        (arms.Beta, (1, [1, 1e-200]), r"b must be .*, got 1e-200 \(arm 1\)"),
        (arms.Beta, (1, [[1]]), r"b must .*, got shape \(1, 1\)"),
        (arms.Empirical, ([],), "values must list at least one"),
        (arms.Empirical, (0.3,), "values must list at least one"),
        (arms.Empirical, ([[0, 1], [-1e308, 1e308]],), r"values .*1e\+308 \(arm 1, value 0\)"),
        (arms.Empirical, (np.zeros((2, 1, 3)),), r"values must .*, got shape \(2, 1, 3\)"),
        (D, ([0, 1e308], [0.5, 0.5]), r"values must be in .*\(value 1\)"),
        (D, ([0, 1], [0.5, 0.6]), "probabilities must sum to 1, got 1.1"),
        (D, ([0, 1], [-0.5, 1.5]), "probabilities must be >= 0, got -0.5"),
        (D, ([1, 0], [0.5, 0.5]), "values must be increasing"),
        (D, ([0, 1], [1.0]), "values and probabilities must list the same number"),
        (D, ([[0, 1]] * 3, [[0.5, 0.5]] * 2), r"probabilities .*, got \(3, 2\) and \(2, 2\)"),
        (D, ([0, 1], [[0.5, 0.5], [1.5, -0.5]]), r"got -0.5 \(arm 1, value 1\)"),
        (arms.make, (np.array(["Beta", "Uniform"]), 1, 1), "name must be one of 'Bernoulli'"),
        (U(0, 1).quantile, ([0.1, 1.1],), r"q must be in .*, got 1.1 \(at index 1\)"),
        (U(0, 1).cvar, (0,), "alpha must be .*, got 0"),
        (U(0, 1).sample, (0, 1), "n must be .*, got 0"),
        (U(0, 1).sample, (5, -1), "seed must be .*, got -1"),
        (U([0, 0.1], 1).sample, (2**40, 1), f"n={2**40} would take about"),
    ],
)
def test_bad_input_is_named(make, given, message):
    """What the odd calls would let pass, and where in an array the fault is."""
    with pytest.raises((TypeError, ValueError, MemoryError), match=message):
        make(*given)


# --- Gaussians much wider than the interval ----------------------------------------------------


@pytest.mark.parametrize("scale", [11.0, 1e3, 1e6])
def test_a_wide_gaussian_is_nearly_uniform(scale):
    """The density at the ends is below that in the middle by 1 / (8 scale**2) of itself."""
    law = arms.TruncatedGaussianMixture(0, 1, [1.0], [0.5], [scale])
    flat, near = arms.Uniform(0, 1), {"abs": 1e-12 + 0.2 / scale**2}
    assert law.mean == pytest.approx(0.5, abs=1e-14)
    assert law.var == pytest.approx(1 / 12, **near)
    assert law.cdf([0.1, 0.7]) == pytest.approx([0.1, 0.7], **near)
    assert law.quantile([0.1, 0.7]) == pytest.approx([0.1, 0.7], **near)
    for alpha in LEVELS:
        assert law.cvar(alpha) == pytest.approx(alpha / 2, **near)
    for theta in (1e-9, 1e-3, 1.0, 30.0, 1e4, 1e9):
        assert law.entropic_risk(theta) == pytest.approx(flat.entropic_risk(theta), **near)
    assert stats.kstest(law.sample(5000, 1), law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("mean", [-900.0, -20.0, 0.2, 350.0])
def test_a_wide_gaussian_against_integration(mean):
    """Also where the interval lies far in its tail, next to a component of ordinary width."""
    law = arms.TruncatedGaussianMixture(-1, 1, [0.999, 0.001], [mean, 0.3], [30.0, 0.2])
    z = (np.array([-1.0, 1.0]) - mean) / 30
    tail = max(np.exp(-(z**2) / 2))

    def density(x):
        wide = 0.999 * np.exp(-(((x - mean) / 30) ** 2) / 2) / 30
        return (wide + 0.001 * np.exp(-(((x - 0.3) / 0.2) ** 2) / 2) / 0.2) / tail

    def integral(g, end=1.0):
        return integrate.quad(lambda x: g(x) * density(x), -1, end, epsabs=0, limit=200)[0]

    mass = integral(lambda x: 1)
    center = integral(lambda x: x) / mass
    assert law.mean == pytest.approx(center, abs=1e-11)
    assert law.var == pytest.approx(integral(lambda x: (x - center) ** 2) / mass, rel=1e-9)
    assert law.cdf(0.1) == pytest.approx(integral(lambda x: 1, 0.1) / mass, abs=1e-11)
    v = law.quantile(0.2)
    assert law.cvar(0.2) == pytest.approx(integral(lambda x: x, v) / mass / 0.2, abs=1e-10)
    for theta in (0.5, 8.0, 12.0):
        moment = integral(lambda x, t=theta: np.exp(-t * x)) / mass
        assert law.entropic_risk(theta) == pytest.approx(-np.log(moment) / theta, abs=1e-10)


def test_a_component_without_weight_may_have_any_scale():
    law = arms.TruncatedGaussianMixture(0, 1, [1.0, 0.0], [0.5, 0.0], [0.2, 1e9])
    assert law.var == pytest.approx(arms.TruncatedGaussianMixture(0, 1, [1.0], [0.5], [0.2]).var)


# --- discrete laws, entropic risk, rank-dependent utility -------------------------------------


def test_discrete_law_is_the_empirical_law_of_its_shares():
    discrete = arms.Discrete([0.1, 0.2, 0.9], [0.2, 0.6, 0.2])
    table = arms.Empirical([0.1, 0.2, 0.2, 0.2, 0.9])
    q = np.linspace(0, 1, 21)
    for name in ("mean", "var", "essential_infimum", "essential_supremum", "lower_mass_constant"):
        assert getattr(discrete, name) == pytest.approx(getattr(table, name))
    np.testing.assert_allclose(discrete.quantile(q), table.quantile(q))
    np.testing.assert_allclose(discrete.cdf(q), table.cdf(q))
    for alpha in LEVELS:
        assert discrete.cvar(alpha) == pytest.approx(table.cvar(alpha))
    assert discrete.entropic_risk(3) == pytest.approx(table.entropic_risk(3))
    assert discrete.rank_dependent_utility() == pytest.approx(table.rank_dependent_utility())


def test_discrete_law_without_mass_at_its_ends():
    law = arms.Discrete([0.0, 0.25, 0.5, 1.0], [0.0, 0.4, 0.6, 0.0])
    assert (law.essential_infimum, law.essential_supremum) == (0.25, 0.5)
    assert (law.quantile(0.0), law.quantile(1.0)) == (0.25, 0.5)
    assert law.cvar(0.5) == pytest.approx((0.4 * 0.25 + 0.1 * 0.5) / 0.5)
    assert law.lower_mass_constant == pytest.approx(0.4 / 0.25)
    assert set(law.sample(500, 1)) == {0.25, 0.5}


def test_discrete_sampling_has_its_probabilities():
    """Chi-square of 20,000 draws at 1e-4."""
    p = np.array([0.05, 0.5, 0.25, 0.2])
    x = arms.Discrete([0.0, 0.25, 0.5, 1.0], p).sample(20_000, 3)
    counts = [(x == v).sum() for v in (0.0, 0.25, 0.5, 1.0)]
    assert stats.chisquare(counts, 20_000 * p).pvalue > 1e-4


@pytest.mark.parametrize("law", all_laws(), ids=repr)
@pytest.mark.parametrize("theta", [0.01, 1.0, 20.0])
def test_entropic_risk_against_integration(law, theta):
    if law.atoms is None:

        def density(x):
            return np.exp(-theta * x) * law.pdf(x)

        ends = law.essential_infimum, law.essential_supremum
        moment = integrate.quad(density, *ends, epsabs=1e-13, limit=400)[0]
    else:
        p = np.diff(law.cdf(np.unique(law.atoms)), prepend=0)
        moment = (p * np.exp(-theta * np.unique(law.atoms))).sum()
    assert law.entropic_risk(theta) == pytest.approx(-np.log(moment) / theta, abs=2e-7 / theta)


@pytest.mark.parametrize("law", all_laws(), ids=repr)
def test_entropic_risk_runs_from_the_mean_to_the_infimum(law):
    values = [law.entropic_risk(theta) for theta in (1e-6, 1, 10, 100)]
    assert values[0] == pytest.approx(law.mean, abs=1e-6)
    assert np.all(np.diff(values) < 0)
    assert law.essential_infimum < values[-1]


@pytest.mark.parametrize("law", all_laws(), ids=repr)
@pytest.mark.parametrize("theta", [1e-300, 1e-17, 1e-15, 1e-9, 1e-6, 1e-5, 1e-4])
def test_entropic_risk_of_little_aversion(law, theta):
    """Mean less theta / 2 times the variance, and theta**2 / 60 at most for the third cumulant."""
    series = law.mean - theta * law.var / 2
    assert law.entropic_risk(theta) == pytest.approx(series, abs=2e-11 + theta**2 / 60)


@pytest.mark.parametrize("law", all_laws(), ids=repr)
def test_entropic_risk_of_much_aversion(law):
    values = [law.entropic_risk(theta) for theta in (100, 499, 501, 720, 1e5, 1e18, 1e100, 1e308)]
    assert np.all(np.diff(values) <= 0)
    assert values[0] < law.mean
    assert law.essential_infimum <= values[-1]
    assert values[-3:] == pytest.approx([law.essential_infimum] * 3, abs=1e-15)


@pytest.mark.parametrize("a", [1e-100, 0.001, 0.5, 1.0, 2.0, 40.0])
@pytest.mark.parametrize("b", [1e-3, 0.5, 1.0, 2.0, 60.0])
def test_entropic_risk_of_beta_laws_is_one_function(a, b):
    """Kummer's function and the quadrature agree where both can be computed."""
    shapes = np.array([a]), np.array([b])
    for theta in (50.0, 300.0, 600.0):
        series = np.log(special.hyp1f1(b, a + b, theta)) - theta
        got = arms._log_laplace_of_beta(*shapes, theta)[0]
        assert got / theta == pytest.approx(series / theta, abs=1e-14)


@pytest.mark.parametrize(("a", "b"), [(0.001, 0.001), (0.5, 2.0), (3.0, 0.3), (1e5, 1e5)])
def test_entropic_risk_of_beta_laws_has_its_limit(a, b):
    """Watson's lemma: E exp(-theta X) tends to Gamma(a) / B(a, b) theta**-a."""
    theta = 1e14
    limit = a * np.log(theta) - special.gammaln(a) + special.betaln(a, b)
    assert arms.Beta(a, b).entropic_risk(theta) == pytest.approx(limit / theta, rel=1e-3)


def test_entropic_risk_of_one_beta_law_by_hand():
    """For a = b = 1 the law is uniform: -log((1 - exp(-theta)) / theta) / theta."""
    for theta in (501.0, 720.0, 1e6, 1e12):
        assert arms.Beta(1, 1).entropic_risk(theta) == pytest.approx(
            np.log(theta) / theta, rel=1e-13
        )


def test_entropic_risk_of_narrow_gaussians_under_much_aversion():
    """While theta scale**2 stays inside, that of the Gaussian: mean - theta scale**2 / 2."""
    law = arms.TruncatedGaussianMixture(0, 1, [1.0], [0.9], [1e-4])
    assert law.entropic_risk(1e7) == pytest.approx(0.9 - 0.05, abs=1e-12)
    assert law.entropic_risk(1e16) == pytest.approx(0, abs=1e-8)


def test_density_of_a_beta_law_of_large_shapes():
    law, x = arms.Beta(1000, 2000), np.array([0.0, 0.3, 1 / 3, 1.0])
    np.testing.assert_allclose(law.pdf(x), stats.beta(1000, 2000).pdf(x), rtol=1e-10)


@pytest.mark.parametrize("law", all_laws(), ids=repr)
@pytest.mark.parametrize("gamma", [0.4, 0.61, 1.0])
def test_rank_dependent_utility_against_integration(law, gamma):
    from marab_lib import risk

    def height(x):
        return risk.probability_weight(np.clip(1 - law.cdf(x), 0, 1), gamma)

    low, high = law.essential_infimum, law.essential_supremum
    breaks = None if law.atoms is None else np.unique(law.atoms)[1:-1]
    expected = low + integrate.quad(height, low, high, points=breaks, epsabs=1e-9, limit=400)[0]
    assert law.rank_dependent_utility(gamma) == pytest.approx(expected, abs=2e-6)
    if gamma == 1.0:
        assert law.rank_dependent_utility(gamma) == pytest.approx(law.mean, abs=2e-6)


def test_rank_dependent_utility_of_a_power():
    """E X**.88 for a uniform law, without weighting."""
    assert arms.Uniform(0, 1).rank_dependent_utility(1.0, 0.88) == pytest.approx(1 / 1.88, abs=1e-6)
    assert arms.Bernoulli(0.3).rank_dependent_utility(1.0, 0.88) == pytest.approx(0.3)
    with pytest.raises(ValueError, match=r"exponent must be 1 for rewards below 0, got 0.88"):
        arms.Uniform(-1, 1).rank_dependent_utility(0.61, 0.88)


def test_criteria_of_many_arms_are_those_of_each():
    law = arms.Beta([0.5, 2.0], [1.0, 3.0])
    for i, arm in enumerate(law):
        assert law.entropic_risk(2)[i] == pytest.approx(arm.entropic_risk(2))
        assert law.rank_dependent_utility()[i] == pytest.approx(arm.rank_dependent_utility())


# --- CVaR at every level, against mpmath -------------------------------------------------------

TINY_TO_ONE = [1e-15, 1e-12, 1e-9, 1e-5, 0.01, 0.3, 0.5, 0.9, 0.99, 1 - 1e-9]


def solve(increasing, level, low, high):
    """The root of increasing(x) = level by bisection in mpmath."""
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < level else (low, middle)
    return high


def beta_cvar(a, b, level):
    """By mean I(a + 1, b; x), with the quantile x as log-odds, for x may round to 1."""
    a, b, level = mp.mpf(a), mp.mpf(b), mp.mpf(level)

    def share(a, b, s):
        least = mp.exp(-abs(s)) / (1 + mp.exp(-abs(s)))  # of x and 1 - x
        if s >= 0:
            return 1 - mp.betainc(b, a, 0, least, regularized=True)
        return mp.betainc(a, b, 0, least, regularized=True)

    low, high = mp.mpf(-8), mp.mpf(8)
    while share(a, b, low) > level:
        low *= 4
    while share(a, b, high) < level:
        high *= 4
    s = solve(lambda s: share(a, b, s), level, low, high)
    return a / (a + b) * share(a + 1, b, s) / level


@pytest.mark.parametrize("a", [0.01, 0.1, 1, 5, 300])
@pytest.mark.parametrize("b", [0.01, 0.5, 1, 40])
def test_cvar_of_beta_laws_against_mpmath(a, b):
    law = arms.Beta(a, b)
    with mp.workdps(45):
        for level in (1e-15, 1e-9, 0.01, 0.3, 0.9, 1 - 1e-9):
            got = law.cvar(level)
            assert 0 <= got <= law.quantile(level)
            assert got == pytest.approx(float(beta_cvar(a, b, level)), abs=1e-12)


@pytest.mark.parametrize("shape", [1e8, 1e12])
def test_cvar_of_beta_laws_of_large_shapes_is_that_of_a_gaussian(shape):
    """mean - sd phi(z) / level, up to sd / shape for a = b; to 1e-9 of the width of the support."""
    law = arms.Beta(shape, shape)
    for level in (1e-15, 1e-5, 0.3, 0.9):
        z = special.ndtri(level)
        gaussian = 0.5 - law.std * np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / level
        assert law.cvar(level) == pytest.approx(gaussian, abs=1e-9)


def mixture_cvar(law, level):
    parts = [
        (mp.mpf(float(w)), mp.mpf(float(m)), mp.mpf(float(s)))
        for w, m, s in zip(law.weights, law.means, law.scales, strict=True)
    ]
    low, high, level = mp.mpf(float(law.lower)), mp.mpf(float(law.upper)), mp.mpf(level)

    def mass(x):
        return sum(w * (mp.ncdf((x - m) / s) - mp.ncdf((low - m) / s)) for w, m, s in parts)

    whole = mass(high)
    v = solve(lambda x: mass(x) / whole, level, low, high)
    total = sum(
        w * (m * (mp.ncdf((v - m) / s) - mp.ncdf((low - m) / s))
             - s * (mp.npdf((v - m) / s) - mp.npdf((low - m) / s)))
        for w, m, s in parts
    )  # fmt: skip
    return total / whole / level


@pytest.mark.parametrize(
    "law",
    [
        *MIXTURES,
        arms.TruncatedGaussianMixture(0, 1, [1.0], [0.5], [0.3]),
        arms.TruncatedGaussianMixture(0, 1, [1.0], [0.5], [9.9]),
        arms.TruncatedGaussianMixture(-1, 1, [0.999, 0.001], [20.0, 0.3], [30.0, 0.2]),
        arms.TruncatedGaussianMixture(0.9, 1, [1.0], [0.0], [0.1]),
        arms.TruncatedGaussianMixture(0, 1e-6, [1.0], [0.0], [1e-8]),
    ],
)
def test_cvar_of_mixtures_against_mpmath(law):
    width = law.upper - law.lower
    with mp.workdps(60):
        for level in TINY_TO_ONE:
            got = law.cvar(level)
            assert law.lower <= got <= law.quantile(level)
            assert abs(got - float(mixture_cvar(law, level))) < 1e-11 * width


@pytest.mark.parametrize("level", ["1e-9", "1e-12", "1e-20", "1e-300"])
def test_cvar_of_a_mixture_at_tiny_levels(level):
    """The law is uniform there: half of the quantile, level / pdf(0)."""
    law = arms.TruncatedGaussianMixture(0, 1, [1], [0.5], [0.3])
    assert law.cvar(level) == pytest.approx(float(level) / law.pdf(0) / 2, rel=1e-7)


def test_cvar_of_the_artificial_laws_lies_within_its_bounds():
    from marab_lib import problems

    for problem in problems.artificial(10, 0):
        (law,) = problem._laws
        for level in ("1e-20", "1e-9", "1e-8", "0.001"):
            assert (law.lower <= law.cvar(level)).all()
            assert (law.cvar(level) <= law.quantile(float(level))).all()


@pytest.mark.parametrize("level", ["1e-300", "1e-15", "1e-13", "0.1", "1/3", "0.999999999"])
@pytest.mark.parametrize(
    ("values", "p"),
    [([0, 1], ["1e-13", "9999999999999/10000000000000"]), ([-5, 0.1, 1], ["1/3"] * 3),
     ([1e9, 1e9 + 1], ["0.1", "0.9"]), (range(13), ["1/13"] * 13)],
)  # fmt: skip
def test_cvar_of_discrete_laws_against_fractions(values, p, level):
    values, shares, exact = [Fraction(v) for v in values], [Fraction(x) for x in p], Fraction(level)
    total, left = Fraction(0), exact
    for value, share in zip(values, shares, strict=True):
        inside = min(share, left)
        total, left = total + inside * value, left - inside
    law = arms.Discrete([float(v) for v in values], [float(x) for x in shares])
    width = float(values[-1] - values[0])
    laws = [law] + ([arms.Empirical([float(v) for v in values])] if len(set(shares)) == 1 else [])
    if width == 1 and values[0] == 0:
        laws.append(arms.Bernoulli(float(shares[1])))
    for other in laws:
        assert other.cvar(exact) == pytest.approx(float(total / exact), rel=1e-16, abs=1e-9 * width)
        assert other.essential_infimum <= other.cvar(exact) <= other.quantile(float(exact))


# --- cdf and quantile are inverse to each other --------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7, 9, 10, 11, 12, 13, 49, 100, 117])
def test_discrete_and_empirical_laws_have_one_quantile(k):
    """Smallest x with cdf(x) >= q, to the last bit: the i-th value for q = i / k."""
    values = np.arange(k) / 7
    steps, q = np.arange(1, k + 1) / k, np.random.default_rng(k).random(200)
    for law in (arms.Discrete(values, [1 / k] * k), arms.Empirical(values[::-1])):
        assert law.cdf(values).tolist() == steps.tolist()
        assert law.quantile(steps).tolist() == values.tolist()
        for p in (q, np.nextafter(steps, 2)[:-1], np.nextafter(steps, 0), np.linspace(0, 1, 101)):
            found = law.quantile(p)
            assert (law.cdf(found) >= p).all()
            assert (law.cdf(np.nextafter(found, -1)) < p)[p > 0].all()


@given(st.lists(st.integers(1, 50), min_size=2, max_size=12))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_quantiles_of_decimal_probabilities(counts):
    """Sums of decimals are these decimals, however they round on the way."""
    total = 100 * sum(counts)
    p = [100 * c / total for c in counts]
    law = arms.Discrete(np.arange(len(p)), p)
    reached = np.cumsum(counts) / sum(counts)
    assert law.quantile(reached).tolist() == list(range(len(p)))
    assert law.cdf(law.atoms).tolist() == reached.tolist()


def test_quantiles_by_hand():
    assert arms.Discrete([0, 0.1, 1], [1 / 3] * 3).quantile(1 / 3) == 0
    assert arms.Discrete([0, 1], [1e-13, 1 - 1e-13]).quantile([1e-13, 2e-13]).tolist() == [0, 1]
    assert arms.Discrete([0, 1, 2], [0.1, 0.2, 0.7]).quantile(0.3) == 1
    assert arms.Bernoulli(0.9).quantile([0.1, 0.100001]).tolist() == [0, 1]
    assert arms.Bernoulli(0.9).cvar(0.1) == 0
    assert arms.Empirical([0, 1]).quantile([0.5, 0.5 + 1e-12]).tolist() == [0, 1]
    assert arms.Empirical(np.arange(10)).quantile(np.float32(0.1)) == 0


@pytest.mark.parametrize(
    "law", [*MIXTURES, arms.Uniform(-3, 0.7), arms.Beta(2, 0.8), arms.Beta(0.3, 30)], ids=repr
)
def test_quantiles_of_continuous_laws_invert_the_cdf(law):
    q = np.concatenate([[1e-15, 1e-9, 1e-4], np.linspace(0.01, 0.99, 50), [1 - 1e-9]])
    x = law.quantile(q)
    assert (np.diff(x) > 0).all()
    room = 4 * np.spacing(np.abs(x) + 1e-300) + 1e-15 * (law.essential_supremum - x)
    assert (law.cdf(x + room) >= q * (1 - 1e-12)).all()
    assert (law.cdf(x - room) <= q * (1 + 1e-12)).all()
    assert law.quantile([0, 1]).tolist() == [law.essential_infimum, law.essential_supremum]


# --- rounding, constant arms, tables, copies -----------------------------------------------------


def test_rank_dependent_utility_is_precise_relative_to_the_width():
    """Of Uniform(0, 1) scaled and moved; the values of mpmath's integral to the digits given."""
    assert arms.Uniform(0, 1e-13).rank_dependent_utility(1.0) == pytest.approx(5e-14, rel=1e-6)
    law = arms.Uniform(1e-11, 3e-11)
    assert law.rank_dependent_utility(0.61) == pytest.approx(1.872e-11, rel=1e-3)
    unit = arms.Uniform(0, 1).rank_dependent_utility()
    assert law.rank_dependent_utility() == pytest.approx(1e-11 + 2e-11 * unit, rel=1e-12)


def test_rank_dependent_utility_of_a_rare_value():
    """w(p) = p**g / (p**g + (1 - p)**g)**(1 / g), of which p**g is all for p = 1e-14."""
    law = arms.Discrete([0, 1], [1 - 1e-14, 1e-14])
    assert law.rank_dependent_utility(0.61) == pytest.approx(1e-14**0.61, rel=1e-3)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 1 / 3])
def test_a_constant_arm_has_its_value(value):
    for n in range(1, 60):
        law = arms.Empirical([value] * n)
        numbers = law.mean, law.cvar(0.37), law.quantile(0.2), law.essential_infimum
        assert set(numbers) == {value}
        assert law.var == 0


@pytest.mark.parametrize(
    "policy",
    [policies.UCB(0), policies.MIN(), policies.MaRaB(0.2, 0), policies.MaRaB(0.37, 0)],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("value", [0.3, 0.1, 0.7])
def test_equal_constant_arms_tie(policy, value):
    problem = Problem(arms.Empirical([[value] * 3] * 3))
    assert simulate(problem, policy, 3000, 1, 0).pulls.values.ravel().tolist() == [2998, 1, 1]


def test_columns_of_a_frame_are_arms():
    frame = pd.DataFrame(np.random.default_rng(0).random((1000, 5)))
    law = arms.Empirical(frame)
    assert (len(law), law.values.shape) == (5, (5, 1000))
    np.testing.assert_allclose(law.mean, frame.mean())
    assert arms.Empirical(frame[0]).shape == ()
    assert arms.Empirical(frame.to_numpy()).values.shape == (1000, 5)


@pytest.mark.parametrize(
    "copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy], ids=range(3)
)
def test_copies_stay_read_only(copied):
    many = arms.TruncatedGaussianMixture([0, 0.1], 1, [1.0], [0.5], [0.3])
    laws = [*all_laws(), many, arms.Uniform([0.0, 0.1], 1)]
    for law in laws:
        before = law.mean, law.cvar(0.1), law.quantile(0.3), law.lower_mass_constant
        again = copied(law)
        parts = [again, again[0], again[[0, 1]], again[:1]] if again.shape else [again]
        for array in (v for x in parts for v in vars(x).values() if isinstance(v, np.ndarray)):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        after = again.mean, again.cvar(0.1), again.quantile(0.3), again.lower_mass_constant
        np.testing.assert_equal(after, before)
    problem = Problem(many)
    means = problem.means.tolist()
    for p in (problem, copied(problem)):
        for array in (p.means, p.arms[0].lower, p.mean_gaps):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        assert p.means.tolist() == means


def test_points_must_fit_the_arms():
    many = arms.Uniform([0, 0.1, 0.2], 1)
    assert many.cdf(np.zeros((4, 3))).shape == many.cdf(np.zeros((4, 1))).shape == (4, 3)
    for name, of in (("x", many.cdf), ("x", many.pdf), ("q", many.quantile)):
        with pytest.raises(ValueError, match=rf"{name} must have .* 3 arms, got shape \(2,\)"):
            of([0.1, 0.2])
