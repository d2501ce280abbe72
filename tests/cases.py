"""What several tests take: a problem of all kinds of arms, and the indices of given rewards."""

from __future__ import annotations

import math

import numpy as np

from marab_lib import arms, problems
from marab_lib.kernels.records import ARM, STATE
from marab_lib.risk import tail_sizes

EMPTY = np.zeros((0, 0))


def mixed_problem() -> problems.Problem:
    """All kinds of arms in one problem; the discrete values are dyadic, so that ties are exact."""
    return problems.Problem(
        [
            arms.Uniform(0.1, 0.6),
            arms.TruncatedGaussianMixture(0.02, 1, [0.3, 0.7], [0.2, 0.9], [0.2, 0.4]),
            arms.Empirical([0.25, 0.5, 0.5, 0.875]),
            arms.Bernoulli(0.5),
            arms.Bernoulli([0.45, 0.5]),
            arms.Beta(2.0, 3.0),
            arms.Beta(0.5, 0.7),
        ]
    )


def indices(policy, t, rewards, horizon=100, memory=None, **state_fields):
    """Index of each arm after the given lists of rewards, the tails kept as the policy asks."""
    n_arms = len(rewards)
    records = np.zeros(n_arms, ARM)
    for record, x in zip(records, rewards, strict=True):
        record["n"] = len(x)
        record["mean"], record["var"], record["min"] = np.mean(x), np.var(x), min(x)
        record["inv_sqrt_n"], record["sum"] = 1 / math.sqrt(len(x)), sum(x)
    state = np.zeros(1, STATE)
    state[0]["horizon"], state[0]["pulls"] = horizon, t - 1
    state[0]["last_arm"] = -1
    if policy.alpha is not None:
        sizes = tail_sizes(policy.alpha, horizon, policy.share)
        state[0]["tail_t"] = sizes[t]
        for record, x in zip(records, rewards, strict=True):
            tail = sorted(x)[: sizes[len(x)]]
            record["tail_n"], record["cvar"], record["tail_max"] = (
                len(tail),
                np.mean(tail),
                tail[-1],
            )
            record["inv_sqrt_tail_n"] = 1 / math.sqrt(len(tail))
    for name, value in state_fields.items():
        state[0][name] = value
    memory = np.zeros(policy.memory_size(n_arms, horizon)) if memory is None else memory
    params = np.array(policy.parameters(n_arms, horizon), dtype=float)
    policy.index_function(t, records, state, params, memory, EMPTY)
    return records["index"].tolist()
