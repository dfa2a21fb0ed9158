"""Small environments for contract tests, and play in them with rewards on time or late."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.environments.protocol import BLOCK, Environment, PotentialOutcomes, block_generator, blocks
from gyrfalcon.learners.protocol import Learner


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Rewards linear in features that are uniform on origin -+ scale; what may be chosen can vary by row."""

    n_actions: int = 3
    n_features: int = 2
    n_action_features: int = 0
    masked: bool = False
    last_action_from: int = 0
    constant: bool = False
    origin: float = 0.0
    scale: float = 1.0
    noise: float = 0.1

    @cached_property
    def problem(self) -> Problem:
        names = [f"action {index}" for index in range(self.n_actions)]
        return Problem(names, self.n_features, self.n_action_features, out_of_range="accept")

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        parts = [part_of(drawn_block(self, seed, block), rows) for block, rows in blocks(start, stop)]
        contexts = Contexts.concat([part.contexts for part in parts], self.n_actions)
        means = np.concatenate([part.means for part in parts])
        return PotentialOutcomes(contexts, means, np.concatenate([part.rewards for part in parts]))

    def block(self, seed: int, block: int) -> PotentialOutcomes:
        """All rows of one block."""
        rng = block_generator(seed, block)
        k, p, q = self.n_actions, self.n_features, self.n_action_features
        x = rng.uniform(-1.0, 1.0, (BLOCK, p))
        v = rng.uniform(-1.0, 1.0, (BLOCK, k, q))
        noise = rng.standard_normal((BLOCK, k))
        truth = np.random.default_rng(7)
        means = np.linspace(0.3, 0.7, k) + x @ truth.uniform(-0.3, 0.3, (p, k)) + v @ np.full(q, 0.2)
        rewards = means + self.noise * noise
        if self.constant:
            means = rewards = np.full((BLOCK, k), 0.5)
        mask = self._mask(rng, np.arange(block * BLOCK, (block + 1) * BLOCK))
        return PotentialOutcomes(
            Contexts(self.origin + self.scale * x, v if q else None, mask), means, rewards
        )

    def _mask(self, rng: np.random.Generator, rounds: Ints) -> Bools | None:
        """Half of the actions at random and one for certain; or all but the last, which comes later."""
        k = self.n_actions
        mask = np.ones((len(rounds), k), dtype=np.bool_)
        if self.masked:
            mask = rng.random(mask.shape) < 0.5
            mask[np.arange(len(mask)), rng.integers(0, k, len(mask))] = True
        if self.last_action_from:
            mask[:, -1] = rounds >= self.last_action_from
        return mask if self.masked or self.last_action_from else None


@lru_cache(maxsize=16)
def drawn_block(environment: Lines, seed: int, block: int) -> PotentialOutcomes:
    return environment.block(seed, block)


def part_of(outcomes: PotentialOutcomes, rows: slice) -> PotentialOutcomes:
    return PotentialOutcomes(outcomes.contexts.take(rows), outcomes.means[rows], outcomes.rewards[rows])


@dataclass
class Play:
    """A run step by step: decisions, rewards that may come late, and what waits."""

    learner: Learner
    environment: Lines
    epoch: Epoch
    seed: int = 0
    decisions: list[Decisions] = field(default_factory=list)
    waiting: list[tuple[int, Log]] = field(default_factory=list)

    def decide(self) -> Log:
        """The rows of the epoch's planned rounds."""
        epoch = self.epoch
        drawn = self.environment.draw(epoch.start, epoch.stop, self.seed)
        uniforms = np.random.default_rng([self.seed, 2, epoch.index]).random((epoch.n_rounds, 3))
        decisions = decide(epoch, np.arange(epoch.start, epoch.stop), drawn.contexts, uniforms)
        self.decisions.append(decisions)
        return Log.of(drawn.contexts, decisions, drawn.rewards[np.arange(epoch.n_rounds), decisions.action])

    def learn(self, log: Log) -> None:
        """Go on to the next epoch."""
        self.epoch = self.learner.next_epoch(self.epoch, log)

    def until(self, last_round: int) -> Play:
        """Whole epochs with rewards on time."""
        while self.epoch.start < last_round:
            self.learn(self.decide())
        return self

    def late_until(self, last_round: int) -> Play:
        """The same, but each reward comes 0 to 2 epochs late, and rows are settled in no order."""
        rng = np.random.default_rng([self.seed, 3])
        while self.epoch.start < last_round:
            log = self.decide()
            delay = rng.integers(0, 3, len(log))
            self.waiting += [(self.epoch.index + late, log.where(delay == late)) for late in range(3)]
            due = [rows for when, rows in self.waiting if when <= self.epoch.index]
            self.waiting = [(when, rows) for when, rows in self.waiting if when > self.epoch.index]
            settled = Log.concat(due, self.environment.problem.n_actions)
            self.learn(in_order(settled, rng.permutation(len(settled))))
        return self


def started(learner: Learner, environment: Lines, seed: int = 0) -> Play:
    """A run before its first decision."""
    return Play(learner, environment, learner.start(environment.problem), seed)


def epochs_of(learner: Learner, environment: Environment, n_rounds: int, seed: int = 0) -> list[Epoch]:
    """Every epoch of a run, until one stops at the last round or after it."""
    play = Play(learner, cast("Lines", environment), learner.start(environment.problem), seed)
    epochs = [play.epoch]
    while play.epoch.stop < n_rounds:
        play.learn(play.decide())
        epochs.append(play.epoch)
    return epochs


def uniform_log(environment: Lines, n: int, seed: int = 0) -> Log:
    """n rows of uniform play; the first tenth of them count as passive."""
    drawn = environment.draw(0, n, seed)
    eligible = drawn.contexts.eligible
    mask = np.ones((n, environment.n_actions), dtype=np.bool_) if eligible is None else eligible
    action = np.argmax(np.random.default_rng([seed, 4]).random(mask.shape) * mask, axis=1)
    return Log(
        drawn.contexts,
        action,
        drawn.rewards[np.arange(n), action],
        1.0 / mask.sum(axis=1),
        np.zeros(n, dtype=np.int64),
        np.arange(n),
        (np.arange(n) < n // 10).astype(np.int64),
    )


def in_order(log: Log, order: Ints) -> Log:
    """The same rows in another order."""
    return Log(
        log.contexts.take(order),
        log.action[order],
        log.reward[order],
        log.propensity[order],
        log.epoch[order],
        log.round[order],
        log.component[order],
    )


def renumbered(log: Log, before: Problem, after: Problem) -> Log:
    """The rows whose actions are still there, numbered as in the new problem: `adapt`'s caller owes this."""
    position = np.array([after.actions.index(a) if a in after.actions else -1 for a in before.actions])
    contexts = log.contexts
    source = [before.actions.index(a) if a in before.actions else -1 for a in after.actions]
    kept = np.array(source) >= 0
    eligible = np.ones((len(log), before.n_actions), dtype=np.bool_)
    eligible = (eligible if contexts.eligible is None else contexts.eligible)[:, source] & kept
    actions = None if contexts.actions is None else contexts.actions[:, source] * kept[:, np.newaxis]
    moved = replace(log, contexts=Contexts(contexts.shared, actions, eligible), action=position[log.action])
    return moved.where(moved.action >= 0)
