"""The battery of section 5.3: demand, tariff, strategies, and the table of their rewards."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validate, risk
from .._rounding import first_least
from ..arms import Empirical
from ..problems import Problem
from ..statistics import draws, percentile_interval
from . import data

if TYPE_CHECKING:
    import pandas


__all__ = [
    "Battery",
    "Days",
    "Demand",
    "Operation",
    "RewardTable",
    "Tariff",
    "days_ago",
    "load_demand",
    "load_rewards",
    "operate",
    "problem",
    "reward_table",
    "strategies",
    "variants",
]


def problem(rewards: ArrayLike | None = None) -> Problem:
    """The arms of section 5.3: each draws uniformly, with replacement, from its realizations.

    Parameters
    ----------
    rewards : array_like, shape (strategies, realizations), optional
        Default the saved 20 x 117 table, see `load_rewards`; those of other batteries, tariffs,
        days or strategies come from `reward_table`. A row is a strategy in a DataFrame too, as in
        that of `load_rewards`.

    Raises
    ------
    FileNotFoundError, ValueError
        If the saved table is missing, cut or changed, or the rewards are no such table.

    Examples
    --------
    >>> twenty = problem()
    >>> print(twenty.n_arms, f"{twenty.best_mean:.3f}")
    20 0.987
    """
    if rewards is None:
        rewards = load_rewards().to_numpy()
    rewards = _validate.finite_array("rewards", rewards)
    if rewards.ndim != 2:
        raise ValueError(
            f"rewards must have shape (strategies, realizations), got shape {rewards.shape}"
        )
    return Problem(Empirical(rewards), "energy")


STEPS = 48  # half-hours a day
HOURS = 0.5  # hours a step
WEEK = 7 * STEPS
FIRST_DAY = 151  # 1 June, counted from 0
N_DAYS = 117  # realizations in the paper
_LARGEST = 1e15  # MW, MWh, a price, ...: sums and products stay far below the largest float
_LEAST = 1e-15  # of what is divided by

# --- data ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Days:
    """Days to operate the battery on, each with the week before it.

    Parameters
    ----------
    demand : array_like, shape (days, 384)
        MW in each half-hour of the seven days before and of the day itself, in [0, 1e15], with a
        positive sum over the day.
    weather : array_like, shape (days, 384)
        Temperature in degrees Celsius.
    dates : sequence, optional
        Name of each day. Default 0, 1, ...
    """

    demand: Any
    weather: Any
    dates: Any = None

    def __post_init__(self) -> None:
        demand = np.atleast_2d(_validate.finite_array("demand", self.demand))
        weather = np.atleast_2d(_amounts("weather", self.weather))
        if demand.ndim != 2 or demand.shape[1] != WEEK + STEPS or demand.shape[0] == 0:
            raise ValueError(
                f"demand must have shape (days, {WEEK + STEPS}), a week and a day of half-hours, "
                f"got {demand.shape}"
            )
        if weather.shape != demand.shape:
            raise ValueError(
                f"weather must have the shape of demand, {demand.shape}, got {weather.shape}"
            )
        message = f"demand must be >= 0 MW and at most {_LARGEST:g}, got {{}}"
        _validate.every((demand >= 0) & (demand <= _LARGEST), message, demand)
        _check_served(demand[:, WEEK:])
        dates = _names("dates", range(len(demand)) if self.dates is None else self.dates)
        if len(dates) != len(demand):
            raise ValueError(f"dates must name {len(demand)} days, got {len(dates)}")
        _keep(self, demand=demand, weather=weather, dates=dates)

    @classmethod
    def repeat(cls, demand: ArrayLike, weather: ArrayLike = 15.0) -> Days:
        """One made-up day of 48 half-hours, after a week of days like it.

        Examples
        --------
        >>> Days.repeat(0.8, weather=20).served.round(6).tolist()
        [19.2]
        """
        profiles = _profile("demand", demand), _profile("weather", weather)
        return cls(*(np.tile(profile, 8) for profile in profiles))

    def __len__(self) -> int:
        return len(self.demand)

    @property
    def today(self) -> np.ndarray:
        """Demand of the days themselves, MW, shape (days, 48)."""
        return self.demand[:, WEEK:]

    @property
    def served(self) -> np.ndarray:
        """Energy served on each day, MWh, shape (days,)."""
        return self.today.sum(axis=1) * HOURS


def _keep(of: object, **arrays: np.ndarray) -> None:
    """Set fields of a frozen class to arrays that are read-only."""
    for name, array in arrays.items():
        array.flags.writeable = False
        object.__setattr__(of, name, array)


def _check_served(demand: np.ndarray) -> None:
    served = demand.sum(axis=1)
    message = f"demand must not be 0 for a whole day (below {_LEAST:g}), got a sum of {{}}"
    _validate.every(served >= _LEAST, message, served)


def _names(name: str, value: object) -> np.ndarray:
    """A new array of names, shape (n,)."""
    try:
        array = np.array(value)
    except ValueError:
        array = np.array(None)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of names, got {_validate.shown(value)}")
    return array


def _amounts(name: str, value: object, low: float = -_LARGEST) -> np.ndarray:
    """A new array of numbers from low to the largest."""
    array = _validate.finite_array(name, value)
    message = f"{name} must be in [{low:g}, {_LARGEST:g}], got {{:g}}"
    _validate.every((array >= low) & (array <= _LARGEST), message, array)
    return array


def _table(name: str, value: object, shape: tuple[int | str, ...]) -> np.ndarray:
    """An array of numbers of that shape, of which texts name free lengths."""
    array = _amounts(name, value)
    fits = array.ndim == len(shape) and all(
        have == want or (isinstance(want, str) and have > 0)
        for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join(map(str, shape))
        raise ValueError(f"{name} must have shape ({wanted}), got {array.shape}")
    return array


def _profile(name: str, value: ArrayLike) -> np.ndarray:
    """A number or one for each half-hour, as 48 numbers."""
    array = _validate.finite_array(name, value)
    if array.shape not in ((), (1,), (STEPS,)):
        raise ValueError(
            f"{name} must be a number or {STEPS}, one for each half-hour, got shape {array.shape}"
        )
    return np.broadcast_to(array, STEPS)


@dataclass(frozen=True, eq=False)
class Demand:
    """A year of demand and weather in half-hours; `load_demand` makes it.

    Parameters
    ----------
    power : ndarray, shape (365, 48)
        Demand in MW, scaled to an annual mean of 1 MW.
    temperature : ndarray, shape (365, 48)
        Degrees Celsius.
    work_day : ndarray of bool, shape (365,)
    dates : ndarray of datetime64, shape (365,)
    """

    power: np.ndarray
    temperature: np.ndarray
    work_day: np.ndarray
    dates: np.ndarray

    def __post_init__(self) -> None:
        for name in ("power", "temperature"):
            _keep(self, **{name: _table(name, getattr(self, name), (365, STEPS))})
        for name in ("work_day", "dates"):
            array = _names(name, getattr(self, name))
            if array.shape != (365,):
                raise ValueError(f"{name} must have shape (365,), got {array.shape}")
            _keep(self, **{name: array})

    def days(self, numbers: Iterable[int] = range(FIRST_DAY, FIRST_DAY + N_DAYS)) -> Days:
        """Some days of the year, each with the week before it.

        Parameters
        ----------
        numbers : iterable of int
            Days counted from 0, in [7, 364]: a week must lie before. Default the 117 days from
            1 June to 25 September.

        Examples
        --------
        >>> days = load_demand().days([151])
        >>> print(days.dates[0], f"{days.served[0]:.2f} MWh")
        2014-06-01 21.66 MWh
        """
        last = len(self.power) - 1
        try:
            listed = list(numbers)
        except TypeError:
            raise TypeError(
                f"numbers must be whole numbers in [7, {last}], got {_validate.shown(numbers)}"
            ) from None
        chosen = np.array([_validate.whole("numbers", n, 7, last) for n in listed], dtype=int)
        if chosen.size == 0:
            raise ValueError("numbers must name at least one day, got none")
        window = chosen[:, None] + np.arange(-7, 1)
        shape = (len(chosen), -1)
        return Days(
            self.power[window].reshape(shape),
            self.temperature[window].reshape(shape),
            self.dates[chosen],
        )

    def other_days(self, n_days: int = N_DAYS, first: int = FIRST_DAY, n: int = N_DAYS) -> Days:
        """Days spread evenly over the rest of the year, without the n days from `first` on."""
        first = _validate.whole("first", first, 0, len(self.power) - 1)
        n = _validate.whole("n", n, 0, len(self.power) // 2)
        rest = np.setdiff1d(np.arange(7, len(self.power)), np.arange(first, first + n))
        n_days = _validate.whole("n_days", n_days, 1, rest.size)
        return self.days(rest[np.linspace(0, rest.size - 1, n_days).round().astype(int)].tolist())


def load_demand(folder: str | os.PathLike | None = None) -> Demand:
    """Half-hourly demand of Victoria in 2014, scaled to an annual mean of 1 MW.

    Parameters
    ----------
    folder : path, optional
        Where ``demand.csv`` lies. Default the folder ``data/`` of the repository.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, cut or changed.

    References
    ----------
    Australian Energy Market Operator (demand), Bureau of Meteorology (temperature); see
    ``data/README.md``.

    Examples
    --------
    >>> demand = load_demand()
    >>> demand.power.shape, round(float(demand.power.mean()), 12)
    ((365, 48), 1.0)
    """
    # As text first: the fast parser of numbers may be off by the last bit.
    frame = _read("demand.csv", folder)
    power, temperature, work_day = (
        frame[name].astype(np.float64).to_numpy().reshape(-1, STEPS)
        for name in ("demand_gw", "temperature_c", "work_day")
    )
    starts = frame["start"].to_numpy(dtype="U10").reshape(-1, STEPS)
    return Demand(
        power=power / power.mean(),
        temperature=temperature,
        work_day=work_day[:, 0] == 1,
        dates=starts[:, 0].astype("datetime64[D]"),
    )


def _read(name: str, folder: str | os.PathLike | None) -> pandas.DataFrame:
    """A file of ``data/``, as texts."""
    if folder is not None and not (isinstance(folder, (str, os.PathLike)) and str(folder)):
        raise TypeError(f"folder must be a path or None, got {_validate.shown(folder)}")
    return data.read_csv(name, folder, dtype=str)


def load_rewards(folder: str | os.PathLike | None = None) -> pandas.DataFrame:
    """The saved 20 x 117 table of rewards: a row a strategy, a column a day.

    `reward_table` computes it again. See `load_demand` for the folder and what is raised.

    Examples
    --------
    >>> load_rewards().shape
    (20, 117)
    """
    table = _read("energy_table.csv", folder)
    return table.set_index("strategy").astype(np.float64)


# --- the battery and its tariff -----------------------------------------------------------


def _keep_number(of: object, name: str, low: float, high: float, **ends: bool) -> None:
    """Check a field of a frozen class, and keep it as a float: 1, Decimal(1) and 1.0 are one."""
    object.__setattr__(of, name, _validate.number(name, getattr(of, name), low, high, **ends))


@dataclass(frozen=True)
class Battery:
    """A battery of the size of two hours of the mean demand.

    Its numbers are kept as floats, and those > 0 must be at least 1e-15.

    In a half-hour with charging power c and discharging power u (MW), the energy stored is
    e' = (1 - leak) e + charge_efficiency c dt - u dt / discharge_efficiency, dt = 0.5 h, within
    [reserve, 1] of the capacity. At the lower limit the leak is made up by a trickle charge.

    Parameters
    ----------
    capacity : float
        E in MWh, > 0, at most 1e15.
    power : float
        P in MW, > 0, at most 1e15: largest charging and discharging power.
    charge_efficiency, discharge_efficiency : float
        eta_c, eta_d in (0, 1].
    reserve : float
        Lower limit E_min as a share of the capacity, in [0, 1).
    start : float
        Energy at midnight e_0 as a share of the capacity, in [reserve, 1].
    leak : float
        delta in [0, 1): share of the stored energy that is lost in each half-hour.
    """

    capacity: float = 2.0
    power: float = 0.5
    charge_efficiency: float = 0.95
    discharge_efficiency: float = 0.95
    reserve: float = 0.1
    start: float = 0.5
    leak: float = 0.001

    def __post_init__(self) -> None:
        for name, high in (
            ("capacity", _LARGEST),
            ("power", _LARGEST),
            ("charge_efficiency", 1.0),
            ("discharge_efficiency", 1.0),
        ):
            _keep_number(self, name, _LEAST, high)
        _keep_number(self, "reserve", 0, 1, open_high=True)
        _keep_number(self, "start", self.reserve, 1)
        _keep_number(self, "leak", 0, 1, open_high=True)
        made_up = self.charge_efficiency * self.power * HOURS
        if self.leak * self.lowest > made_up:
            raise ValueError(
                f"leak must be at most what the charger makes up at the lower limit, "
                f"{made_up / self.lowest:g} of the energy stored, got {self.leak!r}"
            )

    @property
    def lowest(self) -> float:
        """Lower limit E_min, MWh."""
        return self.reserve * self.capacity

    @property
    def first(self) -> float:
        """Energy stored at midnight e_0, MWh."""
        return self.start * self.capacity

    def step(
        self, stored: np.ndarray, request: np.ndarray, demand: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One half-hour: the request is cut to what the battery can do.

        Parameters
        ----------
        stored : ndarray
            Energy e at the start, MWh.
        request : ndarray
            MW from the battery (> 0) or into it (< 0).
        demand : ndarray
            MW; nothing is exported, so the battery gives no more than that.

        Returns
        -------
        charge, discharge, stored : ndarray
            c and u in MW, and e' in MWh.

        Examples
        --------
        >>> c, u, e = Battery(leak=0).step(np.array([1.0]), np.array([0.19]), np.array([2.0]))
        >>> print(c[0], u[0], f"{e[0]:.2f}")
        0.0 0.19 0.90
        """
        arrays = _validate.broadcast(
            stored=_amounts("stored", stored, 0.0),
            request=_amounts("request", request),
            demand=_amounts("demand", demand, 0.0),
        )
        return self._step(*arrays)

    def _step(
        self, stored: np.ndarray, request: np.ndarray, demand: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`step` without its checks, and without `np.clip`, which takes as long as all else."""
        kept = (1 - self.leak) * stored
        gain, loss = self.charge_efficiency * HOURS, HOURS / self.discharge_efficiency
        trickle = np.maximum(self.lowest - kept, 0) / gain
        room = np.maximum(self.capacity - kept, 0) / gain
        asked = np.minimum(np.maximum(-request, 0), self.power)
        charge = np.maximum(np.minimum(asked, room), trickle)
        usable = np.maximum(kept - self.lowest, 0) / loss
        wanted = np.minimum(np.maximum(request, 0), self.power)
        discharge = np.minimum(wanted, np.minimum(usable, demand))
        after = kept + gain * charge - loss * discharge
        return charge, discharge, np.minimum(np.maximum(after, self.lowest), self.capacity)


@dataclass(frozen=True)
class Tariff:
    """Price of energy, and of power above what was subscribed (an ordinary French contract).

    Parameters
    ----------
    price : float
        p >= 0 for each MWh bought: the unit of money.
    overrun : float
        p_u >= 0 more for each MWh bought above the subscribed power. 0 is the paper's model.
    subscribed : float
        G >= 0 in MW. All are at most 1e15, and kept as floats.
    end_value : float
        w >= 0: worth of the energy left at midnight, as a share of what it saves, p eta_d a MWh.
    """

    price: float = 1.0
    overrun: float = 5.0
    subscribed: float = 1.25
    end_value: float = 1.0

    def __post_init__(self) -> None:
        for f in fields(self):
            _keep_number(self, f.name, 0, _LARGEST)


@dataclass(frozen=True, eq=False)
class Operation:
    """What a strategy did on each day.

    Attributes
    ----------
    demand, charge, discharge : ndarray, shape (days, 48)
        d (of positive sum on each day), c and u in MW.
    stored : ndarray, shape (days, 49)
        Energy e in MWh at the start of each half-hour, and at the end of the day.
    battery : Battery
    """

    demand: np.ndarray
    charge: np.ndarray
    discharge: np.ndarray
    stored: np.ndarray
    battery: Battery

    def __post_init__(self) -> None:
        _instance("battery", self.battery, Battery)
        days: int | str = "days"  # as many as the demand has
        for name in ("demand", "charge", "discharge", "stored"):
            steps = STEPS + (name == "stored")
            _keep(self, **{name: _table(name, getattr(self, name), (days, steps))})
            days = len(self.demand)
        _check_served(self.demand)

    @property
    def bought(self) -> np.ndarray:
        """Power bought, g = max(0, d - x) with x = u - c, in MW, shape (days, 48)."""
        return np.maximum(0, self.demand - (self.discharge - self.charge))

    def cost(self, tariff: Tariff | None = None) -> np.ndarray:
        """Cost of each day in the unit of the price, shape (days,).

        The energy bought, the overruns, and the change of the energy stored at its worth to the
        user, w p eta_d a MWh: sum[p g dt + p_u max(0, g - G) dt] - w p eta_d (e_T - e_0).
        """
        tariff = _instance("tariff", tariff, Tariff, Tariff())
        over = np.maximum(0, self.bought - tariff.subscribed)
        paid = (tariff.price * self.bought + tariff.overrun * over).sum(axis=1) * HOURS
        change = self.stored[:, -1] - self.stored[:, 0]
        worth = tariff.end_value * tariff.price * self.battery.discharge_efficiency
        return paid - worth * change

    def unit_cost(self, tariff: Tariff | None = None) -> np.ndarray:
        """Cost of a MWh served, U, shape (days,)."""
        return self.cost(tariff) / (self.demand.sum(axis=1) * HOURS)


def _instance(name: str, value: Any, kind: type, default: Any = None) -> Any:
    """The value if it is of a class of this module; the default for None, if there is one."""
    if value is None and default is not None:
        return default
    if not isinstance(value, kind):
        raise TypeError(
            f"{name} must be of the class {kind.__name__}, got {_validate.shown(value)}"
        )
    return value


def operate(strategy: Callable, days: Days, battery: Battery | None = None) -> Operation:
    """Operate the battery by a strategy, on all days at once.

    Parameters
    ----------
    strategy : callable
        ``power(time, demand, soc, weather)``, see the module's text, or an object with such a
        function as the result of its method ``plan(demand, weather)``.
    days : Days
    battery : Battery, optional
        Default `Battery`.

    Returns
    -------
    Operation

    Raises
    ------
    TypeError, ValueError
        If the strategy is no such function, or returns no power; if `days` or `battery` is of
        another class.

    Examples
    --------
    >>> def evening(time, demand, soc, weather):
    ...     return 0.2 if 17 <= time < 19 else 0.0
    >>> day = operate(evening, Days.repeat(np.ones(48)))
    >>> print(f"{day.discharge.sum() * 0.5:.2f} MWh given, {day.bought.min():.2f} MW at least")
    0.40 MWh given, 0.80 MW at least
    """
    days = _instance("days", days, Days)
    battery = _instance("battery", battery, Battery, Battery())
    act = strategy
    if hasattr(strategy, "plan"):
        act = strategy.plan(days.demand[:, :WEEK], days.weather[:, :WEEK])
    try:
        inspect.signature(act).bind("time", "demand", "soc", "weather")
    except (TypeError, ValueError):
        raise TypeError(
            "strategy must be a function of (time, demand, soc, weather), got "
            f"{_validate.shown(strategy)}"
        ) from None
    n = len(days)
    charge, discharge, stored = np.empty((n, STEPS)), np.empty((n, STEPS)), np.empty((n, STEPS + 1))
    stored[:, 0] = battery.first
    for step in range(STEPS):
        now = WEEK + step + 1
        soc = stored[:, step] / battery.capacity
        wish = act(step * HOURS, days.demand[:, :now], soc, days.weather[:, :now])
        charge[:, step], discharge[:, step], stored[:, step + 1] = battery._step(
            stored[:, step], _power(wish, n, strategy, step), days.demand[:, now - 1]
        )
    return Operation(days.today, charge, discharge, stored, battery)


def _power(wish: object, n: int, strategy: object, step: int) -> np.ndarray:
    try:
        return np.broadcast_to(_validate.finite_array("power", wish), n)
    except (TypeError, ValueError):
        name = getattr(strategy, "__name__", type(strategy).__name__)
        raise ValueError(
            f"strategy {name!r} must return MW as a finite number or one a day, shape ({n},); "
            f"at {step * HOURS:g} h it returned {_validate.shown(wish)}"
        ) from None


# --- the strategies -----------------------------------------------------------------------


def days_ago(series: np.ndarray, days: int) -> np.ndarray:
    """The 48 half-hours of a day of the week before, from what a strategy sees.

    Parameters
    ----------
    series : ndarray, shape (days, >= 336)
        Demand or weather as a strategy gets it.
    days : int
        1 for yesterday, ..., 7 for the same day last week.

    Examples
    --------
    >>> days_ago(np.arange(400)[None], 1)[0, :2].tolist()
    [288.0, 289.0]
    """
    days = _validate.whole("days", days, 1, 7)
    series = _validate.numbers("series", series)
    if series.ndim != 2 or series.shape[1] < WEEK:
        raise ValueError(f"series must have shape (days, >= {WEEK}), got {series.shape}")
    return series[:, WEEK - days * STEPS : WEEK - (days - 1) * STEPS]


def _idle(time, demand, soc, weather) -> float:
    return 0.0


def _use_first(time, demand, soc, weather) -> np.ndarray:
    return demand[:, -1]


def _shaving(now: np.ndarray, level: ArrayLike, fill: ArrayLike) -> np.ndarray:
    """Discharge what exceeds the level, charge what is missing to the fill level."""
    return np.maximum(now - level, 0) - np.maximum(fill - now, 0)


def _fill(level: ArrayLike) -> np.ndarray:
    """Level of the valley filling that goes with a shaving level, MW."""
    return np.minimum(np.asarray(level) - 0.1, 0.95)


@dataclass(frozen=True)
class _Shave:
    """Peak shaving above a level, with valley filling."""

    level: float

    def __call__(self, time, demand, soc, weather) -> np.ndarray:
        return _shaving(demand[:, -1], self.level, _fill(self.level))


@dataclass(frozen=True)
class _FullReserve:
    """Keep the battery as full as the subscribed power allows; discharge only above it."""

    subscribed: float

    def __call__(self, time, demand, soc, weather) -> np.ndarray:
        spare = self.subscribed - demand[:, -1]
        return -np.minimum(spare, 0.5)


@dataclass(frozen=True)
class _Timetable:
    """Fixed powers (MW) in fixed hours; a window from 22 to 6 goes over midnight."""

    charge: tuple[float, float, float]
    discharge: tuple[tuple[float, float, float], ...]

    def __call__(self, time, demand, soc, weather) -> float:
        power = sum(mw for start, end, mw in self.discharge if _within(time, start, end))
        start, end, mw = self.charge
        return power - (mw if _within(time, start, end) else 0.0)


def _within(time: float, start: float, end: float) -> bool:
    return start <= time < end if start < end else time >= start or time < end


@dataclass(frozen=True)
class _LookAhead:
    """Shave at the lowest level that would have been feasible on an earlier profile."""

    battery: Battery
    profile: Callable[[np.ndarray], np.ndarray]
    share: float = 1.0

    def plan(self, demand: np.ndarray, weather: np.ndarray) -> Callable:
        level = _lowest_level(self.profile(demand), _part(self.battery, self.share))
        return lambda time, demand, soc, weather: _shaving(demand[:, -1], level, _fill(level))


def _part(battery: Battery, share: float) -> Battery:
    """The battery with a share of its energy and room above the lower limit."""
    if share == 1:
        return battery
    low = battery.lowest
    capacity = low + share * (battery.capacity - low)
    first = low + share * (battery.first - low)
    return replace(battery, capacity=capacity, reserve=low / capacity, start=first / capacity)


def _feasible(level: np.ndarray, profile: np.ndarray, battery: Battery) -> np.ndarray:
    """Whether the battery can shave all that exceeds the level, day by day."""
    stored = np.full(len(profile), battery.first)
    feasible = np.ones(len(profile), dtype=bool)
    for step in range(STEPS):
        now = profile[:, step]
        _, given, stored = battery._step(stored, _shaving(now, level, _fill(level)), now)
        feasible &= given >= np.maximum(now - level, 0)
    return feasible


def _lowest_level(profile: np.ndarray, battery: Battery) -> np.ndarray:
    """Lowest feasible level by bisection: what is feasible stays so higher up.

    Each day gets the same number of halvings, so that its level does not depend on other days.
    """
    low, high = np.zeros(len(profile)), profile.max(axis=1)
    for _ in range(30):
        middle = (low + high) / 2
        fits = _feasible(middle, profile, battery)
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return high


@dataclass(frozen=True)
class _Weather:
    """Full reserve after a cold or a hot day, shaving otherwise."""

    reserve: Callable
    shave: Callable
    cold: float = 14.0
    hot: float = 30.0

    def __call__(self, time, demand, soc, weather) -> np.ndarray:
        warmest = days_ago(weather, 1).max(axis=1)
        harsh = (warmest < self.cold) | (warmest > self.hot)
        given = (time, demand, soc, weather)
        return np.where(harsh, self.reserve(*given), self.shave(*given))


def strategies(battery: Battery | None = None, tariff: Tariff | None = None) -> dict[str, Callable]:
    """The 20 strategies of our section 5.3, by name.

    Parameters
    ----------
    battery : Battery, optional
        What the strategies that look ahead plan with. Default `Battery`.
    tariff : Tariff, optional
        Its subscribed power is the level of the full reserve. Default `Tariff`.

    Returns
    -------
    dict
        Name to strategy. Hours, levels and powers of the others are fixed.

    Examples
    --------
    >>> list(strategies())[:4]
    ['idle', 'use first', 'full reserve', 'shave 1.00']
    """
    battery = _instance("battery", battery, Battery, Battery())
    tariff = _instance("tariff", tariff, Tariff, Tariff())
    reserve = _FullReserve(tariff.subscribed)
    shaving = {f"shave {x:.2f}": _Shave(x) for x in (1.0, 1.05, 1.1, 1.15, 1.25, 1.35)}
    plans: dict[str, Any] = {
        "idle": _idle,
        "use first": _use_first,
        "full reserve": reserve,
        **shaving,
        "night to evening": _Timetable((0, 6, 0.4), ((17, 21, 0.4),)),
        "night to two peaks": _Timetable((23, 6, 0.35), ((7, 10, 0.25), (17, 21, 0.25))),
        "night to afternoon": _Timetable((22, 6, 0.35), ((13, 18, 0.35),)),
        "night to day": _Timetable((22, 7, 0.3), ((9, 21, 0.15),)),
        "night to short peak": _Timetable((1, 6, 0.4), ((17.5, 20, 0.5),)),
        "solar-like": _Timetable((10, 15, 0.4), ((18, 22, 0.4),)),
        "mistimed": _Timetable((17, 22, 0.4), ((0, 6, 0.4),)),
        "as yesterday": _LookAhead(battery, lambda demand: days_ago(demand, 1)),
        "as last week": _LookAhead(battery, lambda demand: days_ago(demand, 7)),
        "as mean week": _LookAhead(battery, _mean_week, 0.8),
        "by weather": _Weather(reserve, _Shave(1.05)),
    }
    return plans


def _mean_week(demand: np.ndarray) -> np.ndarray:
    """Mean profile of the last seven days, and 5% more."""
    return 1.05 * demand[:, :WEEK].reshape(len(demand), 7, STEPS).mean(axis=1)


# --- the table of rewards -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RewardTable:
    """Costs and rewards of some strategies on some days; `reward_table` makes it.

    Attributes
    ----------
    names : tuple of str
    dates : ndarray, shape (days,)
    unit_cost : ndarray, shape (strategies, days)
        U, the cost of a MWh served.
    """

    names: tuple[str, ...]
    dates: np.ndarray
    unit_cost: np.ndarray

    def __post_init__(self) -> None:
        names, dates = _names("names", self.names), _names("dates", self.dates)
        object.__setattr__(self, "names", tuple(names.tolist()))
        object.__setattr__(self, "dates", dates)
        unit_cost = _validate.finite_array("unit_cost", self.unit_cost)
        if unit_cost.shape != (names.size, dates.size) or unit_cost.size == 0:
            raise ValueError(
                f"unit_cost must have a row for each of {names.size} names and a column for each "
                f"of {dates.size} dates, got shape {unit_cost.shape}"
            )
        low, high = unit_cost.min(), unit_cost.max()
        largest = max(abs(low), abs(high))
        if largest > 1e100:
            raise ValueError(f"unit_cost must be within 1e100, got {largest:g}")
        if high - low <= max(1e-15 * largest, 1e-100):  # rounding, and no scale to measure by
            raise ValueError(
                f"unit_cost must not be the same everywhere: every strategy costs {low:g} a MWh on "
                "every day"
            )
        object.__setattr__(self, "unit_cost", unit_cost)

    @property
    def _most_and_range(self) -> tuple[float, float]:
        return self.unit_cost.max(), np.ptp(self.unit_cost)

    def reward(self, unit_cost: ArrayLike) -> np.ndarray:
        """(U_max - U) / (U_max - U_min), with the extremes over this whole table."""
        most, width = self._most_and_range
        return (most - _amounts("unit_cost", unit_cost)) / width

    def to_unit_cost(self, reward: ArrayLike) -> np.ndarray:
        """The cost of a MWh served that a reward of this table stands for."""
        most, width = self._most_and_range
        return most - _amounts("reward", reward) * width

    @cached_property
    def rewards(self) -> np.ndarray:
        """Rewards in [0, 1], shape (strategies, days)."""
        most, width = self._most_and_range
        return (most - self.unit_cost) / width

    def frame(self) -> pandas.DataFrame:
        """The rewards as a table: a row a strategy, a column a day."""
        import pandas

        names = pandas.Index(self.names, name="strategy")
        return pandas.DataFrame(self.rewards, index=names, columns=self.dates.astype(str))

    def summary(self, alpha: float = 0.1) -> pandas.DataFrame:
        """Mean, CVaR at level alpha, minimum and standard deviation of each strategy's reward."""
        import pandas

        level = float(risk.exact_level(alpha))
        law = Empirical(self.rewards)
        columns = {
            "mean": law.mean,
            f"CVaR {level:.0%}": law.cvar(alpha),
            "minimum": law.essential_infimum,
            "sd": law.std,
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="strategy"))

    def best(self, alpha: float = 0.1) -> dict[str, str]:
        """Name of the best strategy in mean, in CVaR at level alpha and in minimum."""
        columns = self.summary(alpha).drop(columns="sd")
        return {name: self.names[first_least(-columns[name])] for name in columns}

    def gaps_to_best(self, resamples: int, seed: int) -> list[str]:
        """95 % interval of the best mean less that of each strategy, as text; its own is empty.

        Bootstrap over weeks of days in a row, since neighbouring days are alike.
        """
        leader = int(first_least(-self.rewards.mean(axis=1)))
        gaps = self.rewards[leader] - self.rewards
        weeks = np.array_split(np.arange(gaps.shape[1]), max(2, round(gaps.shape[1] / 7)))
        weekly = np.stack([gaps[:, week].mean(axis=1) for week in weeks], axis=1)
        drawn = draws(len(weeks), resamples, seed)
        low, high = percentile_interval(weekly[:, drawn].mean(axis=-1), axis=-1)
        return [
            "" if i == leader else f"{a:.4f} to {b:.4f}"
            for i, (a, b) in enumerate(zip(low, high, strict=True))
        ]

    def cheapest(self) -> np.ndarray:
        """Number of each day's cheapest strategy, the first of those equal but for rounding."""
        return first_least(self.unit_cost)


