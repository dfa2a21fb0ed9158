"""Formats of other libraries, one file each, to and from tables of decisions."""
