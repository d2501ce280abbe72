"""The README's table of verdicts, made from ``data/verdicts.csv``.

Notebook 10 computes the verdicts and checks that the file has the same; a test checks that the
README has the table that the file gives. So neither can be stale without a failure.
``python -m marab_lib.paper.verdicts`` makes both anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..work.files import replace_when_done
from . import data
from .claims import count_verdicts, judge
from .evidence import Evidence
from .rules import Verdict

if TYPE_CHECKING:
    import pandas


__all__ = [
    "README",
    "readme_table",
    "save_verdicts",
    "saved_verdicts",
    "update_readme",
]

README = data.project() / "README.md"
_START, _END = "<!-- verdicts: made by marab_lib.paper.verdicts -->", "<!-- end of verdicts -->"
_VERDICTS = "verdicts.csv"
_SECTIONS = {  # what the section is about, and the notebooks that show it
    "2.1": ("ε-greedy, UCB, KL-UCB; theoretical and empirical regret", "10"),
    "2.2": ("CVaR and mean-variance; MV-LCB and ExpExp", "10"),
    "3": ("the CVaR estimate, MaRaB's rule and its two phases", "05"),
    "4": ("MIN: lemmas, regret bounds, remarks", "01 02 03 04 11"),
    "5.1": ("figure 1: uniform arms", "06"),
    "5.2.1": ("figure 2: regret on 1,000 random problems", "07"),
    "5.2.2": ("figure 3: the worst rewards", "08"),
    "5.3": ("figure 4: battery management", "09"),
}


def saved_verdicts() -> pandas.DataFrame:
    """The verdicts as published: by key, the claim, its verdict and the number that decides it."""
    import pandas

    return pandas.read_csv(data.folder() / _VERDICTS, index_col="key").fillna("")


def save_verdicts(judged: pandas.DataFrame) -> None:
    """Write the verdicts of `claims.judge` to ``data/verdicts.csv``."""
    with replace_when_done(data.folder() / _VERDICTS) as part:
        judged[["claim", "verdict", "decides"]].to_csv(part)


def readme_table(verdicts: pandas.DataFrame) -> str:
    """A table of sections with links and counts, and the claims that do not simply hold."""
    counts = count_verdicts(verdicts)
    notebooks = data.project() / "notebooks"
    names = {path.name[:2]: path.name for path in notebooks.glob("[0-9][0-9]_*.ipynb")}
    lines = ["| Section | About | Notebooks | " + " | ".join(counts.columns) + " |"]
    lines.append("|---|---|---|" + "---|" * len(counts.columns))
    for section, (about, numbers) in _SECTIONS.items():
        links = ", ".join(f"[{n}](notebooks/{names[n]})" for n in numbers.split())
        row = " | ".join(str(n) if n else "" for n in counts.loc[section])
        lines.append(f"| {section} | {about} | {links} | {row} |")
    total = " | ".join(f"**{n}**" for n in counts.sum())
    lines.append(f"| all | {len(verdicts)} statements | | {total} |")
    for verdict in (Verdict.FAILS, Verdict.IN_PART, Verdict.UNKNOWN):
        lines += ["", f"{str(verdict).capitalize()}:", ""]
        some = verdicts[verdicts["verdict"] == str(verdict)]
        for key, row in some.iterrows():
            number = f"<br>*{row['decides']}*" if row["decides"] else ""
            lines.append(f"- {key.split(' ')[0]}: {row['claim']}{number}")
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
    """Compute all verdicts anew, save them, and update the README (some minutes)."""
    save_verdicts(judge(Evidence()))
    update_readme()


if __name__ == "__main__":
    main()
