"""Problem generators: the paper's numbers, the options of the readings, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from marab_lib import Problem, arms, problems
from marab_lib.paper import battery


def some(n_problems=1, seed=1, **options):
    return problems.artificial(n_problems, seed, **options)


def test_proof_of_concept_has_the_printed_numbers():
    problem = problems.proof_of_concept()
    assert problem.n_arms == 20
    assert problem.means[0] == 0.5
    assert problem.essential_infima[0] == pytest.approx(0.499)
    assert problem.means[-1] == pytest.approx(0.499)
    assert problem.essential_suprema[-1] - problem.means[-1] == pytest.approx(0.5)
    assert problem.best_arm == 0
    # Section 5.1 wants Delta_a,i > Delta_mu,i and A >= 1 for all arms.
    assert (problem.minimum_gaps[1:] > problem.mean_gaps[1:]).all()
    assert (problem.lower_mass_constants >= 1 - 1e-12).all()


def test_artificial_has_the_law_of_the_paper():
    """KS and chi-square tests over 6,000 arms at 1e-4 each, 5 of them."""
    listed = problems.artificial(300, 11)
    laws = [law for problem in listed for law in problem._laws]
    lower = np.concatenate([law.lower for law in laws])
    weights = np.concatenate([law.weights for law in laws])
    used = weights > 0
    assert stats.kstest(lower, stats.uniform(0, 0.05).cdf).pvalue > 1e-4
    assert stats.chisquare(np.bincount(used.sum(axis=1), minlength=5)[1:]).pvalue > 1e-4
    means = np.concatenate([law.means for law in laws])[used]
    scales = np.concatenate([law.scales for law in laws])[used]
    assert stats.kstest(means, stats.uniform(0, 1).cdf).pvalue > 1e-4
    assert stats.kstest(scales, stats.uniform(0.12, 0.38).cdf).pvalue > 1e-4
    # Dirichlet(1, 1): the first of two weights is uniform.
    two = weights[used.sum(axis=1) == 2][:, 0]
    assert stats.kstest(two, stats.uniform(0, 1).cdf).pvalue > 1e-4
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def test_artificial_readings_share_their_random_numbers():
    base, variance, equal = (
        problems.artificial(3, 5, **options)[2]._laws[0]
        for options in ({}, {"spread_is": "variance"}, {"weights": "equal"})
    )
    np.testing.assert_allclose(variance.scales, np.sqrt(base.scales))
    np.testing.assert_array_equal(equal.means, base.means)
    assert set(np.round(equal.weights[equal.weights > 0] * 12)) <= {3, 4, 6, 12}
    fewer = problems.artificial(3, 5, n_gaussians=(1, 2))[2]._laws[0]
    np.testing.assert_array_equal(fewer.means, base.means[:, :2])
    four = problems.artificial(3, 5, n_gaussians=4)[2]._laws[0]
    assert (four.weights > 0).all()


def test_truncation_of_components_keeps_their_weights():
    whole = problems.artificial(2, 5)[1]._laws[0]
    parts = problems.artificial(2, 5, truncation="components")[1]._laws[0]
    np.testing.assert_allclose(parts._truncated_weights, whole.weights, atol=1e-12)


def test_problems_do_not_depend_on_their_number():
    few, many = problems.artificial(2, 9), problems.artificial(7, 9)
    np.testing.assert_array_equal(few[1].means, many[1].means)
    assert many[1].stream == (9, 1)


def test_problem_of_mixed_arms():
    law = arms.Uniform([0.0, 0.2], 1.0)
    problem = Problem([law, arms.Bernoulli(0.9)], name="mixed")
    assert problem.n_arms == 3
    np.testing.assert_allclose(problem.means, [0.5, 0.6, 0.9])
    np.testing.assert_allclose(problem.cvars(0.5), [0.25, 0.4, 0.8])
    np.testing.assert_allclose(problem.mean_variances(1), problem.variances - problem.means)
    np.testing.assert_allclose(problem.minimum_gaps, [0.2, 0.0, 0.2])
    assert [type(arm).__name__ for arm in problem.arms] == ["Uniform", "Uniform", "Bernoulli"]


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (Problem, {"arms": []}, "at least 2 arms, got 0"),
        (Problem, {"arms": [arms.Bernoulli(0.1)]}, "at least 2 arms, got 1"),
        (problems.proof_of_concept, {"n_arms": 1}, ">= 2, got 1"),
        (problems.proof_of_concept, {"a_star": 0.5}, r"\(-inf, 0.5\)"),
        (problems.proof_of_concept, {"delta_max": -1}, "got -1"),
        (some, {"n_problems": 0}, ">= 1, got 0"),
        (some, {"seed": -1}, ">= 0, got -1"),
        (some, {"n_gaussians": 0}, "whole number"),
        (some, {"n_gaussians": (3, 2)}, "whole number"),
        (some, {"n_gaussians": [1, [2], 3]}, r"pair \(few, many\), got \[1, \[2\], 3\]"),
        (some, {"n_gaussians": [1, [2]]}, r">= 1, got \[2\]"),
        (some, {"weights": "x"}, "one of 'dirichlet'"),
        (some, {"spread_is": "x"}, "one of 'sd'"),
        (some, {"spreads": (0, 1)}, "positive"),
        (some, {"minima": (0, 1)}, "below 1"),
        (some, {"minima": 5}, r"pair \(low, high\), got 5"),
        (some, {"minima": [(0, 1), 2]}, r"\(-inf, inf\), got \(0, 1\)"),
        (some, {"locations": (1, 0)}, r"\[1"),
        (battery.problem, {"rewards": [[1, 2], [1]]}, r"one length, got \[\[1, 2\], \[1\]\]"),
        (battery.problem, {"rewards": [1, 2]}, r"got shape \(2,\)"),
        (problems.multinomial, {"n_problems": 1, "seed": 1, "values": 5}, r"got shape \(\)"),
    ],
)
def test_bad_input_is_named(make, given, message):
    """What the odd calls would let pass, and what of a pair is wrong."""
    with pytest.raises((TypeError, ValueError), match=f"{list(given)[-1]} must .*{message}"):
        make(**given)


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (some, {"n_problems": 10**10}),
        (some, {"n_gaussians": 10**12}),
        (problems.multinomial, {"n_problems": 10**10, "seed": 0}),
        (problems.aligned_uniform, {"n_problems": 10**10, "seed": 0}),
        (problems.proof_of_concept, {"n_arms": 10**12}),
    ],
)
def test_more_problems_than_memory_holds_are_refused(make, given):
    with pytest.raises(MemoryError, match=r"problems of .* arms would take about [\d,.]+ GiB, but"):
        make(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.5, r"reward laws of marab_lib\.arms \(Bernoulli, .* or Uniform; .* of your own\), got "),
        ([0.5, 0.6], r"reward laws of marab_lib\.arms"),
        ([[0.1, 0.2], [0.3, 0.4]], r"reward laws of marab_lib\.arms"),
        ("ab", r"reward laws of marab_lib\.arms"),
        (set(arms.Uniform([0, 0.1], 1)), "a list of reward laws"),
        ({"a": arms.Bernoulli(0.1)}, "a list of reward laws"),
    ],
)
def test_arms_must_be_a_list_of_laws(given, message):
    with pytest.raises(TypeError, match=f"arms must be {message}"):
        Problem(given)


def test_the_laws_that_the_message_lists_are_all():
    laws = set(arms.__all__) - {"RewardLaw", "UsedUp", "make"}
    assert laws == {name for name in laws if name in problems._LAWS}


@pytest.mark.parametrize("stream", [5, "a", (-1,), (1.5,), (True,), ("a",), (10**400,)])
def test_stream_must_be_whole_numbers(stream):
    with pytest.raises((TypeError, ValueError), match="stream must be a tuple of whole numbers >="):
        Problem(arms.Uniform([0, 0.1], 1), stream=stream)


def test_stream_is_kept_as_a_tuple():
    law = arms.Uniform([0, 0.1], 1)
    assert Problem(law).stream is None
    assert Problem(law, stream=[np.int64(3), 4]).stream == (3, 4)


def test_the_memory_of_problems_is_estimated():
    """Against what Python counts at the widest point."""
    import tracemalloc

    estimates = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            problems._validate, "fits_in_memory", lambda what, size, advice: estimates.append(size)
        )
        for make in (problems.artificial, problems.multinomial, problems.aligned_uniform):
            tracemalloc.start()
            make(300, 0)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert 0.8 * peak < estimates.pop() < 4 * peak


def test_a_support_is_shown_with_enough_digits():
    from marab_lib import policies

    problem = Problem(arms.Uniform([0, 0], 1 + 2.3e-16))
    with pytest.raises(ValueError, match=r"in \[0, 1\], but .* in \[0, 1.0000000000000002\]"):
        policies.KLUCB().check_problem(problem)


def test_cvars_of_several_problems_are_those_of_each():
    listed = problems.artificial(4, 1)
    mixed = [problems.stuck(), problems.Problem([arms.Uniform(0, 1), arms.Bernoulli(0.5)])]
    uniform = problems.aligned_uniform(3, 1)
    single = [problems.Problem([arms.Beta(1, 2), arms.Beta(2, k)]) for k in (1, 3)]
    for some in (listed, mixed, uniform, single, problems.multinomial(3, 1)):
        alone = [problems.Problem(p.arms).cvars(0.1) for p in some]
        np.testing.assert_allclose(problems.cvars(some, 0.1), alone, rtol=1e-12)
        for problem, row in zip(some, alone, strict=True):
            np.testing.assert_allclose(problem.cvars("0.1"), row, rtol=1e-12)
    assert problems.cvars(listed[:2], 0.1).shape == (2, 20)
    with pytest.raises(ValueError, match=r"same number of arms, got \[2, 20\]"):
        problems.cvars([*listed, problems.stuck()], 0.1)
    with pytest.raises(ValueError, match="problems must"):
        problems.cvars([], 0.1)
