# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable
from gyrfalcon.logs.formats.open_bandit import open_bandit_data as open_bandit_data
from gyrfalcon.logs.opening import read_log as read_log

__all__: list[str]
