"""The bandit for use in programs, and its decisions."""

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.bandit.decision import Decision, DecisionBatch

__all__ = ["Bandit", "Decision", "DecisionBatch"]
