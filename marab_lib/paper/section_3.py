"""Section 3: the CVaR estimate, the selection rule and the two phases of MaRaB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import policies, problems, risk
from .._rounding import order
from ..arms import RewardLaw, TruncatedGaussianMixture
from ..simulation.run import simulate
from ..statistics import Estimate
from .rules import Above, Below, Finding, claim, nearer

if TYPE_CHECKING:
    from .evidence import Evidence

__all__ = [
    "asymptotic_variance",
    "error_exponent",
    "first_differences",
    "mean_square_errors",
    "phase_one_exceptions",
    "repeated_samples",
]

_PARTS = 10  # independent parts of the samples, for standard errors


def asymptotic_variance(law: TruncatedGaussianMixture, alpha: float | str | Fraction) -> float:
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


def arm(e: Evidence) -> TruncatedGaussianMixture:
    """One arm of section 5.2."""
    law = problems.artificial(1, e.seed)[0].arms[0]
    assert isinstance(law, TruncatedGaussianMixture)
    return law


def sample(e: Evidence) -> np.ndarray:
    """Samples of it, for the CVaR estimate."""
    return repeated_samples(e.once(arm), 1000, 10_000, e.seed)


_SIZES = [500, 1000, 2000, 5000, 10_000]


@claim("3 consistent", "Section 3, eq. 1", of_others=True)
def consistent(e: Evidence) -> Iterator[Finding]:
    """The estimate of the CVaR is consistent."""
    squares = mean_square_errors(e.once(sample), e.once(arm), 0.1, _SIZES)
    exponent = error_exponent(squares, _SIZES)
    yield Finding("exponent in n of the estimate's error", exponent, nearer(-0.5, 0))


def phase_one_exceptions(sample: np.ndarray, alpha: float | str | Fraction) -> Estimate:
    """How often, for n <= 1/alpha, the estimate is not the smallest reward: none, exactly."""
    last = min(int(1 / risk.exact_level(alpha)), sample.shape[1])
    minima = np.minimum.accumulate(sample, axis=1)
    return Estimate.exact(
        sum(
            int(np.count_nonzero(order(risk.cvar(sample[:, :n], alpha), minima[:, n - 1])))
            for n in range(1, last + 1)
        )
    )


@claim("3 first phase")
def first_phase(e: Evidence) -> Iterator[Finding]:
    """While n < 1/alpha the estimate is the smallest reward, and falls."""
    exceptions = phase_one_exceptions(e.once(sample)[:, :200], 0.01)
    yield Finding("exceptions in 1,000 samples", exceptions, Below(0))


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


def _first_unlike_min(
    e: Evidence, n_problems: int, alpha: float, Cs: Sequence[float]
) -> np.ndarray:
    marab = e.interpretation.apply([policies.MaRaB(alpha, C) for C in Cs])
    (least,) = e.interpretation.apply([policies.MIN()])
    return first_differences(e.problems[:n_problems], least, marab, e.horizons[0], 10, e.seed)


@claim("3 starts as MIN")
def starts_as_min(e: Evidence) -> Iterator[Finding]:
    """In the early iterations MaRaB behaves like MIN."""
    differ = Estimate.exact((_first_unlike_min(e, 5, 0.01, (0.0, 1e3)) <= 100).sum())
    yield Finding("runs that differ from MIN before step 1/alpha, of 100", differ, Below(0))


@claim("3 becomes MIN", "Sections 1 and 3")
def becomes_min(e: Evidence) -> Iterator[Finding]:
    """As alpha goes to 0, MaRaB becomes MIN."""
    first = _first_unlike_min(e, 10, 1e-4, (1e-6, 1.0, 1e3))
    differ = Estimate.exact((first <= e.horizons[0]).sum())
    yield Finding("runs that ever differ from MIN at alpha = 0.0001, of 300", differ, Below(0))


_FEW = 2  # pulls of an arm that was given up


@claim("3 poor start")
def poor_start(e: Evidence) -> Iterator[Finding]:
    """An arm with poor first rewards has little chance to be tried again."""
    # A first reward is poor below the median of the run's; the intervals are over problems.
    chosen = e.interpretation.apply([policies.MaRaB(0.2)])
    result = simulate(
        e.problems[:50], chosen, e.horizons[0], 10, e.seed, record=("rewards", "arms")
    )
    k = result.sizes["arm"]
    order = np.argsort(result.arms.values[0, ..., :k], axis=-1)  # each arm once in the first k
    first = np.take_along_axis(result.rewards.values[0, ..., :k], order, axis=-1)
    poor = first < np.median(first, axis=-1, keepdims=True)
    few = result.pulls.values[0] <= _FEW
    shares, others = (
        (few & those).sum(axis=(1, 2)) / those.sum(axis=(1, 2)) for those in (poor, ~poor)
    )
    text = "share of arms pulled at most twice in 2,000 pulls"
    yield Finding(f"{text}, first reward below the median", Estimate.mean(shares), nearer(1, 0))
    text += ": first reward below the median less the other arms"
    yield Finding(text, Estimate.mean(shares - others), Above(0))


@claim("3 no guarantee")
def no_guarantee(e: Evidence) -> Iterator[Finding]:
    """Nothing makes sure that every arm is visited infinitely often."""
    chosen = e.interpretation.apply([policies.MaRaB(0.2)])
    early, late = (
        (simulate(e.problems[:20], chosen, T, 10, e.seed, checkpoints=1).pulls <= _FEW)
        .mean(["policy", "run", "arm"]).values.mean()
        for T in (2000, 20_000)
    )  # fmt: skip
    text = "arms given up by 20,000 pulls, over those by 2,000"
    yield Finding(text, Estimate.exact(late / early), nearer(1, 0))
