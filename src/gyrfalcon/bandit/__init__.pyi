# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.bandit.decision_log import LoggedDecisions as LoggedDecisions
from gyrfalcon.bandit.decision_log import read_decision_log as read_decision_log
from gyrfalcon.bandit.explanation import ActionExplanation as ActionExplanation
from gyrfalcon.bandit.explanation import Explanation as Explanation
from gyrfalcon.bandit.status import ActionStatus as ActionStatus
from gyrfalcon.bandit.status import BanditStatus as BanditStatus

__all__: list[str]
