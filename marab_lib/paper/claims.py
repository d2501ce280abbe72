"""What of the paper holds: every checkable statement, its numbers, and a verdict by a stated rule.

A `Claim` names its place in the paper, our paraphrase, and how its findings are made from the
evidence; each finding has a number with its interval and the rule it has to meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import section_2, section_3, section_4, section_5_1, section_5_2
from .evidence import HORIZONS, READINGS, TUNED_C, Evidence, Reading
from .rules import Above, Below, Claim, Finding, Rule, Verdict

if TYPE_CHECKING:
    import pandas


__all__ = [
    "CLAIMS",
    "Claim",
    "count_verdicts",
    "findings",
    "judge",
    "verdicts_by_reading",
]


def _rows(section: str, *keys: str) -> Callable[[Evidence], list[Finding]]:
    """Findings of sections 5.2 and 5.3 by their keys."""
    return lambda e: [getattr(e, section)[key] for key in keys]


def _against_ucb(*keys: str) -> Callable[[Evidence], list[Finding]]:
    """Findings of section 5.2.1 with UCB at the printed C, and at that which does best."""

    def findings(e: Evidence) -> list[Finding]:
        tuned = [e.tuned_regrets[key] for key in keys]
        return [
            *(e.regrets[key] for key in keys),
            *(replace(f, text=f"{f.text}, UCB at C = {TUNED_C:g}") for f in tuned),
        ]

    return findings


# --- section 5.2 --------------------------------------------------------------------------

_T1, _T2 = HORIZONS


def _improves(one: str, other: str, usually: Rule) -> Callable[[Evidence], list[Finding]]:
    """The printed share in two readings of "probability", and whether it is a majority at all."""

    def findings(e: Evidence) -> list[Finding]:
        how = [f"{one} < {other} at {t}, {kind}" for t in HORIZONS for kind in ("sorted", "paired")]
        found = [e.regrets[key] for key in how]
        return [*found, *(replace(f, rule=usually, text="is it the majority?") for f in found)]

    return findings


_SECTION_5_2_1 = (
    Claim(
        "5.2.1 UCB best",
        "Section 5.2.1",
        "With a well-tuned C, UCB has the least regret.",
        _against_ucb(f"UCB best at {_T1}", f"UCB best at {_T2}"),
    ),
    Claim(
        "5.2.1 MaRaB extra",
        "Section 5.2.1",
        "MaRaB suffers more regret than UCB.",
        _against_ucb(f"MaRaB - UCB at {_T1}", f"MaRaB - UCB at {_T2}"),
    ),
    Claim(
        "5.2.1 extra bounded",
        "Section 5.2.1",
        "The extra regret does not seem to grow with the horizon.",
        _against_ucb("MaRaB - UCB grows", "MaRaB - UCB ratio"),
    ),
    Claim(
        "5.2.1 extra falls with alpha",
        "Section 5.2.1",
        "The extra regret decreases as alpha increases.",
        _rows("regrets", "MaRaB falls with alpha", "MaRaB, alpha from end to end"),
    ),
    Claim(
        "5.2.1 MaRaB any C",
        "Section 5.2.1",
        "MaRaB hardly depends on C.",
        _rows("regrets", "MaRaB any C"),
    ),
    Claim(
        "5.2.1 MV-LCB worst",
        "Section 5.2.1",
        "MV-LCB has the largest regret of all.",
        _rows("regrets", f"MV-LCB worst at {_T1}", f"MV-LCB worst at {_T2}"),
    ),
    Claim(
        "5.2.1 MV-LCB any rho",
        "Section 5.2.1",
        "MV-LCB hardly depends on rho.",
        _rows("regrets", "MV-LCB any rho"),
    ),
    Claim(
        "5.2.1 ExpExp over MV-LCB",
        "Section 5.2.1",
        "ExpExp improves on MV-LCB with probability about 90 %.",
        _improves("ExpExp", "MV-LCB", Above(0.5)),
        printed="90 %",
    ),
    Claim(
        "5.2.1 ExpExp over UCB",
        "Section 5.2.1",
        "ExpExp improves on UCB with probability 10 %, 20 % at the longer horizon.",
        _improves("ExpExp", "UCB", Below(0.5)),
        printed="10 %, 20 %",
    ),
    Claim(
        "5.2.1 MaRaB over ExpExp",
        "Section 5.2.1",
        "MaRaB improves on ExpExp with probability 70 %.",
        _improves("MaRaB", "ExpExp", Above(0.5)),
        printed="70 %",
    ),
    Claim(
        "5.2.1 ExpExp never low",
        "Section 5.2.1",
        "ExpExp never has a very low regret, because of its exploration.",
        _rows("regrets", f"ExpExp low at {_T1}", f"ExpExp low at {_T2}"),
    ),
    Claim(
        "5.2.1 MaRaB's largest",
        "Section 5.2.1",
        "The largest regrets of MaRaB are above those of ExpExp.",
        _rows("regrets", f"MaRaB high at {_T1}", f"MaRaB high at {_T2}"),
    ),
    Claim(
        "5.2.1 MaRaB slightly behind",
        "Section 5.2.1",
        "At alpha = 20 % MaRaB is only slightly behind UCB, at both horizons.",
        _against_ucb(f"MaRaB - UCB slight at {_T1}", f"MaRaB - UCB slight at {_T2}"),
    ),
    Claim(
        "5.2.1 order kept",
        "Section 5.2.1",
        "Doubling the horizon does not change the order of the policies.",
        _rows("regrets", "order kept"),
    ),
)


def _explores_less(e: Evidence) -> list[Finding]:
    return [
        Finding(
            f"v_{level:g} of MaRaB (20 %) - that of {other}",
            section_5_2.tail_gain(e.reward_runs, "MaRaB(alpha=0.2, C=1e-06)", other, level),
            Above(0),
        )
        for other in ("UCB(C=1e-06)", "MV-LCB(rho=2)", "ExpExp(rho=2)")
        for level in (0.05, 0.1)
    ]


_SECTION_5_2_2 = (
    Claim(
        "5.2.2 UCB, C, variance",
        "Section 5.2.2",
        "UCB depends on C the more, the larger the best arm's variance.",
        _rows("rewards", "UCB, C and variance"),
    ),
    Claim(
        "5.2.2 MV-LCB, rho, variance",
        "Section 5.2.2",
        "MV-LCB depends on rho the more, the larger the best arm's variance.",
        _rows("rewards", "MV-LCB, rho and variance"),
    ),
    Claim(
        "5.2.2 MV-LCB, medium rho",
        "Section 5.2.2",
        "On high-variance problems MV-LCB does best with a medium rho.",
        _rows("rewards", "MV-LCB, medium rho"),
    ),
    Claim(
        "5.2.2 ExpExp explores",
        "Section 5.2.2",
        "ExpExp's risky trials come from its exploration.",
        _rows("rewards", "ExpExp explores"),
    ),
    Claim(
        "5.2.2 MaRaB robust",
        "Section 5.2.2",
        "MaRaB is robust to alpha on high-variance problems (tested: more than UCB is to C).",
        _rows("rewards", "MaRaB robust"),
    ),
    Claim(
        "5.2.2 quantile values",
        "Section 5.2.2",
        "For alpha below 20 % MaRaB's quantile values are above those of ExpExp.",
        lambda e: [
            f
            for key, f in e.rewards.items()
            if key.startswith("MaRaB(alpha=") and "v_0.2" not in key
        ],
    ),
    Claim(
        "5.2.2 explores less",
        "Sections 1 and 5.2.2",
        "MaRaB tries arms with bad lower tails less often than UCB and the policies of Sani et al.",
        _explores_less,
    ),
    Claim(
        "5.2.2 the two problems",
        "Figure 3",
        "The two problems shown are representative.",
        reason="the paper does not give them; notebook 08 chooses two by a rule",
    ),
)

# --- section 5.3 --------------------------------------------------------------------------

_SECTION_5_3 = (
    Claim(
        "5.3 UCB least",
        "Section 5.3",
        "UCB at its best C has the least regret.",
        _rows("energy", "UCB least"),
    ),
    Claim(
        "5.3 MV-LCB dominated",
        "Section 5.3",
        "MV-LCB is dominated by all others, in regret and in risk avoidance.",
        _rows("energy", "MV-LCB regret", "MV-LCB tail", "MV-LCB regret, all", "MV-LCB tail, all"),
    ),
    Claim(
        "5.3 ExpExp bends",
        "Section 5.3",
        "ExpExp's regret grows linearly during its exploration and is flat after it.",
        _rows("energy", "ExpExp bend", "ExpExp flat"),
    ),
    Claim(
        "5.3 MaRaB avoids risk",
        "Section 5.3",
        "MaRaB avoids risk well whatever C is.",
        _rows("energy", "MaRaB over rivals", "MaRaB any C"),
    ),
    Claim(
        "5.3 MIN the same",
        "Section 5.3",
        "MIN gives the same results as MaRaB.",
        _rows("energy", "MIN tail", "MIN regret"),
    ),
    Claim(
        "5.3 slight increase",
        "Section 5.3",
        "MaRaB's regret is slightly above that of UCB at its best.",
        _rows("energy", "increase", "increase slight"),
    ),
    Claim(
        "5.3 better tail",
        "Section 5.3",
        "MaRaB's low rewards are slightly better than UCB's.",
        _rows("energy", "MaRaB tail"),
    ),
    Claim(
        "5.3 the printed numbers",
        "Figure 4",
        "The regrets that figure 4 prints.",
        reason="the table of realizations is private; ours is built from other demand",
    ),
)

CLAIMS = (
    *(
        claim
        for section in (section_2, section_3, section_4, section_5_1)
        for claim in vars(section).values()  # in the order in which they are defined
        if isinstance(claim, Claim)
    ),
    *_SECTION_5_2_1,
    *_SECTION_5_2_2,
    *_SECTION_5_3,
)


def _in_words(finding: Finding) -> str:
    setting = f" ({finding.key})" if finding.key else ""
    return f"{finding.text}{setting}: {finding.estimate}, asked for {finding.rule}"


def judge(evidence: Evidence, claims: Iterable[Claim] = CLAIMS) -> pandas.DataFrame:
    """Every claim with its numbers and its verdict.

    Returns
    -------
    DataFrame
        A row a claim, by key: place, claim, statistic, ours, holds if, printed, verdict, decides.
        Where a claim has several findings, they follow each other; the last column has the first
        that is not for the claim.
    """
    import pandas

    rows = []
    for claim in claims:
        found = claim.found(evidence)
        rows.append(
            {
                "key": claim.key,
                "place": claim.place,
                "claim": claim.text,
                "statistic": "; ".join(f.text for f in found) or claim.reason,
                "ours": "; ".join(str(f.estimate) for f in found),
                "holds if": "; ".join(str(f.rule) for f in found),
                "printed": claim.printed,
                "verdict": str(claim.verdict(evidence)),
                "decides": next((_in_words(f) for f in found if f.side < 1), ""),
            }
        )
    return pandas.DataFrame(rows).set_index("key")


_ANSWERS = {1: "for", 0: "open", -1: "against"}


def findings(evidence: Evidence, claims: Iterable[Claim] = CLAIMS) -> pandas.DataFrame:
    """Every number that a claim is judged by, in a row of its own.

    Returns
    -------
    DataFrame
        Indexed by the claim's key: claim, finding (what is measured), setting (what tells it from
        others of its kind), ours (with its 95 % interval), holds if, printed, finding is (for,
        open, against), verdict (of the claim). Claim and verdict stand in its first row only.
    """
    import pandas

    rows = []
    for claim in claims:
        found, verdict = claim.found(evidence), str(claim.verdict(evidence))
        first = {"claim": claim.text, "printed": claim.printed, "verdict": verdict}
        if not found:
            rows.append({"key": claim.key, **first, "finding": claim.reason})
        for f in found:
            rows.append({
                "key": claim.key, **first, "finding": f.text, "setting": f.key,
                "ours": str(f.estimate), "holds if": str(f.rule), "finding is": _ANSWERS[f.side],
            })  # fmt: skip
            first = {}
    columns = "claim", "finding", "setting", "ours", "holds if", "finding is", "printed", "verdict"
    return pandas.DataFrame(rows).set_index("key").reindex(columns=list(columns)).fillna("")


def verdicts_by_reading(
    readings: Iterable[Reading] = READINGS, claims: Iterable[Claim] = CLAIMS, **size: int
) -> pandas.DataFrame:
    """The verdict of every claim under each reading: a row a claim, a column a reading.

    A claim of a section that a reading cannot change keeps the verdict of the first reading.

    Parameters
    ----------
    readings : sequence of Reading
        The first is the base.
    claims : sequence of Claim
    **size
        For `Evidence`: n_problems, runs, seed, threads.
    """
    import pandas

    claims = list(claims)
    columns: dict[str, list[str]] = {}
    base: list[str] = []
    for reading in readings:
        evidence = Evidence(reading, **size)
        column = [
            str(claim.verdict(evidence))
            if not base or claim.key.startswith(reading.sections)
            else before
            for claim, before in zip(claims, base or [""] * len(claims), strict=True)
        ]
        base = base or column
        columns[reading.name] = column
    return pandas.DataFrame(columns, index=pandas.Index([c.key for c in claims], name="key"))


def count_verdicts(judged: pandas.DataFrame) -> pandas.DataFrame:
    """How many claims of each section got each verdict: a row a section, a column a verdict."""
    import pandas

    section = judged.index.str.split(" ").str[0]
    counts = pandas.crosstab(section, judged["verdict"].values, rownames=["section"])
    return counts.reindex(columns=[str(v) for v in Verdict], fill_value=0).rename_axis(columns=None)
