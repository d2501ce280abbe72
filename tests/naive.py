"""Slow, obvious twins of the compiled code, in plain Python and from the formulas.

Nothing is shared with the module but the constants that define the reward tape: every statistic
is computed anew from the list of all rewards at every step.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from scipy import optimize, special

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1


def philox(key, counter):
    """Philox4x32-10 with Python integers."""
    k0, k1 = key
    x0, x1, x2, x3 = counter
    for _ in range(10):
        a, b = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (b >> 32) ^ x1 ^ k0, b & MASK32, (a >> 32) ^ x3 ^ k1, a & MASK32
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return x0, x1, x2, x3


def to_uniform(word: int) -> float:
    return ((word >> 12) + 0.5) * 2.0**-52


class Stream:
    """splitmix64."""

    def __init__(self, state: int) -> None:
        self.state = state

    def uniform(self) -> float:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        return to_uniform(z ^ (z >> 31))

    def gamma(self, shape: float) -> float:
        boost = 1.0
        if shape < 1:
            boost = self.uniform() ** (1 / shape)
            shape += 1
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = special.ndtri(self.uniform())
            v = (1 + c * x) ** 3
            if v <= 0:
                continue
            if math.log(self.uniform()) < 0.5 * x * x + d * (1 - v + math.log(v)):
                return boost * d * v

    def beta(self, a: float, b: float) -> float:
        x = self.gamma(a)
        return x / (x + self.gamma(b))


def key_of(seed: int, stream: tuple[int, ...]) -> tuple[int, int]:
    words = np.random.SeedSequence(seed, spawn_key=stream).generate_state(2)
    return int(words[0]), int(words[1])


def reward(arm, key, arm_number: int, run: int, u: int) -> float:
    """The u-th reward of one arm, from its law's public parameters."""
    x0, x1, x2, x3 = philox(key, (u, arm_number, run, 0))
    v, w = to_uniform(x0 << 32 | x1), to_uniform(x2 << 32 | x3)
    kind = type(arm).__name__
    if kind == "Uniform":
        return float(arm.low + (arm.high - arm.low) * v)
    if kind == "Empirical":
        return float(arm.values[int(v * arm.values.size)])
    if kind == "Replay":
        return float(arm.values[u])
    if kind == "Bernoulli":
        return float(v < arm.p)
    if kind == "Discrete":
        reached = np.cumsum(arm.probabilities) > v
        return float(arm.values[np.argmax(reached)])
    if kind == "Beta":
        return Stream(x0 << 32 | x1).beta(float(arm.a), float(arm.b))
    masses = special.ndtr((arm.upper - arm.means) / arm.scales) - special.ndtr(
        (arm.lower - arm.means) / arm.scales
    )
    shares = np.cumsum(arm.weights * masses) / np.sum(arm.weights * masses)
    j = min(int(np.sum(v >= shares)), shares.size - 1)
    p = special.ndtr((arm.lower - arm.means[j]) / arm.scales[j]) + w * masses[j]
    return float(np.clip(arm.means[j] + arm.scales[j] * special.ndtri(p), arm.lower, arm.upper))


# --- indices, from all rewards of each arm ---------------------------------------------------


def ceil(alpha, n: int) -> int:
    return math.ceil(Fraction(str(alpha)) * n)


def cvar(rewards: list[float], alpha) -> float:
    lowest = sorted(rewards)[: ceil(alpha, len(rewards))]
    return math.fsum(lowest) / len(lowest)


def mean(x: list[float]) -> float:
    return math.fsum(x) / len(x)


def variance(x: list[float]) -> float:
    centre = mean(x)
    return math.fsum((v - centre) ** 2 for v in x) / len(x)


