# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable

__all__: list[str]
