"""Learners in worlds, repeated."""
