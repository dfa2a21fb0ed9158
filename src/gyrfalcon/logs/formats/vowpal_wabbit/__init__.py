"""Formats of Vowpal Wabbit, to and from tables of decisions."""
