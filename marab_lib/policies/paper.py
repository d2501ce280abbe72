"""The policies of the paper and of its time, and a MaRaB with a guarantee: a short class each."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction

from .. import _validate
from ..kernels.indices import (
    bernoulli_entropy,
    bernoulli_upper_bound,
    changed,
    draw_chances,
    kl_ucb_bound,
)
from ..kernels.jit import jit
from ..kernels.random import next_uniform
from .base import Policy, choice, first_pulls, level, number

_CONSTANTS = ("outside", "inside")


def _outside(C: float, constant: str) -> float:
    """The factor before the square root."""
    return C if constant == "outside" else math.sqrt(C)


@jit()
def _ucb(t, arms, state, params, memory, history):
    C = params[0]
    bonus = C * math.sqrt(math.log(t))
    for a in arms:
        a.index = a.mean + bonus * a.inv_sqrt_n


@dataclass(frozen=True)
class UCB(Policy):
    """Upper confidence bound: plays argmax of mean + C sqrt(log(t) / n) (section 2.1).

    Parameters
    ----------
    C : float
        Weight of the exploration, >= 0. Default 1e-3, the value of figure 2; Auer et al. analyse
        sqrt(2).
    constant : {"outside", "inside"}
        Where C stands: before the square root, as the paper has it (default), or under it, as
        other authors write UCB. Under it, C acts as its own square root would outside.

    References
    ----------
    Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem.
    """

    C: float = number(1e-3)
    _: KW_ONLY
    constant: str = choice(*_CONSTANTS)
    title = "UCB"
    index_function = staticmethod(_ucb)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return (_outside(self.C, self.constant),)


_SOLVED = 3  # numbers of memory an arm of KL-UCB: entropy of the mean, bound and slope at its index


@jit()
def _solve(a, solved, bound):
    q = a.index = bernoulli_upper_bound(a.mean, bound / a.n, solved[0])
    solved[1], solved[2] = bound, q * (1.0 - q) / ((q - a.mean) * a.n)


@jit()
def _kl_ucb(t, arms, state, params, memory, history):
    bound, last = kl_ucb_bound(t, params[0]), state[0].last_arm
    solved = memory.reshape(arms.size, _SOLVED)
    if last >= 0:
        solved[last, 0] = bernoulli_entropy(arms[last].mean)
        _solve(arms[last], solved[last], bound)
    # The index of an arm that was not pulled grows, at most by its tangent: it is concave in the
    # bound. Where that is not enough to win, the old one stays. (A tangent of NaN is no limit.)
    best = -math.inf
    for a in arms:
        best = max(best, a.index)
    for i in range(arms.size):
        most = arms[i].index + (bound - solved[i, 1]) * solved[i, 2]
        if i != last and not most < best - params[1]:
            _solve(arms[i], solved[i], bound)


@dataclass(frozen=True)
class KLUCB(Policy):
    """KL-UCB: plays the largest q with n kl(mean, q) <= log(t) + c log(log(t)) (section 2.1).

    kl is the Bernoulli divergence, valid for any rewards in [0, 1].

    Parameters
    ----------
    c : float
        Weight of the second term, >= 0. Default 0, as its authors advise in practice.

    References
    ----------
    Garivier and Cappe (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond.
    """

    c: float = number(0.0)
    title = "KL-UCB"
    support = (0.0, 1.0)
    index_function = staticmethod(_kl_ucb)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        # The margin is above all rounding; a random choice takes a number for every tie on its way.
        return (self.c, math.inf if self.ties == "random" else 1e-8)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return _SOLVED * n_arms


@jit()
def _epsilon_greedy(t, arms, state, params, memory, history):
    eps, best = params[0], 0
    for i in range(arms.size):
        arms[i].index = arms[i].mean
        if arms[i].mean > arms[best].mean:
            best = i
    if next_uniform(state) < eps:
        i = int(next_uniform(state) * (arms.size - 1))
        i += i >= best
        arms[i].index = math.inf


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Epsilon-greedy: the best mean so far, but with probability epsilon another arm (section 2.1).

    Parameters
    ----------
    eps : float
        Share of exploration in [0, 1]. Default 0.1.

    Notes
    -----
    The arm left out while exploring is the one of lowest number among those with the best mean.
    """

    eps: float = number(0.1, 0, 1)
    title = "eps-greedy"
    index_function = staticmethod(_epsilon_greedy)


@jit()
def _thompson(t, arms, state, params, memory, history):
    draw_chances(arms, state, memory)


@dataclass(frozen=True)
class ThompsonSampling(Policy):
    """Thompson sampling with a uniform Beta prior on each arm's mean (section 1).

    Rewards strictly between 0 and 1 are made binary by one Bernoulli toss each. No first pulls
    are needed; ``first_pulls`` is "none" by default.

    References
    ----------
    Agrawal and Goyal (2012), Analysis of Thompson sampling for the multi-armed bandit problem.
    """

    _: KW_ONLY
    first_pulls: str = first_pulls("none")
    title = "Thompson"
    ranks_unpulled = True
    support = (0.0, 1.0)
    index_function = staticmethod(_thompson)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return 4 * n_arms


@jit()
def _min(t, arms, state, params, memory, history):
    for i in changed(arms, state):
        arms[i].index = arms[i].min


@dataclass(frozen=True)
class MIN(Policy):
    """MIN: plays the arm with the largest smallest reward so far (section 4)."""

    title = "MIN"
    ranks_unpulled = True
    index_function = staticmethod(_min)


@jit()
def _marab(t, arms, state, params, memory, history):
    C, of_quantile = params[0], params[1] == 1.0
    tail_t = state[0].tail_t  # grows at one step in 1 / alpha, and with it every index
    others_stay = memory[0] == tail_t
    if not others_stay:
        memory[0], memory[1] = tail_t, C * math.sqrt(math.log(tail_t))
    bonus = memory[1]
    for i in changed(arms, state, others_stay):
        a = arms[i]
        estimate = a.tail_max if of_quantile else a.cvar
        a.index = estimate - bonus * a.inv_sqrt_tail_n


@dataclass(frozen=True)
class MaRaB(Policy):
    """MaRaB: plays argmax of CVaR - C sqrt(log(ceil(t alpha)) / ceil(alpha n)) (eqs. 1 and 2).

    The CVaR of an arm is the mean of the ceil(alpha n) lowest of its n rewards, exact at every
    step. While ceil(t alpha) = 1 the logarithm is 0 and C has no effect; with alpha <= 1/T this is
    MIN for any C.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1), read as a decimal (see `risk.exact_level`). Default 0.2 (figure 2).
    C : float
        Weight of the pessimistic bonus, >= 0. Default 1e-6 (figure 2).
    share : {"ceil", "floor", "round"}
        How alpha n and alpha t are made whole. The paper takes the ceiling.
    estimator : {"cvar", "quantile"}
        Mean of the tail, or its largest reward. The paper takes the mean.
    constant : {"outside", "inside"}
        Whether C stands before the square root, as in eq. 2 (default), or under it.
    """

    alpha: float | str | Fraction = level()
    C: float = number(1e-6)
    _: KW_ONLY
    share: str = choice("ceil", "floor", "round")
    estimator: str = choice("cvar", "quantile")
    constant: str = choice(*_CONSTANTS)
    title = "MaRaB"
    index_function = staticmethod(_marab)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return (_outside(self.C, self.constant), float(self.estimator == "quantile"))

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return 2


@jit()
def _forced_marab(t, arms, state, params, memory, history):
    log_t = math.log(t)
    forced = params[0] * log_t * log_t
    least = arms[0].n
    for a in arms:
        least = min(least, a.n)
    for a in arms:
        a.index = a.cvar if least >= forced else -a.n


@dataclass(frozen=True)
class ForcedMaRaB(Policy):
    """MaRaB with forced pulls: the arm of fewest pulls while it has less than scale log(t)**2.

    Then the arm of best CVaR, the mean of the ceil(alpha n) lowest rewards: MaRaB with C = 0. Not
    of the paper: its section 6 asks for a guarantee, and this rule has one wherever
    one arm has the best CVaR (`bounds.forced_marab_regret`), at the price of up to
    K scale log(T)**2 pulls that may be unsafe.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    scale : float
        Weight of the forced pulls, > 0. Default 1.
    """

    alpha: float | str | Fraction = level()
    scale: float = number(1.0, open_low=True)
    title = "forced MaRaB"
    index_function = staticmethod(_forced_marab)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return (self.scale,)


@jit()
def _mv_lcb(t, arms, state, params, memory, history):
    rho, bonus, sign = params[0], params[1], params[2]
    for i in changed(arms, state):
        a = arms[i]
        a.index = sign * (a.var - rho * a.mean + bonus * a.inv_sqrt_n)


@dataclass(frozen=True)
class MVLCB(Policy):
    """MV-LCB: plays argmin of var - rho mean - (5 + rho) sqrt(log(1/delta) / (2 n)) (section 2.2).

    Parameters
    ----------
    rho : float
        Risk tolerance, >= 0. Default 2 (figure 2).
    delta : float, optional
        Confidence in (0, 1). Default 1 / T**2.
    bonus : {"optimistic", "pessimistic", "printed"}
        "optimistic": the rule above, that of Sani et al. (default). "pessimistic": the bonus is
        added before the minimum is taken. "printed": the *maximum* of the rule above, as the
        paper's text has it.

    References
    ----------
    Sani, Lazaric and Munos (2012), Risk-aversion in multi-armed bandits.
    """

    rho: float = number(2.0)
    delta: float | None = number(None, 0, 1, open_low=True, open_high=True)
    _: KW_ONLY
    bonus: str = choice("optimistic", "pessimistic", "printed")
    title = "MV-LCB"
    index_function = staticmethod(_mv_lcb)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        log_inverse = 2 * math.log(horizon) if self.delta is None else -math.log(self.delta)
        width = (5 + self.rho) * math.sqrt(log_inverse / 2)
        bonus = width if self.bonus == "pessimistic" else -width
        return (self.rho, bonus, 1.0 if self.bonus == "printed" else -1.0)


@jit()
def _exp_exp(t, arms, state, params, memory, history):
    rho, tau, updated = params[0], params[1], params[2]
    if state[0].pulls < tau:  # explore: the arm that was pulled least
        for i in changed(arms, state):
            arms[i].index = -arms[i].n
    else:  # the best mean-variance, once or ever again
        for i in changed(arms, state, state[0].pulls > tau):
            arms[i].index = rho * arms[i].mean - arms[i].var
        state[0].final = updated == 0.0


@dataclass(frozen=True)
class ExpExp(Policy):
    """ExpExp: all arms in turn for tau pulls, then the arm of least var - rho mean (section 2.2).

    Parameters
    ----------
    rho : float
        Risk tolerance, >= 0. Default 2 (figure 2).
    tau : float, optional
        Number of pulls of the exploration, all arms together, in [K, T]; its whole part counts.
        Default K (T / 14)**(2/3), or T where that is less.
    exploit : {"fixed", "updated"}
        After the exploration, keep to the arm that is best then (default), or choose anew before
        each pull from all rewards so far.

    References
    ----------
    Sani, Lazaric and Munos (2012), Risk-aversion in multi-armed bandits.
    """

    rho: float = number(2.0)
    tau: float | None = number(None, 1)
    _: KW_ONLY
    exploit: str = choice("fixed", "updated")
    title = "ExpExp"
    ranks_unpulled = True
    index_function = staticmethod(_exp_exp)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        tau = self.tau
        if tau is None:
            tau = min(horizon, max(n_arms, n_arms * (horizon / 14) ** (2 / 3)))
        _validate.number("tau", tau, n_arms, horizon)
        least = self.rounds * n_arms  # no choice counts before the forced pulls are over
        return (self.rho, max(math.floor(tau), least), float(self.exploit == "updated"))
