"""Nobody parses the name of a policy, nor writes one out as a key: results say what it was."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from marab_lib import policies
from marab_lib.comparison import everyone

ROOT = Path(__file__).parents[1]
TITLES = {p.title for p in [*everyone(), policies.MCVTS(), policies.BernoulliMVTS()]}
PARAMETERS = {"C", "alpha", "beta", "c", "delta", "eps", "m", "rho", "tau", "theta", "zeta"}
METHODS = {
    *("split", "rsplit", "partition", "rpartition", "startswith", "endswith", "replace"),
    *("removeprefix", "removesuffix", "find", "contains", "match", "search", "fullmatch"),
}
_TITLE = "|".join(map(re.escape, sorted(TITLES, key=len, reverse=True)))
_PARAMETER = "|".join(PARAMETERS)
PART = re.compile(rf"^\(|^({_TITLE})(\(|$)|\b({_PARAMETER})=")  # of a name
NAME = re.compile(rf"\b({_TITLE})\(({_PARAMETER})=")


def files() -> list[Path]:
    return sorted([*(ROOT / "marab_lib").rglob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")])


def code(path: Path) -> str:
    """The code of a module or of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def constants(node: ast.AST) -> list[str]:
    return [
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def without_texts_for_people(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but docstrings and labels, which may spell out names."""
    if isinstance(tree, ast.keyword) and tree.arg == "label":
        return
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from without_texts_for_people(node)


def parsed_names(source: str) -> list[str]:
    """The places at which a name is parsed or written out."""
    found = []
    for node in without_texts_for_people(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            bad = node.func.attr in METHODS and any(
                PART.search(text) for argument in node.args for text in constants(argument)
            )
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            left = node.left
            bad = isinstance(left, ast.Constant) and PART.search(str(left.value)) and (
                not isinstance(node.comparators[0], ast.Attribute)
            )  # fmt: skip
        else:
            bad = isinstance(node, ast.Constant) and NAME.search(str(node.value))
        if bad:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_no_name_is_parsed(path):
    assert parsed_names(code(path)) == []


@pytest.mark.parametrize(
    "line",
    [
        'title = name.split("(")[0]',
        'chosen = [n for n in names if n.startswith("MaRaB")]',
        'chosen = [n for n in names if n.startswith(("MIN", "MaRaB"))]',
        'small = [n for n in names if "alpha=0.001" in n]',
        'y = x.sel(policy="UCB(C=1000)")',
        'name = f"MV-LCB(rho={rho:g})"',
        'name = n.split(", C=")[0]',
        'mine = table[table.index.str.startswith("UCB")]',
    ],
)
def test_a_parsed_name_is_found(line):
    assert parsed_names(line)


@pytest.mark.parametrize(
    "line",
    [
        'words = text.split(" ")',
        'policy = policies.UCB(1.0, label=f"UCB(C={C:g})")',
        'y = x.sel(policy="UCB")',
        'plt.plot(x, label="MaRaB(alpha=0.2)")',
        '"""Such as UCB(C=1)."""',
    ],
)
def test_other_texts_are_not(line):
    assert parsed_names(line) == []
