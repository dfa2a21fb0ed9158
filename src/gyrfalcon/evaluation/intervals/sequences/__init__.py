"""Confidence sequences: intervals for every time of a log, all of which cover the mean at once."""
