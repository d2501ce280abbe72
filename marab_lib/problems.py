"""Bandit problems: named sets of arms, and the generators of sections 5.1, 5.2 and 5.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from . import _validate, risk
from .arms import (
    Discrete,
    Encoded,
    ReadOnly,
    RewardLaw,
    TruncatedGaussianMixture,
    Uniform,
    _frozen,
    join_encoded,
    joined,
)

__all__ = [
    "Problem",
    "aligned_uniform",
    "artificial",
    "cvars",
    "multinomial",
    "proof_of_concept",
    "stuck",
]


_LAWS = (
    "reward laws of marab_lib.arms (Bernoulli, Beta, Discrete, Empirical, Replay, "
    "TruncatedGaussianMixture or Uniform; Empirical(sample) for data of your own)"
)
_BYTES_A_PROBLEM = 1200  # of its objects, besides its arrays


class Problem(ReadOnly):
    """A set of arms to choose from.

    Parameters
    ----------
    arms : RewardLaw or sequence of RewardLaw
        At least two arms; laws of many arms are laid out one after the other.
    name : str, optional
        Default "problem".
    stream : tuple of int, optional
        Which reward tape the problem reads. By default its place in the list given to `simulate`;
        problems made by a generator carry their own, so a part of a list gives the same rewards
        as the whole.

    Examples
    --------
    >>> problem = Problem([Uniform(0, 1), Uniform(.4, .5)])
    >>> problem.n_arms, problem.best_arm, problem.means.tolist()
    (2, 0, [0.5, 0.45])
    """

    def __init__(
        self,
        arms: RewardLaw | Sequence[RewardLaw],
        name: str = "problem",
        stream: tuple[int, ...] | None = None,
    ) -> None:
        if isinstance(arms, (Set, Mapping)):  # their order is not that of the arms
            raise TypeError(f"arms must be a list of {_LAWS}, got {_validate.shown(arms)}")
        try:
            laws = [arms] if isinstance(arms, RewardLaw) else list(arms)
        except TypeError:
            raise TypeError(f"arms must be {_LAWS}, got {_validate.shown(arms)}") from None
        for law in laws:
            if not isinstance(law, RewardLaw):
                raise TypeError(f"arms must be {_LAWS}, got {_validate.shown(law)}")
        self._laws = tuple(laws)
        self.name = str(name)
        self.stream = None if stream is None else _stream(stream)
        if self.n_arms < 2:
            raise ValueError(f"arms must hold at least 2 arms, got {self.n_arms}")

    def __repr__(self) -> str:
        return f"Problem({self.name!r}, {self.n_arms} arms)"

    @property
    def arms(self) -> list[RewardLaw]:
        """The arms, one by one."""
        return [arm for law in self._laws for arm in (law if law.shape else [law])]

    @cached_property
    def n_arms(self) -> int:
        """Number of arms K."""
        return sum(len(law) if law.shape else 1 for law in self._laws)

    def _gather(self, of) -> np.ndarray:
        return _frozen(np.concatenate([np.atleast_1d(of(law)) for law in self._laws]))

    @cached_property
    def means(self) -> np.ndarray:
        """Expectation of each arm, shape (K,)."""
        return self._gather(lambda law: law.mean)

    @cached_property
    def variances(self) -> np.ndarray:
        """Variance of each arm, shape (K,)."""
        return self._gather(lambda law: law.var)

    @cached_property
    def essential_infima(self) -> np.ndarray:
        """Essential infimum of each arm, shape (K,)."""
        return self._gather(lambda law: law.essential_infimum)

    @cached_property
    def essential_suprema(self) -> np.ndarray:
        """Essential supremum of each arm, shape (K,)."""
        return self._gather(lambda law: law.essential_supremum)

    @cached_property
    def lower_mass_constants(self) -> np.ndarray:
        """Lower-mass constant A of each arm, shape (K,)."""
        return self._gather(lambda law: law.lower_mass_constant)

    def cvars(self, alpha: float | str | Fraction) -> np.ndarray:
        """CVaR of each arm at level alpha in (0, 1), shape (K,)."""
        level = risk.exact_level(alpha)
        if level not in self._known_cvars:  # regrets ask for the same few levels again and again
            self._known_cvars[level] = self._gather(lambda law: law.cvar(level))
        return self._known_cvars[level].copy()

    @cached_property
    def _known_cvars(self) -> dict[Fraction, np.ndarray]:
        return {}

    def cdfs(self, x: float) -> np.ndarray:
        """P(X <= x) of each arm, shape (K,)."""
        if _validate.numbers("x", x).ndim:
            raise ValueError(f"x must be a single number, got {_validate.shown(x)}")
        return self._gather(lambda law: law.cdf(x))

    def mean_variances(self, rho: float) -> np.ndarray:
        """Mean-variance loss of each arm, variance - rho mean, shape (K,)."""
        return self.variances - risk.check_rho(rho) * self.means

    def entropic_risks(self, theta: float) -> np.ndarray:
        """Entropic risk of each arm at risk aversion theta > 0 (to be large), shape (K,)."""
        return self._gather(lambda law: law.entropic_risk(theta))

    def rank_dependent_utilities(self, gamma: float = 0.61, exponent: float = 1.0) -> np.ndarray:
        """Rank-dependent utility of each arm, shape (K,)."""
        return self._gather(lambda law: law.rank_dependent_utility(gamma, exponent))

    @cached_property
    def best_arm(self) -> int:
        """Number of the arm of largest mean (the first of equals)."""
        return int(np.argmax(self.means))

    @cached_property
    def best_mean(self) -> float:
        """Largest mean, mu*."""
        return float(self.means.max())

    @cached_property
    def mean_gaps(self) -> np.ndarray:
        """Mean-related margins Delta_mu,i = mu* - mu_i, shape (K,)."""
        return _frozen(self.best_mean - self.means)

    @cached_property
    def minimum_gaps(self) -> np.ndarray:
        """Minimum-related margins Delta_a,i = a* - a_i of the best infimum a*, shape (K,)."""
        return _frozen(self.essential_infima.max() - self.essential_infima)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Rewards that each arm can give, shape (K,): those of a `Replay`, inf for other laws."""
        return self._gather(lambda law: np.full(law.shape, float(law._most)))

    def encode(self) -> Encoded:
        """Kinds, starts, sizes (one an arm) and the flat parameters, for the compiled loops."""
        return join_encoded([law.encode() for law in self._laws])


