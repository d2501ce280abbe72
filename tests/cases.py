"""What several tests take: problems, indices of given rewards, twins, other processes."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from marab_lib import arms, problems, simulate
from marab_lib.kernels.records import ARM, STATE
from marab_lib.risk import tail_sizes

EMPTY = np.zeros((0, 0))


def mixed_problem() -> problems.Problem:
    """All kinds of arms in one problem; the discrete values are dyadic, so that ties are exact."""
    return problems.Problem(
        [
            arms.Uniform(0.1, 0.6),
            arms.TruncatedGaussianMixture(0.02, 1, [0.3, 0.7], [0.2, 0.9], [0.2, 0.4]),
            arms.Empirical([0.25, 0.5, 0.5, 0.875]),
            arms.Bernoulli(0.5),
            arms.Bernoulli([0.45, 0.5]),
            arms.Beta(2.0, 3.0),
            arms.Beta(0.5, 0.7),
        ]
    )


def indices(policy, t, rewards, horizon=100, memory=None, **state_fields):
    """Index of each arm after the given lists of rewards, the tails kept as the policy asks."""
    n_arms = len(rewards)
    records = np.zeros(n_arms, ARM)
    for record, x in zip(records, rewards, strict=True):
        record["n"] = len(x)
        record["mean"], record["var"], record["min"] = np.mean(x), np.var(x), min(x)
        record["inv_sqrt_n"] = 1 / math.sqrt(len(x))
    state = np.zeros(1, STATE)
    state[0]["horizon"], state[0]["pulls"] = horizon, t - 1
    state[0]["last_arm"] = -1
    if policy.alpha is not None:
        sizes = tail_sizes(policy.alpha, horizon, policy.share)
        state[0]["tail_t"] = sizes[t]
        for record, x in zip(records, rewards, strict=True):
            tail = sorted(x)[: sizes[len(x)]]
            record["tail_n"], record["cvar"], record["tail_max"] = (
                len(tail),
                np.mean(tail),
                tail[-1],
            )
            record["inv_sqrt_tail_n"] = 1 / math.sqrt(len(tail))
    for name, value in state_fields.items():
        state[0][name] = value
    memory = np.zeros(policy.memory_size(n_arms, horizon)) if memory is None else memory
    params = np.array(policy.parameters(n_arms, horizon), dtype=float)
    policy.index_function(t, records, state, params, memory, EMPTY)
    return records["index"].tolist()


def agrees_with_its_twin(kind, policy, twin, options, n_arms, runs, seed, horizon=300):
    """Compare a policy pull by pull with its twin of `naive`, on a problem of the given kind."""
    wide = arms.Uniform(np.linspace(0, 0.3, n_arms), np.linspace(0.9, 0.7, n_arms))
    problem = {
        "uniform": lambda: problems.Problem(wide),
        "artificial": lambda: problems.Problem(problems.artificial(1, 3, n_arms=n_arms)[0].arms),
        "mixed": mixed_problem,
        "multinomial": lambda: problems.Problem(problems.multinomial(1, 4)[0].arms),
    }[kind]()
    result = simulate(problem, policy, horizon, runs, seed, record=("arms", "rewards"), threads=1)
    for run in range(runs):
        expected = twin(problem, seed, run, horizon, **options).play()
        assert result.arms[0, 0, run].values.tolist() == expected.played
        np.testing.assert_allclose(result.rewards[0, 0, run], expected.gains, rtol=0, atol=1e-13)
        counts = np.bincount(expected.played, minlength=problem.n_arms)
        assert result.pulls[0, 0, run].values.tolist() == counts.tolist()
        assert result.theoretical_regret[0, 0, run, -1] == pytest.approx(
            counts @ (problem.means.max() - problem.means), abs=1e-10
        )
        assert result.empirical_regret[0, 0, run, -1] == pytest.approx(
            horizon * problem.means.max() - math.fsum(expected.gains), abs=1e-10
        )


def run_python(*arguments, cwd=None, without=(), **environment):
    """A Python of its own, with these variables and without some of ours."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=kept | environment,
        timeout=300,
    )


signals = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")  # for tests of `program`


@contextmanager
def program(*arguments) -> Iterator[subprocess.Popen]:
    """The program, to be interrupted or killed; it hears an interrupt even if the tests do not.

    They do not where a script has started them with ``&``.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "marab_lib", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
