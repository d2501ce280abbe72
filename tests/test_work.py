"""Work on a cluster and work that was interrupted give the same bits as one undisturbed call."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest
import xarray as xr

from marab_lib import _work, policies, problems, simulate

MODULE = sys.modules["marab_lib.simulate"]


def call(**options):
    chosen = [policies.UCB(0.1), policies.MaRaB(0.1), policies.ThompsonSampling()]
    return simulate(problems.artificial(3, 1), chosen, 200, 6, 42, record=("arms",), **options)


@pytest.fixture
def small_tasks(monkeypatch):
    monkeypatch.setattr(MODULE, "_STEPS_A_COARSE_TASK", 1000)


# --- kept on disk -----------------------------------------------------------------------------


def test_store_keeps_and_finds_the_result(tmp_path, small_tasks, monkeypatch):
    plain = call()
    xr.testing.assert_identical(call(store=tmp_path), plain)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 12  # 18 pairs a policy, 5 pairs a task

    def refuse(*task):
        raise AssertionError("computed again")

    monkeypatch.setattr(MODULE, "_play", refuse)
    xr.testing.assert_identical(call(store=tmp_path), plain)
    assert sorted(tmp_path.iterdir()) == files


def test_an_interrupted_run_goes_on(tmp_path, small_tasks):
    done = []

    def interrupt(pulls, total):
        done.append(pulls)
        if len(done) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(store=tmp_path, threads=1, progress=interrupt)
    kept = {path.name for path in tmp_path.iterdir()}
    assert len(kept) == 5
    assert all(name.endswith(".npz") and not name.startswith(".") for name in kept)
    xr.testing.assert_identical(call(store=tmp_path), call())
    assert kept < {path.name for path in tmp_path.iterdir()}


def test_a_failed_write_leaves_no_file(tmp_path, monkeypatch):
    store = _work.Store(tmp_path)

    def fail(path, **arrays):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        store.save("key", {"x": np.zeros(3)})
    assert list(tmp_path.iterdir()) == []
    assert store.load("key") is None


def keys_of(tmp_path, make, name):
    folder = tmp_path / name
    make(store=folder)
    return {path.name for path in folder.iterdir()}


def own(weight, text):
    scope = {"policies": policies, "weight": weight}
    exec(
        "@policies.index\n"
        "def own(t, arms, state, params, memory, history):\n"
        "    for a in arms:\n"
        f"        a.index = {text} * weight\n",
        scope,
    )
    return policies.Custom(scope["own"])


def test_every_change_is_noticed(tmp_path):
    """Of a parameter, an option, the problems, the seed, and an own policy's code and constants."""
    problem = problems.artificial(1, 1)

    def run(policy=None, listed=problem, seed=1, **options):
        return lambda store: simulate(
            listed, policy or policies.MVLCB(1.0), 100, 2, seed, store=store, **options
        )

    calls = {
        "base": run(),
        "rho": run(policies.MVLCB(2.0)),
        "bonus": run(policies.MVLCB(1.0, bonus="printed")),
        "ties": run(policies.MVLCB(1.0, ties="random")),
        "estimator": run(policies.MaRaB(0.1)),
        "other estimator": run(policies.MaRaB(0.1, estimator="quantile")),
        "problem": run(listed=problems.artificial(1, 2)),
        "seed": run(seed=2),
        "checkpoints": run(checkpoints=2),
        "record": run(record="arms"),
        "own": run(own(1.0, "a.mean")),
        "own code": run(own(1.0, "a.min")),
        "own constant": run(own(2.0, "a.mean")),
    }
    keys = [keys_of(tmp_path, make, name) for name, make in calls.items()]
    assert all(len(k) == 1 for k in keys)
    assert len(set.union(*keys)) == len(calls)


# --- on a cluster -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, host="127.0.0.1", **options) as local:
        yield local


@pytest.mark.filterwarnings("ignore")  # a killed worker is reported by several of Dask's warnings
def test_cluster_gives_the_same_bits_though_a_worker_dies(cluster, small_tasks):
    from distributed import Client

    with Client(cluster) as client:
        pids = client.run(os.getpid)
        calls = []

        def kill_once(done, total):
            calls.append(done)
            if len(calls) == 2:
                os.kill(min(pids.values()), signal.SIGKILL)

        result = call(client=client, progress=kill_once)
        after = client.run(os.getpid)
    xr.testing.assert_identical(result, call())
    assert calls[-1] == 3 * 3 * 6 * 200
    assert min(pids.values()) not in after.values()


@pytest.mark.filterwarnings("ignore")
def test_cluster_with_store_and_own_policy(cluster, tmp_path):
    from distributed import Client

    problem = problems.artificial(1, 1)
    policy = own(1.0, "a.mean")
    with Client(cluster) as client:
        result = simulate(problem, policy, 100, 3, 1, client=client, store=tmp_path)
    xr.testing.assert_identical(result, simulate(problem, policy, 100, 3, 1))
    assert len(list(tmp_path.iterdir())) == 1
