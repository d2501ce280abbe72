"""Policies since 2013: twins pull by pull, laws of the random indices, cases by hand, bad input."""

from __future__ import annotations

import dataclasses
import math
from contextlib import nullcontext

import mpmath
import naive
import numpy as np
import pytest
from cases import agrees_with_its_twin, indices, mixed_problem
from scipy import stats

from marab_lib import arms, policies, problems, simulate
from marab_lib.kernels.dirichlet import (
    _Z,
    BUFFER,
    FEW_VALUES,
    HIGH,
    LOW,
    MAIN,
    VALUES,
    WAITING,
    draw_bounds,
    draw_counted_mean,
    memory_of_arm,
    refine,
    rewards_in,
    take_reward,
)
from marab_lib.kernels.random import (
    next_binomial,
    next_exponential,
    next_fast_normal,
    next_gamma_from,
    next_gamma_whole,
)
from marab_lib.kernels.ranks import trimmed_cvar
from marab_lib.kernels.records import STATE
from marab_lib.policies.since_2013 import _log_lower_bound

SEED = 20210718
TENTHS = tuple(k / 10 for k in range(11))


def new_state(seed: int) -> np.ndarray:
    state = np.zeros(1, STATE)
    state[0]["rng"] = seed
    return state


# --- twins, pull by pull ------------------------------------------------------------------

TWINS = [
    (policies.UCBV(), naive.UCBV, {}),
    (policies.MOSS(), naive.MOSS, {}),
    (policies.UUCB(0.3), naive.UUCB, {"alpha": 0.3, "C": 1.0}),
    (policies.UUCB(0.07, 0.01), naive.UUCB, {"alpha": 0.07, "C": 0.1}),
    (policies.MaRaBOUT(0.3, 0.01, 1), naive.MaRaBOUT, {"alpha": 0.3, "C": 0.01, "beta": 1}),
    (policies.CVaRUCB(0.1), naive.CVaRUCB, {"alpha": 0.1}),
    (policies.CVaRUCB(0.5), naive.CVaRUCB, {"alpha": 0.5}),
    (policies.CVaRUCB(0.9), naive.CVaRUCB, {"alpha": 0.9}),
    (policies.RAUCB(5.0), naive.RAUCB, {"theta": 5.0}),
    (policies.RAUCB(0.5), naive.RAUCB, {"theta": 0.5}),
    (policies.RAUCB(40.0), naive.RAUCB, {"theta": 40.0}),
    (policies.ExploreThenCommit(0.2), naive.ExploreThenCommit, {"alpha": 0.2}),
    (policies.SuccessiveElimination(0.9), naive.SuccessiveElimination,
     {"alpha": 0.9, "delta": 1 / 300}),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["uniform", "artificial", "mixed", "multinomial"])
@pytest.mark.parametrize(("policy", "twin", "options"), TWINS, ids=lambda x: getattr(x, "name", ""))
def test_policy_agrees_with_its_twin_pull_by_pull(kind, policy, twin, options):
    agrees_with_its_twin(kind, policy, twin, options, n_arms=4, runs=1, seed=SEED)


def test_successive_elimination_drops_arms_as_its_twin_does():
    problem = problems.Problem(arms.Uniform([0.0, 0.45, 0.95], [0.05, 0.5, 1.0]))
    policy = policies.SuccessiveElimination(0.9, 0.01)
    result = simulate(problem, policy, 700, 1, SEED, record="arms")
    twin = naive.SuccessiveElimination(problem, SEED, 0, 700, alpha=0.9, delta=0.01).play()
    assert result.arms[0, 0, 0].values.tolist() == twin.played
    pulls = result.pulls.values.ravel()
    assert pulls[2] > pulls[1] > pulls[0]


def test_cvar_ucb_long_run_keeps_its_sums():
    """The sums that are mended from pull to pull against the definition after 10,000 pulls."""
    horizon, alpha = 10_000, 0.3
    problem = problems.Problem(arms.Beta([2.0, 2.0], [2.0, 2.1]))
    policy = policies.CVaRUCB(alpha)
    result = simulate(problem, policy, horizon, 1, 1, record=("arms", "rewards"))
    played, rewards = result.arms.values.ravel(), result.rewards.values.ravel()
    twin = naive.CVaRUCB(problem, 1, 0, horizon, alpha=alpha)
    for t in range(500, horizon, 1000):
        twin.rewards = [rewards[:t][played[:t] == i].tolist() for i in range(2)]
        index = twin.index(t)
        assert abs(index[0] - index[1]) < 1e-12 or played[t] == int(np.argmax(index))


