"""What of the paper holds: every checkable statement, its numbers, and a verdict by a stated rule.

A `Claim` names its place in the paper, our paraphrase, and how its findings are made from the
evidence; each finding has a number with its interval and the rule it has to meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import (
    section_2,
    section_3,
    section_4,
    section_5_1,
    section_5_2_1,
    section_5_2_2,
    section_5_3,
)
from .evidence import READINGS, Evidence, Reading
from .rules import Claim, Finding, Verdict

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


SECTIONS = (
    section_2,
    section_3,
    section_4,
    section_5_1,
    section_5_2_1,
    section_5_2_2,
    section_5_3,
)
CLAIMS = tuple(
    claim
    for section in SECTIONS
    for claim in vars(section).values()  # in the order in which they are defined
    if isinstance(claim, Claim)
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
            for claim, before in zip(claims, base or claims, strict=True)
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
