"""Turnover of epochs: when the next one is due, which rows it is fitted on, and in which round it starts.

A live bandit, a simulation and the replay of a log differ in where rows come from and in how long they wait
for rewards. All else is here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.engine.threads import one_blas_thread
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums

Rows: TypeAlias = Log | Sums
"""Settled rows, or what they add up to where a learner takes them in parts."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the end of an epoch waits for rewards of its planned rounds.

    Parameters
    ----------
    max_overtime
        Decisions beyond the planned ones, as a multiple of these, after which the wait is over.
    min_settled
        Settled rows that a fit after overtime needs, as a share of the planned rounds. A fit on a handful of
        early rewards would be poor, and an epoch of the schedule would be lost on it.

    Examples
    --------
    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> everyone = UniformPolicy(2)
    >>> epoch = Epoch(index=1, start=0, stop=10, policy=everyone, passive_policy=everyone)
    >>> patience = Patience(max_overtime=0.5, min_settled=0.5)
    >>> [patience.is_over(epoch, round_, n_pending=4, n_settled=6) for round_ in (10, 14, 15)]
    [False, False, True]
    >>> patience.is_over(epoch, 10, n_pending=0, n_settled=6), Patience().is_over(epoch, 10, 4, 6)
    (True, True)
    """

    max_overtime: float = 0.0
    min_settled: float = 0.0

    def is_over(self, epoch: Epoch, round_: int, n_pending: int, n_settled: int) -> bool:
        """Whether the successor of an epoch is due.

        Parameters
        ----------
        epoch
            The epoch in play.
        round_
            The round that is decided next, which is the number of decided rounds.
        n_pending
            Decisions among the planned rounds that wait for a reward.
        n_settled
            Rows that the next fit would have.
        """
        overtime, n_planned = round_ - epoch.stop, epoch.n_rounds
        if overtime < 0 or n_pending == 0:
            return overtime >= 0
        return n_settled >= self.min_settled * n_planned and overtime >= self.max_overtime * n_planned


def turn_over(learner: Learner, epoch: Epoch, rows: Rows, round_: int) -> Epoch:
    """The successor of an epoch, fitted on the rows settled since, on the clock of the rounds played.

    An epoch in overtime has decided rounds of its successor's plan: the successor then starts in `round_`,
    with as many rounds as planned. A learner that fails raises its error with a note, and nothing has
    changed: rows count as learned from only when this has returned. BLAS has one thread, so that the bits
    of a fit do not depend on the number of processors.
    """
    try:
        with one_blas_thread():
            if isinstance(rows, Sums) and isinstance(learner, Summing):
                following = learner.next_from(epoch, rows)
            else:
                assert isinstance(rows, Log)
                following = learner.next_epoch(epoch, rows)
        return starting_at(following, round_)
    except Exception as error:
        error.add_note(f"The learner could not refit after epoch {epoch.index}, before round {round_}.")
        raise


def starting_at(epoch: Epoch, round_: int) -> Epoch:
    """The epoch from `round_` on, with as many rounds as planned, if it was to start earlier."""
    late = max(0, round_ - epoch.start)
    return replace(epoch, start=epoch.start + late, stop=epoch.stop + late) if late else epoch


class _Planned(Protocol):
    @property
    def stop(self) -> int: ...


P = TypeVar("P", bound=_Planned)


def played_epochs(first: P, n_rounds: int, following: Callable[[P], P]) -> Iterator[P]:
    """The epochs of `n_rounds` rounds that don't wait for rewards, the last one possibly cut short.

    Each epoch is to be played in full before the next one is taken: `following` is called only then.
    """
    epoch = first
    yield epoch
    while epoch.stop < n_rounds:
        epoch = following(epoch)
        yield epoch