def _stream(stream: object) -> tuple[int, ...]:
    wanted = "stream must be a tuple of whole numbers >= 0"
    if not isinstance(stream, (tuple, list)):
        raise TypeError(f"{wanted}, got {_validate.shown(stream)}")
    try:
        return tuple(_validate.whole("stream", word, 0) for word in stream)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{wanted}, got {_validate.shown(stream)}") from None


def proof_of_concept(
    *,
    n_arms: int = 20,
    mu_star: float = 0.5,
    a_star: float = 0.499,
    delta_max: float = 1e-3,
    r_max: float = 0.499,
) -> Problem:
    """The uniform arms of section 5.1, from the best to the worst.

    Arm i is uniform on mu_i +- r_i, with mu_i = mu* - (i - 1) / (K - 1) Delta_max and
    r_i = (mu* - a*) + (i - 1) / (K - 1) r_max.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    mu_star, a_star : float
        Mean and lower end of the best arm, a_star < mu_star.
    delta_max : float
        Mean-related margin of the worst arm, >= 0. The paper does not give it; the default is read
        off its figure 1, where uniform play ends at 1.000 = 2000 Delta_max / 2.
    r_max : float
        By how much the radius grows from the best arm to the worst, >= 0.

    Notes
    -----
    With the defaults the support of the worst arm reaches down to -0.001, as it must in the paper.

    Examples
    --------
    >>> problem = proof_of_concept()
    >>> ends = [0, -1]
    >>> problem.means[ends].round(4).tolist(), problem.essential_infima[ends].round(4).tolist()
    ([0.5, 0.499], [0.499, -0.001])
    """
    k = _validate.whole("n_arms", n_arms, 2)
    mu_star = _validate.number("mu_star", mu_star)
    a_star = _validate.number("a_star", a_star, high=mu_star, open_high=True)
    delta_max = _validate.number("delta_max", delta_max, 0)
    r_max = _validate.number("r_max", r_max, 0)
    given = {"mu_star": mu_star, "a_star": a_star, "delta_max": delta_max, "r_max": r_max}
    for name, value in given.items():
        _validate.number(name, value, -risk.LARGEST / 10, risk.LARGEST / 10)
    _check_memory(1, k, 7, "n_arms")
    share = np.arange(k) / (k - 1)
    means = mu_star - share * delta_max
    radii = mu_star - a_star + share * r_max
    low, high = means - radii, means + radii
    _validate.every(
        low < high,
        "mu_star, a_star, delta_max and r_max must leave each arm a width that floats can hold, "
        "got {} as both ends",
        low,
        axes=("arm",),
    )
    return Problem(Uniform(low, high), "proof of concept")