def kl_index(p: float, bound: float) -> float:
    """Bisection of kl(p, q) = bound on [p, 1]."""

    def divergence(q):
        return special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q)

    if p == 1 or divergence(math.nextafter(1, 0)) <= bound:
        return 1.0
    low, high = p, 1.0
    for _ in range(200):
        q = (low + high) / 2
        low, high = (q, high) if divergence(q) <= bound else (low, q)
    return low


class Twin(ABC):
    """One run of one policy on one problem: `index(t)` from `self.rewards`."""

    first_pulls = True
    rounds = 1

    def __init__(self, problem, seed: int, run: int, horizon: int, stream=(0,), **options) -> None:
        self.arms = problem.arms
        self.means = problem.means
        self.key = key_of(seed, stream)
        self.run, self.horizon = run, horizon
        x0, x1, _, _ = philox(self.key, (0, 0, run, 1))
        self.rng = Stream(x0 << 32 | x1)
        self.rewards = [[] for _ in self.arms]
        self.played, self.gains = [], []
        self.__dict__.update(options)

    @abstractmethod
    def index(self, t: int) -> list[float]:
        """Of each arm; the largest is played."""

    def before(self, t: int) -> None:  # noqa: B027  # most policies do nothing
        """What a policy does at every step, first pulls or not."""

    def play(self) -> Twin:
        k = len(self.arms)
        for step in range(self.horizon):
            self.before(step + 1)
            if self.first_pulls and step < k * self.rounds:
                i = step % k
            else:
                index = self.index(step + 1)
                i = max(range(k), key=lambda j: (index[j], -j))
            x = reward(self.arms[i], self.key, i, self.run, len(self.rewards[i]))
            self.rewards[i].append(x)
            self.played.append(i)
            self.gains.append(x)
        return self


class UCB(Twin):
    def index(self, t):
        return [mean(x) + self.C * math.sqrt(math.log(t) / len(x)) for x in self.rewards]


class UCBInside(Twin):
    def index(self, t):
        return [mean(x) + math.sqrt(self.C * math.log(t) / len(x)) for x in self.rewards]


class KLUCB(Twin):
    def index(self, t):
        bound = math.log(t) + (self.c * math.log(math.log(t)) if self.c else 0)
        return [kl_index(mean(x), bound / len(x)) for x in self.rewards]


class MIN(Twin):
    def index(self, t):
        return [min(x) for x in self.rewards]


class MaRaB(Twin):
    def index(self, t):
        log = math.log(ceil(self.alpha, t))
        return [
            cvar(x, self.alpha) - self.C * math.sqrt(log / ceil(self.alpha, len(x)))
            for x in self.rewards
        ]


class MaRaBInside(Twin):
    def index(self, t):
        log = math.log(ceil(self.alpha, t))
        return [
            cvar(x, self.alpha) - math.sqrt(self.C * log / ceil(self.alpha, len(x)))
            for x in self.rewards
        ]


class ForcedMaRaB(Twin):
    def index(self, t):
        pulls = [len(x) for x in self.rewards]
        if min(pulls) < self.scale * math.log(t) ** 2:
            return [-n for n in pulls]
        return [cvar(x, self.alpha) for x in self.rewards]


class MVLCB(Twin):
    def index(self, t):
        delta = 1 / self.horizon**2
        width = (5 + self.rho) * math.sqrt(math.log(1 / delta) / 2)
        return [
            -(variance(x) - self.rho * mean(x) - width / math.sqrt(len(x))) for x in self.rewards
        ]


class ExpExp(Twin):
    def index(self, t):
        k = len(self.arms)
        tau = math.floor(k * (self.horizon / 14) ** (2 / 3))
        if t <= tau:
            return [float(i == (t - 1) % k) for i in range(k)]
        explored = [[] for _ in self.arms]
        for i, x in zip(self.played[:tau], self.gains[:tau], strict=True):
            explored[i].append(x)
        return [self.rho * mean(x) - variance(x) for x in explored]


