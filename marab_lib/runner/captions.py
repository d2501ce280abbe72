"""What the pictures of a notebook show, in words: the captions above them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import nbformat


def alternative_text(cells: Sequence[nbformat.NotebookNode], number: int) -> str:
    """What is seen in the pictures of a code cell, as plain text.

    Parameters
    ----------
    cells : sequence of cells
        Of the notebook.
    number : int
        Of the code cell among them.

    Returns
    -------
    str
        The caption, a paragraph that begins with **Figure**, of the text before the cell, or else
        the last paragraph of that text; "Figure" if there is none.

    Examples
    --------
    >>> v4 = nbformat.v4
    >>> text = v4.new_markdown_cell(r"**Figure 2.** Regret, $\\alpha = 20\\,\\%$.")
    >>> alternative_text([text, v4.new_code_cell("draw()")], 1)
    'Figure 2. Regret, alpha = 20 %.'
    """
    before = cells[number - 1] if number else None
    text = before.source if before is not None and before.cell_type == "markdown" else ""
    paragraphs = text.split("\n\n")
    captions = [paragraph for paragraph in paragraphs if paragraph.startswith("**Figure")]
    return _plain([*paragraphs, *captions][-1]) or "Figure"


def _plain(markdown: str) -> str:
    """Text without the marks of Markdown and LaTeX."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    text = re.sub(r"\\[,;! ]", " ", text)
    return " ".join(re.sub(r"[*`$\\{}#]", "", text).split())