def cvars(problems: Problem | Sequence[Problem], alpha: float | str | Fraction) -> np.ndarray:
    """CVaRs of all arms of several problems, solved together: `artificial` ones five times as fast.

    Parameters
    ----------
    problems : Problem or sequence of Problem
        With the same number K of arms. Each knows its own CVaRs afterwards.
    alpha : float, str or Fraction
        Risk level in (0, 1).

    Returns
    -------
    ndarray, shape (len(problems), K)

    Examples
    --------
    >>> cvars(artificial(3, seed=0), 0.2).shape
    (3, 20)
    """
    level = risk.exact_level(alpha)
    problems = _validate.several("problems", problems, Problem, "Problem objects")
    if len(sizes := {problem.n_arms for problem in problems}) > 1:
        raise ValueError(f"problems must have the same number of arms, got {sorted(sizes)}")
    new = [problem for problem in problems if level not in problem._known_cvars]
    whole = joined([law for problem in new for law in problem._laws]) if new else None
    if whole is not None:
        parts = np.split(whole.cvar(level), np.cumsum([problem.n_arms for problem in new])[:-1])
        for problem, part in zip(new, parts, strict=True):
            problem._known_cvars[level] = _frozen(part)
    return np.stack([problem.cvars(level) for problem in problems])


def artificial(
    n_problems: int,
    seed: int,
    *,
    n_arms: int = 20,
    minima: tuple[float, float] = (0.0, 0.05),
    n_gaussians: int | tuple[int, int] = (1, 4),
    locations: tuple[float, float] = (0.0, 1.0),
    spreads: tuple[float, float] = (0.12, 0.5),
    weights: str = "dirichlet",
    spread_is: str = "sd",
    truncation: str = "mixture",
) -> list[Problem]:
    """Random problems of section 5.2: truncated mixtures of Gaussians on [a_i, 1].

    The same seed gives the same random numbers for every option, so readings of the paper can be
    compared problem by problem; problem j is the same whatever the number of problems.

    Parameters
    ----------
    n_problems : int
        >= 1.
    seed : int
        >= 0; seeds the problems, not their rewards.
    n_arms : int
        K >= 2.
    minima : (float, float)
        Range of the lower ends a_i, uniform.
    n_gaussians : int or (int, int)
        Number of Gaussians an arm: fixed, or uniform on a range with both ends.
    locations, spreads : (float, float)
        Ranges of the Gaussians' means and of their sigma, uniform.
    weights : {"dirichlet", "equal", "normalised"}
        Dirichlet(1, ..., 1), all equal, or uniform numbers divided by their sum; not said in the
        paper.
    spread_is : {"sd", "variance"}
        Whether sigma in N(mu, sigma) is a standard deviation or a variance; not said either.
    truncation : {"mixture", "components"}
        Whether the mixture is truncated as a whole, as rejection does, or each component keeps its
        weight after truncation.

    Returns
    -------
    list of Problem

    Examples
    --------
    >>> problem = artificial(3, seed=0)[1]
    >>> problem.n_arms, bool((problem.essential_infima <= .05).all())
    (20, True)
    """
    n_problems, seed, k = _sizes(n_problems, seed, n_arms)
    few, many = _gaussians(n_gaussians)
    for name, pair in (("minima", minima), ("locations", locations), ("spreads", spreads)):
        _range(name, pair)
    if spreads[0] <= 0:
        raise ValueError(f"spreads must be positive, got {spreads!r}")
    if minima[1] >= 1:
        raise ValueError(f"minima must be below 1, the upper end of the support, got {minima!r}")
    _validate.choice("weights", weights, ("dirichlet", "equal", "normalised"))
    _validate.choice("spread_is", spread_is, ("sd", "variance"))
    _validate.choice("truncation", truncation, ("mixture", "components"))

    names = "n_problems, n_arms, n_gaussians"
    _check_memory(n_problems, k, 7 * (2 + 3 * many), names)  # seven copies at the widest point
    u_lower, u_count, u_component = _uniforms(n_problems, seed, k, many)
    lower = minima[0] + (minima[1] - minima[0]) * u_lower
    counts = few + np.floor((many - few + 1) * u_count)
    means = locations[0] + (locations[1] - locations[0]) * u_component[..., 0]
    scales = spreads[0] + (spreads[1] - spreads[0]) * u_component[..., 1]
    if spread_is == "variance":
        scales = np.sqrt(scales)
    raw = u_component[..., 2]
    raw = {"dirichlet": -np.log1p(-raw), "equal": np.ones_like(raw), "normalised": raw}[weights]
    raw = np.where(np.arange(many) < counts[..., None], raw, 0.0)
    p = raw / raw.sum(axis=-1, keepdims=True)
    if truncation == "components":
        p = _weights_before_truncation(lower, p, means, scales)

    def flat(x: np.ndarray) -> np.ndarray:
        return x.reshape((-1, *x.shape[2:]))

    law = TruncatedGaussianMixture(flat(lower), 1.0, flat(p), flat(means), flat(scales))
    law._moments  # noqa: B018  computed once for all, and handed on to the parts
    return [
        Problem(law[j * k : (j + 1) * k], f"artificial {j}", stream=(seed, j))
        for j in range(n_problems)
    ]


