"""Cost of a step of each policy beside a lockstep NumPy UCB, and of all of section 5.2.

Run by ``make bench``. Nothing here is asserted: machines differ, so the README quotes ratios.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from marab_lib import arms, policies, problems, simulate
from marab_lib.paper import battery

HORIZON = 2000
RUNS = 400


def best_of(repeats: int, work: Callable[[], object], clock=time.perf_counter) -> float:
    """Shortest of several timings in seconds: the one that other programs disturbed least."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def lockstep_ucb(law: arms.Uniform, runs: int, horizon: int, C: float = 1e-3) -> np.ndarray:
    """All runs advance together, one NumPy call for each operation: the usual fast Python way."""
    rng = np.random.default_rng(0)
    every = np.arange(runs)
    pulls = np.zeros((runs, len(law)))
    total = np.zeros((runs, len(law)))
    for t in range(1, horizon + 1):
        if t <= len(law):
            arm = np.full(runs, t - 1)
        else:
            arm = (total / pulls + C * np.sqrt(np.log(t) / pulls)).argmax(axis=1)
        total[every, arm] += rng.uniform(law.low[arm], law.high[arm])
        pulls[every, arm] += 1
    return pulls


def compare_policies(repeats: int) -> None:
    """Nanoseconds of CPU time a step, and their ratio to the baseline of the same run."""
    rng = np.random.default_rng(3)
    uniform = arms.Uniform(*np.sort(rng.random((20, 2)), axis=1).T)
    bernoulli = problems.Problem(arms.Bernoulli(rng.random(20)))
    artificial = problems.artificial(1, seed=0)[0]
    laws = problems.Problem(uniform), artificial, bernoulli
    work, clock = lambda: lockstep_ucb(uniform, RUNS, HORIZON), time.process_time
    baseline = best_of(repeats, work, clock) / (RUNS * HORIZON) * 1e9
    print(f"\nK = 20, T = {HORIZON}, {RUNS} runs, one thread: CPU time in ns a step, and ratio to")
    print(f"the baseline, a lockstep NumPy UCB on uniform arms that takes {baseline:.0f} ns")
    print(f"{'policy':34}" + "".join(f"{x:>18}" for x in ("uniform", "section 5.2", "Bernoulli")))
    for policy in (
        policies.UCB(),
        policies.MIN(),
        policies.MaRaB(),
        policies.MVLCB(),
        policies.ExpExp(),
        policies.EpsilonGreedy(),
        policies.MOSS(),
        policies.UCBV(),
        policies.KLUCB(),
        policies.ThompsonSampling(),
    ):
        runs = RUNS if policy.title not in ("KL-UCB", "Thompson") else RUNS // 4
        cells = []
        for problem in laws:

            def play(problem=problem, policy=policy, runs=runs) -> None:
                simulate(problem, policy, HORIZON, runs, 0, threads=1, checkpoints=1)

            play()
            cells.append(best_of(repeats, play, clock) / (runs * HORIZON) * 1e9)
        print(f"{policy.name:34}" + "".join(f"{x:10.0f}{x / baseline:8.2f}" for x in cells))
    many = [artificial] * 20
    single, double = (
        best_of(repeats, lambda n=n: simulate(many, policies.MaRaB(), HORIZON, 40, 0, threads=n))
        for n in (1, 2)
    )
    print(f"two threads are {single / double:.2f} times as fast as one (MaRaB, 20 problems)")


def growth_with_time(repeats: int) -> None:
    """Nanoseconds a pull of the policies since 2013, averaged over runs of growing length.

    Continuous rewards (section 5.2, K = 20) and rewards from a table (section 5.3, 117 values an
    arm), where B-CVTS draws one number for each distinct value.
    """
    horizons = (2_000, 20_000, 100_000)
    print("\nPolicies since 2013: ns a pull, averaged over a run of T pulls, K = 20, one core")
    print(f"{'':34}{'section 5.2':^30}{'table of 117 values':^30}")
    print(f"{'policy':34}" + 2 * "".join(f"{f'T = {h:,}':>12}"[-12:] for h in horizons))
    listed = problems.artificial(1, seed=0)[0], battery.problem()
    resampled = [policies.BCVTS(0.5), policies.BCVTS(0.9), policies.CVaRUCB(0.9)]
    for policy in [policies.MaRaB(0.1), *policies.since_2013(0.1), *resampled]:
        cells = []
        for problem in listed:
            for horizon in horizons:
                runs = max(1, 20_000 // horizon)

                def play(problem=problem, policy=policy, horizon=horizon, runs=runs) -> None:
                    simulate(problem, policy, horizon, runs, 0, threads=1, checkpoints=1)

                play() if horizon == horizons[0] else None  # compiles
                cells.append(best_of(repeats, play) / (runs * horizon) * 1e9)
        print(f"{policy.name:34}" + "".join(f"{cell:12.0f}" for cell in cells))
    discrete = problems.multinomial(1, seed=0)[0]
    print("\nFive arms on 11 values (Baudry et al. 2021), T = 10,000")
    for policy in (policies.MCVTS(0.1), policies.BCVTS(0.1), policies.BCVTS(0.9)):
        simulate(discrete, policy, 100, 1, 0, threads=1)
        work = best_of(
            repeats, lambda p=policy: simulate(discrete, p, 10_000, 4, 0, threads=1, checkpoints=1)
        )
        print(f"{policy.name:34}{work / 40_000 * 1e9:12.0f}")


def full_experiment(n_problems: int) -> None:
    """Figure 2: four policies, 40 runs a problem, both horizons."""
    listed = problems.artificial(n_problems, seed=0)
    chosen = [policies.UCB(), policies.MaRaB(), policies.MVLCB(), policies.ExpExp()]
    start = time.perf_counter()
    for horizon in (2000, 4000):
        simulate(listed, chosen, horizon, 40, 0)
    seconds = time.perf_counter() - start
    steps = n_problems * 40 * 6000 * len(chosen)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\nFigure 2: {steps / 1e6:.0f} million steps in {seconds:.1f} s on "
        f"{len(os.sched_getaffinity(0))} cores, at most {memory:.2f} GiB of memory"
    )


def start_up() -> None:
    """Seconds for the import, and for a first simulation in a new process with a warm cache."""
    first = (
        "from marab_lib import policies, problems, simulate;"
        "simulate(problems.proof_of_concept(), policies.MIN(), 100, 1, 0)"
    )
    for label, code in (("import", "import marab_lib"), ("import and a first simulation", first)):
        seconds = best_of(
            3, lambda code=code: subprocess.run([sys.executable, "-c", code], check=True)
        )
        print(f"{label}: {seconds:.2f} s (new process, interpreter included)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--problems", type=int, default=1000, help="of figure 2; 0 leaves it out")
    options = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    start_up()
    compare_policies(options.repeats)
    growth_with_time(min(options.repeats, 3))
    if options.problems:
        full_experiment(options.problems)


if __name__ == "__main__":
    main()
