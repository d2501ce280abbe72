"""Run policies on problems: validate, spread the work over threads, name the results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
import psutil

from . import _kernels, _validate, risk
from .arms import stream_key
from .policies import Policy
from .problems import Problem

if TYPE_CHECKING:
    import xarray

__all__ = ["simulate"]

_RECORDS = ("rewards", "arms")
_STEPS_A_TASK = 400_000  # about 50 ms: short enough to interrupt, long enough to spread
_DEFAULT_CHECKPOINTS = 20


def simulate(
    problems: Problem | Sequence[Problem],
    policies: Policy | Sequence[Policy],
    horizon: int,
    runs: int,
    seed: int | np.random.Generator,
    *,
    threads: int | None = None,
    record: str | Sequence[str] = (),
    checkpoints: int | Sequence[int] | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> xarray.Dataset:
    """Play every policy on every problem and return the regrets and pulls.

    The u-th reward of an arm in a run is one number, fixed by seed, problem and run: all policies
    see the same one (common random numbers), for any number of threads and any choice or order of
    policies. A problem is known by its `stream`, or else by its place in the list.

    Parameters
    ----------
    problems : Problem or sequence of Problem
        All with the same number of arms K.
    policies : Policy or sequence of Policy
        With distinct names.
    horizon : int
        Number of pulls T of a run, >= K.
    runs : int
        Independent runs of each problem, >= 1.
    seed : int or numpy.random.Generator
        A whole number >= 0, or a Generator from which one is drawn.
    threads : int, optional
        Default: the processors this process may use. The results do not depend on it.
    record : sequence of {"rewards", "arms"}
        What to keep of every single pull. Refused, with its size, if it would not fit in memory.
    checkpoints : int or sequence of int, optional
        Steps in [1, T] at which regrets are kept, or how many steps, spread evenly and ending at
        T. Default 20.
    progress : bool or callable, optional
        True shows a bar; a callable gets (pulls done, pulls in all). Default none.

    Returns
    -------
    xarray.Dataset
        ``theoretical_regret`` and ``empirical_regret`` (policy, problem, run, checkpoint), in units
        of the reward; ``pulls`` (policy, problem, run, arm); on request ``rewards`` and ``arms``
        (policy, problem, run, step); ``mean`` and ``variance`` (problem, arm). Parameters, seed and
        versions are in its attributes.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, its value and what is allowed, before anything is computed.
    MemoryError
        If the results would not fit in memory.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> result = simulate(problems.proof_of_concept(), policies.MIN(), 100, runs=3, seed=1)
    >>> result.theoretical_regret.dims
    ('policy', 'problem', 'run', 'checkpoint')
    """
    problems = _problems(problems)
    policies = _policies(policies)
    k = problems[0].n_arms
    horizon = _validate.whole("horizon", horizon, k, 2**31 - 1)
    runs = _validate.whole("runs", runs, 1, 2**32 - 1)
    seed = _seed(seed)
    threads = _threads(threads)
    record = _record(record)
    steps = _checkpoints(checkpoints, horizon)
    parameters = [_parameters(policy, problems, horizon) for policy in policies]
    _check_memory(len(policies), len(problems), runs, horizon, k, steps.size, record, threads)

    tables = _Tables.of(problems, seed)
    results = [
        _Results.empty(len(problems), runs, horizon, k, steps.size, record) for _ in policies
    ]
    tasks = [
        (policy, params, result, begin, end)
        for policy, params, result in zip(policies, parameters, results, strict=True)
        for begin, end in _ranges(len(problems) * runs, horizon)
    ]
    kernel = _kernels.simulate()

    def play(task: tuple) -> int:
        policy, params, result, begin, end = task
        _play(kernel, policy, params, tables, horizon, steps, result, begin, end)
        return (end - begin) * horizon

    _spread(
        play, tasks, threads, _reporter(progress, len(tasks), horizon, problems, runs, policies)
    )
    return _dataset(problems, policies, results, steps, horizon, runs, seed, record)


# --- arguments ----------------------------------------------------------------------------


def _problems(problems: Problem | Sequence[Problem]) -> list[Problem]:
    listed = [problems] if isinstance(problems, Problem) else list(problems)
    for problem in listed:
        if not isinstance(problem, Problem):
            raise TypeError(f"problems must be marab_lib.problems.Problem objects, got {problem!r}")
    if not listed:
        raise ValueError("problems must hold at least one problem, got an empty list")
    sizes = sorted({problem.n_arms for problem in listed})
    if len(sizes) > 1:
        raise ValueError(f"problems must all have the same number of arms, got {sizes}")
    return listed


def _policies(policies: Policy | Sequence[Policy]) -> list[Policy]:
    listed = [policies] if isinstance(policies, Policy) else list(policies)
    for policy in listed:
        if not isinstance(policy, Policy):
            raise TypeError(f"policies must be marab_lib.policies.Policy objects, got {policy!r}")
    if not listed:
        raise ValueError("policies must hold at least one policy, got an empty list")
    names = [policy.name for policy in listed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"policies must have distinct names, got {name!r} more than once")
    return listed


def _seed(seed: int | np.random.Generator) -> int:
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    return _validate.whole("seed", seed, 0)


def _threads(threads: int | None) -> int:
    if threads is not None:
        return _validate.whole("threads", threads, 1)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _record(record: str | Sequence[str]) -> tuple[str, ...]:
    names = (record,) if isinstance(record, str) else tuple(record)
    for name in names:
        _validate.choice("record", name, _RECORDS)
    return names


def _checkpoints(checkpoints: int | Sequence[int] | None, horizon: int) -> np.ndarray:
    if checkpoints is None:
        checkpoints = min(_DEFAULT_CHECKPOINTS, horizon)
    if np.ndim(checkpoints) == 0:
        count = _validate.whole("checkpoints", checkpoints, 1, horizon)
        return np.arange(1, count + 1) * horizon // count
    steps = [_validate.whole("checkpoints", step, 1, horizon) for step in checkpoints]
    if not steps:
        raise ValueError("checkpoints must hold at least one step, got none")
    return np.unique(np.array(steps, dtype=np.int64))


def _parameters(policy: Policy, problems: list[Problem], horizon: int) -> tuple[float, ...]:
    """The policy's parameters, once it is sure that it can play these problems."""
    if policy.support is not None:
        low, high = policy.support
        for problem in problems:
            least, most = problem.essential_infima.min(), problem.essential_suprema.max()
            if least < low or most > high:
                raise ValueError(
                    f"problems: {policy.name} needs rewards in [{low:g}, {high:g}], but those of "
                    f"{problem.name!r} lie in [{least:g}, {most:g}]"
                )
    return policy.parameters(problems[0].n_arms, horizon)


