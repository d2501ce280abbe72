"""Bandit policies: one short class each, with its parameters and its index.

An index function has the signature ``index(t, arms, state, params, memory, history)`` and writes
``arms[i].index`` for every arm; the arm with the largest index is played next.

=============  ==================================================================================
``t``          1-based number of the pull to come (or the number of pulls done, see ``time``)
``arms[i]``    ``n``, ``mean``, ``var``, ``min``, ``max``, ``last``, ``inv_sqrt_n``; with ``alpha``
               set also ``tail_n`` = ceil(alpha n), ``cvar``, ``tail_max``, ``inv_sqrt_tail_n``
``state[0]``   ``horizon``, ``pulls`` (done so far), ``last_arm`` (-1 at first), ``last_reward``,
               ``tail_t`` = ceil(alpha t)
``params``     the policy's parameters, float64
``memory``     float64 numbers of the policy's own, 0 at the start of each run
``history``    ``history[i, :arms[i].n]``: all rewards of arm i, if the policy asks for them
=============  ==================================================================================

An index is NaN until it is written, and stays as it is until it is written again; NaN does not
win. The function is called at every step, during the first pulls too (its choice is then not used).
Where an arm's index depends on its own pulls alone, ``for i in changed(arms, state)`` goes through
those to be written: the one just pulled, and at first all. With many arms that is much faster.
A function that writes ``state[0].final = True`` is not called again in this run: the arm of largest
index is then played to the end.

The policies of the paper and of its time are in `paper`, those that came later and the references
they are compared with in `since_2013`, a user's own in `custom`.
"""

from ..kernels.indices import changed
from ..kernels.random import (
    next_beta,
    next_binomial,
    next_exponential,
    next_gamma,
    next_normal,
    next_uniform,
)
from .base import Policy, index
from .custom import Custom
from .paper import (
    KLUCB,
    MIN,
    MVLCB,
    UCB,
    EpsilonGreedy,
    ExpExp,
    ForcedMaRaB,
    MaRaB,
    ThompsonSampling,
)
from .since_2013 import (
    BCVTS,
    MCVTS,
    MOSS,
    MVTS,
    NPTS,
    RAUCB,
    UCBV,
    UUCB,
    BernoulliMVTS,
    CVaRUCB,
    ExploreThenCommit,
    MaRaBOUT,
    SuccessiveElimination,
    for_cvar,
    since_2013,
)

__all__ = [
    "BCVTS",
    "KLUCB",
    "MCVTS",
    "MIN",
    "MOSS",
    "MVLCB",
    "MVTS",
    "NPTS",
    "RAUCB",
    "UCB",
    "UCBV",
    "UUCB",
    "BernoulliMVTS",
    "CVaRUCB",
    "Custom",
    "EpsilonGreedy",
    "ExpExp",
    "ExploreThenCommit",
    "ForcedMaRaB",
    "MaRaB",
    "MaRaBOUT",
    "Policy",
    "SuccessiveElimination",
    "ThompsonSampling",
    "changed",
    "for_cvar",
    "index",
    "next_beta",
    "next_binomial",
    "next_exponential",
    "next_gamma",
    "next_normal",
    "next_uniform",
    "since_2013",
]
