"""What the claims are judged by: how large it is, and what was made of it so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from .. import _validate, policies, problems, risk
from ..policies import Policy
from ..problems import Problem

__all__ = [
    "AS_PRINTED",
    "INTERPRETATIONS",
    "NEAREST",
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
        Options of policies by their title, such as ``{"MV-LCB": {"bonus": "pessimistic"}}``;
        those under "" are for all.
    generator : mapping
        Options of `problems.artificial`.
    level_factor : Fraction
        What MaRaB's levels are multiplied by.
    sections : tuple of str
        The sections whose numbers it can change.
    """

    name: str
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    generator: Mapping[str, Any] = field(default_factory=dict)
    level_factor: Fraction = Fraction(1)
    sections: tuple[str, ...] = ("2", "3", "4", "5")

    def options_of(self, title: str) -> dict[str, Any]:
        """The options of the policies of one title."""
        return {**self.options.get("", {}), **self.options.get(title, {})}

    def apply(self, listed: Sequence[Policy]) -> list[Policy]:
        """The policies under this interpretation, with the names that they had.

        Examples
        --------
        >>> (marab,) = NEAREST.apply([policies.MaRaB(0.2)])
        >>> marab.name, float(marab.alpha)
        ('MaRaB(alpha=0.2, C=1e-06)', 0.1)
        """
        found = []
        for policy in listed:
            options = self.options_of(policy.title)
            if isinstance(policy, policies.MaRaB):
                options["alpha"] = risk.exact_level(policy.alpha) * self.level_factor
            found.append(replace(policy, label=policy.name, **options))
        return found


_MV_LCB, _GENERATOR, _POLICIES = ("5.2", "5.3"), ("5.2",), ("3", "4", "5")
AS_PRINTED = Interpretation("as printed")
NEAREST = Interpretation(
    "nearest to print",
    options={
        "UCB": {"constant": "inside"},
        "MaRaB": {"share": "round"},
        "MV-LCB": {"bonus": "pessimistic"},
        "ExpExp": {"exploit": "updated"},
    },
    generator={"weights": "equal", "n_gaussians": 4},
    level_factor=Fraction(1, 2),  # the curve printed for 20 % is near to that of 10 %
    sections=_GENERATOR,
)
INTERPRETATIONS = (
    AS_PRINTED,
    NEAREST,
    Interpretation("MV-LCB pessimistic", {"MV-LCB": {"bonus": "pessimistic"}}, sections=_MV_LCB),
    Interpretation("MV-LCB's maximum", {"MV-LCB": {"bonus": "printed"}}, sections=_MV_LCB),
    Interpretation("t = pulls done", {"": {"time": "done"}}, sections=_POLICIES),
    Interpretation("ties at random", {"": {"ties": "random"}}, sections=_POLICIES),
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
        Default: as printed.
    n_problems : int
        Problems of section 5.2, >= 20; of its second part at most 200. Default 4,000. Section 5.1
        has a quarter as many runs, at least 200.
    runs : int
        Runs of each problem of section 5.2.2, >= 10, and the measure of those of all other
        sections; 5.2.1 has a fifth, since there more problems tell more than more runs of each.
    seed : int
        >= 0.
    threads : int, optional
        See `simulate`.
    """

    def __init__(
        self,
        interpretation: Interpretation = AS_PRINTED,
        n_problems: int = 4000,
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
