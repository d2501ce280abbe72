"""Section 3: the CVaR estimate, the selection rule and the two phases of MaRaB."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .. import policies, problems, risk
from .._rounding import order
from ..arms import RewardLaw, TruncatedGaussianMixture
from ..simulation.run import simulate
from ..statistics import Estimate

__all__ = [
    "abandoned_after_a_poor_start",
    "abandoned_share",
    "asymptotic_variance",
    "error_exponent",
    "error_ratio",
    "first_differences",
    "mean_square_errors",
    "phase_one_exceptions",
    "repeated_samples",
    "share_differing",
]

_PARTS = 10  # independent parts of the samples, for standard errors


def asymptotic_variance(law: RewardLaw, alpha: float | str | Fraction) -> float:
    """V of the central limit theorem sqrt(n) (estimate - CVaR) -> N(0, V).

    V = Var[(v - X)^+] / alpha^2 with v the alpha-quantile; needs a law with a density.

    References
    ----------
    Chen, S. X. (2008), Nonparametric estimation of expected shortfall.
    """
    from scipy import integrate

    level = float(risk.exact_level(alpha))
    v = law.quantile(level)

    def moment(power: int) -> float:
        shortfall = law.essential_infimum, v  # where (v - X)+ is not 0
        return integrate.quad(lambda x: (v - x) ** power * law.pdf(x), *shortfall)[0]

    return (moment(2) - moment(1) ** 2) / level**2


def repeated_samples(
    law: TruncatedGaussianMixture, repetitions: int, n: int, seed: int
) -> np.ndarray:
    """Independent samples of one arm, shape (repetitions, n): as many equal arms, in one call."""
    lower = np.full(repetitions, law.lower)
    many = TruncatedGaussianMixture(lower, law.upper, law.weights, law.means, law.scales)
    return many.sample(n, seed)


def mean_square_errors(
    sample: np.ndarray, law: RewardLaw, alpha: float | str | Fraction, sizes: Sequence[int]
) -> np.ndarray:
    """Mean square error of the estimate at each sample size, in ten parts: (part, size)."""
    exact = law.cvar(alpha)
    parts = np.array_split(sample, _PARTS)
    return np.array(
        [[np.mean((risk.cvar(x[:, :n], alpha) - exact) ** 2) for n in sizes] for x in parts]
    )


def error_exponent(squares: np.ndarray, sizes: Sequence[int]) -> Estimate:
    """Slope of log(root mean square error) against log(n): -1/2 for 1/sqrt(n)."""
    logs = np.log(np.asarray(sizes, dtype=float))
    return Estimate.mean([np.polyfit(logs, np.log(part) / 2, 1)[0] for part in squares])


def error_ratio(squares: np.ndarray, variance: float, n: int) -> Estimate:
    """Mean square error at the last size n over its asymptotic value V / n."""
    return Estimate.mean(squares[:, -1] / (variance / n))


def phase_one_exceptions(sample: np.ndarray, alpha: float | str | Fraction) -> Estimate:
    """How often, for n <= 1/alpha, the estimate is not the smallest reward: none, exactly."""
    last = min(int(1 / risk.exact_level(alpha)), sample.shape[1])
    minima = np.minimum.accumulate(sample, axis=1)
    return Estimate.exact(
        sum(
            np.count_nonzero(order(risk.cvar(sample[:, :n], alpha), minima[:, n - 1]))
            for n in range(1, last + 1)
        )
    )


def first_differences(
    listed: problems.Problem | Sequence[problems.Problem],
    one: policies.Policy,
    others: Sequence[policies.Policy],
    horizon: int,
    runs: int,
    seed: int,
) -> np.ndarray:
    """First step at which each other policy plays another arm than `one`; T + 1 if it never does.

    Returns
    -------
    ndarray of int, shape (len(others), problems * runs)
    """
    result = simulate(listed, [one, *others], horizon, runs, seed, record=("arms",))
    differs = result.arms.values[1:] != result.arms.values[:1]
    first = np.where(differs.any(axis=-1), differs.argmax(axis=-1) + 1, horizon + 1)
    return first.reshape(len(others), -1)


def share_differing(first: np.ndarray, horizon: int) -> Estimate:
    """Share of runs in which a policy differs from the other at some step."""
    return Estimate.proportion(first <= horizon)


def abandoned_share(
    listed: Sequence[problems.Problem],
    policy: policies.Policy,
    horizon: int,
    runs: int,
    seed: int,
    at_most: int = 2,
) -> Estimate:
    """Share of arms, over all runs, that are pulled no more than a few times in all.

    The interval is over problems, since the arms of one problem are not independent.
    """
    pulls = simulate(listed, policy, horizon, runs, seed, checkpoints=1).pulls
    return Estimate.mean((pulls <= at_most).mean(["policy", "run", "arm"]).values)


def abandoned_after_a_poor_start(
    listed: Sequence[problems.Problem],
    policy: policies.Policy,
    horizon: int,
    runs: int,
    seed: int,
    at_most: int = 2,
) -> list[Estimate]:
    """Share of arms pulled no more than a few times, if their first reward is a poor one.

    A first reward is poor if it is below the median of the first rewards of the run. The intervals
    are over problems.

    Returns
    -------
    [share among those arms, the same minus the share among the others]
    """
    result = simulate(listed, policy, horizon, runs, seed, record=("rewards", "arms"))
    k = result.sizes["arm"]
    order = np.argsort(result.arms.values[0, ..., :k], axis=-1)  # each arm once in the first k
    first = np.take_along_axis(result.rewards.values[0, ..., :k], order, axis=-1)
    poor = first < np.median(first, axis=-1, keepdims=True)
    few = result.pulls.values[0] <= at_most
    shares = [(few & those).sum(axis=(1, 2)) / those.sum(axis=(1, 2)) for those in (poor, ~poor)]
    return [Estimate.mean(shares[0]), Estimate.mean(shares[0] - shares[1])]
