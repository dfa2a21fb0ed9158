"""Rows of a log that values are estimated from, and their importance weights."""
