"""Risk-aware multi-armed bandits: reward laws, policies, a compiled simulator, bounds.

A reproduction of Galichet, Sebag and Teytaud (2013), "Exploration vs Exploitation vs Safety:
Risk-Aware Multi-Armed Bandits", JMLR W&CP 29:245-260.
"""

from . import arms, bounds, criteria, policies, problems, regret, risk
from .comparison import compare
from .problems import Problem
from .simulation.run import simulate

__all__ = [
    "Problem",
    "arms",
    "bounds",
    "compare",
    "criteria",
    "policies",
    "problems",
    "regret",
    "risk",
    "simulate",
]
__version__ = "0.1.0"
