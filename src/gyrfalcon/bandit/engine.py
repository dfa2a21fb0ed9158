"""The running state of a bandit: the epoch in play, the round, and the turnover of epochs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.events import Event, EventStore, MemoryEventStore, free_id, new_id, new_ids, text_of
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.snapshot import Snapshot
from gyrfalcon.bandit.validation import check_log, check_room
from gyrfalcon.core.epochs import Epoch, decide, decide_one
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.core.sampling import event_uniforms, uniforms_of_events
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.engine.turnover import Patience, turn_over
from gyrfalcon.learners.protocol import Learner

MIN_SETTLED = 0.5
"""Settled rows that a fit after overtime needs, as a share of the epoch's planned rounds."""


@dataclass(slots=True)
class BanditEngine:
    """Learner, epoch in play and events of one bandit; mutable, and used under the bandit's lock only."""

    learner: Learner
    events: EventStore
    rules: RewardRules
    patience: Patience
    clock: MonotonicClock
    epoch: Epoch
    seed: int
    awaits_features: bool = False  # until the first context has shown them
    round: int = 0
    n_open: int = 0  # decisions among the epoch's planned rounds that wait for a reward
    failed: bool = (
        False  # the learner failed on the rows as they are; it is called again when there are others
    )

    @staticmethod
    def begin(
        learner: Learner,
        problem: Problem,
        rules: RewardRules,
        max_overtime: float,
        clock: Callable[[], float],
        *,
        seed: int,
        initial_log: Log | None,
        awaits_features: bool,
    ) -> BanditEngine:
        """The engine in the first epoch of a problem, fitted on an initial log if there is one."""
        check_at_least("max_overtime", max_overtime, 0.0)
        rules.check_default(problem.rewards)
        if initial_log is not None:
            check_log(initial_log, problem)
        events = MemoryEventStore(problem, rules.max_pending)
        epoch = learner.start(problem, initial_log)
        patience, own_clock = Patience(max_overtime, MIN_SETTLED), MonotonicClock(clock)
        return BanditEngine(learner, events, rules, patience, own_clock, epoch, seed, awaits_features)

    @property
    def n_pending(self) -> int:
        """Number of decisions that wait for a reward, without those whose time is up."""
        timeout, most = self.rules.reward_timeout, self.rules.max_pending
        return self.events.n_pending - len(self.events.overdue(self.clock.now(), timeout, most))

    def decide(self, context: object, actions: object, eligible: object, event_id: object | None) -> Decision:
        """Choose an action for one context; the decision then waits for its reward."""
        problem = self._problem_for(context)
        contexts = problem.context(context, actions, eligible)
        identity = self._free_id(self.round) if event_id is None else new_id(self.events, event_id)
        now = self._prepare(problem, 1)
        epoch, round_ = self.epoch, self.round
        uniforms = event_uniforms(self.seed, identity)
        action, propensity, component = decide_one(epoch, round_, contexts, uniforms)
        self._open(identity, Event(contexts, 0, action, propensity, epoch.index, round_, component, now))
        label = problem.actions[action]
        return Decision(label, propensity, identity, round_, epoch.index, component % 2 == PASSIVE)

    def decide_many(
        self,
        contexts: object,
        actions: object,
        eligible: object,
        event_ids: Iterable[object] | None,
        n: int | None,
    ) -> DecisionBatch:
        """Choose actions for many contexts by one epoch; the decisions then wait for their rewards."""
        problem = self._problem_for(contexts)
        rows = problem.contexts(contexts, actions, eligible, n)
        rounds = np.arange(self.round, self.round + len(rows))
        if event_ids is None:
            ids = [self._free_id(round_) for round_ in rounds.tolist()]
        else:
            ids = new_ids(self.events, event_ids, len(rows))
        check_room(len(rows), self.rules.max_pending)
        now = self._prepare(problem, len(rows))
        epoch = self.epoch
        made = decide(epoch, rounds, rows, uniforms_of_events(self.seed, ids))
        columns = (made.action, made.propensity, made.round, made.component)
        for row, (identity, *numbers) in enumerate(zip(ids, *(c.tolist() for c in columns), strict=True)):
            action, propensity, round_, component = numbers
            event = Event(rows, row, action, propensity, epoch.index, round_, component, now)
            self._open(identity, event)
        labels = [problem.actions[action] for action in made.action.tolist()]
        passive = made.component % 2 == PASSIVE
        return DecisionBatch(labels, made.propensity, ids, rounds, epoch.index, passive)

    def credit(self, rewards: Iterable[tuple[object, object]]) -> None:
        """Credit all of these rewards, or none when one is refused, and turn the epoch over if it is due."""
        if self.rules.reward_timeout is not None:
            self.expire(self.clock.now())
        settled = []
        for event_id, value in rewards:
            text = text_of(event_id)
            known = self.events.find(text)
            settled.append((text, self.rules.credited(text, known, value, self.events.problem.rewards)))
        for text, row in settled:
            if row is not None:
                self.failed = False
                self.n_open -= self.events.settle(text, row) and self._is_planned(row.event)
        self.advance_if_due()

    def expire(self, now: float, n_new: int = 0) -> None:
        """Close events whose time is up, or that must make room for new ones."""
        ids = self.events.overdue(now, self.rules.reward_timeout, self.rules.max_pending - n_new)
        if ids:
            self.failed = False
            expired = self.events.expire(ids, self.rules.default_reward)
            self.n_open -= sum(map(self._is_planned, expired))

    def add(self, log: Log) -> None:
        """Take in decisions made elsewhere as rounds played, and turn the epoch over if it is due."""
        check_log(log, self.events.problem)
        if len(log):
            self.events.add_log(log)
            self.round += len(log)
            self.failed = False
            self.awaits_features = False
        self.advance_if_due()

    def advance_if_due(self) -> None:
        """Turn the epoch over when its planned rounds are decided and settled, or overtime is up.

        A learner that fails leaves everything as it was, and the rows for the next attempt.
        """
        if self.failed or not self.patience.is_over(
            self.epoch, self.round, self.n_open, self.events.n_settled
        ):
            return
        try:
            self.epoch = turn_over(self.learner, self.epoch, self.events.rows(), self.round)
        except Exception as error:
            self.failed = True
            error.add_note(
                "The rewards are credited, decisions go on by the epoch in play, "
                "and the next reward tries again."
            )
            raise
        self.events.mark_learned()
        self.n_open = 0

    def snapshot(self) -> Snapshot:
        """All of the state, as a frozen value that a file can hold."""
        return Snapshot.of(
            self.events.contents(),
            learner=self.learner,
            problem=self.events.problem,
            epoch=self.epoch,
            seed=self.seed,
            awaits_features=self.awaits_features,
            round=self.round,
            n_open=self.n_open,
            max_overtime=self.patience.max_overtime,
            rules=self.rules,
            clock_latest=self.clock.latest,
            clock_offset=self.clock.offset,
        )

    @staticmethod
    def restored(snapshot: Snapshot, clock: MonotonicClock) -> BanditEngine:
        """The engine that goes on from a snapshot."""
        problem, rules = snapshot.problem, snapshot.rules
        rules.check_default(problem.rewards)
        return BanditEngine(
            cast(Learner, snapshot.learner),
            MemoryEventStore(problem, rules.max_pending, snapshot.contents()),
            rules,
            Patience(snapshot.max_overtime, MIN_SETTLED),
            clock,
            snapshot.epoch,
            snapshot.seed,
            snapshot.awaits_features,
            snapshot.round,
            snapshot.n_open,
        )

    def _problem_for(self, example: object) -> Problem:
        """The problem, with the features of the first context if none were declared."""
        problem = self.events.problem
        return replace(problem, features=Schema.infer(example)) if self.awaits_features else problem

    def _free_id(self, round_: int) -> str:
        return free_id(self.events, f"{self.seed & 0xFFFFFFFF:08x}-{round_}")

    def _prepare(self, problem: Problem, n: int) -> float:
        """The time of n decisions that nothing can refuse any more.

        Events that are due have made room, and an epoch whose overtime is up has a successor. A learner that
        fails gives a warning only, because decisions must go on.
        """
        if self.awaits_features:
            self.epoch = self.learner.start(problem)
            self.events.problem = problem
            self.awaits_features = False
        now = self.clock.tick()
        self.expire(now, n)
        try:
            self.advance_if_due()
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).rstrip('.')}."
            message = " ".join([reason, *getattr(error, "__notes__", [])])
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        return now

    def _open(self, event_id: str, event: Event) -> None:
        self.events.insert(event_id, event)
        self.round += 1
        self.n_open += event.round < self.epoch.stop

    def _is_planned(self, event: Event) -> bool:
        return event.epoch == self.epoch.index and event.round < self.epoch.stop
