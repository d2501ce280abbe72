"""What the claims are judged by: how large it is, and what was made of it so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from .. import _validate, problems
from ..policies import Policy
from ..problems import Problem

__all__ = [
    "INTERPRETATIONS",
    "Evidence",
    "Interpretation",
]

_Made = TypeVar("_Made")

HORIZONS = (2000, 4000)


@dataclass(frozen=True)
class Interpretation:
    """One way to read what the paper leaves open.

    Parameters
    ----------
    name : str
    options : mapping
        Options that all policies share, such as ``time`` or ``ties``.
    generator : mapping
        Options of `problems.artificial`.
    mv_lcb : {"optimistic", "pessimistic", "printed"}
        Interpretation of MV-LCB.
    sections : tuple of str
        The sections whose numbers it can change.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    generator: Mapping[str, Any] = field(default_factory=dict)
    mv_lcb: str = "optimistic"
    sections: tuple[str, ...] = ("2", "3", "4", "5")

    def apply(self, listed: Sequence[Policy]) -> list[Policy]:
        """The policies under this interpretation, with the names that they had."""
        return [replace(p, label=p.name, **self.options) for p in listed]


_MV_LCB, _GENERATOR = ("5.2", "5.3"), ("5.2",)
INTERPRETATIONS = (
    Interpretation("as decided"),
    Interpretation("MV-LCB pessimistic", mv_lcb="pessimistic", sections=_MV_LCB),
    Interpretation("MV-LCB as printed", mv_lcb="printed", sections=_MV_LCB),
    Interpretation("t = pulls done", options={"time": "done"}, sections=("3", "4", "5")),
    Interpretation("ties at random", options={"ties": "random"}, sections=("3", "4", "5")),
    Interpretation("equal weights", generator={"weights": "equal"}, sections=_GENERATOR),
    Interpretation("sigma a variance", generator={"spread_is": "variance"}, sections=_GENERATOR),
    Interpretation(
        "four equal Gaussians",
        generator={"weights": "equal", "n_gaussians": 4},
        sections=_GENERATOR,
    ),
)


class Evidence:
    """The size of all simulations that the claims are judged by, and what was made of them.

    A section has a function for each; `once` calls it.

    Parameters
    ----------
    interpretation : Interpretation
        Default: as decided.
    n_problems : int
        Problems of section 5.2, >= 20; of its second part at most 200. Default 1,000. Section 5.1
        has twice as many runs, at least 200.
    runs : int
        Runs of each problem of section 5.2, >= 10, and the measure of those of all other sections.
    seed : int
        >= 0.
    threads : int, optional
        See `simulate`.
    """

    def __init__(
        self,
        interpretation: Interpretation = INTERPRETATIONS[0],
        n_problems: int = 1000,
        runs: int = 10,
        seed: int = 2013,
        threads: int | None = None,
    ) -> None:
        self.interpretation = interpretation
        self.horizons = HORIZONS
        self.n_problems = _validate.whole("n_problems", n_problems, 20)
        self.runs = _validate.whole("runs", runs, 10)
        self.seed = _validate.whole("seed", seed, 0)
        self.threads = threads
        self.made: dict[Callable, Any] = {}

    def once(self, make: Callable[[Evidence], _Made]) -> _Made:
        """What a function makes of this evidence: made when it is first asked for, then kept."""
        if make not in self.made:
            self.made[make] = make(self)
        return self.made[make]

    @cached_property
    def problems(self) -> list[Problem]:
        """Random problems of section 5.2."""
        return problems.artificial(self.n_problems, self.seed, **self.interpretation.generator)
