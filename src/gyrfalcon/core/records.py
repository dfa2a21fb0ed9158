"""What happened: decisions with their exact propensities, and logs of decisions with their rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints, rows_of
from gyrfalcon.core.contexts import Contexts

POLICY = 0
PASSIVE = 1


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions as columns of length n.

    Attributes
    ----------
    epoch : array of int
        Number of the epoch.
    round : array of int
        Round, counted from 0.
    action : array of int
        Index of the action.
    propensity : array of float
        Probability of the action over all components.
    component : array of int
        POLICY (0) or PASSIVE (1); in a mixture of bases, base j acts as 2 j + POLICY or 2 j + PASSIVE.
    """

    epoch: Ints
    round: Ints
    action: Ints
    propensity: Floats
    component: Ints

    def __len__(self) -> int:
        return len(self.action)


@dataclass(frozen=True, slots=True)
class Log:
    """Decisions with their rewards in the learner's units: in [0, 1] unless accepted outside.

    Parameters
    ----------
    contexts : Contexts
        The n contexts.
    action : array of int
        (n,) indices of the actions.
    reward : array of float
        (n,) rewards.
    propensity : array of float
        (n,) probabilities of the actions.
    epoch : array of int
        (n,) numbers of the epochs.
    round : array of int
        (n,) rounds, counted from 0.
    component : array of int
        (n,) which part of the policy acted; see `Decisions`.
    """

    contexts: Contexts
    action: Ints
    reward: Floats
    propensity: Floats
    epoch: Ints
    round: Ints
    component: Ints

    def __len__(self) -> int:
        return len(self.action)

    @property
    def passive(self) -> Bools:
        """Which rows were passive (uniform) play."""
        return (self.component & 1).astype(np.bool_)

    @staticmethod
    def of(contexts: Contexts, decisions: Decisions, reward: Floats) -> Log:
        """The log of these decisions and what they earned."""
        return Log(
            contexts,
            decisions.action,
            reward,
            decisions.propensity,
            decisions.epoch,
            decisions.round,
            decisions.component,
        )

    def where(self, mask: Bools) -> Log:
        """The rows where the mask is true; views, where they are adjacent."""
        return self.take(rows_of(mask))

    def take(self, rows: slice | Bools | Ints) -> Log:
        """Some of the rows."""
        columns = (getattr(self, field.name)[rows] for field in fields(self)[1:])
        return Log(self.contexts.take(rows), *columns)

    @staticmethod
    def concat(logs: Sequence[Log], n_actions: int) -> Log:
        """All rows in the order given."""
        if len(logs) == 1:
            return logs[0]
        columns = (np.concatenate([getattr(log, field.name) for log in logs]) for field in fields(Log)[1:])
        return Log(Contexts.concat([log.contexts for log in logs], n_actions), *columns)