def reward_table(
    days: Days,
    battery: Battery | None = None,
    tariff: Tariff | None = None,
    plans: Mapping[str, Callable] | None = None,
) -> RewardTable:
    """Operate the battery by each strategy on each day.

    Parameters
    ----------
    days : Days
    battery, tariff : Battery, Tariff, optional
        Default the frozen values.
    plans : mapping of str to callable, optional
        Strategies by name. Default the 20 of `strategies`.

    Raises
    ------
    TypeError
        If `days`, `battery`, `tariff` or `plans` is of another class.
    ValueError
        If all costs are equal, so that they cannot be made rewards in [0, 1].

    Examples
    --------
    >>> table = reward_table(load_demand().days())
    >>> table.rewards.shape, table.best()["CVaR 10%"]
    ((20, 117), 'full reserve')
    """
    days = _instance("days", days, Days)
    battery = _instance("battery", battery, Battery, Battery())
    tariff = _instance("tariff", tariff, Tariff, Tariff())
    plans = strategies(battery, tariff) if plans is None else plans
    if not isinstance(plans, Mapping):
        raise TypeError(
            f"plans must be a mapping of names to strategies, got {_validate.shown(plans)}"
        )
    for name, plan in plans.items():
        if not (callable(plan) or hasattr(plan, "plan")):
            raise TypeError(f"plans[{name!r}] must be a strategy, got {_validate.shown(plan)}")
    costs = [operate(plan, days, battery).unit_cost(tariff) for plan in plans.values()]
    if not costs:
        raise ValueError("plans must hold at least one strategy, got none")
    return RewardTable(tuple(plans), days.dates, np.stack(costs))


