"""Compiled part of B-CVTS, NPTS and M-CVTS: the randomly weighted mean of an arm's lowest rewards.

The weights are Dirichlet(1, ..., 1), drawn anew at every pull, but only as finely as the choice of
the arm asks. At first all rewards are one block, of which only the mean is used. Where the bounds
of two arms overlap, their blocks are split in parts, whose total weights are gamma numbers, and in
the end into single rewards.

The bounds. Let v be c values in [low, high] of average a, and X their mean with weights
Dirichlet(1, ..., 1). A unit of mass at v split between both ends, so that its mean stays, makes X a
Beta variable on [low, high] of mass c, and X is the conditional expectation of that. So it has the
sub-Gaussian variance proxy of the Beta variable, (high - low)^2 / (4 (c + 1)) (Marchal and Arbel
2017, On the sub-Gaussianity of the Beta and Dirichlet distributions). Blocks are independent given
their weights w: the mean over all blocks has the proxy sum(w^2 proxy) / sum(w)^2. A bound at Z
times its root fails, for each arm, side and refinement, with probability at most exp(-Z^2 / 2) =
2^-52, the resolution of the random numbers.

All of an arm lies in one slice of the policy's memory. An arm of few different values keeps each
once, with its count (`VALUES` > 0). One of many keeps all rewards, `MAIN` of them sorted and up to
`BUFFER` later ones, or 0.8 of the root of their number, sorted behind them: so a new reward moves
few others. An *entry* is a value with its count, or a reward.
"""

from __future__ import annotations

import math

from .jit import jit
from .random import next_exponential, next_gamma_whole
from .ranks import make_room, place

FEW_VALUES = 128  # an arm with more different values keeps every reward
BUFFER = 128
DIRECT = 24  # so few entries are drawn one by one at once, and more if all differ
LEAF = 64  # a block of so few entries is split into single ones
LOG_PARTS = 3  # the first split of all entries is in 8

# Numbers of an arm: main and waiting rewards, entries with counts, bounds of the mean, blocks, and
# one of the index function's own.
MAIN, WAITING, VALUES, LOW, HIGH, BLOCKS, OWN = 0, 1, 2, 3, 4, 5, 6
_COUNTED = 7  # rewards in the entries before each, for those with counts
_SCRATCH = _COUNTED + FEW_VALUES + 2
_LIST = _SCRATCH + BUFFER
_BLOCK = 6  # numbers of a block: its first entry and its end, rewards, weight, mean loss, proxy
_FIRST, _END, _REWARDS, _WEIGHT, _LOSS, _PROXY = 0, 1, 2, 3, 4, 5
_Z = math.sqrt(2 * 52 * math.log(2))


def memory_of_arm(horizon: int) -> tuple[int, int]:
    """Where the values of an arm begin in its memory, and the numbers of memory it needs.

    Behind the values are their sums: the loss (`top` less the reward) of all entries before each.
    """
    # The two first blocks may be split in 8; halves of a block hold at least LEAF / 2 entries.
    blocks = 2 * 2**LOG_PARTS + 1 + 2 * horizon // LEAF
    values_at = _LIST + _BLOCK * blocks
    return values_at, values_at + 2 * horizon + 1


# --- the rewards of an arm ----------------------------------------------------------------
# Everything is addressed in `m`, the policy's whole memory: `arm`, `values` and `sums` are where
# those of one arm begin. (Slices would cost more than the work done on them.)


@jit()
def _insert(m, at, end, x):
    """Put x at a position, moving m[at:end] one up."""
    make_room(m, end, at)
    m[at] = x


@jit()
def rewards_in(m, arm, first, end):
    """Number of rewards in entries first to end - 1."""
    if m[arm + VALUES] == 0:
        return end - first
    return int(m[arm + _COUNTED + end] - m[arm + _COUNTED + first])


