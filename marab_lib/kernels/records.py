"""What an index function sees: an arm, the state of the run, and the types of its arguments."""

from __future__ import annotations

import numba
import numpy as np
from numba import types

# What most indices read comes first, so that it lies together: with many arms the cache counts.
ARM = np.dtype(
    [
        ("n", "i8"),  # number of pulls
        ("mean", "f8"),  # mean reward
        ("index", "f8"),  # written by the policy; the arm with the largest index is played
        ("inv_sqrt_n", "f8"),  # 1 / sqrt(n)
        ("var", "f8"),  # population variance (divisor n)
        ("min", "f8"),  # smallest reward, +inf before the first pull
        ("max", "f8"),  # largest reward, -inf before the first pull
        ("last", "f8"),  # latest reward
        ("cvar", "f8"),  # mean of the lower tail
        ("inv_sqrt_tail_n", "f8"),  # 1 / sqrt(tail_n)
        ("tail_n", "i8"),  # number of rewards in the lower tail, ceil(alpha n)
        ("tail_max", "f8"),  # largest reward of the lower tail: the empirical quantile
    ],
    align=True,
)
SUMS = np.dtype(  # what the loop keeps of an arm besides
    [
        ("sum", "f8"),
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
        ("one_changed", "b1"),  # written by the policy: no index but that of last_arm has changed
        ("final", "b1"),  # written by the policy: the arm chosen now is played to the end
    ],
    align=True,
)

F1 = types.Array(types.float64, 1, "C")
F2 = types.Array(types.float64, 2, "C")
INDEX_SIGNATURE = types.void(
    types.int64,  # t
    types.Array(numba.from_dtype(ARM), 1, "C"),  # arms
    types.Array(numba.from_dtype(STATE), 1, "C"),  # state, one record
    F1,  # params
    F1,  # memory
    F2,  # history
)
INDEX_FUNCTION = types.FunctionType(INDEX_SIGNATURE)
