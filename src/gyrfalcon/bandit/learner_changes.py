"""Change of the learner while a bandit runs: what goes on from the fits so far, and what starts anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.bandit.refits import RefitJob
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.engine.threads import one_blas_thread
from gyrfalcon.engine.turnover import starting_at
from gyrfalcon.learners.exploration_settings import differ_in_exploration_alone
from gyrfalcon.learners.limited import taken_over
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.resolved_settings import resolved
from gyrfalcon.learners.steps import Summing, Sums


@dataclass(frozen=True, slots=True)
class LaterLearner:
    """A learner that took over from another: the bandit's epochs go on counting, and its own start at 1.

    Parameters
    ----------
    learner
        The learner.
    n_before
        Number of epochs of the learners before it. Rows of those epochs are to it as rows from elsewhere.
    """

    learner: Learner
    n_before: int

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The learner's first epoch, under the bandit's number."""
        return self._theirs(self.learner.start(problem, None if log is None else self._rows(log)))

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The epoch after this one."""
        return self._theirs(self.learner.next_epoch(self._own(epoch), self._rows(log)))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch for a problem with actions added or retired."""
        return self._theirs(self.learner.adapt(self._own(epoch), problem))

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether the learner can be given this epoch's rows in parts."""
        return isinstance(self.learner, Summing) and self.learner.can_sum(self._own(epoch))

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Sufficient statistics with these rows."""
        assert isinstance(self.learner, Summing)
        return self.learner.sums(self._own(epoch), self._rows(log), before)

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The epoch after this one, made of sums."""
        assert isinstance(self.learner, Summing)
        return self._theirs(self.learner.next_from(self._own(epoch), sums))

    def _own(self, epoch: Epoch) -> Epoch:
        return replace(epoch, index=epoch.index - self.n_before)

    def _theirs(self, epoch: Epoch) -> Epoch:
        return replace(epoch, index=epoch.index + self.n_before)

    def _rows(self, log: Log) -> Log:
        """Rows by the learner's own epochs; components of another learner say only what was passive."""
        component = np.where(log.epoch > self.n_before, log.component, log.component % 2)
        return replace(log, epoch=np.maximum(log.epoch - self.n_before, 0), component=component)


def own_learner(learner: Learner) -> Learner:
    """The learner as its user gave it."""
    return learner.learner if isinstance(learner, LaterLearner) else learner


def stored_learner(learner: Learner, problem: Problem) -> Learner:
    """The learner as a file has it, with values for settings that are None by default."""
    if isinstance(learner, LaterLearner):
        return replace(learner, learner=resolved(learner.learner, problem))
    return resolved(learner, problem)


def successor_of(before: Learner, after: Learner, epoch: Epoch, problem: Problem) -> Learner:
    """The learner that takes over in the epoch after this one, with the number of epochs before its own."""
    if not _goes_on(before, after, problem):
        return LaterLearner(after, epoch.index)
    return LaterLearner(after, before.n_before) if isinstance(before, LaterLearner) else after


def first_epoch_of(before: Learner, job: RefitJob, problem: Problem) -> Epoch:
    """The first epoch of the job's learner: from the fits so far where it can go on, or of the rows held."""
    if _goes_on(before, job.learner, problem):
        return replace(job, epoch=taken_over(own_learner(job.learner), job.epoch, problem)).run()
    with one_blas_thread():
        made = job.learner.start(problem, job.rows if len(job.rows) else None)
    return starting_at(made, job.round)


def _goes_on(before: Learner, after: Learner, problem: Problem) -> bool:
    """Whether a learner goes on from the fits of another; one from a file has values where None was given."""
    one, other = (resolved(own_learner(learner), problem) for learner in (before, after))
    return differ_in_exploration_alone(one, other)
