"""Estimators of a policy's value: each returns a value and the influence of every row on it."""
