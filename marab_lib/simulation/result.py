"""The result of a simulation: a Dataset with named dimensions that says what made it."""

from __future__ import annotations

import functools
import json
import math
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..policies import Policy
from ..work.threads import Arrays
from .tasks import Setting, streams, versions

if TYPE_CHECKING:
    import xarray


_ATTRIBUTES = {
    "theoretical_regret": {"units": "reward", "long_name": "theoretical cumulative regret"},
    "empirical_regret": {"units": "reward", "long_name": "empirical cumulative regret"},
    "pulls": {"long_name": "number of pulls"},
    "rewards": {"units": "reward", "long_name": "reward of each pull"},
    "arms": {"long_name": "arm of each pull"},
    "checkpoint_pulls": {"long_name": "number of pulls up to the checkpoint"},
}
_LAST_DIMENSIONS = {
    "theoretical_regret": ("checkpoint",),
    "empirical_regret": ("checkpoint",),
    "pulls": ("arm",),
    "rewards": ("step",),
    "arms": ("step",),
    "checkpoint_pulls": ("checkpoint", "arm"),
}


@functools.cache
def commit() -> str:
    """The commit that the module was checked out from, "-dirty" behind it if it was edited since.

    Empty for an installed package, whatever repository it lies in.
    """
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return ""
    command = ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(
            [*command, "--abbrev=40"], cwd=checkout, capture_output=True, text=True
        )
    except OSError:  # no git here
        return ""
    return done.stdout.strip()


def parameter_coordinates(
    policies: Sequence[Policy], but: Iterable[str] = ()
) -> dict[str, tuple[str, list]]:
    """What a result says of its policies, each along ``policy``: NaN or "" where one has none.

    ``title``, ``label`` (what a legend calls it) and the parameters.

    Parameters
    ----------
    policies : sequence of Policy
    but : iterable of str
        Names that are taken.
    """
    each: list[dict[str, Any]] = [
        {"title": policy.title, "label": policy.short} | policy.described() for policy in policies
    ]
    coordinates = {}
    for name in dict.fromkeys(name for one in each for name in one if name not in but):
        texts = any(isinstance(one.get(name), str) for one in each)
        values = [one.get(name, "" if texts else math.nan) for one in each]
        coordinates[name] = "policy", [str(value) for value in values] if texts else values
    return coordinates


def join_policies(results: Sequence[xarray.Dataset]) -> xarray.Dataset:
    """Results of other policies one after the other; a parameter that one has not is NaN or ""."""
    import xarray

    names = dict.fromkeys(
        name for one in results for name, c in one.coords.items() if c.dims == ("policy",)
    )
    filled = []
    for one in results:
        absent = {}
        for name in names:
            if name not in one.coords:
                kind = next(other[name].dtype.kind for other in results if name in other.coords)
                empty = math.nan if kind == "f" else ""
                absent[name] = "policy", [empty] * one.sizes["policy"]
        filled.append(one.assign_coords(absent))
    how: Any = {"data_vars": "minimal", "coords": "minimal", "compat": "equals", "join": "exact"}
    return xarray.concat(filled, "policy", **how, combine_attrs="drop_conflicts")


def make_dataset(problems, policies, arrays: Arrays, setting: Setting, seed) -> xarray.Dataset:
    import xarray

    shape = (len(policies), len(problems), setting.runs)
    variables: dict[str, tuple] = {
        name: (
            ("policy", "problem", "run", *_LAST_DIMENSIONS[name]),
            rows.reshape((*shape, *rows.shape[1:])),
            _ATTRIBUTES[name],
        )
        for name, rows in arrays.items()
    }
    variables["mean"] = (("problem", "arm"), setting.laws.means, {"units": "reward"})
    variables["variance"] = (("problem", "arm"), np.stack([p.variances for p in problems]))
    tapes = [" ".join(map(str, stream)) for stream in streams(problems)]
    coordinates = parameter_coordinates(policies, but=variables) | {
        "policy": [policy.name for policy in policies],
        "problem": np.arange(len(problems)),
        "run": np.arange(setting.runs),
        "checkpoint": setting.steps,
        "arm": np.arange(problems[0].n_arms),
        # What the tape of each run is made of. Texts, since these numbers may exceed 64 bits.
        "seed": ("run", np.full(setting.runs, str(seed))),
        "number": ("run", np.arange(setting.runs)),
        "stream": ("problem", tapes),
    }
    if {"rewards", "arms"} & set(setting.record):
        coordinates["step"] = np.arange(1, setting.horizon + 1)
    attributes = {
        "horizon": setting.horizon,
        "runs": setting.runs,
        "seed": str(seed),
        "problems": json.dumps([problem.name for problem in problems]),
        "policies": json.dumps([repr(policy) for policy in policies]),
        "versions": json.dumps(versions()),
    }
    if commit():
        attributes["commit"] = commit()
    return xarray.Dataset(variables, coordinates, attributes)
