"""Checks of arguments: each error names the argument, its value and what is allowed."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np


def whole(name: str, value: object, low: int, high: int | None = None) -> int:
    """A whole number in [low, high]; a float such as 40.0 is refused, as NumPy does."""
    allowed = f"a whole number >= {low}" if high is None else f"a whole number in [{low}, {high}]"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be {allowed}, got {value!r}") from None
    if isinstance(value, (bool, np.bool_)) or number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def number(
    name: str,
    value: object,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A finite number between low and high, the ends included unless said otherwise."""
    left = "(" if open_low or low == -np.inf else "["
    right = ")" if open_high or high == np.inf else "]"
    allowed = f"a number in {left}{low:g}, {high:g}{right}"
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {allowed}, got {value!r}") from None
    below = x <= low if open_low else x < low
    above = x >= high if open_high else x > high
    if isinstance(value, (bool, np.bool_, str)) or not np.isfinite(x) or below or above:
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return x


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """One of a few names."""
    names = tuple(allowed)
    if value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}")
    return value


def finite_array(name: str, value: object) -> np.ndarray:
    """A new float64 array without NaN or infinity."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {value!r}") from None
    if not np.all(np.isfinite(array)):
        worst = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name} must be finite numbers, got {worst}")
    return array


def numbers(name: str, value: object) -> np.ndarray:
    """An array of numbers, infinite ones too."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {value!r}") from None


def broadcast(**arrays: np.ndarray) -> list[np.ndarray]:
    """The named arrays in one shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        names, shapes = " and ".join(arrays), " and ".join(str(a.shape) for a in arrays.values())
        raise ValueError(f"{names} must have shapes that fit together, got {shapes}") from None


def every(condition: np.ndarray, message: str, *values: np.ndarray) -> None:
    """Raise ValueError with the values at the first place where the condition fails."""
    if np.all(condition):
        return
    shape = np.shape(condition)
    at = tuple(np.argwhere(~np.asarray(condition))[0])
    shown = [np.broadcast_to(v, shape)[at] for v in values]
    place = f" (arm {at[0] if len(at) == 1 else at})" if at else ""
    raise ValueError(message.format(*shown) + place)
