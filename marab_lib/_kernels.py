"""Every compiled loop of the project: arrays in, arrays out, no knowledge of the rest.

Sections: random numbers, reward laws, lower tails, solvers of policies, the simulation loop.
All public classes that use these functions validate their input first; nothing is checked here.
"""

from __future__ import annotations

import functools
import math

import numba
import numpy as np
from numba import types

from ._jit import jit

# --- what a policy sees -------------------------------------------------------------------

ARM = np.dtype(
    [
        ("n", "i8"),  # number of pulls
        ("mean", "f8"),  # mean reward
        ("var", "f8"),  # population variance (divisor n)
        ("min", "f8"),  # smallest reward, +inf before the first pull
        ("max", "f8"),  # largest reward, -inf before the first pull
        ("last", "f8"),  # latest reward
        ("inv_sqrt_n", "f8"),  # 1 / sqrt(n)
        ("tail_n", "i8"),  # number of rewards in the lower tail, ceil(alpha n)
        ("cvar", "f8"),  # mean of the lower tail
        ("tail_max", "f8"),  # largest reward of the lower tail: the empirical quantile
        ("inv_sqrt_tail_n", "f8"),  # 1 / sqrt(tail_n)
        ("index", "f8"),  # written by the policy; the arm with the largest index is played
        ("sum", "f8"),  # kept by the loop from here on
        ("shift", "f8"),
        ("shifted_sum", "f8"),
        ("shifted_squares", "f8"),
        ("tail_sum", "f8"),
        ("tail_lost", "f8"),
    ],
    align=True,
)
STATE = np.dtype(
    [
        ("horizon", "i8"),  # T
        ("tail_t", "i8"),  # ceil(alpha t)
        ("pulls", "i8"),  # number of pulls done
        ("last_arm", "i8"),  # arm played at the step before, -1 at first
        ("last_reward", "f8"),  # its reward
        ("rng", "u8"),  # state of the policy's own random numbers
    ],
    align=True,
)

_F1 = types.Array(types.float64, 1, "C")
_F2 = types.Array(types.float64, 2, "C")
INDEX_SIGNATURE = types.void(
    types.int64,  # t
    types.Array(numba.from_dtype(ARM), 1, "C"),  # arms
    types.Array(numba.from_dtype(STATE), 1, "C"),  # state, one record
    _F1,  # params
    _F1,  # memory
    _F2,  # history
)
_INDEX_FUNCTION = types.FunctionType(INDEX_SIGNATURE)

# Kinds of reward laws, and how many numbers a Gaussian component takes.
UNIFORM, MIXTURE, EMPIRICAL, BERNOULLI, BETA, DISCRETE = range(6)
COMPONENT = 5

# First pulls and ties, as the options of a policy name them.
ASCENDING, DESCENDING, SHUFFLED, NO_FIRST_PULLS = range(4)
LOWEST, HIGHEST, RANDOM = range(3)

# --- random numbers -----------------------------------------------------------------------

_WORD = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_TWO_52 = 2.0**-52
_LEAST_NORMAL = 2.0**-1022  # smallest float of full precision


@jit()
def philox(key0, key1, c0, c1, c2, c3):
    """Philox4x32-10 of Salmon et al. (2011): four 32-bit words for a 64-bit key and a counter."""
    key0 = np.uint64(key0)
    key1 = np.uint64(key1)
    x0, x1, x2, x3 = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
    for _ in range(10):
        product0 = np.uint64(0xD2511F53) * x0
        product1 = np.uint64(0xCD9E8D57) * x2
        x0 = (product1 >> _SHIFT) ^ x1 ^ key0
        x2 = (product0 >> _SHIFT) ^ x3 ^ key1
        x1 = product1 & _WORD
        x3 = product0 & _WORD
        key0 = (key0 + np.uint64(0x9E3779B9)) & _WORD
        key1 = (key1 + np.uint64(0xBB67AE85)) & _WORD
    return x0, x1, x2, x3


@jit()
def open_uniform(high, low):
    """Two 32-bit words as a number strictly between 0 and 1, on a grid of step 2**-52."""
    return (np.float64(((high << _SHIFT) | low) >> np.uint64(12)) + 0.5) * _TWO_52


@jit()
def next_word(state):
    """Next 64 random bits of the policy's own stream (splitmix64)."""
    state[0].rng += np.uint64(0x9E3779B97F4A7C15)
    z = state[0].rng
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def next_uniform(state):
    """Next number in (0, 1) from the policy's own stream."""
    return (np.float64(np.int64(next_word(state) >> np.uint64(12))) + 0.5) * _TWO_52


