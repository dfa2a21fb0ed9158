# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable
from gyrfalcon.logs.log_reader import LogReader as LogReader
from gyrfalcon.logs.log_writer import LogWriter as LogWriter
from gyrfalcon.logs.opening import read_log as read_log

__all__: list[str]
