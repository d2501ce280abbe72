"""The files of ``data/``: read only if every byte is as it was published.

``data/README.md`` gives the source, terms and checksum of each.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _validate
from ..work import files

if TYPE_CHECKING:
    import pandas

    from ..policies import Policy


__all__ = [
    "folder",
    "of_policy",
    "project",
    "published_curves",
    "read_csv",
    "remake",
]

_FILES = {  # size in bytes and sha256
    "demand.csv": (643_031, "a329b6a3122270be0947c6e70e7fb277fa8ce9dc3bbf780214b25abacd766227"),
    "energy_table.csv": (
        45_761,
        "b36762866d86ae7cfc9e832404e705517bbbec0b6151cc523f0de770d1dd87bd",
    ),
    "figure_3.csv": (
        292_969,
        "985fe00fc2e7a5975e2ef834516ce52faf77dcd99467eae8336641043d5141c7",
    ),
    "figure_4.csv": (
        43_798,
        "7f990335168dde49432e410e739fd9334abf322742a6454e865235ece4925ccd",
    ),
    "published_curves.csv": (
        423_611,
        "c9be6bae088aca877ec130a679d12e188efd73a3277c27aadc369b94bc3ac7f8",
    ),
    "readings.csv": (
        312_248,
        "3b004868ff9fe91bd261b866eb49f5de8314fa1e09e58212d0b1d67853f9f7f1",
    ),
}


def project() -> Path:
    """The repository that this module lies in, or else the one that the current folder lies in.

    An installed module lies in none: the notebooks and data are no part of it. Where there is no
    repository at all, it is the folder that the module lies in.
    """
    own = Path(__file__).resolve().parents[2]
    if _is_project(own):
        return own
    here = Path.cwd()
    return next(filter(_is_project, (here, *here.parents)), own)


def _is_project(folder: Path) -> bool:
    return (folder / "data" / "verdicts.csv").is_file()


def folder() -> Path:
    """The folder ``data/`` of `project`."""
    return project() / "data"


def read_csv(name: str, where: str | os.PathLike | None = None, **options) -> pandas.DataFrame:
    """A data file as a table.

    Parameters
    ----------
    name : str
        Such as "published_curves.csv".
    where : path, optional
        Folder; default `folder()`.
    **options
        For `pandas.read_csv`.

    Raises
    ------
    FileNotFoundError
        If the file is missing.
    ValueError
        If it is unknown, cut or changed; the message says which.
    """
    import pandas

    return pandas.read_csv(io.StringIO(_read(name, where)), **options)


def _read(name: str, where: str | os.PathLike | None) -> str:
    _validate.choice("name", name, _FILES)
    path = Path(where or folder()) / name
    size, digest = _FILES[name]
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} is missing. The data are no part of the installed package: run this in a "
            "folder of the repository, install that with `pip install -e .`, or give the folder. "
            "data/README.md says how to make it again"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found == digest:
        return content.decode()
    again = "Restore it, or make it again as data/README.md says"
    if hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() == digest:
        raise ValueError(f"{path} has other line endings (CRLF) than the published file. {again}")
    if len(content) < size:
        raise ValueError(f"{path} is cut: {len(content):,} bytes of {size:,}. {again}")
    raise ValueError(
        f"{path} was changed: its sha256 is {found}, that of the published file is {digest} "
        f"({len(content):,} and {size:,} bytes). {again}"
    )


def published_curves(figure: int, panel: str) -> pandas.DataFrame:
    """The curves of one panel, read off the printed paper's vector figures.

    Parameters
    ----------
    figure : {1, 2, 3, 4}
    panel : str
        "a" or "b" of figures 1 and 2; of figure 3 a policy and the variance of its problem's best
        arm, as in "ucb low" (the others are "marab", "mv-lcb", "expexp"; "high"); of figure 4 a
        policy and what is shown, as in "ucb regret" or "marab rewards".

    Returns
    -------
    DataFrame with columns policy, C, alpha, rho (NaN where it has none), x, y

    Examples
    --------
    >>> curves = published_curves(1, "a")
    >>> sorted(curves["policy"].unique().tolist())
    ['MIN', 'UCB']
    """
    table = read_csv("published_curves.csv")
    known = list(table[["figure", "panel"]].drop_duplicates().itertuples(index=False, name=None))
    if (figure, panel) not in known:
        raise ValueError(
            f"figure and panel must be one of {', '.join(map(str, known))}, got {(figure, panel)!r}"
        )
    part = table[(table["figure"] == figure) & (table["panel"] == panel)]
    return part.drop(columns=["figure", "panel"]).reset_index(drop=True)


def of_policy(curves: pandas.DataFrame, policy: Policy) -> pandas.DataFrame:
    """The part of `published_curves` that is one policy's, by its title and parameters.

    Examples
    --------
    >>> from marab_lib import policies
    >>> len(of_policy(published_curves(3, "ucb low"), policies.UCB(C=1.0)))
    116
    """
    part = curves[curves["policy"] == policy.title]
    for name, value in policy.described().items():
        if name in part:
            part = part[part[name] == value]
    return part


def remake(
    name: str,
    make: Callable[..., pandas.DataFrame],
    arguments: Sequence[str] | None,
    digits: int,
    **defaults: int,
) -> None:
    """A command that makes one of the computed files again, with an option for each default."""
    parser = argparse.ArgumentParser(description=f"Make data/{name} again.")
    parser.add_argument("--out", default=str(folder() / name))
    for option, value in defaults.items():
        parser.add_argument(f"--{option.replace('_', '-')}", type=int, default=value)
    given = vars(parser.parse_args(arguments))
    out = given.pop("out")
    table = make(**given)
    with files.replace_when_done(out) as part:
        table.round(digits).to_csv(part, index=False, lineterminator="\n")
