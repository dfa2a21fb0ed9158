"""A bandit in a program: decide, reward, and the epochs turn over by themselves."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.ledger import Event, Repeated, RewardRules
from gyrfalcon.bandit.play import Play
from gyrfalcon.bandit.snapshot import Events, Snapshot
from gyrfalcon.core.epochs import Epoch, decide, decide_one
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.core.rewards import Outside
from gyrfalcon.core.sampling import event_uniforms, uniforms_of_events
from gyrfalcon.core.schema import Schema
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.learner import Learner
from gyrfalcon.storage import files

_FILE_CLASSES = (Snapshot, Events, RewardRules)


class Bandit:
    """Decides, remembers what waits for a reward, and refits when an epoch is over.

    The next epoch starts once the planned rounds have been decided and their rewards are settled, or after
    `max_overtime` times the planned rounds with what has come in by then; late rewards count in a later fit.
    All methods may be called from any thread.

    Parameters
    ----------
    learner
        How to learn; Epsilon-FALCON by default.
    actions
        At least two labels of any hashable kind, given back as given.
    features
        Names, kinds or number of context features (see `Schema.of`). Without them the first context says.
    action_features, reward_range, outside, cost
        See `Problem`.
    seed
        The same seed, event ids and calls give the same decisions. None draws one.
    time_to_live, default_reward, max_pending, repeated
        See `RewardRules`.
    warm_start
        A log of earlier decisions, made with `Problem.log`.

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
        time_to_live: float | None = None,
        default_reward: float | None = None,
        max_pending: int = 100_000,
        repeated: Repeated = "error",
        max_overtime: float = 1.0,
        warm_start: Log | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not max_overtime >= 0.0:
            raise ValueError(f"max_overtime is {max_overtime}; give a number of at least 0.")
        if problem is None and actions is not None:
            problem = Problem(actions, features, action_features, reward_range, outside, cost)
        elif problem is None or actions is not None:
            raise ValueError("give either actions or a problem, and not both.")
        rules = RewardRules(
            time_to_live=time_to_live,
            default_reward=default_reward,
            max_pending=max_pending,
            repeated=repeated,
        )
        chosen: Learner = EpsilonFalcon() if learner is None else learner
        self._awaits_features = features is None and actions is not None and warm_start is None
        self._play = Play.begin(chosen, problem, rules, max_overtime, warm_start)
        self._equip(secrets.randbits(62) if seed is None else int(seed), clock)

    def _equip(self, seed: int, clock: Callable[[], float]) -> None:
        self._seed = seed
        self._prefix = f"{seed & 0xFFFFFFFF:08x}-"
        self._clock = clock
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
        return len(self._play.ledger.waiting)

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
            if self._awaits_features:
                self._learn_features(context, many=False)
            contexts = play.problem.context(context, actions, eligible)
            epoch, round_ = play.epoch, play.round
            identity = f"{self._prefix}{round_}" if event_id is None else event_id
            play.ledger.check_new(identity)
            uniforms = event_uniforms(self._seed, identity)
            action, propensity, component = decide_one(epoch, round_, contexts, uniforms)
            now = self._clock()
            play.open(identity, Event(contexts, 0, action, propensity, epoch.index, round_, component, now))
            play.expire(now)
            label = play.problem.actions[action]
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

        A problem without features says how many by `n`.
        """
        with self._lock:
            play = self._play
            if self._awaits_features:
                self._learn_features(contexts, many=True)
            rows = play.problem.contexts(contexts, actions, eligible, n)
            epoch = play.epoch
            rounds = np.arange(play.round, play.round + len(rows))
            ids = [f"{self._prefix}{r}" for r in rounds.tolist()] if event_ids is None else list(event_ids)
            self._check_ids(ids, len(rows))
            made = decide(epoch, rounds, rows, uniforms_of_events(self._seed, ids))
            now = self._clock()
            columns = (made.action, made.propensity, made.round, made.component)
            for row, (identity, *numbers) in enumerate(zip(ids, *(c.tolist() for c in columns), strict=True)):
                action, propensity, round_, component = numbers
                play.open(identity, Event(rows, row, action, propensity, epoch.index, round_, component, now))
            play.expire(now)
            labels = [play.problem.actions[action] for action in made.action.tolist()]
            return DecisionBatch(
                labels, made.propensity, ids, rounds, epoch.index, made.component % 2 == PASSIVE
            )

    def reward(self, event_id: str, value: float) -> None:
        """Credit a reward to the decision with this id: in any order, at any time before it expires."""
        self.reward_many({event_id: value})

    def reward_many(self, rewards: Mapping[str, float]) -> None:
        """Credit rewards by event id: all of them, or none when one is refused."""
        with self._lock:
            self._play.expire(self._clock())
            for event_id, value in rewards.items():
                self._play.ledger.plan(event_id, value)
            for event_id, value in rewards.items():
                self._play.settle(event_id, value)
            self._play.advance_if_due()

    def update(self, log: Log) -> None:
        """Learn from decisions that were made elsewhere (see `Problem.log`); they count as rounds played."""
        with self._lock:
            self._play.add(log)
            self._awaits_features = False
            self._play.advance_if_due()

    def save(self, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> None:
        """Write everything to one file, atomically; `load` goes on with the same decisions.

        Name dataclasses of your own (a learner, say) in `classes`.
        """
        with self._lock:
            snapshot = self._play.snapshot(self._seed, self._awaits_features)
        files.save(path, snapshot, (*_FILE_CLASSES, *classes))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        classes: Iterable[type] = (),
        clock: Callable[[], float] = time.time,
    ) -> Bandit:
        """The bandit that was saved, in the middle of its epoch."""
        snapshot = files.load(path, (*_FILE_CLASSES, *classes))
        if not isinstance(snapshot, Snapshot):
            raise ValueError(  # noqa: TRY004 - the file is wrong, not the argument's type
                f"{os.fspath(path)} holds a {type(snapshot).__name__}, not a saved Bandit."
            )
        bandit = cls.__new__(cls)
        bandit._play = Play.restored(snapshot)
        bandit._awaits_features = snapshot.awaits_features
        bandit._equip(snapshot.seed, clock)
        return bandit

    def _learn_features(self, context: object, *, many: bool) -> None:
        """Let the first context say what features there are; a refused one says nothing."""
        schema = Schema.infer(context) if context is not None else Schema.of(None)
        problem = replace(self._play.problem, features=schema)
        # Convert before committing to the schema, so that a bad first context changes nothing.
        problem.contexts(context, n=1) if many else problem.context(context)
        self._play.restart(problem)
        self._awaits_features = False

    def _check_ids(self, ids: list[str], n: int) -> None:
        if len(ids) != n:
            raise ValueError(f"there are {len(ids)} event ids for {n} contexts; give one each.")
        if len(set(ids)) != n:
            twice = next(one for number, one in enumerate(ids) if one in ids[:number])
            raise ValueError(f"event id {twice!r} is there twice; give each decision an id of its own.")
        for one in ids:
            self._play.ledger.check_new(one)
