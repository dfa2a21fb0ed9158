# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable
from gyrfalcon.logs.opening import read_log as read_log
from gyrfalcon.logs.set_aside import write_set_aside as write_set_aside

__all__: list[str]
