"""The arguments of `simulate`, checked: errors name the argument, its value, what is allowed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import psutil

from .. import _validate
from ..arms import UsedUp
from ..policies import Policy
from ..problems import Problem
from ..work.files import new_or_folder

_RECORDS = ("rewards", "arms", "pulls")
_DEFAULT_CHECKPOINTS = 20


def checked_problems(problems: Problem | Sequence[Problem]) -> list[Problem]:
    listed = _validate.several("problems", problems, Problem, "marab_lib.problems.Problem objects")
    sizes = sorted({problem.n_arms for problem in listed})
    if len(sizes) > 1:
        raise ValueError(f"problems must all have the same number of arms, got {sizes}")
    return listed


def checked_policies(policies: Policy | Sequence[Policy]) -> list[Policy]:
    wanted = "Policy objects such as policies.UCB()"
    listed = _validate.several("policies", policies, Policy, wanted)
    _validate.distinct("policies", [policy.name for policy in listed])
    return listed


def checked_seed(seed: int | np.random.Generator) -> int:
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    return _validate.whole("seed", seed, 0)


def checked_threads(threads: int | None) -> int:
    if threads is not None:
        return _validate.whole("threads", threads, 1)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_record(record: str | Sequence[str], k: int) -> tuple[str, ...]:
    try:
        names = (record,) if isinstance(record, str) else tuple(record)
    except TypeError:
        raise TypeError(
            f"record must be names among {_RECORDS}, got {_validate.shown(record)}"
        ) from None
    for name in names:
        _validate.choice("record", name, _RECORDS)
    most = np.iinfo(np.int16).max + 1
    if "arms" in names and k > most:
        raise ValueError(f"record must not hold 'arms' for more than {most:,} arms, got {k:,}")
    return names


def check_places(client: object, store: object) -> None:
    """Where to work and where to keep what is done."""
    can = hasattr(client, "scatter") and hasattr(client, "submit")
    if client is not None and (isinstance(client, type) or not can):
        raise TypeError(f"client must be a distributed.Client, got {_validate.shown(client)}")
    if store is not None and not isinstance(store, (str, os.PathLike)):
        raise TypeError(f"store must be a path, got {_validate.shown(store)}")
    if store is not None:
        new_or_folder("store", store)


def checked_checkpoints(checkpoints: Any, horizon: int) -> np.ndarray:
    if checkpoints is None:
        checkpoints = min(_DEFAULT_CHECKPOINTS, horizon)
    try:
        listed = None if isinstance(checkpoints, (str, bytes)) else list(checkpoints)
    except TypeError:
        listed = None
    if listed is None:
        count = _validate.whole("checkpoints", checkpoints, 1, horizon)
        return np.arange(1, count + 1) * horizon // count
    steps = [_validate.whole("checkpoints", step, 1, horizon) for step in listed]
    if not steps:
        raise ValueError("checkpoints must hold at least one step, got none")
    return np.unique(np.array(steps, dtype=np.int64))


def checked_parameters(policy: Policy, problems: list[Problem], horizon: int) -> tuple[float, ...]:
    """The policy's parameters, once it is sure that it can play these problems."""
    for problem in problems:
        policy.check_problem(problem)
    return policy.parameters(problems[0].n_arms, horizon)


def _working_memory(policy: Policy, horizon: int, k: int) -> int:
    """Bytes that a thread needs while it plays this policy, besides the results."""
    numbers = policy.memory_size(k, horizon)
    if policy.keeps_history:
        numbers += k * horizon
    tails = policy.tail_sizes(horizon)
    if tails.size:  # two heaps an arm
        numbers += k * (int(tails[-1]) + horizon)
    return 8 * numbers


def check_memory(policies, n_pairs, horizon, k, n_steps, record, threads) -> None:
    pairs = len(policies) * n_pairs
    per_pull = 8 * ("rewards" in record) + 2 * ("arms" in record)
    per_step = 16 + 4 * k * ("pulls" in record)
    kept = pairs * (per_step * n_steps + 4 * k + per_pull * horizon)
    needs = [_working_memory(policy, horizon, k) for policy in policies]
    working = threads * max(needs)
    available = psutil.virtual_memory().available
    if kept + working <= available:
        return
    free = f"but {available / 2**30:.1f} GiB are free"
    if working > kept:
        name = policies[needs.index(max(needs))].name
        raise MemoryError(
            f"policies: the memory of {name} for {k:,} arms and {horizon:,} pulls would take "
            f"{max(needs) / 2**30:.1f} GiB in each of {threads} threads, {free}"
        )
    what = f"record={record!r}" if per_pull else "the results"
    raise MemoryError(
        f"{what} would take {(kept + working) / 2**30:.1f} GiB for {pairs:,} runs of {horizon:,} "
        f"pulls, {free}: use fewer runs, problems or checkpoints"
    )


def check_lengths(problems, policies, pulls: np.ndarray, horizon: int) -> None:
    """Raise UsedUp if an arm was pulled more often than its log has rewards."""
    lengths = np.stack([problem.lengths for problem in problems])
    played = pulls.reshape(len(policies), len(problems), -1, lengths.shape[1])
    beyond = np.argwhere(played > lengths[:, None])
    if beyond.size:
        i, j, run, arm = beyond[0].tolist()
        raise UsedUp(
            f"problems: arm {arm} of {problems[j].name!r} is a log of {lengths[j, arm]:.0f} "
            f"rewards, and {policies[i].name} asks for more of them within {horizon:,} pulls "
            f"(run {run}): use a shorter horizon, or arms.Empirical, which draws with replacement"
        )
