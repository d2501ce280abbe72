"""A policy from a user's own index function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, MISSING, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import _validate
from .base import Policy, level, parameter, whole
from .own import check_arguments


def _function(policy: Policy, name: str, value: Any) -> Callable:
    if not hasattr(value, "py_func"):
        raise TypeError(f"{name} must be decorated by marab_lib.policies.index, got {value!r}")
    check_arguments(value)
    return value


def _params(policy: Policy, name: str, value: object) -> tuple[float, ...]:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be numbers, got {value!r}")
    return tuple(_validate.finite_array(name, value).ravel().tolist())


def _truth(policy: Policy, name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


@dataclass(frozen=True)
class Custom(Policy):
    """A policy from a user's own index function, as fast as the built-in ones.

    Parameters
    ----------
    function : callable
        Decorated by `index`; see the module's text for its arguments.
    params : sequence of float
        Handed to it as a float64 array.
    alpha : float, str or Fraction, optional
        Level of the lower tails to keep for it (fields ``cvar``, ``tail_n``, ...).
    memory : int
        How many numbers of memory it needs. Default 0.
    keeps_history : bool
        Whether it reads ``history``.

    Notes
    -----
    `simulate` first tries the function out with the bounds of all arrays checked, for the first
    ten thousand pulls or so; in the runs themselves bounds are not checked. Without `alpha` it may
    not ask for the fields of the lower tails. An index is NaN until it is written, and one that is
    NaN for all arms ends the run with a ValueError that names the function and the pull.
    """

    ranks_unpulled = True

    function: Callable = parameter(_function, MISSING)
    params: tuple[float, ...] = parameter(_params, ())
    _: KW_ONLY
    alpha: float | str | Fraction | None = level(None)
    memory: int = whole(0, 0, 2**60)
    keeps_history: bool = parameter(_truth, False)

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.function.__name__

    @property
    def name(self) -> str:
        values = ", ".join(f"{p:g}" for p in self.params)
        return self.label or (f"{self.title}({values})" if values else self.title)

    def described(self) -> dict[str, float | str]:
        return {name: x for name, x in super().described().items() if name in ("params", "alpha")}

    @property
    def index_function(self) -> Callable:
        return self.function

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return self.params

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return self.memory