def aligned_uniform(n_problems: int, seed: int, *, n_arms: int = 5) -> list[Problem]:
    """Random problems of uniform arms in which the arm of best mean has the best infimum.

    They meet the assumptions of Prop. 4.3, and not in general those of Prop. 4.4: one arm gets an
    infimum a* in [0.2, 0.5] and a mean mu*; the others start at least 0.02 lower and end where
    their mean stays below mu*. All rewards lie in [0, 1]; the arms are in random order.

    Parameters
    ----------
    n_problems : int
        >= 1.
    seed : int
        >= 0; seeds the problems, not their rewards.
    n_arms : int
        K >= 2.

    Examples
    --------
    >>> problem = aligned_uniform(3, seed=0)[1]
    >>> int(problem.means.argmax()) == int(problem.essential_infima.argmax())
    True
    """
    n, seed, k = _sizes(n_problems, seed, n_arms)
    _check_memory(n, k, 6)
    rng = np.random.default_rng(seed)
    a_star = rng.uniform(0.2, 0.5, (n, 1))
    top = rng.uniform(a_star + 0.1, 1)
    low = np.hstack([a_star, rng.uniform(0, a_star - 0.02, (n, k - 1))])
    limit = np.minimum(1, a_star + top - low)  # where the mean would reach mu*
    high = np.hstack([top, rng.uniform(low + 0.1, limit)[:, 1:]])
    order = rng.permuted(np.tile(np.arange(k), (n, 1)), axis=1)
    low, high = (np.take_along_axis(x, order, axis=1) for x in (low, high))
    return [
        Problem(Uniform(*pair), f"aligned {j}", stream=(seed, j))
        for j, pair in enumerate(zip(low, high, strict=True))
    ]


def _sizes(n_problems: int, seed: int, n_arms: int) -> tuple[int, int, int]:
    n_problems = _validate.whole("n_problems", n_problems, 1)
    return n_problems, _validate.whole("seed", seed, 0), _validate.whole("n_arms", n_arms, 2)


def _check_memory(
    n_problems: int, n_arms: int, floats_an_arm: int, names: str = "n_problems, n_arms"
) -> None:
    size = n_problems * (_BYTES_A_PROBLEM + 8 * n_arms * floats_an_arm)
    what = f"{names}: {n_problems:,} problems of {n_arms:,} arms"
    _validate.fits_in_memory(what, size, "use fewer, or simulate them in parts")