# --- identities ---------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [1e-6, 1e-12, 5e-324])
def test_ra_ucb_without_aversion_is_kl_ucb(theta):
    """As theta goes to 0 the entropic risk is the mean; 1e-6 moves an index by less than 1e-6.

    Rewards are at most .8: KL-UCB's bound is rounded to 1 after a single reward near 1.
    """
    low = problems.Problem(arms.Uniform(np.linspace(0, 0.3, 20), np.linspace(0.5, 0.8, 20)))
    both = [policies.RAUCB(theta), policies.KLUCB()]
    played = simulate(low, both, 500, 3, 1, record="arms").arms
    np.testing.assert_array_equal(played[0], played[1])
    pulls = simulate(problems.artificial(1, 5)[0], both, 500, 3, 1).pulls
    np.testing.assert_array_equal(pulls[0], pulls[1])


def test_a_constant_best_arm_is_never_left():
    """All weights on one value: the index is that value to the last bit, whatever is drawn."""
    problem = problems.Problem(arms.Bernoulli([0.0, 1.0]))
    chosen = [policies.BCVTS(0.3), policies.NPTS()]
    pulls = simulate(problem, chosen, 500, 4, 1).pulls
    assert (pulls.sel(arm=1) > 480).all()


# --- laws of the random numbers and indices; each p-value above 1e-4: that is the error rate ---


def test_exponential_numbers():
    state = new_state(3)
    x = np.array([next_exponential(state) for _ in range(200_000)])
    assert stats.kstest(x, "expon").pvalue > 1e-4
    tail = x[x > 7.69711747013105] - 7.69711747013105  # beyond the last layer
    assert 50 < tail.size < 150  # 91 expected, sd 9.5
    assert stats.kstest(tail, "expon").pvalue > 1e-4


def test_fast_normal_numbers():
    state = new_state(14)
    x = np.array([next_fast_normal(state) for _ in range(400_000)])
    assert stats.kstest(x, "norm").pvalue > 1e-4
    far = abs(x[abs(x) > 3.6541528853610088])  # beyond the last layer: 103 expected, sd 10.2
    assert 60 < far.size < 150
    excess = stats.norm.sf(far) / stats.norm.sf(3.6541528853610088)
    assert stats.kstest(excess, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (10, 0.5), (45, 0.9), (300, 0.1), (2000, 0.37), (100_000, 0.05)]
)
def test_binomial_numbers(n, p):
    state = new_state(4)
    x = np.array([next_binomial(state, n, p) for _ in range(20_000)])
    inner = np.unique(stats.binom.ppf(np.linspace(0, 1, 22)[1:-1], n, p))
    edges = np.concatenate([[-1], inner, [n]])
    expected = np.diff(stats.binom.cdf(edges, n, p)) * x.size
    keep = expected > 0
    observed = np.histogram(x, bins=edges + 0.5)[0][keep]
    assert stats.chisquare(observed, expected[keep]).pvalue > 1e-4


def test_binomial_at_the_ends():
    state = new_state(5)
    assert next_binomial(state, 0, 0.5) == 0
    assert next_binomial(state, 7, 1.0) == 7
    assert next_binomial(state, 7, 0.0) == 0


@pytest.mark.parametrize("shape", [1, 3, 6, 7, 50])
def test_whole_gamma_numbers(shape):
    state = new_state(6)
    d = shape - 1 / 3
    for x in (
        [next_gamma_whole(state, shape) for _ in range(20_000)],
        [next_gamma_from(state, d, 1 / math.sqrt(9 * d)) for _ in range(20_000)],
    ):
        assert stats.kstest(x, "gamma", args=(shape,)).pvalue > 1e-4


