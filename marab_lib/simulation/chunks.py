"""Simulations too large to keep: done in parts, of which only a summary stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _validate
from ..policies import Policy
from ..problems import Problem
from .arguments import checked_problems, checked_seed
from .run import simulate

if TYPE_CHECKING:
    import xarray


def by_chunks(
    problems: Problem | Sequence[Problem],
    policies: Policy | Sequence[Policy],
    horizon: int,
    runs: int,
    seed: int | np.random.Generator,
    reduce: Callable[[xarray.Dataset, Sequence[Problem]], xarray.Dataset],
    *,
    size: int = 50,
    record: Sequence[str] = ("rewards", "arms"),
    checkpoints: int | Sequence[int] = 1,
    threads: int | None = None,
) -> xarray.Dataset:
    """Simulate some problems at a time and keep of each part only what `reduce` makes of it.

    The rewards are those of one call for all problems, whatever the size of the parts.

    Parameters
    ----------
    problems, policies, horizon, runs, seed, record, checkpoints, threads
        See `simulate`.
    reduce : callable
        Gets the result of a part and its problems; returns a Dataset with dimension ``problem``.
    size : int
        Problems a part; memory grows with it.

    Returns
    -------
    Dataset
        The parts one after the other along ``problem``.

    Examples
    --------
    >>> from marab_lib import policies, problems
    >>> def least(result, _):
    ...     return result.rewards.min(["run", "step"]).to_dataset(name="least")
    >>> by_chunks(problems.artificial(5, 0), [policies.MIN()], 100, 2, 0, least, size=2).least.shape
    (1, 5)
    """
    import xarray

    if not callable(reduce):
        raise TypeError(
            f"reduce must be a function of a result and its problems, got {_validate.shown(reduce)}"
        )
    size = _validate.whole("size", size, 1)
    seed = checked_seed(seed)  # drawn once: a Generator would give each part another one
    numbered = [
        p if p.stream is not None else Problem(p._laws, p.name, stream=(i,))
        for i, p in enumerate(checked_problems(problems))
    ]
    parts = []
    for begin in range(0, len(numbered), size):
        listed = numbered[begin : begin + size]
        result = simulate(
            listed, policies, horizon, runs, seed,
            record=record, checkpoints=checkpoints, threads=threads,
        )  # fmt: skip
        part = _reduced(reduce(result, listed), len(listed))
        parts.append(part.assign_coords(problem=np.arange(begin, begin + len(listed))))
    return xarray.concat(parts, "problem", data_vars="minimal", coords="minimal", compat="override")


def _reduced(part: object, size: int) -> xarray.Dataset:
    """What `reduce` made of a part, if it can be joined to the others."""
    import xarray

    wanted = f"reduce must return a Dataset with the dimension 'problem' of size {size}"
    if not isinstance(part, xarray.Dataset):
        raise TypeError(f"{wanted}, got {_validate.shown(part)}")
    if part.sizes.get("problem") != size:
        raise ValueError(f"{wanted}, got the dimensions {dict(part.sizes)}")
    return part