class ExpExpUpdated(Twin):
    def index(self, t):
        k = len(self.arms)
        tau = math.floor(k * (self.horizon / 14) ** (2 / 3))
        if t <= tau:
            return [float(i == (t - 1) % k) for i in range(k)]
        return [self.rho * mean(x) - variance(x) for x in self.rewards]


class EpsilonGreedy(Twin):
    """Draws at every step, as the module does, so that the two streams stay together."""

    def before(self, t):
        k = len(self.arms)
        means = [mean(x) if x else 0.0 for x in self.rewards]
        best = max(range(k), key=lambda j: (means[j], -j))
        self.choice = means
        if self.rng.uniform() < self.eps:
            i = int(self.rng.uniform() * (k - 1))
            others = [j for j in range(k) if j != best]
            self.choice = [float(j == others[i]) for j in range(k)]

    def index(self, t):
        return self.choice


class ThompsonSampling(Twin):
    """With random numbers of its own: equal to the module's choices in law only."""

    first_pulls = False

    def before(self, t):
        if t == 1:
            self.generator = np.random.default_rng((self.run, 13))
            self.wins, self.losses = np.ones(len(self.arms)), np.ones(len(self.arms))
        else:
            won = self.gains[-1] > self.generator.random()
            (self.wins if won else self.losses)[self.played[-1]] += 1

    def index(self, t):
        return self.generator.beta(self.wins, self.losses)


# --- since 2013 ----------------------------------------------------------------------------------


def split_cvar(rewards: list[float], alpha) -> float:
    """Largest v - E(v - X)+ / alpha, reached at the quantile (Rockafellar and Uryasev)."""
    n, level = len(rewards), float(Fraction(str(alpha)))
    v = sorted(rewards)[ceil(alpha, n) - 1]
    return v - math.fsum(max(v - x, 0) for x in rewards) / (level * n)


def weighted_cvar(values, weights, alpha: float) -> float:
    """CVaR of a law on sorted values: the weights are used up from below until alpha is reached."""
    total, left = 0.0, alpha
    for value, weight in zip(values, weights, strict=True):
        total += min(weight, left) * value
        left -= min(weight, left)
    return (total + left * values[-1]) / alpha


class UCBV(Twin):
    def index(self, t):
        e = math.log(t)
        return [
            mean(x) + math.sqrt(2 * variance(x) * e / len(x)) + 3 * e / len(x) for x in self.rewards
        ]


class MOSS(Twin):
    def index(self, t):
        k = len(self.arms)
        return [
            mean(x) + math.sqrt(max(0, math.log(self.horizon / (k * len(x)))) / len(x))
            for x in self.rewards
        ]


class UUCB(Twin):
    def index(self, t):
        width = self.C / float(Fraction(str(self.alpha)))
        return [
            split_cvar(x, self.alpha) + width * math.sqrt(math.log(t) / len(x))
            for x in self.rewards
        ]


class MaRaBOUT(Twin):
    def index(self, t):
        log = self.C * math.log(t) + self.beta * math.log(3)
        return [
            split_cvar(x, self.alpha) + math.sqrt(11 * log / (self.alpha * len(x)))
            for x in self.rewards
        ]


class CVaRUCB(Twin):
    """The form in the public code of Baudry et al., top - 1/alpha sum of gaps times cdf.

    In fractions, so that indices that are equal tie.
    """

    def index(self, t):
        return [self.bound(x) for x in self.rewards]

    def bound(self, x):
        n, alpha = len(x), Fraction(str(self.alpha))
        band = Fraction(math.sqrt(math.log(2 * self.horizon**2) / (2 * n)))
        points = [Fraction(v) for v in [*sorted(x), 1.0]]
        gaps = [after - before for before, after in itertools.pairwise(points)]
        heights = [max(Fraction(0), min(Fraction(i + 1, n) - band, alpha)) for i in range(n)]
        area = sum(g * h for g, h in zip(gaps, heights, strict=True) if g and h)
        return float(1 - area / alpha)