def variants() -> Iterator[tuple[str, Battery, Tariff]]:
    """The frozen values, and then each of them changed alone, down and up.

    Examples
    --------
    >>> [name for name, _, _ in variants()][:3]
    ['as frozen', 'E = 1', 'E = 4']
    """
    battery, tariff = Battery(), Tariff()
    changes = [
        ("E", "capacity", (1.0, 4.0)),
        ("P", "power", (0.25, 1.0)),
        ("eta_c", "charge_efficiency", (0.9, 1.0)),
        ("eta_d", "discharge_efficiency", (0.9, 1.0)),
        ("E_min/E", "reserve", (0.0, 0.2)),
        ("e_0/E", "start", (0.25, 0.75)),
        ("delta", "leak", (0.0, 0.005)),
        ("p", "price", (0.5, 2.0)),
        ("p_u", "overrun", (0.0, 1.0, 20.0)),
        ("G", "subscribed", (1.15, 1.35)),
        ("w", "end_value", (0.0, 0.5)),
    ]
    yield "as frozen", battery, tariff
    for symbol, name, values in changes:
        for value in values:
            if hasattr(battery, name):
                yield f"{symbol} = {value:g}", replace(battery, **{name: value}), tariff
            else:
                yield f"{symbol} = {value:g}", battery, replace(tariff, **{name: value})
