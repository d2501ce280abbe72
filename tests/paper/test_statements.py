"""Statements of sections 2 to 5.1 on made-up results, and against counts done anew."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from marab_lib import arms, bounds, policies, problems, risk, simulate
from marab_lib.paper import section_2, section_3, section_4, section_5_1, section_5_2


def made_up(curves: dict[str, np.ndarray], steps, horizon: int) -> xr.Dataset:
    """A result of one problem whose regret curves, (run, checkpoint), are given."""
    values = np.stack([np.asarray(c, dtype=float) for c in curves.values()])[:, None]
    return xr.Dataset(
        {"theoretical_regret": (("policy", "problem", "run", "checkpoint"), values)},
        {"policy": list(curves), "checkpoint": list(steps)},
        {"horizon": horizon},
    )


def test_ratios_by_hand():
    steps = [50, 100]
    curves = {
        "MIN": [[1, 2], [3, 4]],
        "MaRaB(0.1, 1)": [[1, 3], [3, 6]],
        "MaRaB(0.1, 1000)": [[1, 2], [3, 40]],
    }
    result = made_up(curves, steps, 100)
    names = list(curves)[1:]
    assert section_5_1.growth_after(result, 50).value == pytest.approx(1 - 2 / 3)
    assert section_5_1.ratio_to_min(result, names).value == pytest.approx(4.5 / 3)
    assert section_5_1.largest_gap_to_min(result, names).value == pytest.approx(18 / 3)
    assert section_5_1.sensitivity_to_c(result, names).value == pytest.approx(21 / 4.5)
    assert section_5_1.stuck_share(result, names[1]).value == 0.5


def test_found_by_counts_the_runs():
    problem = problems.proof_of_concept()
    result = simulate(problem, policies.MIN(label="MIN"), 200, 50, 1, record=("arms",))
    played = result.arms.values[0, 0]
    by_hand = np.mean([(run[40:] == 0).all() for run in played])
    assert section_5_1.found_by(result, 40).value == pytest.approx(by_hand)


def test_lai_robbins_constant_by_hand():
    # kl(.4, .5) = .4 log .8 + .6 log 1.2 = .020136: .1 / .020136 = 4.9663
    assert section_2.lai_robbins_constant([0.5, 0.4]) == pytest.approx(4.9663, abs=1e-3)


def test_maxmin_agreement_by_hand():
    same = problems.Problem(arms.Uniform([0.2, 0.1], [0.9, 0.8]))
    # The second has the lower floor but little mass there.
    other = problems.Problem([arms.Empirical([0.1, *[0.9] * 99]), arms.Empirical([0.2] * 2)])
    assert section_2.maxmin_agreement([same, other], 0.5).value == 0.5
    assert section_2.maxmin_agreement([same, other], 0.001).value == 1.0


def test_lemma_excess_sees_a_bound_that_is_too_small(monkeypatch):
    laws = [arms.Uniform(0.2, 0.9)]
    assert section_4.lemma_4_1_excess(laws).value <= 0
    true = bounds.lemma_4_1
    monkeypatch.setattr(bounds, "lemma_4_1", lambda law, t, e: true(law, t, e) ** 1.5)
    assert section_4.lemma_4_1_excess(laws).value > 0


def test_violations_and_ratio_by_hand():
    listed = problems.aligned_uniform(2, 1)
    result = section_4.min_runs(listed, 400, 5, 1)
    none, every = (lambda *a: np.inf), (lambda *a: -1.0)
    assert section_4.violation_rate(result, listed, 0.1, none).value == 0
    assert section_4.violation_rate(result, listed, 0.1, every).value == 1
    final = result.theoretical_regret[0, :, :, -1].mean("run").values
    ratio = section_4.bound_over_mean(result, listed, lambda t, *a: 2.0, lambda *a: 0)
    assert ratio.value == pytest.approx(2 / final.max())


def test_printed_condition_by_hand():
    """Notebook 03's case: the printed condition admits steps at which the bound is too small."""
    problem = problems.Problem(arms.Uniform([1e-4, 0.0], [1.0, 0.5]))
    assert section_4.printed_condition_failures(problem, 2).value > 0
    assert section_4.printed_condition_failures(problems.proof_of_concept(), 20).value == 0


def test_poor_starts_are_counted_run_by_run():
    listed = problems.artificial(3, 2)
    policy = policies.MaRaB(0.2)
    poor, more = section_3.abandoned_after_a_poor_start(listed, policy, 300, 4, 1)
    result = simulate(listed, policy, 300, 4, 1)
    shares = []
    for j, problem in enumerate(listed):
        counts = np.zeros((2, 2))
        for run in range(4):
            keyed = simulate(problem, policy, 20, run + 1, 1, record=("rewards",))
            first = keyed.rewards.values[0, 0, run]
            for arm in range(20):
                is_poor = int(first[arm] < np.median(first))
                few = result.pulls.values[0, j, run, arm] <= 2
                counts[is_poor] += [few, 1]
        shares.append(counts[:, 0] / counts[:, 1])
    shares = np.array(shares)
    assert poor.value == pytest.approx(shares[:, 1].mean())
    assert more.value == pytest.approx((shares[:, 1] - shares[:, 0]).mean())


def test_first_phase_exceptions_are_seen():
    sample = arms.Uniform(0, 1).sample(50, 1)[None]
    assert section_3.phase_one_exceptions(sample, 0.02).value == 0
    # At n = 21..50 the tail of alpha = .05 holds two or three rewards.
    assert risk.cvar(sample[0, :30], 0.05) != sample[0, :30].min()


def test_tail_gain_by_hand():
    quantile = xr.DataArray(
        [[[0.5], [0.7]], [[0.4], [0.3]]],
        dims=("policy", "problem", "level"),
        coords={"policy": ["a", "b"], "level": [0.05]},
    )
    gain = section_5_2.tail_gain(xr.Dataset({"quantile": quantile}), "a", "b", 0.05)
    assert gain.value == pytest.approx(0.25)
