"""The report: one self-contained HTML page, made from the records of a store alone."""

from .page import render, write

__all__ = ["render", "write"]
