"""What a run holds for its learner until an epoch ends: sums where they suffice, else rows, late or not."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Decisions, Log, PastLogs
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.environments.environment import World
from gyrfalcon.learners.learner import Learner
from gyrfalcon.learners.sums import Summing, Sums


class Gathering:
    """Rows of the running epoch, and rows of earlier ones whose reward is not known yet."""

    def __init__(self, learner: Learner, n_actions: int, long: int) -> None:
        self._learner, self._n_actions, self._long = learner, n_actions, long
        self._history = PastLogs()
        self._sums: Sums | None = None
        self._logs: list[Log] = []
        self._late: list[_Late] = []  # a heap by what is due first
        self._n_late = 0
        self._none: Log  # no rows, in the shape of others

    def add(self, epoch: Epoch, world: World, decisions: Decisions, reward: Floats) -> None:
        """The next rows of the epoch, with what they earn sooner or later."""
        log = Log.of(world.contexts, decisions, reward)
        self._none = log.take(slice(0, 0))
        if world.reward_round is None and self._can_sum(epoch) and isinstance(self._learner, Summing):
            # An epoch of millions of rows would leave the cache, and then the memory.
            self._sums = self._learner.sums(epoch, log, self._sums)
            return
        if world.reward_round is None:
            self._logs.append(log)
        else:
            self._wait(log, world.reward_round)

    def next_epoch(self, epoch: Epoch) -> Epoch:
        """The epoch after this one, by all that is known when it ends."""
        log, sums = self._settled(epoch.stop), self._sums
        self._sums = None
        if sums is not None and isinstance(self._learner, Summing):
            sums = self._learner.sums(epoch, log, sums) if len(log) else sums
            return self._learner.next_from(epoch, sums)
        following = self._learner.next_epoch(epoch, log, history=self._history)
        if self._learner.reads_history:
            self._history = self._history.followed_by(log)
        return following

    def _can_sum(self, epoch: Epoch) -> bool:
        learner = self._learner
        if epoch.n_rounds <= self._long or learner.reads_history:
            return False
        return isinstance(learner, Summing) and learner.can_sum(epoch)

    def _wait(self, log: Log, due: Ints) -> None:
        """Keep rows until they are due."""
        if len(log):
            heappush(self._late, _Late(int(due.min()), self._n_late, log, due))
            self._n_late += 1

    def _settled(self, stop: int) -> Log:
        """The rows whose reward is known before round `stop`, which leave; the others are not looked at."""
        ready = []
        while self._late and self._late[0].first_due < stop:
            ready.append(heappop(self._late))
        for late in sorted(ready, key=lambda one: one.number):
            settled = late.due < stop
            self._logs.append(late.log.where(settled))
            self._wait(late.log.where(~settled), late.due[~settled])
        logs, self._logs = self._logs or [self._none], []
        return Log.concat(logs, self._n_actions)


class _Late(NamedTuple):
    """Rows whose rewards are not known yet, some due earlier than others."""

    first_due: int
    number: int  # the order in which they came, so that no two compare equal
    log: Log
    due: Ints
