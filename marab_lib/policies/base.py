"""What all policies share: the class `Policy` with its options, and the compiler of indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

from .. import _validate, risk
from ..kernels.loop import ASCENDING, DESCENDING, HIGHEST, LOWEST, NO_FIRST_PULLS, RANDOM, SHUFFLED
from .own import content, from_outside

if TYPE_CHECKING:
    from ..problems import Problem


__all__ = [
    "Policy",
    "index",
]

_TIMES = {"next": 0, "done": 1}
_FIRST_PULLS = {
    "ascending": ASCENDING,
    "descending": DESCENDING,
    "random": SHUFFLED,
    "none": NO_FIRST_PULLS,
}
_LARGEST = 1e100  # of a weight or an end of the support: indices are finite floats
_LEAST_LEVEL = 1e-9  # of a CVaR that is divided by its level; less is the smallest of 1e9 rewards
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


def _number(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, **ends: bool
) -> float:
    """A number of a size with which every index is a finite float."""
    x = _validate.number(name, value, low, high, **ends)
    if abs(x) > _LARGEST:
        allowed = f"a number in [{-_LARGEST:g}, {_LARGEST:g}]"
        raise ValueError(f"{name} must be {allowed}, got {_validate.shown(value)}")
    return x


def _shown(value: object) -> float | str:
    """A parameter as the coordinates of a result hold it."""
    if value is None:
        return math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    return ", ".join(map(_validate.plain, value)) if isinstance(value, tuple) else str(value)


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

    time: str = field(default="next", kw_only=True)
    first_pulls: str = field(default="ascending", kw_only=True)
    ties: str = field(default="lowest", kw_only=True)
    rounds: int = field(default=1, kw_only=True)
    label: str | None = field(default=None, kw_only=True)

    title = ""  # name in figures and results, without parameters
    support = None  # interval that every reward must lie in, if the policy needs one
    alpha = None  # level of the lower tails that the loop keeps, if the policy needs them
    share = "ceil"  # how alpha n is made whole
    keeps_tails = True  # whether the loop keeps them, if alpha is set
    keeps_history = False
    ranks_unpulled = False  # whether the index has a value before an arm's first pull
    index_function = None

    def __post_init__(self) -> None:
        _validate.choice("time", self.time, _TIMES)
        _validate.choice("first_pulls", self.first_pulls, _FIRST_PULLS)
        _validate.choice("ties", self.ties, _TIES)
        _validate.whole("rounds", self.rounds, 1, 2**31 - 1)
        if self.label is not None and not isinstance(self.label, str):
            raise TypeError(f"label must be a string or None, got {_validate.shown(self.label)}")
        if self.first_pulls == "none" and not self.ranks_unpulled:
            raise ValueError(
                f"first_pulls must not be 'none' for {self.title}, whose index has no value before "
                "an arm's first pull"
            )
        self._check()

    def _check(self) -> None:
        """Validate the policy's own parameters, by the methods below."""

    def _check_number(
        self, name: str, low: float = 0, high: float = math.inf, **ends: bool
    ) -> None:
        """A number in [low, high], which becomes a float; None stays where it is the default."""
        value = getattr(self, name)
        if value is not None or getattr(type(self), name) is not None:
            object.__setattr__(self, name, _number(name, value, low, high, **ends))

    def _check_level(self, least: float = 0) -> None:
        """The level alpha; `least` is that of policies that divide by it."""
        if risk.exact_level(self.alpha) < least:
            raise ValueError(
                f"alpha must be a number in [{least:g}, 1) for {self.title}, got "
                f"{_validate.shown(self.alpha)}"
            )

    def _check_support(self) -> None:
        """The pair (low, high) of the support, which becomes a tuple."""
        pair = self.support.tolist() if isinstance(self.support, np.ndarray) else self.support
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                f"support must be a pair (low, high), got {_validate.shown(self.support)}"
            )
        low = _number("support", pair[0])
        _number("support", pair[1], low, open_low=True)
        object.__setattr__(self, "support", tuple(pair))

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
        """What the index function gets as `params`."""
        return ()

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
        function = self.index_function
        own = content(function) if from_outside(function) else None
        kept = (self.keeps_history, self.keeps_tails)
        options = self.kernel_options()
        return type(self).__name__, self.title, self.alpha, self.share, options, kept, own

    def kernel_options(self) -> tuple[int, int, int, int]:
        """The shared options as the compiled loop takes them."""
        return _TIMES[self.time], _FIRST_PULLS[self.first_pulls], self.rounds, _TIES[self.ties]
