"""Rewards predicted for rows of a log, each from other rows alone."""
