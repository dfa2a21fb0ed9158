"""Records of play: decisions with their exact propensities, and logs of decisions with their rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts

POLICY = 0
PASSIVE = 1


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions as columns of length n.

    Parameters
    ----------
    epoch
        Index of the epoch that decided.
    round
        Number of the round, counted from 0.
    action
        Position of the chosen action.
    propensity
        Probability of the action over all components.
    component
        Which part of the play acted: POLICY (0) or PASSIVE (1); in a mixture of bases, base j acts as
        2 j + POLICY or 2 j + PASSIVE.
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
    """Decisions with their rewards, as columns of length n; `Problem.log` makes one.

    Parameters
    ----------
    contexts
        What was known at each decision.
    action
        Position of the chosen action.
    reward
        Reward in the learner's units: in [0, 1], unless the problem accepts rewards out of range.
    propensity
        Probability with which the action was chosen.
    epoch
        Index of the epoch that decided.
    round
        Number of the round, counted from 0.
    component
        Which part of the play acted: see `Decisions`.
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

    def __repr__(self) -> str:
        if not len(self):
            return "Log(0 rows)"
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}, {self.contexts.shared.shape[-1]} features"
        means = f"mean reward {self.reward.mean():.3g}, {self.passive.mean():.0%} passive"
        return f"Log({rows}, rounds {self.round.min()} to {self.round.max()}, {means})"

    @property
    def passive(self) -> Bools:
        """Which rows were passive (uniform) play, (n,)."""
        return (self.component & 1).astype(np.bool_)

    @staticmethod
    def of(contexts: Contexts, decisions: Decisions, reward: Floats) -> Log:
        """The log of decisions and their rewards in the learner's units."""
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
        """The rows where the mask is true, as views where they are adjacent."""
        return self.take(rows_of(mask))

    def take(self, rows: slice | Bools | Ints) -> Log:
        """The log of these rows, as views where they are a slice."""
        given = self.contexts
        contexts = Contexts(
            given.shared[rows],
            None if given.actions is None else given.actions[rows],
            None if given.eligible is None else given.eligible[rows],
        )
        return Log(contexts, *(getattr(self, field.name)[rows] for field in fields(self)[1:]))

    @staticmethod
    def concat(logs: Sequence[Log], n_actions: int) -> Log:
        """The rows of all logs, in the order given."""
        if len(logs) == 1:
            return logs[0]
        columns = (np.concatenate([getattr(log, field.name) for log in logs]) for field in fields(Log)[1:])
        return Log(Contexts.concat([log.contexts for log in logs], n_actions), *columns)


def rows_of(mask: Bools) -> slice | Bools:
    """A mask as a slice where its rows are adjacent: a view instead of a copy of every column.

    >>> rows_of(np.array([False, True, True])), rows_of(np.array([True, False, True])).tolist()
    (slice(1, 3, None), [True, False, True])
    """
    n_rows = int(np.count_nonzero(mask))
    first = int(mask.argmax()) if n_rows else 0
    return slice(first, first + n_rows) if mask[first : first + n_rows].all() else mask