UNIFORM = np.random.default_rng(1).random(2000)
HISTORIES = {
    "few": [0.3, 0.9],
    "different": UNIFORM[:60],
    "ties": np.random.default_rng(2).integers(0, 5, 80) / 4,
    "many ties": np.random.default_rng(2).integers(0, 100, 500) / 100,
    "half tied": np.round(np.random.default_rng(3).random(50), 1),
    "every reward kept, some waiting": UNIFORM[:200],
    "kept, with ties": np.round(UNIFORM[:300], 3),
    "after merges": UNIFORM[:900],
    "none": [],
    "at the top": [1.0, 1.0, 0.5],
}


class OneArm:
    """An arm of B-CVTS, as its index function holds it."""

    def __init__(self, rewards, seed: int = 7) -> None:
        self.n, self.state = len(rewards), new_state(seed)
        self.values, size = memory_of_arm(self.n + 1)
        self.sums = self.values + self.n + 1
        self.memory = np.zeros(size)
        for x in rewards:
            take_reward(self.memory, 0, self.values, self.sums, x, 1.0)

    def bounds(self) -> tuple[float, float]:
        return self.memory[LOW], self.memory[HIGH]

    def start(self, alpha: float) -> None:
        lowest = 1 + (self.n if alpha == 1 else next_binomial(self.state, self.n, alpha))
        draw_bounds(self.memory, 0, self.values, self.sums, lowest, 1.0, self.state)

    def refine(self) -> None:
        refine(self.memory, 0, self.values, self.sums, 1.0, self.state)

    def draw(self, alpha: float) -> list[tuple[float, float]]:
        """All bounds of one index, from the first to equal ones."""
        self.start(alpha)
        found = [self.bounds()]
        while found[-1][1] > found[-1][0]:
            self.refine()
            found.append(self.bounds())
        return found


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.95, 1.0])
def test_index_of_b_cvts_has_the_law_of_its_definition(history, alpha):
    rewards, rng = HISTORIES[history], np.random.default_rng(8)
    arm = OneArm(rewards)
    ours = [arm.draw(alpha)[-1][0] for _ in range(1500)]
    expected = [naive.resampled_cvar(rewards, alpha, 1.0, rng) for _ in range(1500)]
    assert stats.ks_2samp(np.round(ours, 9), np.round(expected, 9)).pvalue > 1e-4


@pytest.mark.parametrize("history", [*HISTORIES, "long"])
def test_an_arm_holds_its_rewards_in_order(history):
    rewards = UNIFORM if history == "long" else np.asarray(HISTORIES[history])
    arm = OneArm(rewards)
    m, few = arm.memory, int(arm.memory[VALUES])
    if few:
        values, counts = np.unique(rewards, return_counts=True)
        counted = [rewards_in(m, 0, j, j + 1) for j in range(few)]
        assert counted == counts.tolist()
        losses = counts * (1 - values)
    else:
        main = int(m[MAIN])
        assert main + m[WAITING] == rewards.size
        assert m[WAITING] < BUFFER
        values = np.concatenate([np.sort(rewards[:main]), np.sort(rewards[main:])])
        losses = 1 - values
    assert m[arm.values :][: values.size].tolist() == values.tolist()
    np.testing.assert_allclose(m[arm.sums + 1 :][: values.size], np.cumsum(losses), atol=1e-12)
    assert (few == 0) == (np.unique(rewards).size > FEW_VALUES or not rewards.size)


