"""The live bandit: its status, explanations of its decisions, and its decision log."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
