"""The experiments of *MLPs are Hebbians*: one module a figure or table."""
