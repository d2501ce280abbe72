"""Rewards of every kind of law, each a function of the tape: arm, run and number of the pull."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import SHIFT, next_beta, normal_quantile, open_uniform, philox
from .records import STATE

# Kinds of reward laws, and how many numbers a Gaussian component takes.
UNIFORM, MIXTURE, EMPIRICAL, BERNOULLI, BETA, DISCRETE = range(6)
COMPONENT = 5


@jit()
def _mixture_quantile(params, start, n_components, pick, position):
    """A reward of a truncated Gaussian mixture from two numbers in (0, 1).

    After the two ends, a component is five numbers: cumulative weight *after* truncation,
    location, signed scale, lower normal probability, probability width. The truncation of the
    whole mixture is the mixture of the truncated components, with the weights that rejection
    leaves them.
    """
    at = start + 2
    # Counted, not searched: a branch on a random number would be mispredicted half of the time.
    component = 0
    for j in range(n_components - 1):
        component += pick >= params[at + j * COMPONENT]
    at += component * COMPONENT
    p = params[at + 3] + position * params[at + 4]
    x = params[at + 1] + params[at + 2] * normal_quantile(p)
    return min(max(x, params[start]), params[start + 1])


@jit()
def _beta_reward(params, start, high, low):
    """A Beta reward by rejection, from a stream that the pull's own words seed."""
    state = np.zeros(1, STATE)
    state[0].rng = (high << SHIFT) | low
    return next_beta(state, params[start], params[start + 1])


@jit()
def reward(kind, params, start, size, key0, key1, arm, run, u):
    """The u-th reward (counted from 0) of one arm in one run: the reward tape.

    It depends on the key (seed and problem), run, arm and u only, so every policy that pulls
    this arm for the u-th time in this run gets this number.
    """
    x0, x1, x2, x3 = philox(key0, key1, u, arm, run, 0)
    v = open_uniform(x0, x1)
    if kind == UNIFORM:
        return params[start] + (params[start + 1] - params[start]) * v
    if kind == MIXTURE:
        return _mixture_quantile(params, start, size, v, open_uniform(x2, x3))
    if kind == EMPIRICAL:
        return params[start + int(v * size)]
    if kind == BERNOULLI:
        return 1.0 if v < params[start] else 0.0
    if kind == DISCRETE:
        place = 0
        for j in range(size - 1):
            place += v >= params[start + size + j]
        return params[start + place]
    return _beta_reward(params, start, x0, x1)


@jit()
def reward_tape(kinds, params, starts, sizes, key0, key1, run, out):
    """Fill out[arm, u] with the first rewards of every arm in one run."""
    for arm in range(out.shape[0]):
        for u in range(out.shape[1]):
            out[arm, u] = reward(
                kinds[arm], params, starts[arm], sizes[arm], key0, key1, arm, run, u
            )


@jit()
def rewards_of_pulls(kinds, params, starts, sizes, key0, key1, run, pulls, out):
    """All rewards of a run in which arm i was pulled pulls[i] times, arm by arm."""
    at = 0
    for arm in range(pulls.size):
        for u in range(pulls[arm]):
            out[at] = reward(kinds[arm], params, starts[arm], sizes[arm], key0, key1, arm, run, u)
            at += 1
