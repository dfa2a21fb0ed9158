"""Honest evaluation of logged data: what a policy would have earned, and how sure that is."""
