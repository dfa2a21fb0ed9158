"""What an operator does with a running bandit: change its actions and rules, save it and load it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Self

from gyrfalcon.bandit.action_sets import listed_labels, with_actions, without_actions
from gyrfalcon.bandit.decision_log import DecisionLog, LogTarget
from gyrfalcon.bandit.identity import EventId
from gyrfalcon.bandit.inspection import Inspection
from gyrfalcon.bandit.live import LiveEngine
from gyrfalcon.bandit.outcomes import withdraw
from gyrfalcon.bandit.rule_changes import change_rules
from gyrfalcon.bandit.saving import load_engine
from gyrfalcon.bandit.snapshot import Snapshot
from gyrfalcon.bandit.validation import aligned_log, check_learner
from gyrfalcon.core.records import Log
from gyrfalcon.learners.protocol import Learner


class Management(Inspection):
    """Part of a bandit that changes its settings and stores it."""

    def withdraw(self, event_id: EventId, *, shown: Hashable | None = None) -> None:
        """End an event whose decision had no effect: it takes no reward, and no fit or evaluation uses it.

        Parameters
        ----------
        event_id
            Id of the decision.
        shown
            Label of the action that was shown instead; None if none was.
        """
        with self._live.lock:
            withdraw(self._live.completed(), event_id, shown)
            self._live.advance_or_warn()

    def update(self, log: Log) -> None:
        """Learn from decisions that were made elsewhere, which count as rounds played.

        Parameters
        ----------
        log
            Log made with this bandit's `problem.log`.
        """
        with self._live.lock:
            engine = self._live.completed()
            engine.add(aligned_log(log, engine.problem))
            self._live.advance()

    def add_actions(self, labels: Iterable[Hashable]) -> None:
        """Add actions, which are tried soon; what is known of the others stays as it is.

        Parameters
        ----------
        labels
            New labels. A label that was retired before can't come back: its rewards were of another time.
        """
        with self._live.lock:
            engine = self._live.completed()
            if new := listed_labels(labels):
                engine.change_problem(with_actions(engine, new))

    def retire_actions(self, labels: Iterable[Hashable]) -> None:
        """Retire actions: they are chosen no more, and rewards that still come for them are not fitted.

        Parameters
        ----------
        labels
            Labels of actions; at least two others must remain.
        """
        with self._live.lock:
            engine = self._live.completed()
            if gone := listed_labels(labels):
                engine.change_problem(without_actions(engine, gone))

    def change_rules(self, **rules: Any) -> None:
        """Change rules for rewards and contexts from now on; open events follow them too.

        The reward range can't change: rows that are summed already are in its units. What becomes of rewards
        outside it can, because that leaves the units as they are: rewards that were credited keep what they
        counted for, and those that no fit has used yet are moved into the range if that is the new rule.

        Parameters
        ----------
        **rules
            `reward_timeout`, `default_reward`, `max_pending`, `on_duplicate`, `out_of_range` or
            `unknown_features`, as for `Bandit`.
        """
        with self._live.lock:
            change_rules(self._live.completed(), rules)

    def change_learner(self, learner: Learner) -> None:
        """Let another learner take over, in a new epoch; open events keep their propensities.

        Where only settings of exploration differ, such as `bonus` or `epsilon`, the learner goes on from the
        fits so far. Otherwise it starts anew, from the rows that no fit has used yet: all others are summed
        in the terms of the learner before it. Decisions wait while it is fitted.

        Parameters
        ----------
        learner
            The learner, such as `AdaptiveFalcon(bonus=1.0)`.
        """
        check_learner(learner)
        with self._live.lock:
            self._live.completed().change_learner(learner)

    def save(self, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> None:
        """Write the state to one file, atomically; `load` goes on with the same decisions.

        Parameters
        ----------
        path
            The file, which is replaced if it is there.
        classes
            Dataclasses of your own that the state holds, such as a learner.

        Raises
        ------
        OSError, TypeError
            If the file cannot be written, or the state holds a value of an unknown class.
        """
        from gyrfalcon.engine.fingerprint import fingerprint
        from gyrfalcon.storage import files

        with self._live.lock:
            snapshot = Snapshot.of(self._live.completed(), self._live.refit)
        files.save(path, snapshot, classes, about=fingerprint().to_dict())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        classes: Iterable[type] = (),
        clock: Callable[[], float] = time.time,
        *,
        accept_refits: bool = False,
        log: LogTarget | None = None,
    ) -> Self:
        """Read a saved bandit, which goes on in the middle of its epoch.

        Parameters
        ----------
        path
            A file that `save` has written.
        classes
            Dataclasses of your own that the state holds, as for `save`.
        clock
            Function that returns seconds, for `reward_timeout`.
        accept_refits
            Whether a regressor may predict otherwise than before when it is fitted again.
        log
            Folder, `LogFolder` or function for the decision log, as for `Bandit`.

        Raises
        ------
        OSError, ValueError
            If the file cannot be read, is damaged, or holds something else than a bandit.
        """
        bandit = cls.__new__(cls)
        bandit._live = LiveEngine(*load_engine(path, classes, clock, accept_refits=accept_refits))
        bandit._log_to(log)
        return bandit

    def _log_to(self, target: LogTarget | None) -> None:
        if target is not None:
            engine = self._live.engine
            sink = DecisionLog(target, engine.problem, engine.seed)
            engine.sink, engine.ledger.outbox, engine.decision_rules = sink, deque(), sink.rules
            sink.rules.latest_hash(engine.epoch, engine.problem)  # before a decision waits for its file
