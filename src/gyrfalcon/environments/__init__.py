"""Environments that can be drawn, and what holds in their populations."""