def _check_memory(n_policies, n_problems, runs, horizon, k, n_steps, record, threads) -> None:
    pairs = n_policies * n_problems * runs
    per_pull = 8 * ("rewards" in record) + 2 * ("arms" in record)
    size = pairs * (16 * n_steps + 4 * k + per_pull * horizon) + threads * 16 * k * horizon
    available = psutil.virtual_memory().available
    if size > available:
        what = f"record={record!r}" if per_pull else "the results"
        raise MemoryError(
            f"{what} would take {size / 2**30:.1f} GiB for {pairs:,} runs of {horizon:,} pulls, "
            f"but {available / 2**30:.1f} GiB are free: use fewer runs, problems or checkpoints"
        )


# --- work ---------------------------------------------------------------------------------


@dataclass
class _Tables:
    """The problems as arrays: one row a problem, and all law parameters in one line."""

    kinds: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    laws: np.ndarray
    keys: np.ndarray
    means: np.ndarray

    @classmethod
    def of(cls, problems: list[Problem], seed: int) -> _Tables:
        parts = [problem.encode() for problem in problems]
        offsets = np.cumsum([0] + [part[3].size for part in parts[:-1]])
        streams = [p.stream if p.stream is not None else (i,) for i, p in enumerate(problems)]
        return cls(
            kinds=np.stack([part[0] for part in parts]),
            starts=np.stack([part[1] + at for part, at in zip(parts, offsets, strict=True)]),
            sizes=np.stack([part[2] for part in parts]),
            laws=np.concatenate([part[3] for part in parts]),
            keys=np.stack([stream_key(seed, stream) for stream in streams]),
            means=np.stack([problem.means for problem in problems]),
        )


@dataclass
class _Results:
    """What one policy leaves behind."""

    theoretical: np.ndarray
    empirical: np.ndarray
    pulls: np.ndarray
    rewards: np.ndarray
    arms: np.ndarray

    @classmethod
    def empty(cls, n_problems, runs, horizon, k, n_steps, record) -> _Results:
        shape = (n_problems, runs)
        return cls(
            theoretical=np.empty((*shape, n_steps)),
            empirical=np.empty((*shape, n_steps)),
            pulls=np.empty((*shape, k), dtype=np.int32),
            rewards=np.empty((*shape, horizon if "rewards" in record else 0)),
            arms=np.empty((*shape, horizon if "arms" in record else 0), dtype=np.int16),
        )


