"""Formats of the Open Bandit Pipeline and its data set, to and from tables of decisions."""
