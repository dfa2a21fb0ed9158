"""Contextual bandits that stay right when the reward model is wrong."""

__version__ = "0.1.0"
