"""Each policy's index against its formula, by cases worked out by hand; options and bad input."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numba
import numpy as np
import pytest
from cases import indices

from marab_lib import arms, policies, problems, simulate
from marab_lib.kernels import tails
from marab_lib.simulation import run

EMPTY = np.zeros((0, 0))


FOUR, THREE = [[0.2, 0.8, 0.4, 0.6], [0.4]], [[0.9, 0.1, 0.3], [0.6]]
FIVE, TWO = [[0.1, 0.2, 0.3, 0.4, 0.5], [0.6]], [[0.2, 0.6], [0.5]]
# 1 to 100, of which ceil(.07 * 100) is 7, not 8: a tail of mean 4, not 4.5.
HUNDRED = [[float(x) for x in range(1, 101)], [0.0]]
# rho = 1, T = 100: log(1/delta) = 2 log 100 = 9.210340, width 6 sqrt(9.21034 / 2) = 12.875796.
# Arm 0: var .04, mean .4, n = 2: MV = -.36, bonus 9.104562. Arm 1: var 0, mean .5, n = 1.
WIDE, NARROW = 12.87579616, 9.10456278


@pytest.mark.parametrize(
    ("policy", "t", "rewards", "expected"),
    [
        # .5 + .5 sqrt(log 6 / 4) = .5 + .5 * .669284, .4 + .5 sqrt(log 6 / 1) = .4 + .5 * 1.338566
        (policies.UCB(0.5), 6, FOUR, [0.83464155, 1.06928310]),
        (policies.UCB(5.0), 1, [[0.3], [0.4]], [0.3, 0.4]),  # no bonus at the first pull
        # sqrt(.25 log 6 / 4) = .334642 and sqrt(.25 log 6) = .669284: as C = .5 outside.
        (policies.UCB(0.25, constant="inside"), 6, FOUR, [0.83464155, 1.06928310]),
        # alpha = .5, t = 7: ceil(3.5) = 4. Arm 0: n = 3, tail of 2: (.1 + .3) / 2 = .2, log 4 / 2.
        # Arm 1: n = 1, tail of 1: .6, log 4 / 1. C = .1: .1 sqrt(.693147) and .1 sqrt(1.386294).
        (policies.MaRaB(0.5, 0.1), 7, THREE, [0.2 - 0.08325546, 0.6 - 0.11774100]),
        (
            policies.MaRaB(0.5, 0.01, constant="inside"),
            7,
            THREE,
            [0.2 - 0.08325546, 0.6 - 0.11774100],
        ),
        (policies.MaRaB(0.07, 0.0), 100, HUNDRED, [4.0, 0.0]),
        (policies.MaRaB(0.45, 0.0), 6, FIVE, [0.2, 0.6]),  # .45 * 5 = 2.25: tails of 3, 2 and 2
        (policies.MaRaB(0.45, 0.0, share="floor"), 6, FIVE, [0.15, 0.6]),
        (policies.MaRaB(0.45, 0.0, share="round"), 6, FIVE, [0.15, 0.6]),
        (policies.MaRaB(0.45, 0.0, estimator="quantile"), 6, FIVE, [0.3, 0.6]),
        # log(7)**2 = 3.79 pulls an arm are asked for, or .25 log(7)**2 = .95
        (policies.ForcedMaRaB(0.5), 7, THREE, [-3, -1]),
        (policies.ForcedMaRaB(0.5, 0.25), 7, THREE, [0.2, 0.6]),
        (policies.MVLCB(1.0), 6, TWO, [0.36 + NARROW, 0.5 + WIDE]),
        (policies.MVLCB(1.0, bonus="pessimistic"), 6, TWO, [0.36 - NARROW, 0.5 - WIDE]),
        (policies.MVLCB(1.0, bonus="printed"), 6, TWO, [-0.36 - NARROW, -0.5 - WIDE]),
        # rho = 0, delta = .5: 5 sqrt(log 2 / 2) = 2.943525
        (policies.MVLCB(0.0, 0.5), 6, [[0.5], [0.5]], [2.94352506] * 2),
        # n = 2, mean .4, var .04, log 6 = 1.791759: sqrt(2 * .04 * 1.791759 / 2), 3 * 1.791759 / 2;
        # n = 1, var 0: 3 * 1.791759.
        (policies.UCBV(), 6, TWO, [0.4 + 0.26771324 + 2.68763920, 0.5 + 5.37527841]),
        # T / K = 50: .4 + sqrt(log(50 / 2) / 2) and .5 + sqrt(log 50)
        (policies.MOSS(), 6, TWO, [0.4 + 1.26863624, 0.5 + 1.97788347]),
        # alpha = .5, n = 3: share 1.5, CVaR (.1 + .5 * .3) / 1.5 = 1/6; bonus 2 sqrt(log 7 / 3)
        (policies.UUCB(0.5), 7, THREE, [1 / 6 + 1.61075972, 0.6 + 2.78991767]),
        # The logarithms are 2 log 7 + .5 log 3 = 4.441126, the bonuses
        # sqrt(11 * 4.441126 / 1.5) = 5.706861 and sqrt(11 * 4.441126 / .5) = 9.884573.
        (policies.MaRaBOUT(0.5), 7, THREE, [1 / 6 + 5.70686083, 0.6 + 9.88457292]),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_index_by_hand(policy, t, rewards, expected):
    assert indices(policy, t, rewards) == pytest.approx(expected, abs=1e-7)


def test_min_by_hand():
    assert indices(policies.MIN(), 6, [[0.2, 0.8], [0.4, 0.3]]) == [0.2, 0.3]


def test_marab_first_phase_is_min_and_knows_no_c():
    # alpha t <= 1: the logarithm of ceil(t alpha) = 1 is 0, and the tail is one reward.
    for C in (0.0, 1.0, 1e6):
        assert indices(policies.MaRaB(0.1, C), 10, [[0.3, 0.2], [0.4]]) == [0.2, 0.4]
    # One pull later ceil(t alpha) = 2 and C counts.
    assert indices(policies.MaRaB(0.1, 1.0), 11, [[0.3, 0.2], [0.4]])[0] == pytest.approx(
        0.2 - math.sqrt(math.log(2)), abs=1e-12
    )


def test_exp_exp_phases_by_hand():
    policy = policies.ExpExp(2.0, tau=6)
    rewards = [[0.5, 0.5], [0.2, 0.8], [0.4]]
    # Exploration: the arm pulled least.
    assert indices(policy, 6, rewards) == [-2, -2, -1]
    # First pull after it: rho mean - var = 1, 1 - .09, .8.
    assert indices(policy, 7, rewards) == pytest.approx([1.0, 0.91, 0.8])
    # From then on the arm that was played, whatever it gives; or the best of what is known then.
    log = [[0.5, 0.5, 0.0, 0.0, 0.0, 0.0], [0.2, 0.8] * 3, [0.4] * 6]
    problem = problems.Problem([arms.Replay(x) for x in log])
    assert played(policy, problem, 10) == [0, 1, 2] * 2 + [0] * 4
    updated = policies.ExpExp(2.0, tau=6, exploit="updated")
    # .5, .5, 0 make .611, less than arm 1 has; its .2 makes .72, less than arm 2 has.
    assert played(updated, problem, 10) == [0, 1, 2] * 2 + [0, 1, 2, 2]


def test_exp_exp_default_tau():
    # 20 (2000 / 14)^(2/3) = 546.5
    assert policies.ExpExp().parameters(20, 2000)[:2] == (2.0, 546)
    # For short horizons the formula exceeds T: then all is exploration.
    assert policies.ExpExp().parameters(20, 30)[:2] == (2.0, 30)


def test_kl_ucb_by_hand():
    # n = 2, t = 2: kl(mean, q) = log 2 / 2 = .346574. For mean .5 this is
    # q = (1 + sqrt(1 - exp(-2 * .346574))) / 2; for mean 0 it is 1 - exp(-.346574).
    entropies = np.array([math.log(2), 0, 0, 0, 0, 0])  # and what was solved before: nothing
    got = indices(policies.KLUCB(), 2, [[0.5, 0.5], [0.0, 0.0]], memory=entropies)
    assert got == pytest.approx([0.853553, 0.292893], abs=1e-6)


def test_epsilon_greedy_explores_others_at_its_rate():
    """Binomial count of 20,000 pulls; tolerance of 4.5 standard errors: error rate 7e-6."""
    problem = problems.Problem(arms.Uniform([0.8, 0.1, 0.1, 0.1], [0.9, 0.2, 0.2, 0.2]))
    policy, rate = policies.EpsilonGreedy(0.3), 0.3
    pulls = simulate(problem, policy, 20_000, 1, 1).pulls.values.ravel()
    error = math.sqrt(rate * (1 - rate) / 20_000)
    assert abs(1 - pulls[0] / 20_000 - rate) < 4.5 * error


@pytest.mark.parametrize(
    ("probabilities", "mean", "sd"), [([0.8, 0.9], 11.2, 10.0), ([0.5, 0.6], 22.9, 29.2)]
)
def test_thompson_sampling_known_regret(probabilities, mean, sd):
    """Published over 5,000 runs; the mean within 4 standard errors: error rate 6e-5 each.

    The law has a heavy tail (one run in some thousands costs over 700), so the published spread is
    held against the spreads of 5,000 runs resampled from ours: error rate 1e-3 each.
    """
    runs = 5000
    problem = problems.Problem(arms.Bernoulli(probabilities))
    regret = simulate(problem, policies.ThompsonSampling(), 20_000, runs, 7, checkpoints=1)
    final = regret.theoretical_regret.values.ravel()
    error = max(sd, final.std()) * math.sqrt(1 / runs + 1 / 5000)
    assert abs(final.mean() - mean) < 4 * error
    spreads = np.random.default_rng(0).choice(final, (2000, 5000)).std(axis=1)
    low, high = np.quantile(spreads, [0.0005, 0.9995])
    assert low < sd < high


# --- options --------------------------------------------------------------------------------


def played(policy, problem=None, horizon=12):
    problem = problem or problems.Problem(arms.Bernoulli([1.0, 1.0, 1.0, 1.0]))
    result = simulate(problem, policy, horizon, 1, 3, record="arms")
    return result.arms.values.ravel().tolist()


def test_order_of_first_pulls():
    assert played(policies.MIN())[:4] == [0, 1, 2, 3]
    assert played(policies.MIN(first_pulls="descending"))[:4] == [3, 2, 1, 0]
    assert sorted(played(policies.MIN(first_pulls="random"))[:4]) == [0, 1, 2, 3]
    # With none, MIN's untried arms have index +inf: the same order by ties.
    assert played(policies.MIN(first_pulls="none"))[:4] == [0, 1, 2, 3]


def test_rounds_of_first_pulls():
    assert played(policies.MIN(rounds=2))[:8] == [0, 1, 2, 3] * 2
    assert played(policies.MIN(rounds=2, first_pulls="descending"))[:8] == [3, 2, 1, 0] * 2
    assert policies.MIN(rounds=2).name == "MIN(rounds=2)"
    assert policies.MIN(rounds=2).identity() != policies.MIN().identity()


def test_exp_exp_may_go_on_choosing():
    # After tau pulls arm 1 has the best 2 mean - var; once its mean falls, arm 0 has.
    policy = policies.ExpExp(2.0, tau=2, exploit="updated")
    before, after = [[0.5], [0.6]], [[0.5], [0.6, 0.2]]
    assert indices(policy, 3, before) == pytest.approx([1.0, 1.2])
    assert indices(policy, 4, after) == pytest.approx([1.0, 0.8 - 0.04])


def test_random_first_pulls_differ_between_runs():
    problem = problems.Problem(arms.Bernoulli(np.ones(20)))
    policy = policies.MIN(first_pulls="random")
    orders = simulate(problem, policy, 20, 6, 0, record="arms").arms.values.reshape(6, 20)
    assert len({tuple(order) for order in orders}) == 6


def test_ties():
    assert played(policies.MIN())[4:] == [0] * 8
    assert played(policies.MIN(ties="highest"))[4:] == [3] * 8


def test_random_ties_are_even():
    """4,000 four-way ties; chi-square at 1e-4."""
    from scipy import stats

    counts = np.bincount(played(policies.MIN(ties="random"), horizon=4004)[4:], minlength=4)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_time_done_is_one_less_than_time_next():
    problem = problems.Problem(arms.Uniform([0.0, 0.0], [1.0, 0.9]))

    @policies.index
    def report_t(t, arms, state, params, memory, history):
        for a in arms:
            a.index = 0.0
        arms[1].index = 1.0 if t % 2 == 0 else -1.0

    next_t = played(policies.Custom(report_t), problem)
    done_t = played(policies.Custom(report_t, time="done"), problem)
    assert next_t[2:] == [0, 1] * 5
    assert done_t[2:] == [1, 0] * 5


def test_names_tell_policies_apart():
    assert policies.UCB(1e-6).name == "UCB(C=1e-06)"
    assert policies.MIN().name == "MIN"
    assert policies.MIN(ties="random").name == "MIN(ties=random)"
    assert policies.MIN(ties="random", label="MIN, random").name == "MIN, random"
    assert policies.MaRaB(0.2, 1e3).name == "MaRaB(alpha=0.2, C=1000)"
    assert policies.MaRaB(Fraction(1, 3)).name == "MaRaB(alpha=1/3, C=1e-06)"
    assert policies.MVLCB(2, bonus="printed").name == "MV-LCB(rho=2, bonus=printed)"
    assert policies.ThompsonSampling().name == "Thompson"
    assert policies.BCVTS(0.1, upper=2.0).name == "B-CVTS(alpha=0.1, upper=2)"
    assert policies.NPTS().name == "NPTS"


# --- a user's own policy ----------------------------------------------------------------------


def test_custom_policy_equals_the_built_in_one():
    @policies.index
    def own_ucb(t, arms, state, params, memory, history):
        for a in arms:
            a.index = a.mean + params[0] * math.sqrt(math.log(t)) * a.inv_sqrt_n

    problem = problems.artificial(1, 0)[0]
    both = [policies.UCB(0.1), policies.Custom(own_ucb, (0.1,))]
    pulls = simulate(problem, both, 500, 5, 1).pulls
    assert both[1].name == "own_ucb(0.1)"
    np.testing.assert_array_equal(pulls[0], pulls[1])


def test_custom_policy_sees_tails_history_and_memory():
    @policies.index
    def check(t, arms, state, params, memory, history):
        # memory[0] counts mismatches between the kept tail and the history, memory[1] the calls.
        memory[1] += 1.0
        for i in range(arms.size):
            a = arms[i]
            if a.n > 0:
                rewards = np.sort(history[i, : a.n])
                if abs(rewards[: a.tail_n].mean() - a.cvar) > 1e-12 or rewards[0] != a.min:
                    memory[0] += 1.0
            a.index = -a.n if memory[0] == 0.0 and memory[1] == t else (1e9 if i == 0 else 0.0)

    problem = problems.Problem(arms.Uniform(np.zeros(4), np.ones(4)))
    policy = policies.Custom(check, alpha=0.3, memory=2, keeps_history=True)
    pulls = simulate(problem, policy, 200, 2, 1).pulls.values
    assert (pulls == 50).all()  # round robin, as long as nothing was found wrong


# --- a user's own policy that goes wrong ------------------------------------------------------


def made(body, **options):
    """A policy whose function has this body."""
    scope = {"policies": policies, "math": math, "np": np, "kernels": tails}
    scope["helper"], scope["split"] = numba.njit(lambda array, i: array[i]), tails.split_cvar
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    exec(f"def own(t, arms, state, params, memory, history):\n{lines}", scope)
    return policies.Custom(policies.index(scope["own"]), **options)


def play_own(body, horizon=100, n_arms=3, **options):
    problem = problems.Problem(arms.Uniform(np.zeros(n_arms), np.linspace(0.5, 1, n_arms)))
    return simulate(problem, made(body, **options), horizon, 2, 1)


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("memory[0] += 1", {}, r"memory 0 numbers \(ask for more by memory=\)"),
        ("memory[2] = 1", {"memory": 2}, "memory 2 numbers"),
        (
            "memory[t - 1] = arms[0].index = 1",
            {"memory": 99},
            "memory 99 numbers",
        ),  # at the last pull alone
        ("arms[0].index = params[3]", {"params": (1.0,)}, "params 1 numbers"),
        ("x = history[0, 0]\narms[0].index = x", {}, "history is empty .*keeps_history=True"),
        ("arms[0].index = history[0, 100]", {"keeps_history": True}, "history is 3 x 100"),
        ("arms[3].index = 1.0", {}, "arms has 3"),
        ("arms[0].index = helper(memory, 5)", {"memory": 5}, "memory 5 numbers"),
        ("for a in arms: a.index = math.nan", {}, "the index of each of the 3 arms is NaN"),
        ("for a in arms: a.index = (a.n - a.n) / 0.0", {}, "is NaN or was never written"),
        ("pass", {}, "is NaN or was never written"),
        ("x = t", {"first_pulls": "none"}, "is NaN or was never written"),
        ("for a in arms: a.index = a.std", {}, "asks for the field 'std', but an arm has n, mean,"),
        ("arms[0].best = 1.0", {}, r"field 'best', .*; with alpha= there are cvar, "),
        ("arms[0].best = 1.0", {"alpha": 0.1}, "field 'best', but an arm has n, .* cvar, "),
        ("arms[0].index = arms[0]['best']", {}, "field 'best', but an arm has"),
        ("arms[0].index = state[0].time", {}, r"field 'time', .* state\[0\] has horizon, "),
        ("for a in arms: a.index = a.cvar", {}, "asks for the field 'cvar', .* with alpha= there"),
        ("arms[0].index = arms[0]['tail_max']", {}, "field 'tail_max', .* with alpha="),
        ("arms[0].index = arms[0].tail_n", {}, "field 'tail_n', .* with alpha="),
        ("arms[0].index = arms[0].inv_sqrt_tail_n", {}, "field 'inv_sqrt_tail_n', .* with alpha="),
        ("arms[0].index = state[0].tail_t", {}, "field 'tail_t', .* with alpha="),
        ("arms[0].index = kernels.split_cvar(arms[0], 0.1)", {}, "field 'tail_n', .* with alpha="),
        ("arms[0].index = split(arms[0], 0.1)", {}, "field 'tail_n', .* with alpha="),
        ("for a in arms: a.index -= 0.5", {}, "is NaN or was never written"),
        ("for a in arms: a.index = math.nan if t == 99 else 1.0", {}, "but at pull 99 the index"),
        ("return 1.0", {}, "own must return nothing but write .* a return value of type float64"),
    ],
)
def test_a_function_that_goes_wrong_says_how(body, options, message):
    if message.startswith(("memory", "params", "history", "arms")):
        message = "function own reads or writes beyond its arrays: .*" + message
    with pytest.raises(ValueError, match=message):
        play_own(body, **options)


def test_a_function_of_other_arguments_is_refused():
    def four(t, arms, state, params):
        arms[0].index = 1.0

    message = (
        r"function four must take the six arguments \(t, arms, state, params, memory, history\), "
        r"got \(t, arms, state, params\)"
    )
    with pytest.raises(TypeError, match=message):
        policies.Custom(policies.index(four))


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("for a in arms: a.index = 0.0", {"ties": "random"}),  # no index but 0, yet written
        ("arms[state[0].last_arm].index = -1.0", {}),  # what is not written stays
        ("arms[state[0].last_arm].index = -0.5 * t", {"first_pulls": "none"}),
        ("for a in arms: a.index = math.nan if a.n < 2 else a.var", {"rounds": 2}),
        ("for a in arms: a.index = a.cvar", {"alpha": 0.3}),
        ("cvar = 2.0\nfor a in arms: a.index = cvar * a.mean", {}),
        ("name = 'cvar'\nfor a in arms: a.index = len(name) * a.mean", {}),
        (
            "for i in range(3): arms[i].index = history[i, arms[i].n - 1] if arms[i].n > 0 else 1",
            {"keeps_history": True},
        ),
        ("for a in arms: a.index = helper(memory, 4)", {"memory": 5}),
    ],
)
def test_a_function_that_may_be_odd_is_played(body, options):
    assert play_own(body, **options).pulls.sum() == 200


def test_trying_a_function_out_leaves_no_trace(monkeypatch):
    """Random numbers, memory and history are those of a run that was not tried out before."""
    body = (
        "memory[0] += 1.0\n"
        "for i in range(arms.size):\n"
        "    arms[i].index = policies.next_uniform(state) + memory[0] * (memory[0] != t)\n"
        "    arms[i].index += history[i, 0] if arms[i].n > 0 else 0.0"
    )
    options = {"memory": 1, "keeps_history": True, "ties": "random"}
    tried = play_own(body, **options).pulls
    monkeypatch.setattr(run, "try_out", lambda *given: None)
    np.testing.assert_array_equal(tried, play_own(body, **options).pulls)


def test_a_subclass_of_ones_own_is_tried_out_too():
    @policies.index
    def beyond(t, arms, state, params, memory, history):
        memory[7] = 1.0

    class Own(policies.Policy):
        index_function = staticmethod(beyond)

    with pytest.raises(ValueError, match="function beyond reads or writes beyond its arrays"):
        simulate(problems.stuck(), Own(), 100, 1, 0)


def test_an_index_that_goes_wrong_after_the_trial_is_noticed():
    """In any run of any policy; what is tried out are the first pulls of the first run."""
    body = "for a in arms: a.index = math.nan if state[0].pulls > 70_000 else a.n"
    with pytest.raises(ValueError, match=r"own must write a number .* at pull 70002 the"):
        play_own(body, horizon=70_100)


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
def test_an_index_that_is_no_number_does_not_win(ties):
    body = "for a in arms: a.index = -math.inf\narms[0].index = math.nan"
    pulls = play_own(body, ties=ties).pulls.values
    assert (pulls[..., 0] == 1).all()


@policies.index
def of_all(t, arms, state, params, memory, history):
    for a in arms:
        a.index = a.min if a.n < 3 or a.mean > 0.4 else math.nan


@policies.index
def of_changed(t, arms, state, params, memory, history):
    for i in policies.changed(arms, state):
        a = arms[i]
        a.index = a.min if a.n < 3 or a.mean > 0.4 else math.nan


@policies.index
def marab_of_all(t, arms, state, params, memory, history):
    bonus = 0.1 * math.sqrt(math.log(state[0].tail_t))
    for a in arms:
        a.index = a.cvar - bonus * a.inv_sqrt_tail_n


@policies.index
def mv_of_all(t, arms, state, params, memory, history):
    tau = params[0]
    for a in arms:
        a.index = -a.n if state[0].pulls < tau else 2.0 * a.mean - a.var


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("n_arms", [2, 32, 33, 150])
def test_looking_at_what_changed_chooses_as_looking_at_all(n_arms, ties):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 5, (n_arms, 6)) / 4  # many ties
    values[0] = np.maximum(values[0], 0.5)  # an arm that is never refused
    problem = problems.Problem(arms.Empirical(values))
    for pair in (
        [policies.Custom(of_all, ties=ties), policies.Custom(of_changed, ties=ties)],
        [
            policies.Custom(marab_of_all, alpha=0.3, ties=ties),
            policies.MaRaB(0.3, 0.1, ties=ties),
        ],
        [
            policies.Custom(mv_of_all, params=(n_arms + 250,), ties=ties),
            policies.ExpExp(tau=n_arms + 250, exploit="updated", ties=ties),
        ],
    ):
        every, some = simulate(problem, pair, 600, 3, 0, record="arms").arms
        np.testing.assert_array_equal(every, some)


@policies.index
def mv_kept(t, arms, state, params, memory, history):
    """`mv_of_all`, which keeps by itself to the choice after tau pulls."""
    if state[0].pulls <= params[0]:
        mv_of_all(t, arms, state, params, memory, history)
        return
    for i in range(arms.size):
        arms[i].index = 1.0 if i == state[0].last_arm else 0.0


@policies.index
def mv_final(t, arms, state, params, memory, history):
    mv_of_all(t, arms, state, params, memory, history)
    state[0].final = state[0].pulls >= params[0]


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@pytest.mark.parametrize("rounds", [1, 12])
def test_a_final_choice_is_kept_to_the_end(rounds, ties):
    """It is one of the index: during the forced pulls, here the first 48, none is."""
    options = {"params": (30,), "ties": ties, "rounds": rounds}
    values = np.random.default_rng(5).integers(0, 5, (4, 6)) / 4  # many ties
    problem = problems.Problem(arms.Empirical(values))
    chosen = [policies.Custom(mv_final, **options)]
    if rounds == 1:
        chosen += [policies.Custom(mv_kept, **options)]
        chosen += [policies.ExpExp(tau=30, ties=ties)]
    record = ("arms", "rewards", "pulls")
    result = simulate(problem, chosen, 300, 5, 0, record=record, checkpoints=30)
    for values in result.data_vars.values():
        for other in values.values[1:]:
            np.testing.assert_array_equal(values.values[0], other)
    played = result.arms.isel(policy=0, problem=0).values
    np.testing.assert_array_equal(played[:, 49:], played[:, 48:49].repeat(251, axis=1))
    counts = [[(run == i).sum() for i in range(4)] for run in played]
    np.testing.assert_array_equal(result.pulls.isel(policy=0, problem=0), counts)


# --- bad input --------------------------------------------------------------------------------


OF_A_LEVEL = [
    getattr(policies, name)
    for name in policies.__all__
    if getattr(getattr(policies, name), "alpha", None) is not None
]


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (policies.UCB, {"C": -1}),
        (policies.UCB, {"C": math.nan}),
        (policies.UCB, {"C": "much"}),
        (policies.UCB, {"time": "soon"}),
        (policies.UCB, {"ties": "both"}),
        (policies.UCB, {"first_pulls": "x"}),
        (policies.UCB, {"rounds": 0}),
        (policies.UCB, {"constant": "x"}),
        (policies.MaRaB, {"C": -1}),
        (policies.MaRaB, {"constant": "x"}),
        (policies.MaRaB, {"share": "up"}),
        (policies.MaRaB, {"estimator": "x"}),
        (policies.KLUCB, {"c": -1}),
        (policies.MVLCB, {"rho": -2}),
        (policies.MVLCB, {"delta": 0}),
        (policies.MVLCB, {"delta": 1.0}),
        (policies.MVLCB, {"bonus": "x"}),
        (policies.EpsilonGreedy, {"eps": 1.1}),
        (policies.ExpExp, {"tau": 0}),
        (policies.ExpExp, {"exploit": "x"}),
        (policies.UCBV, {"zeta": 0}),
        (policies.UCBV, {"c": -1}),
        (policies.MOSS, {"support": 1}),
        (policies.UUCB, {"c": -1}),
        (policies.ForcedMaRaB, {"scale": 0}),
        (policies.MaRaBOUT, {"C": -1}),
        (policies.MaRaBOUT, {"beta": 2}),
        (policies.CVaRUCB, {"delta": 0}),
        (policies.RAUCB, {"theta": 0}),
        (policies.MVTS, {"rho": -1}),
        (policies.BernoulliMVTS, {"rho": -1}),
        (policies.ExploreThenCommit, {"m": 0}),
        (policies.SuccessiveElimination, {"delta": 1}),
        *((make, {"alpha": alpha}) for make in OF_A_LEVEL for alpha in (0, 1, -0.1, 1.5, math.nan)),
        *((make, {"label": x}) for make in (policies.UCB, policies.BCVTS) for x in ([5], {}, True)),
    ],
)
def test_bad_parameters_are_named(make, given):
    """With what is allowed and what it got."""
    ((name, value),) = given.items()
    with pytest.raises(
        (TypeError, ValueError), match=rf"^{name} must be .*, got {re.escape(repr(value))}$"
    ):
        make(**given)


def test_wrong_types_are_named():
    with pytest.raises(TypeError, match="function must be decorated by"):
        policies.Custom(lambda t: t)
    own = made("arms[0].index = 1.0").function
    for keeps in ("no", 1, None):
        with pytest.raises(TypeError, match="keeps_history must be True or False, got"):
            policies.Custom(own, keeps_history=keeps)
    with pytest.raises(TypeError, match="params must be numbers, got '12'"):
        policies.Custom(own, "12")
    with pytest.raises(ValueError, match=r"memory must be a whole number in .*, got 1000"):
        policies.Custom(own, memory=10**400)


@pytest.mark.parametrize("make", [policies.BCVTS, policies.NPTS, policies.CVaRUCB])
def test_an_upper_end_beside_which_rewards_vanish(make):
    problem = problems.Problem(arms.Uniform([0.0, 0.2], [0.5, 1.0]))
    with pytest.raises(ValueError, match=r"upper must be of the size of the rewards, got 1e\+15"):
        simulate(problem, make(upper=1e15), 100, 1, 0)
    simulate(problem, make(upper=1e6), 100, 1, 0)
    equal = problems.Problem(arms.Bernoulli([1.0, 1.0]))  # nothing to be told apart
    simulate(equal, make(upper=1e15), 100, 1, 0)


@pytest.mark.parametrize("tau", [19, 101])
def test_tau_out_of_the_run(tau):
    with pytest.raises(ValueError, match=rf"tau must be a number in \[20, 100\], got {tau}"):
        simulate(problems.proof_of_concept(), policies.ExpExp(2, tau), 100, 1, 0)


@pytest.mark.parametrize("policy", [policies.KLUCB(), policies.ThompsonSampling()])
def test_support_that_a_policy_cannot_play(policy):
    with pytest.raises(ValueError, match=r"needs rewards in \[0, 1\], but those of 'proof of"):
        simulate(problems.proof_of_concept(), policy, 100, 1, 0)
