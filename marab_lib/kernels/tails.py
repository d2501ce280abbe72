"""The mean of an arm's lowest rewards, kept exact from pull to pull by two heaps."""

from __future__ import annotations

import math

from .jit import jit

# Two heaps an arm: `low` holds the lowest rewards with the largest on top, `high` the others
# with the smallest on top. A pull moves at most one reward between them.


@jit()
def push(heap, size, value, sign):
    """Add a value to a heap whose top is the largest (sign 1) or the smallest (sign -1)."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if sign * heap[parent] >= sign * value:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = value


@jit()
def replace_top(heap, size, value, sign):
    """Replace the top of a heap by a value and restore the order."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size:  # added, not branched: the answer is random
            child += sign * heap[child + 1] > sign * heap[child]
        if sign * heap[child] <= sign * value:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value


@jit()
def pop_top(heap, size, sign):
    """Remove the top of a heap of the given size."""
    if size > 1:
        replace_top(heap, size - 1, heap[size - 1], sign)


@jit()
def _add_to_tail_sum(sums, value):
    """Compensated sum (Neumaier 1974): the tail's mean stays exact to the last bits."""
    total = sums.tail_sum + value
    if abs(sums.tail_sum) >= abs(value):
        sums.tail_lost += (sums.tail_sum - total) + value
    else:
        sums.tail_lost += (value - total) + sums.tail_sum
    sums.tail_sum = total


@jit()
def update_tail(arm, sums, low, high, value, tail_n):
    """Take one more reward into the mean of the `tail_n` lowest; arm.n counts it already.

    `tail_n` may grow by at most one from pull to pull.
    """
    n_low = arm.tail_n
    n_high = arm.n - 1 - n_low
    if tail_n > n_low:
        joins = value
        if n_high > 0 and high[0] < value:
            joins = high[0]
            replace_top(high, n_high, value, -1.0)
        push(low, n_low, joins, 1.0)
        _add_to_tail_sum(sums, joins)
    elif value < low[0]:
        leaves = low[0]
        replace_top(low, n_low, value, 1.0)
        push(high, n_high, leaves, -1.0)
        _add_to_tail_sum(sums, value)
        _add_to_tail_sum(sums, -leaves)
    else:
        push(high, n_high, value, -1.0)
    if tail_n != arm.tail_n:
        arm.tail_n = tail_n
        arm.inv_sqrt_tail_n = 1.0 / math.sqrt(tail_n)
    arm.tail_max = low[0]
    # Between the ends, so that equal constant arms tie, and MaRaB with alpha <= 1/T is MIN.
    arm.cvar = min(max((sums.tail_sum + sums.tail_lost) / tail_n, arm.min), low[0])


@jit()
def split_cvar(arm, alpha):
    """CVaR of the empirical law: the lowest share alpha exactly, its last reward taken in part."""
    share = alpha * arm.n
    value = (arm.tail_n * arm.cvar - (arm.tail_n - share) * arm.tail_max) / share
    return min(max(value, arm.min), arm.cvar)
