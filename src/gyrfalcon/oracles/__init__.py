"""Regression oracles: model classes, features and solvers of least squares."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
