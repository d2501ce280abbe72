"""The same runs by other bandit libraries: what a step costs, and the regret.

Run by ``make peers``, which makes an environment for them beside this project's own. Each library
plays each policy that it has in a process of its own, in one thread. The mean regrets must agree:
only then is the work the same.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np

MEANS = np.linspace(0.05, 0.9, 20)  # Bernoulli arms
POLICIES = ("UCB", "UCB-V", "KL-UCB", "MOSS", "Thompson")  # UCB with C = sqrt(2), as in UCB1
FAR = 4.0  # standard errors between two mean regrets: by chance once in 16,000 pairs
OLD = ("numpy<2", "scipy<1.14")  # which SMPyBandits needs
LONG = 3.0  # seconds after which a timing is not repeated
HERE = Path(__file__).resolve()

Play = Callable[[int, int], np.ndarray]  # horizon, runs -> regret of each run


def regrets_of(choose_and_learn: Callable, horizon: int, runs: int) -> np.ndarray:
    """A plain loop for libraries that have policies only.

    `choose_and_learn()` begins a run: it returns a function that names an arm, and one that is told
    the arm and its reward.
    """
    rng, gaps = np.random.default_rng(0), MEANS.max() - MEANS
    regrets = np.zeros(runs)
    for run in range(runs):
        choose, learn = choose_and_learn()
        for u in rng.random(horizon):
            arm = choose()
            learn(arm, float(u < MEANS[arm]))
            regrets[run] += gaps[arm]
    return regrets


# --- a function a library: the policy's name to what plays it, or KeyError --------------------


def marab_lib(policy: str) -> Play:
    from marab_lib import arms, policies, problems, simulate

    problem = problems.Problem(arms.Bernoulli(MEANS))
    chosen = {
        "UCB": policies.UCB(math.sqrt(2)),
        "UCB-V": policies.UCBV(),
        "KL-UCB": policies.KLUCB(),
        "MOSS": policies.MOSS(),
        "Thompson": policies.ThompsonSampling(),
    }[policy]

    def play(horizon: int, runs: int) -> np.ndarray:
        result = simulate(problem, chosen, horizon, runs, 0, threads=1, checkpoints=1)
        return result.theoretical_regret.values.ravel()

    play(100, 1)  # compiles
    return play


def numpy(policy: str) -> Play:
    """All runs in lockstep, one NumPy call for each operation."""

    def kl_ucb(n, total, t, T):  # bisection, down to a millionth
        p, bound = total / n, math.log(t) / n
        entropy = np.where((p > 0) & (p < 1), p * np.log(p) + (1 - p) * np.log1p(-p), 0.0)
        low, high = p.copy(), np.ones_like(p)
        for _ in range(20):
            q = (low + high) / 2
            inside = entropy - p * np.log(q) - (1 - p) * np.log1p(-q) <= bound
            low, high = np.where(inside, q, low), np.where(inside, high, q)
        return low

    def ucb_v(n, total, t, T):
        p, log_t = total / n, math.log(t)  # of rewards 0 and 1: variance p (1 - p)
        return p + np.sqrt(2 * p * (1 - p) * log_t / n) + 3 * log_t / n

    rng = np.random.default_rng(0)
    index = {
        "UCB": lambda n, total, t, T: total / n + np.sqrt(2 * math.log(t) / n),
        "UCB-V": ucb_v,
        "KL-UCB": kl_ucb,
        "MOSS": lambda n, total, t, T: (
            total / n + np.sqrt(np.maximum(np.log(T / (n.shape[1] * n)), 0) / n)
        ),
        "Thompson": lambda n, total, t, T: rng.beta(1 + total, 1 + n - total),
    }[policy]

    def play(horizon: int, runs: int) -> np.ndarray:
        every, pulls = np.arange(runs), np.zeros((runs, MEANS.size))
        total = np.zeros_like(pulls)
        for t in range(1, horizon + 1):
            if t <= MEANS.size and policy != "Thompson":
                arm = np.full(runs, t - 1)
            else:
                arm = index(pulls, total, t, horizon).argmax(axis=1)
            total[every, arm] += rng.random(runs) < MEANS[arm]
            pulls[every, arm] += 1
        return pulls @ (MEANS.max() - MEANS)

    np.seterr(all="ignore")  # 0 log 0
    return play


def pymab(policy: str) -> Play:
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig, policies

    k = MEANS.size
    make = {
        "UCB": lambda T: policies.UCBPolicy(n_arms=k, c=2.0),
        "KL-UCB": lambda T: policies.KLUCBPolicy(n_arms=k, c=1e-12),
        "MOSS": lambda T: policies.MOSSPolicy(n_arms=k, horizon=T),
        "Thompson": lambda T: policies.BernoulliThompsonSamplingPolicy(n_arms=k),
    }[policy]

    def play(horizon: int, runs: int) -> np.ndarray:
        result = Experiment(
            environment=BanditEnvironment(means=MEANS, reward_model=BernoulliReward()),
            policies={policy: make(horizon)},
            config=ExperimentConfig(horizon=horizon, n_replicates=runs, seed=0),
        ).run()
        return result.cumulative_regret_by_replicate.reshape(runs, horizon, -1)[:, -1, 0]

    return play


def mabwiser(policy: str) -> Play:
    from mabwiser.mab import MAB, LearningPolicy

    k = MEANS.size
    made = {"UCB": LearningPolicy.UCB1(alpha=1.0), "Thompson": LearningPolicy.ThompsonSampling()}
    learning, seeds = made[policy], iter(range(10**9))
    rng = np.random.default_rng(1)

    def begin():
        mab = MAB(list(range(k)), learning, seed=next(seeds))
        # It does not choose before it has learned something: each arm once, or any one.
        first = list(range(k))[::-1] if policy == "UCB" else [int(rng.integers(k))]
        fit = [mab.fit]

        def choose() -> int:
            return first.pop() if first else mab.predict()

        def learn(arm: int, reward: float) -> None:
            (fit.pop() if fit else mab.partial_fit)([arm], [reward])

        return choose, learn

    return lambda horizon, runs: regrets_of(begin, horizon, runs)


def SMPyBandits(policy: str) -> Play:
    from SMPyBandits import Policies

    k = MEANS.size
    make = {
        "UCB": lambda T: Policies.UCB(k),
        "UCB-V": lambda T: Policies.UCBV(k),
        "KL-UCB": lambda T: Policies.klUCB(k),
        "MOSS": lambda T: Policies.MOSSH(k, horizon=T),
        "Thompson": lambda T: Policies.Thompson(k),
    }[policy]

    def play(horizon: int, runs: int) -> np.ndarray:
        def begin():
            made = make(horizon)
            made.startGame()
            return made.choice, made.getReward

        return regrets_of(begin, horizon, runs)

    return play


def mabby(policy: str) -> Play:
    from mabby import BernoulliArm, Metric, Simulation
    from mabby.strategies import BetaTSStrategy, UCB1Strategy

    make = {"UCB": lambda: UCB1Strategy(math.sqrt(2)), "Thompson": BetaTSStrategy}[policy]

    def play(horizon: int, runs: int) -> np.ndarray:
        regrets = []
        for run in range(runs):
            strategy, bandit = make(), BernoulliArm.bandit(p=MEANS.tolist(), seed=2 * run)
            simulation = Simulation(bandit, strategies=[strategy], seed=2 * run + 1)
            stats = simulation.run(1, horizon, metrics=[Metric.CUM_REGRET])
            regrets.append(next(iter(stats._stats_dict.values()))[Metric.CUM_REGRET][-1])
        return np.array(regrets)

    return play


OURS = {"marab_lib": marab_lib, "numpy": numpy}  # and what they are in no package of
PEERS = {"pymab": pymab, "mabwiser": mabwiser, "SMPyBandits": SMPyBandits, "mabby": mabby}


# --- one library, one policy, in a process of its own ------------------------------------------


def play_one(library: str, policy: str, horizon: int, runs: int) -> None:
    """Print the nanoseconds of CPU time a step, the least of some, and the regret of each run."""
    try:
        play = (OURS | PEERS)[library](policy)
    except KeyError:
        print(json.dumps("-"))
        return
    times: list[float] = []
    while len(times) < 5 and sum(times) < LONG:
        start = time.process_time()
        regrets = play(horizon, runs)
        times.append(time.process_time() - start)
    print(json.dumps([min(times) * 1e9 / horizon / runs, np.asarray(regrets).tolist()]))


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def ask(python: str, library: str, policy: str, horizon: int, runs: int):
    """What `play_one` printed there, or why it did not."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
    done = subprocess.run(
        [python, HERE, "--play", library, policy, "--horizon", str(horizon), "--runs", str(runs)],
        capture_output=True,
        text=True,
        env=os.environ | one | {"PYTHONWARNINGS": "ignore"},
    )
    return last_line(done.stderr) if done.returncode else json.loads(last_line(done.stdout))


