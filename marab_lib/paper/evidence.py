"""The runs that the statements need, each made once, under one reading of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate, arms, problems
from ..policies import UCB, ExpExp, Policy
from ..problems import Problem
from ..simulation.chunks import by_chunks
from ..simulation.run import simulate
from . import battery, section_2, section_3, section_4, section_5_1, section_5_2, section_5_3
from .rules import Finding, Findings

if TYPE_CHECKING:
    import xarray


__all__ = [
    "READINGS",
    "Evidence",
    "Reading",
]

HORIZONS = (2000, 4000)
TUNED_C = 0.1  # of UCB, the best on the tuning problems of notebook 07
_CS = (1e-6, 1.0, 1e3)
_ALPHAS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)  # as in notebook 07
_FOUR = ("UCB", "MaRaB", "MV-LCB", "ExpExp")


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open.

    Parameters
    ----------
    name : str
    options : mapping
        Options that all policies share, such as ``time`` or ``ties``.
    generator : mapping
        Options of `problems.artificial`.
    mv_lcb : {"optimistic", "pessimistic", "printed"}
        Reading of MV-LCB.
    sections : tuple of str
        The sections whose numbers it can change.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    generator: Mapping[str, Any] = field(default_factory=dict)
    mv_lcb: str = "optimistic"
    sections: tuple[str, ...] = ("2", "3", "4", "5")

    def apply(self, listed: Sequence[Policy]) -> list[Policy]:
        """The policies under this reading, with the names that they had."""
        return [replace(p, label=p.name, **self.options) for p in listed]


_MV_LCB, _GENERATOR = ("5.2", "5.3"), ("5.2",)
READINGS = (
    Reading("as decided"),
    Reading("MV-LCB pessimistic", mv_lcb="pessimistic", sections=_MV_LCB),
    Reading("MV-LCB as printed", mv_lcb="printed", sections=_MV_LCB),
    Reading("t = pulls done", options={"time": "done"}, sections=("3", "4", "5")),
    Reading("ties at random", options={"ties": "random"}, sections=("3", "4", "5")),
    Reading("equal weights", generator={"weights": "equal"}, sections=_GENERATOR),
    Reading("sigma a variance", generator={"spread_is": "variance"}, sections=_GENERATOR),
    Reading(
        "four equal Gaussians",
        generator={"weights": "equal", "n_gaussians": 4},
        sections=_GENERATOR,
    ),
)


class Evidence:
    """All simulated results that the claims are judged by, made when they are first asked for.

    Parameters
    ----------
    reading : Reading
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
        reading: Reading = READINGS[0],
        n_problems: int = 1000,
        runs: int = 10,
        seed: int = 2013,
        threads: int | None = None,
    ) -> None:
        self.reading = reading
        self.horizons = HORIZONS
        self.n_problems = _validate.whole("n_problems", n_problems, 20)
        self.runs = _validate.whole("runs", runs, 10)
        self.seed = _validate.whole("seed", seed, 0)
        self.threads = threads
        self._made: dict[Callable, list[Finding]] = {}

    def once(self, make: Callable[[Evidence], Iterable[Finding]]) -> list[Finding]:
        """What a function finds in this evidence: made when it is first asked for, then kept."""
        if make not in self._made:
            self._made[make] = list(make(self))
        return self._made[make]

    # --- section 2 ---

    @cached_property
    def bernoulli(self) -> xarray.Dataset:
        """Epsilon-greedy, UCB and KL-UCB on Bernoulli arms at a long horizon."""
        return section_2.bernoulli_study(
            25_600, 10 * self.runs, self.seed, apply=self.reading.apply
        )

    # --- section 3 ---

    @cached_property
    def sample(self) -> np.ndarray:
        """Samples of one arm of section 5.2, for the CVaR estimate."""
        return section_3.repeated_samples(self.arm, 1000, 10_000, self.seed)

    @cached_property
    def arm(self) -> arms.TruncatedGaussianMixture:
        """One arm of section 5.2."""
        arm = problems.artificial(1, self.seed)[0].arms[0]
        assert isinstance(arm, arms.TruncatedGaussianMixture)
        return arm

    # --- section 4 ---

    @cached_property
    def aligned(self) -> list[Problem]:
        """Problems that meet the assumptions of Prop. 4.3."""
        return problems.aligned_uniform(60, self.seed)

    @cached_property
    def aligned_runs(self) -> xarray.Dataset:
        """MIN on them."""
        return section_4.min_runs(
            self.aligned, 4000, 2 * self.runs, self.seed, apply=self.reading.apply
        )

    @cached_property
    def favourable(self) -> list[Problem]:
        """Problems that meet those of Prop. 4.4, inside [0, 1]."""
        return [
            problems.proof_of_concept(delta_max=d, r_max=0.499 - d)
            for d in (0.001, 0.01, 0.1, 0.25)
        ]

    @cached_property
    def favourable_runs(self) -> xarray.Dataset:
        """MIN on them."""
        runs = 10 * self.runs
        return section_4.min_runs(self.favourable, 4000, runs, self.seed, apply=self.reading.apply)

    # --- section 5.1 ---

    @cached_property
    def figure_1(self) -> xarray.Dataset:
        """All policies of figure 1 at the printed setting."""
        options = {"first_pulls": "descending", **self.reading.options}
        chosen = section_5_1.printed_policies(alphas=(0.001, 0.01, 0.1, 0.3), **options)
        listed = [policy for group in chosen.values() for policy in group]
        problem, runs = problems.proof_of_concept(), max(200, 2 * self.n_problems)
        return section_5_1.figure_1(problem, listed, HORIZONS[0], runs, self.seed)

    @cached_property
    def min_pulls(self) -> xarray.Dataset:
        """MIN with every single pull."""
        chosen = self.reading.apply(section_5_1.printed_policies()["MIN"])
        problem = problems.proof_of_concept()
        return simulate(
            problem,
            chosen,
            HORIZONS[0],
            100 * self.runs,
            self.seed,
            record=("arms",),
            checkpoints=1,
        )

    # --- section 5.2 ---

    @cached_property
    def problems(self) -> list[Problem]:
        """Random problems of section 5.2."""
        return problems.artificial(self.n_problems, self.seed, **self.reading.generator)

    @cached_property
    def _regret_runs(self) -> xarray.Dataset:
        """The four policies of figure 2, and UCB at its best C, at both horizons."""
        chosen = section_5_2.figure_2_policies(self.reading.mv_lcb)
        tuned = UCB(TUNED_C, label="UCB tuned")
        size: dict[str, Any] = {"runs": self.runs, "seed": self.seed, "threads": self.threads}
        listed = self.reading.apply([*chosen, tuned])
        return section_5_2.final_regrets(self.problems, listed, HORIZONS, **size)

    @cached_property
    def regrets(self) -> Findings:
        """The statements of section 5.2.1."""
        mv = self.reading.mv_lcb
        extra = section_5_2.extra_policies(_CS, _ALPHAS, [1, 2, 10], mv)
        runs = max(3, self.runs // 3)
        settings = section_5_2.final_regrets(
            self.problems, self.reading.apply(extra), HORIZONS[:1], runs, self.seed, self.threads
        )
        result = self._regret_runs.sel(policy=list(_FOUR))
        return section_5_2.regret_statements(result, self.problems, settings)

    @cached_property
    def tuned_regrets(self) -> Findings:
        """The same with UCB at the C that does best on other problems (notebook 07)."""
        result = self._regret_runs.sel(policy=["UCB tuned", *_FOUR[1:]])
        return section_5_2.regret_statements(
            result.assign_coords(policy=list(_FOUR)), self.problems
        )

    @cached_property
    def reward_runs(self) -> xarray.Dataset:
        """What is kept of the rewards of the policies of figure 3."""
        groups = {
            title: self.reading.apply(listed)
            for title, listed in section_5_2.figure_3_policies(self.reading.mv_lcb).items()
        }
        tau = int(ExpExp().parameters(20, HORIZONS[0])[1])
        return by_chunks(
            self.problems[:200],
            [policy for listed in groups.values() for policy in listed],
            HORIZONS[0],
            self.runs,
            self.seed,
            section_5_2.reward_summary(groups, tau),
            threads=self.threads,
        )

    @cached_property
    def rewards(self) -> Findings:
        """The statements of section 5.2.2."""
        return section_5_2.reward_statements(self.reward_runs)

    # --- section 5.3 ---

    @cached_property
    def energy(self) -> Findings:
        """The statements of section 5.3."""
        listed = self.reading.apply(section_5_3.figure_4_policies())
        result = simulate(
            battery.problem(), listed, HORIZONS[0], 20 * self.runs, self.seed,
            record=("rewards", "arms"), checkpoints=50,
        )  # fmt: skip
        return section_5_3.statements(result, mv_lcb=self.reading.mv_lcb)
