"""Simulation of learners in environments: replications, checkpoints, late rewards."""
