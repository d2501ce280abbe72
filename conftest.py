"""pytest settings for the tests, the doctests and the notebooks (nbval)."""

from contextlib import ExitStack

import pytest

from marab_lib.notebooks import clean_environment


def pytest_configure(config: pytest.Config) -> None:
    """nbval's kernels start as free of the user's own files as those of `make reproduce`."""
    stack = ExitStack()
    stack.enter_context(clean_environment())
    config.add_cleanup(stack.close)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """What a library writes to stderr (a font list built, say) is no result of a notebook."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)
