"""What a person uses in a program."""

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.bandit.decision import Decision, DecisionBatch

__all__ = ["Bandit", "Decision", "DecisionBatch"]
