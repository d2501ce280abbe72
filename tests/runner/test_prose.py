"""The text of the notebooks: its numbers, headings and titles.

What a simulation gives is printed by code, where nbval compares it. The other numbers in the text
(of the paper, of definitions, of error rates) are constants. `prose.txt` lists them with their
words, so that none is changed unseen: `python tests/runner/test_prose.py` writes it anew, to read.
"""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
LISTED = Path(__file__).with_name("prose.txt")
IN_WORDS = (
    r"two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|forty|hundred|thousand|"
    r"half|third|quarter|fifth|tenth|twice|tenfold"
)
NUMBER = re.compile(rf"\d|\b({IN_WORDS})s?\b", re.IGNORECASE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def texts(path: Path) -> list[str]:
    """The Markdown cells of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def numbers(text: str) -> str:
    """All words with a number, each after the word before it."""
    words = text.split()
    has = [bool(NUMBER.search(word)) for word in words]
    shown = [now or after for now, after in zip(has, [*has[1:], False], strict=True)]
    kept = [word if seen else "|" for word, seen in zip(words, shown, strict=True)]
    return re.sub(r"(\| )+", "| ", " ".join(kept)).strip("| ")


def listing(path: Path) -> Iterator[str]:
    """The numbers of a notebook's text, a line a cell."""
    yield f"== {path.stem}"
    yield from filter(None, map(numbers, texts(path)))


def listed(path: Path) -> list[str]:
    """The part of `prose.txt` on a notebook."""
    parts = LISTED.read_text(encoding="utf-8").split("== ")
    return next(f"== {part}" for part in parts if part.startswith(path.stem)).splitlines()


@each_notebook
def test_numbers_in_the_text_are_those_listed(path):
    changed = unified_diff(listed(path), list(listing(path)), "prose.txt", path.name, n=0)
    assert list(changed) == []


@each_notebook
def test_a_change_of_any_number_is_noticed(path):
    for text in texts(path):
        for found in re.finditer(r"\d+", text):
            other = str(int(found[0]) + 1).zfill(len(found[0]))
            assert numbers(text[: found.start()] + other + text[found.end() :]) != numbers(text)


@each_notebook
def test_headings_are_plain_and_different(path):
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    headings = [title for text in texts(path) for title in HEADING.findall(code.sub("", text))]
    assert [title for title in headings if "$" in title or "`" in title] == []
    assert [title for title, count in Counter(headings).items() if count > 1] == []


def test_no_two_notebooks_have_one_title():
    titles = [HEADING.search(texts(path)[0])[1].split(" · ", 1)[1] for path in NOTEBOOKS]
    words = [re.sub(r"\W+", " ", title).casefold().replace("this", "the") for title in titles]
    assert len(set(words)) == len(NOTEBOOKS)


if __name__ == "__main__":
    lines = [line for path in NOTEBOOKS for line in listing(path)]
    LISTED.write_text("\n".join(lines) + "\n", encoding="utf-8")
