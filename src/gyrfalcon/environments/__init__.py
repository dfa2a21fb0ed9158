"""Worlds that can be drawn."""
