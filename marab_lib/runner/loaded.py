"""What most notebooks use, loaded for `kernels` before it is copied. Import it for this alone."""

import gc
import sys

import matplotlib.pyplot  # noqa: F401
import pandas
import scipy.stats  # noqa: F401
import xarray

from ..paper import verdicts  # noqa: F401
from ..simulation.warm import compile_all
from . import find, outputs  # noqa: F401

PATH = [folder for folder in sys.path if folder]  # a kernel adds its own folder

# As pandas finds them in a kernel; here it has looked at a terminal.
pandas.set_option("display.max_columns", 20, "display.encoding", "UTF-8")
compile_all()
xarray.DataArray([0.0])  # it looks for other packages' arrays now
gc.freeze()  # nothing of it is garbage: a copy need not look through it, which would also copy it
