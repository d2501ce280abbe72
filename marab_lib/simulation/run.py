"""Play policies on problems: check the arguments, cut the work into tasks, play, name results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate
from ..policies import Policy
from ..problems import Problem
from .arguments import (
    check_lengths,
    check_memory,
    check_places,
    checked_checkpoints,
    checked_parameters,
    checked_policies,
    checked_problems,
    checked_record,
    checked_seed,
    checked_threads,
)
from .play import play_all, reporter, try_out
from .result import make_dataset
from .tasks import Setting, cut_into_tasks, task_size

if TYPE_CHECKING:
    import distributed
    import xarray


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
        arm); ``mean`` and ``variance`` (problem, arm). The policies' ``title`` and parameters
        (``C``, ``alpha``, ...) are coordinates along ``policy``, NaN or "" where one has none. The
        coordinates ``seed`` and ``number`` (run) and ``stream`` (problem) say which rewards were
        drawn, also where results are joined. Seed, versions and, in a checkout, the commit are in
        its attributes.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, its value and what is allowed, before anything is computed.
    UsedUp
        At the end, if a policy asked for more rewards than a log of `arms.Replay` holds.
    MemoryError
        If the results would not fit in memory.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> result = simulate(problems.proof_of_concept(), policies.MIN(), 100, runs=3, seed=1)
    >>> result.theoretical_regret.dims
    ('policy', 'problem', 'run', 'checkpoint')
    >>> result.sel(policy=result.title == "MIN").sizes["policy"]
    1
    """
    # The arguments.
    problems, policies = checked_problems(problems), checked_policies(policies)
    k = problems[0].n_arms
    horizon = _validate.whole("horizon", horizon, k, 2**31 - 1)
    runs = _validate.whole("runs", runs, 1, 2**32 - 1)
    seed, threads = checked_seed(seed), checked_threads(threads)
    record, steps = checked_record(record, k), checked_checkpoints(checkpoints, horizon)
    check_places(client, store)
    parameters = [checked_parameters(policy, problems, horizon) for policy in policies]
    n_pairs = len(problems) * runs
    report = reporter(progress, len(policies) * n_pairs * horizon)

    # The tasks: each a policy on some of the pairs (problem, run).
    size = task_size(horizon, k, coarse=client is not None or store is not None)
    threads = 1 if client is not None else min(threads, len(policies) * -(-n_pairs // size))
    check_memory(policies, n_pairs, horizon, k, steps.size, record, threads)
    setting = Setting.of(problems, seed, horizon, runs, steps, record)
    tasks = cut_into_tasks(policies, parameters, n_pairs, size)

    # Play.
    for policy, params in zip(policies, parameters, strict=True):
        try_out(setting, policy, params)
    arrays = play_all(setting, tasks, threads, client, store, report)
    check_lengths(problems, policies, arrays["pulls"], horizon)

    # The result.
    return make_dataset(problems, policies, arrays, setting, seed)
