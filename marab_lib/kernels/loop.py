"""The simulation loop: what a policy sees, its options, and one policy played on many runs.

Arrays in, arrays out. The classes that use it validate their input; nothing is checked here.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numba import types

from .jit import borrowed, jit
from .laws import AHEAD, draw
from .random import next_uniform, philox_words
from .records import ARM, F1, F2, INDEX_FUNCTION, STATE, SUMS
from .tails import update_tail

# First pulls and ties, as the options of a policy name them.
ASCENDING, DESCENDING, SHUFFLED, NO_FIRST_PULLS = range(4)
LOWEST, HIGHEST, RANDOM = range(3)

GROUP = 32  # arms whose best is remembered


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
def _best_at_random(arms, state):
    """One of the arms of largest index; each tie on the way there takes a random number."""
    best, largest, n_tied = -1, -math.inf, 0
    for i in range(arms.size):
        if arms[i].index > largest:
            best, largest, n_tied = i, arms[i].index, 1
        elif arms[i].index == largest:
            n_tied += 1
            if next_uniform(state) * n_tied < 1.0:
                best = i
    return best


# Written into the loop that calls it: a call would cost as much as it does.
@jit(inline="always")
def _best_arm(arms, begin, end, ties):
    """Arm with the largest index from begin to end - 1, or -1 where no index is a number."""
    # Unsigned, since a negative number would be a place counted from the end; and two at a time,
    # which do not wait for each other.
    largest = second = -math.inf
    for i in range(np.uint64(begin), np.uint64(end - 1), np.uint64(2)):
        largest = arms[i].index if arms[i].index > largest else largest
        j = i + np.uint64(1)
        second = arms[j].index if arms[j].index > second else second
    last = arms[end - 1].index
    largest = max(last if last > largest else largest, second)
    best = -1
    for i in range(begin, end):
        if arms[np.uint64(i)].index == largest:
            best = i
            if ties == LOWEST:
                break
    return best


@jit()
def _best_by_groups(arms, ties, state, groups, known):
    """As `_best_arm` of all arms, where no index has changed but that of the arm just pulled.

    A group's record has its best arm, in place of the number of pulls, and that arm's index. Where
    they are `known` from the step before, only the group of the arm just pulled is looked at.
    """
    first, after = 0, groups.size
    if known:
        pulled = state[0].last_arm
        first, after = pulled // GROUP, pulled // GROUP + 1
        if arms[pulled].index >= groups[first].index:  # it was the best, and is again
            groups[first].index = arms[pulled].index
            return pulled
    for g in range(first, after):
        begin = g * GROUP
        best = _best_arm(arms, begin, min(begin + GROUP, arms.size), ties)
        groups[g].n = best
        groups[g].index = arms[best].index if best >= 0 else math.nan
    g = _best_arm(groups, 0, groups.size, ties)
    return groups[g].n if g >= 0 else -1


@jit()
def _clear(arms, sums):
    for i in range(arms.size):
        a = arms[i]
        a.n = 0
        a.mean = a.var = a.last = a.cvar = a.tail_max = 0.0
        a.index = math.nan  # until it is written
        a.min = math.inf
        a.max = -math.inf
        a.inv_sqrt_n = a.inv_sqrt_tail_n = math.inf
        a.tail_n = 0
        s = sums[i]
        s.sum = s.shift = s.shifted_sum = s.shifted_squares = s.tail_sum = s.tail_lost = 0.0


@jit()
def _observe(a, s, x):
    """Take one reward into the statistics of its arm."""
    if a.n == 0:
        s.shift = x
    a.n += 1
    a.last = x
    a.min = min(a.min, x)
    a.max = max(a.max, x)
    s.sum += x
    a.mean = min(max(s.sum / a.n, a.min), a.max)  # so that equal constant arms tie
    # The variance about the first reward: no cancellation, and exactly 0 for a constant arm.
    d = x - s.shift
    s.shifted_sum += d
    s.shifted_squares += d * d
    shifted_mean = s.shifted_sum / a.n
    a.var = max(0.0, s.shifted_squares / a.n - shifted_mean * shifted_mean)
    a.inv_sqrt_n = 1.0 / math.sqrt(a.n)


@jit()
def _regrets(arms, means, best_mean, t, total):
    """Theoretical and empirical regret after t pulls that gave `total`."""
    theoretical = 0.0
    for i in range(arms.size):
        theoretical += arms[i].n * (best_mean - means[i])
    return theoretical, t * best_mean - total


class Laws(NamedTuple):
    """The reward laws of all problems."""

    kinds: np.ndarray  # [problem, arm]
    starts: np.ndarray  # [problem, arm], where the parameters of an arm begin
    sizes: np.ndarray  # [problem, arm]
    params: np.ndarray  # of all laws, in one line
    keys: np.ndarray  # [problem, 2], of the reward tapes
    means: np.ndarray  # [problem, arm]


class Options(NamedTuple):
    """What the loop does for one policy."""

    params: np.ndarray  # handed to the index function
    memory: np.ndarray  # the policy's own, all 0
    keep_history: bool
    tail_sizes: np.ndarray  # for n = 0..horizon, or empty
    time: int  # what is subtracted from the 1-based t
    first_pulls: int
    rounds: int  # of first pulls
    ties: int


class Length(NamedTuple):
    """How long and how often each problem is played."""

    horizon: int
    steps: int  # of the horizon that are played
    runs: int
    checkpoints: np.ndarray  # increasing


class Output(NamedTuple):
    """Where the results go, one row a pair; what is not recorded has no step or checkpoint."""

    theoretical_regret: np.ndarray  # [pair, checkpoint]
    empirical_regret: np.ndarray  # [pair, checkpoint]
    pulls: np.ndarray  # [pair, arm]
    rewards: np.ndarray  # [pair, step]
    arms: np.ndarray  # [pair, step]
    checkpoint_pulls: np.ndarray  # [pair, checkpoint, arm]


class Room(NamedTuple):
    """What a run is played in; each run begins anew."""

    arms: np.ndarray
    sums: np.ndarray
    state: np.ndarray  # one record
    groups: np.ndarray
    order: np.ndarray  # of first pulls
    memory: np.ndarray
    low: np.ndarray  # [arm, ...], the heaps of each
    high: np.ndarray
    history: np.ndarray  # [arm, pull of it]
    ahead: np.ndarray  # [arm, AHEAD], rewards of the tape that are drawn before they are asked for
    words: np.ndarray  # [2, AHEAD], random bits of these


@jit()
def _play(index_function, options, laws, length, begin, end, output, room):
    """What `_simulate` does, in the room that it made."""
    options, laws, length = borrowed(options), borrowed(laws), borrowed(length)
    output, room = borrowed(output), borrowed(room)
    kinds, starts, sizes, law_params, keys, means = laws
    arms, sums, state, groups, order, memory, low, high, history, ahead, words = room
    tail_sizes, checkpoints = options.tail_sizes, length.checkpoints
    horizon, params, first_pulls = length.horizon, options.params, options.first_pulls
    k, with_tail = arms.size, tail_sizes.size > 0
    for pair in range(begin, end):
        problem, run, row = pair // length.runs, pair % length.runs, pair - begin
        key0, key1 = keys[problem, 0], keys[problem, 1]
        best_mean = means[problem].max()
        _clear(arms, sums)
        if pair > begin:  # the first has new memory, of which the system gives only what is touched
            memory[:] = 0.0
        known, settled, i = False, False, -1
        state[0].horizon = horizon
        state[0].last_arm = -1
        state[0].last_reward = 0.0
        state[0].rng, _ = philox_words(key0, key1, 0, 0, run, 1)
        if first_pulls != NO_FIRST_PULLS:
            _order_of_first_pulls(first_pulls, order, state)
        total = 0.0
        checkpoint = 0
        for step in range(length.steps):
            if not settled:
                t = step + 1 - options.time
                state[0].pulls = step
                if with_tail:
                    state[0].tail_t = tail_sizes[t]
                state[0].one_changed = state[0].final = False
                # During the first pulls too, so that a policy with a memory misses no reward.
                index_function(t, arms, state, params, memory, history)
                if step < options.rounds * k and first_pulls != NO_FIRST_PULLS:
                    i = order[step % k]
                else:
                    by_groups = state[0].one_changed and k > GROUP and options.ties != RANDOM
                    if options.ties == RANDOM:
                        i = _best_at_random(arms, state)
                    elif by_groups:
                        i = _best_by_groups(arms, options.ties, state, groups, known)
                    else:
                        i = _best_arm(arms, 0, k, options.ties)
                    known = by_groups
                    if i < 0:
                        return step + 1
                    settled = state[0].final
            n = arms[i].n
            place = n & (AHEAD - 1)
            if place == 0 or (n < AHEAD and n & (n - 1) == 0):  # blocks of 1, 1, 2, 4, 8, 16, 16...
                draw(
                    kinds[problem, i],
                    law_params,
                    starts[problem, i],
                    sizes[problem, i],
                    key0,
                    key1,
                    i,
                    run,
                    n,
                    words,
                    ahead[i, place : place + min(max(n, 1), AHEAD)],
                )
            x = ahead[i, place]
            if settled:  # no index is asked for any more
                arms[i].n += 1
            else:
                if options.keep_history:
                    history[i, n] = x
                _observe(arms[i], sums[i], x)
                if with_tail:
                    update_tail(arms[i], sums[i], low[i], high[i], x, tail_sizes[arms[i].n])
                state[0].last_arm = i
                state[0].last_reward = x
            total += x
            if output.rewards.shape[1] > 0:
                output.rewards[row, step] = x
            if output.arms.shape[1] > 0:
                output.arms[row, step] = i
            if checkpoint < checkpoints.size and checkpoints[checkpoint] == step + 1:
                regret, empirical = _regrets(arms, means[problem], best_mean, step + 1, total)
                output.theoretical_regret[row, checkpoint] = regret
                output.empirical_regret[row, checkpoint] = empirical
                if output.checkpoint_pulls.shape[1] > 0:
                    for j in range(k):
                        output.checkpoint_pulls[row, checkpoint, j] = arms[j].n
                checkpoint += 1
        for i in range(k):
            output.pulls[row, i] = arms[i].n
    return 0


_INT = types.int64
_I1, _I2 = types.Array(_INT, 1, "C"), types.Array(_INT, 2, "C")
_U2 = types.Array(types.uint64, 2, "C")
_PLAYED, _PULLS = types.Array(types.int16, 2, "C"), types.Array(types.int32, 2, "C")
_PULLS_OVER_TIME = types.Array(types.int32, 3, "C")

_SIMULATE = _INT(
    INDEX_FUNCTION,
    types.NamedTuple((F1, F1, types.boolean, _I1, _INT, _INT, _INT, _INT), Options),
    types.NamedTuple((_I2, _I2, _I2, F1, _U2, F2), Laws),
    types.NamedTuple((_INT, _INT, _INT, _I1), Length),
    _INT,  # first of the (problem, run) pairs to do
    _INT,  # and the one after the last
    types.NamedTuple((F2, F2, _PULLS, F2, _PLAYED, _PULLS_OVER_TIME), Output),
)


def _simulate(index_function, options, laws, length, begin, end, output):
    """Play one policy on the pairs (problem, run) numbered begin to end - 1, problem by problem.

    Returns 0, or the number of the pull for which no index was a number: there it stops.
    """
    k, horizon, with_tail = laws.kinds.shape[1], length.horizon, options.tail_sizes.size > 0
    room = Room(
        arms=np.zeros(k, ARM),
        sums=np.zeros(k, SUMS),
        state=np.zeros(1, STATE),
        groups=np.zeros(-(-k // GROUP), ARM),
        order=np.zeros(k, np.int64),
        memory=options.memory,
        low=np.empty((k, options.tail_sizes[horizon] if with_tail else 0)),
        high=np.empty((k, horizon if with_tail else 0)),
        history=np.empty((k, horizon if options.keep_history else 0)),
        ahead=np.empty((k, AHEAD)),
        words=np.empty((2, AHEAD), np.uint64),
    )
    return _play(index_function, options, laws, length, begin, end, output, room)


@functools.cache
def compiled_loop():
    """The compiled loop, with its signature fixed: a new policy is an argument, not a new build."""
    return jit(_SIMULATE, slow=True)(_simulate)
