"""The index of every arm before every pull, worked out again from one recorded run."""

import math

import numpy as np
import pytest

from marab_lib import policies, problems, simulate
from marab_lib.paper.one_run import index_paths


@policies.index
def marab(t, arms, state, params, memory, history):
    bonus = params[0] * math.sqrt(math.log(state[0].tail_t))
    for a in arms:
        a.index = a.cvar - bonus * a.inv_sqrt_tail_n


@policies.index
def mean_and_spread(t, arms, state, params, memory, history):
    for a in arms:
        a.index = a.mean - 0.1 * math.sqrt(a.var) + 0.3 * math.log(t) * a.inv_sqrt_n


@policies.index
def explore_and_keep(t, arms, state, params, memory, history):
    memory[0] = state[0].pulls
    for i in range(arms.size):
        arms[i].index = -arms[i].n if memory[0] < params[0] else arms[i].max + arms[i].min


CHOSEN = [
    policies.Custom(marab, [0.1], alpha="0.3"),
    policies.Custom(mean_and_spread),
    policies.Custom(explore_and_keep, [50], memory=1),
]


@pytest.mark.parametrize("policy", CHOSEN, ids=lambda policy: policy.title)
def test_the_arm_that_was_played_has_the_largest_index(policy):
    listed = problems.artificial(2, 3, n_arms=4)
    result = simulate(listed, policy, 200, 2, 1, record=("arms", "rewards"))
    for problem in range(2):
        for number in range(2):
            run = result.isel(policy=0, problem=problem, run=number)
            paths = index_paths(policy, run)
            assert paths.shape == (200, 4)
            assert (paths[4:].argmax(axis=1) == run.arms[4:]).all()
            first = [np.flatnonzero(run.arms == i)[0] for i in range(4)]
            assert np.isnan(paths).sum(axis=0).tolist() == [k + 1 for k in first]


def test_an_index_worked_out_by_hand():
    policy = CHOSEN[0]
    result = simulate(problems.stuck(), policy, 30, 1, 1, record=("arms", "rewards"))
    run = result.isel(policy=0, problem=0, run=0)
    own = np.sort(run.rewards.values[:29][run.arms.values[:29] == 0])
    tail = math.ceil(0.3 * own.size)
    expected = own[:tail].mean() - 0.1 * math.sqrt(math.log(9) / tail)  # 9 = ceil(30 * 0.3)
    assert index_paths(policy, run)[29, 0] == pytest.approx(expected, rel=1e-12)
