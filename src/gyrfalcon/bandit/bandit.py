"""A bandit in a program: decide, reward, and the epochs turn over by themselves."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from gyrfalcon.bandit.clock import Ageing
from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.engine import Play
from gyrfalcon.bandit.events import Event, Repeated, RewardRules
from gyrfalcon.bandit.snapshot import Snapshot
from gyrfalcon.bandit.validation import check_learner, check_overtime, checked_seed, problem_of
from gyrfalcon.core.epochs import Epoch, decide, decide_one
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import Outside
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.core.sampling import event_uniforms, uniforms_of_events
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner


class Bandit:
    """Decides, remembers what waits for a reward, and refits when an epoch is over.

    The next epoch starts once the planned rounds have been decided and their rewards are settled; or after
    another `max_overtime` times the planned rounds, if half as many rewards as planned rounds have come in.
    Late rewards count in a later fit.
    A call that is refused changes nothing. All methods may be called from any thread.

    Parameters
    ----------
    learner
        How to learn; `EpsilonFalcon(preset="practical")` by default.
    actions
        At least two labels of any hashable kind, given back as given.
    features
        Names, kinds or number of context features (see `Schema.of`). Without them the first context says.
    action_features, reward_range, outside, cost
        See `Problem`.
    seed
        The same seed, event ids and calls give the same decisions. None draws one.
    reward_timeout, default_reward, max_pending, repeated
        See `RewardRules`.
    warm_start
        A log of earlier decisions, made with `Problem.log`.
    clock
        Seconds, for `reward_timeout`; where it is set back, no time has passed.

    Examples
    --------
    >>> bandit = Bandit(actions=["red", "blue"], features=["age"], seed=1)
    >>> decision = bandit.decide({"age": 31})
    >>> decision.propensity
    0.5
    >>> bandit.reward(decision.event_id, 1.0)
    """

    def __init__(
        self,
        learner: Learner | None = None,
        actions: Sequence[Hashable] | None = None,
        features: object = None,
        *,
        problem: Problem | None = None,
        action_features: object = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        outside: Outside = "error",
        cost: bool = False,
        seed: int | None = None,
        reward_timeout: float | None = None,
        default_reward: float | None = None,
        max_pending: int = 100_000,
        repeated: Repeated = "error",
        max_overtime: float = 1.0,
        warm_start: Log | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_overtime(max_overtime)
        chosen: Learner = EpsilonFalcon(preset="practical") if learner is None else learner
        check_learner(chosen)
        self._awaits_features = features is None and problem is None and warm_start is None
        problem = problem_of(
            problem,
            actions,
            features=features,
            action_features=action_features,
            reward_range=reward_range,
            outside=outside,
            cost=cost,
        )
        rules = RewardRules(
            reward_timeout=reward_timeout,
            default_reward=default_reward,
            max_pending=max_pending,
            repeated=repeated,
        )
        self._play = Play.begin(chosen, problem, rules, max_overtime, warm_start)
        self._equip(checked_seed(seed), Ageing(clock))

    def _equip(self, seed: int, ageing: Ageing) -> None:
        self._seed = seed
        self._prefix = f"{seed & 0xFFFFFFFF:08x}-"
        self._ageing = ageing
        self._lock = threading.RLock()

    @property
    def problem(self) -> Problem:
        """What is decided about; its features are fixed by the first context when none were given."""
        return self._play.problem

    @property
    def epoch(self) -> Epoch:
        """The epoch in play, with the report of its fit."""
        return self._play.epoch

    @property
    def n_pending(self) -> int:
        """How many decisions wait for a reward."""
        with self._lock:
            ledger = self._play.ledger
            return len(ledger.waiting) - len(ledger.due(self._ageing.now()))

    def decide(
        self,
        context: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_id: str | None = None,
    ) -> Decision:
        """An action for one context, with its exact propensity.

        `context` is a dict, a sequence or an array of the features; `actions` holds action features,
        `eligible` the labels that may be chosen. Bring your own `event_id` to know it beforehand.
        """
        with self._lock:
            play = self._play
            problem = self._problem_of(context) if self._awaits_features else play.problem
            contexts = problem.context(context, actions, eligible)
            identity = self._id(play.round) if event_id is None else play.ledger.check_new(event_id)
            now = self._begin(problem, 1)
            epoch, round_ = play.epoch, play.round
            uniforms = event_uniforms(self._seed, identity)
            action, propensity, component = decide_one(epoch, round_, contexts, uniforms)
            play.open(identity, Event(contexts, 0, action, propensity, epoch.index, round_, component, now))
            label = problem.actions[action]
            return Decision(label, propensity, identity, round_, epoch.index, component % 2 == PASSIVE)

    def decide_many(
        self,
        contexts: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_ids: Sequence[str] | None = None,
        n: int | None = None,
    ) -> DecisionBatch:
        """Actions for many contexts at once, all by the epoch in play: a frame, a matrix or a list of dicts.

        As long as the epoch lasts, these are the decisions for the same contexts one by one. A problem
        without features says how many by `n`; at most `max_pending` may come at once.
        """
        with self._lock:
            play = self._play
            problem = self._problem_of(contexts) if self._awaits_features else play.problem
            rows = problem.contexts(contexts, actions, eligible, n)
            rounds = np.arange(play.round, play.round + len(rows))
            if event_ids is None:
                ids = [self._id(round_) for round_ in rounds.tolist()]
            else:
                ids = play.ledger.check_all_new(event_ids, len(rows))
            play.ledger.check_room(len(rows))
            now = self._begin(problem, len(rows))
            epoch = play.epoch
            made = decide(epoch, rounds, rows, uniforms_of_events(self._seed, ids))
            columns = (made.action, made.propensity, made.round, made.component)
            for row, (identity, *numbers) in enumerate(zip(ids, *(c.tolist() for c in columns), strict=True)):
                action, propensity, round_, component = numbers
                play.open(identity, Event(rows, row, action, propensity, epoch.index, round_, component, now))
            labels = [problem.actions[action] for action in made.action.tolist()]
            passive = made.component % 2 == PASSIVE
            return DecisionBatch(labels, made.propensity, ids, rounds, epoch.index, passive)

    def reward(self, event_id: str, value: float) -> None:
        """Credit a reward to the decision with this id: in any order, at any time before it expires.

        If the learner then fails to refit, its error is raised with a note; the reward is credited all the
        same.
        """
        self._credit([(event_id, value)])

    def reward_many(self, rewards: Mapping[str, float]) -> None:
        """Credit rewards by event id: all of them, or none when one is refused."""
        if not isinstance(rewards, Mapping):
            raise TypeError(
                f"rewards are a {type(rewards).__name__}; give a mapping of event ids to rewards, such as "
                "dict(zip(batch.event_id, rewards))."
            )
        self._credit(list(rewards.items()))

    def update(self, log: Log) -> None:
        """Learn from decisions that were made elsewhere (see `Problem.log`); they count as rounds played."""
        with self._lock:
            self._play.add(log)
            self._awaits_features = self._awaits_features and len(log) == 0
            self._play.advance_if_due()

    def save(self, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> None:
        """Write everything to one file, atomically; `load` goes on with the same decisions.

        Name dataclasses of your own (a learner, say) in `classes`.
        """
        from gyrfalcon.storage import files

        with self._lock:
            snapshot = self._play.snapshot(self._seed, self._awaits_features, self._ageing)
        files.save(path, snapshot, classes)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        classes: Iterable[type] = (),
        clock: Callable[[], float] = time.time,
        *,
        accept_refits: bool = False,
    ) -> Bandit:
        """The bandit that was saved, in the middle of its epoch.

        Regressors are fitted again, and one that then predicts otherwise than before is refused unless
        `accept_refits` lets the bandit go on with it.
        """
        from gyrfalcon.oracles.regressors.fitted import accepting_refits
        from gyrfalcon.storage import files

        with accepting_refits() if accept_refits else nullcontext():
            snapshot = files.load(path, classes)
        if not isinstance(snapshot, Snapshot):
            raise ValueError(  # noqa: TRY004 - the file is wrong, not the argument's type
                f"{os.fspath(path)} holds a {type(snapshot).__name__}, not a saved Bandit."
            )
        bandit = cls.__new__(cls)
        try:
            bandit._play = Play.restored(snapshot)
        except Exception as error:
            raise ValueError(f"{os.fspath(path)} holds parts that don't fit together: {error}.") from error
        bandit._awaits_features = snapshot.awaits_features
        bandit._equip(snapshot.seed, Ageing(clock, snapshot.latest, snapshot.offset))
        return bandit

    def _credit(self, rewards: list[tuple[str, float]]) -> None:
        with self._lock:
            self._play.expire(self._ageing.now())
            self._play.credit(rewards)
            self._play.advance_if_due()

    def _problem_of(self, example: object) -> Problem:
        """The problem with the features of the first context."""
        return replace(self._play.problem, features=Schema.infer(example))

    def _begin(self, problem: Problem, n: int) -> float:
        """The time of n decisions that nothing can refuse any more.

        Events that are due have made room, and an epoch whose overtime is up has a successor. A learner that
        fails gives a warning only, because decisions must go on.
        """
        if self._awaits_features:
            self._play.restart(problem)
            self._awaits_features = False
        now = self._ageing.tick()
        self._play.expire(now, n)
        try:
            self._play.advance_if_due()
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).rstrip('.')}."
            told = " ".join([reason, *getattr(error, "__notes__", [])])
            warnings.warn(told, RuntimeWarning, stacklevel=3)
        return now

    def _id(self, round_: int) -> str:
        return self._play.ledger.new_id(f"{self._prefix}{round_}")
