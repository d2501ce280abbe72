"""Figures: each function takes data and axes, draws, and returns the axes. One file a section."""

from . import analysis, artificial, claims, energy, estimator, proof_of_concept, since_2013, style
from .analysis import *  # noqa: F403
from .artificial import *  # noqa: F403
from .claims import *  # noqa: F403
from .energy import *  # noqa: F403
from .estimator import *  # noqa: F403
from .proof_of_concept import *  # noqa: F403
from .since_2013 import *  # noqa: F403
from .style import *  # noqa: F403

__all__ = [
    name
    for part in (
        analysis,
        artificial,
        claims,
        energy,
        estimator,
        proof_of_concept,
        since_2013,
        style,
    )
    for name in part.__all__
]
