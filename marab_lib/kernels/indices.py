"""What several index functions share: Bernoulli bounds and draws, and what stays as it was."""

from __future__ import annotations

import math

from .jit import jit
from .random import next_gamma_from, next_uniform


@jit()
def kl_ucb_bound(t, c):
    """log(t) + c log(log(t)), without the second term where it is negative."""
    log_t = math.log(t)
    return log_t + c * math.log(log_t) if c > 0.0 and log_t > 1.0 else log_t


@jit()
def bernoulli_entropy(p):
    """-p log p - (1 - p) log(1 - p), 0 at both ends."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * math.log(p) - (1.0 - p) * math.log(1.0 - p)


@jit()
def bernoulli_upper_bound(p, bound, entropy):
    """Largest q in [p, 1] with Bernoulli divergence kl(p, q) at most `bound`.

    `entropy` is that of p. Halley's method from the lower of two upper bounds: Pinsker's, and the
    one that drops the term in log q. The result depends on the arguments alone, so that equal arms
    have equal indices.
    """
    if bound <= 0.0 or p >= 1.0:
        return p
    ceiling = 1.0 - math.exp(-(bound + entropy) / (1.0 - p))
    q = min(ceiling, p + math.sqrt(0.5 * bound))
    if p <= 0.0 or q >= 1.0:
        return ceiling
    for _ in range(20):
        f = -entropy - p * math.log(q) - (1.0 - p) * math.log(1.0 - q) - bound
        slope = (q - p) / (q * (1.0 - q))
        curvature = p / (q * q) + (1.0 - p) / ((1.0 - q) * (1.0 - q))
        step = f / (slope - 0.5 * f * curvature / slope)
        step = min(max(step, 0.5 * (q - 1.0)), 0.5 * (q - p))
        q -= step
        # Cubic convergence: a step this small leaves an error below the last bit.
        if abs(step) < 1e-6 * min(q - p, 1.0 - q):
            break
    return min(q, ceiling)


@jit()
def draw_chances(arms, state, memory):
    """Write as index of each arm a draw of its chance of success, from a uniform Beta prior.

    A reward in (0, 1) counts as one toss of a coin with that probability. `memory` holds, of each
    arm, what gamma numbers of the shapes 1 + successes and 1 + failures ask for: shape - 1/3, and
    the root that goes with it.
    """
    shifted, last = memory.reshape(arms.size, 2, 2), state[0].last_arm
    if last < 0:
        shifted[:, :, 0] = 2.0 / 3.0
        shifted[:, :, 1] = 1.0 / math.sqrt(6.0)
    else:
        success = state[0].last_reward > next_uniform(state)
        shape = shifted[last, 0 if success else 1]
        shape[0] += 1.0
        shape[1] = 1.0 / math.sqrt(9.0 * shape[0])
    for i in range(arms.size):
        x = next_gamma_from(state, shifted[i, 0, 0], shifted[i, 0, 1])
        y = next_gamma_from(state, shifted[i, 1, 0], shifted[i, 1, 1])
        arms[i].index = x / (x + y)


@jit()
def just_pulled(arms, state):
    """The arms that are not as they were at the step before: the one just pulled, at first all."""
    last = state[0].last_arm
    return range(last, last + 1) if last >= 0 else range(arms.size)


@jit()
def changed(arms, state, others_stay=True):
    """The arms whose index must be written: those just pulled, or all unless the `others_stay`.

    Where they stay, the loop is told that it need not look at them either.
    """
    state[0].one_changed = others_stay and state[0].last_arm >= 0
    return just_pulled(arms, state) if others_stay else range(arms.size)
