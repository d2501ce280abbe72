"""pytest settings for the tests, the doctests and the notebooks (nbval)."""

import os


def pytest_configure() -> None:
    """Kernels of nbval: no start-up files of the user, and figures inline."""
    for name in ("MPLBACKEND", "PYTHONSTARTUP"):
        os.environ.pop(name, None)


def pytest_collectstart(collector) -> None:
    """What a library writes to stderr (a font list built, say) is no result of a notebook."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)