class RAUCB(Twin):
    """By 1 - Y and the least mean p exp(-d) that it may have, so that nothing is rounded to 1."""

    def index(self, t):
        return [self.bound(x, math.log(t) / len(x)) for x in self.rewards]

    def bound(self, x, allowed):
        floor = math.exp(-self.theta)
        p = mean([(math.exp(-self.theta * v) - floor) / (1 - floor) for v in x])
        if p <= 0 or p >= 1:
            return math.inf if p <= 0 else allowed

        def excess(d):
            return p * d + (1 - p) * (math.log1p(-p) - math.log1p(-p * math.exp(-d))) - allowed

        d = optimize.brentq(excess, 0, (allowed + 1) / p, xtol=1e-12, rtol=1e-14, maxiter=1000)
        return d - math.log(p)


class ExploreThenCommit(Twin):
    def index(self, t):
        k = len(self.arms)
        m = math.ceil((self.horizon / k) ** (2 / 3))
        if t <= k * m:
            return [float(i == (t - 1) % k) for i in range(k)]
        return [split_cvar(x[:m], self.alpha) for x in self.explored(m)]

    def explored(self, m):
        return [x[:m] for x in self.rewards]


class SuccessiveElimination(Twin):
    def before(self, t):
        k = len(self.arms)
        if t == 1:
            self.left = set(range(k))
        if t <= k:
            return
        log = math.log(2 * k * self.horizon / self.delta) / 2
        estimate = [split_cvar(x, self.alpha) for x in self.rewards]
        radius = [math.sqrt(log / len(x)) / self.alpha for x in self.rewards]
        best = max(estimate[i] - radius[i] for i in self.left)
        self.left = {i for i in self.left if estimate[i] + radius[i] >= best}

    def index(self, t):
        return [
            -len(self.rewards[i]) if i in self.left else -math.inf for i in range(len(self.arms))
        ]


def resampled_cvar(rewards, alpha: float, top: float, rng: np.random.Generator) -> float:
    """One index of B-CVTS from its definition: weights for every reward and for the upper end."""
    values = np.sort(np.append(rewards, top))
    return weighted_cvar(values, rng.dirichlet(np.ones(values.size)), alpha)


def posterior_cvar(rewards, alpha: float, values, rng: np.random.Generator) -> float:
    """One index of M-CVTS from its definition."""
    counts = [1 + sum(x == v for x in rewards) for v in values]
    return weighted_cvar(values, rng.dirichlet(counts), alpha)


def gaussian_mv(rewards, rho: float, rng: np.random.Generator) -> float:
    """One index of MVTS, by the updates of its authors, one reward after the other."""
    centre, n, shape, rate = 0.0, 0, 0.5, 0.5
    for v in rewards:
        shape, rate = shape + 0.5, rate + n / (n + 1) * (v - centre) ** 2 / 2
        centre = n / (n + 1) * centre + v / (n + 1)
        n += 1
    return rho * rng.normal(centre, 1 / math.sqrt(n)) - rate / rng.gamma(shape)


def bernoulli_mv(rewards, rho: float, rng: np.random.Generator) -> float:
    """One index of MVTS for Bernoulli arms from its definition."""
    theta = rng.beta(1 + sum(rewards), 1 + len(rewards) - sum(rewards))
    return rho * theta - theta * (1 - theta)


def thompson_run(problem, seed: int, run: int, horizon: int, draw) -> list[int]:
    """Pulls of each arm in one run; `draw(rewards)` gives an index."""
    key, arms = key_of(seed, (0,)), problem.arms
    rewards = [[] for _ in arms]
    for _ in range(horizon):
        index = [draw(x) for x in rewards]
        i = max(range(len(arms)), key=lambda j: (index[j], -j))
        rewards[i].append(reward(arms[i], key, i, run, len(rewards[i])))
    return [len(x) for x in rewards]
