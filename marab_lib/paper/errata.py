"""Misprints of the paper: what is printed, what is meant, and why we are sure.

They count neither for the paper nor against it; the code follows what is meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__all__ = ["ERRATA", "Erratum", "table"]


@dataclass(frozen=True)
class Erratum:
    """One misprint.

    Parameters
    ----------
    place, printed, meant, why : str
    notebook : str
        Number of the one that shows it, if any does.
    """

    place: str
    printed: str
    meant: str
    why: str
    notebook: str = ""


ERRATA = (
    Erratum(
        "Section 2.1", "the running mean inside the variance's sum", "the mean of all n rewards",
        "with the running mean it is no variance, and the cited formula has the mean",
    ),
    Erratum(
        "Section 2.2, MV-LCB", "the arm that maximises the index", "the arm that minimises it",
        "the index is a loss less a bonus, and its authors minimise it", "13",
    ),
    Erratum(
        "Section 3", "the error of the CVaR estimate falls like sqrt(n)", "like 1/sqrt(n)",
        "sqrt(n) grows; the theorem cited gives 1/sqrt(n), and so does a simulation", "05",
    ),
    Erratum(
        "Lemma 4.1, assumption", "P(X <= a + eps) >= A eps for all eps > 0", "for eps <= 1/A",
        "beyond 1/A the right side is above 1", "01",
    ),
    Erratum(
        "Prop. 4.3", "Delta_a,min is a minimum over all arms", "over the arms other than the best",
        "over all arms it is 0, and the bound infinite", "03",
    ),
    Erratum(
        "Prop. 4.3, expectation", "t >= (K-1)/A times Delta_a,min / Delta_mu,max",
        "the ratio the other way up",
        "the proof needs delta <= 1; as printed, the bound is below the exact regret in an example",
        "03",
    ),
    Erratum(
        "Section 4, last remark", "mean margins greater than minimum margins", "less than",
        "it speaks of the case of Prop. 4.4, whose assumption is the reverse", "04",
    ),
    Erratum(
        "Section 5.1", "radius 0.5 beside a* = mu* - 0.001, inside [0, 1]",
        "lowest end of the support -0.001",
        "uniform play in figure 1 shows Delta_max = 0.001, which moves the widest arm below 0",
        "06",
    ),
    Erratum(
        "Figure 2", "C = 0.001 for MaRaB in the caption", "C = 0.000001, as in the legend",
        "one of the two is wrong; nothing depends on it, both are small", "07",
    ),
    Erratum(
        "Figure 3", "rewards averaged over 40 runs, then sorted", "sorted, then averaged",
        "averages of 40 rewards do not reach from 0 to 1, as the printed curves do", "08",
    ),
    Erratum(
        "Figure 3, ExpExp", "two problems", "one of them twice",
        "the two printed panels are the same curves", "08",
    ),
    Erratum(
        "Section 5.3", "energy bought: min(0, demand - x)", "max(0, demand - x)",
        "the minimum is never positive: nothing would ever be bought", "09",
    ),
)  # fmt: skip


def table() -> pandas.DataFrame:
    """The misprints, a row each."""
    import pandas

    return pandas.DataFrame([vars(erratum) for erratum in ERRATA])
