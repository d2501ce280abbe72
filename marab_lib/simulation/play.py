"""Tasks are played: by the compiled loop, in threads or on a cluster, kept on disk where asked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate, risk
from ..kernels.loop import Length, Options, compiled_loop
from ..policies import Policy
from ..policies.own import from_outside, with_checks
from ..work.cluster import on_cluster
from ..work.store import Store, fingerprint
from ..work.threads import Arrays, Results, in_threads
from .tasks import Setting, Task, empty_output, recorded

if TYPE_CHECKING:
    pass


_ARMS_TRIED = 200_000  # steps times arms to try a user's index function for


def play(
    setting: Setting, policy: Policy, params: tuple[float, ...], begin: int, end: int
) -> Arrays:
    """One task: some (problem, run) pairs of one policy."""
    size = policy.memory_size(setting.n_arms, setting.horizon)
    return run_loop(setting, policy, policy.index_function, params, size, begin, end)


def run_loop(
    setting: Setting,
    policy: Policy,
    index_function: Callable,
    params: tuple[float, ...],
    memory_size: int,
    begin: int,
    end: int,
) -> Arrays:
    """The compiled loop, with a policy's options but any index function."""
    tails = np.empty(0, dtype=np.int64)
    if policy.alpha is not None and policy.keeps_tails:
        tails = risk.tail_sizes(policy.alpha, setting.horizon, policy.share)
    given = np.array(params, dtype=np.float64)
    options = Options(given, memory_size, policy.keeps_history, tails, *policy.kernel_options())
    length = Length(setting.horizon, setting.runs, setting.steps)
    output = empty_output(end - begin, setting)
    compiled_loop()(index_function, options, setting.laws, length, begin, end, output)
    return recorded(output)


def try_out(setting: Setting, policy: Policy, params: tuple[float, ...]) -> None:
    """Play the first pulls of a user's index function with all bounds checked, and forget them."""
    function = policy.index_function
    if not from_outside(function):
        return
    checked = with_checks(function, policy.alpha is not None and policy.keeps_tails)
    name, k = function.__name__, setting.n_arms
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


def _writes(alone: Setting, policy: Policy, checked: Callable, params, size: int) -> bool:
    """Whether an index function `with_checks` wrote any index but 0 in the first run."""
    try:
        run_loop(alone, policy, checked, params, size + 1, 0, 1)
    except StopIteration:
        return True
    except IndexError:
        raise
    except LookupError:
        return False
    return True


def results_of(setting, tasks: list[Task], threads, client, store) -> Results:
    """Results of all tasks with their numbers: those on disk first, then as they are done."""
    if store is None:
        yield from _computed(play, setting, tasks, threads, client)
        return
    kept = Store(store)
    common, k = setting.fingerprint(), setting.n_arms
    keys, missing = [], []
    for number, (policy, params, begin, end) in enumerate(tasks):
        size = policy.memory_size(k, setting.horizon)
        keys.append(fingerprint(common, policy.identity(), params, size, begin, end))
        part = kept.load(keys[-1], like=recorded(empty_output(end - begin, setting)))
        if part is None:
            missing.append(number)
        else:
            yield number, part
    if client is not None:  # whose workers may see other disks
        todo = [tasks[number] for number in missing]
        for place, part in _computed(play, setting, todo, threads, client):
            kept.save(keys[missing[place]], part)
            yield missing[place], part
        return

    def play_and_keep(setting: Setting, key: str, *task) -> Arrays:
        # Kept by the thread itself: what it has begun when an interrupt comes is not lost.
        part = play(setting, *task)
        kept.save(key, part)
        return part

    keyed = [(keys[number], *tasks[number]) for number in missing]
    for place, part in _computed(play_and_keep, setting, keyed, threads, None):
        yield missing[place], part


def _computed(play, setting, tasks: list[tuple], threads, client) -> Results:
    if client is not None:
        return on_cluster(play, tasks, client, setting)
    compiled_loop()  # compiled here once, not by the first task of each thread
    return in_threads(functools.partial(play, setting), tasks, threads)


def reporter(progress, total: int) -> Callable[[int], None]:
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
