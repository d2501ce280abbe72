"""What of the paper holds: the verdict of every claim, and the README's table of them.

The table is made from ``data/verdicts.csv``. Notebook 10 computes the verdicts and checks that the
file has the same; a test checks that the README has the table that the file gives. So neither can
be stale without a failure.
``python -m marab_lib.paper.verdicts`` makes both anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..work.files import replace_when_done
from . import (
    data,
    section_2,
    section_3,
    section_4,
    section_5_1,
    section_5_2_1,
    section_5_2_2,
    section_5_3,
)
from .evidence import AS_PRINTED, INTERPRETATIONS, NEAREST, Evidence, Interpretation
from .rules import Claim, Verdict

if TYPE_CHECKING:
    import pandas


__all__ = [
    "CLAIMS",
    "OTHERS",
    "README",
    "SAVED",
    "by_interpretation",
    "count_verdicts",
    "differing",
    "findings",
    "judge",
    "readme_table",
    "save_verdicts",
    "saved_verdicts",
    "update_readme",
    "verdicts_under",
]

CLAIMS = tuple(
    claim
    for section in (
        section_2, section_3, section_4, section_5_1, section_5_2_1, section_5_2_2, section_5_3
    )
    for claim in vars(section).values()  # in the order in which they are defined
    if isinstance(claim, Claim)
)  # fmt: skip


def _decisive(claim: Claim, evidence: Evidence) -> str:
    """The first finding that keeps the claim from holding, in words."""
    verdict = claim.verdict(evidence)
    side = 0 if verdict == Verdict.OPEN else -1
    for f in claim.found(evidence):
        if f.side == side:
            setting = f" ({f.key})" if f.key else ""
            text = f"{f.text}{setting}: {f.estimate}, asked for {f.rule}"
            return text + (f"; decided by some {_times(f.more)} the runs" if side == 0 else "")
    return ""


def _times(factor: float) -> str:
    """A factor in words, to one digit."""
    return f"{float(f'{max(factor, 2):.1g}'):g} times" if factor < 1e4 else "more than 10,000 times"


def judge(
    evidence: Evidence, claims: Iterable[Claim] = CLAIMS, nearest: Evidence | None = None
) -> pandas.DataFrame:
    """Every claim with its numbers and its verdict.

    Parameters
    ----------
    evidence : Evidence
    claims : sequence of Claim
    nearest : Evidence, optional
        Of the interpretation nearest to the printed figures, for the claims that it can change.

    Returns
    -------
    DataFrame
        A row a claim, by key: place, claim, whose ("the paper's", or "of others" if it repeats a
        theorem), statistic, ours, holds if, printed, verdict, decides, and with `nearest`
        "nearest" and "nearest decides": the same two there, empty where it changes nothing.
        Where a claim has several findings, they follow each other; "decides" has the first that
        keeps it from holding.
    """
    import pandas

    rows = []
    for claim in claims:
        found = claim.found(evidence)
        row = {
            "key": claim.key,
            "place": claim.place,
            "claim": claim.text,
            "whose": "of others" if claim.of_others else "the paper's",
            "statistic": "; ".join(f.text for f in found) or claim.reason,
            "ours": "; ".join(str(f.estimate) for f in found),
            "holds if": "; ".join(str(f.rule) for f in found),
            "printed": claim.printed,
            "verdict": str(claim.verdict(evidence)),
            "decides": _decisive(claim, evidence),
        }
        if nearest is not None:
            changes = claim.findings and claim.key.startswith(nearest.interpretation.sections)
            row["nearest"] = str(claim.verdict(nearest)) if changes else ""
            row["nearest decides"] = _decisive(claim, nearest) if changes else ""
        rows.append(row)
    return pandas.DataFrame(rows).set_index("key")


_ANSWERS = {1: "for", 0: "open", -1: "against"}


def findings(
    evidence: Evidence, claims: Iterable[Claim] = CLAIMS, nearest: Evidence | None = None
) -> pandas.DataFrame:
    """Every number that a claim is judged by, in a row of its own.

    Returns
    -------
    DataFrame
        Indexed by the claim's key: claim, finding (what is measured), setting (what tells it from
        others of its kind), ours (with its 95 % interval), holds if, finding is (for, open,
        against), printed, verdict (of the claim), and with `nearest` its "nearest to print",
        "nearest is" and "nearest verdict". Claim, printed and verdicts stand in the first row only.
    """
    import pandas

    rows = []
    for claim in claims:
        found = claim.found(evidence)
        changes = nearest and claim.key.startswith(nearest.interpretation.sections)
        others = claim.found(nearest) if nearest and changes else []
        first = {
            "claim": claim.text,
            "printed": claim.printed,
            "verdict": str(claim.verdict(evidence)),
            "nearest verdict": str(claim.verdict(nearest)) if nearest and others else "",
        }
        if not found:
            rows.append({"key": claim.key, **first, "finding": claim.reason})
        for f, other in itertools.zip_longest(found, others):
            rows.append({
                "key": claim.key, **first, "finding": f.text, "setting": f.key,
                "ours": str(f.estimate), "holds if": str(f.rule), "finding is": _ANSWERS[f.side],
                "nearest to print": str(other.estimate) if other else "",
                "nearest is": _ANSWERS[other.side] if other else "",
            })  # fmt: skip
            first = {}
    columns = [
        "claim",
        "finding",
        "setting",
        "holds if",
        "ours",
        "finding is",
        "printed",
        "verdict",
    ]
    if nearest:
        columns += ["nearest to print", "nearest is", "nearest verdict"]
    return pandas.DataFrame(rows).set_index("key").reindex(columns=columns).fillna("")


def verdicts_under(
    interpretation: Interpretation,
    otherwise: pandas.Series,
    claims: Iterable[Claim] = CLAIMS,
    **size: int,
) -> list[str]:
    """The verdicts of all claims under another interpretation.

    Parameters
    ----------
    interpretation : Interpretation
    otherwise : Series
        By key, the verdicts of the claims of sections that it cannot change.
    claims : sequence of Claim
    **size
        For `Evidence`: n_problems, runs, seed, threads.
    """
    evidence = Evidence(interpretation, **size)
    return [
        str(claim.verdict(evidence))
        if claim.key.startswith(interpretation.sections)
        else otherwise[claim.key]
        for claim in claims
    ]  # fmt: skip


def count_verdicts(judged: pandas.DataFrame) -> pandas.DataFrame:
    """How many claims of each section got each verdict: a row a section, a column a verdict.

    A section whose verdicts were given under the interpretation nearest to print too has a second
    row for these; what repeats the theorems of others is counted in a row of its own, the last.
    """
    import pandas

    own = judged[judged["whose"] == "the paper's"]
    section = own.index.str.split(" ").str[0]
    parts = {}
    for name in dict.fromkeys(section):
        rows = own[section == name]
        parts[name] = rows["verdict"]
        if (rows["nearest"] != "").any():
            parts[f"{name}, {NEAREST.name}"] = rows["nearest"].where(
                rows["nearest"] != "", rows["verdict"]
            )
    parts["theorems of others"] = judged.loc[judged["whose"] == "of others", "verdict"]
    counts = pandas.DataFrame({name: rows.value_counts() for name, rows in parts.items()}).T
    counts = counts.reindex(columns=[str(v) for v in Verdict]).fillna(0).astype(int)
    return counts.rename_axis(index="section", columns=None)


def differing(judged: pandas.DataFrame) -> pandas.DataFrame:
    """The claims whose verdict is another under the interpretation nearest to print."""
    return judged[(judged["nearest"] != "") & (judged["nearest"] != judged["verdict"])]


README = data.project() / "README.md"
_START, _END = "<!-- verdicts: made by marab_lib.paper.verdicts -->", "<!-- end of verdicts -->"
_VERDICTS = "verdicts.csv"
_ABOUT = {  # what the section is about, and the notebooks that show it
    "2.1": ("theoretical and empirical regret", "10"),
    "3": ("the CVaR estimate, MaRaB's rule and its two phases", "05"),
    "4": ("MIN: lemmas, regret bounds, remarks", "01 02 03 04 11"),
    "5.1": ("figure 1: uniform arms", "06"),
    "5.2.1": ("figure 2: regret on 1,000 random problems", "07 13"),
    "5.2.2": ("figure 3: the worst rewards", "08"),
    "5.3": ("figure 4: battery management", "09"),
    "theorems of others": ("ε-greedy, UCB, KL-UCB, CVaR, MV-LCB, ExpExp (sections 2, 3)", "05 10"),
}


def saved_verdicts() -> pandas.DataFrame:
    """The verdicts as published: by key, what `save_verdicts` keeps."""
    import pandas

    return pandas.read_csv(data.folder() / _VERDICTS, index_col="key").fillna("")


SAVED = ["claim", "whose", "verdict", "decides", "nearest", "nearest decides"]
OTHERS = [one for one in INTERPRETATIONS if one not in (AS_PRINTED, NEAREST)]


def save_verdicts(judged: pandas.DataFrame) -> None:
    """Write the verdicts of `judge` to ``data/verdicts.csv``, and a column for each of `OTHERS`."""
    with replace_when_done(data.folder() / _VERDICTS) as part:
        judged[[*SAVED, *(one.name for one in OTHERS)]].to_csv(part)


def by_interpretation(saved: pandas.DataFrame) -> pandas.DataFrame:
    """The saved verdicts under each interpretation: a row a claim."""
    nearest = saved["nearest"].where(saved["nearest"] != "", saved["verdict"])
    first = {AS_PRINTED.name: saved["verdict"], NEAREST.name: nearest}
    return saved[[one.name for one in OTHERS]].assign(**first)[[o.name for o in INTERPRETATIONS]]


def readme_table(verdicts: pandas.DataFrame, folder: str = "notebooks/") -> str:
    """Counts by section with links, and the claims whose verdict depends on the reading.

    Parameters
    ----------
    verdicts : DataFrame of `saved_verdicts`
    folder : str
        Where the links find the notebooks. Default: from the README.
    """
    counts = count_verdicts(verdicts)
    notebooks = data.project() / "notebooks"
    names = {path.name[:2]: path.name for path in notebooks.glob("[0-9][0-9]_*.ipynb")}
    lines = ["| Section | About | Notebooks | " + " | ".join(counts.columns) + " |"]
    lines.append("|---|---|---|" + "---|" * len(counts.columns))
    for section, row in counts.iterrows():
        about, numbers = _ABOUT.get(section, ("*the reading nearest to print*", ""))
        links = ", ".join(f"[{n}]({folder}{names[n]})" for n in numbers.split())
        cells = " | ".join(str(n) if n else "" for n in row)
        lines.append(f"| {section.split(',')[0]} | {about} | {links} | {cells} |")
    lines += ["", "Verdicts that depend on the reading (as printed; nearest to print):", ""]
    for key, row in differing(verdicts).iterrows():
        lines.append(f"- {key.split(' ')[0]}: {row['claim']} *{row['verdict']}; {row['nearest']}*")
    return "\n".join(lines)


def current_readme_table() -> str:
    """The table that the README has now."""
    return README.read_text(encoding="utf-8").split(_START)[1].split(_END)[0].strip()


def update_readme() -> None:
    """Put the table of the saved verdicts into the README."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(_START)
    after = rest.split(_END)[1]
    table = readme_table(saved_verdicts())
    with replace_when_done(README) as part:
        part.write_text(f"{before}{_START}\n\n{table}\n\n{_END}{after}", encoding="utf-8")


def main() -> None:
    """Compute all verdicts anew, save them, and update the README (some ten minutes)."""
    judged = judge(Evidence(), nearest=Evidence(NEAREST))
    for one in OTHERS:
        judged[one.name] = verdicts_under(one, judged["verdict"])
    save_verdicts(judged)
    update_readme()


if __name__ == "__main__":
    main()
