"""Rewards of every kind of law, each a function of the tape: arm, run and number of the pull."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .random import next_beta, normal_quantile, open_uniform, philox_words
from .records import STATE

# Kinds of reward laws, and how many numbers a Gaussian component takes.
UNIFORM, MIXTURE, EMPIRICAL, BERNOULLI, BETA, DISCRETE, REPLAY = range(7)
COMPONENT = 5
AHEAD = 16  # rewards of an arm that are drawn at once; a power of two


@jit()
def _mixture_rewards(params, start, n_components, words, out):
    """Rewards of a truncated Gaussian mixture, each from two numbers in (0, 1).

    After the two ends, a component is five numbers: cumulative weight *after* truncation,
    location, signed scale, lower normal probability, probability width. The truncation of the
    whole mixture is the mixture of the truncated components, with the weights that rejection
    leaves them.
    """
    for j in range(out.size):
        pick = open_uniform(words[0, j])
        # Counted, not searched: a branch on a random number would be mispredicted half of the time.
        at = start + 2
        for i in range(n_components - 1):
            at += COMPONENT * (pick >= params[start + 2 + i * COMPONENT])
        words[0, j] = at
        out[j] = params[at + 3] + open_uniform(words[1, j]) * params[at + 4]
    for j in range(out.size):
        at = np.int64(words[0, j])
        z = normal_quantile(out[j])
        x = params[at + 1] + params[at + 2] * z
        out[j] = min(max(x, params[start]), params[start + 1])


@jit()
def _beta_reward(params, start, word):
    """A Beta reward by rejection, from a stream that the pull's own random bits seed."""
    state = np.zeros(1, STATE)
    state[0].rng = word
    return next_beta(state, params[start], params[start + 1])


@jit()
def draw(kind, params, start, size, key0, key1, arm, run, first, words, out):
    """Fill `out` with rewards of one arm in one run, from the first (counted from 0) on: the tape.

    They depend on the key (seed and problem), run, arm and number only, so every policy that pulls
    this arm for the u-th time in this run gets this number. `words` is room for their random bits,
    which are made apart from the law, in vector instructions.
    """
    for j in range(out.size):
        words[0, j], words[1, j] = philox_words(key0, key1, first + j, arm, run, 0)
    if kind == UNIFORM:
        low, width = params[start], params[start + 1] - params[start]
        for j in range(out.size):
            out[j] = low + width * open_uniform(words[0, j])
    elif kind == MIXTURE:
        _mixture_rewards(params, start, size, words, out)
    elif kind == EMPIRICAL:
        for j in range(out.size):
            out[j] = params[start + int(open_uniform(words[0, j]) * size)]
    elif kind == BERNOULLI:
        for j in range(out.size):
            out[j] = 1.0 if open_uniform(words[0, j]) < params[start] else 0.0
    elif kind == DISCRETE:
        for j in range(out.size):
            v, place = open_uniform(words[0, j]), 0
            for after in range(start + size, start + 2 * size - 1):
                place += v >= params[after]
            out[j] = params[start + place]
    elif kind == REPLAY:  # beyond its end the last one again: `simulate` finds that by the pulls
        for j in range(out.size):
            out[j] = params[start + min(first + j, size - 1)]
    else:
        for j in range(out.size):
            out[j] = _beta_reward(params, start, words[0, j])


@jit()
def draw_all(kind, params, start, size, key0, key1, arm, run, out):
    """Fill `out` with the first rewards of one arm in one run."""
    words = np.empty((2, AHEAD), np.uint64)
    for first in range(0, out.size, AHEAD):
        part = out[first : first + AHEAD]
        draw(kind, params, start, size, key0, key1, arm, run, first, words, part)


@jit()
def reward_tape(kinds, params, starts, sizes, key0, key1, run, out):
    """Fill out[arm, u] with the first rewards of every arm in one run."""
    for i in range(kinds.size):
        draw_all(kinds[i], params, starts[i], sizes[i], key0, key1, i, run, out[i])


@jit()
def rewards_of_pulls(kinds, params, starts, sizes, key0, key1, run, pulls, out):
    """All rewards of a run in which arm i was pulled pulls[i] times, arm by arm."""
    at = 0
    for i in range(kinds.size):
        part = out[at : at + pulls[i]]
        draw_all(kinds[i], params, starts[i], sizes[i], key0, key1, i, run, part)
        at += pulls[i]
