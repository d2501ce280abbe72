"""Reward laws with closed forms, each for one arm or for many at once.

Every parameter may be a number (one arm: a law of shape ``()``) or an array (many arms: a law of
shape ``(K,)``, whose items are laws again). Properties and methods then return a float or an
array of that shape; ``cdf``, ``pdf`` and ``quantile`` broadcast their argument against it.

A row of an array is an arm; in a DataFrame, a column is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from . import _validate, risk
from ._validate import float_or_array
from .kernels.laws import (
    BERNOULLI,
    BETA,
    DISCRETE,
    EMPIRICAL,
    MIXTURE,
    REPLAY,
    UNIFORM,
    reward_tape,
)

__all__ = [
    "Bernoulli",
    "Beta",
    "Discrete",
    "Empirical",
    "Replay",
    "RewardLaw",
    "TruncatedGaussianMixture",
    "Uniform",
    "UsedUp",
    "make",
]

_GRID = 128  # points of the search for the lower-mass constant, before it is refined
_NODES = 256  # points of the integral of a rank-dependent utility
_LARGEST = risk.LARGEST
_LEAST = 1e-150  # of a width or a scale, for the same reason
_SHAPES = (1e-100, 1e12)  # of a Beta law: those whose cdf SciPy gives to full precision
_WIDE = 10.0  # a Gaussian of more interval widths is integrated; closed forms would cancel
_WIDEST = 1e6  # interval widths of a Gaussian that sampling still resolves, to 1e-9 of a width
_STEEP = 1e300  # theta times the largest reward, beyond which floats end
_ARM, _VALUE, _COMPONENT = ("arm",), ("arm", "value"), ("arm", "component")  # axes, in messages
_LAPLACE = 500.0  # theta beyond which Kummer's function nears the largest float
_LARGE = 1e6  # shapes of a Beta law from which the digits of SciPy's cdf run out
_EXACT = 10**7  # largest denominator of probabilities that are read as fractions
_ROUNDING = Fraction(1, 2**50)  # relative, of a probability that was divided by their sum


Values: TypeAlias = Any  # array_like where it is given, a read-only array where it is read


Encoded: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # see `encode`


def _frozen(array: ArrayLike) -> np.ndarray:
    array = np.asarray(array)
    array.flags.writeable = False
    return array


class ReadOnly:
    """What is read-only stays so in copies and after pickle."""

    def __setstate__(self, state: dict) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                _frozen(value)
        self.__dict__.update(state)


@dataclass(frozen=True, eq=False)
class RewardLaw(ReadOnly, ABC):
    """What all reward laws share. Instances are frozen, and their arrays are read-only."""

    _kind = -1

    def _set(self, **arrays: np.ndarray) -> None:
        for name, array in arrays.items():
            object.__setattr__(self, name, _frozen(array))

    @property
    def shape(self) -> tuple[int, ...]:
        """``()`` for one arm, ``(K,)`` for K arms."""
        return self._low.shape

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"a single {type(self).__name__} arm has no length")
        return self.shape[0]

    def __getitem__(self, item: int | slice | np.ndarray) -> RewardLaw:
        """Some of the arms, without computing again what is known of them."""
        if not self.shape:
            raise TypeError(f"a single {type(self).__name__} arm has no items")
        part = object.__new__(type(self))
        for name, value in self._by_arm().items():
            part.__dict__[name] = _frozen(value[item])
        return part

    def _by_arm(self) -> dict[str, np.ndarray]:
        """The arrays with an entry for each arm: what is given, and what is known by now."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if isinstance(value, np.ndarray) and value.shape[:1] == self.shape
        }

    def _points(self, name: str, x: ArrayLike) -> np.ndarray:
        """Numbers at which a function of each arm is asked for, in a shape that fits the arms."""
        x = _validate.numbers(name, x)
        _validate.every(~np.isnan(x), f"{name} must be numbers, got {{}}", x)
        if self.shape and x.ndim and x.shape[-1] not in (1, *self.shape):
            raise ValueError(
                f"{name} must have one entry along its last axis, or one for each of the "
                f"{len(self)} arms, got shape {x.shape}"
            )
        return x

    def _probabilities(self, q: ArrayLike) -> np.ndarray:
        given, q = q, self._points("q", q)
        if isinstance(given, np.ndarray | np.floating) and given.dtype.itemsize < q.itemsize:
            q = given.astype(str).astype(np.float64)  # read as levels are
        _validate.every((q >= 0) & (q <= 1), "q must be in [0, 1], got {}", q)
        return q

    def _batch(self) -> RewardLaw:
        """The same arms as a law of many, so that one code serves one arm and many."""
        if self.shape:
            return self
        batch = object.__new__(type(self))
        for name, value in self.__dict__.items():
            batch.__dict__[name] = value[None] if isinstance(value, np.ndarray) else value
        return batch

    def __iter__(self) -> Iterator[RewardLaw]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if self.shape:
            return f"{type(self).__name__}(<{len(self)} arms>)"
        shown = (f"{f.name}={np.array2string(getattr(self, f.name), precision=4, separator=', ')}"
                 for f in fields(self))  # fmt: skip
        return f"{type(self).__name__}({', '.join(shown)})"

    # What a law has to say itself, for arguments that are checked: an array of the law's shape.

    @property
    @abstractmethod
    def _low(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def _high(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def _mean(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def _var(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def _mass_constant(self) -> np.ndarray: ...

    @abstractmethod
    def _cdf(self, x: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _quantile(self, q: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _cvar(self, level: Fraction) -> np.ndarray: ...

    @abstractmethod
    def _log_laplace(self, theta: float) -> np.ndarray:
        """log E exp(-theta X)."""

    @abstractmethod
    def _rank_dependent(self, gamma: float, exponent: float) -> np.ndarray: ...

    @abstractmethod
    def _encode_parameters(self) -> np.ndarray:
        """One row of numbers an arm, as the compiled sampler reads them."""

    # What follows from that.

    @property
    def essential_infimum(self) -> Any:
        """Largest a with P(X < a) = 0 (footnote to Lemma 4.1)."""
        return float_or_array(self._low)

    @property
    def essential_supremum(self) -> Any:
        """Smallest b with P(X > b) = 0."""
        return float_or_array(self._high)

    @property
    def mean(self) -> Any:
        """Expectation."""
        return float_or_array(self._mean)

    @property
    def var(self) -> Any:
        """Variance; of an `Empirical` law with the divisor n, since the table is the whole law."""
        return float_or_array(self._var)

    @property
    def std(self) -> Any:
        """Standard deviation."""
        return float_or_array(np.sqrt(self._var))

    @property
    def lower_mass_constant(self) -> Any:
        """Largest A with P(X <= a + e) >= A e for 0 < e <= 1/A (eq. 3); inf for a constant arm."""
        return float_or_array(self._mass_constant)

    def cdf(self, x: ArrayLike) -> Any:
        """P(X <= x)."""
        return float_or_array(self._cdf(self._points("x", x)))

    def quantile(self, q: ArrayLike) -> Any:
        """Smallest x with P(X <= x) >= q, for q in [0, 1]; the infimum for q = 0."""
        return float_or_array(self._quantile(self._probabilities(q)))

    def cvar(self, alpha: float | str | Fraction) -> Any:
        """Mean of the lowest share alpha in (0, 1) (section 2.2); an atom at the quantile is split.

        References
        ----------
        Rockafellar and Uryasev (2002), Conditional value-at-risk for general loss distributions.
        """
        return float_or_array(self._cvar(risk.exact_level(alpha)))

    @property
    def atoms(self) -> np.ndarray | None:
        """The values of a discrete law, shape (..., M); None for a continuous one."""
        return None

    @property
    def _breadth(self) -> np.ndarray:
        """A length that the law's cumulants go by: the n-th is at most about its n-th power."""
        return self._high - self._low

    def entropic_risk(self, theta: float) -> Any:
        """Certainty equivalent of exponential utility, -(1/theta) log E exp(-theta X).

        Between the essential infimum and the mean; the larger theta, the more averse to risk.

        Parameters
        ----------
        theta : float
            Risk aversion > 0, per unit of the reward. The paper's section 2.2 writes exp(J / theta)
            with the inverse of ours.

        References
        ----------
        Maillard (2013), Robust risk-averse stochastic multi-armed bandits.

        Examples
        --------
        >>> round(Bernoulli(0.5).entropic_risk(2.0), 4)
        0.2831
        """
        theta = _validate.number("theta", theta, 0, open_low=True)
        low, high, mean, var = self._low, self._high, self._mean, self._var
        with np.errstate(all="ignore"):  # where it is not finite, one of the limits replaces it
            value = -self._log_laplace(theta) / theta
            steep = theta * np.maximum(abs(low), abs(high)) > _STEEP
            flat = theta * self._breadth < risk.FLAT
            value = np.where(flat, mean - theta * var / 2, value)
        return float_or_array(np.clip(np.where(steep, low, value), low, np.maximum(low, mean)))

    def rank_dependent_utility(self, gamma: float = 0.61, exponent: float = 1.0) -> Any:
        """Utility whose decision weights depend on ranks, the integral of w(P(u(X) > y)) dy.

        w is the weighting of Tversky and Kahneman (`risk.probability_weight`), u(x) is x**exponent
        and rewards count as gains. Computed from the cdf: to about 1e-6 for continuous laws,
        exactly for discrete ones.

        Parameters
        ----------
        gamma : float
            In [0.28, 1]; 1 weights nothing. Default 0.61, their estimate for gains.
        exponent : float
            > 0. Default 1, the reward itself; their estimate is 0.88. Other values than 1 need
            rewards >= 0.

        References
        ----------
        Quiggin (1982), A theory of anticipated utility. Tversky and Kahneman (1992), Advances in
        prospect theory: cumulative representation of uncertainty.

        Examples
        --------
        >>> Uniform(0, 1).rank_dependent_utility(1.0), Bernoulli(0.9).rank_dependent_utility(1.0)
        (0.5, 0.9)
        """
        gamma, exponent = risk.check_rank_dependence(gamma, exponent)
        if exponent != 1 and self._low.min() < 0:
            raise ValueError(f"exponent must be 1 for rewards below 0, got {exponent!r}")
        return float_or_array(self._rank_dependent(gamma, exponent))

    @property
    def _most(self) -> float:
        """Rewards of an arm that there are."""
        return math.inf

    @property
    def _encoded_size(self) -> int:
        return 1

    def encode(self) -> Encoded:
        """Kinds, starts, sizes (one an arm) and the flat parameters, for the compiled loops."""
        rows = np.atleast_2d(self._encode_parameters())
        n_arms, width = rows.shape
        return (
            np.full(n_arms, self._kind, dtype=np.int64),
            np.arange(n_arms, dtype=np.int64) * width,
            np.full(n_arms, self._encoded_size, dtype=np.int64),
            np.ascontiguousarray(rows, dtype=np.float64).ravel(),
        )

    def sample(self, n: int, seed: int, run: int = 0) -> np.ndarray:
        """The first n rewards of each arm, as a simulation of this law alone draws them.

        Parameters
        ----------
        n : int
            Rewards an arm, >= 1.
        seed, run : int
            >= 0. The same pair gives the same numbers.

        Returns
        -------
        ndarray, shape ``self.shape + (n,)``

        Examples
        --------
        >>> Uniform(0, 1).sample(3, seed=1).shape
        (3,)
        """
        n = _validate.whole("n", n, 1)
        if n > self._most:
            raise UsedUp(f"n must be at most {self._most}, the length of the log, got {n}")
        run = _validate.whole("run", run, 0, 2**32 - 1)
        key = stream_key(seed, (0,))
        n_arms = len(self) if self.shape else 1
        _validate.fits_in_memory(f"n={n}", 8 * n * n_arms, "use a smaller n")
        kinds, starts, sizes, params = self.encode()
        out = np.empty((kinds.size, n))
        reward_tape(kinds, params, starts, sizes, key[0], key[1], run, out)
        return out.reshape((*self.shape, n))


def joined(laws: Sequence[RewardLaw]) -> RewardLaw | None:
    """The arms of several laws as those of one, the inverse of taking parts; None if they differ.

    They do in their kind, or in the shapes of what is kept for an arm.
    """
    first = laws[0]
    if any(type(law) is not type(first) or not law.shape for law in laws):
        return None
    whole, kept = object.__new__(type(first)), [law._by_arm() for law in laws]
    for name in set.intersection(*map(set, kept)):
        values = [arrays[name] for arrays in kept]
        if len({x.shape[1:] for x in values}) > 1:
            return None
        whole.__dict__[name] = _frozen(np.concatenate(values))
    return whole


def join_encoded(parts: Sequence[Encoded]) -> Encoded:
    """Several results of `encode` one after the other, with the starts moved on."""
    kinds, starts, sizes, params = zip(*parts, strict=True)
    offsets = np.cumsum([0, *(part.size for part in params[:-1])])
    moved = [start + offset for start, offset in zip(starts, offsets, strict=True)]
    joined = [np.concatenate(x) for x in (kinds, moved, sizes, params)]
    return joined[0], joined[1], joined[2], joined[3]


def stream_key(seed: int, stream: tuple[int, ...]) -> np.ndarray:
    """Key of the reward tape of one problem: two 32-bit words from the seed and its stream."""
    seed = _validate.whole("seed", seed, 0)
    return np.random.SeedSequence(seed, spawn_key=stream).generate_state(2).astype(np.uint64)


def _parameter(name: str, value: ArrayLike, of_one_arm: str = "") -> np.ndarray:
    """A parameter as a new array, of one arm or many; `of_one_arm` names the axis of a list."""
    array = _validate.finite_array(name, _validate.columns(value))
    if array.size == 0 and not (of_one_arm and array.shape[-1] == 0):
        raise ValueError(f"{name} must hold at least one arm, got shape {array.shape}")
    if array.ndim > 1 + bool(of_one_arm):
        one, many = (f"({of_one_arm},)", f"(K, {of_one_arm})") if of_one_arm else ("()", "(K,)")
        raise ValueError(f"{name} must have shape {one} or {many}, got shape {array.shape}")
    return array


def _location(name: str, value: ArrayLike, of_one_arm: str = "") -> np.ndarray:
    """A parameter in the units of the reward."""
    array = _parameter(name, value, of_one_arm)
    axes = _VALUE if of_one_arm else _ARM
    message = f"{name} must be in [{-_LARGEST:g}, {_LARGEST:g}], got {{}}"
    _validate.every(abs(array) <= _LARGEST, message, array, axes=axes)
    return array


def _check_ends(**ends: np.ndarray) -> None:
    (lower, low), (upper, high) = ends.items()
    for least, where in ((0, ""), (_LEAST, f"at least {_LEAST:g} ")):
        message = f"{lower} must be {where}below {upper}, got {lower}={{}}, {upper}={{}}"
        _validate.every((low < high) & (high - low >= least), message, low, high, axes=_ARM)


def _shares(p: np.ndarray) -> list[float]:
    """Sums of the first 1, 2, ... probabilities of one arm, without rounding between them.

    Where a fraction of small denominator is as near as the rounding of the probabilities lets one
    tell, the sum is that fraction: 0.1 + 0.2 is 0.3, and six times 1/13 is 6/13.
    """
    shares = []
    for total in accumulate(map(Fraction, p.tolist())):
        near = total.limit_denominator(_EXACT)
        shares.append(float(near if abs(near - total) <= _ROUNDING * total else total))
    return shares


class _Continuous(RewardLaw):
    """A law with a density."""

    @abstractmethod
    def _pdf(self, x: np.ndarray) -> np.ndarray: ...

    def pdf(self, x: ArrayLike) -> Any:
        """Density at x."""
        x = self._points("x", x)
        return float_or_array(np.where((x >= self._low) & (x <= self._high), self._pdf(x), 0))

    def _quantile(self, q: np.ndarray) -> np.ndarray:
        """Solve cdf(x) = q on the support, for all arms and all q at once."""
        from scipy.optimize import elementwise  # here, as it takes a quarter of a second to import

        batch = self._batch()
        arm = np.arange(len(batch)).reshape(self.shape)
        low, high, arm, q = np.broadcast_arrays(self._low, self._high, arm, q)
        # The solver drops what is solved, so each call is told which arms are left.
        solved = elementwise.find_root(
            lambda x, i, p: batch[i].cdf(x) - p, (low, high), args=(arm, q)
        )
        root = np.clip(solved.x, low, high)  # the solver may end a last bit outside
        return np.where((q > 0) & (q < 1), root, np.where(q <= 0, low, high))

    def _least_ratio(self, at_zero: np.ndarray) -> np.ndarray:
        """inf over 0 < e <= width of cdf(a + e) / e: a grid, then a bracketed minimum.

        `at_zero` is the limit of the ratio for e to 0. Where e > 1/A the assumption asks nothing,
        but at e = 1/A it asks for all the mass, so the search goes up to the whole width.
        """
        from scipy.optimize import elementwise

        batch = self._batch()
        a, width = batch._low, batch._high - batch._low

        def ratio(e: np.ndarray, arm: np.ndarray) -> np.ndarray:
            return batch[arm].cdf(a[arm] + e) / e

        steps = width * (np.arange(1, _GRID + 1) / _GRID)[:, None]
        values = batch.cdf(a + steps) / steps
        least, place = values.min(axis=0), np.argmin(values, axis=0)
        arms = np.flatnonzero((place > 0) & (place < _GRID - 1))  # there, a minimum is bracketed
        if arms.size:
            bracket = tuple(steps[place[arms] + shift, arms] for shift in (-1, 0, 1))
            refined = elementwise.find_minimum(ratio, bracket, args=(arms,))
            inner = np.where(refined.success, refined.f_x, np.inf)
            least[arms] = np.minimum(least[arms], inner)
        return np.minimum(least.reshape(self.shape), at_zero)

    def _rank_dependent(self, gamma: float, exponent: float) -> np.ndarray:
        batch = self._batch()
        ends = batch._low, batch._high
        low, high = (risk.utility(end, exponent) for end in ends)
        # The weighting is steep at both ends: a change of variable puts the points there.
        v, weights = _unit_gauss(_NODES)
        place = (v**3 * (10 - 15 * v + 6 * v**2))[:, None]
        slope = (30 * weights * (v * (1 - v)) ** 2)[:, None]
        x = low + place * (high - low)
        if exponent != 1:
            with np.errstate(all="ignore"):  # a power beyond the floats is clipped to the ends
                x = np.clip(x ** (1 / np.float64(exponent)), *ends)
        integrand = risk.probability_weight(1 - batch.cdf(x), gamma)
        value = low + (high - low) * np.round((slope * integrand).sum(axis=0), 12)
        return value.reshape(self.shape)


def _unit_gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss's quadrature on [0, 1]."""
    x, weights = np.polynomial.legendre.leggauss(n)
    return (x + 1) / 2, weights / 2


_GAUSS_NODES, _GAUSS_WEIGHTS = _unit_gauss(32)


@dataclass(frozen=True, eq=False, repr=False)
class Uniform(_Continuous):
    """Uniform law on [low, high] (section 5.1).

    Parameters
    ----------
    low, high : float or array_like, shape () or (K,)
        Ends of the support, low < high.

    Examples
    --------
    >>> law = Uniform(0.25, 0.95)
    >>> round(law.cvar(0.5), 3), round(law.lower_mass_constant, 4)
    (0.425, 1.4286)
    """

    low: Values
    high: Values
    _kind = UNIFORM

    def __post_init__(self) -> None:
        low, high = _validate.broadcast(
            low=_location("low", self.low), high=_location("high", self.high)
        )
        _check_ends(low=low, high=high)
        self._set(low=low.copy(), high=high.copy())

    @property
    def _low(self) -> np.ndarray:
        return self.low

    @property
    def _high(self) -> np.ndarray:
        return self.high

    @property
    def _mean(self) -> np.ndarray:
        return (self.low + self.high) / 2

    @property
    def _var(self) -> np.ndarray:
        return (self.high - self.low) ** 2 / 12

    @property
    def _mass_constant(self) -> np.ndarray:
        return 1 / (self.high - self.low)

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return (np.clip(x, self.low, self.high) - self.low) / (self.high - self.low)

    def _pdf(self, x: np.ndarray) -> np.ndarray:
        return 1 / (self.high - self.low)

    def _quantile(self, q: np.ndarray) -> np.ndarray:
        return np.minimum(self.low + q * (self.high - self.low), self.high)

    def _cvar(self, level: Fraction) -> np.ndarray:
        return self.low + float(level) * (self.high - self.low) / 2

    def _log_laplace(self, theta: float) -> np.ndarray:
        z = theta * (self.high - self.low)
        return -theta * self.low + np.log(-np.expm1(-z) / z)

    def _encode_parameters(self) -> np.ndarray:
        return np.stack([self.low, self.high], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class TruncatedGaussianMixture(_Continuous):
    """Mixture of Gaussians, truncated *as a whole* to [lower, upper] (section 5.2).

    This is the law of a reward that is drawn from the mixture until it lies in the interval. The
    weights are those before truncation; a component with much of its mass outside loses weight.

    Parameters
    ----------
    lower, upper : float or array_like, shape () or (K,)
        Ends of the support, lower < upper.
    weights : array_like, shape (J,) or (K, J)
        Non-negative, summing to 1 along the last axis; a weight of 0 stands for no component.
    means, scales : array_like, shape (J,) or (K, J)
        Location and standard deviation (> 0) of each Gaussian before truncation.

    Examples
    --------
    >>> law = TruncatedGaussianMixture(0, 1, [.5, .5], [.2, .8], [.1, .1])
    >>> round(law.mean, 3), round(law.cdf(.5), 3)
    (0.5, 0.5)
    """

    lower: Values
    upper: Values
    weights: Values
    means: Values
    scales: Values
    _kind = MIXTURE

    def __post_init__(self) -> None:
        lower, upper = _validate.broadcast(
            lower=_location("lower", self.lower), upper=_location("upper", self.upper)
        )
        weights = _parameter("weights", self.weights, "J")
        means = _location("means", self.means, "J")
        scales = _location("scales", self.scales, "J")
        for name, x in (("weights", weights), ("means", means), ("scales", scales)):
            if weights.ndim == 0 or x.shape[-1:] == (0,):
                shown = _validate.shown(getattr(self, name))
                raise ValueError(f"{name} must list at least one component, got {shown}")
        weights, means, scales = _validate.broadcast(weights=weights, means=means, scales=scales)
        shape = _validate.broadcast(lower=lower, weights=weights[..., 0])[0].shape
        lower, upper = (np.broadcast_to(x, shape).copy() for x in (lower, upper))
        weights, means, scales = (
            np.broadcast_to(x, (*shape, x.shape[-1])).copy() for x in (weights, means, scales)
        )
        _check_ends(lower=lower, upper=upper)
        _validate.every(weights >= 0, "weights must be >= 0, got {}", weights, axes=_COMPONENT)
        total = weights.sum(axis=-1)
        message = "weights must sum to 1, got a sum of {}"
        _validate.every(abs(total - 1) < 1e-9, message, total, axes=_ARM)
        _validate.every(scales > 0, "scales must be > 0, got {}", scales, axes=_COMPONENT)
        message = f"scales must be at least {_LEAST:g}, got {{}}"
        _validate.every(scales >= _LEAST, message, scales, axes=_COMPONENT)
        _validate.every(
            (scales <= _WIDEST * (upper - lower)[..., None]) | (weights == 0),
            f"scales must be at most {_WIDEST:g} times upper - lower, got {{}}; "
            "a law as flat as that is Uniform(lower, upper)",
            scales,
            axes=_COMPONENT,
        )
        self._set(lower=lower, upper=upper, weights=weights, means=means, scales=scales)
        mass = (self.weights * self._width).sum(axis=-1)
        message = (
            "no component has mass in [lower, upper] = [{}, {}]: one of the means must lie within "
            "36 of its scales from it, got {} as the first"
        )
        _validate.every(mass > 1e-290, message, lower, upper, means[..., 0], axes=_ARM)

    @property
    def _low(self) -> np.ndarray:
        return self.lower

    @property
    def _high(self) -> np.ndarray:
        return self.upper

    # Standardised ends and normal probabilities of each component. A component left of the
    # interval is mirrored, so that its mass is a difference of small numbers, not of ones.

    def _z(self, x: np.ndarray) -> np.ndarray:
        return (np.asarray(x)[..., None] - self.means) / self.scales

    @cached_property
    def _mirrored(self) -> np.ndarray:
        return self._z(self.lower) > 0

    def _mass_below(self, x: np.ndarray) -> np.ndarray:
        """Mass of each untruncated component between the lower end and x."""
        z, z_low = self._z(x), self._z(self.lower)
        mass = special.ndtr(z) - special.ndtr(z_low)
        if self._mirrored.any():
            mass = np.where(self._mirrored, special.ndtr(-z_low) - special.ndtr(-z), mass)
        if (flat := self._is_flat(x)).any():
            mass[flat] = self._integral(x, lambda e: 1.0, flat)
        return mass

    # A Gaussian much wider than an interval is nearly flat there, and differences of its cdf lose
    # as many digits as it is wide; Gauss's quadrature of its density loses none.

    def _is_flat(self, x: np.ndarray) -> np.ndarray:
        """Whether each component is much wider than the distance from the lower end to x."""
        return self.scales > _WIDE * (x - self.lower)[..., None]

    @cached_property
    def _wide(self) -> np.ndarray:
        return _frozen(self._is_flat(self.upper))

    def _shortfall(self, x: np.ndarray) -> np.ndarray:
        """E max(x - X, 0) / (x - lower) of each untruncated component above the lower end."""
        width = (x - self.lower)[..., None]
        slope = _normal_pdf(self._z(x)) - _normal_pdf(self._z(self.lower))
        value = (x[..., None] - self.means) * self._mass_below(x) + self.scales * slope
        value = value / np.where(width > 0, width, 1)
        if (flat := self._is_flat(x)).any():
            value[flat] = self._integral(x, lambda e: 1 - _GAUSS_NODES, flat)
        return value

    def _integral(self, x: np.ndarray, factor: Callable, where: Any = ...) -> np.ndarray:
        """Integral from the lower end to x of factor(e) times each Gaussian density.

        e is the distance from the lower end; precise for wide components and a smooth factor.
        `where` tells which components are asked for.
        """
        per_component = x[..., None], self.lower[..., None], self.means, self.scales
        x, low, mean, scale = (a[where][..., None] for a in np.broadcast_arrays(*per_component))
        e = (x - low) * _GAUSS_NODES
        values = _normal_pdf((low + e - mean) / scale) * factor(e) / scale
        return (values @ _GAUSS_WEIGHTS) * e[..., -1] / _GAUSS_NODES[-1]

    @cached_property
    def _width(self) -> np.ndarray:
        return _frozen(self._mass_below(self.upper))

    @cached_property
    def _mass(self) -> np.ndarray:
        return _frozen((self.weights * self._width).sum(axis=-1))

    @cached_property
    def _truncated_weights(self) -> np.ndarray:
        return _frozen(self.weights * self._width / self._mass[..., None])

    @cached_property
    def _moments(self) -> np.ndarray:
        """Mean and variance, stacked along the last axis."""
        z_low, z_high = self._z(self.lower), self._z(self.upper)
        low, high = _normal_pdf(z_low), _normal_pdf(z_high)
        width = np.where(self._width > 0, self._width, 1.0)
        shift = (low - high) / width
        spread = 1 + (z_low * low - z_high * high) / width - shift**2
        w = self._truncated_weights
        centres, within = self.means + self.scales * shift, self.scales**2 * spread
        if self._wide.any():
            first = self._integral(self.upper, lambda e: e) / width
            second = self._integral(self.upper, np.square) / width
            centres = np.where(self._wide, self.lower[..., None] + first, centres)
            within = np.where(self._wide, second - first**2, within)
        mean = (w * centres).sum(axis=-1)
        between = (centres - mean[..., None]) ** 2
        var = (w * (within + between)).sum(axis=-1)
        return _frozen(np.stack([mean, var], axis=-1))

    @property
    def _mean(self) -> np.ndarray:
        return self._moments[..., 0]

    @property
    def _var(self) -> np.ndarray:
        return self._moments[..., 1]

    @cached_property
    def _mass_constant(self) -> np.ndarray:
        return _frozen(self._least_ratio(self._pdf(self.lower)))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        inside = np.clip(x, self.lower, self.upper)
        return np.clip((self.weights * self._mass_below(inside)).sum(axis=-1) / self._mass, 0, 1)

    def _pdf(self, x: np.ndarray) -> np.ndarray:
        z = self._z(np.clip(x, self.lower, self.upper))
        return (self.weights * _normal_pdf(z) / self.scales).sum(axis=-1) / self._mass

    def _cvar(self, level: Fraction) -> np.ndarray:
        v = self._quantile(np.asarray(float(level)))
        # v - E max(v - X, 0) / level is largest at the quantile: an error of v hardly shows.
        missing = (self.weights * self._shortfall(v)).sum(axis=-1) / self._mass / float(level)
        return self.lower + (v - self.lower) * np.clip(1 - missing, 0, 1)

    def _log_laplace(self, theta: float) -> np.ndarray:
        """The factor exp(-theta x) shifts each Gaussian by -theta scale**2."""
        z = self._z(self.lower)
        z_low, z_high = (self._z(x) + theta * self.scales for x in (self.lower, self.upper))
        less, more = special.log_ndtr(z_low), special.log_ndtr(z_high)
        inside = -theta * self.means + (theta * self.scales) ** 2 / 2
        inside = inside + more + np.log1p(-np.exp(less - more))
        # A Gaussian that lies below the interval then: the squares, which would swallow the rest,
        # are taken out by hand.
        fall = ((self.upper - self.lower)[..., None] / self.scales) * (z_low / 2 + z_high / 2)
        root = math.sqrt(2)
        rest = special.erfcx(z_high / root) * np.exp(-fall)
        log_mass = np.log((special.erfcx(z_low / root) - rest) / 2)
        below = -theta * self.lower[..., None] - z * z / 2 + log_mass
        exponent = np.where(z_low > 0, below, inside)
        if self._wide.any():
            flat = self._wide & (theta * (self.upper - self.lower)[..., None] < 20)
            some = np.log(self._integral(self.upper, lambda e: np.exp(-theta * e)))
            some -= theta * self.lower[..., None]
            exponent = np.where(flat, some, exponent)
        return special.logsumexp(exponent, axis=-1, b=self.weights) - np.log(self._mass)

    def _encode_parameters(self) -> np.ndarray:
        sign = np.where(self._mirrored, -1.0, 1.0)
        first = special.ndtr(np.where(self._mirrored, -self._z(self.upper), self._z(self.lower)))
        cumulative = np.cumsum(self._truncated_weights, axis=-1)
        columns = [cumulative, self.means, sign * self.scales, first, self._width]
        components = np.stack(columns, axis=-1)
        flat = components.reshape((*self.shape, -1))
        ends = np.stack([self.lower, self.upper], axis=-1)
        return np.concatenate([ends, flat], axis=-1)

    @property
    def _encoded_size(self) -> int:
        return self.weights.shape[-1]


def _normal_pdf(z: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # the exponential of minus infinity is the 0 that it should be
        return np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


class _Finite(RewardLaw):
    """A law on finitely many values, M an arm, which increase or stay along the last axis."""

    @property
    @abstractmethod
    def _values(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def _p(self) -> np.ndarray: ...

    @property
    def atoms(self) -> np.ndarray:
        return self._values

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """P(X <= each value), as fractions where they are some: 0.1 + 0.2 is 0.3."""
        total = np.apply_along_axis(_shares, -1, self._p)
        total = np.minimum(np.maximum.accumulate(total, axis=-1), 1)
        total[..., -1] = 1.0
        return _frozen(total)

    @property
    def _steps(self) -> np.ndarray:
        """0, and then P(X <= each value)."""
        return np.insert(self._cumulative, 0, 0.0, axis=-1)

    @property
    def _low(self) -> np.ndarray:
        return _entry(self._values, (self._p > 0).argmax(axis=-1))

    @property
    def _high(self) -> np.ndarray:
        return _entry(self._values[..., ::-1], (self._p[..., ::-1] > 0).argmax(axis=-1))

    @property
    def _mean(self) -> np.ndarray:
        return np.clip((self._values * self._p).sum(axis=-1), self._low, self._high)

    @property
    def _var(self) -> np.ndarray:
        return ((self._values - self._mean[..., None]) ** 2 * self._p).sum(axis=-1)

    @property
    def _mass_constant(self) -> np.ndarray:
        """The cdf is lowest against e just before it jumps at a value."""
        gaps = self._values - self._low[..., None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where((gaps > 0) & (self._p > 0), self._steps[..., :-1] / gaps, np.inf)
        return ratios.min(axis=-1)

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return _entry(self._steps, (self._values <= x[..., None]).sum(axis=-1))

    def _quantile(self, q: np.ndarray) -> np.ndarray:
        cumulative = self._cumulative
        return _entry(self._values, ((cumulative < q[..., None]) | (cumulative == 0)).sum(axis=-1))

    def _cvar(self, level: Fraction) -> np.ndarray:
        share, low, below = float(level), self._low, self._steps[..., :-1]
        inside = np.clip(share, below, self._cumulative) - below
        value = low + (inside * (self._values - low[..., None])).sum(axis=-1) / share
        return np.clip(value, low, self._quantile(np.asarray(share)))

    def _log_laplace(self, theta: float) -> np.ndarray:
        return special.logsumexp(-theta * self._values, axis=-1, b=self._p)

    def _rank_dependent(self, gamma: float, exponent: float) -> np.ndarray:
        values = np.maximum(self._values, self._low[..., None])  # lower ones have no probability
        return risk.rank_dependent_sum(risk.utility(values, exponent), self._p, gamma)

    @property
    def _encoded_size(self) -> int:
        return self._values.shape[-1]


def _entry(table: np.ndarray, place: np.ndarray) -> np.ndarray:
    """One entry of each row, for more places than rows too."""
    table = np.broadcast_to(table, (*place.shape, table.shape[-1]))
    return np.take_along_axis(table, place[..., None], axis=-1)[..., 0]


@dataclass(frozen=True, eq=False, repr=False)
class Empirical(_Finite):
    """Uniform draws with replacement from a table of realizations (section 5.3).

    Parameters
    ----------
    values : array_like, shape (n,) or (K, n)
        Realizations of each arm along the last axis, n >= 1. Of a DataFrame, each column is an arm
        and a row a realization; a Series is one arm.

    Examples
    --------
    >>> law = Empirical([0.1, 0.2, 0.6, 0.9])
    >>> law.quantile(.5), round(law.cvar(.375), 4)
    (0.2, 0.1333)
    """

    values: Values
    _kind = EMPIRICAL

    def __post_init__(self) -> None:
        values = _location("values", self.values, "n")
        if values.ndim == 0 or values.shape[-1] == 0:
            raise ValueError(
                f"values must list at least one realization an arm, got shape {values.shape}"
            )
        self._set(values=values)

    @cached_property
    def _values(self) -> np.ndarray:
        return _frozen(np.sort(self.values, axis=-1))

    @property
    def _p(self) -> np.ndarray:
        return np.full(self.values.shape, 1 / self.values.shape[-1])

    @property
    def _cumulative(self) -> np.ndarray:
        n = self.values.shape[-1]
        return np.broadcast_to(np.arange(1, n + 1) / n, self.values.shape)

    @property
    def _mean(self) -> np.ndarray:
        return risk.moments(self.values)[0]

    @property
    def _var(self) -> np.ndarray:
        return risk.moments(self.values)[1]

    def _cvar(self, level: Fraction) -> np.ndarray:
        return risk.split_cvar(self._values, level)

    def _encode_parameters(self) -> np.ndarray:
        return self.values


class UsedUp(ValueError):
    """An arm was asked for more rewards than its log holds."""


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Empirical):
    """A finite log replayed in its own order, without replacement: pull u gives realization u.

    Mean, CVaR and all else are those of the whole log, as of `Empirical`. Every run replays the
    same order; for others, play a list of problems with shuffled values, one problem an order.

    Parameters
    ----------
    values : array_like, shape (n,) or (K, n)
        As of `Empirical`. Logs of unequal length are a list: ``[Replay(log) for log in logs]``.

    Raises
    ------
    UsedUp
        By `simulate` and `sample`, if an arm is asked for more rewards than its log holds.

    Examples
    --------
    >>> Replay([0.4, 0.1, 0.9]).sample(3, seed=0).tolist()
    [0.4, 0.1, 0.9]
    """

    _kind = REPLAY

    @property
    def _most(self) -> int:
        return self._encoded_size


@dataclass(frozen=True, eq=False, repr=False)
class Discrete(_Finite):
    """Finitely many values with given probabilities: a multinomial arm.

    Parameters
    ----------
    values : array_like, shape (M,) or (K, M)
        Increasing, M >= 2.
    probabilities : array_like, shape (M,) or (K, M)
        Non-negative, summing to 1 along the last axis.

    Examples
    --------
    >>> law = Discrete([0, 0.5, 1], [0.2, 0.5, 0.3])
    >>> round(law.mean, 3), round(law.cvar(0.4), 3), law.quantile(0.7)
    (0.55, 0.25, 0.5)
    """

    values: Values
    probabilities: Values
    _kind = DISCRETE

    def __post_init__(self) -> None:
        values = _location("values", self.values, "M")
        p = _parameter("probabilities", self.probabilities, "M")
        if values.ndim == 0 or values.shape[-1] < 2 or p.shape[-1:] != values.shape[-1:]:
            raise ValueError(
                "values and probabilities must list the same number of at least 2 values, got "
                f"shapes {values.shape} and {p.shape}"
            )
        values, p = (x.copy() for x in _validate.broadcast(values=values, probabilities=p))
        increasing = (np.diff(values, axis=-1) > 0).all(axis=-1)
        _validate.every(
            np.asarray(increasing), "values must be increasing along the last axis", axes=_ARM
        )
        _validate.every(p >= 0, "probabilities must be >= 0, got {}", p, axes=_VALUE)
        total = p.sum(axis=-1)
        message = "probabilities must sum to 1, got {}"
        _validate.every(abs(total - 1) < 1e-9, message, total, axes=_ARM)
        self._set(values=values, probabilities=p / total[..., None])

    @property
    def _values(self) -> np.ndarray:
        return self.values

    @property
    def _p(self) -> np.ndarray:
        return self.probabilities

    def _encode_parameters(self) -> np.ndarray:
        return np.concatenate([self.values, np.cumsum(self.probabilities, axis=-1)], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(_Finite):
    """Reward 1 with probability p, else 0 (section 2.1).

    Parameters
    ----------
    p : float or array_like, shape () or (K,)
        In [0, 1].

    Examples
    --------
    >>> Bernoulli(.9).cvar(.5)
    0.8
    """

    p: Values
    _kind = BERNOULLI

    def __post_init__(self) -> None:
        p = _parameter("p", self.p)
        _validate.every((p >= 0) & (p <= 1), "p must be in [0, 1], got {}", p, axes=_ARM)
        self._set(p=p)

    @property
    def _values(self) -> np.ndarray:
        return np.broadcast_to([0.0, 1.0], (*self.p.shape, 2))

    @property
    def _p(self) -> np.ndarray:
        return np.stack([1 - self.p, self.p], axis=-1)

    @property
    def _var(self) -> np.ndarray:
        return self.p * (1 - self.p)

    def _encode_parameters(self) -> np.ndarray:
        return self.p[..., None]


@dataclass(frozen=True, eq=False, repr=False)
class Beta(_Continuous):
    """Beta law on [0, 1]. With a > 1 its lower-mass constant is 0: Lemma 4.1 says nothing.

    Parameters
    ----------
    a, b : float or array_like, shape () or (K,)
        Shapes, > 0 and from 1e-100 to 1e12; a rules the lower end.

    Examples
    --------
    >>> Beta(2, 2).lower_mass_constant, round(Beta(1, 3).cdf(.5), 3)
    (0.0, 0.875)
    """

    a: Values
    b: Values
    _kind = BETA

    def __post_init__(self) -> None:
        a, b = _validate.broadcast(a=_parameter("a", self.a), b=_parameter("b", self.b))
        least, largest = _SHAPES
        for name, x in (("a", a), ("b", b)):
            _validate.every(x > 0, f"{name} must be > 0, got {{}}", x, axes=_ARM)
            message = f"{name} must be in [{least:g}, {largest:g}], got {{}}"
            _validate.every((x >= least) & (x <= largest), message, x, axes=_ARM)
        self._set(a=a.copy(), b=b.copy())

    @property
    def _low(self) -> np.ndarray:
        return np.zeros_like(self.a)

    @property
    def _high(self) -> np.ndarray:
        return np.ones_like(self.a)

    @property
    def _mean(self) -> np.ndarray:
        return self.a / (self.a + self.b)

    @property
    def _var(self) -> np.ndarray:
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1))

    @property
    def _mass_constant(self) -> np.ndarray:
        at_zero = np.where(self.a > 1, 0.0, np.where(self.a == 1, self.b, np.inf))
        return self._least_ratio(at_zero)

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return special.betainc(self.a, self.b, np.clip(x, 0, 1))

    def _pdf(self, x: np.ndarray) -> np.ndarray:
        whole = special.beta(self.a, self.b)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            density = x ** (self.a - 1) * (1 - x) ** (self.b - 1) / whole
            logs = special.xlogy(self.a - 1, x) + special.xlog1py(self.b - 1, -x)
            logs = np.exp(logs - special.betaln(self.a, self.b))
        # The powers and the Beta function of large shapes are below all floats.
        return np.where(whole < 1e-290, logs, density)

    def _quantile(self, q: np.ndarray) -> np.ndarray:
        return self._place(q)[0]

    def _place(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The quantile x and, to all digits even where x is near 1, 1 - x."""
        x, y = special.betaincinv(self.a, self.b, q), special.betainccinv(self.b, self.a, q)
        reached = np.where(
            x < 0.5, special.betainc(self.a, self.b, x), special.betaincc(self.b, self.a, y)
        )
        # SciPy's inverse fails at levels far below 1e-15. Where it ends at the edge of the floats,
        # it cannot do better.
        edge = (x < 1e-300) | (y < 1e-300)
        failed = (q > 0) & (q < 1) & ~edge & ~(abs(reached - q) <= 1e-6 * q)
        if failed.any():
            root = super()._quantile(q)
            x, y = np.where(failed, root, x), np.where(failed, 1 - root, y)
        return x, y

    def _cvar(self, level: Fraction) -> np.ndarray:
        share, a, b = float(level), self.a, self.b
        mean, rest = a / (a + b), b / (a + b)
        x, y = self._place(np.asarray(share))
        # x - E max(x - X, 0) / share is largest at the quantile: an error of x hardly shows. Near
        # 1 the floats are too coarse for x; there the same is done with 1 - X.
        short = x * special.betainc(a, b, x) - mean * special.betainc(a + 1, b, x)
        excess = rest * special.betaincc(b + 1, a, y) - y * special.betaincc(b, a, y)
        value = np.where(x < 0.5, x - short / share, 1 - (y + excess / share))
        large = (a > _LARGE) & (b > _LARGE)
        if large.any():
            # mean (1 - x**a y**b / (a B(a, b)) / share), and Stirling's formula for B.
            d = np.where(large, x - mean, 0.0)
            power = a * np.log1p(d / mean) + b * np.log1p(-d / rest)
            power = power + 1 / (12 * (a + b)) - 1 / (12 * a) - 1 / (12 * b)
            step = np.sqrt(rest / (2 * math.pi * a)) * np.exp(power)
            value = np.where(large, mean - mean * step / share, value)
        return np.clip(value, 0, x)

    def _log_laplace(self, theta: float) -> np.ndarray:
        if theta > _LAPLACE:
            return _log_laplace_of_beta(self.a, self.b, theta)
        # Kummer's transformation: 1 - X is Beta(b, a), and the series then has positive terms.
        return np.log(special.hyp1f1(self.b, self.a + self.b, theta)) - theta

    @property
    def _breadth(self) -> np.ndarray:
        return 1 / (1 + self.a + self.b)  # the third cumulant is at most this times the variance

    def _encode_parameters(self) -> np.ndarray:
        return np.stack([self.a, self.b], axis=-1)


def _log_laplace_of_beta(a: np.ndarray, b: np.ndarray, theta: float) -> np.ndarray:
    """log E exp(-theta X) of Beta laws for a large theta, by quadrature over s = log(x / (1 - x)).

    The integrand exp(-theta x) x**a (1 - x)**b has one mode in s, and beyond `low` and `high` it is
    a pure exponential to the last bit, so that the two tails are known.
    """
    root = np.hypot(math.sqrt(theta) - np.sqrt(a), np.sqrt(b))
    root = root * np.hypot(math.sqrt(theta) + np.sqrt(a), np.sqrt(b))
    x = 2 * a / (a + b + theta + root)  # the mode, a root of theta x**2 - (a + b + theta) x + a
    rest = a + b - theta
    y = np.where(rest > 0, 2 * b / (abs(rest) + root), (abs(rest) + root) / (2 * theta))  # 1 - x
    reach = math.log(1e17) + np.log(1 + a + b + theta)
    low, high = -reach, reach
    centre = np.clip(np.log(x) - np.log(y), low, high)
    unit = np.minimum(1, 1 / np.sqrt(x * y * root))  # of the mode's own width, from the curvature
    # s = centre + unit sinh(v) has its points where the mode is and still reaches both ends.
    first, last = (np.arcsinh((end - centre) / unit) for end in (low, high))
    n_panels = 64
    panel = (np.arange(n_panels)[:, None] + _GAUSS_NODES).ravel() / n_panels
    v = first[..., None] + (last - first)[..., None] * panel
    step = (last - first)[..., None] / n_panels * np.tile(_GAUSS_WEIGHTS, n_panels)
    s = centre[..., None] + unit[..., None] * np.sinh(v)
    log_x, log_y = -np.logaddexp(0, -s), -np.logaddexp(0, s)
    body = a[..., None] * log_x + b[..., None] * log_y - theta * np.exp(log_x)
    body = body + np.log(step * unit[..., None] * np.cosh(v))
    tails = np.stack([a * low - np.log(a), -theta - b * high - np.log(b)], axis=-1)
    both = np.concatenate([body, tails], axis=-1)
    return special.logsumexp(both, axis=-1) - special.betaln(a, b)


def make(name: str, *parameters: ArrayLike) -> RewardLaw:
    """A reward law from its name and parameters, as a notebook's parameters can say them.

    Parameters
    ----------
    name : str
        "Bernoulli", "Beta", "Discrete", "Empirical", "Replay", "TruncatedGaussianMixture" or
        "Uniform".
    *parameters
        Those of the class, in order.

    Examples
    --------
    >>> make("Uniform", 0.2, 0.6).mean
    0.4
    """
    kinds = (Bernoulli, Beta, Discrete, Empirical, Replay, TruncatedGaussianMixture, Uniform)
    table = {kind.__name__: kind for kind in kinds}
    kind = table[_validate.choice("name", name, table)]
    n_expected = len(fields(kind))
    if len(parameters) != n_expected:
        names = ", ".join(f.name for f in fields(kind))
        shown = _validate.shown(parameters)
        raise ValueError(f"{name} needs the {n_expected} parameters {names}, got {shown}")
    return kind(*parameters)
