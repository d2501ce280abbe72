"""Random numbers in compiled code: the counter-based tape of rewards, and a policy's own stream.

Uniform, normal, gamma, beta, exponential and binomial numbers; each function says its source.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import jit

_WORD = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_TWO_52 = 2.0**-52
_LEAST_NORMAL = 2.0**-1022  # smallest float of full precision


# Both are written into the loop that calls them: only then is it done in vector instructions.
@jit(inline="always")
def philox(key0, key1, c0, c1, c2, c3):
    """Philox4x32-10 of Salmon et al. (2011): four 32-bit words for a 64-bit key and a counter."""
    key0 = np.uint64(key0)
    key1 = np.uint64(key1)
    x0, x1, x2, x3 = np.uint64(c0), np.uint64(c1), np.uint64(c2), np.uint64(c3)
    for _ in range(10):
        # The masks change nothing, but tell the compiler that vectors of 32 bits will do.
        product0 = np.uint64(0xD2511F53) * (x0 & _WORD)
        product1 = np.uint64(0xCD9E8D57) * (x2 & _WORD)
        x0 = (product1 >> _SHIFT) ^ x1 ^ key0
        x2 = (product0 >> _SHIFT) ^ x3 ^ key1
        x1 = product1 & _WORD
        x3 = product0 & _WORD
        key0 = (key0 + np.uint64(0x9E3779B9)) & _WORD
        key1 = (key1 + np.uint64(0xBB67AE85)) & _WORD
    return x0, x1, x2, x3


@jit(inline="always")
def philox_words(key0, key1, c0, c1, c2, c3):
    """The four words as two of 64 bits."""
    x0, x1, x2, x3 = philox(key0, key1, c0, c1, c2, c3)
    return (x0 << _SHIFT) | x1, (x2 << _SHIFT) | x3


@jit()
def open_uniform(word):
    """64 random bits as a number strictly between 0 and 1, on a grid of step 2**-52."""
    return (np.float64(np.int64(word >> np.uint64(12))) + 0.5) * _TWO_52


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
    return open_uniform(next_word(state))


# Coefficients of AS 241, highest power first: numerator and denominator in each of three regions.
# fmt: off
_MIDDLE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)
_OUTER = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)
# fmt: on


@jit()
def _polynomial(r, c7, c6, c5, c4, c3, c2, c1, c0):
    return ((((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2) * r + c1) * r + c0


@jit()
def _polynomials(coefficients, r):
    return _polynomial(r, *coefficients[0]), _polynomial(r, *coefficients[1])


@jit()
def normal_quantile(p):
    """Inverse of the standard normal cdf for 0 < p < 1: algorithm AS 241 (Wichura 1988)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        top, bottom = _polynomials(_MIDDLE, 0.180625 - q * q)
        return q * top / bottom
    r = math.sqrt(-math.log(p if q < 0 else 1.0 - p))
    top, bottom = _polynomials(_OUTER, r - 1.6) if r <= 5.0 else _polynomials(_FAR, r - 5.0)
    return top / bottom if q > 0 else -top / bottom


@jit()
def next_normal(state):
    """Next standard normal number of the policy's own stream."""
    return normal_quantile(next_uniform(state))


@jit()
def next_gamma(state, shape):
    """Next gamma number of a given shape and scale 1 (Marsaglia and Tsang 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = next_uniform(state) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    return _scaled_gamma(state, d, 1.0 / math.sqrt(9.0 * d), boost, False)


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


# This and what is made of it are written into the loops that call them: twice as fast.
@jit(inline="always")
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
    return next_gamma_from(state, d, 1.0 / math.sqrt(9.0 * d))


@jit(inline="always")
def next_gamma_from(state, d, c):
    """Next gamma number of shape d + 1/3 >= 1, for a caller that keeps c = 1 / sqrt(9 d)."""
    return _scaled_gamma(state, d, c, 1.0, True)


@jit(inline="always")
def _scaled_gamma(state, d, c, scale, fast):
    """A gamma number of shape d + 1/3 >= 1, from normal numbers of one kind or the other."""
    while True:
        x = next_fast_normal(state) if fast else next_normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u, square = next_uniform(state), x * x
        # The first test accepts nearly always and spares the logarithms of the exact one.
        if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (
            1.0 - v + math.log(v)
        ):
            return scale * d * v


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


@jit(inline="always")  # for the many calls whose n p is small
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
