"""Learners played in environments: replications, checkpoints, late rewards."""
