"""Grids of learners, environments and seeds, run in parallel and stored."""
