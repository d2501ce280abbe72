"""A user's index function: what it refers to, and a copy that is tried out with checks.

Such a function is compiled without checks of bounds, like all others. So before its first run
`simulate` plays a few steps with the copy that `with_checks` makes.
"""

from __future__ import annotations

import dis
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

from ..kernels.records import ARM, INDEX_SIGNATURE, STATE

__all__ = [
    "check_arguments",
    "content",
    "from_outside",
    "with_checks",
]

_ARGUMENTS = "t, arms, state, params, memory, history"
_TAIL_FIELDS = ("cvar", "tail_n", "tail_max", "inv_sqrt_tail_n", "tail_t")
_ARM_FIELDS = ARM.names[: ARM.names.index("index") + 1]


def from_outside(function: object) -> bool:
    """Whether a compiled function is a user's, not one of this package."""
    if not isinstance(function, Dispatcher):
        return False
    module = function.py_func.__module__ or ""
    return module.partition(".")[0] != __name__.partition(".")[0]


def check_arguments(function: Callable) -> None:
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


def _tail_fields(function: Dispatcher, seen: set) -> Iterator[str]:
    """Fields of the lower tails that a compiled function reads, or one that it calls."""
    seen.add(function)
    for code in _codes(function.py_func.__code__):
        yield from (constant for constant in code.co_consts if constant in _TAIL_FIELDS)
        before = ""
        for instruction in dis.get_instructions(code):
            # After a global or a cell stands the function of a module, which may have such a name.
            is_field = "ATTR" in instruction.opname and before not in ("LOAD_GLOBAL", "LOAD_DEREF")
            if is_field and instruction.argval in _TAIL_FIELDS:
                yield instruction.argval
            before = instruction.opname
    for _, value in _referred(function.py_func):
        if isinstance(value, Dispatcher) and value not in seen:
            yield from _tail_fields(value, seen)


def _bounded(function: object, done: dict) -> object:
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


@functools.lru_cache(maxsize=64)
def with_checks(function: Dispatcher, tails: bool) -> Dispatcher:
    """An index function that does the same as a user's one, and raises where it goes wrong.

    Parameters
    ----------
    function : compiled index function
    tails : bool
        Whether the loop keeps the lower tails for it.

    Returns
    -------
    compiled index function
        It takes two numbers more in `params`, the pulls that are forced and the pulls to do, and
        one more in `memory`. It ends by StopIteration, or by LookupError if all indices were 0.
        FloatingPointError says that all indices are NaN, IndexError that an array is too short.
        Where the first number is negative all indices are NaN at the start, and -1 - it is forced.
    """
    check_arguments(function)
    name = function.__name__
    used = [] if tails else sorted(set(_tail_fields(function, set())))
    if used:
        raise ValueError(
            f"function {name} uses {', '.join(used)}, which need alpha= (the level of the lower "
            "tails), got none"
        )
    bounded = _bounded(function, {})
    try:
        bounded.compile(INDEX_SIGNATURE.args)
    except KeyError as error:
        raise ValueError(
            f"function {name} asks for the field {error.args[0]!r}, but an arm has "
            f"{', '.join(_ARM_FIELDS)} (cvar, tail_n, tail_max, inv_sqrt_tail_n need alpha=) and "
            f"state[0] has {', '.join(STATE.names[:-1])}"
        ) from None
    returned = bounded.overloads[INDEX_SIGNATURE.args].signature.return_type
    if returned != numba.types.none:
        raise ValueError(
            f"function {name} must return nothing but write arms[i].index, got a return value of "
            f"type {returned}"
        )
    return _watched(bounded)


def _watched(bounded: Dispatcher) -> Dispatcher:
    """The index function of `with_checks` around one whose bounds are checked."""

    def watched(t, arms, state, params, memory, history):
        own = params.size - 2
        forced, end, mark = params[own], params[own + 1], memory.size - 1
        if forced < 0:
            forced = -1 - forced
            if state[0].pulls == 0:
                for a in arms:
                    a.index = math.nan
        bounded(t, arms, state, params[:own], memory[:mark], history)
        if state[0].pulls >= forced:
            n_numbers = 0
            for a in arms:
                n_numbers += a.index == a.index
                if a.index != 0.0:
                    memory[mark] = 1.0
            if n_numbers == 0:
                raise FloatingPointError
        if state[0].pulls + 1 >= end:
            if memory[mark] == 0.0 and state[0].pulls >= forced:
                raise LookupError
            raise StopIteration

    return numba.njit(INDEX_SIGNATURE, nogil=True, error_model="numpy")(watched)
