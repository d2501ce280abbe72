"""One run seen from inside: the index of every arm before every pull."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

    from ..policies import Custom

__all__ = ["index_paths"]


def index_paths(policy: Custom, run: xarray.Dataset) -> np.ndarray:
    """Index of every arm before each pull, by the Python code of a policy's index function.

    Parameters
    ----------
    policy : Custom
        With ``time="next"``, and a function that needs neither history nor random numbers.
    run : Dataset with dimensions step and arm
        One run of it: a result of `simulate` with ``arms`` and ``rewards``, at one policy, problem
        and run.

    Returns
    -------
    ndarray of float, shape (T, K)
        NaN before an arm's first pull.
    """
    played, rewards, k = run.arms.values, run.rewards.values, run.sizes["arm"]
    tails = np.r_[policy.tail_sizes(len(played)), np.ones(len(played) + 1, int)]  # 1: not used
    rule = policy.function.py_func  # type: ignore[attr-defined]
    params, memory = np.array(policy.params), np.zeros(policy.memory)
    of_arm: list[list[float]] = [[] for _ in range(k)]
    nothing = {"n": 0, "mean": 0.0, "var": 0.0, "cvar": 0.0, "min": math.inf, "max": -math.inf}
    nothing |= {"inv_sqrt_n": math.inf, "inv_sqrt_tail_n": math.inf}
    arms = np.array([SimpleNamespace(**nothing) for _ in range(k)])
    state = SimpleNamespace(horizon=len(played), last_arm=-1, last_reward=0.0)
    paths = np.full((len(played), k), math.nan)
    for t, (i, reward) in enumerate(zip(played, rewards, strict=True), 1):
        state.pulls, state.tail_t = t - 1, tails[t]
        with np.errstate(invalid="ignore"):  # an index of no rewards
            rule(t, arms, [state], params, memory, None)
        paths[t - 1] = [a.index if a.n else math.nan for a in arms]
        of_arm[i].append(reward)
        x, a, m = np.array(of_arm[i]), arms[i], tails[len(of_arm[i])]
        a.n, a.mean, a.var, a.min, a.max = x.size, x.mean(), x.var(), x.min(), x.max()
        a.cvar, a.tail_n = np.sort(x)[:m].mean(), m
        a.inv_sqrt_n, a.inv_sqrt_tail_n = x.size**-0.5, float(m) ** -0.5
        state.last_arm, state.last_reward = i, reward
    return paths
