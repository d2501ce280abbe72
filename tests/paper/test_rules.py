"""Each rule on made-up results that must give each verdict."""

from __future__ import annotations

import numpy as np
import pytest

from marab_lib.paper.rules import (
    LINEAR,
    LOGARITHMIC,
    Above,
    Below,
    Between,
    Finding,
    Findings,
    Verdict,
    combine,
    nearer,
)
from marab_lib.statistics import Estimate

INSIDE, ACROSS, OUTSIDE = 1, 0, -1


@pytest.mark.parametrize(
    ("rule", "low", "high", "side"),
    [
        (Above(2), 2.1, 3, INSIDE),
        (Above(2), 1.9, 3, ACROSS),
        (Above(2), 2, 2, OUTSIDE),
        (Above(2), 1, 1.9, OUTSIDE),
        (Below(2), 1, 2, INSIDE),
        (Below(2), 2, 2, INSIDE),
        (Below(2), 1, 2.1, ACROSS),
        (Below(2), 2.1, 3, OUTSIDE),
        (Between(1, 2), 1, 2, INSIDE),
        (Between(1, 2), 0.9, 1.5, ACROSS),
        (Between(1, 2), 0.9, 2.1, ACROSS),
        (Between(1, 2), 2.1, 3, OUTSIDE),
        (Between(1, 2), 0.1, 0.9, OUTSIDE),
    ],
)
def test_side(rule, low, high, side):
    assert rule.side(Estimate((low + high) / 2, low, high)) == side


@pytest.mark.parametrize(
    ("rule", "side"),
    [(Above(0.3), OUTSIDE), (Below(0.3), INSIDE), (Between(0, 0.3), INSIDE)],
)
@pytest.mark.parametrize("number", [0.3, 0.1 + 0.2, 0.3 - 1e-16])
def test_a_limit_is_met_whatever_the_last_bit(rule, side, number):
    assert rule.side(Estimate.exact(number)) == side


def finding(side: int) -> Finding:
    centre = {INSIDE: 5.0, ACROSS: 0.0, OUTSIDE: -5.0}[side]
    return Finding("made up", Estimate(centre, centre - 1, centre + 1), Above(0))


@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ([INSIDE], Verdict.HOLDS),
        ([INSIDE, INSIDE], Verdict.HOLDS),
        ([OUTSIDE, OUTSIDE], Verdict.FAILS),
        ([INSIDE, OUTSIDE], Verdict.IN_PART),
        ([INSIDE, ACROSS, OUTSIDE], Verdict.IN_PART),
        ([INSIDE, ACROSS], Verdict.OPEN),
        ([ACROSS], Verdict.OPEN),
        ([OUTSIDE, ACROSS], Verdict.OPEN),
    ],
)
def test_combined_verdict(sides, verdict):
    assert combine([finding(side) for side in sides]) == verdict


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        (Above(3), 1),  # the low end is on the limit
        (Above(3.5), 4),  # half as far
        (Below(6), 4),  # the high end is 4 away, the limit 2
        (Between(3.5, 6), 4),
        (Above(4), np.inf),
    ],
)
def test_how_many_more_runs_would_decide(rule, more):
    assert Finding("made up", Estimate(4, 3, 8), rule).more == pytest.approx(more)


def test_nearer_puts_the_limit_in_the_middle():
    assert nearer(0.9, 0.5) == Above(0.7)
    assert nearer(0, 1) == Below(0.5)
    assert nearer(25, 1, ratio=True) == Above(5)
    assert LOGARITHMIC.side(Estimate.exact(1)) == INSIDE
    assert [LOGARITHMIC.side(Estimate.exact(x)) for x in (2, 4)] == [OUTSIDE, OUTSIDE]
    assert [LINEAR.side(Estimate.exact(x)) for x in (1, 2, 4)] == [OUTSIDE, OUTSIDE, INSIDE]


def test_findings_from_resamples():
    values = np.r_[5.0, np.arange(101)]
    found = Finding.resampled("key", "a number", values, Above(4.5), confidence=0.9, paper=6)
    row = Findings([found]).frame().loc["key"]
    assert row[["value", "low", "high"]].tolist() == pytest.approx([5, 5, 95])
    assert (row["holds if"], row["verdict"], row["paper"]) == ("> 4.5", "holds", 6)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="findings must hold at least one, got none"):
        combine([])
    with pytest.raises(ValueError, match="high must be a number"):
        Between(2, 1)
    with pytest.raises(ValueError, match=r"confidence must be a number in \(0, 1\), got 1"):
        Finding.resampled("key", "a number", np.arange(3), Above(0), confidence=1)
