"""The state of a running bandit: the epoch in play, the round, and when the next epoch is due."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import cast

from gyrfalcon.bandit.ledger import Event, Ledger, RewardRules
from gyrfalcon.bandit.snapshot import Events, Snapshot
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.learner import Learner


@dataclass(slots=True)
class Rows:
    """Rows already learned from, kept for learners that read history."""

    kept: list[Log] = field(default_factory=list)

    def logs(self) -> list[Log]:
        """Every log, oldest first."""
        return self.kept


@dataclass(slots=True)
class Play:
    """Mutable, and touched only under the bandit's lock."""

    learner: Learner
    problem: Problem
    epoch: Epoch
    ledger: Ledger
    max_overtime: float
    round: int = 0
    n_open: int = 0  # decisions among the epoch's planned rounds that wait for a reward
    updates: list[Log] = field(default_factory=list)
    history: Rows = field(default_factory=Rows)

    @staticmethod
    def begin(
        learner: Learner, problem: Problem, rules: RewardRules, max_overtime: float, warm_start: Log | None
    ) -> Play:
        """The first epoch of a problem, warmed up by a log if there is one."""
        if warm_start is not None:
            check_log(warm_start, problem)
        epoch = learner.start(problem, warm_start)
        play = Play(learner, problem, epoch, Ledger(rules, problem.rewards), max_overtime)
        if warm_start is not None and learner.reads_history:
            play.history.kept.append(warm_start)
        return play

    def restart(self, problem: Problem) -> None:
        """Begin anew with the features that the first context has shown."""
        self.epoch = self.learner.start(problem)
        self.problem = problem

    def open(self, event_id: str, event: Event) -> None:
        """Let the decision of this round wait for its reward."""
        self.ledger.open(event_id, event)
        self.round += 1
        self.n_open += event.round < self.epoch.stop

    def settle(self, event_id: str, value: object) -> None:
        """Credit a reward."""
        event = self.ledger.settle(event_id, value)
        if event is not None:
            self._closed(event)

    def expire(self, now: float) -> None:
        """Close events whose time is up."""
        expired = self.ledger.expire(now)
        for event in expired:
            self._closed(event)
        if expired:
            self.advance_if_due()

    def add(self, log: Log) -> None:
        """Take in decisions made elsewhere, as rounds played."""
        check_log(log, self.problem)
        self.updates.append(log)
        self.round += len(log)

    def advance_if_due(self) -> None:
        """Refit when the planned rounds are decided and settled, or overtime is up."""
        epoch = self.epoch
        if self.round < epoch.stop:
            return
        overtime = math.ceil(self.max_overtime * epoch.n_rounds)
        if self.n_open and self.round < epoch.stop + overtime:
            return
        log = self.ledger.settled_log(self.problem.n_actions)
        logs = [*self.updates, log] if len(log) else self.updates
        rows = Log.concat(logs, self.problem.n_actions) if logs else log
        following = self.learner.next_epoch(epoch, rows, history=self.history)
        # Nothing was changed so far: a refit that fails leaves the rows for the next try.
        late = max(0, self.round - following.start)
        self.epoch = replace(following, start=following.start + late, stop=following.stop + late)
        self.n_open = 0
        self.ledger.close_settled()
        self.updates = []
        if self.learner.reads_history:
            self.history.kept.append(rows)

    def snapshot(self, seed: int, awaits_features: bool) -> Snapshot:
        """Everything, as a frozen value."""
        ledger, n_actions = self.ledger, self.problem.n_actions
        return Snapshot(
            learner=self.learner,
            problem=self.problem,
            epoch=self.epoch,
            seed=seed,
            awaits_features=awaits_features,
            round=self.round,
            n_open=self.n_open,
            max_overtime=self.max_overtime,
            rules=ledger.rules,
            waiting=Events.of(ledger.waiting, n_actions),
            settled=Events.of({key: event for key, (event, _) in ledger.settled.items()}, n_actions),
            settled_rewards=[reward for _, reward in ledger.settled.values()],
            closed=dict(ledger.closed),
            updates=list(self.updates),
            history=list(self.history.kept),
        )

    @staticmethod
    def restored(snapshot: Snapshot) -> Play:
        """The play that goes on from a snapshot."""
        ledger = Ledger(snapshot.rules, snapshot.problem.rewards)
        ledger.waiting = snapshot.waiting.by_id()
        settled = snapshot.settled.by_id().items()
        ledger.settled = {
            key: (event, reward)
            for (key, event), reward in zip(settled, snapshot.settled_rewards, strict=True)
        }
        ledger.closed = snapshot.closed
        return Play(
            cast(Learner, snapshot.learner),
            snapshot.problem,
            snapshot.epoch,
            ledger,
            snapshot.max_overtime,
            snapshot.round,
            snapshot.n_open,
            snapshot.updates,
            Rows(snapshot.history),
        )

    def _closed(self, event: Event) -> None:
        if event.epoch == self.epoch.index and event.round < self.epoch.stop:
            self.n_open -= 1


def check_log(log: Log, problem: Problem) -> None:
    """Refuse a log of another problem."""
    width, wanted = log.contexts.shared.shape[1], problem.features.width
    if width != wanted:
        raise ValueError(
            f"the log has contexts of {width} encoded features, and the problem has {wanted}; "
            "make it with this bandit's problem.log(...)."
        )
    if len(log) and not 0 <= int(log.action.min()) <= int(log.action.max()) < problem.n_actions:
        raise ValueError(
            f"the log has actions beyond the problem's {problem.n_actions}; make it with problem.log(...)."
        )
