"""What a step costs: of each policy, with many arms and long runs, in threads and on a cluster.

Run by ``make bench``, whose output the README shows. Nothing is asserted: machines differ.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from marab_lib import arms, policies, problems, simulate
from marab_lib.paper import battery

HORIZON = 2000
RUNS = 400

# The grid. A cell that would take longer than the budget is left empty.
GRID_ARMS = (2, 5, 20, 100, 1_000, 10_000)
GRID_HORIZONS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
GRID_POLICIES = {
    policy.title: policy
    for policy in (
        policies.UCB(),
        policies.MIN(),
        policies.MaRaB(),
        policies.ThompsonSampling(),
        policies.BCVTS(0.1),
    )
}


def table(head: list[str], rows: list[list[object]]) -> None:
    """Print a table in Markdown."""
    print()
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(str(x) for x in row) + " |", flush=True)


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


def peak_memory() -> float:
    """MiB that this process has held at most (Linux).

    The system's ``ru_maxrss`` also counts what the process that started this one had held.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 2**10


def uniform_arms(k: int) -> arms.Uniform:
    return arms.Uniform(*np.sort(np.random.default_rng(3).random((k, 2)), axis=1).T)


def played(problem, policy, horizon: int, runs: int, repeats: int) -> float:
    """Nanoseconds of CPU time a step, in one thread."""
    first = max(problem.n_arms, min(horizon, 2000))
    simulate(problem, policy, first, 1, 0, threads=1, checkpoints=1)  # compiles
    seconds = best_of(
        repeats,
        lambda: simulate(problem, policy, horizon, runs, 0, threads=1, checkpoints=1),
        time.process_time,
    )
    return seconds / (runs * horizon) * 1e9


def each_policy(repeats: int) -> None:
    """Nanoseconds of CPU time a step, and their ratio to the baseline of the same run."""
    uniform = uniform_arms(20)
    bernoulli = problems.Problem(arms.Bernoulli(np.random.default_rng(4).random(20)))
    laws = problems.Problem(uniform), problems.artificial(1, seed=0)[0], bernoulli
    work = lambda: lockstep_ucb(uniform, RUNS, HORIZON)  # noqa: E731
    baseline = best_of(repeats, work, time.process_time) / (RUNS * HORIZON) * 1e9
    print(f"\nK = 20, T = {HORIZON}, one thread: CPU time in ns a step, and ratio to the baseline,")
    print(f"a lockstep NumPy UCB of {RUNS} runs on uniform arms that takes {baseline:.0f} ns")
    rows = []
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
        cells = [played(problem, policy, HORIZON, runs, repeats) for problem in laws]
        shown = [text for x in cells for text in (f"{x:.0f}", f"{x / baseline:.2f}")]
        rows.append([policy.name, *shown])
    kinds = ("uniform arms", "section 5.2", "Bernoulli arms")
    table(["policy", *(text for kind in kinds for text in (kind, "ratio"))], rows)


