"""Checks of a log: faults of rows, order, propensities, features and outcomes, with their row numbers."""
