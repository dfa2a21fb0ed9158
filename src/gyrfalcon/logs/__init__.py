"""Logs of decisions: files that live processes append to, tables, and the formats of other libraries."""

from gyrfalcon.front_door import front_door

__getattr__, __dir__, __all__ = front_door(__name__)