@jit()
def _sum_losses(m, arm, values, sums, first, end, top):
    """Renew the sums of losses from an entry on."""
    total, counted = m[sums + first], m[arm + VALUES] > 0
    for j in range(first, end):
        loss = top - m[values + j]
        total += rewards_in(m, arm, j, j + 1) * loss if counted else loss
        m[sums + j + 1] = total


@jit()
def _keep_every_reward(m, arm, values):
    """From values with counts to one entry for each reward."""
    to = values + int(m[arm + MAIN])
    for j in range(int(m[arm + VALUES]) - 1, -1, -1):
        for _ in range(rewards_in(m, arm, j, j + 1)):
            to -= 1
            m[to] = m[values + j]
    m[arm + VALUES] = 0


@jit()
def _merge(m, arm, values):
    """Sort the waiting rewards into the main ones; returns the first entry that changed."""
    n, waiting = int(m[arm + MAIN]), int(m[arm + WAITING])
    scratch = arm + _SCRATCH  # and the blocks behind it, of which there are none now
    for j in range(waiting):
        m[scratch + j] = m[values + n + j]
    for j in range(waiting - 1, -1, -1):
        x = m[scratch + j]
        at = place(m, values, values + n, x)
        make_room(m, values + n, at, j + 1)
        m[at + j] = x
        n = at - values
    m[arm + MAIN] += waiting
    m[arm + WAITING] = 0
    return n


@jit()
def _take_counted(m, arm, values, sums, x, top):
    n_values = int(m[arm + VALUES])
    at = place(m, values, values + n_values, x) - values
    if at == n_values or m[values + at] != x:
        _insert(m, values + at, values + n_values, x)
        counted = arm + _COUNTED
        _insert(m, counted + at + 1, counted + n_values + 1, m[counted + at])
        n_values += 1
    for j in range(at + 1, n_values + 1):
        m[arm + _COUNTED + j] += 1
    m[arm + VALUES] = n_values
    m[arm + MAIN] += 1
    if n_values > FEW_VALUES:
        _keep_every_reward(m, arm, values)
        _sum_losses(m, arm, values, sums, 0, int(m[arm + MAIN]), top)
    else:
        _sum_losses(m, arm, values, sums, at, n_values, top)


@jit()
def take_reward(m, arm, values, sums, x, top):
    """Take one more reward of an arm."""
    if m[arm + MAIN] == 0 or m[arm + VALUES] > 0:
        _take_counted(m, arm, values, sums, x, top)
        return
    n, end = int(m[arm + MAIN]), int(m[arm + MAIN] + m[arm + WAITING])
    at = place(m, values + n, values + end, x) - values
    _insert(m, values + at, values + end, x)
    m[arm + WAITING] += 1
    # To sort a reward in costs as many steps as wait, and to merge them as many as are sorted.
    if m[arm + WAITING] >= max(BUFFER, 0.8 * math.sqrt(n)):
        at = _merge(m, arm, values)
    _sum_losses(m, arm, values, sums, at, end + 1, top)


# --- blocks and bounds --------------------------------------------------------------------


@jit()
def _set_block(m, arm, values, sums, at, first, end, n, weight, top):
    """Write a block: the n lowest rewards of some entries (the last may be cut), and a weight."""
    most, least = top - m[values + first], top - m[values + end - 1]
    m[at + _FIRST], m[at + _END] = first, end
    m[at + _REWARDS], m[at + _WEIGHT] = n, weight
    if most == least:  # exactly, so that equal arms tie
        m[at + _LOSS], m[at + _PROXY] = most, 0.0
        return
    cut = rewards_in(m, arm, first, end) - n
    m[at + _LOSS] = (m[sums + end] - m[sums + first] - cut * least) / n
    m[at + _PROXY] = (most - least) ** 2 / (4.0 * (n + 1.0))


@jit()
def _new_block(m, arm):
    at = arm + _LIST + _BLOCK * int(m[arm + BLOCKS])
    m[arm + BLOCKS] += 1
    return at


