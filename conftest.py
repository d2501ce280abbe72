"""pytest settings for the tests, the doctests and the notebooks (nbval)."""

from contextlib import ExitStack
from functools import partial

import pictures
import pytest

from marab_lib.runner.run import clean_environment


def pytest_configure(config: pytest.Config) -> None:
    """nbval's kernels start as free of the user's own files as those of `make reproduce`."""
    stack = ExitStack()
    stack.enter_context(clean_environment())
    config.add_cleanup(stack.close)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """What a library writes to stderr (a font list built, say) is no result; a figure is one."""
    if hasattr(collector, "skip_compare"):
        results = {pictures.PNG}
        collector.skip_compare = (*(set(collector.skip_compare) - results), "stderr")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that two processes end at about the same time."""
    items.sort(key=lambda item: item.path.name != "test_browser.py" and item.path.suffix == ".py")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A cell of a notebook compares its figures as pictures."""
    if hasattr(item, "compare_outputs"):
        item.compare_outputs = partial(pictures.compare, item.compare_outputs)
