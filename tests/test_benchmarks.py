"""The benchmarks run and say what they lack; how fast anything is is not asserted."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def benchmark(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_column_of_the_grid_ends_where_the_next_run_would_take_too_long():
    bench = benchmark("bench")
    found = bench.measured_column("MIN", 2, (1, 1000, 10_000), budget=1e-9)
    assert list(found) == [1000]  # a run needs as many pulls as arms
    cost, memory = found[1000]
    assert cost > 0
    assert memory > 50


def test_the_memory_of_a_column_is_its_own():
    """The system's own count is at least what the process that started it had held."""
    bench = benchmark("bench")
    held = np.ones(2**26)  # 512 MiB
    _, memory = bench.measured_column("MIN", 2, (1000,), budget=1e-9)[1000]
    assert memory < held.nbytes / 2**20 < bench.peak_memory()


@pytest.mark.parametrize("policy", ["UCB", "UCB-V", "KL-UCB", "MOSS", "Thompson"])
def test_lockstep_numpy_does_the_same_work(policy):
    """Difference of two mean regrets of 200 runs, at 4 standard errors: error rate 6e-5 each."""
    peers = benchmark("peers")
    with np.errstate(all="ignore"):
        mean, error = zip(
            *(peers.mean_and_error(play(policy)(500, 200)) for play in peers.OURS.values()),
            strict=True,
        )
    assert abs(mean[0] - mean[1]) < peers.FAR * np.hypot(*error)


def test_a_regret_that_differs_is_marked():
    peers = benchmark("peers")
    ours, other = [1.0, 2.0, 3.0] * 9, [3.0, 4.0, 5.0] * 9
    found = {"marab_lib": {"UCB": [10.0, ours]}, "same": {"UCB": [20.0, ours]}}
    found |= {"other": {"UCB": [150.0, other]}, "none": {"UCB": "-"}, "bad": {"UCB": "Error: x"}}
    assert peers.table(found)[2:] == [
        "| marab_lib | 10 (× 1.0), 2.0 ± 0.2 |",
        "| same | 20 (× 2.0), 2.0 ± 0.2 |",
        "| other | 150 (× 15), 4.0 ± 0.2 ≠ |",
        "| none |  |",
        "| bad | fails: Error: x |",
    ]


def test_peers_that_are_absent_are_lines_not_failures(tmp_path):
    command = [sys.executable, FOLDER / "peers.py", "--runs", "4", "--horizon", "50"]
    command += ["--policies", "MOSS", "--banditlib", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| marab_lib | " in done.stdout
    assert "pymab: is not installed" in done.stdout
    assert f"banditlib (C++): no checkout of banditlib at {tmp_path}" in done.stdout
