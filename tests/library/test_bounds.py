"""Section 4's bounds: values worked out by hand, exact twins, refusals, and MIN on fixed tapes.

Every statistical test has a fixed seed, and says the chance that a right program would have had
of failing it.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from marab_lib import Problem, arms, bounds, policies, problems, simulate, statistics

# A = 1, mean gaps 0, .1, .025 and minimum gaps 0, .2, .05: Prop. 4.4 holds, the ratio is .1 / .05.
KNOWN = Problem(arms.Uniform([0.2, 0, 0.15], 1))


# --- lemmas -------------------------------------------------------------------------------


def test_lemma_4_1_by_hand():
    assert bounds.minimum_exceedance(arms.Uniform(0.2, 0.7), 3, 0.1) == pytest.approx(0.8**3)
    assert bounds.lemma_4_1_power(arms.Uniform(0.2, 0.7), 3, 0.1) == pytest.approx(0.512)
    assert bounds.lemma_4_1(arms.Uniform(0.2, 0.7), 3, 0.1) == pytest.approx(math.exp(-0.6))
    # A smaller constant gives a larger bound: (1 - 1.5 * .1)**3, exp(-.45).
    law = arms.Uniform(0.2, 0.7)
    assert bounds.lemma_4_1_power(law, 3, 0.1, A=1.5) == pytest.approx(0.614125)
    assert bounds.lemma_4_1(law, 3, 0.1, A=1.5) == pytest.approx(math.exp(-0.45))


def test_lemma_4_2_by_hand():
    # A = 1 / .8 of the wider of two arms; A eps = .25, t = 2.
    for two in (arms.Uniform([0, 0.5], [0.8, 1]), Problem(arms.Uniform([0, 0.5], [0.8, 1]))):
        one = 0.75**2
        assert bounds.lemma_4_2_product(two, 2, 0.2) == pytest.approx(1 - (1 - one) ** 2)
        assert bounds.lemma_4_2_power(two, 2, 0.2) == pytest.approx(2 * one)
        assert bounds.lemma_4_2(two, 2, 0.2) == pytest.approx(2 * math.exp(-0.5))
        assert bounds.lemma_4_2(two, 2, 0.2, A=1) == pytest.approx(2 * math.exp(-0.4))
        assert bounds.event_complement(two, 3, 4.0) == pytest.approx(6 * math.exp(-5))
        assert bounds.event_complement(two, 3, 4.0, A=1) == pytest.approx(6 * math.exp(-4))
        assert bounds.event_complement(two, 3, 0.1) == 1
        # 1 - (1 - .75**2) (1 - .6**2)
        assert bounds.lemma_4_2_exact(two, 2, 0.2) == pytest.approx(1 - 0.4375 * 0.64)


def test_exponential_rate_by_hand():
    # -log(1 - 2 e) / e is least as e goes to 0, where it is 2; the grid begins at 1e-6 of .5.
    assert bounds.exponential_rate(arms.Uniform(0.2, 0.7)) == pytest.approx(2, rel=1e-6)
    got = bounds.exponential_rate(arms.Uniform([0.2, 0], [0.7, 4]))
    assert got == pytest.approx([2, 0.25], rel=1e-6)


def test_no_minimum_is_beyond_the_support_by_hand():
    law = arms.Uniform([0, 0], 1)
    for of in (bounds.lemma_4_2_exact, bounds.lemma_4_2_product, bounds.lemma_4_2_power):
        assert of(law, 3, 1.5) == 0
    assert bounds.event_complement_exact(law[0], 1, 0.005) == pytest.approx([0.995])


def test_small_probabilities_keep_their_digits():
    """(1 - x)**t = exp(t log1p(-x)): at x = 1e-20, t = 1e19 it is exp(-.1), in floats 1**t = 1."""
    law = arms.Uniform(0, 1)
    for of in (bounds.minimum_exceedance, bounds.lemma_4_1_power, bounds.lemma_4_1):
        assert of(law, 1e19, 1e-20) == pytest.approx(math.exp(-0.1), rel=1e-14)
    # P(X1 < a2) = .5e-17, m = 2: twice that
    duel = Problem(arms.Uniform([0, 1e-17], [2, 0.1]))
    assert bounds.marab_stuck_probability(duel, 0.5) == pytest.approx(1e-17)


def test_atom_at_the_threshold_counts_as_exceedance():
    law = arms.Empirical([0.0, 0.5, 0.5, 1.0])
    assert bounds.minimum_exceedance(law, 2, 0.5) == pytest.approx(0.75**2)
    assert bounds.minimum_exceedance(law, 2, 0.6) == pytest.approx(0.25**2)
    # Lemma 4.1 holds for this law too, by the limit from below: P(X < a + eps) >= A eps.
    assert law.lower_mass_constant == 0.5
    assert bounds.lemma_4_1_power(law, 2, 0.5) == pytest.approx(0.75**2)


LAWS = [
    arms.Uniform(0.1, 0.6),
    arms.TruncatedGaussianMixture(0.05, 1, [0.3, 0.7], [0.2, 0.9], [0.12, 0.3]),
    arms.Beta(0.5, 0.5),
    arms.Beta(1, 0.2),
    arms.Empirical([0.1, 0.1, 0.3, 0.8]),
    arms.Bernoulli(0.7),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@settings(max_examples=60, deadline=None)
@given(t=st.integers(1, 300), eps=st.floats(1e-4, 1.2), K=st.integers(1, 30))
def test_each_step_of_the_chains_is_above_the_one_before(law, t, eps, K):
    slack = 1 + 1e-9
    one = bounds.minimum_exceedance(law, t, eps)
    chain = [one, bounds.lemma_4_1_power(law, t, eps), bounds.lemma_4_1(law, t, eps)]
    assert chain[0] <= chain[1] * slack + 1e-12
    assert chain[1] <= chain[2] * slack
    same = law._batch()[np.zeros(K, dtype=int)]
    chain = [1 - (1 - one) ** K] + [
        f(same, t, eps)
        for f in (bounds.lemma_4_2_product, bounds.lemma_4_2_power, bounds.lemma_4_2)
    ]
    for lower, upper in itertools.pairwise(chain):
        assert lower <= upper * slack + 1e-9


@pytest.mark.parametrize("law", LAWS[:4], ids=lambda law: type(law).__name__)
def test_no_larger_constant_meets_the_assumption(law):
    e = np.geomspace(1e-6, 1, 4000) * (law.essential_supremum - law.essential_infimum)
    ratio = np.asarray(law.cdf(law.essential_infimum + e)) / e
    assert ratio.min() >= law.lower_mass_constant * (1 - 1e-6)
    assert ratio.min() <= law.lower_mass_constant * (1 + 1e-3)
    assert bounds.exponential_rate(law) >= law.lower_mass_constant * (1 - 1e-3)


def test_lemma_4_2_exact_is_one_minus_a_product():
    law = arms.Uniform([0, 0.1], [0.5, 1.1])
    got = bounds.lemma_4_2_exact(law, [1, 2], 0.1)
    assert got == pytest.approx([1 - 0.2 * 0.1, 1 - 0.36 * 0.19])
    assert bounds.lemma_4_2_exact(law, 1, 2.0) == 0


def test_shapes_broadcast():
    law = arms.Uniform([0, 0], [1, 2])
    assert bounds.lemma_4_1(law[0], np.arange(1, 4)[:, None], [0.1, 0.2]).shape == (3, 2)
    assert bounds.lemma_4_1(law, [[1], [2], [3]], 0.1).shape == (3, 2)
    assert bounds.minimum_exceedance(law, [[1], [2], [3]], 0.1).shape == (3, 2)
    for of in (bounds.lemma_4_2_exact, bounds.lemma_4_2_product, bounds.lemma_4_2):
        assert of(law, np.ones((4, 1)), [0.1, 0.2]).shape == (4, 2)
        assert of(Problem(law), np.ones((4, 1)), [0.1, 0.2]).shape == (4, 2)
    A = np.array([0.5, 0.6, 0.7, 0.8, 1.0])
    assert bounds.prop_4_3(KNOWN, 100, [[0.05], [0.1]], A=A).shape == (2, 5)
    assert bounds.prop_4_4_expectation(KNOWN, [[100], [200]], A=A).shape == (2, 5)
    for of in (bounds.constant_bound, bounds.constant_bound_margins, bounds.prop_4_3_least_t):
        assert of(KNOWN, A=A).shape == (5,)
        assert of(KNOWN, A=A)[-1] == of(KNOWN)
    assert bounds.auer_2002(KNOWN, [10, 20]).shape == (2,)
    assert isinstance(bounds.prop_4_3(KNOWN, 100, 0.05), float)


# --- the event of Prop. 4.3 ---------------------------------------------------------------


def test_event_complement_against_enumeration():
    # Uniform on [0, 1], eps = .5: fails at 1 if x1 > .5, at 2 if x1 <= .5 but both exceed .25.
    one = arms.Uniform(0, 1)
    got = bounds.event_complement_exact(one, 3, 0.5)
    # At 3: all above 1/6, x1 <= .5, and x1 or x2 in (1/6, .25].
    at_3 = (0.25 - 1 / 6) * (5 / 6) ** 2 + 0.25 * (0.25 - 1 / 6) * (5 / 6)
    assert got == pytest.approx([0.5, 0.5 + 0.25 * 0.75, 0.6875 + at_3])
    for two in (arms.Uniform([0, 0], 1), Problem([one, one])):
        both = bounds.event_complement_exact(two, 3, 0.5)
        assert both == pytest.approx(1 - (1 - got) ** 2)


def test_event_complement_against_simulation():
    # Three arms: a two-sided binomial test at level 1e-6.
    law = arms.Uniform([0, 0.1, 0.2], [1, 0.7, 0.9])
    t, runs, eps = 60, 20_000, 4.0
    x = np.random.default_rng(1).random((runs, 3, t)) * np.array([1, 0.6, 0.7])[:, None]
    above = np.minimum.accumulate(x, axis=-1) > eps / np.arange(1, t + 1)
    p = bounds.event_complement_exact(law, t, eps)[-1]
    assert stats.binomtest(int(above.any(axis=(1, 2)).sum()), runs, p).pvalue > 1e-6
    assert p <= bounds.event_complement(law, t, eps)


# --- propositions -------------------------------------------------------------------------


def test_propositions_by_hand():
    # K = 3, one optimal arm, A = 1, Delta_mu,max = .1, Delta_a,min = .05.
    known = KNOWN
    log = math.log
    assert bounds.prop_4_3(known, 50, 0.1) == pytest.approx(4 * log(1500) + 0.2)
    assert bounds.prop_4_3_least_t(known) == pytest.approx(4)
    assert bounds.prop_4_3_least_t(known, condition="printed") == pytest.approx(1)
    assert bounds.prop_4_3_expectation(known, 50) == pytest.approx(4 * (log(7500 / 4) + 1) + 0.2)
    assert bounds.prop_4_4(known, 50, 0.1) == pytest.approx(2 * log(1500) + 0.2)
    assert bounds.prop_4_4_least_t(known) == pytest.approx(2)
    assert bounds.prop_4_4_expectation(known, 50) == pytest.approx(2 * (log(3750) + 1) + 0.2)
    assert bounds.auer_2002(known, 50) == pytest.approx(
        8 * log(50) * (1 / 0.1 + 1 / 0.025) + (1 + math.pi**2 / 3) * 0.125
    )
    assert bounds.auer_2002(known, 1) == pytest.approx((1 + math.pi**2 / 3) * 0.125)
    assert bounds.constant_bound(known) == pytest.approx(0.1 / 0.2 + 0.025 / 0.05)
    assert bounds.constant_bound_margins(known) == pytest.approx(2)
    assert bounds.constant_bound_probability(known, 0.1) == pytest.approx(0.125 + log(20))


def test_a_smaller_constant_by_hand():
    known, log = KNOWN, math.log
    assert bounds.prop_4_3(known, 50, 0.1, A=0.5) == pytest.approx(8 * log(1500) + 0.2)
    assert bounds.prop_4_3_least_t(known, A=0.5) == pytest.approx(8)
    assert bounds.prop_4_3_least_t(known, condition="printed", A=0.5) == pytest.approx(2)
    got = bounds.prop_4_3_expectation(known, 50, A=0.5)
    assert got == pytest.approx(8 * (log(7500 / 8) + 1) + 0.2)
    assert bounds.prop_4_4(known, 50, 0.1, A=0.5) == pytest.approx(4 * log(1500) + 0.2)
    assert bounds.prop_4_4_least_t(known, A=0.5) == pytest.approx(4)
    got = bounds.prop_4_4_expectation(known, 50, A=0.5)
    assert got == pytest.approx(4 * (log(7500 / 4) + 1) + 0.2)
    assert bounds.constant_bound(known, A=0.5) == pytest.approx(2)
    assert bounds.constant_bound_margins(known, A=0.5) == pytest.approx(4)
    got = bounds.constant_bound_probability(known, 0.1, A=0.5)
    assert got == pytest.approx(0.125 + 2 * log(20))


def test_several_optimal_arms_take_k_off_the_factor():
    # K = 3, k = 2, A = 1, Delta_mu,max = .1, Delta_a,min = .3.
    shared = Problem(arms.Uniform([0.2, 0.3, 0], [1, 0.9, 1]))
    assert shared.mean_gaps == pytest.approx([0, 0, 0.1])
    assert bounds.prop_4_3(shared, 50, 0.1) == pytest.approx(math.log(1500) / 3 + 0.1)
    assert bounds.prop_4_3_least_t(shared) == pytest.approx(1 / 3)


def test_constant_arms_cost_one_pull_each():
    """A is inf: K - k pulls at most, whatever t."""
    problem = Problem([arms.Empirical([0.5]), arms.Empirical([0.2]), arms.Empirical([0.1])])
    of = bounds
    assert of.prop_4_3(problem, 9, 0.1) == of.prop_4_3_expectation(problem, 9) == pytest.approx(0.8)
    assert of.prop_4_4_expectation(problem, 9) == pytest.approx(0.8)
    assert of.constant_bound(problem) == of.constant_bound_margins(problem) == pytest.approx(0.7)


def test_expectations_ask_for_an_interval_of_length_one_wherever_it_lies():
    at = arms.Uniform([0.2, 0, 0.15], 1)
    for shift in (-7.0, 0.0, 5.0):
        problem = Problem(arms.Uniform(at.low + shift, at.high + shift))
        for of in (bounds.prop_4_3_expectation, bounds.prop_4_4_expectation, bounds.auer_2002):
            assert of(problem, 50) == pytest.approx(of(KNOWN, 50))
    wide = Problem(arms.Uniform([0, -0.4], 0.7))
    for of in (bounds.prop_4_3_expectation, bounds.prop_4_4_expectation, bounds.auer_2002):
        with pytest.raises(ValueError, match=r"interval of length 1 .* from -0.4 to 0.7"):
            of(wide, 1000)


def test_the_printed_condition_lets_a_false_bound_through():
    problem = Problem([arms.Uniform(1e-4, 1), arms.Uniform(0, 0.5)])
    with pytest.raises(ValueError, match="t must be at least"):
        bounds.prop_4_3_expectation(problem, 10)
    bound = bounds.prop_4_3_expectation(problem, 10, condition="printed")
    assert bound < 0 < problem.mean_gaps[1]  # the first pull of arm 2 alone costs more


def test_one_over_a_is_too_small_a_bound_when_a_delta_exceeds_one():
    # Supports that do not meet: one pull of arm 2, N = 1, regret .85; (K - 1)/A = .1.
    problem = Problem([arms.Uniform(0.9, 1), arms.Uniform(0.05, 0.15)])
    limit = bounds.limit_regret(problem).mean
    assert limit == pytest.approx(0.85)
    assert limit <= bounds.constant_bound(problem)
    assert limit <= bounds.constant_bound_margins(problem)
    assert limit > 1 / problem.lower_mass_constants.min()


@settings(max_examples=60, deadline=None)
@given(
    gaps=st.lists(st.floats(0.01, 0.2), min_size=1, max_size=6),
    extra=st.floats(0, 0.1),
    width=st.floats(0.05, 0.3),
    smaller=st.floats(0.05, 1),
    delta=st.floats(1e-6, 0.5),
)
def test_ours_are_below_the_papers(gaps, extra, width, smaller, delta):
    # Uniform arms with these mean gaps, and `extra` larger minimum gaps.
    low = -np.array([0, *gaps]) - np.array([0] + [extra] * len(gaps))
    problem = Problem(arms.Uniform(low, width - 2 * np.array([0, *gaps]) - low))
    assert problem.mean_gaps[1:] == pytest.approx(gaps)
    A = smaller * problem.lower_mass_constants.min()
    t = np.ceil(max(bounds.prop_4_3_least_t(problem, A=A), len(gaps) / A) + problem.n_arms)
    constant = bounds.constant_bound(problem, A=A)
    assert constant <= bounds.constant_bound_margins(problem, A=A) * (1 + 1e-12)
    assert constant <= bounds.prop_4_3_expectation(problem, t, A=A)
    assert constant <= bounds.prop_4_4_expectation(problem, t, A=A)
    ours = bounds.constant_bound_probability(problem, delta, A=A)
    assert ours <= bounds.prop_4_3(problem, t, delta, A=A) * (1 + 1e-12)


def test_assumptions():
    good = bounds.assumptions(problems.proof_of_concept(delta_max=0.1, r_max=0.399))
    assert good.prop_4_3
    assert good.prop_4_4
    # The printed parameters reach down to -.001.
    assert not bounds.assumptions(problems.proof_of_concept()).bounded
    crossed = Problem([arms.Uniform(0.2, 0.6), arms.Uniform(0, 1)])
    assert not bounds.assumptions(crossed).aligned
    shared = Problem([arms.Uniform(0, 1), arms.Uniform(0, 0.5)])
    assert bounds.assumptions(shared).aligned
    assert not bounds.assumptions(shared).separated
    wide = Problem([arms.Uniform(0.1, 1), arms.Uniform(0, 0.5)])
    assert bounds.assumptions(wide).prop_4_3
    assert not bounds.assumptions(wide).margins
    assert not bounds.assumptions(Problem([arms.Beta(2, 1), arms.Beta(2, 2)])).lower_mass
    assert bounds.assumptions(Problem(arms.Uniform([0, 1], 1e4))).lower_mass  # A = 1e-4


# --- the limit of MIN's regret ------------------------------------------------------------


def test_one_geometric_variable():
    law = bounds.ScaledGeometricSum([0.5], [0.3])
    assert law.mean == pytest.approx(stats.geom(0.3).mean() / 2)
    assert law.var == pytest.approx(stats.geom(0.3).var() / 4)
    x = np.array([0.0, 0.4, 0.6, 1.2, 5.1, 9.9])
    low, high = law.cdf_bounds(x)
    exact = stats.geom(0.3).cdf(x / 0.5)
    assert np.all(low <= exact + 1e-12)
    assert np.all(exact <= high + 1e-12)
    assert high - low == pytest.approx(np.zeros(6), abs=1e-3)


def _brute_cdf(scales, p, x, most=400):
    n = np.arange(1, most)
    first, second = (stats.geom(q).pmf(n) for q in p)
    total = scales[0] * n[:, None] + scales[1] * n
    joint = first[:, None] * second
    return np.array([joint[total <= one].sum() for one in x])


def test_the_convolution_holds_the_exact_cdf():
    scales, p = (0.1, 0.0377), (0.4, 0.1)
    law = bounds.ScaledGeometricSum(scales, p)
    x = np.array([0.05, 0.2, 0.5, 0.8123, 1.5])
    exact = _brute_cdf(scales, p, x)
    low, high = law.cdf_bounds(x)
    assert np.all(low <= exact + 1e-9)
    assert np.all(exact <= high + 1e-9)
    assert np.max(high - low) < 0.01
    for q in (0.05, 0.5, 0.99):
        lower, upper = law.quantile_bounds(q)
        assert lower <= upper <= lower * 1.01
        assert _brute_cdf(scales, p, [upper * (1 + 1e-9)])[0] >= q - 1e-9
        assert _brute_cdf(scales, p, [lower * (1 - 1e-3)])[0] < q


def test_a_certain_first_reward_and_a_free_arm():
    law = bounds.ScaledGeometricSum([0.2, 0.3, 0.0], [1.0, 1.0, 0.5])
    assert law.mean == pytest.approx(0.5)
    assert law.var == 0
    assert law.quantile_bounds(0.5) == pytest.approx((0.5, 0.5), rel=1e-2)


def _ranks(tape, level, strict):
    """Rank of the first reward below (or at) a level, 0 where there is none, shape (K,)."""
    hit = tape < level if strict else tape <= level
    return np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 0)


def _pulls(law, horizon, runs, seed, **options):
    result = simulate(Problem(law), policies.MIN(**options), horizon, runs, seed)
    return result.pulls.values[0, 0]


def test_pulls_of_min_are_the_ranks_path_by_path():
    # No error rate: n_i <= N_i always, and n_i = N_i in all but the rare unsettled runs.
    law = arms.Uniform([0.3, 0.1, 0.0, 0.2], [0.9, 0.8, 0.7, 0.75])
    horizon, runs, seed = 2000, 100, 5
    pulls = _pulls(law, horizon, runs, seed)
    ranks = np.array([_ranks(law.sample(horizon, seed, r), 0.3, True) for r in range(runs)])
    assert np.all(pulls[:, 1:] <= ranks[:, 1:])
    assert np.mean(pulls[:, 1:] == ranks[:, 1:]) > 0.97


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("atom_at_best", [False, True])
def test_stopping_probabilities_with_atoms(ties, atom_at_best):
    # Arms 0 and 2 have an atom at a* = .3, arm 1 is the best; expected ranks path by path.
    side = [0.1, 0.3, 0.3, 0.5, 0.7]
    best = [0.3, 0.6, 0.8, 0.9, 0.9] if atom_at_best else [0.300001, 0.6, 0.8, 0.9, 0.9]
    law = arms.Empirical([side, best, side])
    problem = Problem(law)
    a_star = best[0]
    p = bounds.stopping_probabilities(problem, ties)
    horizon, runs, seed = 4000, 60, 7
    pulls = _pulls(law, horizon, runs, seed, ties=ties)
    for run in range(runs):
        tape = law.sample(horizon, seed, run)
        for arm in (0, 2):
            strict = p[arm] < 0.5  # P(X < .3) = .2, P(X <= .3) = .6
            assert pulls[run, arm] == _ranks(tape, a_star, strict)[arm]
    wins = {"lowest": (0,), "highest": (2,), "random": (0, 2)}[ties] if atom_at_best else ()
    assert p == pytest.approx([0.2 if 0 in wins else 0.6, 0, 0.2 if 2 in wins else 0.6])


def test_a_rare_atom_at_the_best_infimum_leaves_ties_to_the_rule_by_hand():
    side, best = (
        arms.Discrete([0.1, 0.3, 0.9], [0.2, 0.4, 0.4]),
        arms.Discrete([0.3, 0.9], [0.005, 0.995]),
    )
    problem = Problem([side, best])
    assert bounds.stopping_probabilities(problem, "lowest") == pytest.approx([0.2, 0])
    assert bounds.stopping_probabilities(problem, "highest") == pytest.approx([0.6, 0])


def test_limit_with_several_best_arms():
    # Two arms share a* and the best mean: the third still stops at its first reward below a*.
    law = arms.Uniform([0.3, 0.3, 0.0], [0.7, 0.7, 0.6])
    assert bounds.limit_regret(Problem(law)).mean == pytest.approx(0.2 / 0.5)
    pulls = _pulls(law, 3000, 50, 2)
    ranks = np.array([_ranks(law.sample(3000, 2, r), 0.3, True)[2] for r in range(50)])
    assert np.array_equal(pulls[:, 2], ranks)


def test_regret_is_linear_when_the_best_arms_differ():
    problem = Problem([arms.Uniform(0.2, 0.6), arms.Uniform(0, 1), arms.Uniform(0.1, 0.9)])
    slope, intercept = bounds.linear_asymptote(problem)
    assert slope == pytest.approx(0.1)
    assert intercept == pytest.approx(-0.1 / 0.2 - 0.1 / 0.125)
    regret = simulate(problem, policies.MIN(), 2000, 4000, 11).theoretical_regret.values[
        0, 0, :, -1
    ]
    # Within 5 standard errors: chance of failure 6e-7. Unsettled runs are too few to matter.
    error = regret.std() / math.sqrt(regret.size)
    assert abs(regret.mean() - (slope * 2000 + intercept)) < 5 * error + 1e-3


def test_share_of_two_arms_with_one_minimum():
    r = np.array([0.2, 0.99995, 1.0, 4.0])
    share = bounds.shared_minimum_share(r, 1.0)
    assert share + bounds.shared_minimum_share(1 / r, 1.0) == pytest.approx(np.ones(4))
    rng = np.random.default_rng(0)
    t1, t2 = rng.exponential(1 / 4, 100_000), rng.exponential(1, 100_000)
    assert (t1 / (t1 + t2)).mean() == pytest.approx(share[3], abs=5 * 0.3 / math.sqrt(100_000))


# --- MIN at finite t ----------------------------------------------------------------------


def by_sums(safe, other, t):
    """Two arms, pull by pull: E[n_other] = 1 + sum_u P(min of t-1-u of `safe` < min of u)."""
    ends = np.r_[0, np.geomspace(1e-8, 1, 40)]
    x, weights = np.polynomial.legendre.leggauss(100)
    w = np.concatenate([a + (b - a) * (x + 1) / 2 for a, b in itertools.pairwise(ends)])
    dw = np.concatenate([(b - a) * weights / 2 for a, b in itertools.pairwise(ends)])
    above = 1 - other.cdf(safe.quantile(w))
    terms = ((t - 1 - u) * (1 - w) ** (t - 2 - u) * above**u @ dw for u in range(1, t - 1))
    return 1 + sum(terms)


@pytest.mark.parametrize(
    "pair",
    [
        (arms.Uniform(0.2, 0.6), arms.Uniform(0, 0.8)),
        (arms.Uniform(0.3, 0.5), arms.Uniform(0.25, 0.95)),
        (arms.Beta(2, 3), arms.Beta(0.5, 2)),  # both infima are 0
        (
            arms.Uniform(0.1, 1),
            arms.TruncatedGaussianMixture(0, 1, [0.5, 0.5], [0.1, 0.9], [0.02, 0.1]),
        ),
    ],
    ids=str,
)
def test_expected_pulls_of_two_arms_term_by_term(pair):
    t = [2, 3, 4, 10, 60, 300]
    got = bounds.expected_pulls(Problem(list(pair)), t)
    assert got[:, 1] == pytest.approx([by_sums(*pair, n) for n in t], abs=2e-6)
    assert got.sum(axis=1) == pytest.approx(t, abs=1e-5)


def test_expected_pulls_by_hand():
    # The arm with the largest first reward gets pull K + 1: for equal laws each with chance 1 / K.
    equal = Problem(arms.Uniform([0.1] * 4, 0.9))
    assert bounds.expected_pulls(equal, [4, 5]) == pytest.approx(np.repeat([[1], [1.25]], 4, 1))
    # U[0, 1] is above U[0, .5] with chance 3/4.
    wide = Problem(arms.Uniform([0, 0], [1, 0.5]))
    assert bounds.expected_pulls(wide, 3) == pytest.approx([1.75, 1.25])


def test_expected_pulls_where_the_square_of_a_chance_is_no_float():
    """Near 0 that of the first arm is below 1e-200; the second is below it in every run."""
    far = Problem([arms.Beta(500, 1), arms.Beta(1, 30)])
    assert bounds.expected_pulls(far, 100) == pytest.approx([99, 1], abs=1e-5)


def test_expected_pulls_of_many_arms_are_those_simulated():
    """1,000 runs; a mean 5 standard errors away has a chance below 1e-6 in each of 80 cases."""
    t = [5, 6, 10, 30, 200, 1000]
    mixed = Problem([
        arms.Beta(2, 2), arms.Uniform(0.1, 0.4), arms.Beta(0.7, 3), arms.Uniform(0.05, 0.9),
        arms.TruncatedGaussianMixture(0.08, 1, [0.3, 0.7], [0.3, 0.7], [0.05, 0.02]),
    ])  # fmt: skip
    for problem in (mixed, problems.aligned_uniform(1, 3)[0]):
        result = simulate(problem, policies.MIN(), 1000, 1000, 5, record=("pulls",), checkpoints=t)
        pulls = result.checkpoint_pulls.values[0, 0].transpose(1, 0, 2)
        error = pulls.std(axis=1, ddof=1) / math.sqrt(1000)
        expected = bounds.expected_pulls(problem, t)
        assert np.all(abs(pulls.mean(axis=1) - expected) <= 5 * error + 1e-3)
        assert expected.sum(axis=1) == pytest.approx(t, abs=1e-6)
        few = bounds.expected_pulls(problem, t[:4])  # over other parts of the levels
        assert few == pytest.approx(expected[:4], abs=1e-6)


def test_expected_regret_rises_to_its_limit():
    problem = problems.proof_of_concept(delta_max=0.1, r_max=0.399)
    regrets = bounds.expected_regret(problem, [20, 25, 100, 4000])
    assert np.all(np.diff(regrets) > 0)
    assert regrets[0] == pytest.approx(problem.mean_gaps.sum())
    limit = bounds.limit_regret(problem).mean
    assert limit - 1e-4 < regrets[-1] < limit


# --- MaRaB --------------------------------------------------------------------------------

STUCK = Problem(arms.Uniform([0.25, 0.3], [0.95, 0.5]))


@pytest.mark.parametrize("C", [0.0, 0.3])
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_marab_leaves_the_best_arm_path_by_path(alpha, C):
    # A reward below .3 among the first floor(1/alpha) of arm 0 ends its play at once.
    law = STUCK.arms
    assert law[0].cvar(alpha) > law[1].cvar(alpha)
    m, horizon, runs = math.floor(1 / alpha), 500, 200
    result = simulate(STUCK, policies.MaRaB(alpha, C), horizon, runs, 3)
    both = arms.Uniform([0.25, 0.3], [0.95, 0.5])
    caught = 0
    for run, pulls in enumerate(result.pulls.values[0, 0, :, 0]):
        rank = _ranks(both.sample(m, 3, run), 0.3, True)[0]
        if rank:
            caught += 1
            assert pulls <= rank
    p = bounds.marab_stuck_probability(STUCK, alpha)
    assert stats.binomtest(caught, runs, p).pvalue > 1e-6


def test_marab_bound_by_hand():
    assert bounds.marab_cvar_regret(STUCK, [1, 2, 12], 0.5, rewards=1) == pytest.approx(
        [0, 0.075 / 14, 11 * 0.075 / 14]
    )
    stuck = 1 - (13 / 14) ** 2
    assert bounds.marab_cvar_regret(STUCK, 12, 0.5) == pytest.approx(stuck * 0.075 * 10)


# --- simulated frequencies ----------------------------------------------------------------


def test_intervals_are_those_of_scipy():
    k = np.array([0, 1, 7, 29, 30])
    low, high = statistics.proportion_interval(k, 30, 0.9)
    for i, count in enumerate(k):
        expected = stats.binomtest(int(count), 30).proportion_ci(0.9)
        assert (low[i], high[i]) == pytest.approx((expected.low, expected.high))


def test_coverage_is_a_sum_over_counts():
    p, runs = np.array([0.0, 0.013, 0.4, 0.5, 1.0]), 40
    k = np.arange(runs + 1)
    low, high = statistics.proportion_interval(k, runs)
    holds = (low[:, None] <= p) & (p <= high[:, None])
    expected = (stats.binom.pmf(k[:, None], runs, p) * holds).sum(axis=0)
    assert statistics.interval_coverage(p, runs) == pytest.approx(expected)
    assert np.all(expected >= 0.95)


# --- bad input ----------------------------------------------------------------------------

ONE = arms.Uniform(0, 1)
NOT_ALIGNED = Problem(arms.Uniform([0.2, 0.0], [0.6, 1.0]))
EQUAL_MINIMA = Problem(arms.Uniform([0.0, 0.0], [0.6, 1.0]))
TWO_BEST = Problem(arms.Uniform([0, 0], [1, 1]))
EQUAL_MEANS = Problem(arms.Uniform([0.2, 0.0], [0.8, 1.0]))
TWICE_THE_MARGIN = Problem(arms.Uniform([0.1, 0.0], [0.9, 0.6]))
WIDE = Problem(arms.Uniform([0.5, 0], [1.1, 1.5]))
FLAT = Problem([arms.Beta(2, 1), arms.Beta(2, 2)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.lemma_4_1(ONE, 0, 0.1), "t must be a whole number >= 1, got 0"),
        (lambda: bounds.lemma_4_1(ONE, 2.5, 0.1), "t must be a whole number >= 1, got 2.5"),
        (lambda: bounds.lemma_4_1(ONE, 1e101, 0.1), r"t must be at most 1e\+100, got 1e\+101"),
        (lambda: bounds.lemma_4_1(ONE, 2, 0), "eps must be > 0, got 0"),
        (lambda: bounds.lemma_4_1(ONE, 2, [0.1, -0.2]), "eps must be > 0, got -0.2"),
        (lambda: bounds.lemma_4_1(ONE, 2, np.nan), "eps must be finite"),
        (lambda: bounds.lemma_4_1(ONE, 2, 0.1, A=0), "A must be in .*, got 0"),
        (lambda: bounds.lemma_4_1(ONE, 2, 0.1, A=1.1), r"A must be in \[1e-150, 1\].*, got 1.1"),
        (lambda: bounds.lemma_4_1(ONE, [1, 2], [0.1] * 3), r"t and eps .*\(2,\) and \(3,\)"),
        (lambda: bounds.lemma_4_1(FLAT.arms[0], 2, 0.1), "A must be > 0 .* constant 0"),
        (lambda: bounds.lemma_4_2(FLAT, 2, 0.1), "A must be > 0 .* constant 0"),
        (lambda: bounds.lemma_4_2(STUCK, 2, -1), "eps must be > 0, got -1"),
        (lambda: bounds.event_complement_exact(LAWS[0], 3, -1), "eps must be a number in"),
        (lambda: bounds.prop_4_3(KNOWN, 9, 0), r"delta must be in \(0, 1\), got 0"),
        (lambda: bounds.prop_4_3(KNOWN, 9, 1), r"delta must be in \(0, 1\), got 1"),
        (lambda: bounds.prop_4_3(KNOWN, 9, 0.1, A=-1), "A must be in .*, got -1"),
        (lambda: bounds.prop_4_3(KNOWN, [1, 2], [0.1] * 3), "t and delta and A must have shapes"),
        (lambda: bounds.prop_4_3(EQUAL_MINIMA, 9, 0.1), "same essential infimum"),
        (lambda: bounds.prop_4_3(NOT_ALIGNED, 9, 0.1), "best mean must also have"),
        (lambda: bounds.prop_4_3(EQUAL_MEANS, 9, 0.1), "no regret to bound"),
        (lambda: bounds.prop_4_3(FLAT, 9, 0.1), "A must be > 0 .* constant 0"),
        (lambda: bounds.prop_4_3_expectation(KNOWN, 3), "t must be at least 4 .*, got 3"),
        (lambda: bounds.prop_4_3_expectation(WIDE, 90), "interval of length 1 .* from 0 to 1.5"),
        (lambda: bounds.prop_4_4_expectation(WIDE, 90), "interval of length 1 .* from 0 to 1.5"),
        (lambda: bounds.auer_2002(WIDE, 90), "interval of length 1 .* from 0 to 1.5"),
        (lambda: bounds.prop_4_3_least_t(KNOWN, condition="p"), "condition must be one of"),
        (lambda: bounds.prop_4_4(TWICE_THE_MARGIN, 9, 0.1), r"0.2 > 0.1\S* \(arm 1\)"),
        (lambda: bounds.prop_4_4_least_t(TWICE_THE_MARGIN), "mean_gaps must be <= minimum_gaps"),
        (lambda: bounds.prop_4_4_expectation(KNOWN, 2), r"t must be above 2 .*, got 2"),
        (lambda: bounds.constant_bound(KNOWN, A=0), "A must be in .*, got 0"),
        (lambda: bounds.constant_bound_margins(TWICE_THE_MARGIN), r"0.2 > 0.1\S* \(arm 1\)"),
        (lambda: bounds.constant_bound_probability(KNOWN, 2), "delta must be in"),
        (lambda: bounds.ScaledGeometricSum([0.1], [0]), r"p must be in \(0, 1\], .*got 0"),
        (lambda: bounds.ScaledGeometricSum([-1], [1]), "scales must be >= 0"),
        (lambda: bounds.ScaledGeometricSum([], []), "at least 1 number"),
        (lambda: bounds.ScaledGeometricSum([1], [1]).quantile_bounds(1), "q must be in"),
        (lambda: statistics.proportion_interval(11, 10), "successes must be in 0, ..., 10, got 11"),
        (
            lambda: statistics.interval_coverage(0.5, 10, 1),
            r"confidence must be .* \(0, 1\), got 1",
        ),
        (lambda: bounds.shared_minimum_share(0, 1), "density_1 must be > 0"),
        (lambda: bounds.stopping_probabilities(STUCK, "none"), "ties must be one of"),
        (lambda: bounds.limit_regret(STUCK), "linear_asymptote"),
        (lambda: bounds.limit_regret(TWO_BEST), "arm of lower mean"),
        (lambda: bounds.linear_asymptote(EQUAL_MINIMA), "one mean for all arms"),
        (lambda: bounds.expected_pulls(STUCK, 1), "t must be at least the number of arms, 2"),
        (lambda: bounds.expected_regret(Problem(arms.Bernoulli([0.2, 0.3])), 9), "continuous laws"),
        (
            lambda: bounds.expected_pulls(
                Problem([arms.Beta(0.01, 1000), arms.Uniform(-0.001, 1)]), 50
            ),
            "problem must have densities that can be integrated",
        ),
        (lambda: bounds.marab_stuck_probability(TWO_BEST, 0.5), "single arm of best CVaR"),
        (lambda: bounds.marab_stuck_probability(STUCK, 1.5), r"alpha must be a number in \(0, 1\)"),
        (lambda: bounds.marab_stuck_probability(STUCK, 0.5, 3), r"rewards must be .* \[1, 2\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_random_aligned_problems_meet_the_assumptions():
    made = problems.aligned_uniform(200, seed=4, n_arms=6)
    assert all(bounds.assumptions(p).prop_4_3 for p in made)
    assert len({int(p.means.argmax()) for p in made}) == 6
    again = problems.aligned_uniform(200, seed=4, n_arms=6)[7]
    assert np.array_equal(again.means, made[7].means)


def test_unsettled_chance_of_uniform_arms():
    """(w* / t) times the sum of 1 / gap; and where it cannot be told it is refused."""
    problem = Problem(arms.Uniform([0.1, 0.4, 0.2], [0.7, 0.8, 0.9]))
    got = bounds.unsettled_chance(problem, [1, 100])
    assert got == pytest.approx([1.0, 0.4 / 100 * (1 / 0.3 + 1 / 0.2)], rel=1e-6)
    with pytest.raises(ValueError, match="one arm of largest infimum, with a positive density"):
        bounds.unsettled_chance(Problem(arms.Uniform([0.2, 0.2], [0.5, 1.0])), 10)
    with pytest.raises(ValueError, match="t must be a whole number >= 1, got 0"):
        bounds.unsettled_chance(problem, 0)


def test_lattice_at_its_ends():
    # Scales that are whole steps are not rounded: P(N <= 4) = 1 - .5**4 on both sides.
    whole = bounds.ScaledGeometricSum([1.0], [0.5])
    for points in (4, 8):
        assert whole.cdf_bounds([2.0, 4.0], points) == (
            pytest.approx([0.75, 0.9375], rel=1e-14),
            pytest.approx([0.75, 0.9375], rel=1e-14),
        )
    law = bounds.ScaledGeometricSum([0.1], [0.5])
    assert law.cdf_bounds([0.0, 1e-8]) == (pytest.approx([0, 0]), pytest.approx([0, 0]))
    low, high = bounds.ScaledGeometricSum([1e-15], [1e-14]).quantile_bounds(0.5)
    assert low <= 1e-15 * math.log(2) / 1e-14 <= high  # the median of a geometric number, scaled
    assert bounds.ScaledGeometricSum([0.0], [0.5]).quantile_bounds(0.5) == (0.0, 0.0)
    with pytest.raises(ValueError, match="x must hold at least one number, got none"):
        law.cdf_bounds([])
