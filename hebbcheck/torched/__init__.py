"""What needs torch: memories as modules."""
