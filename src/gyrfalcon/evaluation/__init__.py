"""Evaluation of policies on logged data."""
