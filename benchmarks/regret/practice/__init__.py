"""Environments as practitioners have them, and what our learners capture there of what can be earned."""
