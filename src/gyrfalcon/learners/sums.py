"""What the rows of an epoch add up to: learners that need no more than that never need all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import AnyOracle, Summary
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True, slots=True)
class Sums:
    """Summaries of the rows of one epoch, on top of earlier epochs' rows where those count too."""

    oracle: AnyOracle
    active: Summary | None
    passive: Summary | None  # None where passive rows are not told apart
    n_new: int  # rows of this epoch

    def both(self) -> tuple[Summary, Summary]:
        """Active and passive rows; the summary of no rows where there are none."""
        return self.active or self.oracle.empty(), self.passive or self.oracle.empty()


@runtime_checkable
class Summing(Protocol):
    """A learner that can take an epoch's rows in parts."""

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether it can for this epoch: the first rows fix the features, so they come together."""
        ...

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """The sums with these rows of the epoch, after those of its earlier parts."""
        ...

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The epoch after this one, as `next_epoch` would make it of all these rows."""
        ...


def summed(oracle: AnyOracle, log: Log, onto: Summary | None, *, penalised: bool = False) -> Summary:
    """The summary of these rows on top of earlier ones; `penalised` if only their ridge fit is wanted."""
    if onto is not None and len(log) == 0:
        return onto
    if isinstance(oracle, LinearOracle) and (onto is None or isinstance(onto, Moments)):
        return oracle.summed(log, onto, penalised=penalised)
    new: Summary = oracle.summarise(log)
    return new if onto is None else onto + new