def _ranges(n_pairs: int, horizon: int) -> Iterator[tuple[int, int]]:
    size = max(1, _STEPS_A_TASK // horizon)
    for begin in range(0, n_pairs, size):
        yield begin, min(begin + size, n_pairs)


def _play(kernel, policy, params, tables, horizon, steps, result, begin, end) -> None:
    """One task: some (problem, run) pairs of one policy."""
    time, first_pulls, ties = policy.kernel_options()
    tails = np.empty(0, dtype=np.int64)
    if policy.alpha is not None:
        tails = risk.tail_sizes(policy.alpha, horizon, policy.share)
    k = tables.kinds.shape[1]
    kernel(
        policy.index_function,
        np.array(params, dtype=np.float64),
        policy.memory_size(k, horizon),
        policy.keeps_history,
        tails,
        time,
        first_pulls,
        ties,
        tables.kinds,
        tables.starts,
        tables.sizes,
        tables.laws,
        tables.keys,
        tables.means,
        horizon,
        begin,
        end,
        steps,
        result.theoretical,
        result.empirical,
        result.pulls,
        result.rewards,
        result.arms,
    )


def _spread(play: Callable, tasks: list, threads: int, report: Callable[[int], None]) -> None:
    """Do the tasks in threads; an interrupt or an error leaves no work behind."""
    if threads == 1 or len(tasks) == 1:
        for task in tasks:
            report(play(task))
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting = {pool.submit(play, task) for task in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    report(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _reporter(progress, n_tasks, horizon, problems, runs, policies) -> Callable[[int], None]:
    total = len(policies) * len(problems) * runs * horizon
    if progress is None or progress is False:
        return lambda pulls: None
    if callable(progress):
        done = 0

        def call(pulls: int) -> None:
            nonlocal done
            done += pulls
            progress(done, total)

        return call
    if progress is not True:
        raise TypeError(f"progress must be True, False or a function, got {progress!r}")
    from tqdm.auto import tqdm

    bar = tqdm(total=total, unit="pull", unit_scale=True)

    def advance(pulls: int) -> None:
        bar.update(pulls)
        if bar.n >= total:
            bar.close()

    return advance


# --- results ------------------------------------------------------------------------------


def _dataset(problems, policies, results, steps, horizon, runs, seed, record) -> xarray.Dataset:
    import xarray

    pair = ("policy", "problem", "run")
    regret = {"units": "reward"}
    variables = {
        "theoretical_regret": (
            (*pair, "checkpoint"),
            _stacked(results, "theoretical"),
            {**regret, "long_name": "theoretical cumulative regret"},
        ),
        "empirical_regret": (
            (*pair, "checkpoint"),
            _stacked(results, "empirical"),
            {**regret, "long_name": "empirical cumulative regret"},
        ),
        "pulls": ((*pair, "arm"), _stacked(results, "pulls"), {"long_name": "number of pulls"}),
        "mean": (("problem", "arm"), np.stack([p.means for p in problems]), regret),
        "variance": (("problem", "arm"), np.stack([p.variances for p in problems])),
    }
    for name in record:
        variables[name] = ((*pair, "step"), _stacked(results, name))
    coordinates = {
        "policy": [policy.name for policy in policies],
        "problem": np.arange(len(problems)),
        "run": np.arange(runs),
        "checkpoint": steps,
        "arm": np.arange(problems[0].n_arms),
    }
    if record:
        coordinates["step"] = np.arange(1, horizon + 1)
    attributes = {
        "horizon": horizon,
        "runs": runs,
        "seed": str(seed),  # text, since a seed may be larger than a 64-bit number
        "problems": json.dumps([problem.name for problem in problems]),
        "policies": json.dumps([repr(policy) for policy in policies]),
        "versions": json.dumps(_versions()),
    }
    return xarray.Dataset(variables, coordinates, attributes)


def _stacked(results: list[_Results], name: str) -> np.ndarray:
    """All policies in one array; each part is freed once it is copied."""
    parts = [getattr(result, name) for result in results]
    if len(parts) == 1:
        return parts[0][None]
    stacked = np.empty((len(parts), *parts[0].shape), parts[0].dtype)
    for i, result in enumerate(results):
        stacked[i] = parts[i]
        setattr(result, name, parts[i][:0])
        parts[i] = None
    return stacked


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("marab_lib", "numpy", "numba", "xarray")}