@jit()
def _polynomial(r, c7, c6, c5, c4, c3, c2, c1, c0):
    return ((((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2) * r + c1) * r + c0


@jit()
def normal_quantile(p):
    """Inverse of the standard normal cdf for 0 < p < 1: algorithm AS 241 (Wichura 1988)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = _polynomial(
            r,
            2.5090809287301226727e3,
            3.3430575583588128105e4,
            6.7265770927008700853e4,
            4.5921953931549871457e4,
            1.3731693765509461125e4,
            1.9715909503065514427e3,
            1.3314166789178437745e2,
            3.3871328727963666080e0,
        )
        bottom = _polynomial(
            r,
            5.2264952788528545610e3,
            2.8729085735721942674e4,
            3.9307895800092710610e4,
            2.1213794301586595867e4,
            5.3941960214247511077e3,
            6.8718700749205790830e2,
            4.2313330701600911252e1,
            1.0,
        )
        return q * top / bottom
    r = math.sqrt(-math.log(p if q < 0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        top = _polynomial(
            r,
            7.74545014278341407640e-4,
            2.27238449892691845833e-2,
            2.41780725177450611770e-1,
            1.27045825245236838258e0,
            3.64784832476320460504e0,
            5.76949722146069140550e0,
            4.63033784615654529590e0,
            1.42343711074968357734e0,
        )
        bottom = _polynomial(
            r,
            1.05075007164441684324e-9,
            5.47593808499534494600e-4,
            1.51986665636164571966e-2,
            1.48103976427480074590e-1,
            6.89767334985100004550e-1,
            1.67638483018380384940e0,
            2.05319162663775882187e0,
            1.0,
        )
    else:
        r -= 5.0
        top = _polynomial(
            r,
            2.01033439929228813265e-7,
            2.71155556874348757815e-5,
            1.24266094738807843860e-3,
            2.65321895265761230930e-2,
            2.96560571828504891230e-1,
            1.78482653991729133580e0,
            5.46378491116411436990e0,
            6.65790464350110377720e0,
        )
        bottom = _polynomial(
            r,
            2.04426310338993978564e-15,
            1.42151175831644588870e-7,
            1.84631831751005468180e-5,
            7.86869131145613259100e-4,
            1.48753612908506148525e-2,
            1.36929880922735805310e-1,
            5.99832206555887937690e-1,
            1.0,
        )
    return top / bottom if q > 0 else -top / bottom


@jit()
def next_normal(state):
    """Next standard normal number of the policy's own stream."""
    return normal_quantile(next_uniform(state))


@jit()
def _accepts_gamma(u, x, v, d):
    """Whether Marsaglia and Tsang (2000) keep d v, v = (1 + c x)^3, at the uniform number u."""
    square = x * x
    # The first test accepts nearly always and spares the logarithms of the exact one.
    return u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (
        1.0 - v + math.log(v)
    )


@jit()
def next_gamma(state, shape):
    """Next gamma number of a given shape and scale 1 (Marsaglia and Tsang 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = next_uniform(state) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = next_normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if _accepts_gamma(next_uniform(state), x, v, d):
            return boost * d * v


@jit()
def _next_log_gamma(state, shape):
    """Logarithm of what `next_gamma` gives from the same state, where that may be 0 in floats."""
    if shape >= 1.0:
        return math.log(next_gamma(state, shape))
    boost = math.log(next_uniform(state)) / shape
    return boost + math.log(next_gamma(state, shape + 1.0))


@jit()
def next_beta(state, a, b):
    """Next Beta(a, b) number of the policy's own stream."""
    start = state[0].rng
    x = next_gamma(state, a)
    y = next_gamma(state, b)
    if min(x, y) >= _LEAST_NORMAL:
        return x / (x + y)
    # Of shapes below 0.06 one or both may be below all floats: the same draws in logarithms.
    state[0].rng = start
    log_x = _next_log_gamma(state, a)
    log_y = _next_log_gamma(state, b)
    ratio = math.exp(-abs(log_x - log_y))
    return 1.0 / (1.0 + ratio) if log_x >= log_y else ratio / (1.0 + ratio)


def _exponential_layers():
    """Right ends and heights of the 256 layers of equal area under exp(-x)."""
    start, area = 7.69711747013104972, 3.949659822581572e-3
    x = np.zeros(257)
    x[0] = area * math.exp(start)  # width of a rectangle as large as the lowest layer with its tail
    x[1] = start
    for i in range(1, 255):
        x[i + 1] = -math.log(math.exp(-x[i]) + area / x[i])
    return x, np.exp(-x)


_LAYER_X, _LAYER_Y = _exponential_layers()


@jit()
def next_exponential(state):
    """Next exponential number of mean 1: the ziggurat of Marsaglia and Tsang (2000)."""
    shift = 0.0
    while True:
        word = next_word(state)
        layer = np.int64(word & np.uint64(255))
        x = (np.float64(np.int64(word >> np.uint64(12))) + 0.5) * _TWO_52 * _LAYER_X[layer]
        if x < _LAYER_X[layer + 1]:  # inside the curve: 99 of 100 draws end here
            return shift + x
        if layer == 0:  # the tail is the same law again, further right
            shift += _LAYER_X[1]
        else:
            low, high = _LAYER_Y[layer], _LAYER_Y[layer + 1]
            if low + (high - low) * next_uniform(state) < math.exp(-x):
                return shift + x


def _normal_layers():
    """Right ends and heights of the 256 layers of equal area under exp(-x**2 / 2), x > 0."""
    start, area = 3.6541528853610088, 4.92867323399e-3
    x = np.zeros(257)
    x[0] = area * math.exp(0.5 * start * start)
    x[1] = start
    for i in range(1, 255):
        x[i + 1] = math.sqrt(-2.0 * math.log(math.exp(-0.5 * x[i] ** 2) + area / x[i]))
    return x, np.exp(-0.5 * x * x)


_NORMAL_X, _NORMAL_Y = _normal_layers()
_SIGN = np.uint64(256)


@jit()
def next_fast_normal(state):
    """Next standard normal number by the ziggurat of Marsaglia and Tsang (2000)."""
    while True:
        word = next_word(state)
        layer = np.int64(word & np.uint64(255))
        x = (np.float64(np.int64(word >> np.uint64(12))) + 0.5) * _TWO_52 * _NORMAL_X[layer]
        sign = -1.0 if word & _SIGN else 1.0
        if x < _NORMAL_X[layer + 1]:
            return sign * x
        if layer == 0:  # the tail, by Marsaglia's method
            start = _NORMAL_X[1]
            while True:
                x = next_exponential(state) / start
                if 2.0 * next_exponential(state) > x * x:
                    return sign * (start + x)
        low, high = _NORMAL_Y[layer], _NORMAL_Y[layer + 1]
        if low + (high - low) * next_uniform(state) < math.exp(-0.5 * x * x):
            return sign * x


@jit()
def next_gamma_whole(state, shape):
    """Next gamma number of a whole shape >= 1: few exponentials, or as `next_gamma`, but faster."""
    if shape <= 6:
        total = 0.0
        for _ in range(shape):
            total += next_exponential(state)
        return total
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = next_fast_normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if _accepts_gamma(next_uniform(state), x, v, d):
            return d * v


_STIRLING_REST = np.array(
    [
        math.lgamma(k + 1.0)
        - ((k + 0.5) * math.log(k + 1.0) - (k + 1.0) + 0.5 * math.log(2 * math.pi))
        for k in range(10)
    ]
)


@jit()
def _stirling_rest(k):
    """log(k!) less Stirling's formula for it."""
    if k < 10:
        return _STIRLING_REST[k]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)


@jit()
def _common_binomial(state, n, p):
    """A binomial number for p <= 1/2 and n p >= 10: algorithm BTRS of Hoermann (1993)."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, inner = n * p + 0.5, 0.92 - 4.2 / b
    while True:
        u, v = next_uniform(state) - 0.5, next_uniform(state)
        edge = 0.5 - abs(u)
        k = math.floor((2.0 * a / edge + b) * u + centre)
        if edge >= 0.07 and v <= inner:  # nearly always
            return k
        if k < 0 or k > n:
            continue
        odds, mode = p / (1.0 - p), int((n + 1) * p)
        weight = math.log(v * (2.83 + 5.1 / b) * spread / (a / (edge * edge) + b))
        bound = (
            (mode + 0.5) * math.log((mode + 1.0) / (odds * (n - mode + 1.0)))
            + (n + 1.0) * math.log((n - mode + 1.0) / (n - k + 1.0))
            + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling_rest(mode)
            + _stirling_rest(n - mode)
            - _stirling_rest(k)
            - _stirling_rest(n - k)
        )
        if weight <= bound:
            return k


@jit()
def next_binomial_from(state, n, p, none):
    """`next_binomial` for a caller that keeps max(p, 1 - p)**n, the chance of no rarer outcome."""
    rare = min(p, 1.0 - p)
    if n * rare >= 10.0:
        events = _common_binomial(state, n, rare)
    else:
        odds, chance, u = rare / (1.0 - rare), none, next_uniform(state)
        events = 0
        while u > chance and events < n:
            u -= chance
            events += 1
            chance *= odds * (n + 1 - events) / events
    return events if p <= 0.5 else n - events


@jit()
def next_binomial(state, n, p):
    """Next binomial number: rejection where both outcomes are common, inversion elsewhere."""
    return next_binomial_from(state, n, p, max(p, 1.0 - p) ** n)


# --- reward laws --------------------------------------------------------------------------


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
    state[0].rng = (high << _SHIFT) | low
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


# --- lower tails --------------------------------------------------------------------------
# Two heaps an arm: `low` holds the lowest rewards with the largest on top, `high` the others
# with the smallest on top. A pull moves at most one reward between them.


@jit()
def _push(heap, size, value, sign):
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
def _replace_top(heap, size, value, sign):
    """Replace the top of a heap by a value and restore the order."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and sign * heap[child + 1] > sign * heap[child]:
            child += 1
        if sign * heap[child] <= sign * value:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value


@jit()
def _pop_top(heap, size, sign):
    """Remove the top of a heap of the given size."""
    if size > 1:
        _replace_top(heap, size - 1, heap[size - 1], sign)


@jit()
def _add_to_tail_sum(arm, value):
    """Compensated sum (Neumaier 1974): the tail's mean stays exact to the last bits."""
    total = arm.tail_sum + value
    if abs(arm.tail_sum) >= abs(value):
        arm.tail_lost += (arm.tail_sum - total) + value
    else:
        arm.tail_lost += (value - total) + arm.tail_sum
    arm.tail_sum = total


@jit()
def update_tail(arm, low, high, value, tail_n):
    """Take one more reward into the mean of the `tail_n` lowest; arm.n counts it already.

    `tail_n` may grow by at most one from pull to pull.
    """
    n_low = arm.tail_n
    n_high = arm.n - 1 - n_low
    if tail_n > n_low:
        joins = value
        if n_high > 0 and high[0] < value:
            joins = high[0]
            _replace_top(high, n_high, value, -1.0)
        _push(low, n_low, joins, 1.0)
        _add_to_tail_sum(arm, joins)
    elif value < low[0]:
        leaves = low[0]
        _replace_top(low, n_low, value, 1.0)
        _push(high, n_high, leaves, -1.0)
        _add_to_tail_sum(arm, value)
        _add_to_tail_sum(arm, -leaves)
    else:
        _push(high, n_high, value, -1.0)
    if tail_n != arm.tail_n:
        arm.tail_n = tail_n
        arm.inv_sqrt_tail_n = 1.0 / math.sqrt(tail_n)
    arm.tail_max = low[0]
    # Between the ends, so that equal constant arms tie, and MaRaB with alpha <= 1/T is MIN.
    arm.cvar = min(max((arm.tail_sum + arm.tail_lost) / tail_n, arm.min), low[0])


@jit()
def split_cvar(arm, alpha):
    """CVaR of the empirical law: the lowest share alpha exactly, its last reward taken in part."""
    share = alpha * arm.n
    value = (arm.tail_n * arm.cvar - (arm.tail_n - share) * arm.tail_max) / share
    return min(max(value, arm.min), arm.cvar)


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
def make_room(array, n, place):
    """Move array[place:n] one up. Unsigned counters let the compiler make one memmove of it."""
    j, end = np.uint64(n), np.uint64(place)
    while j > end:
        array[j] = array[j - np.uint64(1)]
        j -= np.uint64(1)


@jit()
def insert_reward(part, values, counts, heap, x):
    """Take one more reward into the runs, or into the heap where it lies above all runs."""
    n_runs = int(part[RUNS])
    if n_runs == 0 or x > values[n_runs - 1]:
        _push(heap, int(part[WAITING]), x, -1.0)
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
        _pop_top(heap, int(part[WAITING]), -1.0)
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
        _push(heap, int(part[WAITING]), values[int(part[RUNS])], -1.0)
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
    rank from pull to pull, so its sum is mended, not made anew.
    """
    at = int(boundary[0])
    if (
        0 < at < n_ranked and x < values[at]
    ):  # x is among the `at` lowest, and pushed the highest of them out
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


# --- solvers of policies ------------------------------------------------------------------


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
def keep_to_choice(arms, state, memory):
    """Play for good the arm that the choice at the step before fell on; memory[0] was 1 there."""
    if memory[0] == 1.0:
        memory[0] = 2.0 + state[0].last_arm
    for i in range(arms.size):
        arms[i].index = 1.0 if i == memory[0] - 2.0 else 0.0


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
    _INDEX_FUNCTION,
    _F1,  # params of the policy
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
    _F1,  # law parameters
    _U2,  # keys[problem, 2]
    _F2,  # means[problem, arm]
    types.int64,  # horizon
    types.int64,  # runs of each problem
    types.int64,  # first of the (problem, run) pairs to do
    types.int64,  # and the one after the last
    _I1,  # checkpoints, increasing
    _F2,  # theoretical[pair - begin, checkpoint]
    _F2,  # empirical
    _PULLS,  # pulls[pair - begin, arm]
    _F2,  # rewards[pair - begin, step], or no step
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
        state[0].rng = (high_word << _SHIFT) | low_word
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
def simulate():
    """The compiled loop, with its signature fixed: a new policy is an argument, not a new build."""
    return jit(_SIMULATE)(_simulate)
