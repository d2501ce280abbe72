"""Each claim's rules against a table that can be read, and its verdict on either side of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from marab_lib.paper import verdicts
from marab_lib.paper.evidence import Evidence
from marab_lib.paper.rules import Finding, Verdict
from marab_lib.statistics import Estimate

# What each claim asks of its numbers; (n) where it asks it of n of them.
RULES = """
2.1 eps-greedy linear           > 2.82843
2.1 UCB logarithmic             <= 1.41421
2.1 KL-UCB logarithmic          <= 1.41421
2.1 KL-UCB optimal              > 0
2.1 KL-UCB over UCB             > 0
2.1 regrets apart               <= 0.25
2.2 CVaR to max-min             > 0.5, > 0
2.2 MV-LCB rate
2.2 ExpExp rate                 <= -0.333333
3 consistent                    <= -0.25
3 first phase                   <= 0
3 starts as MIN                 <= 0
3 becomes MIN                   <= 0
3 poor start                    > 0.5, > 0
3 no guarantee                  > 0.5
4 Lemma 4.1                     <= 0
4 minimum faster                <= -0.75, <= 0
4 Lemma 4.2                     <= 0
4 Prop. 4.3, probability        <= 0.05
4 Prop. 4.3, expectation        > 1
4 MIN logarithmic               <= 1.41421
4 Prop. 4.4, probability        <= 0.05
4 Prop. 4.4, expectation        > 1
4 MIN over UCB                  > 0 (4)
4 conflict                      > 2.82843 (2)
5.1 MIN finds                   > 0.5, > 0.988124
5.1 MIN constant                <= 0.5
5.1 UCB logarithmic             <= 1.41421
5.1 UCB far behind              > 5.0368
5.1 MaRaB close                 <= 0.0684221 (3), <= 0 (3)
5.1 sensitivity low             > 1, <= 1
5.2.1 UCB best                  > 0 (2)
5.2.1 MaRaB extra               > 0 (2)
5.2.1 extra bounded             <= 1.41421
5.2.1 extra falls with alpha    > 0 (2)
5.2.1 MaRaB any C               <= 0 (2)
5.2.1 MV-LCB worst              > 0 (2)
5.2.1 MV-LCB any rho            <= 0, > 0
5.2.1 ExpExp over MV-LCB        > 0.5 (4), 0.809 to 0.95, 0.838 to 0.95
5.2.1 ExpExp over UCB           <= 0.5 (4), 0.05 to 0.15, 0.15 to 0.25
5.2.1 MaRaB over ExpExp         > 0.5 (4), 0.65 to 0.75, 0.625 to 0.75
5.2.1 ExpExp never low          > 0 (2)
5.2.1 MaRaB's largest           > 0 (2)
5.2.1 MaRaB slightly behind     <= 34.9576, <= 63.3644
5.2.1 order kept                > 0 (3)
5.2.2 UCB, C, variance          > 0
5.2.2 MV-LCB, rho, variance     > 0
5.2.2 MV-LCB, medium rho        > 0
5.2.2 ExpExp explores           > 0.5
5.2.2 MaRaB robust              <= 0
5.2.2 quantile values           > 0 (12), > 0.75 (12)
5.2.2 explores less             > 0 (6)
5.2.2 the two problems
5.3 UCB least                   > 0
5.3 MV-LCB dominated            > 0 (2)
5.3 ExpExp bends                0.5 to 2.3315, <= 0.5
5.3 MaRaB avoids risk           > 0, <= 0
5.3 MIN the same                <= 0 (2)
5.3 slight increase             > 0, <= 0.134013
5.3 better tail                 > 0
5.3 the printed numbers
"""
_KEY_WIDTH = 32


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """As small as it may be: the rules do not depend on it."""
    return Evidence(n_problems=20, runs=10)


@pytest.fixture(scope="module")
def found(evidence) -> dict[str, list[Finding]]:
    return {claim.key: claim.found(evidence) for claim in verdicts.CLAIMS}


def test_every_claim_asks_what_the_table_says(found):
    table = []
    for key, findings in found.items():
        counts = Counter(str(f.rule) for f in findings)
        rules = [f"{rule} ({n})" if n > 1 else rule for rule, n in counts.items()]
        table.append(f"{key:{_KEY_WIDTH}}{', '.join(rules)}".rstrip())
    assert table == RULES.strip().splitlines()


def sides(rule: str, step: float) -> dict[float, bool]:
    """Numbers at the limits of a rule and a step away from them, and whether they meet it."""
    if rule.startswith("> "):
        limit = float(rule[2:])
        return {limit + step: True, limit - step: False}
    if rule.startswith("<= "):
        limit = float(rule[3:])
        return {limit - step: True, limit + step: False}
    low, high = map(float, rule.split(" to "))
    inside = {low + step: True, high - step: True} if high - low > 2 * step else {low: True}
    return inside | {low - step: False, high + step: False}


def test_verdicts_change_at_the_limits_that_are_shown(evidence, found):
    """A claim with one finding at a time, of an invented number on either side of its limit."""
    tried = 0
    for claim in verdicts.CLAIMS:
        for finding in found[claim.key]:
            for number, meets in sides(str(finding.rule), step=1e-3).items():
                invented = [replace(finding, estimate=Estimate.exact(number))]
                alone = replace(claim, findings=lambda e, invented=invented: invented)
                expected = Verdict.HOLDS if meets else Verdict.FAILS
                judged = verdicts.judge(evidence, [alone])
                assert judged["verdict"].tolist() == [str(expected)], (claim.key, number)
                tried += 1
    assert tried > 200
