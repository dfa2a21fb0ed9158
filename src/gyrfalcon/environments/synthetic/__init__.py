"""Synthetic environments with adjustable misspecification."""