@pytest.mark.parametrize("history", ["many ties", "kept, with ties", "after merges"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_bounds_hold_the_index_and_their_proxy_its_variance(history, alpha):
    """No bound fails (2**-52 each); the variance about the first bounds is at most the proxy.

    The latter with 4.5 standard errors of a variance: error rate below 4e-6.
    """
    arm, deviations = OneArm(HISTORIES[history]), []
    for _ in range(2000):
        found = arm.draw(alpha)
        assert len(found) > 1
        x = found[-1][0]
        assert all(low - 1e-12 <= x <= high + 1e-12 for low, high in found)
        low, high = found[0]
        deviations.append((x - (low + high) / 2) / ((high - low) / 2) * _Z)
    squares = np.square(deviations)
    assert squares.mean() < 1 + 4.5 * squares.std() / math.sqrt(squares.size)
    assert abs(np.mean(deviations)) < 4.5 * np.std(deviations) / math.sqrt(squares.size)


def test_equal_arms_with_unfinished_bounds_win_as_often():
    """Two equal arms whose indices are never drawn in full: each is the winner half of the time."""
    problem = problems.Problem(arms.Uniform([0.0, 0.0], [1.0, 1.0]))
    pulls = simulate(problem, policies.NPTS(), 4000, 20, 3).pulls.values.squeeze()
    assert (pulls.min(axis=1) > 512).sum() > 5  # far more rewards than are drawn one by one
    share = pulls[:, 0] / 4000
    assert abs(share.mean() - 0.5) < 4 * share.std() / math.sqrt(20)  # error rate 6e-5


def posterior_draw(values, counts, alpha: float, state) -> float:
    """An index of M-CVTS as its index function draws it."""
    counts = np.asarray(counts, float)
    lowest = 1 + next_binomial(state, int(counts.sum()) - 1, alpha)
    return draw_counted_mean(counts, 0, np.asarray(values), lowest, state)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_m_cvts_index_has_the_law_of_its_definition(alpha):
    rewards = [0.1, 0.1, 0.4, 1.0, 0.0, 0.4, 0.4]
    state, rng = new_state(11), np.random.default_rng(12)
    counts = [1.0 + sum(x == v for x in rewards) for v in TENTHS]
    ours = [posterior_draw(TENTHS, counts, alpha, state) for _ in range(3000)]
    expected = [naive.posterior_cvar(rewards, alpha, TENTHS, rng) for _ in range(3000)]
    assert stats.ks_2samp(ours, expected).pvalue > 1e-4


RANDOM_TWINS = {
    "B-CVTS": (
        policies.BCVTS(0.3),
        lambda x, rng: naive.resampled_cvar(x, 0.3, 1.0, rng) if x else math.inf,
    ),
    "NPTS": (
        policies.NPTS(),
        lambda x, rng: naive.resampled_cvar(x, 1.0, 1.0, rng) if x else math.inf,
    ),
    "M-CVTS": (policies.MCVTS(0.3), lambda x, rng: naive.posterior_cvar(x, 0.3, TENTHS, rng)),
    "MVTS": (
        policies.MVTS(2.0),
        lambda x, rng: naive.gaussian_mv(x, 2.0, rng) if x else math.inf,
    ),
    "Bernoulli MVTS": (policies.BernoulliMVTS(0.7), lambda x, rng: naive.bernoulli_mv(x, 0.7, rng)),
}


@pytest.mark.parametrize("name", RANDOM_TWINS)
def test_thompson_policies_pull_as_their_twins_do(name):
    """Mean pulls of each arm over many runs, within 4.5 standard errors: error rate 2e-5 each."""
    policy, draw = RANDOM_TWINS[name]
    problem = problems.Problem(problems.multinomial(1, 6, n_arms=3)[0].arms)
    if name == "Bernoulli MVTS":
        problem = problems.Problem(arms.Bernoulli([0.1, 0.4, 0.6]))
    horizon, few, many = 60, 120, 4000
    rng = np.random.default_rng(13)
    twin = np.array(
        [
            naive.thompson_run(problem, SEED, run, horizon, lambda x: draw(x, rng))
            for run in range(few)
        ]
    )
    ours = simulate(problem, policy, horizon, many, SEED).pulls.values.squeeze()
    error = np.sqrt(twin.var(axis=0, ddof=1) / few + ours.var(axis=0, ddof=1) / many)
    assert (abs(twin.mean(axis=0) - ours.mean(axis=0)) < 4.5 * error).all()


# --- cases by hand ------------------------------------------------------------------------


def test_trimmed_cvar_by_hand():
    # Rewards .1 .2 .3 .4, cut .25, alpha .5: ranks 1 to 3 are left: (.2 + .3) / 2.
    part, values = np.array([4.0, 4, 0]), np.array([0.1, 0.2, 0.3, 0.4])
    got = trimmed_cvar(part, values, np.ones(4), 0.5, 0.25, 1.0)
    assert got == pytest.approx(0.25)
    # cut .5, alpha .75: half of the law is .3 and .4, a quarter lies at the top.
    got = trimmed_cvar(part, values, np.ones(4), 0.75, 0.5, 1.0)
    assert got == pytest.approx((0.3 + 0.4 + 1.0) / 3)


def test_ra_ucb_by_hand():
    # theta = log 2, rewards all 1: the mean of y is 1, so is its bound, and the index is 1.
    problem = problems.Problem(arms.Bernoulli([1.0, 0.0]))
    played = simulate(problem, policies.RAUCB(math.log(2)), 6, 1, 0, record="arms").arms
    # Arm 1 has y = 0 and bound 1 - exp(-log t / n) < 1: it is never preferred.
    assert played.values.ravel().tolist() == [0, 1, 0, 0, 0, 0]


def test_ra_ucb_index_by_hand():
    # theta = log 2, rewards 0 and 0: y = 0, its bound at t = 2 is q = 1 - exp(-log 2 / 2) = .292893
    # and that of the entropic risk -log(1 - q / 2) / log 2 = .228447.
    # Of each arm the largest log(1 - y), the sum over the largest, and the logarithm of the mean;
    # then what was solved before: nothing.
    memory = np.array([[0.0, 2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]]).ravel()
    got = indices(policies.RAUCB(math.log(2)), 2, [[0.0, 0.0], [0.0]], memory=memory)
    q = -math.expm1(-math.exp(got[0]))
    assert -math.log(1 - q / 2) / math.log(2) == pytest.approx(0.228447, abs=1e-6)


def ra_ucb_exactly(log_p, bound):
    """log(-log r) of the least r with kl(p, r) at most the bound, to 30 digits."""
    with mpmath.workdps(60):
        p, bound = mpmath.exp(log_p), mpmath.mpf(bound)

        def excess(d):
            rest = mpmath.log(1 - p) - mpmath.log(1 - p * mpmath.exp(-d))
            return p * d + (1 - p) * rest - bound

        # The divergence is between p d - 1 and p d.
        d = mpmath.findroot(excess, (bound / p, (bound + 1) / p), solver="anderson", maxsteps=500)
        return float(mpmath.log(d - log_p))


@pytest.mark.parametrize("log_p", [-1e-9, -1e-3, -0.1, -0.7, -3.0, -20.0, -100.0, -299.0, -700.0])
@pytest.mark.parametrize("bound", [1e-6, 1e-3, 0.1, 1.0, 30.0])
def test_ra_ucb_bound_against_many_digits(log_p, bound):
    got = _log_lower_bound(log_p, bound)
    assert got == pytest.approx(ra_ucb_exactly(log_p, bound), rel=1e-12, abs=1e-9)


class SolvesEveryIndex(policies.RAUCB):
    """RA-UCB with no bound that spares a solution."""

    def parameters(self, n_arms, horizon):
        return (*super().parameters(n_arms, horizon)[:-1], math.inf)


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_ra_ucb_plays_as_if_it_solved_every_index(c, ties):
    bernoulli = [arms.Bernoulli(p) for p in (0.0, 0.0, 0.3, 0.3, 0.7, 0.9, 0.9, 1.0)]
    listed = [problems.Problem(bernoulli), problems.Problem(bernoulli[:6]), mixed_problem()]
    for theta in (1e-12, 0.5, 5.0, 300.0, 1e100):
        for first in ("ascending", "none"):
            given = {"theta": theta, "c": c, "ties": ties, "first_pulls": first}
            both = [policies.RAUCB(**given), SolvesEveryIndex(**given, label="every")]
            for problem in listed:
                played = simulate(problem, both, 1500, 3, 0, record="arms").arms
                np.testing.assert_array_equal(played[0], played[1])


def test_ra_ucb_does_not_saturate():
    """Mean regrets of 20 runs, as found with many digits of the bound."""
    problem = problems.Problem(arms.Uniform([0.5, 0.7], [0.6, 0.8]))
    chosen = [policies.RAUCB(theta) for theta in (5, 10, 15, 20, 40)]
    result = simulate(problem, chosen, 2000, 20, 1, checkpoints=1)
    means = result.theoretical_regret.mean("run").values.ravel()
    assert means == pytest.approx([22.8, 36.3, 18.5, 7.5, 0.36], rel=0.01)
    steep = [policies.RAUCB(1e4), policies.RAUCB(1e100)]  # the largest minimum, from the first pull
    assert (simulate(problem, steep, 2000, 5, 1).pulls.sel(arm=0) == 1).all()
    wide = problems.Problem(arms.Uniform([50.0, 70.0], [60.0, 80.0]))  # the same in other units
    scaled = policies.RAUCB(0.2, support=(0.0, 100.0))
    pulls = simulate([wide], scaled, 2000, 20, 1).pulls
    np.testing.assert_array_equal(pulls[0], result.pulls.sel(policy="RA-UCB(theta=20, c=0)"))


def test_successive_elimination_by_hand():
    # K = 2, T = 400, delta = .01: r = 2 sqrt(log(160,000) / 2 / n) = 4.8955 / sqrt(n). CVaR .1, .9.
    policy = policies.SuccessiveElimination(0.5, 0.01)
    rewards = [[0.1] * 149, [0.9] * 149]  # r = .40106: .50106 is not below .49894
    assert indices(policy, 6, rewards, horizon=400) == [-149, -149]
    rewards = [[0.1] * 150, [0.9] * 150]  # r = .39972: .49972 is below .50028
    assert indices(policy, 6, rewards, horizon=400) == [-math.inf, -150]


def test_npts_by_hand():
    """One reward .5: its weight against the upper end 1 is uniform; so is the index on [.5, 1]."""
    arm = OneArm([0.5])
    x = [arm.draw(1.0)[-1][0] for _ in range(5000)]
    assert stats.kstest(x, "uniform", args=(0.5, 0.5)).pvalue > 1e-4


def test_b_cvts_by_hand():
    """One reward 0, of uniform weight W: the CVaR at .5 is 0 for W > .5, else (.5 - W) / .5."""
    arm = OneArm([0.0])
    x = np.array([arm.draw(0.5)[-1][0] for _ in range(5000)])
    assert stats.binomtest(int((x == 0).sum()), 5000, 0.5).pvalue > 1e-4
    assert stats.kstest(x[x > 0], "uniform").pvalue > 1e-4


def test_m_cvts_by_hand():
    """Values 0 and 1, three times 1 seen: P(0) is Beta(1, 4), and CVaR at .5 is 1 - min(1, 2 P(0)).

    Its mean is 1 - 2 E min(P, 1/2) = 1 - 2 (1/5 - E(P - 1/2)+) = 1 - 2 (.2 - 1/160); 20,000 draws
    within 4.5 standard errors: error rate 7e-6.
    """
    state = new_state(15)
    x = np.array([posterior_draw([0.0, 1.0], [1, 4], 0.5, state) for _ in range(20_000)])
    assert abs(x.mean() - (1 - 2 * (0.2 - 1 / 160))) < 4.5 * x.std() / math.sqrt(x.size)


def test_bernoulli_mvts_by_hand():
    """Rewards 0, 1, 1: theta is Beta(3, 2), of mean .6 and variance .04; rho = 2.

    The index theta + theta**2 has the mean .6 + .04 + .36 = 1; 20,000 draws within 4.5 standard
    errors: error rate 7e-6.
    """
    policy, x = policies.BernoulliMVTS(2.0), []
    for seed in range(20_000):
        # 5/3 and its root stand for one success, and for one failure; the last reward, 1, is new.
        memory = np.array([5 / 3, 1 / math.sqrt(15), 5 / 3, 1 / math.sqrt(15)])
        new = {"last_arm": 0, "last_reward": 1.0, "rng": seed}
        x += indices(policy, 4, [[0.0, 1.0, 1.0]], memory=memory, **new)
    assert abs(np.mean(x) - 1.0) < 4.5 * np.std(x) / math.sqrt(20_000)


def test_explore_then_commit_by_hand():
    # (100 / 2)^(2/3) = 13.57: 14 pulls each; then arm 1, whose CVaR at .5 is larger.
    problem = problems.Problem(arms.Uniform([0.0, 0.4], [1.0, 0.6]))
    result = simulate(problem, policies.ExploreThenCommit(0.5), 100, 3, 0)
    assert result.pulls.values.squeeze().tolist() == [[14, 86]] * 3
    given = simulate(problem, policies.ExploreThenCommit(0.5, m=3), 100, 3, 0)
    assert given.pulls.values.squeeze().tolist() == [[3, 97]] * 3


@pytest.mark.parametrize("n", [1, 4, 40])
def test_mvts_index_has_the_law_of_its_definition(n):
    rewards, rng = UNIFORM[:n], np.random.default_rng(16)
    policy = policies.MVTS(2.0)
    ours = [indices(policy, n + 1, [rewards], rng=seed)[0] for seed in range(20_000)]
    expected = [naive.gaussian_mv(rewards, 2.0, rng) for _ in range(20_000)]
    assert stats.ks_2samp(ours, expected).pvalue > 1e-4


def test_mvts_spread_by_hand():
    """rho m - 1 / tau with n = 4, var .01: E m = .5, E 1/tau = rate / (shape - 1) = .52 / 1.5.

    20,000 draws; mean within 4.5 standard errors: error rate 7e-6.
    """
    rewards = [[0.4, 0.6, 0.4, 0.6], [0.5]]
    policy = policies.MVTS(2.0)
    x = np.array([indices(policy, 6, rewards, rng=seed)[0] for seed in range(20_000)])
    assert abs(x.mean() - (1.0 - 0.52 / 1.5)) < 4.5 * x.std() / math.sqrt(x.size)


# --- how they fare ------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_optimists_leave_the_wrong_arm_on_which_marab_stays(alpha):
    problem = problems.stuck()
    chosen = [policies.MaRaB(alpha), policies.BCVTS(alpha), policies.CVaRUCB(alpha)]
    pulls = simulate(problem, chosen, 4000, 60, 2).pulls.squeeze("problem")
    best = int(problem.cvars(alpha).argmax())
    other = pulls.sel(arm=1 - best)
    if alpha == 0.5:
        assert (other[0] > 3990).mean() > 1 / 14  # 0.3 in truth; below 1/14 with probability 1e-6
    assert other[1].max() < 2000


# --- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (policies.MOSS, {"support": (1, 0)}, r"support must be a number in \(1, inf\), got 0"),
        (policies.UUCB, {"first_pulls": "none"}, "first_pulls must not be 'none' for U-UCB, whose"),
        (policies.MCVTS, {"values": (0, 0)}, "values must be at least 2 different numbers"),
    ],
)
def test_bad_parameters_are_named(make, given, message):
    with pytest.raises(ValueError, match=message):
        make(**given)


