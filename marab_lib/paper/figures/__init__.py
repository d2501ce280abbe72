"""Figures of the notebooks: each function takes data and axes, draws, and returns the axes."""

from . import beyond, section_3, section_4, section_5_1, section_5_2, section_5_3, verdicts
from .beyond import *  # noqa: F403
from .section_3 import *  # noqa: F403
from .section_4 import *  # noqa: F403
from .section_5_1 import *  # noqa: F403
from .section_5_2 import *  # noqa: F403
from .section_5_3 import *  # noqa: F403
from .verdicts import *  # noqa: F403

__all__ = [
    name
    for part in (beyond, section_3, section_4, section_5_1, section_5_2, section_5_3, verdicts)
    for name in part.__all__
]
