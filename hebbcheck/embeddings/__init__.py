"""Real embeddings: loading tables of rows from files."""

from .tables import content_digest, load, zero_rows

__all__ = ["content_digest", "load", "zero_rows"]