@jit()
def _sum_blocks(m, arm, top):
    """Bounds of the mean from the blocks."""
    weight = 0.0
    lost = 0.0
    proxy = 0.0
    begin = arm + _LIST
    for at in range(begin, begin + _BLOCK * int(m[arm + BLOCKS]), _BLOCK):
        w = m[at + _WEIGHT]
        weight += w
        lost += w * m[at + _LOSS]
        proxy += w * w * m[at + _PROXY]
    mean, radius = top - lost / weight, _Z * math.sqrt(proxy) / weight
    m[arm + LOW], m[arm + HIGH] = mean - radius, mean + radius


@jit()
def _lowest_main(m, arm, values, n_lowest):
    """How many of the lowest rewards are among the main ones; the rest are waiting."""
    n, waiting = int(m[arm + MAIN]), int(m[arm + WAITING])
    low, high = max(0, n_lowest - waiting), min(n_lowest, n)
    while low < high:
        middle = (low + high) >> 1
        if m[values + middle] < m[values + n + n_lowest - middle - 1]:
            low = middle + 1
        else:
            high = middle
    return low


@jit()
def _draw_weights(m, arm, values, first, end, n, top, state):
    """Weight and weighted loss of the n lowest rewards of entries first to end - 1."""
    weight = 0.0
    lost = 0.0
    if rewards_in(m, arm, first, end) == end - first:  # all differ, or every reward is an entry
        for j in range(first, end):
            e = next_exponential(state)
            weight += e
            lost += e * (top - m[values + j])
        return weight, lost
    for j in range(first, end):
        size = min(rewards_in(m, arm, j, j + 1), n)
        g = next_gamma_whole(state, size)  # equal rewards share it: it is the sum of their weights
        weight += g
        lost += g * (top - m[values + j])
        n -= size
    return weight, lost


@jit()
def draw_counted_mean(m, counts, values, n_lowest, state):
    """The mean of the lowest rewards itself, for given values whose counts begin at `counts`."""
    weight = 0.0
    gained = 0.0
    for j in range(values.size):
        size = min(int(m[counts + j]), n_lowest)
        g = next_gamma_whole(state, size)
        weight += g
        gained += g * values[j]
        n_lowest -= size
        if n_lowest == 0:
            break
    return gained / weight


# Written into the loop over the arms: most have few rewards, and a call would cost more than these.
@jit(inline="always")
def draw_bounds(m, arm, values, sums, n_lowest, top, state):
    """Bounds, LOW and HIGH, of a new draw of the mean of the lowest of all rewards and `top`."""
    n = int(m[arm + MAIN] + m[arm + WAITING])
    inside = min(n_lowest, n)
    if m[arm + VALUES] == n:  # few, and all differ: one by one, and the upper end itself
        weight = next_exponential(state) if n_lowest > n else 0.0
        lost = 0.0
        for j in range(values, values + inside):
            e = next_exponential(state)
            weight += e
            lost += e * (top - m[j])
        m[arm + LOW] = m[arm + HIGH] = top - lost / weight
    else:
        _draw_blocks(m, arm, values, sums, n_lowest, top, state)


