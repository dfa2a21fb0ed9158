"""Figures and self-contained pages from numbers."""
