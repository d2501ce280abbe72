"""Which interpretation of section 5.2 gives the printed figure 2: a search.

The paper leaves open how its problems are drawn and some details of its policies. A *generator* is
one set of options of `problems.artificial`, a *rule* one set of options of a policy; together they
are an interpretation. Each gives a curve, the sorted regrets of 1,000 problems, and the distance
of two such curves is the mean of their differences (the 1-Wasserstein distance of the regrets).
Panel (a) chooses, panel (b), which the choice has not seen, tests it.

``python -m marab_lib.paper.interpretations`` makes ``data/readings.csv`` again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validate, policies, problems
from ..arms import TruncatedGaussianMixture
from ..policies import Policy
from ..problems import Problem
from ..regret import mean_and_error
from ..simulation.run import simulate
from . import data
from .evidence import NEAREST

if TYPE_CHECKING:
    import pandas
    import xarray


__all__ = [
    "CURVES",
    "OPEN_WORDS",
    "WORDS",
    "beside_printed",
    "compare",
    "confirm",
    "finalists",
    "generators",
    "joint",
    "once_a_problem",
    "open_generators",
    "open_rules",
    "printed_curve",
    "rules",
    "screen",
    "sorted_curves",
    "together",
    "yardstick",
]

Generator = Mapping[str, Any] | Callable[[int, int], list[Problem]]

CURVES = ("UCB", "MaRaB", "MV-LCB", "ExpExp")
HORIZONS = {"a": 2000, "b": 4000}  # of the panels of figure 2
PRINTED_PROBLEMS = 1000
_THIRDS = {"low": slice(0, 300), "middle": slice(300, 700), "high": slice(700, None)}
_AGAINST = "against the text"


def generators() -> dict[str, dict[str, Any]]:
    """Options of `problems.artificial` by name; those with "against" contradict the text.

    The latter are there to see in which direction the printed curves point.

    Examples
    --------
    >>> generators()["dirichlet, sd, 1-4"]["weights"]
    'dirichlet'
    """
    found: dict[str, dict[str, Any]] = {}
    weights = ("dirichlet", "equal", "normalised")
    for w, spread, n in itertools.product(weights, ("sd", "variance"), ((1, 4), (4, 4))):
        found[_name(w, spread, n)] = {"weights": w, "spread_is": spread, "n_gaussians": n}
    for w, n in itertools.product(("dirichlet", "equal"), ((1, 4), (4, 4))):
        options = {"weights": w, "spread_is": "sd", "n_gaussians": n, "truncation": "components"}
        found[_name(w, "sd", n) + ", components"] = options
    for w, n in itertools.product(weights, ((1, 3), (1, 5), (5, 5), (6, 6))):
        options = {"weights": w, "spread_is": "sd", "n_gaussians": n}
        found[f"{_name(w, 'sd', n)}, {_AGAINST}"] = options
    for w, n, top in itertools.product(weights, ((1, 4), (4, 4)), (0.2, 0.35, 0.5)):
        options = {"weights": w, "spread_is": "sd", "n_gaussians": n, "minima": (0.0, top)}
        found[f"{_name(w, 'sd', n)}, minima to {top:g}, {_AGAINST}"] = options
    return found


WORDS = {  # what the parts of the names of generators and rules mean
    "as printed": "as section 2 or eqs. 1 and 2 have it, with the parameters of the legend",
    "dirichlet": "weights of the Gaussians: Dirichlet(1, ..., 1)",
    "equal": "weights: all equal",
    "normalised": "weights: uniform numbers divided by their sum",
    "sd": "sigma is a standard deviation",
    "variance": "sigma is a variance",
    "1-4": "one to four Gaussians an arm, uniform, as the text says",
    "4": "four Gaussians an arm",
    "1-3": "one to three Gaussians an arm",
    "1-5": "one to five Gaussians an arm",
    "5": "five Gaussians an arm",
    "6": "six Gaussians an arm",
    "components": "each Gaussian is truncated by itself and keeps its weight",
    "minima to 0.2": "lower ends uniform in [0, .2] instead of [0, .05]",
    "minima to 0.35": "lower ends uniform in [0, .35]",
    "minima to 0.5": "lower ends uniform in [0, .5]",
    "against the text": "a generator that the paper's words exclude",
    "C under the root": "sqrt(C log t / n): C = .001 acts as .032 outside",
    "two first rounds": "each arm is pulled twice before the index decides",
    "t = pulls done": "t is the number of pulls done, not that of the pull to come",
    "first pulls at random": "the first pull of each arm in random order",
    "ties at random": "equal indices: any of them",
    "alpha 10%": "alpha = 10 % where 20 % is printed",
    "floor": "tails of floor(alpha n) rewards, at least one",
    "round": "tails of alpha n rewards, rounded",
    "quantile": "the largest reward of the tail instead of its mean",
    "C = 1e-3 under the root": "sqrt(C log(alpha t) / (alpha n)) with the caption's C",
    "C = 1": "C = 1 instead of 1e-6",
    "C = 1000": "C = 1,000 instead of 1e-6",
    "optimistic bonus": "the minimum of variance - rho mean - bonus, as its authors have it",
    "pessimistic bonus": "the minimum of variance - rho mean + bonus",
    "as printed (argmax)": "the maximum of variance - rho mean - bonus",
    "choosing anew": "after the exploration the best arm is chosen anew at each pull",
}
OPEN_WORDS = {  # of the last search
    "four an arm": "four Gaussians an arm, equal weights, sigma a standard deviation",
    "three to five an arm": "three to five, drawn for each arm",
    "three to five a problem": "three to five, one number for all arms of a problem",
    "two to six a problem": "two to six, one number for all arms of a problem",
    "one to four a problem": "one to four, one number for all arms of a problem",
    "one sigma an arm": "four Gaussians of one sigma an arm",
    "one sigma an arm, three to five": "three to five Gaussians of one sigma an arm",
    "one sigma a problem": "four Gaussians an arm, one sigma for the whole problem",
    "weights once a problem": "four weights a problem, uniform numbers divided by their sum",
    "one round": "each arm is pulled once before the index decides",
    "two rounds": "each arm is pulled twice before",
    "three rounds": "each arm is pulled three times before",
    "exploring at random": "ExpExp explores by pulling any arm, not all in turn",
    "one round before tau": "ExpExp pulls each arm once before tau begins",
    "anew every 20 pulls": "ExpExp chooses anew every 20 pulls",
    "anew every 100 pulls": "every 100 pulls",
    "anew every 500 pulls": "every 500 pulls",
    "variance by n - 1": "ExpExp divides the variance by n - 1",
    "sd for the variance": "ExpExp takes the standard deviation for the variance",
    "rho = 1/2": "ExpExp with rho = 1/2, as if the printed 2 stood before the variance",
}


def _name(weights: str, spread: str, n: tuple[int, int]) -> str:
    return f"{weights}, {spread}, {n[0]}" + (f"-{n[1]}" if n[1] > n[0] else "")


@cache
def rules() -> dict[str, dict[str, Policy]]:
    """Policies by curve and name; the first of each curve is the one used elsewhere.

    Examples
    --------
    >>> list(rules()["ExpExp"])
    ['as printed', 'choosing anew']
    """
    ucb = {
        "as printed": policies.UCB(),
        "C under the root": policies.UCB(constant="inside"),
        "two first rounds": policies.UCB(rounds=2),
        "t = pulls done": policies.UCB(time="done"),
        "first pulls at random": policies.UCB(first_pulls="random"),
        "ties at random": policies.UCB(ties="random"),
    }
    mv_lcb = {f"{b} bonus": policies.MVLCB(bonus=b) for b in ("optimistic", "pessimistic")}
    mv_lcb["as printed (argmax)"] = policies.MVLCB(bonus="printed")
    exp_exp = {"as printed": policies.ExpExp(), "choosing anew": policies.ExpExp(exploit="updated")}
    found: dict[str, Mapping[str, Policy]] = {
        "UCB": ucb,
        "MaRaB": _marab_rules(),
        "MV-LCB": mv_lcb,
        "ExpExp": exp_exp,
    }
    return {curve: {k: _labelled(p, curve, k) for k, p in found[curve].items()} for curve in CURVES}


def _marab_rules() -> dict[str, Policy]:
    found: dict[str, Policy] = {}
    choices = itertools.product(
        (0.2, 0.1), ("ceil", "floor", "round"), ("cvar", "quantile"), ("outside", "inside")
    )
    for alpha, share, estimator, constant in choices:
        C = 1e-6 if constant == "outside" else 1e-3  # the legend's, the caption's
        parts = {
            f"alpha {alpha:.0%}": alpha != 0.2,
            share: share != "ceil",
            "quantile": estimator == "quantile",
            "C = 1e-3 under the root": constant == "inside",
        }
        name = ", ".join(part for part, shown in parts.items() if shown) or "as printed"
        found[name] = policies.MaRaB(alpha, C, share=share, estimator=estimator, constant=constant)
    return found | {
        "two first rounds": policies.MaRaB(rounds=2),
        "t = pulls done": policies.MaRaB(time="done"),
        "first pulls at random": policies.MaRaB(first_pulls="random"),
        "C = 1": policies.MaRaB(C=1.0),
        "C = 1000": policies.MaRaB(C=1e3),
    }


def _labelled(policy: Policy, curve: str, name: str) -> Policy:
    return replace(policy, label=f"{curve}: {name}")


# --- what is still open: searched with both panels in view ------------------------------------


def once_a_problem(
    n_problems: int,
    seed: int,
    *,
    number: tuple[int, int] = (4, 4),
    number_once: bool = False,
    sigma_once: str = "component",
    weights_once: bool = False,
    n_arms: int = 20,
) -> list[Problem]:
    """Problems as section 5.2 has them, some numbers of which are drawn once for several arms.

    Parameters
    ----------
    n_problems, seed : int
    number : (int, int)
        Range of the number of Gaussians an arm, uniform.
    number_once : bool
        Whether all arms of a problem have the same number of Gaussians.
    sigma_once : {"component", "arm", "problem"}
        For what each sigma is drawn; a standard deviation.
    weights_once : bool
        Weights: uniform numbers divided by their sum, the same for all arms, or else all equal.
    n_arms : int
    """
    rng = np.random.default_rng(seed)
    shape = (n_problems, n_arms, number[1])
    lower = rng.uniform(0.0, 0.05, shape[:2])
    means, scales = rng.uniform(0.0, 1.0, shape), rng.uniform(0.12, 0.5, shape)
    _validate.choice("sigma_once", sigma_once, ("component", "arm", "problem"))
    few = {"component": scales, "arm": scales[..., :1], "problem": scales[:, :1, :1]}[sigma_once]
    counts = rng.integers(number[0], number[1] + 1, shape[:2])
    counts = counts[:, :1] if number_once else counts
    raw = rng.uniform(0.0, 1.0, (n_problems, 1, shape[2])) if weights_once else np.ones(shape)
    raw = np.where(np.arange(shape[2]) < counts[..., None], raw, 0.0)
    p = raw / raw.sum(axis=-1, keepdims=True)

    def flat(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, shape).reshape(-1, shape[2]).copy()

    law = TruncatedGaussianMixture(lower.ravel(), 1.0, flat(p), flat(means), flat(few))
    return [
        Problem(law[j * n_arms : (j + 1) * n_arms], f"once {j}", stream=(seed, j))
        for j in range(n_problems)
    ]


def open_generators() -> dict[str, Generator]:
    """The generators of the last search by name, all with equal weights if nothing else is said.

    Examples
    --------
    >>> list(open_generators())[0]
    'four an arm'
    """
    five = {"number": (3, 5)}
    once: dict[str, Mapping[str, Any]] = {
        "three to five a problem": {**five, "number_once": True},
        "two to six a problem": {"number": (2, 6), "number_once": True},
        "one to four a problem": {"number": (1, 4), "number_once": True},
        "one sigma an arm": {"sigma_once": "arm"},
        "one sigma an arm, three to five": {**five, "sigma_once": "arm"},
        "one sigma a problem": {"sigma_once": "problem"},
        "weights once a problem": {"weights_once": True},
    }
    found: dict[str, Generator] = {"four an arm": NEAREST.generator}
    found["three to five an arm"] = {"weights": "equal", "n_gaussians": (3, 5)}
    return found | {name: partial(once_a_problem, **options) for name, options in once.items()}


@policies.index
def _exp_exp(t, arms, state, params, memory, history):
    rho, tau, at_random, period, spread = params
    done, k = state[0].pulls, arms.size
    for a in arms:
        a.index = -a.n if done < tau else 0.0
    if done < tau:
        if at_random == 1.0:
            arms[int(policies.next_uniform(state) * k)].index = 1.0
        return
    if (done - tau) % period == 0.0:
        least = math.inf
        for i in range(k):
            a = arms[i]
            loss = -rho * a.mean
            if spread == 1.0:
                loss += a.var
            elif spread == 2.0:
                loss += math.sqrt(a.var)
            elif a.n > 1:
                loss += a.var * a.n / (a.n - 1)
            if loss < least:
                least, memory[0] = loss, i
    arms[int(memory[0])].index = 1.0


_SPREADS = {"variance": 1.0, "sd": 2.0, "n - 1": 3.0}


def open_rules(horizon: int) -> dict[str, dict[str, Policy]]:
    """The rules of the last search by curve and name.

    Examples
    --------
    >>> list(open_rules(2000)["UCB"])[:2]
    ['one round', 'one round, C under the root']
    """
    rounds = {"one round": 1, "two rounds": 2, "three rounds": 3}
    ucb: dict[str, Policy] = {}
    marab: dict[str, Policy] = {}
    mv_lcb: dict[str, Policy] = {}
    for name, n in rounds.items():
        ucb[name] = policies.UCB(rounds=n)
        ucb[f"{name}, C under the root"] = policies.UCB(rounds=n, constant="inside")
        for share in ("round", "floor"):
            marab[f"{name}, 10 %, {share}"] = policies.MaRaB("0.1", share=share, rounds=n)
        mv_lcb[f"{name}, pessimistic bonus"] = policies.MVLCB(bonus="pessimistic", rounds=n)

    def exp_exp(rho=2.0, at_random=0, period=1, spread="variance", extra=0):
        tau = math.floor(20 * (horizon / 14) ** (2 / 3)) + 20 * extra
        params = (rho, tau, at_random, period, _SPREADS[spread])
        return policies.Custom(_exp_exp, params, memory=1)

    found: dict[str, Mapping[str, Policy]] = {
        "UCB": ucb,
        "MaRaB": marab,
        "MV-LCB": mv_lcb,
        "ExpExp": {
            "choosing anew": exp_exp(),
            "exploring at random": exp_exp(at_random=1),
            "one round before tau": exp_exp(extra=1),
            "anew every 20 pulls": exp_exp(period=20),
            "anew every 100 pulls": exp_exp(period=100),
            "anew every 500 pulls": exp_exp(period=500),
            "variance by n - 1": exp_exp(spread="n - 1"),
            "sd for the variance": exp_exp(spread="sd"),
            "rho = 1/2": exp_exp(rho=0.5),
        },
    }
    return {curve: {k: _labelled(p, curve, k) for k, p in found[curve].items()} for curve in CURVES}


def _generator(name: str) -> Generator:
    return {**generators(), **open_generators()}[name]


@cache
def printed_curve(curve: str, panel: str = "a") -> np.ndarray:
    """Sorted regrets of a panel of figure 2 at the 1,000 ranks, shape (1000,)."""
    _validate.choice("curve", curve, CURVES)
    table = data.published_curves(2, panel)
    part = table[table["policy"] == curve].sort_values("x", kind="stable")
    regrets = np.interp(np.arange(PRINTED_PROBLEMS), part["x"], part["y"])
    regrets.flags.writeable = False
    return regrets


@cache
def yardstick(
    curve: str, n_problems: int = PRINTED_PROBLEMS, resamples: int = 200, panel: str = "a"
) -> float:
    """Mean distance between the printed curve and n regrets drawn from it: what noise alone makes.

    Examples
    --------
    >>> yardstick("UCB", 250) > yardstick("UCB", 1000) > 0
    True
    """
    printed = printed_curve(curve, panel)
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.choice(printed, (resamples, n_problems)), axis=1)
    return float(np.mean([_distance(x, printed) for x in drawn]))


def _at_ranks(curve: np.ndarray) -> np.ndarray:
    """A sorted curve of n problems at the ranks of the printed ones."""
    n = curve.size
    if n == PRINTED_PROBLEMS:
        return curve
    share = (np.arange(PRINTED_PROBLEMS) + 0.5) / PRINTED_PROBLEMS
    return np.interp(share, (np.arange(n) + 0.5) / n, curve)


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(_at_ranks(one) - _at_ranks(other)).mean())


def sorted_curves(
    rules: Sequence[Policy],
    generator: Generator,
    n_problems: int,
    repetitions: int,
    seed: int,
    *,
    runs: int = 1,
    horizon: int = HORIZONS["a"],
    threads: int | None = None,
) -> np.ndarray:
    """Sorted empirical regrets, each repetition with problems and rewards of its own.

    Parameters
    ----------
    rules : sequence of Policy
    generator : mapping or callable
        Options of `problems.artificial`, or a function of n_problems and the seed.
    n_problems, repetitions, runs : int
        Problems a repetition, repetitions, and runs of which a problem's regret is the mean.
    seed : int
        Repetition r takes seed + r.
    horizon : int
        Pulls a run.
    threads : int, optional
        See `simulate`.

    Returns
    -------
    ndarray, shape (repetition, policy, problem), in units of the reward
    """
    found = []
    for r in range(_validate.whole("repetitions", repetitions, 1)):
        if callable(generator):
            listed = generator(n_problems, seed + r)
        else:
            listed = problems.artificial(n_problems, seed + r, **generator)
        result = simulate(
            listed, list(rules), horizon, runs, seed + r, threads=threads, checkpoints=1
        )
        found.append(np.sort(result.empirical_regret.mean("run").values[..., -1], axis=-1))
    return np.stack(found)


def compare(curves: np.ndarray, printed: np.ndarray) -> dict[str, float]:
    """Distance of an interpretation from a printed curve, with the Monte-Carlo floor beside it.

    Parameters
    ----------
    curves : ndarray, shape (repetition, problem)
        Sorted regrets of independent repetitions.
    printed : ndarray, shape (1000,)

    Returns
    -------
    dict
        ``distance`` of the mean curve from the printed one; ``bias``, ``low``, ``middle``,
        ``high``: mean differences (ours - printed) over all ranks, the lowest 30 %, the 40 %
        above, the highest 30 %; and with two or more repetitions ``floor`` and ``floor_max``: mean
        and largest distance of one repetition from the mean of the others, and ``pair``: mean
        distance of two repetitions.

    Examples
    --------
    >>> line = np.arange(1000.0)
    >>> found = compare(np.stack([line + 1, line + 3]), line)
    >>> found["distance"], found["floor"], found["pair"]
    (2.0, 2.0, 2.0)
    """
    at = np.stack([_at_ranks(curve) for curve in curves])
    difference = at.mean(axis=0) - printed
    found = {"distance": np.abs(difference).mean(), "bias": difference.mean()}
    found |= {name: difference[part].mean() for name, part in _THIRDS.items()}
    n = len(at)
    if n > 1:
        others = (at.sum(axis=0) - at) / (n - 1)
        single = np.abs(at - others).mean(axis=1)
        pairs = [np.abs(a - b).mean() for a, b in itertools.combinations(at, 2)]
        found |= {"floor": single.mean(), "floor_max": single.max(), "pair": np.mean(pairs)}
    return {name: float(value) for name, value in found.items()}


def beside_printed(result: xarray.Dataset, panels: Mapping[int, str]) -> pandas.DataFrame:
    """Mean regrets of figure 2 beside the printed ones, and how far apart the curves are.

    Parameters
    ----------
    result : Dataset of `section_5_2_1.final_regrets`
        Of policies with a printed curve.
    panels : mapping from horizon to "a" or "b"

    Returns
    -------
    DataFrame
        By horizon and policy: the mean of the printed curve, ours with its standard error over
        problems, the distance of our first runs' sorted curve, and the distance of two such curves
        if both came from one law.
    """
    import pandas

    rows, n = {}, result.sizes["problem"]
    for horizon in filter(panels.__contains__, result.horizon.values.tolist()):
        for name, title in zip(result.policy.values, result.title.values, strict=True):
            ours = result.empirical_regret.sel(horizon=horizon, policy=name)
            mean, error = map(float, mean_and_error(ours.mean("run"), "problem"))
            printed = printed_curve(title, panels[horizon])
            single = np.sort(ours.isel(run=0).values)
            noise = yardstick(title, n, panel=panels[horizon]) * math.sqrt(2)
            rows[horizon, name] = [printed.mean(), mean, error, _distance(single, printed), noise]
    columns = ["paper", "ours", "standard error", "distance", "noise alone"]
    return pandas.DataFrame(rows, columns).T


def _rows(stage, panel, generator, named, curves, n_problems, runs, seed) -> list[dict]:
    """A row for each (curve, rule); `curves` has shape (repetition, policy, problem)."""
    return [
        {
            "stage": stage,
            "panel": panel,
            "curve": curve,
            "generator": generator,
            "rule": rule,
            "problems": n_problems,
            "runs": runs,
            "repetitions": len(curves),
            "seed": seed,
        }
        | compare(curves[:, i], printed_curve(curve, panel))
        for i, (curve, rule) in enumerate(named)
    ]


def _compared(stage, chosen, n_problems, repetitions, seed, runs=1, threads=None, panel="a"):
    """Compare (generator, [(curve, rule), ...]) pairs with the printed curves of a panel."""
    import pandas

    rows = []
    known, opened = rules(), open_rules(HORIZONS[panel])
    for generator, named in chosen:
        listed = [{**opened[curve], **known[curve]}[rule] for curve, rule in named]
        options = _generator(generator)
        curves = sorted_curves(
            listed, options, n_problems, repetitions, seed, runs=runs, horizon=HORIZONS[panel],
            threads=threads,
        )  # fmt: skip
        rows += _rows(stage, panel, generator, named, curves, n_problems, runs, seed)
    return pandas.DataFrame(rows)


def screen(n_problems: int, seed: int, threads: int | None = None) -> pandas.DataFrame:
    """Every rule with every generator, one repetition of single runs.

    Parameters
    ----------
    n_problems : int
    seed : int
    threads : int, optional

    Returns
    -------
    DataFrame
        By interpretation: stage, panel, curve, generator, rule, problems, runs, repetitions, seed
        and what `compare` gives.
    """
    every = [(curve, rule) for curve in CURVES for rule in rules()[curve]]
    chosen = [(generator, every) for generator in generators()]
    return _compared("screen", chosen, n_problems, 1, seed, threads=threads)


def _screen_open(n_problems: int, seed: int, threads: int | None) -> pandas.DataFrame:
    """Every open rule with every open generator on both panels, single runs."""
    import pandas

    every = [(curve, rule) for curve, found in open_rules(2000).items() for rule in found]
    chosen = [(generator, every) for generator in open_generators()]
    return pandas.concat(
        _compared("open", chosen, n_problems, 1, seed + i, threads=threads, panel=panel)
        for i, panel in enumerate(HORIZONS)
    )


_ROUNDS = ("one round", "two rounds", "three rounds")


def together(table: pandas.DataFrame) -> pandas.DataFrame:
    """What one program would give: a generator and a number of first rounds for all policies.

    Parameters
    ----------
    table : DataFrame
        Distances on both panels, with the rules of `open_rules`.

    Returns
    -------
    DataFrame
        A row a generator and number of rounds, if the table has a rule for each curve, nearest
        first: the best rules, and
        ``total``, the sum over both panels of the distances in units of the `yardstick`. ExpExp's
        rules go with any number of rounds, since it explores in rounds.
    """
    import pandas

    units = [yardstick(c, panel=p) for c, p in zip(table["curve"], table["panel"], strict=True)]
    sums = (table["distance"] / units).groupby([table[c] for c in ("generator", "curve", "rule")])
    by_rule = sums.sum()
    rows = []
    for generator, rounds in itertools.product(table["generator"].unique(), _ROUNDS):
        row = {"generator": generator, "rounds": rounds, "total": 0.0}
        for curve in CURVES:
            totals = by_rule[generator, curve]
            if curve != "ExpExp":
                totals = totals[totals.index.str.startswith(rounds)]
            if not totals.empty:
                row[curve] = totals.idxmin()
                row["total"] += float(totals.min())
        if set(CURVES) <= set(row):
            rows.append(row)
    found = pandas.DataFrame(rows).sort_values("total", kind="stable")
    return found.set_index(["generator", "rounds"])


def _confirm_open(screened, n_problems, repetitions, seed, threads) -> pandas.DataFrame:
    """The nearest program, and four equal Gaussians with one round, on both panels."""
    import pandas

    order = together(screened)
    first = ("four an arm", "one round")
    keys = list(dict.fromkeys([order.index[0], first]))
    named: dict[str, dict[tuple[str, str], None]] = {}
    for key in keys:
        chosen = named.setdefault(key[0], {})
        chosen |= dict.fromkeys((curve, order.loc[key, curve]) for curve in CURVES)
        chosen["ExpExp", "choosing anew"] = None
    return pandas.concat(
        confirm(
            [(g, list(chosen)) for g, chosen in named.items()],
            n_problems, repetitions, seed + 100 * i, threads=threads, panel=panel,
        ).assign(stage="open, confirmed")
        for i, panel in enumerate(HORIZONS)
    )  # fmt: skip


def joint(table: pandas.DataFrame) -> pandas.DataFrame:
    """Best rule and distance of each curve by generator, and their sum in yardsticks.

    Parameters
    ----------
    table : DataFrame
        Of `screen` or `confirm`.

    Returns
    -------
    DataFrame
        A row a generator, best first: a column a curve (distance), a column "<curve> rule", and
        ``total``, the sum of the distances, each divided by the `yardstick` of its curve.
    """
    best = table.loc[table.groupby(["generator", "curve"])["distance"].idxmin()]
    wide = best.pivot(index="generator", columns="curve", values="distance")[list(CURVES)]
    names = best.pivot(index="generator", columns="curve", values="rule")
    for curve in CURVES:
        wide[f"{curve} rule"] = names[curve]
    wide["total"] = sum(wide[curve] / yardstick(curve) for curve in CURVES)
    return wide.sort_values("total", kind="stable")


def finalists(
    table: pandas.DataFrame, within: int = 6, against: int = 2, best: int = 2
) -> list[tuple[str, list[tuple[str, str]]]]:
    """The generators and rules that a screening leaves for a closer look.

    Parameters
    ----------
    table : DataFrame
        Of `screen`.
    within, against : int
        Generators that agree with the text, and that do not, best first by `joint`. The one used
        elsewhere comes first in any case.
    best : int
        Rules of each curve that are kept with a generator, besides the one used elsewhere.

    Returns
    -------
    list of (generator, list of (curve, rule))
    """
    order = joint(table).index
    named = [g for g in order if _AGAINST not in g][:within]
    named += [g for g in order if _AGAINST in g][:against]
    default = next(iter(generators()))
    chosen = []
    for generator in [default, *(g for g in named if g != default)]:
        part = table[table["generator"] == generator].sort_values("distance", kind="stable")
        keep = []
        for curve in CURVES:
            ranked = part.loc[part["curve"] == curve, "rule"]
            first = next(iter(rules()[curve]))
            keep += [(curve, r) for r in dict.fromkeys([first, *ranked[:best]])]
        chosen.append((generator, keep))
    return chosen


def confirm(
    chosen: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    n_problems: int,
    repetitions: int,
    seed: int,
    *,
    runs: int = 1,
    threads: int | None = None,
    panel: str = "a",
) -> pandas.DataFrame:
    """The chosen interpretations at full scale, with repetitions and a verdict.

    Parameters
    ----------
    chosen : sequence of (generator, sequence of (curve, rule))
        As `finalists` gives it.
    n_problems, repetitions, seed, runs, threads
        See `sorted_curves`. The seed must differ from that of the screening, or the choice would
        favour its own noise.
    panel : {"a", "b"}
        Of figure 2: T = 2,000, on which the choice was made, or 4,000.

    Returns
    -------
    DataFrame
        As `screen`, with the floor and the ``verdict``: "remains" where the distance is at most
        the largest among the repetitions, "excluded" where it is more than twice that, else
        "doubtful".
    """
    _validate.whole("repetitions", repetitions, 2)
    table = _compared("confirm", chosen, n_problems, repetitions, seed, runs, threads, panel)
    ratio = table["distance"] / table["floor_max"]
    table["verdict"] = np.select([ratio <= 1, ratio > 2], ["remains", "excluded"], "doubtful")
    return table


def search(
    problems: int, screen_problems: int, repetitions: int, seed: int, threads: int
) -> pandas.DataFrame:
    """All stages, as they are saved; `problems` is the number of the closer looks."""
    import pandas

    first = screen(screen_problems, seed, threads)
    print("screened:", len(first), "interpretations", flush=True)
    chosen = finalists(first)
    later = seed + 1000  # seeds that the screening has not seen
    second = confirm(chosen, problems, repetitions, later, threads=threads)
    print("confirmed:", len(second), "interpretations", flush=True)
    few = max(2, problems // 8)
    averaged = [
        confirm(chosen[:2], few, 2, later + 500, runs=runs, threads=threads).assign(stage="runs")
        for runs in (5, 40)
    ]
    print("with means of several runs:", sum(map(len, averaged)), "interpretations", flush=True)
    unseen = confirm(chosen, problems, repetitions, later + 1000, threads=threads, panel="b")
    unseen = unseen.assign(stage="out of sample")
    print("tested on panel (b):", len(unseen), "interpretations", flush=True)
    third = _screen_open(screen_problems, later + 2000, threads)
    print("screened on both panels:", len(third), "interpretations", flush=True)
    last = _confirm_open(third, problems, repetitions, later + 3000, threads)
    print("confirmed on both panels:", len(last), "interpretations", flush=True)
    return pandas.concat([first, second, *averaged, unseen, third, last], ignore_index=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the saved result of the search again."""
    given = {"problems": 1000, "screen_problems": 400, "repetitions": 10, "seed": 52}
    data.remake("readings.csv", search, arguments, 3, **given, threads=1)


if __name__ == "__main__":
    main()
