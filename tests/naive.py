"""Slow, obvious twins of the compiled code, in plain Python and from the formulas.

Nothing is shared with the module but the constants that define the reward tape: every statistic
is computed anew from the list of all rewards at every step.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy import special

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
    if kind == "Bernoulli":
        return float(v < arm.p)
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


class Twin:
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

    def index(self, t: int) -> list[float]:
        raise NotImplementedError

    def before(self, t: int) -> None:
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
    first_pulls = False

    def before(self, t):
        if t == 1:
            self.wins, self.losses = [0] * len(self.arms), [0] * len(self.arms)
        else:
            won = self.gains[-1] > self.rng.uniform()
            (self.wins if won else self.losses)[self.played[-1]] += 1

    def index(self, t):
        return [self.rng.beta(1 + s, 1 + f) for s, f in zip(self.wins, self.losses, strict=True)]