def _uniforms(n_problems: int, seed: int, n_arms: int, many: int) -> tuple[np.ndarray, ...]:
    """Uniform numbers: lower ends and counts (problem, arm), components (problem, arm, many, 3).

    Problem j has its own stream, read component by component, so that neither the number of
    problems nor that of Gaussians changes the numbers they share.
    """
    children = np.random.SeedSequence(seed).spawn(n_problems)
    u = np.stack([np.random.default_rng(c).random((2 + 3 * many, n_arms)) for c in children])
    component = u[:, 2:].reshape(n_problems, many, 3, n_arms)
    return u[:, 0], u[:, 1], component.transpose(0, 3, 1, 2)


def _weights_before_truncation(lower, p, means, scales) -> np.ndarray:
    """Weights that leave p after the truncation of the whole mixture to [lower, 1]."""
    shape = p.shape
    single = TruncatedGaussianMixture(
        np.repeat(lower.ravel(), shape[-1]), 1.0, np.ones((p.size, 1)),
        means.reshape(-1, 1), scales.reshape(-1, 1),
    )  # fmt: skip
    before = p / single._mass.reshape(shape)
    return before / before.sum(axis=-1, keepdims=True)


def _gaussians(n_gaussians: Any) -> tuple[int, int]:
    if _length(n_gaussians) is None:
        n_gaussians = (n_gaussians, n_gaussians)
    if _length(n_gaussians) != 2:
        raise ValueError(
            "n_gaussians must be a whole number or a pair (few, many), "
            f"got {_validate.shown(n_gaussians)}"
        )
    few = _validate.whole("n_gaussians", n_gaussians[0], 1)
    return few, _validate.whole("n_gaussians", n_gaussians[1], few)


def _range(name: str, pair: tuple[float, float]) -> None:
    if _length(pair) != 2:
        raise ValueError(f"{name} must be a pair (low, high), got {_validate.shown(pair)}")
    low = _validate.number(name, pair[0])
    _validate.number(name, pair[1], low)


def _length(value: Any) -> int | None:
    """Length of a list of any kind, ragged ones too; None for anything else."""
    if isinstance(value, np.ndarray):
        return value.shape[0] if value.ndim else None
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    return len(value) if listed else None


def stuck() -> Problem:
    """Two uniform arms on which MaRaB can stay on the wrong one for good.

    Arm 0 on [0.25, 0.95] is best in mean and in CVaR at 50 %, arm 1 on [0.3, 0.5] in the minimum.
    Where the first reward of arm 0 is below 0.3 (probability 1/14), its index never again exceeds
    that of arm 1, whatever alpha and C.

    Examples
    --------
    >>> stuck().cvars(0.5).round(3).tolist(), stuck().essential_infima.tolist()
    ([0.425, 0.35], [0.25, 0.3])
    """
    return Problem(Uniform([0.25, 0.3], [0.95, 0.5]), "stuck")


def multinomial(
    n_problems: int,
    seed: int,
    *,
    n_arms: int = 5,
    values: Sequence[float] = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
) -> list[Problem]:
    """Random problems of discrete arms, their probabilities uniform on the simplex.

    Parameters
    ----------
    n_problems : int
        >= 1. Problem j is the same whatever their number.
    seed : int
        >= 0; seeds the problems, not their rewards.
    n_arms : int
        K >= 2. Default 5.
    values : sequence of float
        Increasing values of every arm. Default 0, 0.1, ..., 1.

    References
    ----------
    Baudry, Gautron, Kaufmann and Maillard (2021), Optimal Thompson sampling strategies for
    support-aware CVaR bandits, section 4 (table 1).

    Examples
    --------
    >>> problem = multinomial(3, seed=0)[2]
    >>> problem.n_arms, float(problem.essential_suprema.max())
    (5, 1.0)
    """
    n_problems, seed, k = _sizes(n_problems, seed, n_arms)
    points = _validate.finite_array("values", values)
    if points.ndim != 1 or points.size < 2:
        raise ValueError(
            f"values must list at least 2 increasing numbers, got shape {points.shape}"
        )
    m = points.size
    _check_memory(n_problems, k, 2 * m)
    same = np.broadcast_to(points, (k, m))
    listed = []
    for j, child in enumerate(np.random.SeedSequence(seed).spawn(n_problems)):
        law = Discrete(same, np.random.default_rng(child).dirichlet(np.ones(m), size=k))
        listed.append(Problem(law, f"multinomial {j}", stream=(seed, j)))
    return listed
