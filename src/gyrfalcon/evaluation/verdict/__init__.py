"""Verdicts: whether a log supports an estimated value, with a reason for each check."""
