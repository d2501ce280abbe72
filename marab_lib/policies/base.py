"""What all policies share: the class `Policy` with its options, and the compiler of indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, fields
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

from .. import _validate, risk
from ..kernels.loop import ASCENDING, DESCENDING, HIGHEST, LOWEST, NO_FIRST_PULLS, RANDOM, SHUFFLED
from .own import content

if TYPE_CHECKING:
    from ..problems import Problem

_FIRST_PULLS = {
    "ascending": ASCENDING,
    "descending": DESCENDING,
    "random": SHUFFLED,
    "none": NO_FIRST_PULLS,
}
_LARGEST = 1e100  # of a weight or an end of the support: indices are finite floats
LEAST_LEVEL = 1e-9  # of a CVaR that is divided by its level; less is the smallest of 1e9 rewards
_TIMES = {"next": 0, "done": 1}
_TIES = {"lowest": LOWEST, "highest": HIGHEST, "random": RANDOM}


def index(function: Callable) -> Callable:
    """Compile an index function for use in `Custom`; see the module's text for its arguments.

    Examples
    --------
    >>> from marab_lib import policies
    >>> @policies.index
    ... def follow_the_leader(t, arms, state, params, memory, history):
    ...     for a in arms:
    ...         a.index = a.mean
    >>> policies.Custom(follow_the_leader).name
    'follow_the_leader'
    """
    if isinstance(function, Dispatcher):
        function = function.py_func
    if not isinstance(function, FunctionType):
        raise TypeError(f"function must be a Python function, got {_validate.shown(function)}")
    return numba.njit(nogil=True, error_model="numpy")(function)


# --- parameters are declared with what they may be --------------------------------------------


def parameter(check: Callable[[Policy, str, object], object], default: object) -> Any:
    """A field of a policy; `check` gets the policy, the name and the value, and returns the value.

    A default of None is a value too. What stands below KW_ONLY is given by keyword.
    """

    def checked(policy: Policy, name: str, value: object) -> object:
        return None if value is None and default is None else check(policy, name, value)

    return field(default=default, metadata={"check": checked})


def finite(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, **ends: bool
) -> float:
    """A number of a size with which every index is a finite float."""
    x = _validate.number(name, value, low, high, **ends)
    if abs(x) > _LARGEST:
        allowed = f"a number in [{-_LARGEST:g}, {_LARGEST:g}]"
        raise ValueError(f"{name} must be {allowed}, got {_validate.shown(value)}")
    return x


def number(
    default: float | None,
    low: float = 0,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """A number between low and high, kept as a float."""
    ends = {"open_low": open_low, "open_high": open_high}
    check = lambda policy, name, value: finite(name, value, low, high, **ends)  # noqa: E731
    return parameter(check, default)


def whole(default: int | None, low: int, high: int | None = None) -> int:
    """A whole number in [low, high]."""
    check = lambda policy, name, value: _validate.whole(name, value, low, high)  # noqa: E731
    return parameter(check, default)


def choice(*allowed: str, default: str | None = None) -> str:
    """One of a few words, by default the first."""
    check = lambda policy, name, value: _validate.choice(name, value, allowed)  # noqa: E731
    return parameter(check, default or allowed[0])


def level(default: object = 0.2, least: float = 0) -> Any:
    """A level in (0, 1), kept as it is given; `least` is that of policies that divide by it."""

    def check(policy: Policy, name: str, value: Any) -> object:
        if risk.exact_level(value, name) < least:
            raise ValueError(
                f"{name} must be a number in [{least:g}, 1) for {policy.title}, got "
                f"{_validate.shown(value)}"
            )
        return value

    return parameter(check, default)


def interval() -> tuple[float, float]:
    """The pair (low, high) of the rewards' support, by default (0, 1)."""

    def check(policy: Policy, name: str, value: object) -> tuple[float, float]:
        pair = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"{name} must be a pair (low, high), got {_validate.shown(value)}")
        finite(name, pair[1], finite(name, pair[0]), open_low=True)
        return tuple(pair)

    return parameter(check, (0.0, 1.0))


