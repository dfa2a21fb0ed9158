"""What a bandit answers: the action with its exact propensity, and the event id to credit its reward to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import NamedTuple

from gyrfalcon.core.arrays import Bools, Floats, Ints


class Decision(NamedTuple):
    """One decision. `propensity` is the probability with which `action` was drawn; log it with the action."""

    action: Hashable
    propensity: float
    event_id: str
    round: int
    epoch: int
    passive: bool


@dataclass(frozen=True, slots=True)
class DecisionBatch:
    """Many decisions as columns; iterate or index it for single ones."""

    action: Sequence[Hashable]
    propensity: Floats
    event_id: Sequence[str]
    round: Ints
    epoch: int
    passive: Bools

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, row: int) -> Decision:
        row = index(row)  # a slice would make a Decision of arrays
        return Decision(
            self.action[row],
            float(self.propensity[row]),
            self.event_id[row],
            int(self.round[row]),
            self.epoch,
            bool(self.passive[row]),
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[row] for row in range(len(self)))
