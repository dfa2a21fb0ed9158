# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable
from gyrfalcon.logs.opening import read_log as read_log
from gyrfalcon.logs.policies import stored_policies as stored_policies
from gyrfalcon.logs.policies import stored_policy as stored_policy

__all__: list[str]
