"""The work of a simulation: what all tasks share, and how it is cut into tasks."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from ..arms import join_encoded, stream_key
from ..kernels.jit import source_digest
from ..kernels.loop import Laws, Output
from ..policies import Policy
from ..problems import Problem
from ..work.store import fingerprint
from ..work.threads import Arrays

_STEPS_A_TASK = 400_000  # about 50 ms: short enough to interrupt, long enough to spread
_STEPS_A_COARSE_TASK = 1_000_000  # a tenth of a second to five, for a cluster or a file
_USUAL_ARMS = 20  # with more, a task has fewer steps: a step looks at all arms


def streams(problems: list[Problem]) -> list[tuple[int, ...]]:
    """Which tape each problem reads: its own, or that of its place in the list."""
    return [p.stream if p.stream is not None else (i,) for i, p in enumerate(problems)]


@dataclass
class Setting:
    """All that the tasks share: the problems as arrays, and how long and how often to play."""

    laws: Laws
    horizon: int
    runs: int
    steps: np.ndarray
    record: tuple[str, ...]

    @classmethod
    def of(cls, problems, seed, horizon, runs, steps, record) -> Setting:
        *by_arm, params = join_encoded([problem.encode() for problem in problems])
        kinds, starts, sizes = (x.reshape(len(problems), -1) for x in by_arm)
        keys = np.stack([stream_key(seed, stream) for stream in streams(problems)])
        means = np.stack([problem.means for problem in problems])
        laws = Laws(kinds, starts, sizes, params, keys, means)
        return cls(laws, horizon, runs, steps, record)

    @property
    def n_arms(self) -> int:
        return self.laws.kinds.shape[1]

    def fingerprint(self) -> str:
        """Digest of the setting, of the versions and of the compiled code."""
        length = self.horizon, self.runs, self.steps, self.record
        return fingerprint(source_digest(), sorted(versions().items()), *self.laws, *length)


Task = tuple[Policy, tuple[float, ...], int, int]


def task_size(horizon: int, k: int, coarse: bool) -> int:
    """How many (problem, run) pairs a task has."""
    steps = _STEPS_A_COARSE_TASK if coarse else _STEPS_A_TASK
    return max(1, steps * _USUAL_ARMS // (horizon * max(k, _USUAL_ARMS)))


def cut_into_tasks(policies, parameters, n_pairs: int, size: int) -> list[Task]:
    """Every policy on every range of (problem, run) pairs."""
    return [
        (policy, params, begin, min(begin + size, n_pairs))
        for policy, params in zip(policies, parameters, strict=True)
        for begin in range(0, n_pairs, size)
    ]


def empty_output(n_rows: int, setting: Setting) -> Output:
    """Room for the result of that many pairs, one row each; none for what is not recorded."""
    k, n_steps, record = setting.n_arms, setting.steps.size, setting.record
    return Output(
        theoretical_regret=np.empty((n_rows, n_steps)),
        empirical_regret=np.empty((n_rows, n_steps)),
        pulls=np.empty((n_rows, k), dtype=np.int32),
        rewards=np.empty((n_rows, setting.horizon if "rewards" in record else 0)),
        arms=np.empty((n_rows, setting.horizon if "arms" in record else 0), dtype=np.int16),
        checkpoint_pulls=np.empty((n_rows, n_steps if "pulls" in record else 0, k), dtype=np.int32),
    )


def recorded(output: Output) -> Arrays:
    """The arrays of an output by name, without those that have no room."""
    return {name: rows for name, rows in output._asdict().items() if rows.size}


@functools.cache  # reading them takes as long as 30,000 pulls
def versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("marab_lib", "numpy", "numba", "xarray")}
