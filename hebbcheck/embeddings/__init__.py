"""Real embeddings: loading tables of rows from files."""

from .tables import load

__all__ = ["load"]
