"""The result of `simulate`: the same bits however it is computed, names, memory, bad input."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import xarray as xr
from cases import run_python

from marab_lib import arms, policies, problems, simulate
from marab_lib.comparison import everyone
from marab_lib.simulation import arguments, tasks
from marab_lib.simulation.chunks import by_chunks

POLICIES = [
    policies.UCB(0.1),
    policies.EpsilonGreedy(0.1),
    policies.MIN(),
    policies.MaRaB(0.2),
    policies.MVLCB(),
    policies.ExpExp(),
    policies.ThompsonSampling(),
    policies.KLUCB(),
]


@pytest.fixture(scope="module")
def listed():
    return problems.artificial(3, 1)


@pytest.fixture(scope="module")
def reference(listed):
    return simulate(listed, POLICIES, 300, 4, 42, threads=1, record=("rewards", "arms"))


@pytest.mark.parametrize("threads", [1, 2, 5, None])  # None: as many as there are processors
@pytest.mark.parametrize("task", [1, 700, 10**6])
def test_same_bits_for_any_threads_and_chunks(listed, reference, threads, task, monkeypatch):
    monkeypatch.setattr(tasks, "_STEPS_A_TASK", task)
    again = simulate(listed, POLICIES, 300, 4, 42, threads=threads, record=("rewards", "arms"))
    xr.testing.assert_identical(again, reference)


def test_same_bits_for_any_order_and_subset_of_policies(listed, reference):
    names = [policy.name for policy in POLICIES]
    order = np.random.default_rng(0).permutation(len(POLICIES))[:5]
    part = simulate(listed, [POLICIES[i] for i in order], 300, 4, 42)
    for i in order:
        for variable in ("theoretical_regret", "empirical_regret", "pulls"):
            np.testing.assert_array_equal(
                part[variable].sel(policy=names[i]), reference[variable].sel(policy=names[i])
            )


def test_same_bits_for_a_part_of_the_problems_and_runs(listed, reference):
    part = simulate(listed[1:2], POLICIES, 300, 2, 42)
    np.testing.assert_array_equal(part.pulls[:, 0], reference.pulls[:, 1, :2])


def test_a_shorter_horizon_is_a_prefix(listed, reference):
    part = simulate(listed, policies.UCB(0.1), 100, 4, 42, record="rewards")
    np.testing.assert_array_equal(part.rewards[0], reference.rewards.values[0, ..., :100])


def test_policies_read_one_tape(reference):
    """The u-th reward of an arm in a run is the same number for all policies."""
    tape = {}
    for p in range(reference.sizes["policy"]):
        counts = np.zeros(20, int)
        played = reference.arms[p, 1, 2].values
        for arm, x in zip(played, reference.rewards[p, 1, 2].values, strict=True):
            assert tape.setdefault((arm, counts[arm]), x) == x
            counts[arm] += 1
    assert len(tape) > 500


def test_tape_agrees_with_sample():
    law = arms.Uniform(np.zeros(3), [0.5, 0.6, 0.7])
    result = simulate(problems.Problem(law), policies.MIN(), 50, 2, 9, record=("rewards", "arms"))
    for run in range(2):
        tape = law.sample(50, 9, run=run)
        for arm in range(3):
            got = result.rewards[0, 0, run].values[result.arms[0, 0, run].values == arm]
            np.testing.assert_array_equal(got, tape[arm, : got.size])


def test_seeds_and_runs_differ(listed):
    one, other = (
        simulate(listed[0], policies.UCB(1.0), 50, 2, s, record="rewards") for s in (1, 2)
    )
    assert not np.array_equal(one.rewards, other.rewards)
    assert not np.array_equal(one.rewards[0, 0, 0], one.rewards[0, 0, 1])


@pytest.mark.parametrize("kind", ["uniform", "artificial", "table"])
@pytest.mark.parametrize("C", [0.0, 1e-6, 1e3])
def test_marab_with_alpha_up_to_one_over_t_is_min(kind, C):
    horizon = 500
    problem = {
        "uniform": problems.proof_of_concept(),
        "artificial": problems.artificial(1, 4)[0],
        "table": problems.Problem(
            arms.Empirical(np.random.default_rng(0).integers(0, 9, (20, 30)) / 8)
        ),
    }[kind]
    chosen = [policies.MIN(), policies.MaRaB("1/500", C), policies.MaRaB(1e-4, C)]
    played = simulate(problem, chosen, horizon, 10, 3, record="arms").arms
    np.testing.assert_array_equal(played[1], played[0])
    np.testing.assert_array_equal(played[2], played[0])


def test_marab_with_a_larger_alpha_is_not_min():
    """So that the identity above is one of alpha, not of the problem."""
    chosen = [policies.MIN(), policies.MaRaB("1/100", 0.0)]
    played = simulate(problems.artificial(1, 4)[0], chosen, 500, 10, 3, record="arms").arms
    assert not np.array_equal(played[1], played[0])


def test_regrets_agree_with_the_records(reference, listed):
    best = np.array([p.best_mean for p in listed])
    means = np.stack([p.means for p in listed])
    for step in (1, 15, 300):
        pulls_at = np.stack(
            [(reference.arms[..., :step] == arm).sum("step") for arm in range(20)], axis=-1
        )
        theoretical = step * best[None, :, None] - np.einsum("prka,ra->prk", pulls_at, means)
        total = reference.rewards[..., :step].sum("step")
        empirical = step * best[None, :, None] - total
        at = simulate(listed, POLICIES, 300, 4, 42, checkpoints=[step])
        np.testing.assert_allclose(at.theoretical_regret[..., 0], theoretical, atol=1e-10)
        np.testing.assert_allclose(at.empirical_regret[..., 0], empirical, atol=1e-10)
    assert (reference.pulls.sum("arm") == 300).all()


def test_theoretical_and_empirical_regret_have_the_same_mean():
    """1,000 runs; 4.5 standard errors: error rate 7e-6."""
    result = simulate(problems.artificial(1, 3)[0], policies.UCB(0.1), 200, 1000, 1, checkpoints=1)
    difference = (result.empirical_regret - result.theoretical_regret).values.ravel()
    assert abs(difference.mean()) < 4.5 * difference.std() / np.sqrt(1000)


def test_checkpoints():
    problem = problems.proof_of_concept()

    def steps(**options):
        return simulate(problem, policies.MIN(), 100, 1, 0, **options).checkpoint.values.tolist()

    assert steps() == list(range(5, 101, 5))
    assert steps(checkpoints=1) == [100]
    assert steps(checkpoints=3) == [33, 66, 100]
    assert steps(checkpoints=[50, 7, 50]) == [7, 50]


def test_result_says_how_it_was_made(reference):
    assert reference.attrs["horizon"] == 300
    assert reference.attrs["seed"] == "42"
    assert json.loads(reference.attrs["policies"])[0].startswith("UCB(")
    assert set(json.loads(reference.attrs["versions"])) >= {"marab_lib", "numpy", "numba"}
    assert reference.policy.values[2] == "MIN"
    head = (Path(__file__).parents[2] / ".git").exists() and shutil.which("git")
    pattern = "[0-9a-f]{40}(-dirty)?" if head else ""
    assert re.fullmatch(pattern, reference.attrs.get("commit", ""))


def test_results_carry_the_policies_parameters(tmp_path):
    """As coordinates along policy: NaN and "" where a policy has none; also after joining."""
    from marab_lib.simulation.result import join_policies
    from marab_lib.work.files import load_dataset, save_dataset

    chosen = [
        policies.UCB(0.1, label="mine"),
        policies.MaRaB("0.3", 2, share="floor"),
        policies.MVLCB(10.0, bonus="printed"),
        policies.ExploreThenCommit(0.1, m=np.int64(2)),
        policies.UCBV(support=(-1, 2)),
        policies.MIN(),
    ]
    play = partial(simulate, problems.proof_of_concept(), horizon=60, runs=2, seed=0)
    result = play(policies=chosen)
    expected = {
        "title": ["UCB", "MaRaB", "MV-LCB", "ETC", "UCB-V", "MIN"],
        "C": [0.1, 2, *[np.nan] * 4],
        "alpha": [np.nan, 0.3, np.nan, 0.1, np.nan, np.nan],
        "share": ["", "floor", "", "", "", ""],
        "rho": [np.nan, np.nan, 10, np.nan, np.nan, np.nan],
        "delta": [np.nan] * 6,
        "bonus": ["", "", "printed", "", "", ""],
        "m": [np.nan, np.nan, np.nan, 2, np.nan, np.nan],
        "support": ["", "", "", "", "-1, 2", ""],
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(result[name].values, values, name)
        assert result[name].dims == ("policy",)
    assert result.sel(policy=result.title == "UCB").policy.values.tolist() == ["mine"]
    assert result.sel(policy=result.alpha > 0.2).policy.values.tolist() == [chosen[1].name]

    save_dataset(result, tmp_path / "result.nc")
    back = load_dataset(tmp_path / "result.nc")
    xr.testing.assert_identical(back, result)
    parts = [play(policies=part) for part in (chosen[:1], chosen[1:4], chosen[4:])]
    joined = join_policies(parts)
    xr.testing.assert_identical(joined.drop_attrs(deep=False), result.drop_attrs(deep=False))
    joined = join_policies([parts[0], back.isel(policy=[1, 2, 3]), parts[2]])
    xr.testing.assert_equal(joined, result)


def test_every_policy_has_coordinates():
    from marab_lib.simulation.result import parameter_coordinates

    @policies.index
    def first(t, arms, state, params, memory, history):
        arms[0].index = 1.0

    listed = [*everyone(), policies.MCVTS(), policies.BernoulliMVTS()]
    listed += [policies.Custom(first, (0.5, 2), alpha=0.1)]
    found = parameter_coordinates(listed)
    kinds = {name: {type(value) for value in values} for name, (_, values) in found.items()}
    assert all(kind in ({str}, {float}) for kind in kinds.values()), kinds
    assert found["params"][1][-1] == "0.5, 2"
    assert not any("0x" in text for _, values in found.values() for text in map(str, values))


def test_netcdf_keeps_everything(reference, tmp_path):
    from marab_lib.work.files import load_dataset, save_dataset

    save_dataset(reference, tmp_path / "result.nc")
    back = load_dataset(tmp_path / "result.nc")
    xr.testing.assert_identical(back, reference)
    assert {n: v.dtype for n, v in back.items()} == {n: v.dtype for n, v in reference.items()}
    for name in reference.variables:
        assert back[name].dtype.kind == reference[name].dtype.kind or name == "policy"
    assert [p.name for p in tmp_path.iterdir()] == ["result.nc"]


def test_generator_as_seed():
    problem = problems.proof_of_concept()
    one, other = (
        simulate(problem, policies.MIN(), 30, 2, np.random.default_rng(5)) for _ in range(2)
    )
    xr.testing.assert_identical(one, other)
    assert int(one.attrs["seed"]) > 2**32


def test_problems_of_two_generator_seeds_have_tapes_of_their_own():
    """Problem j of each generator seed, and one problem alone: by the first rewards of each arm."""

    def tapes(listed):
        result = simulate(listed, policies.MIN(), 20, 3, 5, record="rewards")
        return result.rewards.values[0]

    laws = problems.artificial(1, 0)[0].arms  # one law, so that only the tapes differ
    listed = {
        seed: [problems.Problem(laws, stream=p.stream) for p in problems.artificial(3, seed)]
        for seed in (0, 1)
    }
    of_all = np.concatenate([tapes(listed[0]), tapes(listed[1])]).reshape(18, 20)
    assert np.unique(of_all).size == of_all.size  # no two runs share a reward
    for seed, j in ((0, 1), (1, 2)):
        np.testing.assert_array_equal(tapes(listed[seed][j]), tapes(listed[seed])[j : j + 1])


def test_parts_are_reduced_to_datasets():
    def part(returned):
        return by_chunks(problems.artificial(3, 0), policies.MIN(), 20, 2, 0, returned, size=2)

    with pytest.raises(TypeError, match=r"reduce must be a function .*, got \[1\]"):
        part([1])
    for returned, error in (
        (lambda *_: None, TypeError),
        (lambda result, _: result.rewards, TypeError),
        (lambda result, _: result[["rewards"]].mean("problem"), ValueError),
        (lambda result, _: result.isel(problem=[0]), ValueError),
    ):
        with pytest.raises(error, match=r"reduce must return a Dataset with the dimension 'prob"):
            part(returned)


def test_progress_counts_every_pull():
    calls = []
    simulate(
        problems.proof_of_concept(), policies.MIN(), 1000, 900, 0,
        progress=lambda done, total: calls.append((done, total)),
    )  # fmt: skip
    assert calls[-1] == (900_000, 900_000)
    assert len(calls) == 3


def test_a_bar_is_shown_in_the_terminal(capsys):
    simulate(problems.proof_of_concept(), policies.MIN(), 100, 10, 0, progress=True)
    assert "1.00k/1.00k" in capsys.readouterr().err


def test_an_error_in_progress_stops_the_work():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(
            problems.proof_of_concept(), policies.MIN(), 2000, 4000, 0, progress=stop, threads=2
        )


# --- bad input --------------------------------------------------------------------------------


def call(**changes):
    arguments = {
        "problems": problems.proof_of_concept(),
        "policies": policies.MIN(),
        "horizon": 100,
        "runs": 2,
        "seed": 0,
    } | changes
    return simulate(**arguments)


TWO_SIZES = [problems.proof_of_concept(), problems.proof_of_concept(n_arms=3)]


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("horizon", 19, r"in \[20, \d+\], got 19"),
        ("horizon", 100.0, "whole number in .* got 100.0"),
        ("horizon", True, "whole number in .* got True"),
        ("runs", 0, "whole number in .* got 0"),
        ("seed", -1, ">= 0, got -1"),
        ("seed", None, ">= 0, got None"),
        ("threads", 0, ">= 1, got 0"),
        ("record", "regrets", "one of 'rewards', 'arms', 'pulls', got 'regrets'"),
        ("record", 5, "names among .*, got 5"),
        ("checkpoints", 0, r"in \[1, 100\], got 0"),
        ("checkpoints", [101], "whole number in"),
        ("checkpoints", [], "at least one step"),
        ("client", 5, "a distributed.Client, got 5"),
        ("store", 5, "a path, got 5"),
        ("progress", "yes", "True, False or a function, got 'yes'"),
        ("problems", [], "at least one, got an empty"),
        ("problems", [3], "marab_lib.problems.Problem objects, got 3"),
        ("problems", None, "Problem objects, got None"),
        ("problems", TWO_SIZES, r"the same number of arms, got \[3, 20\]"),
        ("policies", [], "at least one, got an empty"),
        ("policies", policies.UCB, r"got the class UCB: did you mean UCB\(\)\?$"),
        ("policies", [policies.MIN(), policies.UCB], "got the class UCB: did you"),
        ("policies", ["UCB"], "Policy objects .* got 'UCB'"),
        ("policies", int, "Policy objects .* got <class 'int'>"),
        ("policies", [policies.MIN()] * 2, "distinct names, got 'MIN' more than once"),
    ],
)
def test_bad_input_is_named(argument, value, message):
    with pytest.raises((TypeError, ValueError), match=f"^{argument} must .*{message}"):
        call(**{argument: value})


def test_a_record_that_does_not_fit_says_its_size(monkeypatch):
    little = SimpleNamespace(available=2**20)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: little)
    with pytest.raises(
        MemoryError, match=r"record=\('rewards',\) would take 0.1 GiB for 100 runs of 9"
    ):
        call(horizon=90_000, runs=100, record="rewards")


@pytest.fixture
def a_gigabyte(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**30))


@pytest.mark.parametrize("threads", [10**9, 10**300], ids=["billion", "huge"])
def test_memory_is_that_of_threads_that_have_work(a_gigabyte, threads):
    xr.testing.assert_identical(
        call(policies=policies.MaRaB(), threads=threads), call(policies=policies.MaRaB())
    )


def test_memory_counts_no_heaps_that_are_not_kept(a_gigabyte, monkeypatch):
    assert arguments._working_memory(policies.MIN(), 10**6, 20) == 0
    marab = policies.MaRaB(0.2)
    heaps = 20 * 1_200_000 + marab.memory_size(20, 10**6)
    assert arguments._working_memory(marab, 10**6, 20) == 8 * heaps
    # Values and sums of the ranks, but no heaps, which its alpha alone would ask for.
    wide = policies.CVaRUCB(0.2)
    assert arguments._working_memory(wide, 1000, 20) == 8 * (wide.memory_size(20, 1000) + 20_000)


def test_memory_that_a_policy_needs_is_named(a_gigabyte):
    huge = policies.Custom(greedy, memory=10**18)
    with pytest.raises(
        MemoryError, match="policies: the memory of greedy for 20 arms and 100 pulls would take 745"
    ):
        call(policies=huge, threads=1)


@policies.index
def greedy(t, arms, state, params, memory, history):
    for a in arms:
        a.index = a.mean


def test_more_arms_than_the_record_can_name():
    many = problems.Problem(arms.Uniform(np.zeros(32_769), np.ones(32_769)))
    with pytest.raises(
        ValueError, match=r"record must not hold 'arms' for more than 32,768 arms, got 32,769"
    ):
        call(problems=many, horizon=32_769, runs=1, record=("arms",))
    most = problems.Problem(arms.Uniform(np.zeros(32_768), np.ones(32_768)))
    options = {"horizon": 32_768, "runs": 1, "record": "arms", "checkpoints": 1}
    played = call(problems=most, **options).arms
    np.testing.assert_array_equal(played.values.ravel(), np.arange(32_768))


def test_parts_take_one_problem_and_one_seed():
    def pulls(result, _):
        return result[["pulls"]]

    whole = by_chunks(problems.proof_of_concept(), policies.UCB(), 50, 2, 1, pulls)
    np.testing.assert_array_equal(
        whole.pulls, simulate(problems.proof_of_concept(), policies.UCB(), 50, 2, 1).pulls
    )
    listed = problems.artificial(4, 1)
    by_two, at_once = (
        by_chunks(listed, policies.UCB(), 50, 2, np.random.default_rng(3), pulls, size=size)
        for size in (2, 4)
    )
    xr.testing.assert_equal(by_two, at_once)
    with pytest.raises(TypeError, match=r"problems must be .*Problem objects, got 'x'"):
        by_chunks(["x"], policies.UCB(), 50, 2, 1, pulls)
    with pytest.raises(ValueError, match="problems must hold at least one"):
        by_chunks([], policies.UCB(), 50, 2, 1, pulls)


# --- start-up ---------------------------------------------------------------------------------


def test_import_compiles_nothing():
    code = (
        "import marab_lib\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "from marab_lib.kernels import dirichlet, indices, laws, loop, random, ranks, tails\n"
        "from marab_lib.policies import paper, since_2013\n"
        "rooms = dirichlet, indices, laws, loop, random, ranks, tails, paper, since_2013\n"
        "found = [v for m in rooms for v in vars(m).values()"
        " if isinstance(v, Dispatcher)]\n"
        "assert len(found) > 20, found\n"
        "assert not any(f.signatures for f in found)\n"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def test_import_leaves_slow_packages_out():
    """Each of them takes a good part of the second that an import may take."""
    slow = ["scipy.stats", "scipy.signal", "scipy.optimize", "xarray", "pandas", "matplotlib"]
    code = f"import sys, marab_lib; assert not set({slow}) & set(sys.modules)"
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def test_works_where_nothing_can_be_written(tmp_path):
    """With no folder for compiled code, all is compiled in memory."""
    code = (
        "import pathlib\n"
        "mkdir = pathlib.Path.mkdir\n"
        "def refuse(self, *a, **k):\n"
        "    if 'compiled-' in self.name:\n"
        "        raise PermissionError(str(self))\n"
        "    return mkdir(self, *a, **k)\n"
        "pathlib.Path.mkdir = refuse\n"
        "import marab_lib.kernels.jit as j\n"
        "assert j.cache_folder() is None, j.cache_folder()\n"
        "from marab_lib import simulate, policies, problems\n"
        "r = simulate(problems.proof_of_concept(), policies.MIN(), 50, 1, 0)\n"
        "assert int(r.pulls.sum()) == 50\n"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


def test_cache_folder_renews_when_the_source_changes(monkeypatch, tmp_path):
    from marab_lib.kernels import jit

    for name in jit._COMPILED_FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    before = jit.cache_folder()
    (tmp_path / jit._COMPILED_FILES[0]).write_text("changed")
    assert before != jit.cache_folder()