def compiled(checkout: Path, folder: Path) -> Path:
    """The program that plays banditlib's policies, or OSError."""
    if not (checkout / "policy" / "policy_ucb.hpp").is_file():
        raise OSError(f"no checkout of banditlib at {checkout}")
    program = folder / "banditlib"
    sources = [HERE.with_name("banditlib.cpp"), checkout / "bandit" / "util.cpp"]
    options = ["-O3", "-std=c++11", "-w", "-I", checkout, "-o", program]
    done = subprocess.run(["g++", *options, *sources], capture_output=True, text=True)
    if done.returncode:
        raise OSError(last_line(done.stderr))
    return program


def ask_program(program: Path, policy: str, horizon: int, runs: int):
    rows = []
    while len(rows) < 5 and sum(row[0] for row in rows) * horizon * runs < LONG * 1e9:
        command = [program, policy, horizon, runs, len(rows), *MEANS]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            return last_line(done.stderr)
        rows.append([float(x) for x in done.stdout.split()])
    return [min(row[0] for row in rows), rows[-1][1:]]


# --- all of them ------------------------------------------------------------------------------


def install(python: str, names: list[str]) -> dict[str, str]:
    """Install each package by itself; why, where one cannot be."""
    refused = {}
    for name in names:
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        done = subprocess.run(
            [*pip, "install", "--quiet", *OLD, name], capture_output=True, text=True
        )
        if done.returncode:
            refused[name] = f"cannot be installed: {last_line(done.stderr)}"
    return refused


