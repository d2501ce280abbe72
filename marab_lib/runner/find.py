"""Which notebooks there are, what each says of itself, and the parameters that it takes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import papermill

from ..paper import data

FOLDER = data.project() / "notebooks"


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell: ``name: type = value  # help``."""

    name: str
    kind: str
    default: str
    help: str

    def convert(self, value: object) -> object:
        """The value in this parameter's type; text is read, as a command line gives it.

        Parameters
        ----------
        value : object
            Text, or a value that is already of a type that fits.

        Raises
        ------
        ValueError
            Naming the parameter, its type and the value.

        Examples
        --------
        >>> Parameter("alphas", "list[float]", "[]", "").convert("[1e-3, 0.2]")
        [0.001, 0.2]
        """
        try:
            return _convert(value, self.kind, self._item_kind())
        except (TypeError, ValueError, SyntaxError):
            raise ValueError(
                f"parameter {self.name} ({self.help}) must be {self.kind}, got {value!r}"
            ) from None

    def _item_kind(self) -> str:
        """Type of a list's items, from ``list[float]`` or else from the default's first item."""
        if "[" in self.kind:
            return self.kind.partition("[")[2].rstrip("] ")
        items = ast.literal_eval(self.default) if self.kind == "list" else []
        kinds = {type(item).__name__ for item in items}
        return "float" if kinds == {"int", "float"} else kinds.pop() if len(kinds) == 1 else ""

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, default {self.default}): {self.help}"


def _convert(value: object, kind: str, item_kind: str = "") -> object:
    if kind.startswith("list"):
        items = ast.literal_eval(value) if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise TypeError
        return [_convert(item, item_kind) if item_kind else item for item in items]
    if kind == "bool" and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    number: type | None = {"int": int, "float": float}.get(kind)
    if number and isinstance(value, str):
        return number(value)
    allowed: Any = {"int": int, "float": (int, float), "bool": bool, "str": str}[kind]
    if not isinstance(value, allowed) or (number and isinstance(value, bool)):
        raise TypeError
    return number(value) if number else value


@dataclass(frozen=True)
class Notebook:
    """A saved notebook and what its metadata says of it.

    Attributes
    ----------
    path : Path
    title : str
        Its first heading.
    section : str
        Section of the paper.
    minutes : float
        Run time with the default parameters, on two cores.
    quick : mapping
        Parameters for a run of a few seconds.
    cells : int
        Number of its code cells.
    """

    path: Path
    title: str
    section: str
    minutes: float
    quick: Mapping[str, object]
    cells: int

    @property
    def name(self) -> str:
        """Such as ``06_proof_of_concept``."""
        return self.path.stem

    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, in the order of the parameters cell."""
        found = papermill.inspect_notebook(self.path)
        return {
            name: Parameter(name, p["inferred_type_name"], p["default"], p["help"])
            for name, p in found.items()
        }

    def check(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values in the types of the parameters.

        Raises
        ------
        ValueError
            If there is no such parameter, or the value is not of its type.
        """
        known = self.known(values)
        return {name: known[name].convert(value) for name, value in values.items()}

    def known(self, names: Iterable[str]) -> dict[str, Parameter]:
        """Its parameters by name, if all of some names are among them.

        Raises
        ------
        ValueError
            If there is no parameter of a name.
        """
        known = self.parameters()
        for name in names:
            if name not in known:
                listed = "\n  ".join(map(str, known.values())) or "none"
                raise ValueError(f"{self.name} has no parameter {name!r}, it has:\n  {listed}")
        return known


def read(path: Path) -> nbformat.NotebookNode:
    """The content of a notebook file.

    Raises
    ------
    ValueError
        If the file is not a notebook.
    """
    try:
        content = nbformat.read(path, as_version=4)
        # nbformat only logs what is missing.
        _ = content.metadata, [(cell.cell_type, cell.source) for cell in content.cells]
        return content
    except (AttributeError, LookupError, TypeError, ValueError, nbformat.ValidationError) as error:
        raise ValueError(f"{path} is not a notebook: {str(error)[:80]}") from None


def load(path: Path) -> Notebook:
    """Read what a notebook says of itself.

    Raises
    ------
    ValueError
        If the file is not a notebook, or its ``metadata.marab`` is not of the form that it should
        have.
    """
    content = read(path)
    about = _mapping(path, "metadata.marab", content.metadata.get("marab", {}))
    headings = (
        line.lstrip("# ").strip()
        for cell in content.cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("# ")
    )
    return Notebook(
        path=path,
        title=next(headings, path.stem),
        section=str(about.get("section", "")),
        minutes=_minutes(path, about.get("minutes", math.nan)),
        quick=_mapping(path, "metadata.marab.quick", about.get("quick", {})),
        cells=sum(map(is_run, content.cells)),
    )


def _mapping(path: Path, name: str, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: {name} must be a mapping, got {value!r}")
    return dict(value)


def _minutes(path: Path, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{path}: metadata.marab.minutes must be a number, got {value!r}")
    return float(value)


def is_run(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell counts as run: one of code that is not empty."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def find(folder: Path = FOLDER) -> list[Notebook]:
    """All numbered notebooks of a folder, in order.

    Parameters
    ----------
    folder : Path
        Default: that of the project.

    Raises
    ------
    LookupError
        If there is none.
    """
    paths = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise LookupError(
            f"no notebook NN_*.ipynb in {folder}. The notebooks and their data are no part of the "
            "installed package: run this in a folder of the repository, or give --notebooks DIR"
        )
    return [load(path) for path in paths]


def pick(text: str, notebooks: list[Notebook]) -> Notebook:
    """The one of some notebooks that a number, a name or a part of a name stands for.

    Raises
    ------
    LookupError
        If it is none or more than one of them.

    Examples
    --------
    >>> pick("6", find()).name
    '06_proof_of_concept'
    """
    wanted = Path(text).name.removesuffix(".ipynb")
    exact = [n for n in notebooks if wanted and wanted.zfill(2) in (n.name, n.name[:2])]
    found = exact or [n for n in notebooks if wanted and wanted in n.name]
    if len(found) != 1:
        what = "is more than one notebook" if found else "is no notebook"
        names = ", ".join(n.name for n in found or notebooks)
        raise LookupError(f"{text!r} {what}: {names}")
    return found[0]
