"""A user's index function: what it refers to, and a copy that is tried out with checks.

Such a function is compiled without checks of bounds, like all others. So before its first run
`simulate` plays a few steps with the copy that `with_checks` makes.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

from ..kernels.records import ARM, INDEX_SIGNATURE, STATE

_ARGUMENTS = "t, arms, state, params, memory, history"
_TAIL_FIELDS = ("cvar", "tail_n", "tail_max", "inv_sqrt_tail_n", "tail_t")
_ARM_FIELDS: Any = ARM.names  # a record has some
_STATE_FIELDS: Any = STATE.names[: STATE.names.index("rng")]  # type: ignore[union-attr, index]


def from_outside(function: object) -> bool:
    """Whether a compiled function is a user's, not one of this package."""
    if not isinstance(function, Dispatcher):
        return False
    module = function.py_func.__module__ or ""
    return module.partition(".")[0] != __name__.partition(".")[0]


def check_arguments(function: Any) -> None:
    """Raise TypeError if a compiled index function does not take the six arguments."""
    signature = inspect.signature(function.py_func)
    try:
        signature.bind(*_ARGUMENTS.split(", "))
    except TypeError:
        raise TypeError(
            f"function {function.__name__} must take the six arguments ({_ARGUMENTS}), got "
            f"{signature}"
        ) from None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of all functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _referred(function: FunctionType) -> Iterator[tuple[str, object]]:
    """What a function refers to, by name: globals, compiled functions of modules, cells."""
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, ModuleType):
            for inner in names:
                if isinstance(getattr(value, inner, None), Dispatcher):
                    yield f"{name}.{inner}", getattr(value, inner)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def content(value: object, seen: set | None = None) -> object:
    """What decides the results of a compiled function, in a form whose text tells it.

    A pickle would not do: of a function in a module that can be imported it holds the name alone.
    """
    seen = set() if seen is None else seen
    if isinstance(value, Dispatcher):
        if value in seen or not from_outside(value):  # the package has a digest of its own
            return value.py_func.__module__, value.py_func.__qualname__
        seen.add(value)
        function = value.py_func
        referred = [(name, content(given, seen)) for name, given in _referred(function)]
        return content(function.__code__, seen), repr(function.__defaults__), referred
    if isinstance(value, CodeType):
        constants = [content(constant, seen) for constant in value.co_consts]
        return value.co_code, value.co_names, value.co_varnames, constants
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return [content(item, seen) for item in value]
    if callable(value) or isinstance(value, ModuleType):
        return getattr(value, "__module__", None), getattr(value, "__name__", None)
    return repr(value)


def _bounded(function: Any, done: dict) -> Any:
    """A copy of a compiled function, and of the user's own that it calls, with bounds checked."""
    if not from_outside(function):
        return function
    if function not in done:
        done[function] = function  # one that calls itself calls the original
        given = function.py_func
        scope = dict(given.__globals__)
        scope.update(
            (name, _bounded(value, done)) for name, value in _referred(given) if name in scope
        )
        cells = [CellType(_bounded(cell.cell_contents, done)) for cell in given.__closure__ or ()]
        copy = FunctionType(
            given.__code__, scope, given.__name__, given.__defaults__, tuple(cells) or None
        )
        done[function] = numba.jit(**(function.targetoptions | {"boundscheck": True}))(copy)
    return done[function]


def _without(record: Any, fields: tuple[str, ...]) -> Any:
    """A record of which some fields are not seen; the others stay at their places."""
    names = [name for name in record.names if name not in fields]
    formats, offsets = zip(*(record.fields[name] for name in names), strict=True)
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "itemsize": record.itemsize}
    )


def _words(function: Any, seen: set) -> Iterator[str]:
    """Names and constants of a compiled function, and of all that it calls."""
    seen.add(function)
    for code in _codes(function.py_func.__code__):
        yield from map(repr, (*code.co_names, *code.co_consts))
    for _, value in _referred(function.py_func):
        if not isinstance(value, Dispatcher):
            yield repr(value)
        elif value not in seen:
            yield from _words(value, seen)


@functools.lru_cache(maxsize=64)
def with_checks(function: Any, tails: bool) -> Dispatcher:
    """An index function that does the same as a user's one, and raises IndexError beyond an array.

    Parameters
    ----------
    function : compiled index function
    tails : bool
        Whether the loop keeps the lower tails for it; without them it may not ask for their fields.

    Raises
    ------
    ValueError
        If it asks for a field that is not there, or returns something.
    """
    name, unseen = function.__name__, () if tails else _TAIL_FIELDS
    bounded, full = _bounded(function, {}), INDEX_SIGNATURE.args
    try:
        if any(field in word for word in _words(function, set()) for field in unseen):
            seen = (_without(record, unseen) for record in (ARM, STATE))
            arms, state = (types.Array(numba.from_dtype(record), 1, "C") for record in seen)
            _bounded(function, {}).compile((full[0], arms, state, *full[3:]))
        bounded.compile(full)
    except (KeyError, TypingError) as error:  # of a.field and of a["field"]
        field = re.search(r"^'(\w+)'$|Field '(\w+)' was not found in record", str(error))
        if field is None:
            raise
        alpha = "" if tails else f"; with alpha= there are {', '.join(_TAIL_FIELDS)} too"
        raise ValueError(
            f"function {name} asks for the field {field[1] or field[2]!r}, but an arm has "
            f"{', '.join(name for name in _ARM_FIELDS if name not in unseen)} and state[0] has "
            f"{', '.join(name for name in _STATE_FIELDS if name not in unseen)}{alpha}"
        ) from None
    returned = bounded.overloads[full].signature.return_type
    if returned != types.none:
        raise ValueError(
            f"function {name} must return nothing but write arms[i].index, got a return value of "
            f"type {returned}"
        )
    return bounded
