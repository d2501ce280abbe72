"""Independent tasks on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .threads import Arrays, Results

if TYPE_CHECKING:
    import distributed


_RETRIES = 5  # how often a task is done again when a cluster loses its worker


def on_cluster(
    function: Callable[..., Arrays],
    tasks: Sequence[tuple],
    client: distributed.Client,
    shared: object,
) -> Results:
    """Do the tasks on the workers of a dask.distributed client; a lost one is done again.

    `shared` is sent to each worker once and becomes the function's first argument.
    """
    from distributed import as_completed

    # Under a name of its own: a second call with the same data would else lose it, while the
    # cluster forgets that of the first.
    everywhere = client.scatter(shared, broadcast=True, hash=False)
    futures = [
        client.submit(function, everywhere, *task, pure=False, retries=_RETRIES) for task in tasks
    ]
    numbers = {future.key: number for number, future in enumerate(futures)}
    try:
        for future, result in as_completed(futures, with_results=True):
            yield numbers[future.key], result
            future.release()
    finally:
        client.cancel(futures)
