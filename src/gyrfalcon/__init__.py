"""Contextual bandits that stay right when the reward model is wrong.

Names are loaded when they are first used, so that importing the package costs next to nothing. They stand in
`gyrfalcon.registry`; type checkers read them in `__init__.pyi`, which is written from that table.
"""

from gyrfalcon.front_door import front_door

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = front_door(__name__)
__all__ += ["__version__"]
