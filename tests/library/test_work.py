"""Work on a cluster and work that was interrupted give the same bits as one undisturbed call."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import types
import zipfile
from pathlib import Path

import cases
import numpy as np
import pytest
import xarray as xr
from cases import run_python

from marab_lib import policies, problems, simulate
from marab_lib.simulation import play, run, tasks
from marab_lib.work.store import SHARED, Store, shared_store


def call(**options):
    chosen = [policies.UCB(0.1), policies.MaRaB(0.1), policies.ThompsonSampling()]
    return simulate(problems.artificial(3, 1), chosen, 200, 6, 42, record=("arms",), **options)


@pytest.fixture
def small_tasks(monkeypatch):
    monkeypatch.setattr(tasks, "_STEPS_A_COARSE_TASK", 1000)


# --- kept on disk -----------------------------------------------------------------------------


def test_store_keeps_and_finds_the_result(tmp_path, small_tasks, monkeypatch):
    plain = call()
    xr.testing.assert_identical(call(store=tmp_path), plain)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 12  # 18 pairs a policy, 5 pairs a task

    def refuse(*task):
        raise AssertionError("computed again")

    monkeypatch.setattr(play, "play", refuse)
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
    store = Store(tmp_path)

    def fail(path, **arrays):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        store.save("key", {"x": np.zeros(3)})
    assert list(tmp_path.iterdir()) == []
    assert store.load("key", like={"x": np.zeros(3)}) is None


PART = {"x": np.arange(6.0).reshape(2, 3), "n": np.arange(2, dtype=np.int32)}


@pytest.mark.parametrize(
    "other",
    [
        {"x": PART["x"]},
        PART | {"extra": np.zeros(1)},
        PART | {"x": PART["x"][:1]},
        PART | {"x": PART["x"].T.copy()},
        PART | {"n": PART["n"].astype(np.int64)},
        PART | {"n": np.array([None, None])},
    ],
)
def test_a_part_of_another_form_is_as_good_as_none(tmp_path, other):
    store = Store(tmp_path)
    np.savez(tmp_path / "key.npz", **other)  # by hand, since a store would not write objects
    with zipfile.ZipFile(tmp_path / "key.npz", "a") as archive:
        archive.comment = b"key"
    assert store.load("key", like=PART) is None
    store.save("key", PART)
    found = store.load("key", like=PART)
    for name, array in PART.items():
        np.testing.assert_array_equal(found[name], array)


def damage(path, how):
    whole = path.read_bytes()
    if how == "pickle":
        np.save(path.with_suffix(".npy"), np.zeros(3))
        path.with_suffix(".npy").replace(path)
    elif how == "not arrays":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("pulls", "text")
    else:
        kept = {"empty": b"", "cut": whole[: len(whole) // 2], "text": b"x" * 100}
        middle = len(whole) // 3
        changed = whole[:middle] + bytes(255 - b for b in whole[middle : middle + 40])
        kept["bits"] = changed + whole[middle + 40 :]
        path.write_bytes(kept[how])


@pytest.mark.parametrize("how", ["empty", "cut", "text", "bits", "pickle", "not arrays"])
def test_a_damaged_part_is_done_again_and_replaced(tmp_path, how):
    plain = call()
    call(store=tmp_path)
    files = sorted(tmp_path.iterdir())
    before = [path.read_bytes() for path in files]
    damage(files[1], how)
    xr.testing.assert_identical(call(store=tmp_path), plain)
    with np.load(files[1]) as file:
        assert set(file) == {"theoretical_regret", "empirical_regret", "pulls", "arms"}
    assert sorted(tmp_path.iterdir()) == files
    assert files[0].read_bytes() == before[0]


def test_a_part_under_the_name_of_another_is_not_believed(tmp_path):
    """Two calls whose parts have the same form."""

    def play(seed, folder):
        return simulate(problems.proof_of_concept(), policies.UCB(0.1), 50, 2, seed, store=folder)

    first, second = play(1, tmp_path / "first"), play(2, tmp_path / "second")
    (renamed,), (part,) = (list((tmp_path / name).iterdir()) for name in ("first", "second"))
    before = part.read_bytes()
    part.write_bytes(renamed.read_bytes())
    xr.testing.assert_identical(play(2, tmp_path / "second"), second)
    assert not second.equals(first)
    assert part.read_bytes() == before  # the same arrays and name give the same bytes


def test_a_folder_in_the_place_of_a_part_is_named(tmp_path):
    call(store=tmp_path)
    part = sorted(tmp_path.iterdir())[1]
    part.unlink()
    part.mkdir()
    with pytest.raises(ValueError, match="store must hold files") as error:
        call(store=tmp_path)
    assert str(part) in str(error.value)


@pytest.mark.parametrize("given", ["", "file", "file/below"])
def test_a_store_that_can_be_no_folder_is_refused_first(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(run, "try_out", lambda *_: pytest.fail("has begun"))
    with pytest.raises(ValueError, match=f"store must be a new or existing folder, got '{given}'"):
        call(store=given)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("threads", [2, 3])
def test_what_has_begun_at_an_interrupt_is_kept(tmp_path, small_tasks, monkeypatch, threads):
    played, begun, interrupted = play.play, [], threading.Event()

    def slow(*task):
        begun.append(task)
        if len(begun) > 1:
            assert interrupted.wait(60)
        return played(*task)

    def interrupt(done, total):
        interrupted.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "play", slow)
    with pytest.raises(KeyboardInterrupt):
        call(store=tmp_path, threads=threads, progress=interrupt)
    assert 2 <= len(begun) < 12
    assert len(list(tmp_path.iterdir())) == len(begun)
    monkeypatch.setattr(play, "play", played)
    xr.testing.assert_identical(call(store=tmp_path), call())


def test_tasks_are_shorter_for_many_arms():
    assert tasks.task_size(1000, 20, coarse=True) == tasks.task_size(1000, 2, coarse=True)
    assert tasks.task_size(1000, 200, coarse=True) * 10 == tasks.task_size(1000, 20, True)
    assert tasks.task_size(10**9, 20, coarse=False) == 1


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


SOURCE = """\
import numba
from marab_lib import policies
@numba.njit
def helper(a):
    return {helper}
