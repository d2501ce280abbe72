"""Comparisons that do not depend on the last bit of a computed number.

Another processor, or another library for sums and logarithms, gives other last bits: they may
decide no verdict, no order and nothing that is printed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# A sum of some thousand rewards in another order differs by 1e-11 at most; what the statements and
# notebooks tell apart is larger than 1e-6.
TOLERANCE = 1e-9


def order(a: ArrayLike, b: ArrayLike, tolerance: float = TOLERANCE) -> np.ndarray:
    """-1, 0 or 1: a is less than b, equal to it but for rounding, or greater.

    Examples
    --------
    >>> order([0.1 + 0.2, 0.4, -np.inf], 0.3).tolist()
    [0, 1, -1]
    """
    sign = np.greater(a, b).astype(int) - np.less(a, b)
    return np.where(np.isclose(a, b, rtol=tolerance, atol=tolerance), 0, sign)


def first_least(values: ArrayLike, tolerance: float = TOLERANCE) -> np.ndarray:
    """Place, along the first axis, of the least value: the first of those equal but for rounding.

    Examples
    --------
    >>> int(first_least([0.4, 0.1 + 0.2, 0.3]))
    1
    """
    values = np.asarray(values)
    return (order(values, values.min(axis=0), tolerance) == 0).argmax(axis=0)