BELOW = problems.Problem(arms.Uniform([-1.0, 0.0], [1.0, 1.0]))
ABOVE = problems.Problem(arms.Uniform([0.0, 0.0], [1.0, 1.5]))


@pytest.mark.parametrize(
    ("policy", "problem", "message"),
    [
        (policies.BCVTS(), ABOVE, r"B-CVTS\(alpha=0.2\) needs rewards in \[-inf, 1\]"),
        (policies.RAUCB(), BELOW, r"RA-UCB.* needs rewards in \[0, 1\], but those"),
        (policies.MCVTS(), BELOW, "M-CVTS.* needs rewards among its values"),
        (policies.BernoulliMVTS(), BELOW, r"Bernoulli MVTS.* among its values \(0.0, 1"),
        (policies.ExploreThenCommit(0.1, 6), BELOW, r"m must be .* in \[1, 5\], got 6"),
        (policies.BCVTS(), BELOW, None),
        (policies.BCVTS(upper=2.0), ABOVE, None),
    ],
)
def test_what_a_policy_cannot_play(policy, problem, message):
    refused = pytest.raises(ValueError, match=message) if message else nullcontext()
    with refused:
        simulate(problem, policy, 10, 1, 0)


@pytest.mark.parametrize(
    "policy",
    [policies.ExploreThenCommit(0.2, 2, rounds=4), policies.ExpExp(tau=6, rounds=4)],
)
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_no_choice_counts_before_the_forced_pulls_are_over(policy, order):
    """The middle arm is better in all: 4 rounds of 3 arms are forced, then it is chosen."""
    problem = problems.Problem(arms.Uniform([0.0, 0.5, 0.1], [0.2, 0.9, 0.3]))
    patient = dataclasses.replace(policy, first_pulls=order)
    pulls = simulate(problem, patient, 300, 5, 1).pulls.values.reshape(5, 3)
    assert pulls.tolist() == 5 * [[4, 292, 4]]
