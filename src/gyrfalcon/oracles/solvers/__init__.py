"""Least squares, the exact constrained fit, and its search for any convex class."""
