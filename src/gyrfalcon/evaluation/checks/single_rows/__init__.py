"""Faults of single rows, such as impossible propensities and repeated events."""
