"""The state of a running bandit: the epoch in play, the round, and when the next epoch is due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from gyrfalcon.bandit.clock import Ageing
from gyrfalcon.bandit.events import Event, Ledger, RewardRules, Settled, text_of
from gyrfalcon.bandit.snapshot import Events, Snapshot
from gyrfalcon.bandit.validation import check_log
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.protocol import Learner


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
    stuck: bool = False  # the learner failed on these very rows; it is asked again when there are others

    @staticmethod
    def begin(
        learner: Learner, problem: Problem, rules: RewardRules, max_overtime: float, warm_start: Log | None
    ) -> Play:
        """The first epoch of a problem, warmed up by a log if there is one."""
        ledger = Ledger(rules, problem.rewards)
        if warm_start is not None:
            check_log(warm_start, problem)
        return Play(learner, problem, learner.start(problem, warm_start), ledger, max_overtime)

    def restart(self, problem: Problem) -> None:
        """Begin anew with the features that the first context has shown."""
        self.epoch = self.learner.start(problem)
        self.problem = problem

    def open(self, event_id: str, event: Event) -> None:
        """Let the decision of this round wait for its reward."""
        self.ledger.waiting[event_id] = event
        self.round += 1
        self.n_open += event.round < self.epoch.stop

    def credit(self, rewards: Iterable[tuple[object, object]]) -> None:
        """Credit all of these rewards, or none when one is refused."""
        texts = [(text_of(event_id), value) for event_id, value in rewards]
        planned = [(event_id, self.ledger.plan(event_id, value)) for event_id, value in texts]
        for event_id, row in planned:
            if row is not None:
                self.stuck = False
                event = self.ledger.settle(event_id, row)
                if event is not None:
                    self._closed(event)

    def expire(self, now: float, n_new: int = 0) -> None:
        """Close events whose time is up or that must make room for new ones."""
        for event in self.ledger.expire(now, n_new):
            self.stuck = False
            self._closed(event)

    def add(self, log: Log) -> None:
        """Take in decisions made elsewhere, as rounds played."""
        check_log(log, self.problem)
        if len(log):
            self.updates.append(log)
            self.round += len(log)
            self.stuck = False

    def advance_if_due(self) -> None:
        """Refit when the planned rounds are decided and settled, or overtime is up and half as many are.

        A learner that fails leaves everything as it was, and the rows for the next try.
        """
        if self.round < self.epoch.stop or self.stuck or not self._is_due():
            return
        try:
            rows = self._rows()
            following = self.learner.next_epoch(self.epoch, rows)
            late = max(0, self.round - following.start)
            following = replace(following, start=following.start + late, stop=following.stop + late)
        except Exception as error:
            self.stuck = True
            error.add_note(
                f"The learner could not refit after epoch {self.epoch.index}. The rewards are credited, "
                "decisions go on by the epoch in play, and the next reward tries again."
            )
            raise
        self.epoch = following
        self.n_open = 0
        self.ledger.close_settled()
        self.updates = []

    def snapshot(self, seed: int, awaits_features: bool, ageing: Ageing) -> Snapshot:
        """Everything, as a frozen value."""
        ledger, n_actions = self.ledger, self.problem.n_actions
        settled = ledger.settled
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
            latest=ageing.latest,
            offset=ageing.offset,
            waiting=Events.of(ledger.waiting, n_actions),
            settled=Events.of({key: row.event for key, row in settled.items()}, n_actions),
            settled_rewards=np.array([row.reward for row in settled.values()], dtype=np.float64),
            settled_expired=np.array([row.expired for row in settled.values()], dtype=np.bool_),
            closed=dict(ledger.closed),
            updates=list(self.updates),
        )

    @staticmethod
    def restored(snapshot: Snapshot) -> Play:
        """The play that goes on from a snapshot."""
        ledger = Ledger(snapshot.rules, snapshot.problem.rewards)
        ledger.waiting.update(snapshot.waiting.by_id())
        columns = (snapshot.settled_rewards.tolist(), snapshot.settled_expired.tolist())
        for (key, event), *numbers in zip(snapshot.settled.by_id().items(), *columns, strict=True):
            ledger.settled[key] = Settled(event, *numbers)
        ledger.closed.update(snapshot.closed)
        return Play(
            cast(Learner, snapshot.learner),
            snapshot.problem,
            snapshot.epoch,
            ledger,
            snapshot.max_overtime,
            snapshot.round,
            snapshot.n_open,
            snapshot.updates,
        )

    def _is_due(self) -> bool:
        if not self.n_open:
            return True
        overtime = self.round - self.epoch.stop
        n_rows = len(self.ledger.settled) + sum(map(len, self.updates))
        # A fit on a handful of early rewards would be poor, and an epoch of the schedule would be lost on it.
        is_half_in = 2 * n_rows >= self.epoch.n_rounds
        return is_half_in and overtime >= self.max_overtime * self.epoch.n_rounds

    def _rows(self) -> Log:
        settled = self.ledger.settled_log(self.problem.n_actions)
        logs = [*self.updates, settled] if len(settled) else self.updates
        return Log.concat(logs, self.problem.n_actions) if logs else settled

    def _closed(self, event: Event) -> None:
        if event.epoch == self.epoch.index and event.round < self.epoch.stop:
            self.n_open -= 1
