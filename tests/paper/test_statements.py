"""Statements of sections 2 to 5.1 on made-up results, and against counts done anew."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from marab_lib import arms, bounds, policies, problems, risk, simulate
from marab_lib.paper import section_2, section_3, section_4, section_5_1
from marab_lib.paper.evidence import Evidence
from marab_lib.paper.rules import Claim
from marab_lib.policies import Policy
from marab_lib.simulation.result import parameter_coordinates


def made_up(curves: dict[Policy, np.ndarray], steps, horizon: int) -> xr.Dataset:
    """A result of one problem whose regret curves, (run, checkpoint), are given."""
    values = np.stack([np.asarray(c, dtype=float) for c in curves.values()])[:, None]
    names = [policy.name for policy in curves]
    return xr.Dataset(
        {"theoretical_regret": (("policy", "problem", "run", "checkpoint"), values)},
        {"policy": names, "checkpoint": list(steps), **parameter_coordinates(list(curves))},
        {"horizon": horizon},
    )


def values(claim: Claim, made: dict | None = None, **attributes) -> list[float]:
    """The numbers that a claim finds in made-up evidence."""
    evidence = Evidence()
    evidence.made.update(made or {})
    for name, value in attributes.items():
        setattr(evidence, name, value)
    return [f.estimate.value for f in claim.findings(evidence)]


@pytest.mark.parametrize(("power", "expected"), [(1.0, 4.0), (0.5, 2.0)])
def test_growth_of_powers(power, expected):
    steps = [125, 500, 2000]
    curve = np.array([1.0, 2.0, 3.0])[:, None] * np.array(steps) ** power
    played = [policies.MIN(), policies.UCB(1.0, label="UCB")]
    result = made_up(dict.fromkeys(played, curve), steps, 2000)
    tuned = {section_5_1.printed_runs: result, section_5_1.tuned_ucb: "UCB"}
    found = [
        *values(section_2.ucb_logarithmic, {section_2.long_runs: result}),
        *values(section_4.min_logarithmic, {section_4.aligned_runs: result}),
        *values(section_5_1.ucb_logarithmic, tuned),
    ]
    assert found == pytest.approx([expected] * 3, abs=1e-12)


def test_ratios_by_hand():
    steps = [20, 50, 100]
    groups = section_5_1.printed_policies(alphas=(0.001, 0.01, 0.1, 0.3))
    curves = {policy: [[0, 1, 3], [1, 3, 6]] for group in groups.values() for policy in group}
    curves[groups["MIN"][0]] = [[0, 1, 2], [1, 3, 4]]
    for policy in groups["MaRaB"]:
        if policy.C == 1e3 and policy.alpha >= 0.1:
            curves[policy] = [[0, 1, 2], [1, 3, 40]]
    result = made_up(curves, steps, 100)
    made = {
        section_5_1.printed_runs: result,
        section_5_1.printed_ends: result,
        section_5_1.tuned_ucb: "UCB(C=1)",
    }
    # One more from 50 to 100, a half more from 20 to 50: each over its increase of log t.
    growth = 1 / 1.5 * np.log(50 / 20) / np.log(100 / 50)
    assert values(section_5_1.min_constant, made) == pytest.approx([growth])
    assert values(section_5_1.ucb_far_behind, made) == pytest.approx([4.5 / 3])
    apart = [1.5 / 3, 1.5 / 3, 18 / 3]
    less_ucb = [x - 1.5 / 3 for x in apart]
    expected = [x for pair in zip(apart, less_ucb, strict=True) for x in pair]
    assert values(section_5_1.marab_close, made) == pytest.approx(expected)
    # At 30 % and 10 % alike 21 / 4.5; UCB has one regret for all C.
    assert values(section_5_1.sensitivity_low, made) == pytest.approx([1, 21 / 4.5])
    assert section_5_1.stuck_share(result, "MaRaB(0.1, 1000)").value == 0.5


def test_printed_curves_of_figure_1():
    assert section_5_1.printed_end("a", "UCB", C=1e3) == pytest.approx(1)  # uniform play
    assert section_5_1.printed_end("a", "MIN", 50) < section_5_1.printed_end("a", "MIN")


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
    # The second has the lower floor but little mass there: 1 of 10^6.
    rare = np.append(0.1, np.full(10**6 - 1, 0.9))
    other = problems.Problem([arms.Empirical(rare), arms.Empirical([0.2] * 2)])
    # At 1e-4 the second is answered wrong, at 1e-8 none is.
    assert values(section_2.cvar_to_maxmin, problems=[same, other]) == [1.0, 0.5]


def test_lemma_excess_sees_a_bound_that_is_too_small(monkeypatch):
    listed = [problems.Problem(arms.Uniform([0.2, 0.1], 0.9))]
    assert values(section_4.lemma_4_1, problems=listed)[0] <= 0
    true = bounds.lemma_4_1
    monkeypatch.setattr(bounds, "lemma_4_1", lambda law, t, e: true(law, t, e) ** 1.5)
    assert values(section_4.lemma_4_1, problems=listed)[0] > 0


def test_violations_and_ratio_by_hand():
    listed = problems.aligned_uniform(2, 1)
    result = section_4.min_runs(listed, 400, 5, 1, policies.MIN())
    none, every = (lambda *a: np.inf), (lambda *a: -1.0)
    assert section_4.violation_rate(result, listed, 0.1, none).value == 0
    assert section_4.violation_rate(result, listed, 0.1, every).value == 1
    final = result.theoretical_regret[0, :, :, -1].mean("run").values
    ratio = section_4.bound_over_mean(result, listed, lambda t, *a: 2.0, lambda *a: 0)
    assert ratio.value == pytest.approx(2 / final.max())


def test_poor_starts_are_counted_run_by_run():
    listed = problems.artificial(3, 2)
    policy = policies.MaRaB(0.2)
    given = {"problems": listed, "horizons": (300,), "seed": 1}
    found = values(section_3.poor_start, **given)
    result = simulate(listed, policy, 300, 10, 1)
    shares = []
    for j, problem in enumerate(listed):
        counts = np.zeros((2, 2))
        keyed = simulate(problem, policy, 20, 10, 1, record=("rewards",)).rewards.values[0, 0]
        for run, first in enumerate(keyed):
            for arm in range(20):
                is_poor = int(first[arm] < np.median(first))
                few = result.pulls.values[0, j, run, arm] <= 2
                counts[is_poor] += [few, 1]
        shares.append(counts[:, 0] / counts[:, 1])
    shares = np.array(shares)
    expected = [shares[:, 1].mean(), (shares[:, 1] - shares[:, 0]).mean()]
    assert found == pytest.approx(expected)


def test_first_phase_exceptions_are_seen():
    sample = arms.Uniform(0, 1).sample(50, 1)[None]
    assert section_3.phase_one_exceptions(sample, 0.02).value == 0
    # At n = 21..50 the tail of alpha = .05 holds two or three rewards.
    assert risk.cvar(sample[0, :30], 0.05) != sample[0, :30].min()


def test_the_claims_find_the_runs_of_notebook_06(tmp_path, monkeypatch):
    """It has more levels and the same number of runs: half of its `many_runs`."""
    monkeypatch.setenv("MARAB_STORE", str(tmp_path))
    evidence = Evidence(n_problems=400)
    evidence.horizons = (100, 200)
    chosen = section_5_1.printed_policies(first_pulls="descending")["MaRaB"]
    of_06 = section_5_1.marab_ends(problems.proof_of_concept(), chosen, 100, 200, 2013)
    kept = sorted(tmp_path.iterdir())
    of_claims = section_5_1.printed_ends(evidence)
    assert sorted(tmp_path.iterdir()) == kept
    assert len(kept) == len(chosen) > of_claims.sizes["policy"]
    same = of_06.sel(policy=of_claims.policy).theoretical_regret
    assert (same == of_claims.theoretical_regret).all()
