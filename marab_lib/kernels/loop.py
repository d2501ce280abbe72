"""The simulation loop: what a policy sees, its options, and one policy played on many runs.

Arrays in, arrays out. The classes that use it validate their input; nothing is checked here.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numba import types

from .jit import jit
from .laws import reward
from .random import SHIFT, next_uniform, philox
from .records import ARM, F1, F2, INDEX_FUNCTION, STATE
from .tails import update_tail

# First pulls and ties, as the options of a policy name them.
ASCENDING, DESCENDING, SHUFFLED, NO_FIRST_PULLS = range(4)
LOWEST, HIGHEST, RANDOM = range(3)


# --- the simulation loop ------------------------------------------------------------------


@jit()
def _order_of_first_pulls(mode, order, state):
    k = order.size
    for i in range(k):
        order[i] = k - 1 - i if mode == DESCENDING else i
    if mode == SHUFFLED:
        for i in range(k - 1, 0, -1):
            j = int(next_uniform(state) * (i + 1))
            order[i], order[j] = order[j], order[i]


@jit()
def _best_arm(arms, ties, state):
    """Arm with the largest index; one that is not a number wins only where all are so."""
    best = 0
    best_index = -math.inf
    n_tied = 0
    for i in range(arms.size):
        index = arms[i].index
        if index > best_index:
            best, best_index, n_tied = i, index, 1
        elif index == best_index and (ties != LOWEST or n_tied == 0):  # 0: the first is -inf
            n_tied += 1
            if ties != RANDOM or next_uniform(state) * n_tied < 1.0:
                best = i
    return best


@jit()
def _clear(arms):
    for i in range(arms.size):
        a = arms[i]
        a.n = 0
        a.mean = a.var = a.last = a.cvar = a.index = a.tail_max = 0.0
        a.min = math.inf
        a.max = -math.inf
        a.inv_sqrt_n = a.inv_sqrt_tail_n = math.inf
        a.tail_n = 0
        a.sum = a.shift = a.shifted_sum = a.shifted_squares = 0.0
        a.tail_sum = a.tail_lost = 0.0


@jit()
def _observe(a, x):
    """Take one reward into the statistics of its arm."""
    if a.n == 0:
        a.shift = x
    a.n += 1
    a.last = x
    a.min = min(a.min, x)
    a.max = max(a.max, x)
    a.sum += x
    a.mean = min(max(a.sum / a.n, a.min), a.max)  # so that equal constant arms tie
    # The variance about the first reward: no cancellation, and exactly 0 for a constant arm.
    d = x - a.shift
    a.shifted_sum += d
    a.shifted_squares += d * d
    shifted_mean = a.shifted_sum / a.n
    a.var = max(0.0, a.shifted_squares / a.n - shifted_mean * shifted_mean)
    a.inv_sqrt_n = 1.0 / math.sqrt(a.n)


@jit()
def _regrets(arms, means, best_mean, t, total):
    """Theoretical and empirical regret after t pulls that gave `total`."""
    theoretical = 0.0
    for i in range(arms.size):
        theoretical += arms[i].n * (best_mean - means[i])
    return theoretical, t * best_mean - total


_I1 = types.Array(types.int64, 1, "C")
_I2 = types.Array(types.int64, 2, "C")
_U2 = types.Array(types.uint64, 2, "C")
_PULLS = types.Array(types.int32, 2, "C")
_PULLS_OVER_TIME = types.Array(types.int32, 3, "C")
_PLAYED = types.Array(types.int16, 2, "C")

_SIMULATE = types.void(
    INDEX_FUNCTION,
    F1,  # params of the policy
    types.int64,  # size of its memory
    types.boolean,  # keep the history of rewards?
    _I1,  # tail sizes for n = 0..horizon, or empty
    types.int64,  # what is subtracted from the 1-based t
    types.int64,  # first pulls
    types.int64,  # and how many rounds of them
    types.int64,  # ties
    _I2,  # kinds[problem, arm]
    _I2,  # starts
    _I2,  # sizes
    F1,  # law parameters
    _U2,  # keys[problem, 2]
    F2,  # means[problem, arm]
    types.int64,  # horizon
    types.int64,  # runs of each problem
    types.int64,  # first of the (problem, run) pairs to do
    types.int64,  # and the one after the last
    _I1,  # checkpoints, increasing
    F2,  # theoretical[pair - begin, checkpoint]
    F2,  # empirical
    _PULLS,  # pulls[pair - begin, arm]
    F2,  # rewards[pair - begin, step], or no step
    _PLAYED,  # arms[pair - begin, step], or no step
    _PULLS_OVER_TIME,  # pulls[pair - begin, checkpoint, arm], or no checkpoint
)


def _simulate(
    index_function,
    params,
    memory_size,
    keep_history,
    tail_sizes,
    t_offset,
    first_pulls,
    rounds,
    ties,
    kinds,
    starts,
    sizes,
    laws,
    keys,
    means,
    horizon,
    runs,
    begin,
    end,
    checkpoints,
    theoretical,
    empirical,
    pulls,
    rewards,
    played,
    checkpoint_pulls,
):
    """Play one policy on the pairs (problem, run) numbered begin to end - 1, problem by problem."""
    # Copies of its own: with shared arrays the threads would contend for their reference counts.
    kinds, starts, sizes, laws = kinds.copy(), starts.copy(), sizes.copy(), laws.copy()
    keys, means = keys.copy(), means.copy()
    tail_sizes, checkpoints = tail_sizes.copy(), checkpoints.copy()
    k = kinds.shape[1]
    arms = np.zeros(k, ARM)
    state = np.zeros(1, STATE)
    order = np.zeros(k, np.int64)
    memory = np.zeros(memory_size)
    with_tail = tail_sizes.size > 0
    low = np.empty((k, tail_sizes[horizon] if with_tail else 0))
    high = np.empty((k, horizon if with_tail else 0))
    history = np.empty((k, horizon if keep_history else 0))
    for pair in range(begin, end):
        problem, run, row = pair // runs, pair % runs, pair - begin
        key0, key1 = keys[problem, 0], keys[problem, 1]
        best_mean = means[problem].max()
        _clear(arms)
        memory[:] = 0.0
        state[0].horizon = horizon
        state[0].last_arm = -1
        state[0].last_reward = 0.0
        high_word, low_word, _, _ = philox(key0, key1, 0, 0, run, 1)
        state[0].rng = (high_word << SHIFT) | low_word
        if first_pulls != NO_FIRST_PULLS:
            _order_of_first_pulls(first_pulls, order, state)
        total = 0.0
        checkpoint = 0
        for step in range(horizon):
            t = step + 1 - t_offset
            state[0].pulls = step
            if with_tail:
                state[0].tail_t = tail_sizes[t]
            # Called during the first pulls too, so that a policy with a memory misses no reward.
            index_function(t, arms, state, params, memory, history)
            if step < rounds * k and first_pulls != NO_FIRST_PULLS:
                i = order[step % k]
            else:
                i = _best_arm(arms, ties, state)
            x = reward(
                kinds[problem, i],
                laws,
                starts[problem, i],
                sizes[problem, i],
                key0,
                key1,
                i,
                run,
                arms[i].n,
            )
            if keep_history:
                history[i, arms[i].n] = x
            _observe(arms[i], x)
            if with_tail:
                update_tail(arms[i], low[i], high[i], x, tail_sizes[arms[i].n])
            state[0].last_arm = i
            state[0].last_reward = x
            total += x
            if rewards.shape[1] > 0:
                rewards[row, step] = x
            if played.shape[1] > 0:
                played[row, step] = i
            if checkpoint < checkpoints.size and checkpoints[checkpoint] == step + 1:
                regret, empirical_regret = _regrets(
                    arms, means[problem], best_mean, step + 1, total
                )
                theoretical[row, checkpoint] = regret
                empirical[row, checkpoint] = empirical_regret
                if checkpoint_pulls.shape[1] > 0:
                    for j in range(k):
                        checkpoint_pulls[row, checkpoint, j] = arms[j].n
                checkpoint += 1
        for i in range(k):
            pulls[row, i] = arms[i].n


@functools.cache
def compiled_loop():
    """The compiled loop, with its signature fixed: a new policy is an argument, not a new build."""
    return jit(_SIMULATE)(_simulate)
