"""Compile what simulations need before the first one; `make` does so after an installation."""

from __future__ import annotations

from numba.core.dispatcher import Dispatcher

from .. import policies
from ..kernels.loop import compiled_loop
from ..kernels.records import INDEX_SIGNATURE
from ..policies import Policy


def compile_all() -> None:
    """Compile the loop and the index of every policy; what is in the cache is only read."""
    compiled_loop()
    for kind in vars(policies).values():
        if isinstance(kind, type) and issubclass(kind, Policy):
            function = kind.index_function
            if isinstance(function, Dispatcher):
                function.compile(INDEX_SIGNATURE)


if __name__ == "__main__":
    compile_all()
