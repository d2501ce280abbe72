"""pytest settings for the tests, the doctests and the notebooks (nbval)."""

import os
from contextlib import ExitStack
from functools import partial
from importlib.metadata import EntryPoint

import pictures
import pytest
from jupyter_client.provisioning import KernelProvisionerFactory

from marab_lib.runner.run import clean_environment


def pytest_configure(config: pytest.Config) -> None:
    """nbval's kernels start like those of `make reproduce`: without the user's files, as copies.

    Where the variable of Jupyter names another way, they start in that.
    """
    stack = ExitStack()
    stack.enter_context(clean_environment())
    config.add_cleanup(stack.close)
    ways = KernelProvisionerFactory.instance()
    if ways.default_provisioner_name_env not in os.environ:
        ways.provisioners["copied"] = EntryPoint(
            "copied", "marab_lib.runner.kernels:Copied", ways.GROUP_NAME
        )
        ways.default_provisioner_name = "copied"


def pytest_collectstart(collector: pytest.Collector) -> None:
    """What a library writes to stderr (a font list built, say) is no result; a figure is one."""
    if hasattr(collector, "skip_compare"):
        results = {pictures.PNG}
        collector.skip_compare = (*(set(collector.skip_compare) - results), "stderr")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that two processes end at about the same time."""
    first = ("test_browser.py", "test_quick.py")
    items.sort(key=lambda item: item.path.name not in first and item.path.suffix == ".py")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A cell of a notebook compares its figures as pictures."""
    if hasattr(item, "compare_outputs"):
        item.compare_outputs = partial(pictures.compare, item.compare_outputs)
