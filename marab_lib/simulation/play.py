"""Tasks are played: by the compiled loop, in threads or on a cluster, kept on disk where asked."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .. import _validate
from ..kernels.loop import Length, Options, compiled_loop
from ..policies import Policy
from ..policies.own import from_outside, with_checks
from ..work.cluster import on_cluster
from ..work.store import Store, fingerprint
from ..work.threads import Arrays, Results, in_threads
from .tasks import Setting, Task, empty_output, recorded

_ARMS_TRIED = 200_000  # steps times arms to try a user's index function for


def play(
    setting: Setting,
    policy: Policy,
    params: tuple[float, ...],
    begin: int,
    end: int,
    *,
    checked: Callable | None = None,
    steps: int | None = None,
) -> Arrays:
    """One task: some (problem, run) pairs of one policy, by the compiled loop.

    `checked` takes the place of the policy's index function; only `steps` pulls are done.
    """
    k, horizon = setting.n_arms, setting.horizon
    tails = policy.tail_sizes(horizon)
    given, memory = np.array(params, dtype=np.float64), np.zeros(policy.memory_size(k, horizon))
    options = Options(given, memory, policy.keeps_history, tails, *policy.kernel_options())
    length = Length(horizon, steps or horizon, setting.runs, setting.steps)
    output = empty_output(end - begin, setting)
    function = checked or policy.index_function
    stopped = compiled_loop()(function, options, setting.laws, length, begin, end, output)
    if stopped:
        raise ValueError(
            f"function {policy.index_function.__name__} must write a number to arms[i].index, but "
            f"at pull {stopped} the index of each of the {k} arms is NaN or was never written"
        )
    return recorded(output)


def try_out(setting: Setting, policy: Policy, params: tuple[float, ...]) -> None:
    """Play the first pulls of a user's index function with all bounds checked, and forget them."""
    function = policy.index_function
    if not from_outside(function):
        return
    k, horizon = setting.n_arms, setting.horizon
    forced = 0 if policy.first_pulls == "none" else policy.rounds * k
    steps = min(horizon, max(_ARMS_TRIED // k, min(forced, _ARMS_TRIED) + 100))
    checked = with_checks(function, policy.tail_sizes(1).size > 0)
    try:
        play(setting, policy, params, 0, 1, checked=checked, steps=steps)
    except IndexError:
        history = f"{k} x {horizon}" if policy.keeps_history else "empty"
        raise ValueError(
            f"function {function.__name__} reads or writes beyond its arrays: arms has {k}, state "
            f"1, params {len(params)} numbers, memory {policy.memory_size(k, horizon)} numbers "
            f"(ask for more by memory=), and history is {history} (it is empty without "
            "keeps_history=True)"
        ) from None


def play_all(setting, tasks: list[Task], threads, client, store, report) -> Arrays:
    """The results of all tasks, one task's rows below the other's; `report` gets pulls done."""
    ends = np.cumsum([end - begin for *_, begin, end in tasks])
    arrays = recorded(empty_output(ends[-1], setting))
    for number, part in _results_of(setting, tasks, threads, client, store):
        rows = slice(ends[number] - len(part["pulls"]), ends[number])
        for name, array in part.items():
            arrays[name][rows] = array
        report(len(part["pulls"]) * setting.horizon)
    return arrays


def _results_of(setting, tasks: list[Task], threads, client, store) -> Results:
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