def _label(policy: Policy, name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string or None, got {_validate.shown(value)}")
    return value


def first_pulls(default: str = "ascending") -> str:
    """The order of the first pulls; "none" by default for policies that start without them."""
    return choice(*_FIRST_PULLS, default=default)


def _shown(value: object) -> float | str:
    """A parameter as the coordinates of a result hold it."""
    if value is None:
        return math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    return ", ".join(map(_validate.plain, value)) if isinstance(value, tuple) else str(value)


_NONE: Any = None  # what a policy may put its own in the place of, of any type


@dataclass(frozen=True)
class Policy:
    """What all policies share: the options that the paper leaves open.

    Parameters
    ----------
    time : {"next", "done"}
        Whether t in the formulas is the number of the pull to come (1-based, default) or the
        number of pulls done.
    first_pulls : {"ascending", "descending", "random", "none"}
        Order in which each arm is pulled once before the index decides. "none" is for policies
        that can rank an arm never pulled.
    ties : {"lowest", "highest", "random"}
        Which of the arms with the largest index is played.
    rounds : int
        How often each arm is pulled, round after round, before the index decides. Default 1.
    label : str, optional
        Name in results. Default the title and the parameters.
    """

    _: KW_ONLY
    time: str = choice(*_TIMES)
    first_pulls: str = first_pulls()
    ties: str = choice(*_TIES)
    rounds: int = whole(1, 1, 2**31 - 1)
    label: str | None = parameter(_label, None)

    title = ""  # name in figures and results, without parameters
    support = _NONE  # interval that every reward must lie in, if the policy needs one
    alpha = _NONE  # level of the lower tails that the loop keeps, if the policy needs them
    share = "ceil"  # how alpha n is made whole
    keeps_tails = True  # whether the loop keeps them, if alpha is set
    keeps_history = False
    ranks_unpulled = False  # whether the index has a value before an arm's first pull
    index_function = _NONE

    def __post_init__(self) -> None:
        for f in fields(self):
            if "check" in f.metadata:
                value = f.metadata["check"](self, f.name, getattr(self, f.name))
                object.__setattr__(self, f.name, value)
        if self.first_pulls == "none" and not self.ranks_unpulled:
            raise ValueError(
                f"first_pulls must not be 'none' for {self.title}, whose index has no value before "
                "an arm's first pull"
            )

    def check_problem(self, problem: Problem) -> None:
        """Raise ValueError if the policy cannot play this problem."""
        if self.support is None:
            return
        low, high = self.support
        plain = _validate.plain
        least, most = problem.essential_infima.min(), problem.essential_suprema.max()
        if least < low or most > high:
            raise ValueError(
                f"problems: {self.name} needs rewards in [{plain(low)}, {plain(high)}], but those "
                f"of {problem.name!r} lie in [{plain(least)}, {plain(most)}]"
            )

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        """What the index function gets as `params`: by default what is given without a keyword."""
        return tuple(getattr(self, f.name) for f in fields(self) if not f.kw_only)

    def tail_sizes(self, horizon: int) -> np.ndarray:
        """Rewards in the lower tail of n = 0, ..., horizon that the loop keeps; empty for none."""
        if self.alpha is None or not self.keeps_tails:
            return np.empty(0, dtype=np.int64)
        return risk.tail_sizes(self.alpha, horizon, self.share)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        """How many numbers of memory the index function gets."""
        return 0

    @property
    def name(self) -> str:
        """The label, or the title with the parameters and with the options not at their default."""
        if self.label:
            return self.label
        shown = []
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None or (f.kw_only and value == f.default):
                continue
            text = f"{value:g}" if isinstance(value, (int, float)) else str(value)
            shown.append(f"{f.name}={text}")
        return f"{self.title}({', '.join(shown)})" if shown else self.title

    @property
    def short(self) -> str:
        """What a legend calls the policy: its label, or else its title."""
        return self.label or self.title

    def described(self) -> dict[str, float | str]:
        """The policy's own parameters as results show them: numbers, NaN for None, or texts."""
        shared = {f.name for f in fields(Policy)}
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in shared}
        if own.get("alpha") is not None:
            own["alpha"] = risk.exact_level(self.alpha)
        return {name: _shown(value) for name, value in own.items()}

    def identity(self) -> object:
        """What decides the policy's choices, besides its parameters and memory for a horizon.

        A user's index function is part of it, with all that it refers to: an edit is noticed.
        """
        kept = (self.keeps_history, self.keeps_tails)
        tails = (self.alpha, self.share)
        function = content(self.index_function)
        return type(self).__name__, self.title, tails, self.kernel_options(), kept, function

    def kernel_options(self) -> tuple[int, int, int, int]:
        """The shared options as the compiled loop takes them."""
        return _TIMES[self.time], _FIRST_PULLS[self.first_pulls], self.rounds, _TIES[self.ties]
