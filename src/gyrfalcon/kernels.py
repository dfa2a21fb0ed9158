"""Exploration kernels: scores of all actions to probabilities of playing them."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
