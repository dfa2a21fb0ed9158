"""Environments that can be drawn, and what holds in their populations."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