@jit()
def _draw_blocks(m, arm, values, sums, n_lowest, top, state):
    """`draw_bounds` of any number of rewards, by blocks where they are many."""
    n = int(m[arm + MAIN] + m[arm + WAITING])
    inside = min(n_lowest, n)
    if m[arm + VALUES] > 0:  # as many entries as hold the lowest rewards
        main, counted = inside, arm + _COUNTED + 1
        end = place(m, counted, counted + int(m[arm + VALUES]), inside) - counted + 1
    else:
        end = main = _lowest_main(m, arm, values, inside)
    waiting = inside - main
    if waiting == 0 and end <= DIRECT:
        weight, lost = _draw_weights(m, arm, values, 0, end, inside, top, state)
        if n_lowest > n:  # the upper end itself
            weight += next_exponential(state)
        m[arm + LOW] = m[arm + HIGH] = top - lost / weight
        return
    single = n_lowest <= n and (main == 0 or waiting == 0)  # a single block needs no weight
    m[arm + BLOCKS] = 0
    if main > 0:
        weight = 1.0 if single else next_gamma_whole(state, main)
        _set_block(m, arm, values, sums, _new_block(m, arm), 0, end, main, weight, top)
    if waiting > 0:
        start = int(m[arm + MAIN])
        weight = 1.0 if single else next_gamma_whole(state, waiting)
        at = _new_block(m, arm)
        _set_block(m, arm, values, sums, at, start, start + waiting, waiting, weight, top)
    if n_lowest > n:  # the upper end itself: a block of known loss, 0
        at = _new_block(m, arm)
        m[at + _WEIGHT] = next_exponential(state)
        m[at + _LOSS] = m[at + _PROXY] = 0.0
    _sum_blocks(m, arm, top)


@jit()
def _split(m, arm, values, sums, at, log_parts, top, state):
    """Split a block in parts; their weights are drawn given their sum."""
    first, left = int(m[at + _FIRST]), int(m[at + _REWARDS])
    width, stop = int(m[at + _END]) - first, int(m[at + _END])
    before = int(m[arm + BLOCKS])
    total = 0.0
    for part in range((1 << log_parts) - 1, 0, -1):
        start = first + (part * width >> log_parts)
        size = left - rewards_in(m, arm, first, start)
        g = next_gamma_whole(state, size)
        _set_block(m, arm, values, sums, _new_block(m, arm), start, stop, size, g, top)
        total += g
        left -= size
        stop = start
    g = next_gamma_whole(state, left)
    scale = m[at + _WEIGHT] / (total + g)
    _set_block(m, arm, values, sums, at, first, stop, left, g * scale, top)
    for b in range(before, int(m[arm + BLOCKS])):
        m[arm + _LIST + _BLOCK * b + _WEIGHT] *= scale


@jit()
def refine(m, arm, values, sums, top, state):
    """Narrow LOW and HIGH by splitting the blocks that contribute most to their distance."""
    log_parts = LOG_PARTS if m[arm + BLOCKS] <= 3 else 1
    begin = arm + _LIST
    stop = begin + _BLOCK * int(m[arm + BLOCKS])
    widest = 0.0
    for at in range(begin, stop, _BLOCK):
        widest = max(widest, m[at + _WEIGHT] ** 2 * m[at + _PROXY])
    for at in range(begin, stop, _BLOCK):
        if m[at + _PROXY] > 0.0 and m[at + _WEIGHT] ** 2 * m[at + _PROXY] >= 0.1 * widest:
            first, end = int(m[at + _FIRST]), int(m[at + _END])
            if end - first <= LEAF:  # into single rewards: the loss becomes known
                n = int(m[at + _REWARDS])
                weight, lost = _draw_weights(m, arm, values, first, end, n, top, state)
                m[at + _LOSS], m[at + _PROXY] = lost / weight, 0.0
            else:
                _split(m, arm, values, sums, at, log_parts, top, state)
    _sum_blocks(m, arm, top)


@jit()
def settle(m, n_arms, values_at, sums_at, top, state):
    """Refine until one arm's lower bound is above the upper bounds of all others, or all is known.

    Only the arms whose upper bound is at least the largest lower bound can win; the one of them
    with the widest bounds is refined next.
    """
    size = m.size // n_arms
    while True:
        best = -math.inf
        for arm in range(0, m.size, size):
            best = max(best, m[arm + LOW])
        rivals, widest, width = 0, -1, 0.0
        for arm in range(0, m.size, size):
            low, high = m[arm + LOW], m[arm + HIGH]
            if high >= best:
                rivals += 1
                if high - low > width:
                    widest, width = arm, high - low
        if rivals == 1 or widest < 0:
            return
        refine(m, widest, widest + values_at, widest + sums_at, top, state)
