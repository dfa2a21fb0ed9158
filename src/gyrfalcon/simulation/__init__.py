"""Simulation of learners in environments: replications, checkpoints, late rewards."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
