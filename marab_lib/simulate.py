"""Run policies on problems: validate, spread the work, name the results."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
import psutil

from . import _kernels, _validate, _work, risk
from ._jit import source_digest
from ._own import from_outside, with_checks
from .arms import stream_key
from .outputs import free_or_folder
from .policies import Policy
from .problems import Problem

if TYPE_CHECKING:
    import distributed
    import xarray

__all__ = ["simulate"]

_RECORDS = ("rewards", "arms", "pulls")
_STEPS_A_TASK = 400_000  # about 50 ms: short enough to interrupt, long enough to spread
_STEPS_A_COARSE_TASK = 1_000_000  # a tenth of a second to five, for a cluster or a file
_USUAL_ARMS = 20  # with more, a task has fewer steps: a step looks at all arms
_ARMS_TRIED = 200_000  # steps times arms to try a user's index function for
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
    client: distributed.Client | None = None,
    store: str | os.PathLike | None = None,
) -> xarray.Dataset:
    """Play every policy on every problem and return the regrets and pulls.

    The u-th reward of an arm in a run is one number, fixed by seed, problem and run: all policies
    see the same one (common random numbers), for any number of threads or machines and any choice
    or order of policies. A problem is known by its `stream`, or else by its place in the list.

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
    record : sequence of {"rewards", "arms", "pulls"}
        What else to keep: the reward or the arm of every single pull, or the numbers of pulls at
        every checkpoint. Refused, with its size, if it would not fit in memory; "arms" also for
        more than 32,768 arms.
    checkpoints : int or sequence of int, optional
        Steps in [1, T] at which regrets are kept, or how many steps, spread evenly and ending at
        T. Default 20.
    progress : bool or callable, optional
        True shows a bar; a callable gets (pulls done, pulls in all). Default none.
    client : distributed.Client, optional
        Do the work on this Dask cluster instead of in threads. What a lost worker was doing is
        done again.
    store : path, optional
        Folder in which each part of the result is kept once it is done. The same call finds them
        there and goes on where it was interrupted; any change of the arguments, of the versions or
        of the code begins anew, and so does a part that is damaged. After an interrupt the tasks
        that have begun are still done and kept.

    Returns
    -------
    xarray.Dataset
        ``theoretical_regret`` and ``empirical_regret`` (policy, problem, run, checkpoint), in units
        of the reward; ``pulls`` (policy, problem, run, arm); on request ``rewards`` and ``arms``
        (policy, problem, run, step) and ``checkpoint_pulls`` (policy, problem, run, checkpoint,
        arm); ``mean`` and ``variance`` (problem, arm). Parameters, seed and versions are in its
        attributes. The coordinates ``seed`` and ``number`` (run) and ``stream`` (problem) say which
        rewards were drawn, also where results are joined.

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
    problems = checked_problems(problems)
    policies = _policies(policies)
    k = problems[0].n_arms
    horizon = _validate.whole("horizon", horizon, k, 2**31 - 1)
    runs = _validate.whole("runs", runs, 1, 2**32 - 1)
    seed = checked_seed(seed)
    threads = _threads(threads)
    record = _record(record, k)
    steps = _checkpoints(checkpoints, horizon)
    _check_places(client, store)
    parameters = [_parameters(policy, problems, horizon) for policy in policies]
    report = _reporter(progress, len(policies) * len(problems) * runs * horizon)
    coarse = client is not None or store is not None
    size = _task_size(horizon, k, coarse)
    n_pairs = len(problems) * runs
    threads = 1 if client is not None else min(threads, len(policies) * -(-n_pairs // size))
    _check_memory(policies, n_pairs, horizon, k, steps.size, record, threads)

    setting = _Setting.of(problems, seed, horizon, runs, steps, record)
    for policy, params in zip(policies, parameters, strict=True):
        _try_out(setting, policy, params)
    arrays = _empty(len(policies) * n_pairs, k, setting)
    tasks = _tasks(policies, parameters, n_pairs, size)
    for number, part in _results(setting, tasks, threads, client, store):
        policy, _, begin, end = tasks[number]
        first = policies.index(policy) * n_pairs  # its place in rows of all policies
        for name, rows in part.items():
            arrays[name][first + begin : first + end] = rows
        report((end - begin) * horizon)
    return _dataset(problems, policies, arrays, setting, seed)


# --- arguments ----------------------------------------------------------------------------


def checked_problems(problems: Problem | Sequence[Problem]) -> list[Problem]:
    listed = _validate.several("problems", problems, Problem, "marab_lib.problems.Problem objects")
    sizes = sorted({problem.n_arms for problem in listed})
    if len(sizes) > 1:
        raise ValueError(f"problems must all have the same number of arms, got {sizes}")
    return listed


def _policies(policies: Policy | Sequence[Policy]) -> list[Policy]:
    wanted = "Policy objects such as policies.UCB()"
    listed = _validate.several("policies", policies, Policy, wanted)
    _validate.distinct("policies", [policy.name for policy in listed])
    return listed


def checked_seed(seed: int | np.random.Generator) -> int:
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    return _validate.whole("seed", seed, 0)


def _threads(threads: int | None) -> int:
    if threads is not None:
        return _validate.whole("threads", threads, 1)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _record(record: str | Sequence[str], k: int) -> tuple[str, ...]:
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


def _check_places(client: object, store: object) -> None:
    """Where to work and where to keep what is done."""
    can = hasattr(client, "scatter") and hasattr(client, "submit")
    if client is not None and (isinstance(client, type) or not can):
        raise TypeError(f"client must be a distributed.Client, got {_validate.shown(client)}")
    if store is not None and not isinstance(store, (str, os.PathLike)):
        raise TypeError(f"store must be a path, got {_validate.shown(store)}")
    if store is not None:
        free_or_folder("store", store)


def _checkpoints(checkpoints: int | Sequence[int] | None, horizon: int) -> np.ndarray:
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


def _parameters(policy: Policy, problems: list[Problem], horizon: int) -> tuple[float, ...]:
    """The policy's parameters, once it is sure that it can play these problems."""
    for problem in problems:
        policy.check_problem(problem)
    return policy.parameters(problems[0].n_arms, horizon)


def _working_memory(policy: Policy, horizon: int, k: int) -> int:
    """Bytes that a thread needs while it plays this policy, besides the results."""
    numbers = policy.memory_size(k, horizon)
    if policy.keeps_history:
        numbers += k * horizon
    if policy.alpha is not None and policy.keeps_tails:  # two heaps an arm
        tail = int(risk.tail_sizes(policy.alpha, horizon, policy.share)[-1])
        numbers += k * (tail + horizon)
    return 8 * numbers


def _check_memory(policies, n_pairs, horizon, k, n_steps, record, threads) -> None:
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


# --- work ---------------------------------------------------------------------------------


def _streams(problems: list[Problem]) -> list[tuple[int, ...]]:
    """Which tape each problem reads: its own, or that of its place in the list."""
    return [p.stream if p.stream is not None else (i,) for i, p in enumerate(problems)]


@dataclass
class _Setting:
    """All that the tasks share: the problems as arrays, and how long and how often to play."""

    kinds: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    laws: np.ndarray  # the parameters of all laws in one line
    keys: np.ndarray
    means: np.ndarray
    horizon: int
    runs: int
    steps: np.ndarray
    record: tuple[str, ...]

    @classmethod
    def of(cls, problems, seed, horizon, runs, steps, record) -> _Setting:
        parts = [problem.encode() for problem in problems]
        offsets = np.cumsum([0] + [part[3].size for part in parts[:-1]])
        return cls(
            kinds=np.stack([part[0] for part in parts]),
            starts=np.stack([part[1] + at for part, at in zip(parts, offsets, strict=True)]),
            sizes=np.stack([part[2] for part in parts]),
            laws=np.concatenate([part[3] for part in parts]),
            keys=np.stack([stream_key(seed, stream) for stream in _streams(problems)]),
            means=np.stack([problem.means for problem in problems]),
            horizon=horizon,
            runs=runs,
            steps=steps,
            record=record,
        )

    def fingerprint(self) -> str:
        """Digest of the setting, of the versions and of the compiled code."""
        return _work.fingerprint(source_digest(), sorted(_versions().items()), *vars(self).values())


_Task = tuple[Policy, tuple[float, ...], int, int]


def _task_size(horizon: int, k: int, coarse: bool) -> int:
    """How many (problem, run) pairs a task has."""
    steps = _STEPS_A_COARSE_TASK if coarse else _STEPS_A_TASK
    return max(1, steps * _USUAL_ARMS // (horizon * max(k, _USUAL_ARMS)))


def _tasks(policies, parameters, n_pairs: int, size: int) -> list[_Task]:
    """Every policy on every range of (problem, run) pairs."""
    return [
        (policy, params, begin, min(begin + size, n_pairs))
        for policy, params in zip(policies, parameters, strict=True)
        for begin in range(0, n_pairs, size)
    ]


def _empty(n_rows: int, k: int, setting: _Setting) -> _work.Arrays:
    """Room for the result of that many pairs, one row each."""
    n_steps = setting.steps.size
    arrays = {
        "theoretical_regret": np.empty((n_rows, n_steps)),
        "empirical_regret": np.empty((n_rows, n_steps)),
        "pulls": np.empty((n_rows, k), dtype=np.int32),
    }
    if "rewards" in setting.record:
        arrays["rewards"] = np.empty((n_rows, setting.horizon))
    if "arms" in setting.record:
        arrays["arms"] = np.empty((n_rows, setting.horizon), dtype=np.int16)
    if "pulls" in setting.record:
        arrays["checkpoint_pulls"] = np.empty((n_rows, n_steps, k), dtype=np.int32)
    return arrays


def _play(
    setting: _Setting, policy: Policy, params: tuple[float, ...], begin: int, end: int
) -> _work.Arrays:
    """One task: some (problem, run) pairs of one policy."""
    size = policy.memory_size(setting.kinds.shape[1], setting.horizon)
    return _run(setting, policy, policy.index_function, params, size, begin, end)


def _run(
    setting: _Setting,
    policy: Policy,
    index_function: Callable,
    params: tuple[float, ...],
    memory_size: int,
    begin: int,
    end: int,
) -> _work.Arrays:
    """The compiled loop, with a policy's options but any index function."""
    time, first_pulls, rounds, ties = policy.kernel_options()
    tails = np.empty(0, dtype=np.int64)
    if policy.alpha is not None and policy.keeps_tails:
        tails = risk.tail_sizes(policy.alpha, setting.horizon, policy.share)
    k = setting.kinds.shape[1]
    result = _empty(end - begin, k, setting)
    _kernels.simulate()(
        index_function,
        np.array(params, dtype=np.float64),
        memory_size,
        policy.keeps_history,
        tails,
        time,
        first_pulls,
        rounds,
        ties,
        setting.kinds,
        setting.starts,
        setting.sizes,
        setting.laws,
        setting.keys,
        setting.means,
        setting.horizon,
        setting.runs,
        begin,
        end,
        setting.steps,
        result["theoretical_regret"],
        result["empirical_regret"],
        result["pulls"],
        result.get("rewards", np.empty((0, 0))),
        result.get("arms", np.empty((0, 0), dtype=np.int16)),
        result.get("checkpoint_pulls", np.empty((0, 0, 0), dtype=np.int32)),
    )
    return result


def _try_out(setting: _Setting, policy: Policy, params: tuple[float, ...]) -> None:
    """Play the first pulls of a user's index function with all bounds checked, and forget them."""
    function = policy.index_function
    if not from_outside(function):
        return
    checked = with_checks(function, policy.alpha is not None and policy.keeps_tails)
    name, k = function.__name__, setting.kinds.shape[1]
    size = policy.memory_size(k, setting.horizon)
    forced = 0 if policy.first_pulls == "none" else policy.rounds * k
    end = min(setting.horizon, max(_ARMS_TRIED // k, min(forced, _ARMS_TRIED) + 100))
    alone = replace(setting, record=(), steps=setting.steps[-1:])
    try:
        if not _writes(alone, policy, checked, (*params, forced, end), size):
            _writes(alone, policy, checked, (*params, -1 - forced, end), size)
    except IndexError:
        history = f"{k} x {setting.horizon}" if policy.keeps_history else "empty"
        raise ValueError(
            f"function {name} reads or writes beyond its arrays: arms has {k}, state 1, params "
            f"{len(params)} numbers, memory {size} numbers (ask for more by memory=), and history "
            f"is {history} (it is empty without keeps_history=True)"
        ) from None
    except FloatingPointError:
        raise ValueError(
            f"function {name} must write a number to arms[i].index, but at one of its first pulls "
            f"the index of each of the {k} arms is NaN or was never written"
        ) from None


def _writes(alone: _Setting, policy: Policy, checked: Callable, params, size: int) -> bool:
    """Whether an index function `with_checks` wrote any index but 0 in the first run."""
    try:
        _run(alone, policy, checked, params, size + 1, 0, 1)
    except StopIteration:
        return True
    except IndexError:
        raise
    except LookupError:
        return False
    return True


def _results(setting, tasks: list[_Task], threads, client, store) -> _work.Results:
    """Results of all tasks with their numbers: those on disk first, then as they are done."""
    if store is None:
        yield from _computed(_play, setting, tasks, threads, client)
        return
    kept = _work.Store(store)
    common, k = setting.fingerprint(), setting.kinds.shape[1]
    keys, missing = [], []
    for number, (policy, params, begin, end) in enumerate(tasks):
        size = policy.memory_size(k, setting.horizon)
        keys.append(_work.fingerprint(common, policy.identity(), params, size, begin, end))
        part = kept.load(keys[-1], like=_empty(end - begin, k, setting))
        if part is None:
            missing.append(number)
        else:
            yield number, part
    if client is not None:  # whose workers may see other disks
        todo = [tasks[number] for number in missing]
        for place, part in _computed(_play, setting, todo, threads, client):
            kept.save(keys[missing[place]], part)
            yield missing[place], part
        return

    def play_and_keep(setting: _Setting, key: str, *task) -> _work.Arrays:
        # Kept by the thread itself: what it has begun when an interrupt comes is not lost.
        part = _play(setting, *task)
        kept.save(key, part)
        return part

    keyed = [(keys[number], *tasks[number]) for number in missing]
    for place, part in _computed(play_and_keep, setting, keyed, threads, None):
        yield missing[place], part


def _computed(play, setting, tasks: list[tuple], threads, client) -> _work.Results:
    if client is not None:
        return _work.on_cluster(play, tasks, client, setting)
    _kernels.simulate()  # compiled here once, not by the first task of each thread
    return _work.in_threads(functools.partial(play, setting), tasks, threads)


def _reporter(progress, total: int) -> Callable[[int], None]:
    """A function that is told how many pulls are newly done."""
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
        raise TypeError(
            f"progress must be True, False or a function, got {_validate.shown(progress)}"
        )
    from tqdm.auto import tqdm

    bar = tqdm(total=total, unit="pull", unit_scale=True)

    def advance(pulls: int) -> None:
        bar.update(pulls)
        if bar.n >= total:
            bar.close()

    return advance


# --- results ------------------------------------------------------------------------------

_ATTRIBUTES = {
    "theoretical_regret": {"units": "reward", "long_name": "theoretical cumulative regret"},
    "empirical_regret": {"units": "reward", "long_name": "empirical cumulative regret"},
    "pulls": {"long_name": "number of pulls"},
    "rewards": {"units": "reward", "long_name": "reward of each pull"},
    "arms": {"long_name": "arm of each pull"},
    "checkpoint_pulls": {"long_name": "number of pulls up to the checkpoint"},
}
_LAST_DIMENSIONS = {
    "theoretical_regret": ("checkpoint",),
    "empirical_regret": ("checkpoint",),
    "pulls": ("arm",),
    "rewards": ("step",),
    "arms": ("step",),
    "checkpoint_pulls": ("checkpoint", "arm"),
}


def _dataset(problems, policies, arrays: _work.Arrays, setting: _Setting, seed) -> xarray.Dataset:
    import xarray

    shape = (len(policies), len(problems), setting.runs)
    variables = {
        name: (
            ("policy", "problem", "run", *_LAST_DIMENSIONS[name]),
            rows.reshape((*shape, *rows.shape[1:])),
            _ATTRIBUTES[name],
        )
        for name, rows in arrays.items()
    }
    variables["mean"] = (("problem", "arm"), setting.means, {"units": "reward"})
    variables["variance"] = (("problem", "arm"), np.stack([p.variances for p in problems]))
    streams = [" ".join(map(str, stream)) for stream in _streams(problems)]
    coordinates = {
        "policy": [policy.name for policy in policies],
        "problem": np.arange(len(problems)),
        "run": np.arange(setting.runs),
        "checkpoint": setting.steps,
        "arm": np.arange(problems[0].n_arms),
        # What the tape of each run is made of. Texts, since these numbers may exceed 64 bits.
        "seed": ("run", np.full(setting.runs, str(seed))),
        "number": ("run", np.arange(setting.runs)),
        "stream": ("problem", streams),
    }
    if {"rewards", "arms"} & set(setting.record):
        coordinates["step"] = np.arange(1, setting.horizon + 1)
    attributes = {
        "horizon": setting.horizon,
        "runs": setting.runs,
        "seed": str(seed),
        "problems": json.dumps([problem.name for problem in problems]),
        "policies": json.dumps([repr(policy) for policy in policies]),
        "versions": json.dumps(_versions()),
    }
    return xarray.Dataset(variables, coordinates, attributes)


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("marab_lib", "numpy", "numba", "xarray")}
