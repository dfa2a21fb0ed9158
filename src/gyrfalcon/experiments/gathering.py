"""What a run holds for its learner until an epoch ends: sums where they suffice, else rows, late or not."""

from __future__ import annotations

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
        self._known: list[Ints] = []  # by round, when each row's reward is known
        self._any_late = False

    def add(self, epoch: Epoch, world: World, decisions: Decisions, reward: Floats) -> None:
        """The next rows of the epoch, with what they earn sooner or later."""
        log = Log.of(world.contexts, decisions, reward)
        if world.reward_round is None and self._can_sum(epoch) and isinstance(self._learner, Summing):
            # An epoch of millions of rows would leave the cache, and then the memory.
            self._sums = self._learner.sums(epoch, log, self._sums)
            return
        self._logs.append(log)
        self._known.append(decisions.round if world.reward_round is None else world.reward_round)
        self._any_late = self._any_late or world.reward_round is not None

    def next_epoch(self, epoch: Epoch) -> Epoch:
        """The epoch after this one, by all that is known when it ends."""
        log, sums = self._settled(epoch.stop), self._sums
        self._sums = None
        if sums is not None and isinstance(self._learner, Summing):
            sums = sums if log is None or len(log) == 0 else self._learner.sums(epoch, log, sums)
            return self._learner.next_from(epoch, sums)
        assert log is not None  # every epoch has rounds, and they are either summed or kept
        following = self._learner.next_epoch(epoch, log, history=self._history)
        if self._learner.reads_history:
            self._history = self._history.followed_by(log)
        return following

    def _can_sum(self, epoch: Epoch) -> bool:
        learner = self._learner
        if epoch.n_rounds <= self._long or learner.reads_history:
            return False
        return isinstance(learner, Summing) and learner.can_sum(epoch)

    def _settled(self, stop: int) -> Log | None:
        """The rows whose reward is known before round `stop`; the others stay."""
        if not self._logs:
            return None
        logs, known, self._logs, self._known = self._logs, self._known, [], []
        if not self._any_late:
            return Log.concat(logs, self._n_actions)
        here = [log.take(slice(0, 0)) for log in logs[:1]]
        for log, due in zip(logs, known, strict=True):
            settled = due < stop
            here.append(log.where(settled))
            if not settled.all():
                self._logs.append(log.where(~settled))
                self._known.append(due[~settled])
        return Log.concat([log for log in here if len(log)] or here[:1], self._n_actions)
