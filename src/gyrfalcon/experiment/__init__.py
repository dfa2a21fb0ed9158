"""Experiments on a live bandit: is a learned policy better than the control, at any time."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
