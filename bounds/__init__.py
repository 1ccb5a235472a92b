"""The theory of *MLPs are Hebbians*: one module a theme, each theorem one short function."""
