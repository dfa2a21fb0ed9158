"""Contextual bandit learners, and the parts of a learner of your own."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
