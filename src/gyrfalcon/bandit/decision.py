"""Decisions of a bandit: the action with its exact propensity, and the event id to credit its reward to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.frames import Column, Tabular, label_column, phase_column, text_column


class Decision(NamedTuple):
    """One decision of a bandit.

    Parameters
    ----------
    action
        Label of the chosen action.
    propensity
        Exact probability with which `action` was drawn; log it with the action.
    event_id
        Id to credit the reward to.
    round
        Number of the round, counted from 0.
    epoch
        Index of the epoch that decided, counted from 1.
    passive
        Whether this was a passive round, in which actions are drawn uniformly.
    distribution
        Probability of every action at this decision, in the order of the problem's actions; None where a
        decision is repeated whose epoch is over, or whose actions have changed since.
    model
        Content hash of the policy that decided, passive share included; a log has the policy in a file of
        this name. None where it can't be stored, and where `distribution` is None.
    control
        Whether this decision was of the control share, whose action does not depend on the learner.
    """

    action: Hashable
    propensity: float
    event_id: str
    round: int
    epoch: int
    passive: bool
    distribution: tuple[float, ...] | None = None
    model: str | None = None
    control: bool = False

    def __repr__(self) -> str:
        shown = zip(self._fields[:6], self[:6], strict=True)  # a probability of every action is too long
        return f"Decision({', '.join(f'{name}={value!r}' for name, value in shown)})"


@dataclass(frozen=True)
class DecisionBatch(Tabular):
    """Many decisions as columns; iterate or index it for single ones.

    `to_pandas`, `to_polars` and `to_arrow` give the decisions as a table.

    Parameters
    ----------
    action
        Labels of the chosen actions.
    propensity
        Exact probability with which each action was drawn, (n,).
    event_id
        Ids to credit the rewards to.
    round
        Numbers of the rounds, counted from 0, (n,).
    epoch
        Index of the epoch that decided, counted from 1.
    passive
        Which rounds were passive, with actions drawn uniformly, (n,).
    model
        Content hash of the policy that decided; None where the policy can't be stored.
    probabilities
        Function that computes `distribution`; None where decisions are repeated from the books.
    single
        The single decisions, where some are repeated from the books, possibly of earlier epochs.
    control
        Which decisions were of the control share, (n,); None for none.

    Examples
    --------
    >>> from gyrfalcon import Bandit
    >>> batch = Bandit(["a", "b"], seed=1).decide_many(n=2, event_ids=["x", "y"])
    >>> batch.to_pandas()[["event_id", "propensity", "phase", "round"]]
      event_id  propensity    phase  round
    0        x         0.5  passive      0
    1        y         0.5  passive      1
    """

    action: Sequence[Hashable]
    propensity: Floats
    event_id: Sequence[str]
    round: Ints
    epoch: int
    passive: Bools
    model: str | None = None
    probabilities: Callable[[], Floats] | None = field(default=None, repr=False, compare=False)
    single: Sequence[Decision] | None = field(default=None, repr=False, compare=False)
    control: Bools | None = field(default=None, repr=False)

    @cached_property
    def distribution(self) -> Floats | None:
        """Probability of every action at each decision, (n, K), in the order of the problem's actions."""
        return None if self.probabilities is None else self.probabilities()

    def __repr__(self) -> str:
        rounds = f", rounds {self.round[0]} to {self.round[-1]}" if len(self) else ""
        return f"DecisionBatch({len(self)} decisions, epoch {self.epoch}{rounds})"

    def __len__(self) -> int:
        return len(self.action)

    def columns(self) -> Mapping[str, Column]:
        """Columns by name, as in a decision log: what tables are made of."""
        return {
            "event_id": text_column(self.event_id),
            "action": label_column(self.action),
            "propensity": self.propensity,
            "phase": phase_column(self.passive, self.control),
            "epoch": np.full(len(self), self.epoch),
            "round": self.round,
        }

    def __getitem__(self, row: int) -> Decision:
        row = index(row)  # a slice would make a Decision of arrays
        if self.single is not None:
            return self.single[row]
        return Decision(
            self.action[row],
            float(self.propensity[row]),
            self.event_id[row],
            int(self.round[row]),
            self.epoch,
            bool(self.passive[row]),
            None if self.distribution is None else tuple(self.distribution[row].tolist()),
            self.model,
            self.control is not None and bool(self.control[row]),
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[row] for row in range(len(self)))
