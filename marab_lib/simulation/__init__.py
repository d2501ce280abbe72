"""Play policies on problems, in one call or by chunks."""

from .chunks import by_chunks
from .run import simulate

__all__ = ["by_chunks", "simulate"]
