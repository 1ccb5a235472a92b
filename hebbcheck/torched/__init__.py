"""What needs torch: memories as modules, and memories that are trained."""