@policies.index
def own(t, arms, state, params, memory, history):
    for a in arms:
        a.index = helper(a)
class Own(policies.Policy):
    title = "own"
    ranks_unpulled = True
    index_function = staticmethod(own)
    def memory_size(self, n_arms, horizon):
        return {memory}
"""


def imported(helper="a.mean", memory="0"):
    """A module of a user's own, as it is after an edit."""
    module = types.ModuleType("a_module_of_ones_own")
    exec(SOURCE.format(helper=helper, memory=memory), vars(module))
    return module


def test_an_edit_of_an_own_module_is_noticed(tmp_path, monkeypatch):
    """For a subclass and for Custom; a pickle would hold the function's name alone."""
    problem = problems.artificial(1, 1)
    keys = []
    for edit in ({}, {}, {"helper": "a.min"}, {"memory": "3"}):
        module = imported(**edit)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        made = [module.Own(), policies.Custom(module.own, label="custom")]
        runs = [lambda store, p=p: simulate(problem, p, 100, 2, 1, store=store) for p in made]
        found = zip(runs, made, strict=True)
        keys.append([keys_of(tmp_path, run, policy.name) for run, policy in found])
    subclass = [len(k[0]) for k in keys]  # how many parts are there after each call
    custom = [len(k[1]) for k in keys]
    assert subclass == [1, 1, 2, 3]
    assert custom == [1, 1, 2, 2]  # the memory of the class is not its own


def test_the_identity_is_the_same_in_every_process():
    folders = [os.path.dirname(file) for file in (__file__, cases.__file__)]
    code = (
        f"import sys; sys.path[:0] = {folders}\n"
        "import test_work\n"
        "from marab_lib.work.store import fingerprint\n"
        "module = test_work.imported()\n"
        "print(fingerprint(module.Own().identity()))\n"
    )
    one, other = (run_python("-c", code, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout


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


def test_a_shared_store_that_is_a_file_is_named_by_its_variable(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("kept")
    monkeypatch.setenv(SHARED, str(file))
    with pytest.raises(
        ValueError, match=f"{SHARED} must be a new or existing folder, got '.*file'"
    ):
        shared_store()
    assert file.read_text() == "kept"
    monkeypatch.setenv(SHARED, "")
    assert shared_store() is None


def test_a_store_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError, match=r"store must be a folder .*, got '.*new': .*denied"):
        Store(tmp_path / "new")


def test_cluster_takes_the_same_data_again_and_again(cluster):
    """What the last call sent is being forgotten while the next sends the same."""
    from distributed import Client

    with Client(cluster) as client:
        for _ in range(10):
            result = call(client=client)
    xr.testing.assert_identical(result, call())


def test_the_readme_shows_a_script(tmp_path):
    """Its lines for a cluster run as a file, which each worker imports again."""
    pytest.importorskip("distributed")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(from distributed .*?)```", readme, re.DOTALL)
    small = {
        "LocalCluster()": "LocalCluster(n_workers=2, host='127.0.0.1', dashboard_address=None)",
        "artificial(100,": "artificial(2,",
        "10_000, 100,": "100, 3,",
    }
    for given, smaller in small.items():
        assert source.count(given) == 1
        source = source.replace(given, smaller)
    (tmp_path / "script.py").write_text(source + "    print(int(result.pulls.sum()))\n")
    done = run_python("script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == str(2 * 2 * 3 * 100)
    assert len(list((tmp_path / "out" / "long").iterdir())) == 2


@pytest.mark.filterwarnings("ignore")
def test_cluster_with_store_and_own_policy(cluster, tmp_path):
    from distributed import Client

    problem = problems.artificial(1, 1)
    policy = own(1.0, "a.mean")
    with Client(cluster) as client:
        result = simulate(problem, policy, 100, 3, 1, client=client, store=tmp_path)
    xr.testing.assert_identical(result, simulate(problem, policy, 100, 3, 1))
    assert len(list(tmp_path.iterdir())) == 1
