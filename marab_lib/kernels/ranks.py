"""An arm's lowest rewards in order, and the CVaR of a law that a band around them allows."""

from __future__ import annotations

import numpy as np

from .jit import jit
from .tails import pop_top, push

# --- sorted lower parts -------------------------------------------------------------------
# An arm's lowest rewards as runs of equal values: values[r] increasing, counts[r] how many. The
# other rewards are in a heap with the smallest on top, and join only when they are needed, so that
# the part kept in order is no longer than the quantile that is looked at. `part` holds the number
# of runs, of rewards in runs and of rewards in the heap.

RUNS, RANKED, WAITING = range(3)


@jit()
def place(values, first, end, x):
    """Position of x among values[first:end], which are sorted: the first that is not below it."""
    while first < end:
        middle = (first + end) >> 1
        if values[middle] < x:
            first = middle + 1
        else:
            end = middle
    return first


@jit()
def make_room(array, n, place, by=1):
    """Move array[place:n] up. Unsigned counters let the compiler make one memmove of it."""
    j, end, by = np.uint64(n), np.uint64(place), np.uint64(by)
    while j > end:
        j -= np.uint64(1)
        array[j + by] = array[j]


@jit()
def insert_reward(part, values, counts, heap, x):
    """Take one more reward into the runs, or into the heap where it lies above all runs."""
    n_runs = int(part[RUNS])
    if n_runs == 0 or x > values[n_runs - 1]:
        push(heap, int(part[WAITING]), x, -1.0)
        part[WAITING] += 1
        return
    at = place(values, 0, n_runs, x)
    if values[at] == x:
        counts[at] += 1
    else:
        make_room(values, n_runs, at)
        values[at] = x
        if part[RANKED] > n_runs:  # else all counts are 1, and so is one more
            make_room(counts, n_runs, at)
            counts[at] = 1
        else:
            counts[n_runs] = 1
        part[RUNS] += 1
    part[RANKED] += 1


@jit()
def rank_rewards(part, values, counts, heap, n):
    """Bring rewards from the heap to the runs until the n lowest are there, or all."""
    while part[RANKED] < n and part[WAITING] > 0:
        x = heap[0]
        pop_top(heap, int(part[WAITING]), -1.0)
        part[WAITING] -= 1
        last = int(part[RUNS]) - 1
        if last >= 0 and values[last] == x:
            counts[last] += 1
        else:
            values[last + 1] = x
            counts[last + 1] = 1
            part[RUNS] += 1
        part[RANKED] += 1


@jit()
def unrank_rewards(part, values, heap, n):
    """Give rewards back to the heap when many more than the n lowest are in runs.

    Without this the runs would keep the share of the rewards that they had at the first pulls. Arms
    with equal values have few runs, and keep them.
    """
    slack = n // 8 + 16
    if part[RUNS] < part[RANKED] or part[RANKED] <= n + 2 * slack:
        return
    while part[RANKED] > n + slack:
        part[RUNS] -= 1
        part[RANKED] -= 1
        push(heap, int(part[WAITING]), values[int(part[RUNS])], -1.0)
        part[WAITING] += 1


@jit()
def trimmed_cvar(part, values, counts, alpha, cut, top):
    """CVaR at alpha of the empirical law when its lowest share `cut` is moved up to `top`.

    The runs must hold the lowest share alpha + cut.
    """
    n = part[RANKED] + part[WAITING]
    first, last = cut * n, (cut + alpha) * n
    lost = 0.0
    before = 0.0
    for r in range(int(part[RUNS])):
        after = before + counts[r]
        if after > first:
            inside = min(after, last) - max(before, first)
            if inside <= 0.0:
                break
            if before <= first and after >= last:
                return values[r]  # exactly, so that equal arms tie
            lost += inside * (top - values[r])
        before = after
    return top - lost / (alpha * n)


@jit()
def move_boundary(boundary, values, n_ranked, x, rank, top):
    """Shift a boundary to a new rank after reward x was put in its place; all rewards differ.

    `boundary` holds its rank and the sum of top - value below it. A boundary moves by about one
    rank from pull to pull, so its sum is updated, not computed again.
    """
    at = int(boundary[0])
    if 0 < at < n_ranked and x < values[at]:  # it pushed the highest of the `at` lowest out
        boundary[1] += values[at] - x
    while at < rank:
        boundary[1] += top - values[at]
        at += 1
    while at > rank:
        at -= 1
        boundary[1] -= top - values[at]
    boundary[0] = at


@jit()
def trimmed_cvar_moved(part, values, x, alpha, cut, top, boundaries):
    """`trimmed_cvar` for rewards that all differ, from the boundaries of the pull before."""
    n_ranked = int(part[RANKED])
    n = part[RANKED] + part[WAITING]
    first, last = cut * n, min((cut + alpha) * n, n)
    low, high = min(int(first), n_ranked), min(int(last), n_ranked)
    move_boundary(boundaries[:2], values, n_ranked, x, low, top)
    move_boundary(boundaries[2:], values, n_ranked, x, high, top)
    lost = boundaries[3] - boundaries[1]
    if low < n_ranked:
        lost -= (first - low) * (top - values[low])
    if high < n_ranked:
        lost += (last - high) * (top - values[high])
    return top - max(lost, 0.0) / (alpha * n)
