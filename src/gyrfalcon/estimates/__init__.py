"""Estimates from logged data: scores of policies and misspecification."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
