"""Honest evaluation of logged data: what another policy would have earned, and how sure that is."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
