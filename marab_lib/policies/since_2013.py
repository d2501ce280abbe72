"""Risk-aware policies published since 2013, and the references they are compared with.

Each docstring gives the formula, its assumptions and its source; where a source leaves something
open, disagrees with another or could not be read, it says so under Notes. Public as
``marab_lib.policies.X``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate, risk
from ..kernels.dirichlet import (
    LOW,
    OWN,
    draw_bounds,
    draw_counted_mean,
    memory_of_arm,
    settle,
    take_reward,
)
from ..kernels.indices import (
    changed,
    draw_chances,
    just_pulled,
    kl_ucb_bound,
)
from ..kernels.jit import jit
from ..kernels.random import next_binomial_from, next_fast_normal, next_gamma_from
from ..kernels.ranks import (
    RANKED,
    RUNS,
    insert_reward,
    rank_rewards,
    trimmed_cvar,
    trimmed_cvar_moved,
    unrank_rewards,
)
from ..kernels.tails import split_cvar
from .base import (
    LEAST_LEVEL,
    Policy,
    finite,
    first_pulls,
    interval,
    level,
    number,
    parameter,
    whole,
)

if TYPE_CHECKING:
    from ..problems import Problem


def _log_quotient(x: float, y: float) -> float:
    """log(x / y); x / y itself may exceed all floats."""
    return math.log(x / y) if x / y < math.inf else math.log(x) - math.log(y)


def _check_values(policy: Policy, problem: Problem, values: Sequence[float]) -> None:
    for arm in problem.arms:
        if arm.atoms is None or not np.isin(arm.atoms, values).all():
            raise ValueError(
                f"problems: {policy.name} needs rewards among its values {values}, but "
                f"{problem.name!r} has the arm {arm!r}"
            )


def _check_digits(policy: Any, problem: Problem) -> None:
    """Refuse an upper end beside which rewards cannot be told apart: its distances are summed."""
    width = problem.essential_suprema.max() - problem.essential_infima.min()
    step = np.spacing(abs(policy.upper))
    if width > 0 and step > 1e-9 * width:
        raise ValueError(
            f"upper must be of the size of the rewards, got {policy.upper:g} for {policy.name}: at "
            f"that size numbers are {step:.1g} apart, more than 1e-9 of the width {width:g} of the "
            f"rewards of {problem.name!r}"
        )


# --- risk-neutral references --------------------------------------------------------------


@jit()
def _ucb_v(t, arms, state, params, memory, history):
    zeta, weight, largest = params[0], params[1], params[2]
    E = zeta * math.log(t)
    root, best = math.sqrt(E), -math.inf
    for i in just_pulled(arms, state):
        a = arms[i]
        memory[2 * i], memory[2 * i + 1] = math.sqrt(2.0 * a.var) * a.inv_sqrt_n, weight / a.n
    for i in range(arms.size):  # without a root and a quotient for each: right but for rounding
        arms[i].index = arms[i].mean + root * memory[2 * i] + E * memory[2 * i + 1]
        best = max(best, arms[i].index)
    for a in arms:
        if not a.index < best - 1e-12 * (abs(best) + largest):
            a.index = a.mean + math.sqrt(2.0 * a.var * E) * a.inv_sqrt_n + weight * E / a.n


@dataclass(frozen=True)
class UCBV(Policy):
    """UCB-V: plays argmax of mean + sqrt(2 var E / n) + 3 c b E / n with E = zeta log(t).

    b is the width of the support. Assumes rewards in a known interval; its aim is the mean.

    Parameters
    ----------
    zeta : float
        Weight of the logarithm, > 0. Default 1; the analysis asks for more than 1.
    c : float
        Weight of the third term, >= 0. Default 1.
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    References
    ----------
    Audibert, Munos and Szepesvari (2009), Exploration-exploitation tradeoff using variance
    estimates in multi-armed bandits.
    """

    zeta: float = number(1.0, open_low=True)
    c: float = number(1.0)
    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "UCB-V"
    index_function = staticmethod(_ucb_v)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        # A random choice takes a number for every tie on its way: then all indices are exact.
        largest = math.inf if self.ties == "random" else max(map(abs, self.support))
        return (self.zeta, 3 * self.c * (self.support[1] - self.support[0]), largest)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return 2 * n_arms


@jit()
def _moss(t, arms, state, params, memory, history):
    pulls_an_arm, b = params[0], params[1]
    for i in changed(arms, state):
        a = arms[i]
        a.index = a.mean + b * math.sqrt(max(0.0, math.log(pulls_an_arm / a.n))) * a.inv_sqrt_n


@dataclass(frozen=True)
class MOSS(Policy):
    """MOSS: plays argmax of mean + b sqrt(max(0, log(T / (K n))) / n); its aim is the mean.

    Assumes a known horizon T, and rewards in a known interval of width b.

    Parameters
    ----------
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    Notes
    -----
    Some libraries put the current t for the horizon T; here it is T, as its authors have it.

    References
    ----------
    Audibert and Bubeck (2010), Regret bounds and minimax policies under partial monitoring.
    """

    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "MOSS"
    index_function = staticmethod(_moss)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return (horizon / n_arms, self.support[1] - self.support[0])


# --- upper confidence bounds of a risk ----------------------------------------------------


@jit()
def _u_ucb(t, arms, state, params, memory, history):
    alpha, weight = params[0], params[1]
    bonus = weight * math.sqrt(math.log(t))
    for a in arms:
        a.index = split_cvar(a, alpha) + bonus * a.inv_sqrt_n


@dataclass(frozen=True)
class UUCB(Policy):
    """U-UCB for the CVaR: plays argmax of CVaR + (b / alpha) sqrt(c log(t) / n).

    The CVaR is that of the empirical law (its lowest share alpha exactly, the last reward taken in
    part). It moves by at most b / alpha times a change of the cdf, b being the width of the
    support; hence the bonus. Assumes rewards in a known interval.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    c : float
        Weight of the logarithm, >= 0. Default 1, the value in the comparison of Baudry et al.
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    Notes
    -----
    The rule of its authors is for any smooth enough criterion of the empirical law and leaves a
    constant free; the form for the CVaR is that of the public code of Baudry et al. (2021), which
    has the upper end of the support where we take its width b.

    References
    ----------
    Cassel, Mannor and Zeevi (2018), A general approach to multi-armed bandits under risk criteria.
    """

    alpha: float | str | Fraction = level(least=LEAST_LEVEL)
    c: float = number(1.0)
    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "U-UCB"
    index_function = staticmethod(_u_ucb)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        alpha = float(risk.exact_level(self.alpha))
        return (alpha, (self.support[1] - self.support[0]) / alpha * math.sqrt(self.c))


@jit()
def _marabout(t, arms, state, params, memory, history):
    alpha, weight, C, constant = params[0], params[1], params[2], params[3]
    bonus = weight * math.sqrt(C * math.log(t) + constant)
    for a in arms:
        a.index = split_cvar(a, alpha) + bonus * a.inv_sqrt_n


@dataclass(frozen=True)
class MaRaBOUT(Policy):
    """MaRaBOUT: plays argmax of CVaR + b sqrt(11 (C log(t) + beta log(3)) / (alpha n)).

    Against MaRaB, the bonus is added, not subtracted, and the estimate of the CVaR takes exactly
    the share alpha of the sample in place of ceil(alpha n) rewards. Assumes rewards in an interval
    of width b.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    C : float
        Weight of the logarithm, >= 0; the analysis asks for more than 2. Default 2.
    beta : float
        Weight of the constant term, in [0, 1]. Default 0.5.
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    Notes
    -----
    The thesis could not be read for this project. Formula and ranges of C and beta are those of a
    public course project that refers to it, and that runs C = 1 and beta = 0.5 itself; b = 1 there.
    They fit a known deviation bound of the estimated CVaR, 3 exp(-alpha n e**2 / (11 b**2)).

    References
    ----------
    Galichet (2015), Contributions to multi-armed bandits: risk-awareness and sub-sampling for
    linear contextual bandits (thesis). Wang and Gao (2010), Deviation inequalities for an estimator
    of the conditional value-at-risk.
    """

    alpha: float | str | Fraction = level(least=LEAST_LEVEL)
    C: float = number(2.0)
    beta: float = number(0.5, 0, 1)
    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "MaRaBOUT"
    index_function = staticmethod(_marabout)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        alpha, width = float(risk.exact_level(self.alpha)), self.support[1] - self.support[0]
        return (alpha, width * math.sqrt(11 / alpha), self.C, self.beta * math.log(3))


class _UpperEnd(Policy):
    """What policies share that know an upper end of the rewards, and no lower one."""

    upper: float  # a field of each

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, self.upper)

    def check_problem(self, problem: Problem) -> None:
        super().check_problem(problem)
        _check_digits(self, problem)


_BAND = 8  # numbers of memory an arm of CVaR-UCB: sorted part, two boundaries, bound
_BOUND = 7


@jit()
def _cvar_ucb(t, arms, state, params, memory, history):
    alpha, half_log, top = params[0], params[1], params[2]
    k, horizon, last = arms.size, state[0].horizon, state[0].last_arm
    if last >= 0:  # the bound of an arm changes only when it is pulled
        x, n = state[0].last_reward, arms[last].n
        row = _BAND * k + last * horizon
        part = memory[_BAND * last : _BAND * (last + 1)]
        values, counts = memory[row : row + horizon], memory[row + k * horizon :]
        insert_reward(part, values, counts, history[last], x)
        cut = math.sqrt(half_log / n)
        part[_BOUND] = top
        if cut < 1.0:
            needed = min(n, int((alpha + cut) * n) + 1)
            rank_rewards(part, values, counts, history[last], needed)
            if part[RUNS] == part[RANKED]:
                part[_BOUND] = trimmed_cvar_moved(part, values, x, alpha, cut, top, part[3:_BOUND])
                unrank_rewards(part, values, history[last], needed)
            else:
                part[_BOUND] = trimmed_cvar(part, values, counts, alpha, cut, top)
    for i in changed(arms, state):
        arms[i].index = memory[_BAND * i + _BOUND] if arms[i].n > 0 else math.inf


@dataclass(frozen=True)
class CVaRUCB(_UpperEnd):
    """CVaR-UCB: plays the largest CVaR that a band around the empirical cdf allows.

    With probability 1 - delta the cdf lies within e = sqrt(log(2 / delta) / (2 n)) of the empirical
    one (Dvoretzky, Kiefer and Wolfowitz; constant of Massart). The most optimistic law moves the
    lowest share e of the sample up to the upper end `upper` of the support.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    delta : float, optional
        Confidence in (0, 1). Default 1 / T**2, as in the public code of Baudry et al. (2021).
    upper : float
        Every reward is at most this. Default 1. (The lower end plays no part.)

    Notes
    -----
    Read from that code, which a second public code agrees with, and from abstracts, not from the
    paper. The rule needs T: a band for each t is not offered.

    References
    ----------
    Tamkin, Keramati, Dann and Brunskill (2019), Distributionally-aware exploration for CVaR
    bandits. Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality.
    """

    alpha: float | str | Fraction = level(least=LEAST_LEVEL)
    delta: float | None = number(None, 0, 1, open_low=True, open_high=True)
    _: KW_ONLY
    upper: float = number(1.0, -math.inf)
    title = "CVaR-UCB"
    ranks_unpulled = True
    index_function = staticmethod(_cvar_ucb)
    keeps_history = True
    keeps_tails = False

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        delta = 1 / horizon**2 if self.delta is None else self.delta
        return (float(risk.exact_level(self.alpha)), _log_quotient(2, delta) / 2, self.upper)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return n_arms * (_BAND + 2 * horizon)


@jit()
def _log_lower_bound(log_p, bound):
    """log(-log r) for the least r <= p with Bernoulli divergence kl(p, r) at most `bound`.

    Halley's method for d = log(p / r), in which the divergence is convex; p may be less than any
    float. Returns -inf for r = 1.
    """
    if bound <= 0.0:
        return math.log(-log_p) if log_p < 0.0 else -math.inf
    if log_p < -250.0 or bound > 1e20:  # d is bound / p, beside which log(p) is nothing
        return math.log(bound) - log_p
    if log_p >= 0.0:
        return math.log(bound)
    p, rest = math.exp(log_p), -math.expm1(log_p)
    d = math.sqrt(2.0 * bound * rest / p)
    for _ in range(50):
        less = -math.expm1(-d)
        left = rest + p * less  # 1 - r
        slope, curvature = p * less / left, p * rest * (1.0 - less) / (left * left)
        f = p * d - rest * math.log1p(p * less / rest) - bound
        step = f / (slope - 0.5 * f * curvature / slope)
        d -= step
        # Cubic convergence: a step this small leaves an error below the last bit.
        if abs(step) < 1e-5 * d:
            break
    return math.log(d - log_p)


# Numbers of memory an arm of RA-UCB: the sum of 1 - Y, as its largest term's logarithm and the sum
# over that term; the logarithm of the mean of 1 - Y; bound and slope at its index.
_ARM_OF_RA_UCB = 5
_LARGEST, _TOTAL, _LOG_MEAN, _SOLVED_BOUND, _SLOPE = range(_ARM_OF_RA_UCB)


@jit()
def _take_loss(kept, n, place, aversion):
    """Take the reward that lies at `place` of its interval, 0 to 1, into the mean of 1 - Y."""
    if place < 1.0:
        share = math.expm1(-aversion * (1.0 - place)) / math.expm1(-aversion)
        log = math.log(share) - aversion * place
        if kept[_TOTAL] == 0.0:
            kept[_LARGEST], kept[_TOTAL] = log, 1.0
        elif log > kept[_LARGEST]:
            kept[_TOTAL] = 1.0 + kept[_TOTAL] * math.exp(kept[_LARGEST] - log)
            kept[_LARGEST] = log
        else:
            kept[_TOTAL] += math.exp(log - kept[_LARGEST])
    if kept[_TOTAL] > 0.0:
        kept[_LOG_MEAN] = min(0.0, kept[_LARGEST] + math.log(kept[_TOTAL] / n))


@jit()
def _solve(a, kept, bound):
    kept[_SOLVED_BOUND] = bound
    if kept[_TOTAL] == 0.0:  # all rewards at the upper end, or none yet
        a.index, kept[_SLOPE] = 1e300 if a.n > 0 else math.inf, 0.0
        return
    log_p = kept[_LOG_MEAN]
    a.index = _log_lower_bound(log_p, bound / a.n)
    rest, d = -math.expm1(-math.exp(a.index)), max(0.0, math.exp(a.index) + log_p)
    kept[_SLOPE] = rest / (-math.expm1(-d) * math.exp(a.index + log_p) * a.n)


@jit()
def _ra_ucb(t, arms, state, params, memory, history):
    aversion, c, low, width, margin = params[0], params[1], params[2], params[3], params[4]
    bound, last = kl_ucb_bound(t, c), state[0].last_arm
    kept = memory.reshape(arms.size, _ARM_OF_RA_UCB)
    if last >= 0:
        _take_loss(kept[last], arms[last].n, (state[0].last_reward - low) / width, aversion)
        _solve(arms[last], kept[last], bound)
    # As in KL-UCB: the index of an arm that was not pulled grows, at most by its tangent.
    best = -math.inf
    for a in arms:
        best = max(best, a.index)
    for i in range(arms.size):
        most = arms[i].index + (bound - kept[i, _SOLVED_BOUND]) * kept[i, _SLOPE]
        if i != last and not most < best - margin * (1.0 + abs(best)):
            _solve(arms[i], kept[i], bound)


@dataclass(frozen=True)
class RAUCB(Policy):
    """RA-UCB: plays the largest plausible entropic risk -(1/theta) log E exp(-theta X).

    Y = (1 - exp(-theta (X - low))) / (1 - exp(-theta (high - low))) lies in [0, 1] and its mean m
    tells the entropic risk: low - (1/theta) log(1 - (1 - exp(-theta (high - low))) m). The rule is
    to play the arm for which this increasing function is largest at the largest m with
    n kl(mean of Y, m) <= log(t) + c log(log(t)). Since that m is 1 in floating point for all arms
    when theta is large, the index is log(-log(1 - m)), which increases with m too.

    Parameters
    ----------
    theta : float
        Risk aversion > 0, per unit of the reward; near 0 the aim is the mean, for large values the
        minimum. Default 5.
    c : float
        Weight of the second term, >= 0. Default 0.
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    Notes
    -----
    The paper could not be read for this project, and what is said of it differs: its abstract
    speaks of a coherent risk measure and of the cumulant generating function, Baudry et al. (2021)
    of the entropic value at risk, others of the entropic risk, which is not coherent. We take the
    last. As far as is known to us, RA-UCB is an upper confidence bound with a high-probability
    bound of its regret. The bound used here, by the Bernoulli divergence of the transformed reward,
    is our choice and is valid for any law on the interval.

    References
    ----------
    Maillard (2013), Robust risk-averse stochastic multi-armed bandits. Garivier and Cappe (2011).
    """

    theta: float = number(5.0, open_low=True)
    c: float = number(0.0)
    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "RA-UCB"
    ranks_unpulled = True
    index_function = staticmethod(_ra_ucb)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        low, width = self.support[0], self.support[1] - self.support[0]
        # Less aversion than the last bit of 1 is none: the aim is the mean. The margin is above all
        # rounding; a random choice takes a number for every tie on its way.
        margin = math.inf if self.ties == "random" else 1e-8
        return (max(self.theta * width, 1e-17), self.c, low, width, margin)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return _ARM_OF_RA_UCB * n_arms


# --- Thompson sampling --------------------------------------------------------------------


@jit()
def _b_cvts(t, arms, state, params, memory, history):
    alpha, top, values_at, sums_at = params[0], params[1], int(params[2]), int(params[3])
    size, last = memory.size // arms.size, state[0].last_arm
    if last >= 0:
        at, x = last * size, state[0].last_reward
        take_reward(memory, at, at + values_at, at + sums_at, x, top)
        memory[at + OWN] = max(alpha, 1.0 - alpha) ** arms[last].n
    for i in range(arms.size):
        # As many rewards share the lowest weight alpha as n uniform numbers fall below alpha.
        at, lowest = i * size, 1 + arms[i].n
        if alpha < 1.0:
            none = memory[at + OWN]
            lowest = 1 + next_binomial_from(state, arms[i].n, alpha, none)
        draw_bounds(memory, at, at + values_at, at + sums_at, lowest, top, state)
    settle(memory, arms.size, values_at, sums_at, top, state)
    for i in range(arms.size):
        arms[i].index = memory[i * size + LOW]


class _Resampling(_UpperEnd):
    """What B-CVTS and NPTS share."""

    index_function = staticmethod(_b_cvts)
    keeps_tails = False
    ranks_unpulled = True

    def _parameters(self, alpha: float, horizon: int) -> tuple[float, ...]:
        values_at, _ = memory_of_arm(horizon)
        return (alpha, self.upper, values_at, values_at + horizon)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return n_arms * memory_of_arm(horizon)[1]


@dataclass(frozen=True)
class BCVTS(_Resampling):
    """B-CVTS: plays the largest CVaR of randomly reweighted histories.

    The rewards of an arm and the upper end `upper` of the support get weights from
    Dirichlet(1, ..., 1), drawn anew for every arm at every pull; the index is the CVaR of that law.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    upper : float
        Every reward is at most this. Default 1. (Its authors find that a prudent, too large value
        costs little in the settings they consider.)

    Notes
    -----
    The choices have the law of that rule, but cost far less than it says. (1) The sums of the
    weights in the order of the rewards are sorted uniform numbers. So the number of rewards below
    the quantile is J ~ Binomial(n, alpha), and given J the CVaR is the mean of the J + 1 lowest
    rewards with weights Dirichlet(1, ..., 1): neither the total nor the other rewards are needed.
    (2) The weights of equal rewards sum to one gamma number: an arm with few distinct values costs
    as many draws as it has values. (3) So do those of a block of ranks; given the weights of all
    blocks, the CVaR is known up to a sub-Gaussian rest. Blocks are split until these bounds settle
    which arm wins. (1) and (2) are exact; a bound of (3) fails with probability 2**-52, as fine as
    the random numbers are. What is *not* as in the rule is `index`: it is the lower bound.

    References
    ----------
    Baudry, Gautron, Kaufmann and Maillard (2021), Optimal Thompson sampling strategies for
    support-aware CVaR bandits, algorithm 2.
    """

    alpha: float | str | Fraction = level()
    _: KW_ONLY
    upper: float = number(1.0, -math.inf)
    title = "B-CVTS"

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return self._parameters(float(risk.exact_level(self.alpha)), horizon)


@dataclass(frozen=True)
class NPTS(_Resampling):
    """Non-parametric Thompson sampling: B-CVTS with alpha = 1, so that its aim is the mean.

    Parameters
    ----------
    upper : float
        Every reward is at most this. Default 1.

    References
    ----------
    Riou and Honda (2020), Bandit algorithms based on Thompson sampling for bounded reward
    distributions.
    """

    _: KW_ONLY
    upper: float = number(1.0, -math.inf)
    title = "NPTS"

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return self._parameters(1.0, horizon)


@jit()
def _m_cvts(t, arms, state, params, memory, history):
    alpha, values = params[0], params[1:]
    width, last = values.size + 1, state[0].last_arm  # the counts of an arm, and what stands behind
    common = max(alpha, 1.0 - alpha)
    if state[0].pulls == 0:
        memory[:] = 1.0  # the prior: each value once
        for i in range(arms.size):
            memory[i * width + values.size] = common ** (values.size - 1)
    if last >= 0:
        place = 0
        for j in range(1, values.size):
            place += state[0].last_reward >= values[j]
        memory[last * width + place] += 1.0
        memory[last * width + values.size] = common ** (arms[last].n + values.size - 1)
    for i in range(arms.size):
        n = arms[i].n + values.size - 1
        lowest = 1 + next_binomial_from(state, n, alpha, memory[i * width + values.size])
        arms[i].index = draw_counted_mean(memory, i * width, values, lowest, state)


def _values(policy: Policy, name: str, value: object) -> tuple[float, ...]:
    values = _validate.finite_array(name, value).ravel()
    if values.size < 2 or np.unique(values).size < values.size:
        raise ValueError(
            f"{name} must be at least 2 different numbers, got {_validate.shown(value)}"
        )
    finite(name, abs(values).max())
    return tuple(sorted(values.tolist()))


@dataclass(frozen=True)
class MCVTS(Policy):
    """M-CVTS: Thompson sampling of the CVaR for rewards of a known finite set of values.

    The probabilities of an arm's values have a uniform prior; the index is the CVaR of a draw from
    the posterior Dirichlet(1 + counts). The cost does not grow with t. No first pulls are needed;
    ``first_pulls`` is "none" by default.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    values : sequence of float
        All values that a reward can take. Default 0, 0.1, ..., 1.

    References
    ----------
    Baudry, Gautron, Kaufmann and Maillard (2021), algorithm 1.
    """

    alpha: float | str | Fraction = level()
    _: KW_ONLY
    values: Sequence[float] = parameter(_values, tuple(k / 10 for k in range(11)))
    first_pulls: str = first_pulls("none")
    title = "M-CVTS"
    ranks_unpulled = True
    index_function = staticmethod(_m_cvts)
    keeps_tails = False

    def check_problem(self, problem: Problem) -> None:
        _check_values(self, problem, self.values)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        return (float(risk.exact_level(self.alpha)), *self.values)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return n_arms * (len(self.values) + 1)


@jit()
def _mvts(t, arms, state, params, memory, history):
    rho = params[0]
    for i in just_pulled(arms, state):  # as gamma numbers of shape n / 2 + 1 / 2 ask for it
        memory[i] = 1.0 / math.sqrt(9.0 * (0.5 * arms[i].n + 1.0 / 6.0))
    for i in range(arms.size):
        a = arms[i]
        if a.n == 0:
            a.index = math.inf
            continue
        variance = (0.5 + 0.5 * a.n * a.var) / next_gamma_from(
            state, 0.5 * a.n + 1.0 / 6.0, memory[i]
        )
        mean = a.mean + a.inv_sqrt_n * next_fast_normal(state)
        a.index = rho * mean - variance


@dataclass(frozen=True)
class MVTS(Policy):
    """MVTS: Thompson sampling of the mean-variance, plays argmax of rho m - 1 / tau.

    tau ~ Gamma(1/2 + n/2, rate 1/2 + n var / 2) stands for the precision and m ~ N(mean, 1 / n) for
    the mean. Made and analysed for Gaussian arms.

    Parameters
    ----------
    rho : float
        Risk tolerance, >= 0. Default 1.

    Notes
    -----
    Read from public code after the paper and from its abstract. That code takes 1 / n for the
    *standard deviation* of m; N(mean, 1 / n) in the field's notation gives the variance, as here.

    References
    ----------
    Zhu and Tan (2020), Thompson sampling algorithms for mean-variance bandits.
    """

    rho: float = number(1.0)
    title = "MVTS"
    ranks_unpulled = True
    index_function = staticmethod(_mvts)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return n_arms


@jit()
def _bernoulli_mvts(t, arms, state, params, memory, history):
    rho = params[0]
    draw_chances(arms, state, memory)
    for a in arms:
        a.index *= rho - 1.0 + a.index


@dataclass(frozen=True)
class BernoulliMVTS(Policy):
    """MVTS for Bernoulli arms: plays argmax of rho theta - theta (1 - theta).

    theta, a draw from the posterior Beta(1 + successes, 1 + failures), stands for the mean; so the
    variance is theta (1 - theta). Assumes rewards 0 or 1. No first pulls are needed;
    ``first_pulls`` is "none" by default.

    Parameters
    ----------
    rho : float
        Risk tolerance, >= 0. Default 1, for which the index is theta**2.

    References
    ----------
    Zhu and Tan (2020), Thompson sampling algorithms for mean-variance bandits.
    """

    rho: float = number(1.0)
    _: KW_ONLY
    first_pulls: str = first_pulls("none")
    title = "Bernoulli MVTS"
    ranks_unpulled = True
    index_function = staticmethod(_bernoulli_mvts)
    keeps_tails = False

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return 4 * n_arms

    def check_problem(self, problem: Problem) -> None:
        _check_values(self, problem, (0.0, 1.0))


# --- explore first, or eliminate ----------------------------------------------------------


@jit()
def _explore_then_commit(t, arms, state, params, memory, history):
    alpha, each = params[0], params[1]
    if state[0].pulls < each * arms.size:
        for i in changed(arms, state):
            arms[i].index = -arms[i].n
    else:
        for a in arms:
            a.index = split_cvar(a, alpha)
        state[0].final = True


@dataclass(frozen=True)
class ExploreThenCommit(Policy):
    """Explore-then-commit on the CVaR: m pulls of each arm, then the arm of largest CVaR for good.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    m : int, optional
        Pulls of each arm, with K m <= T. Default ceil((T / K)**(2/3)), the order that balances both
        phases when nothing is known of the margins (our choice of constant).

    References
    ----------
    Robbins (1952), Some aspects of the sequential design of experiments. Lattimore and Szepesvari
    (2020), Bandit algorithms, chapter 6.
    """

    alpha: float | str | Fraction = level(least=LEAST_LEVEL)
    m: int | None = whole(None, 1)
    title = "ETC"
    ranks_unpulled = True
    index_function = staticmethod(_explore_then_commit)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        most = horizon // n_arms
        m = min(most, math.ceil((horizon / n_arms) ** (2 / 3))) if self.m is None else self.m
        m = max(_validate.whole("m", m, 1, most), self.rounds)
        return (float(risk.exact_level(self.alpha)), m)


@jit()
def _successive_elimination(t, arms, state, params, memory, history):
    alpha, width = params[0], params[1]
    best = -math.inf
    for i in range(arms.size):
        if memory[i] == 0.0:
            if arms[i].n == 0:  # nothing can be said before all were pulled
                best = -math.inf
                break
            best = max(best, split_cvar(arms[i], alpha) - width * arms[i].inv_sqrt_n)
    for i in range(arms.size):
        a = arms[i]
        if memory[i] == 0.0 and a.n > 0:
            memory[i] = split_cvar(a, alpha) + width * a.inv_sqrt_n < best
        a.index = -a.n if memory[i] == 0.0 else -math.inf


@dataclass(frozen=True)
class SuccessiveElimination(Policy):
    """Successive elimination on the CVaR: all remaining arms in turn, dropping the hopeless.

    An arm is dropped when its CVaR + r is below the CVaR - r of another, with
    r = (b / alpha) sqrt(log(2 K T / delta) / (2 n)) from the band of Dvoretzky, Kiefer, Wolfowitz
    for all arms and counts at once. Assumes rewards in an interval of width b.

    Parameters
    ----------
    alpha : float, str or Fraction
        Risk level in (0, 1). Default 0.2.
    delta : float, optional
        Probability in (0, 1) that any band fails. Default 1 / T.
    support : (float, float)
        Interval of the rewards. Default (0, 1).

    References
    ----------
    Even-Dar, Mannor and Mansour (2006), Action elimination and stopping conditions for the
    multi-armed bandit and reinforcement learning problems (for the mean; the radius is ours).
    """

    alpha: float | str | Fraction = level(least=LEAST_LEVEL)
    delta: float | None = number(None, 0, 1, open_low=True, open_high=True)
    _: KW_ONLY
    support: tuple[float, float] = interval()
    title = "SuccElim"
    ranks_unpulled = True
    index_function = staticmethod(_successive_elimination)

    def parameters(self, n_arms: int, horizon: int) -> tuple[float, ...]:
        alpha = float(risk.exact_level(self.alpha))
        delta = 1 / horizon if self.delta is None else self.delta
        radius = math.sqrt(_log_quotient(2 * n_arms * horizon, delta) / 2)
        return (alpha, (self.support[1] - self.support[0]) / alpha * radius)

    def memory_size(self, n_arms: int, horizon: int) -> int:
        return n_arms


KNOWLEDGE = {
    "B-CVTS": "upper end",
    "CVaR-UCB": "upper end, T",
    "ETC": "T",
    "ExpExp": "T",
    "M-CVTS": "all values",
    "MOSS": "interval, T",
    "MV-LCB": "interval, T",
    "NPTS": "upper end",
    "SuccElim": "interval, T",
} | dict.fromkeys(("KL-UCB", "MaRaBOUT", "RA-UCB", "Thompson", "U-UCB", "UCB-V"), "interval")


def for_cvar(alpha: float | str | Fraction) -> list[Policy]:
    """The policies of this module that aim at the CVaR of any rewards in [0, 1].

    Examples
    --------
    >>> [policy.title for policy in for_cvar(0.1)]
    ['B-CVTS', 'CVaR-UCB', 'U-UCB', 'MaRaBOUT', 'ETC', 'SuccElim']
    """
    makers = (BCVTS, CVaRUCB, UUCB, MaRaBOUT, ExploreThenCommit, SuccessiveElimination)
    return [make(alpha) for make in makers]


def since_2013(
    alpha: float | str | Fraction = 0.1, rho: float = 1.0, theta: float = 5.0
) -> list[Policy]:
    """One of each policy of this module that plays any rewards in [0, 1], at its defaults.

    Parameters
    ----------
    alpha : float, str or Fraction
        Level of the policies that aim at the CVaR.
    rho : float
        Risk tolerance of the one that aims at the mean-variance.
    theta : float
        Risk aversion of the one that aims at the entropic risk.

    Examples
    --------
    >>> len(since_2013()), since_2013(0.05)[0].name
    (11, 'B-CVTS(alpha=0.05)')
    """
    return [*for_cvar(alpha), RAUCB(theta), MVTS(rho), UCBV(), MOSS(), NPTS()]
