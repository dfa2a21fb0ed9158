"""What an operator does with a running bandit: change its actions and rules, save it and load it."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from gyrfalcon.bandit.decision_log import DecisionLog, LogTarget
from gyrfalcon.bandit.decision_rules import DecisionRules
from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.identity import EventId
from gyrfalcon.bandit.inspection import Inspection
from gyrfalcon.bandit.journal import Rewarded, RulesChanged
from gyrfalcon.bandit.live import LiveEngine
from gyrfalcon.bandit.outcomes import withdraw
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.snapshot import Snapshot, load_engine
from gyrfalcon.bandit.validation import aligned_log, check_learner
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.protocol import Learner

_RULES_OF_REWARDS = tuple(RewardRules.__slots__)
_RULES_OF_THE_PROBLEM = ("out_of_range", "unknown_features")


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
            if new := _listed_labels(labels):
                engine.change_problem(_with_actions(engine, new))

    def retire_actions(self, labels: Iterable[Hashable]) -> None:
        """Retire actions: they are chosen no more, and rewards that still come for them are not fitted.

        Parameters
        ----------
        labels
            Labels of actions; at least two others must remain.
        """
        with self._live.lock:
            engine = self._live.completed()
            if gone := _listed_labels(labels):
                engine.change_problem(_without_actions(engine, gone))

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
            _change_rules(self._live.completed(), rules)

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
            make = Snapshot.begun(self._live.completed(), self._live.refit)
        snapshot = make()
        own = tuple(classes)
        hashes = DecisionRules(None, own)
        model, state = hashes.hash_of(snapshot.epoch, snapshot.problem), hashes.state_hash(snapshot.epoch)
        about = {**fingerprint().to_dict(), "model": model, "learner_state": state}
        files.save(path, snapshot, own, about=about)

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


def _listed_labels(labels: Iterable[Hashable]) -> list[Hashable]:
    """Labels of actions as a list; text is refused, whose letters would be taken for labels."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise TypeError(f"labels are {short_repr(labels)}; give a list of them.")
    return list(labels)


def _with_actions(engine: BanditEngine, labels: list[Hashable]) -> Problem:
    """The problem with further actions."""
    known, retired = set(engine.problem.actions), engine.ledger.retired
    for label in labels:
        if label in known:
            raise ValueError(f"action {label!r} is there already; give new labels.")
        if label in retired:
            raise ValueError(
                f"action {label!r} was retired before, and labels are not used again; give another."
            )
    return replace(engine.problem, actions=(*engine.problem.actions, *labels))


def _without_actions(engine: BanditEngine, labels: list[Hashable]) -> Problem:
    """The problem without these actions."""
    actions = engine.problem.actions
    unknown = [label for label in labels if label not in actions]
    if unknown:
        raise ValueError(f"{enumeration(unknown)} is not an action; actions are {enumeration(actions)}.")
    remaining = tuple(label for label in actions if label not in set(labels))
    if len(remaining) < 2:
        raise ValueError(
            f"only {enumeration(remaining)} would remain; at least two actions must, so add some first."
        )
    return replace(engine.problem, actions=remaining)


def _change_rules(engine: BanditEngine, rules: Mapping[str, Any]) -> None:
    """Let an engine go on with other rules, by which other rows may be ready."""
    changed, problem = _changed_rules(engine, rules)
    if changed != engine.rules:
        now, engine.job, engine.failed = engine.clock.now(), None, False
        if changed.reward_timeout is None:  # rewards that wait for their time to be up are final
            waiting = list(engine.ledger.provisional())
            engine.record_all(Rewarded(event_id, now, reward, True) for event_id, reward in waiting)
        engine.record(RulesChanged(now, changed))
    if problem is not None:
        engine.change_problem(problem)


def _changed_rules(engine: BanditEngine, rules: Mapping[str, Any]) -> tuple[RewardRules, Problem | None]:
    """The rules for rewards after these changes, and the problem if one of its rules changes."""
    unknown = [name for name in rules if name not in (*_RULES_OF_REWARDS, *_RULES_OF_THE_PROBLEM)]
    if unknown:
        names = enumeration([*_RULES_OF_REWARDS, *_RULES_OF_THE_PROBLEM])
        raise TypeError(f"{enumeration(unknown)} is no rule that can change; rules are {names}.")
    before = engine.problem
    problem = Problem(
        before.actions,
        before.features,
        before.action_features,
        before.reward_range,
        rules.get("out_of_range", before.out_of_range),
        before.cost,
        rules.get("unknown_features"),
    )
    changed = replace(engine.rules, **{name: rules[name] for name in rules if name in _RULES_OF_REWARDS})
    changed.check_default(problem.rewards)
    return changed, None if _problem_rules(before) == _problem_rules(problem) else problem


def _problem_rules(problem: Problem) -> tuple[str, str, str]:
    lenience = (problem.features.unknown_features, problem.action_features.unknown_features)
    return problem.out_of_range, *lenience
