"""Exact arithmetic: balls, rationals, the statistics by definition, and instances made of them."""
