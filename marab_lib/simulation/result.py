"""The result of a simulation: a Dataset with named dimensions that says what made it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ..work.threads import Arrays
from .tasks import Setting, _streams, versions

if TYPE_CHECKING:
    import xarray


# --- results ------------------------------------------------------------------------------

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


def make_dataset(problems, policies, arrays: Arrays, setting: Setting, seed) -> xarray.Dataset:
    import xarray

    shape = (len(policies), len(problems), setting.runs)
    variables = {
        name: (
            ("policy", "problem", "run", *_LAST_DIMENSIONS[name]),
            rows.reshape((*shape, *rows.shape[1:])),
            _ATTRIBUTES[name],
        )
        for name, rows in arrays.items()
    }
    variables["mean"] = (("problem", "arm"), setting.laws.means, {"units": "reward"})
    variables["variance"] = (("problem", "arm"), np.stack([p.variances for p in problems]))
    streams = [" ".join(map(str, stream)) for stream in _streams(problems)]
    coordinates = {
        "policy": [policy.name for policy in policies],
        "problem": np.arange(len(problems)),
        "run": np.arange(setting.runs),
        "checkpoint": setting.steps,
        "arm": np.arange(problems[0].n_arms),
        # What the tape of each run is made of. Texts, since these numbers may exceed 64 bits.
        "seed": ("run", np.full(setting.runs, str(seed))),
        "number": ("run", np.arange(setting.runs)),
        "stream": ("problem", streams),
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
    return xarray.Dataset(variables, coordinates, attributes)