def with_histories(repeats: int) -> None:
    """Nanoseconds a pull of the policies since 2013, averaged over runs of growing length.

    Continuous rewards (section 5.2, K = 20) and rewards from a table (section 5.3, 117 values an
    arm), where B-CVTS draws one number for each distinct value.
    """
    horizons = (2_000, 20_000, 100_000)
    listed = {
        "section 5.2": problems.artificial(1, seed=0)[0],
        "table of 117 values": battery.problem(),
    }
    print(
        "\nPolicies since 2013: CPU time in ns a pull, averaged over a run of T pulls, one thread"
    )
    rows = []
    resampled = [policies.BCVTS(0.5), policies.BCVTS(0.9), policies.CVaRUCB(0.9)]
    for policy in [policies.MaRaB(0.1), *policies.since_2013(0.1), *resampled]:
        cells = [
            played(problem, policy, horizon, 100_000 // horizon, repeats)
            for problem in listed.values()
            for horizon in horizons
        ]
        rows.append([policy.name, *(f"{x:,.0f}" for x in cells)])
    table(["policy", *(f"{name}, T = {h:,}" for name in listed for h in horizons)], rows)
    discrete = problems.multinomial(1, seed=0)[0]
    chosen = policies.MCVTS(0.1), policies.BCVTS(0.1), policies.BCVTS(0.9)
    rows = [[p.name, f"{played(discrete, p, 10_000, 4, repeats):,.0f}"] for p in chosen]
    table(["five arms on 11 values (Baudry et al. 2021)", "T = 10,000"], rows)


# --- many arms, long runs ---------------------------------------------------------------------


def column(title: str, k: int, horizons: tuple[int, ...], budget: float) -> None:
    """Print, for growing horizons, one policy's ns a step and this process's memory so far.

    Ends where the next horizon would take longer than `budget` seconds or more than the memory.
    """
    problem, policy = problems.Problem(uniform_arms(k)), GRID_POLICIES[title]
    simulate(problem, policy, k, 1, 0, threads=1, checkpoints=1)  # compiles
    seconds = 0.0
    for horizon in horizons:
        if horizon < k:
            continue
        if seconds * 10 > budget:
            break
        try:
            cost = played(problem, policy, horizon, 1, 1)
        except MemoryError:
            break
        seconds = cost * horizon / 1e9
        if seconds < 1:
            runs = max(1, min(1_000_000 // horizon, int(0.2 / seconds)))
            cost = played(problem, policy, horizon, runs, 3)
        print(json.dumps([horizon, cost, peak_memory()]), flush=True)


def measured_column(title: str, k: int, horizons: tuple[int, ...], budget: float) -> dict:
    """What `column` prints in a process of its own: {horizon: (ns a step, MiB)}."""
    command = [sys.executable, __file__, "--column", title, str(k), "--budget", str(budget)]
    if horizons != GRID_HORIZONS:
        command += ["--horizons", *map(str, horizons)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {horizon: (cost, memory) for horizon, cost, memory in rows}


def grid(budget: float, figure: Path | None) -> None:
    """Nanoseconds a step and memory over K and T, as a table and a figure."""
    print("\nUniform arms: CPU time in ns a step, one thread; in brackets the peak memory of the")
    print(
        f"process in MiB. Empty: T < K, {budget:g} s or more expected, or more memory than is free"
    )
    found, rows = {}, []
    for title, policy in GRID_POLICIES.items():
        # Compiled here: what compiling takes is no memory of the runs.
        simulate(problems.Problem(uniform_arms(2)), policy, 100, 1, 0)
        for k in GRID_ARMS:
            cells = found[title, k] = measured_column(title, k, GRID_HORIZONS, budget)
            shown = [
                f"{cells[h][0]:,.0f} ({cells[h][1]:,.0f})" if h in cells else ""
                for h in GRID_HORIZONS
            ]
            rows.append([policy.name, f"{k:,}", *shown])
    table(["policy", "K", *(f"T = {h:,}" for h in GRID_HORIZONS)], rows)
    if figure is not None:
        draw(found, figure)


def draw(found: dict[tuple[str, int], dict], path: Path) -> None:
    """Left: ns a step over K, of the longest run measured; then it and memory over T, at K = 20."""
    import matplotlib.pyplot as plt

    from marab_lib import plots

    plots.use_style()
    figure, axes = plt.subplots(1, 3, figsize=(8.5, 3.2))
    for title in GRID_POLICIES:
        style = plots.policy_style(title)
        by_arms = {k: max(found[title, k].items()) for k in GRID_ARMS if found[title, k]}
        axes[0].plot(
            list(by_arms), [cost for _, (cost, _) in by_arms.values()], label=title, **style
        )
        by_time = found[title, 20]
        axes[1].plot(list(by_time), [cost for cost, _ in by_time.values()], **style)
        axes[2].plot(list(by_time), [memory for _, memory in by_time.values()], **style)
    axes[0].set(xlabel="arms K", ylabel="ns a step", title="longest run measured")
    axes[1].set(xlabel="pulls T", ylabel="ns a step", title="K = 20")
    axes[2].set(xlabel="pulls T", ylabel="MiB", title="K = 20, peak memory")
    for axis in axes:
        axis.set(xscale="log", yscale="linear" if axis is axes[2] else "log")
    axes[0].legend()
    figure.savefig(path)
    print(f"\nfigure: {path}")


# --- threads, cluster, start --------------------------------------------------------------------


def threads(repeats: int) -> None:
    """What one thread does alone, what it hands out, and what that says of 16 threads."""
    listed = problems.artificial(200, seed=0)
    taken: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    for count in (*taken, *taken, *taken) * repeats:  # in turn: the machine is not always as fast
        before = time.perf_counter(), time.process_time(), time.thread_time()
        simulate(listed, policies.MaRaB(), HORIZON, 40, 0, threads=count)
        after = time.perf_counter(), time.process_time(), time.thread_time()
        taken[count].append(tuple(b - a for a, b in zip(before, after, strict=True)))
    measured = {count: np.min(times, axis=0) for count, times in taken.items()}
    total, serial = measured[2][1:]  # with two threads, the calling one hands out and gathers
    shared = total - serial
    more = total / measured[1][1]
    print(
        f"\nThreads (MaRaB, {len(listed)} problems, 40 runs, T = {HORIZON}): with two, the calling"
    )
    print(
        f"thread's own CPU time is {serial / total:.2%} of all (Amdahl's share), and all of it is"
    )
    print(f"{more:.3f} times that of one thread. Speed-up so expected, and measured by the clock:")
    rows = []
    for count in (2, 4, 8, 16):
        expected = measured[1][1] / (serial + shared / count)
        clock = f"{measured[1][0] / measured[2][0]:.2f}" if count == 2 else ""
        rows.append([count, f"{expected:.2f}", clock])
    table(["threads", "expected", "measured"], rows)


def nothing(setting: object, number: int) -> dict[str, np.ndarray]:
    return {"pulls": np.zeros(1)}


def cluster(repeats: int) -> None:
    """What a task costs on a Dask cluster of processes, and how much two workers bring."""
    from distributed import Client, LocalCluster

    from marab_lib.work.cluster import on_cluster

    listed = problems.artificial(100, seed=0)
    tasks = [(number,) for number in range(500)]

    def work(client: Client | None) -> None:
        simulate(listed, policies.MaRaB(), HORIZON, 100, 0, client=client, threads=1)

    def spent(client: Client) -> float:
        return time.process_time() + sum(client.run(time.process_time).values())

    seconds, cpu = {}, []
    for workers in (1, 2):
        options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with (
            LocalCluster(n_workers=workers, host="127.0.0.1", **options) as local,
            Client(local) as client,
        ):
            work(client)  # loads the compiled code in each worker
            seconds[workers] = best_of(repeats, functools.partial(work, client))
            for _ in range(repeats):
                before = spent(client)
                work(client)
                cpu.append(spent(client) - before)
            empty = best_of(repeats, lambda c=client: list(on_cluster(nothing, tasks, c, None)))
    alone = best_of(repeats, lambda: work(None), time.process_time)
    print(
        f"\nDask, processes on one machine (MaRaB, {len(listed)} problems, 100 runs): two workers"
    )
    print(f"are {seconds[1] / seconds[2]:.2f} times as fast as one, by the clock; all processes")
    print(
        f"together spend {min(cpu[repeats:]) / alone:.2f} times the CPU time of one thread without"
    )
    print(f"Dask; a task that does nothing takes {empty / len(tasks) * 1e3:.1f} ms by the clock")


def figure_2(n_problems: int) -> None:
    """Figure 2: four policies, 40 runs a problem, both horizons."""
    listed = problems.artificial(n_problems, seed=0)
    chosen = [policies.UCB(), policies.MaRaB(), policies.MVLCB(), policies.ExpExp()]
    start = time.perf_counter(), time.process_time()
    for horizon in (2000, 4000):
        simulate(listed, chosen, horizon, 40, 0)
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    steps = n_problems * 40 * 6000 * len(chosen)
    print(
        f"\nFigure 2: {steps / 1e6:.0f} million steps in {seconds:.1f} s on "
        f"{len(os.sched_getaffinity(0))} cores ({cpu:.1f} s of CPU time), at most "
        f"{peak_memory() / 2**10:.2f} GiB of memory"
    )


def processor() -> str:
    """What the system calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.machine()


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
    parts = {
        "start": start_up,
        "policies": lambda: each_policy(options.repeats),
        "figure2": lambda: figure_2(options.problems),
        "histories": lambda: with_histories(min(options.repeats, 3)),
        "grid": lambda: grid(options.budget, options.figure),
        "threads": lambda: threads(options.repeats),
        "cluster": lambda: cluster(min(options.repeats, 3)),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; default all")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--problems", type=int, default=1000, help="of figure 2")
    parser.add_argument("--budget", type=float, default=15, help="seconds of a cell of the grid")
    parser.add_argument("--figure", type=Path, help="where to save the grid's figure")
    parser.add_argument("--column", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--horizons", nargs="+", type=int, default=GRID_HORIZONS)
    options = parser.parse_args()
    if options.column:
        title, k = options.column
        column(title, int(k), tuple(options.horizons), options.budget)
        return
    unknown = set(options.parts) - parts.keys()
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    load = os.getloadavg()[0]
    print(
        f"{processor()}, Python {platform.python_version()}, NumPy {np.__version__}; each time is "
        f"the least of some repetitions; load average {load:.1f} at the start"
    )
    for name in options.parts or parts:
        parts[name]()


if __name__ == "__main__":
    main()
