"""The compiled code against its twins in naive.py, and the samplers against the exact laws."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from cases import agrees_with_its_twin, mixed_problem
from scipy import special, stats

from marab_lib import arms, policies, problems, risk, simulate
from marab_lib.kernels.indices import bernoulli_entropy, bernoulli_upper_bound, kl_ucb_bound
from marab_lib.kernels.random import (
    _next_log_gamma,
    next_beta,
    next_gamma,
    next_normal,
    next_uniform,
    normal_quantile,
    philox,
)
from marab_lib.kernels.records import ARM, STATE, SUMS
from marab_lib.kernels.tails import update_tail

SEED = 20131113


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # known answers of the Random123 distribution
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_published_answers(counter, key, expected):
    assert tuple(int(x) for x in philox(*key, *counter)) == expected
    assert naive.philox(key, counter) == expected


def test_splitmix_gives_the_published_answers():
    state = np.zeros(1, STATE)
    state[0]["rng"] = 1234567
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [next_uniform(state) for _ in published] == [
        naive.to_uniform(word) for word in published
    ]


def test_normal_quantile_agrees_with_scipy():
    p = np.concatenate([np.geomspace(1e-300, 0.5, 4000), 1 - np.geomspace(1e-15, 0.5, 4000)])
    ours = np.array([normal_quantile(x) for x in p])
    np.testing.assert_allclose(ours, special.ndtri(p), rtol=5e-15, atol=5e-16)


@pytest.mark.parametrize(
    ("mean", "bound", "expected"),
    [(0.1, 0.2, 0.378391), (0.5, 0.2, 0.787088), (0.9, 0.2, 0.994489), (0.1, 0.4, 0.519475)],
)
def test_kl_upper_bound_known_values(mean, bound, expected):
    entropy = bernoulli_entropy(mean)
    assert bernoulli_upper_bound(mean, bound, entropy) == pytest.approx(expected, abs=2e-6)


def test_kl_upper_bound_solves_its_equation():
    rng = np.random.default_rng(0)
    means = np.concatenate([rng.random(300), [0.0, 1e-9, 1 - 1e-9, 1.0]])
    for p in means:
        for bound in 10 ** rng.uniform(-6, 1, 8):
            q = bernoulli_upper_bound(p, bound, bernoulli_entropy(p))
            assert q == pytest.approx(naive.kl_index(p, bound), abs=1e-9)


TWINS = [
    (policies.UCB(1e-3), naive.UCB, {"C": 1e-3}),
    (policies.UCB(0.5), naive.UCB, {"C": 0.5}),
    (policies.KLUCB(), naive.KLUCB, {"c": 0}),
    (policies.KLUCB(3.0), naive.KLUCB, {"c": 3}),
    (policies.EpsilonGreedy(0.2), naive.EpsilonGreedy, {"eps": 0.2}),
    (policies.MIN(), naive.MIN, {}),
    (policies.MaRaB(0.07, 0.3), naive.MaRaB, {"alpha": 0.07, "C": 0.3}),
    (policies.MaRaB(0.2, 1e-6), naive.MaRaB, {"alpha": 0.2, "C": 1e-6}),
    (policies.ForcedMaRaB(0.3), naive.ForcedMaRaB, {"alpha": 0.3, "scale": 1.0}),
    (policies.ForcedMaRaB(0.3, 0.1), naive.ForcedMaRaB, {"alpha": 0.3, "scale": 0.1}),
    (policies.MaRaB(0.9, 1.0), naive.MaRaB, {"alpha": 0.9, "C": 1.0}),
    (policies.MVLCB(2.0), naive.MVLCB, {"rho": 2}),
    (policies.ExpExp(2.0), naive.ExpExp, {"rho": 2}),
    (policies.UCB(0.04, constant="inside"), naive.UCBInside, {"C": 0.04}),
    (policies.UCB(1e-3, rounds=3), naive.UCB, {"C": 1e-3, "rounds": 3}),
    (policies.MaRaB(0.2, 0.01, constant="inside"), naive.MaRaBInside, {"alpha": 0.2, "C": 0.01}),
    (policies.ExpExp(2.0, exploit="updated"), naive.ExpExpUpdated, {"rho": 2}),
]


@pytest.mark.parametrize("kind", ["uniform", "artificial", "mixed"])
@pytest.mark.parametrize(("policy", "twin", "options"), TWINS, ids=lambda x: getattr(x, "name", ""))
def test_policy_agrees_with_its_twin_pull_by_pull(kind, policy, twin, options):
    agrees_with_its_twin(kind, policy, twin, options, n_arms=6, runs=2, seed=SEED)


@pytest.mark.parametrize("law", [arms.Bernoulli([0.1, 0.4, 0.6]), arms.Beta([1, 2, 3], [2, 2, 1])])
def test_thompson_sampling_pulls_as_its_twin_does(law):
    """Mean pulls of each arm over many runs, within 4.5 standard errors: error rate 4e-5."""
    problem, horizon, few, many = problems.Problem(law), 60, 300, 4000
    twins = [naive.ThompsonSampling(problem, SEED, run, horizon).play() for run in range(few)]
    twin = np.array([[len(x) for x in twin.rewards] for twin in twins])
    ours = simulate(
        problem, policies.ThompsonSampling(), horizon, many, SEED
    ).pulls.values.squeeze()
    error = np.sqrt(twin.var(axis=0) / few + ours.var(axis=0) / many)
    assert np.all(np.abs(twin.mean(axis=0) - ours.mean(axis=0)) < 4.5 * error)


@policies.index
def solves_every_index(t, arms, state, params, memory, history):
    for a in arms:
        bound = kl_ucb_bound(t, params[0]) / a.n
        a.index = bernoulli_upper_bound(a.mean, bound, bernoulli_entropy(a.mean))


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_kl_ucb_plays_as_if_it_solved_every_index(c, ties):
    bernoulli = [arms.Bernoulli(p) for p in (0.0, 0.0, 0.3, 0.3, 0.7, 0.9, 0.9, 1.0)]
    listed = [problems.Problem(bernoulli), problems.Problem(bernoulli[:6]), mixed_problem()]
    every = policies.Custom(solves_every_index, (c,), ties=ties, first_pulls="ascending")
    for problem in listed:
        result = simulate(problem, [policies.KLUCB(c, ties=ties), every], 3000, 4, 0, record="arms")
        np.testing.assert_array_equal(result.arms[0], result.arms[1])


@pytest.mark.parametrize("share", ["ceil", "floor", "round"])
@pytest.mark.parametrize("alpha", [0.003, 0.07, 0.2, 0.5, 0.93])
@pytest.mark.parametrize("discrete", [False, True])
def test_running_cvar_equals_a_sort_at_every_step(alpha, share, discrete):
    rng = np.random.default_rng(7)
    rewards = rng.integers(0, 5, 1500) / 4 if discrete else rng.random(1500)
    sizes = risk.tail_sizes(alpha, rewards.size, share)
    record, sums = np.zeros(1, ARM), np.zeros(1, SUMS)
    low, high = np.empty(sizes[-1] + 1), np.empty(rewards.size)
    for n, x in enumerate(rewards, start=1):
        record[0]["n"] = n
        run_update_tail(record, sums, low, high, x, sizes[n])
        lowest = np.sort(rewards[:n])[: sizes[n]]
        assert record[0]["cvar"] == pytest.approx(
            math.fsum(lowest) / sizes[n], rel=2e-16, abs=1e-16
        )
        assert record[0]["tail_max"] == lowest[-1]
        assert record[0]["tail_n"] == sizes[n]


@policies.index
def run_update_tail(record, sums, low, high, x, size):
    update_tail(record[0], sums[0], low, high, x, size)


def laws() -> list[arms.RewardLaw]:
    far = arms.TruncatedGaussianMixture(0.5, 1, [0.6, 0.4], [-1.0, 0.7], [0.2, 0.1])
    return [*mixed_problem().arms, far]


@pytest.mark.parametrize("law", laws(), ids=lambda law: type(law).__name__)
def test_sampler_has_the_law(law):
    """KS test (chi-square for discrete laws) at 1e-4 each: 9 laws, error rate below 1e-3."""
    x = law.sample(20_000, SEED)
    if isinstance(law, (arms.Bernoulli, arms.Empirical)):
        values, counts = np.unique(x, return_counts=True)
        below = np.array([law.cdf(v) for v in values])
        expected = np.diff(below, prepend=0.0) * x.size
        assert stats.chisquare(counts, expected).pvalue > 1e-4
    else:
        assert stats.kstest(x, law.cdf).pvalue > 1e-4


@pytest.mark.parametrize(("a", "b"), [(0.4, 0.7), (1.0, 1.0), (3.5, 20.0), (400.0, 100.0)])
def test_beta_numbers_have_the_law(a, b):
    """KS test at 1e-4 each, 4 of them."""
    state = np.zeros(1, STATE)
    x = [next_beta(state, a, b) for _ in range(20_000)]
    assert stats.kstest(x, stats.beta(a, b).cdf).pvalue > 1e-4


SMALL_SHAPES = [(1e-100, 1e-100), (1e-4, 3e-4), (0.001, 0.001), (0.001, 0.01), (0.01, 0.002)]


@pytest.mark.parametrize(("a", "b"), SMALL_SHAPES)
def test_beta_numbers_of_small_shapes_have_the_law(a, b):
    """Binomial tests at five points, each at 1e-4 / 5; near 1 the floats are too coarse for KS."""
    x = arms.Beta(a, b).sample(20_000, SEED)
    assert ((x >= 0) & (x <= 1)).all()
    for point in (1e-200, 1e-20, 0.1, 0.5, 0.9):
        p = special.betainc(a, b, point)
        assert stats.binomtest(int((x <= point).sum()), x.size, p).pvalue > 1e-4 / 5


def test_logarithms_decide_as_the_numbers_do():
    """Where both ways are open, the two gammas of a Beta number give the same."""
    state = np.zeros(1, STATE)
    for seed in range(200):
        for shape in (0.05, 0.7, 1.0, 4.0):
            state[0]["rng"] = seed
            x = next_gamma(state, shape)
            after = int(state[0]["rng"])
            state[0]["rng"] = seed
            assert _next_log_gamma(state, shape) == pytest.approx(math.log(x), rel=1e-12)
            assert int(state[0]["rng"]) == after


def test_normal_numbers_have_the_law():
    """KS test at 1e-4."""
    state = np.zeros(1, STATE)
    x = [next_normal(state) for _ in range(20_000)]
    assert stats.kstest(x, stats.norm.cdf).pvalue > 1e-4


def test_tapes_of_arms_runs_and_problems_are_uncorrelated():
    """Largest of 28 correlations of 10,000 pairs, by the normal tail: error rate 1e-3."""
    law = arms.Uniform(np.zeros(4), np.ones(4))
    tapes = np.concatenate([law.sample(10_000, 1), law.sample(10_000, 1, run=1)])
    correlations = np.corrcoef(tapes)[np.triu_indices(8, 1)]
    bound = stats.norm.isf(1e-3 / 2 / correlations.size) / math.sqrt(10_000)
    assert np.abs(correlations).max() < bound
