"""How a notebook shows its figures, and where it leaves them and its numbers: whole files or none.

Every file is written beside its place under another name and then moved there, so an interrupted
run leaves no half file and never harms one that was written before.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..work.files import below, replace_when_done, save_dataset

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas
    import xarray


def read_table(path: str | os.PathLike) -> pandas.DataFrame:
    """Read a CSV table as the texts that stand in it.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing, or empty, torn or not text; the message names it.
    """
    import pandas

    try:
        return pandas.read_csv(path, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from None


class Outputs:
    """The output folder of one notebook; with an empty folder name nothing is written.

    Links below the folder are not followed, but refused.

    Parameters
    ----------
    folder : str
        Folder for the files, made when needed, or "".
    prefix : str
        First part of every file name, such as "06" for notebook 06.

    Raises
    ------
    RuntimeError
        Where ``python -O`` or PYTHONOPTIMIZE has removed the checks of the notebook.
    """

    def __init__(self, folder: str, prefix: str) -> None:
        if not __debug__:
            raise RuntimeError(
                "the checks of a notebook are assertions, which python -O or PYTHONOPTIMIZE "
                "removes: start Python without -O and with PYTHONOPTIMIZE unset"
            )
        self.folder = Path(folder) if folder else None
        self.prefix = prefix

    def _path(self, kind: str, name: str, suffix: str) -> Path:
        assert self.folder
        return below(self.folder, kind, f"{self.prefix}_{name}{suffix}")

    def figure(self, figure: matplotlib.figure.Figure, name: str, *, show: bool = True) -> None:
        """Show a figure, and write it as PNG and PDF to ``figures/``, as `plots.drawn` makes them.

        Parameters
        ----------
        figure : Figure
        name : str
        show : bool
            Below the cell; False where the cell shows it in another way. Default: True.
        """
        import matplotlib.pyplot as plt
        from IPython.display import display

        from ..plots import drawn

        formats = ("png", "pdf") if self.folder else ("png",)
        files = drawn(figure, *formats)
        if show:
            display({"text/plain": repr(figure), "image/png": files[0]}, raw=True)
            plt.close(figure)  # or it would be shown again
        if self.folder:
            for suffix, content in zip(formats, files, strict=True):
                with replace_when_done(self._path("figures", name, f".{suffix}")) as part:
                    part.write_bytes(content)

    def table(self, table: pandas.DataFrame, name: str) -> None:
        """Write a table as CSV to ``numbers/``."""
        if self.folder:
            with replace_when_done(self._path("numbers", name, ".csv")) as part:
                table.to_csv(part)

    def dataset(self, dataset: xarray.Dataset, name: str) -> None:
        """Write a result of `simulate` as NetCDF to ``numbers/``."""
        if self.folder:
            save_dataset(dataset, self._path("numbers", name, ".nc"))
