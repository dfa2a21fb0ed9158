# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.simulation.trace import Summary as Summary

__all__: list[str]
