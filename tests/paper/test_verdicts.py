"""The README's table is that of the saved verdicts, and these are of today's verdicts."""

from __future__ import annotations

import pandas as pd
import pytest

from marab_lib.paper import verdicts
from marab_lib.paper.evidence import INTERPRETATIONS, Evidence
from marab_lib.paper.rules import Claim, Verdict
from marab_lib.paper.verdicts import (
    _END,
    _START,
    current_readme_table,
    readme_table,
    saved_verdicts,
    update_readme,
)


def test_the_readme_is_not_stale():
    expected = readme_table(saved_verdicts())
    assert current_readme_table() == expected, "python -m marab_lib.paper.verdicts"


def test_the_saved_verdicts_are_of_todays_claims():
    saved = saved_verdicts()
    assert saved.index.tolist() == [claim.key for claim in verdicts.CLAIMS]
    assert saved["claim"].tolist() == [claim.text for claim in verdicts.CLAIMS]
    assert set(saved["verdict"]) <= {str(verdict) for verdict in Verdict}


def test_a_changed_verdict_makes_the_readme_stale():
    changed = saved_verdicts()
    key = changed.index[changed["verdict"] == "holds"][0]
    changed.loc[key, "verdict"] = "does not hold"
    assert readme_table(changed) != current_readme_table()


def test_update_puts_the_table_between_the_marks(tmp_path, monkeypatch):
    readme = tmp_path / "README.md"
    readme.write_text(f"above\n{_START}\nstale text\n{_END}\nbelow\n")
    monkeypatch.setattr(verdicts, "README", readme)
    update_readme()
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("above\n")
    assert text.endswith("\nbelow\n")
    assert "stale text" not in text
    assert "| theorems of others |" in text


def test_counts():
    judged = pd.DataFrame(
        {
            "whose": ["the paper's", "of others", "the paper's", "the paper's", "the paper's"],
            "verdict": ["holds", "does not hold", "holds", "open", "holds"],
            "nearest": ["", "", "", "holds", "open"],
        },
        index=["2.1 a", "2.1 b", "3 c", "5.2 d", "5.2 e"],
    )
    counts = verdicts.count_verdicts(judged)
    assert counts.columns.tolist() == [str(verdict) for verdict in Verdict]
    assert counts.index.tolist() == [
        "2.1",
        "3",
        "5.2",
        "5.2, nearest to print",
        "theorems of others",
    ]
    assert counts.loc["2.1"].tolist() == [1, 0, 0, 0, 0]
    assert counts.loc["5.2"].tolist() == counts.loc["5.2, nearest to print"].tolist()
    assert counts.loc["theorems of others"].tolist() == [0, 0, 0, 1, 0]
    assert verdicts.differing(judged).index.tolist() == ["5.2 d", "5.2 e"]


def test_claims_are_well_formed():
    keys = [claim.key for claim in verdicts.CLAIMS]
    assert len(keys) == len(set(keys)) >= 40
    for claim in verdicts.CLAIMS:
        assert claim.place
        assert claim.text
        assert (claim.findings is None) == bool(claim.reason)


def test_judge_tells_each_verdict_from_made_up_evidence():
    """A claim of its own for each verdict, through `judge`."""
    from marab_lib.paper.rules import Above, Finding
    from marab_lib.statistics import Estimate

    def claim(key, *values):
        found = [
            Finding("x", v if isinstance(v, Estimate) else Estimate.exact(v), Above(0))
            for v in values
        ]
        return Claim(key, "here", "text", lambda e: found)

    listed = [
        claim("a", 1.0),
        claim("b", 1.0, -1.0),
        claim("o", 1.0, Estimate(1, -1, 3)),
        claim("c", -1.0),
        Claim("d", "here", "text", reason="not given"),
    ]
    evidence = Evidence()
    judged = verdicts.judge(evidence, listed)
    assert judged["verdict"].tolist() == [str(v) for v in Verdict]
    assert judged.loc["d", "statistic"] == "not given"
    against, undecided = "x: -1, asked for > 0", "x: 1 (-1 to 3), asked for > 0"
    undecided += "; decided by some 4 times the runs"
    assert judged["decides"].tolist() == ["", against, undecided, against, ""]
    found = verdicts.findings(evidence, listed)
    assert found.index.tolist() == ["a", "b", "b", "o", "o", "c", "d"]
    answers = ["for", "for", "against", "for", "open", "against", ""]
    assert found["finding is"].tolist() == answers
    assert found["verdict"].tolist()[2] == ""  # claim and verdict stand in the first row
    assert found.loc["d", "finding"] == "not given"


def test_the_nearest_reading_has_columns_of_its_own():
    from marab_lib.paper.evidence import NEAREST
    from marab_lib.paper.rules import Above, Finding
    from marab_lib.statistics import Estimate

    def find(evidence):
        value = -1.0 if evidence.interpretation is NEAREST else 1.0
        return [Finding("x", Estimate.exact(value), Above(0))]

    listed = [Claim("5.2 a", "here", "text", find), Claim("3 b", "here", "text", find)]
    judged = verdicts.judge(Evidence(), listed, Evidence(NEAREST))
    assert judged["verdict"].tolist() == ["holds", "holds"]
    assert judged["nearest"].tolist() == ["does not hold", ""]
    assert judged["nearest decides"].tolist() == ["x: -1, asked for > 0", ""]


def test_findings_are_made_once_from_each_evidence():
    made = []
    claim = Claim("a", "here", "text", lambda e: made.append(e) or [])
    one, other = Evidence(), Evidence()
    assert [claim.found(e) for e in (one, one, other)] == [[], [], []]
    assert made == [one, other]


@pytest.mark.parametrize("sections", [("x",), ("3",)])
def test_an_interpretation_changes_only_its_sections(sections):
    from marab_lib.paper.evidence import Interpretation
    from marab_lib.paper.rules import Above, Finding
    from marab_lib.statistics import Estimate

    def find(evidence):
        value = 1.0 if evidence.interpretation.name == "base" else -1.0
        return [Finding("x", Estimate.exact(value), Above(0))]

    listed = [Claim("3 a", "here", "text", find), Claim("5.2 b", "here", "t", find)]
    base = verdicts.judge(Evidence(Interpretation("base")), listed)["verdict"]
    found = verdicts.verdicts_under(Interpretation("other", sections=sections), base, listed)
    changed = "does not hold" if sections == ("3",) else "holds"
    assert found == [changed, "holds"]


def test_saved_verdicts_of_every_interpretation():
    table = verdicts.by_interpretation(saved_verdicts())
    assert table.columns.tolist() == [one.name for one in INTERPRETATIONS]
    assert table.isin([str(verdict) for verdict in Verdict]).all(axis=None)