def version(python: str, library: str) -> str:
    if library == "marab_lib":
        return metadata.version(library)
    code = f"from importlib import metadata; print(metadata.version({library!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def mean_and_error(regrets: list[float]) -> tuple[float, float]:
    return float(np.mean(regrets)), float(np.std(regrets, ddof=1) / math.sqrt(len(regrets)))


def table(found: dict[str, dict]) -> list[str]:
    """Lines of a table in Markdown: a row a library, in each cell ns a step, ratio and regret."""
    ours = found["marab_lib"]
    lines = ["| library | " + " | ".join(ours) + " |", "|---" * (len(ours) + 1) + "|"]
    for library, by_policy in found.items():
        cells = []
        for policy, got in by_policy.items():
            if not isinstance(got, list):
                cells.append("" if got == "-" else f"fails: {got}")
                continue
            mean, error = mean_and_error(got[1])
            of_ours, its_error = mean_and_error(ours[policy][1])
            far = abs(mean - of_ours) > FAR * math.hypot(error, its_error)
            ratio = got[0] / ours[policy][0]
            shown = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
            mark = " ≠" if far else ""
            cells.append(f"{got[0]:,.0f} (× {shown}), {mean:.1f} ± {error:.1f}{mark}")
        lines.append(f"| {library} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter of the peers")
    parser.add_argument("--install", action="store_true", help="install the peers there first")
    parser.add_argument("--banditlib", type=Path, help="a checkout of jkomiyama/banditlib")
    parser.add_argument("--horizon", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    parser.add_argument("--play", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    horizon, runs = options.horizon, options.runs
    if options.play:
        play_one(*options.play, horizon, runs)
        return

    refused = install(options.python, list(PEERS)) if options.install else {}
    print(
        f"Bernoulli arms with means {MEANS[0]:g} to {MEANS[-1]:g}, K = {MEANS.size}, "
        f"T = {horizon}, {runs} runs, one thread: CPU time in ns a step (ratio to ours), mean "
        f"regret ± standard error; ≠: more than {FAR:g} standard errors from ours\n",
        flush=True,
    )
    found, absent = {}, []
    for library in OURS | PEERS:
        python = sys.executable if library in OURS else options.python
        number = version(python, library)
        if library in refused or not number:
            absent.append(f"{library}: {refused.get(library, 'is not installed')}")
            continue
        found[f"{library} {number}" if library != "marab_lib" else library] = {
            policy: ask(python, library, policy, horizon, runs) for policy in options.policies
        }
    if options.banditlib is None:
        absent.append("banditlib (C++): no checkout given (--banditlib PATH)")
    else:
        with tempfile.TemporaryDirectory() as folder:
            try:
                program = compiled(options.banditlib, Path(folder))
                found["banditlib (C++, -O3)"] = {
                    policy: ask_program(program, policy, horizon, runs)
                    for policy in options.policies
                }
            except OSError as error:
                absent.append(f"banditlib (C++): {error}")
    print("\n".join([*table(found), *(f"\n{line}" for line in absent)]))


if __name__ == "__main__":
    main()
