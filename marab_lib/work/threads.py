"""Independent tasks in threads.

A task is a function's arguments; its result is a dict of arrays. Results come in any order, each
with the number of its task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

Arrays = dict[str, np.ndarray]
Results = Iterator[tuple[int, Arrays]]


def in_threads(function: Callable[..., Arrays], tasks: Sequence[tuple], threads: int) -> Results:
    """Do the tasks in this process; after an interrupt or an error none is begun any more."""
    if threads == 1 or len(tasks) <= 1:
        for number, task in enumerate(tasks):
            yield number, function(*task)
        return
    with ThreadPoolExecutor(threads) as pool:
        numbers = {}
        try:
            for number, task in enumerate(tasks):
                numbers[pool.submit(function, *task)] = number
            for future in as_completed(numbers):
                # Popped, so that a result is freed as soon as the caller has copied it.
                yield numbers.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
