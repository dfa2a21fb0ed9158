"""Simpler learners to compare with."""
