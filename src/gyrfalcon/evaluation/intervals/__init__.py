"""Intervals for a mean, from one column of contributions in order of time."""
