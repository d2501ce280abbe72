"""Bounds on MaRaB with first rounds and with forced pulls: exponents, chances, regrets.

Every statistical test has a fixed seed, and says the chance that a right program would have had
of failing it.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from marab_lib import Problem, arms, bounds, policies, problems, regret, risk, simulate
from marab_lib.bounds.exploration import _points, _pulls_above

DUEL = problems.stuck()  # U[.25, .95] and U[.3, .5]; at 50 % the first is best by .075
MIXTURE = arms.TruncatedGaussianMixture(0, 1, [0.3, 0.7], [0.2, 0.8], [0.01, 0.1])
LAWS = [
    arms.Uniform(0.25, 0.95),
    arms.Beta(2, 3),
    arms.Beta(0.5, 0.5),
    MIXTURE,
    arms.Discrete([0.1, 0.2, 0.7, 0.9], [0.1, 0.3, 0.2, 0.4]),
    arms.Empirical([0.3, 0.1, 0.4, 0.1, 0.5]),
]
NAMES = [type(law).__name__ for law in LAWS]


def by_quadrature(law, alpha, gap):
    """The exponent from E[exp(r Y)] = 1 + integral over y of r exp(r y) P(Y > y)."""
    v, low = law.quantile(alpha), law.essential_infimum
    kinks = np.unique(np.r_[law.quantile(np.linspace(0, alpha, 40)), np.atleast_1d(low)])

    def moment(f):
        ends = itertools.pairwise(kinks)
        return sum(integrate.quad(lambda x: f(v - x) * law.cdf(x), *pair)[0] for pair in ends)

    level = moment(lambda y: 1.0) + alpha * gap

    def minus(r):
        return math.log1p(moment(lambda y: r * math.exp(r * y))) - r * level

    return -optimize.minimize_scalar(
        minus, bounds=(0, 700 / (v - low)), options={"xatol": 1e-9}
    ).fun


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_exponent_against_quadrature(law):
    for alpha, part in ((0.5, 0.2), (0.75, 0.5)):
        gap = part * (law.cvar(alpha) - law.essential_infimum)
        expected = by_quadrature(law, alpha, gap)
        got = bounds.stuck_exponent(law, alpha, gap)
        assert got == pytest.approx(expected, rel=1e-4)
        hoeffding = 2 * (alpha * gap / (law.quantile(alpha) - law.essential_infimum)) ** 2
        assert got >= hoeffding


def test_exponent_of_a_coin_by_hand():
    # P(X = 0) = .2 and alpha = .5: Y is 1 with chance .2, so that E[Y] + alpha gap = .2 + .5 gap.
    coin = arms.Bernoulli(0.8)
    gaps = np.array([0.2, 0.4, 1.2])
    q = 0.2 + gaps / 2
    expected = special.rel_entr(q, 0.2) + special.rel_entr(1 - q, 0.8)
    assert bounds.stuck_exponent(coin, 0.5, gaps) == pytest.approx(expected, rel=1e-9)
    # The CVaR is .6: all rewards 0 are the lowest CVaR there is, -log P(all are 0) = -log .2.
    assert bounds.stuck_exponent(coin, 0.5, 1.6) == pytest.approx(-math.log(0.2))
    assert bounds.stuck_exponent(coin, 0.5, 1.61) == math.inf
    assert bounds.stuck_exponent(coin, 0.5, [0.0, -1.0]).tolist() == [0, 0]


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_points_integrate_as_the_law_does(law):
    for share in (1.0, 0.3):
        values, weights = _points(law, share)
        assert weights.sum() == pytest.approx(share, rel=1e-12)
        expected = law.mean if share == 1 else law.cvar(share)
        assert weights @ values / share == pytest.approx(expected, rel=1e-9)
        assert np.all(np.diff(values) >= 0)
    values, weights = _points(law, 1.0)
    for theta in (0.5, 20.0):
        risk_of = -math.log(weights @ np.exp(-theta * values)) / theta
        assert risk_of == pytest.approx(law.entropic_risk(theta), rel=1e-8)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_a_low_estimate_is_as_rare_as_the_exponent_says(law):
    """1,000 runs: a share below the bound fails with a chance of at most 1e-6 a case."""
    alpha, runs, most = 0.5, 1000, 120
    gap = 0.25 * (law.cvar(alpha) - law.essential_infimum)
    samples = np.stack([law.sample(most, 7, run) for run in range(runs)])
    estimates = np.stack([risk.cvar(samples[:, :n], alpha) for n in range(1, most + 1)], axis=1)
    low = estimates <= law.cvar(alpha) - gap
    exponent = bounds.stuck_exponent(law, alpha, gap)
    for m in (1, 5, 20, 60):
        count = int(low[:, m - 1 :].any(axis=1).sum())
        assert stats.binom.sf(count - 1, runs, min(1, math.exp(-m * exponent))) > 1e-6


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_pulls_with_a_high_estimate_are_fewer_than_the_bound(law):
    """600 runs; a mean above the bound by 5 standard errors has a chance below 1e-6 a case."""
    alpha, runs, most = 0.3, 600, 150
    level = law.cvar(alpha) + 0.5 * (law.essential_supremum - law.cvar(alpha))
    samples = np.stack([law.sample(most, 8, run) for run in range(runs)])
    estimates = np.stack([risk.cvar(samples[:, :n], alpha) for n in range(1, most + 1)], axis=1)
    for m in (1, 10):
        count = (estimates > level)[:, m - 1 :].sum(axis=1)
        bound = _pulls_above(_points(law, 1.0), alpha, level, m)
        assert math.isfinite(bound)
        assert count.mean() - 5 * count.std(ddof=1) / math.sqrt(runs) <= bound
    assert _pulls_above(_points(law, 1.0), alpha, law.essential_supremum, 1) == 0


THREE = Problem([arms.Beta(4, 2), arms.Bernoulli(0.6), arms.Uniform(0.1, 0.9)])


@pytest.fixture(scope="module", params=[(DUEL, 0.5), (THREE, 0.4)], ids=["two", "three"])
def raced(request):
    """A problem, a level, and MaRaB with first rounds and with forced pulls, 400 runs."""
    problem, alpha = request.param
    played = [policies.MaRaB(alpha, C, rounds=m) for C in (0.0, 0.01) for m in (5, 40, 150)]
    played += [policies.ForcedMaRaB(alpha, scale) for scale in (1.0, 0.2)]
    t = [200, 1000, 5000]
    return problem, alpha, simulate(problem, played, 5000, 400, 3, record="pulls", checkpoints=t)


@pytest.mark.parametrize("of", ["cvar", "mean"])
def test_no_simulated_regret_is_above_its_bound(raced, of):
    """400 runs; a mean above the bound by 5 standard errors has a chance below 1e-6 a case."""
    problem, alpha, result = raced
    rounds, t = (5, 40, 150), [200, 1000, 5000]
    if of == "cvar":
        lost = regret.cvar_regret(result, problem, alpha, at="checkpoints").values[:, 0]
    else:
        lost = result.theoretical_regret.values[:, 0]
    limits = [
        bounds.marab_rounds_regret(problem, t, alpha, m, C, of) for C in (0.0, 0.01) for m in rounds
    ]
    limits += [bounds.forced_marab_regret(problem, t, alpha, scale, of) for scale in (1.0, 0.2)]
    error = lost.std(axis=1, ddof=1) / math.sqrt(400)
    assert np.all(lost.mean(axis=1) - 5 * error <= limits)
    # They are bounds of something: each is below that of playing the worst arm for ever at t = 5000
    # but those of few rounds.
    costs = problem.cvars(alpha).max() - problem.cvars(alpha) if of == "cvar" else problem.mean_gaps
    assert all(limit[-1] < costs.max() * 5000 for limit in limits[2:])


def test_rounds_bound_by_hand():
    # Two constant arms: after m rounds nothing is lost, before them half of the pulls.
    apart = Problem([arms.Uniform(0.5, 0.6), arms.Uniform(0.0, 0.1)])
    cost = apart.cvars(0.5)[0] - apart.cvars(0.5)[1]
    assert bounds.marab_rounds_regret(apart, [10, 1000], 0.5, 3) == pytest.approx(3 * cost)
    # Larger bonuses leave less of the gap; one above all of it leaves no bound but the trivial.
    few, many = (bounds.marab_rounds_regret(DUEL, 20_000, 0.5, 100, C) for C in (0.001, 0.01))
    assert bounds.marab_rounds_regret(DUEL, 20_000, 0.5, 100) < few < many
    # arm 2 costs .075 a pull, 100 times, and then for all 19,800 pulls that are left
    none = bounds.marab_rounds_regret(DUEL, 20_000, 0.5, 100, C=9)
    assert none == pytest.approx(0.075 * 19_900)


def test_forced_bound_grows_like_the_square_of_the_logarithm():
    t = 10.0 ** np.array([20, 40, 80])
    bound = bounds.forced_marab_regret(DUEL, t, 0.5)
    slopes = np.diff(bound) / np.diff(np.log(t) ** 2)
    assert slopes == pytest.approx(0.075, rel=1e-3)  # one forced arm costs .075 a pull


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.stuck_exponent(arms.Uniform([0, 0], 1), 0.5, 0.1), "of one arm"),
        (lambda: bounds.stuck_exponent(arms.Uniform(0, 1), 0, 0.1), "alpha must be"),
        (lambda: bounds.stuck_exponent(arms.Uniform(0, 1), 0.5, math.nan), "gap must be"),
        (lambda: bounds.marab_rounds_regret(DUEL, 9, 0.5, 0), "rounds must be .*, got 0"),
        (lambda: bounds.marab_rounds_regret(DUEL, 9, 0.5, 1, -1), "C must be .*, got -1"),
        (lambda: bounds.marab_rounds_regret(DUEL, 9, 0.5, 1, of="x"), "of must be one of"),
        (lambda: bounds.marab_rounds_regret(DUEL, 0.5, 0.5, 1), "t must be a whole number"),
        (lambda: bounds.forced_marab_regret(DUEL, 9, 0.5, 0), "scale must be .*, got 0"),
        (
            lambda: bounds.forced_marab_regret(Problem(arms.Uniform([0, 0], 1)), 9, 0.5),
            "single arm of best CVaR",
        ),
        (
            lambda: bounds.forced_marab_regret(
                Problem(arms.Uniform([0.4, 0], [0.5, 1])), 9, 0.5, of="mean"
            ),
            "best mean at the arm of best CVaR",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
