"""Checks of arguments: each error names the argument, its value and what is allowed."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import psutil
from numpy.typing import ArrayLike

_LONGEST = 200  # characters of a value that a message shows


def shown(value: object) -> str:
    """A value as a message shows it: its repr, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        bits = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"{type(value).__name__}{bits}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def plain(x: float) -> str:
    """A number in few digits, or in all of them where few would say another number."""
    text = f"{x:g}"
    return text if float(text) == x else repr(float(x))


def float_or_array(x: ArrayLike) -> np.ndarray | float:
    """A float for one number, an array for many."""
    array = np.asarray(x, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def _is_masked(value: object) -> bool:
    """Whether a value of NumPy's masked arrays is missing, in lists too."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.is_masked(value))
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(_is_masked, value.flat))
    return isinstance(value, (list, tuple)) and any(map(_is_masked, value))


def _kind(value: object) -> str:
    """The letter of NumPy's type of a single value; "many" for a list, "none" for a masked one."""
    try:
        if _is_masked(value):
            return "none"
        given = np.asarray(value)
    except (TypeError, ValueError, RecursionError):
        return "many"
    return "many" if given.ndim else given.dtype.kind


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """A whole number in [low, high]; a float such as 40.0 is refused, as NumPy does."""
    allowed = f"a whole number >= {low}" if high is None else f"a whole number in [{low}, {high}]"
    kind = _kind(value)
    try:
        if kind in ("many", "none"):
            raise TypeError
        number = operator.index(value)
        float(number)  # what no float holds, no result can be computed from
    except TypeError:
        raise TypeError(f"{name} must be {allowed}, got {shown(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be {allowed} and below 1e308, got {shown(value)}") from None
    if kind == "b" or number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    return number


def number(
    name: str,
    value: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A finite number between low and high, the ends included unless said otherwise."""
    left = "(" if open_low or low == -np.inf else "["
    right = ")" if open_high or high == np.inf else "]"
    allowed = f"a number in {left}{plain(low)}, {plain(high)}{right}"
    kind = _kind(value)
    try:
        if kind not in {"i", "u", "f", "O", "b", "U"}:
            raise TypeError
        x = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {allowed}, got {shown(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}") from None
    below = x <= low if open_low else x < low
    above = x >= high if open_high else x > high
    if kind in {"b", "U"} or not np.isfinite(x) or below or above:
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    return x


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """One of a few names."""
    names = tuple(allowed)
    if not isinstance(value, str) or value not in names:
        listed = ", ".join(map(repr, names))
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}")
    return value


def several(name: str, given: Any, kind: type, wanted: str) -> list:
    """One object of a class or a sequence of them as a list of at least one."""
    wanted = f"{name} must be {wanted}"
    if isinstance(given, kind):
        return [given]
    try:
        listed = [given] if isinstance(given, type) else list(given)
    except TypeError:
        raise TypeError(f"{wanted}, got {shown(given)}") from None
    for item in listed:
        if isinstance(item, type) and issubclass(item, kind):
            called = item.__name__
            raise TypeError(f"{wanted}, got the class {called}: did you mean {called}()?")
        if not isinstance(item, kind):
            raise TypeError(f"{wanted}, got {shown(item)}")
    if not listed:
        raise ValueError(f"{name} must hold at least one, got an empty list")
    return listed


def distinct(name: str, names: list[str]) -> None:
    """Raise ValueError if a name comes twice."""
    for text in names:
        if names.count(text) > 1:
            raise ValueError(f"{name} must have distinct names, got {text!r} more than once")


def finite_array(name: str, value: object) -> np.ndarray:
    """A new float64 array without NaN or infinity."""
    array = np.array(numbers(name, value))
    if not np.all(np.isfinite(array)):
        worst = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name} must be finite numbers, got {worst}")
    return array


def numbers(name: str, value: object) -> np.ndarray:
    """An array of float64 numbers, infinite ones too.

    No texts, truth values, complex numbers or masked values.
    """
    try:
        masked = _is_masked(value)
        given = np.asarray(None if masked else value)
    except TypeError:
        raise TypeError(f"{name} must be numbers, got {shown(value)}") from None
    except (ValueError, RecursionError):
        raise ValueError(
            f"{name} must be numbers in rows of one length, got {shown(value)}"
        ) from None
    if masked:
        raise ValueError(f"{name} must have no masked values, got {shown(value)}")
    kinds = {_kind(x) for x in given.flat} if given.dtype == object else {given.dtype.kind}
    if not kinds <= set("iufO"):
        raise TypeError(f"{name} must be numbers, got {shown(value)}")
    try:
        with np.errstate(over="ignore"):  # of longer floats; what is infinite then is seen later
            return given.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(f"{name} must be finite numbers, got {shown(value)}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {shown(value)}") from None


def broadcast(**arrays: np.ndarray) -> list[np.ndarray]:
    """The named arrays in one shape."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        names, shapes = " and ".join(arrays), " and ".join(str(a.shape) for a in arrays.values())
        raise ValueError(f"{names} must have shapes that fit together, got {shapes}") from None


def every(
    condition: np.ndarray, message: str, *values: np.ndarray, axes: tuple[str, ...] = ()
) -> None:
    """Raise ValueError with the values at the first place where the condition fails.

    `axes` says what the last axes count, such as ("arm",), for the place that the message ends in.
    """
    if np.all(condition):
        return
    shape = np.shape(condition)
    at = tuple(np.argwhere(~np.asarray(condition))[0].tolist())
    shown_values = [np.broadcast_to(v, shape)[at] for v in values]
    raise ValueError(message.format(*shown_values) + _place(at, axes))


def _place(at: tuple[int, ...], axes: tuple[str, ...]) -> str:
    if not at:
        return ""
    if len(at) > len(axes):
        return f" (at index {at[0] if len(at) == 1 else at})"
    named = zip(axes[-len(at) :], at, strict=True)
    return f" ({', '.join(f'{axis} {i}' for axis, i in named)})"


def fits_in_memory(what: str, size: float, advice: str) -> None:
    """Raise MemoryError if that many bytes are more than are free."""
    free = psutil.virtual_memory().available
    if size > free:
        needed = min(size, 2**80) / 2**30  # more than that is as much as anyone can picture
        raise MemoryError(
            f"{what} would take about {needed:,.1f} GiB, but {free / 2**30:,.1f} GiB are "
            f"free: {advice}"
        )


def columns(value: Any) -> Any:
    """A table of pandas with its columns along the first axis; anything else as it is.

    A row of an array is one arm or one sample, but in a table it is the column that is.
    """
    is_table = hasattr(value, "columns") and hasattr(value, "to_numpy")
    return value.to_numpy().T if is_table else value
