"""One run of a learner in a world: whole epochs are decided as arrays, regret is counted in expectation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.epochs import Epoch, decide
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Decisions, Log, PastLogs
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.environments.environment import Drawable, World
from gyrfalcon.experiments.trace import Recorder
from gyrfalcon.learners.learner import Learner

CHUNK = 1 << 14
"""Rounds decided at a time: few enough to stay in cache, enough for the calls not to matter."""

OnRounds = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Run:
    """What is played: a learner in a world, one replication of it."""

    learner: Learner
    environment: Drawable
    problem: Problem
    n_rounds: int
    seed: int  # of this replication


def play(run: Run, replication: int, recorder: Recorder, on_rounds: OnRounds) -> None:
    """Play all rounds, and tell the recorder."""
    epoch = run.learner.start(run.problem)
    rounds, waiting, history = Rounds(run), Waiting(run.problem.n_actions), PastLogs()
    while True:
        stop = min(epoch.stop, run.n_rounds)
        recorder.epoch(replication, epoch)
        for first, last in chunks(epoch.start, stop):
            world = rounds.world(first, last)
            decisions = rounds.decisions(epoch, first, world)
            chosen = chosen_of(decisions.action, run.problem.n_actions)
            regret, reward = regret_of(world, chosen, run.problem), world.rewards.take(chosen)
            recorder.rounds(
                slice(replication, replication + 1),
                first,
                regret[None],
                reward[None],
                decisions.propensity[None],
            )
            waiting.add(world, decisions, in_units(run.problem, reward))
            on_rounds(last - first)
        if epoch.stop >= run.n_rounds:
            return
        log = waiting.settled(epoch.stop)
        epoch = run.learner.next_epoch(epoch, log, history=history)
        if run.learner.reads_history:
            history = history.followed_by(log)


def chunks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Stretches of rounds that are decided together."""
    for first in range(start, stop, CHUNK):
        yield first, min(first + CHUNK, stop)


def chosen_of(action: Ints, n_actions: int) -> Ints:
    """Where the chosen actions are in a flattened (n, K) array."""
    flat: Ints = np.arange(0, len(action) * n_actions, n_actions)
    flat += action
    return flat


def regret_of(world: World, chosen: Ints, problem: Problem) -> Floats:
    """(n,): by how much the chosen actions are expected to fall behind the best eligible ones."""
    means, eligible = world.means, world.contexts.eligible
    if problem.cost:
        means = -means
    if eligible is not None:
        means = np.where(eligible, means, -np.inf)
    # A column at a time: NumPy's maximum over a short last axis takes several times as long.
    best = means[:, 0].copy()
    for column in means.T[1:]:
        np.maximum(best, column, out=best)
    best -= means.take(chosen)
    return best


def in_units(problem: Problem, reward: Floats) -> Floats:
    """Rewards as learners see them, from 0 to 1 unless the problem accepts others; bad ones are refused."""
    return problem.rewards.to_unit(reward)


class Rounds:
    """Rounds of a world and uniforms of a learner, each from a stream of its own."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._uniforms = np.random.default_rng([run.seed, 1])
        self._start = self._stop = 0
        self._drawn: World | None = None

    def world(self, start: int, stop: int) -> World:
        """Rounds start..stop-1, drawn a chunk ahead: small batches would draw each block many times."""
        if self._drawn is None or stop > self._stop:
            run = self._run
            self._start, self._stop = start, max(stop, min(start + CHUNK, run.n_rounds))
            self._drawn = checked(
                run.environment.draw(start, self._stop, run.seed), run.problem, start, self._stop
            )
        return self._drawn.take(slice(start - self._start, stop - self._start))

    def decisions(self, epoch: Epoch, start: int, world: World) -> Decisions:
        """What the epoch decides from round `start` on."""
        uniforms = self._uniforms.random((len(world), UNIFORMS_PER_DECISION))
        return decide(epoch, np.arange(start, start + len(world)), world.contexts, uniforms)


class Waiting:
    """Rows whose reward is not known yet, and those of the running epoch."""

    def __init__(self, n_actions: int) -> None:
        self._n_actions = n_actions
        self._logs: list[Log] = []
        self._known: list[Ints] = []
        self._late = False

    def add(self, world: World, decisions: Decisions, reward: Floats) -> None:
        """Decisions and what they earn, sooner or later."""
        self._late = self._late or world.reward_round is not None
        self._logs.append(Log.of(world.contexts, decisions, reward))
        self._known.append(decisions.round if world.reward_round is None else world.reward_round)

    def settled(self, stop: int) -> Log:
        """The rows whose reward is known before round `stop`, which leave."""
        log, known = Log.concat(self._logs, self._n_actions), np.concatenate(self._known)
        self._logs, self._known = [], []
        if not self._late:
            return log
        here = known < stop
        if not here.all():
            self._logs, self._known = [log.where(~here)], [known[~here]]
        return log.where(here)


def checked(world: World, problem: Problem, start: int, stop: int) -> World:
    """The world, if it is one of these rounds; a ValueError that says what is wrong with it otherwise."""
    n, shape = stop - start, (stop - start, problem.n_actions)
    for name, values in (("means", world.means), ("rewards", world.rewards)):
        if np.shape(values) != shape:
            raise ValueError(f"draw({start}, {stop}) gave {name} of shape {np.shape(values)}; give {shape}.")
    if world.contexts.shared.shape != (n, problem.features.width):
        raise ValueError(
            f"draw({start}, {stop}) gave contexts of shape {world.contexts.shared.shape}; "
            f"give {(n, problem.features.width)}: a row for each round, a column for each feature."
        )
    late = world.reward_round
    if late is not None and (late.shape != (n,) or (late < np.arange(start, stop)).any()):
        raise ValueError(
            "a reward_round is before its own round; rewards are known at the end of it at best."
        )
    return world
