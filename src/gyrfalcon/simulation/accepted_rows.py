"""Rows of a log that a learner takes for its own rounds, each with probability c pi / p.

A learner in a round would take the logged action with probability pi, and the log took it with probability
p. If rows count as rounds with probability c pi / p, at most 1, those that count are distributed as in live
play.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, action_probabilities
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.core.validation import is_own
from gyrfalcon.engine.own_policies import checked_epoch
from gyrfalcon.engine.turnover import played_epochs
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.engine import CHUNK, RowBuffer
from gyrfalcon.simulation.logged import stretches, uniforms_of_rows

_MOST_ROWS = 10_000
"""Earlier rows that c is taken from, at most."""


@dataclass(frozen=True, slots=True)
class Visited:
    """Rows that a learner has gone through under one policy."""

    rows: Ints
    """(n,) positions in the log."""
    target: Floats
    """(n, K): the learner's probabilities."""
    level: float
    """c."""
    accepted: Ints
    """Places in `rows` of those that count as rounds."""


def visited_rows(
    learner: Learner, environment: LoggedReplay, quantile: float | None, n_rounds: int | None, seed: int
) -> Iterator[Visited]:
    """The rows of a log in the order of a seed, until `n_rounds` of them count or the log ends.

    In each epoch c is this quantile of p / pi over earlier rows, with the epoch's own pi, or for None always
    the smallest p, which it is at least.
    """
    most = environment.n_rows if n_rounds is None else n_rounds
    rows, problem = _Rows(environment, seed, learner), environment.problem
    buffer = RowBuffer(learner, problem.n_actions, long=np.inf)
    for epoch in played_epochs(learner.start(problem), most, buffer.next_epoch):
        level = rows.level(epoch, quantile)
        for first, last in stretches(epoch, min(epoch.stop, most)):
            round_ = first
            while round_ < last and rows.left:
                visited, log = rows.next(epoch, round_, last, level)
                round_ += len(log)
                if len(log):
                    buffer.add(epoch, log)
                yield visited
        if not rows.left:
            return


class _Rows:
    """The rows of a log in the order of a seed, gone through once."""

    def __init__(self, environment: LoggedReplay, seed: int, learner: Learner) -> None:
        self._environment, self._seed = environment, seed
        self._order, self._next = environment.rows(seed), 0
        self._own = learner if is_own(learner) else None

    @property
    def left(self) -> int:
        """Number of rows that are left."""
        return len(self._order) - self._next

    def level(self, epoch: Epoch, quantile: float | None) -> float:
        """The acceptance level c of an epoch's rows."""
        log, first = self._environment.log, max(0, self._next - _MOST_ROWS)
        least, earlier = float(log.propensity.min()), self._order[first : self._next]
        if quantile is None or not len(earlier):
            return least
        contexts, rounds = log.contexts.take(earlier), np.full(len(earlier), epoch.start)
        target = action_probabilities(epoch, rounds, contexts)
        ratios = _ratios(log.propensity[earlier], target[np.arange(len(earlier)), log.action[earlier]])
        return float(min(1.0, max(least, np.quantile(ratios, quantile, method="lower"))))

    def next(self, epoch: Epoch, round_: int, stop: int, level: float) -> tuple[Visited, Log]:
        """Rows until as many count as there are rounds from `round_` to `stop`, and the log of those."""
        log, needed = self._environment.log, stop - round_
        n = min(self.left, CHUNK, int(2.0 * needed / level) + 16)
        rows = self._order[self._next : self._next + n]
        contexts, action, uniforms = (
            log.contexts.take(rows),
            log.action[rows],
            uniforms_of_rows(self._seed, self._next, self._next + n),
        )
        deciding, rounds = epoch, np.full(n, round_)
        if self._own is not None and round_ == epoch.start:
            deciding = checked_epoch(epoch, rounds, self._environment.problem.actions, self._own)
        target = action_probabilities(deciding, rounds, contexts)
        taken = target[np.arange(n), action]
        ratios = _ratios(log.propensity[rows], taken)
        accepted = np.flatnonzero(uniforms[:, 0] < level / ratios)[:needed]
        n_visited = int(accepted[-1]) + 1 if len(accepted) == needed else n
        self._next += n_visited
        components = _components(epoch, rounds, contexts, action, uniforms[:, 1])
        decisions = Decisions(
            np.full(len(accepted), epoch.index),
            np.arange(round_, round_ + len(accepted)),
            action[accepted],
            taken[accepted],
            components[accepted],
        )
        own = Log.of(contexts.take(accepted), decisions, log.reward[rows[accepted]])
        return Visited(rows[:n_visited], target[:n_visited], level, accepted), own


def _ratios(propensities: Floats, taken: Floats) -> Floats:
    """P / pi, (n,), infinite where the learner would not take the logged action."""
    ratios: Floats = np.divide(propensities, taken, out=np.full(len(taken), np.inf), where=taken > 0.0)
    return ratios


def _components(epoch: Epoch, rounds: Ints, contexts: Contexts, action: Ints, uniforms: Floats) -> Ints:
    """Which part of the play took the logged action, drawn from its probability given that, (n,)."""
    places = np.arange(len(action)), action
    if isinstance(epoch.policy, Mixture):
        passive = np.array([base.passive_share for base in epoch.policy.bases])
        weights = np.repeat(epoch.policy.weights, 2) * np.column_stack([1.0 - passive, passive]).ravel()
        chances = weights[:, None] * epoch.policy.parts(contexts)[:, *places]
        below = np.cumsum(chances, axis=0) <= uniforms * chances.sum(axis=0)
        return np.asarray(np.minimum(below.sum(axis=0), len(weights) - 1))
    rates = epoch.passive_rates(rounds)
    if not rates.any():
        return np.zeros(len(action), dtype=np.int64)
    passive = rates * epoch.passive_policy.probabilities(contexts)[places]
    active = (1.0 - rates) * epoch.policy.probabilities(contexts)[places]
    return (uniforms * (passive + active) < passive).astype(np.int64)
