"""One run of a learner in a world: whole epochs are decided as arrays, regret is counted in expectation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, decide
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Decisions
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.types import Floats, Ints
from gyrfalcon.environments.edge import drawn_world
from gyrfalcon.environments.environment import BLOCK, Drawable, World
from gyrfalcon.experiments.gathering import Gathering
from gyrfalcon.experiments.trace import Recorder
from gyrfalcon.learners.learner import Learner

CHUNK = BLOCK
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
    rounds, rows = Rounds(run), Gathering(run.learner, run.problem.n_actions, CHUNK)
    here = slice(replication, replication + 1)
    while True:
        recorder.epoch(replication, epoch)
        for first, last in chunks(epoch.start, min(epoch.stop, run.n_rounds)):
            world = rounds.world(first, last)
            decisions = rounds.decisions(epoch, first, world)
            chosen = chosen_of(decisions.action, run.problem.n_actions)
            regret, reward = regret_of(world, chosen, run.problem), world.rewards.take(chosen)
            recorder.rounds(here, first, regret[None], reward[None], decisions.propensity[None])
            rows.add(epoch, world, decisions, run.problem.rewards.to_unit(reward))
            on_rounds(last - first)
        if epoch.stop >= run.n_rounds:
            return
        epoch = rows.next_epoch(epoch)


def chunks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Stretches of rounds that are decided together, cut where worlds are."""
    while start < stop:
        end = min(start - start % CHUNK + CHUNK, stop)
        yield start, end
        start = end


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


def action_generator(seed: int) -> np.random.Generator:
    """The random stream by which a learner's actions are drawn."""
    return np.random.default_rng([seed, 1])


def needs_coins(epoch: Epoch) -> bool:
    """Whether an epoch flips coins before it draws actions: for bases of a mixture, or for passive rounds."""
    coins = epoch.passive_design is PassiveDesign.COIN and epoch.passive_share > 0.0
    return coins or isinstance(epoch.policy, Mixture)


class Rounds:
    """Rounds of a world and uniforms of a learner, each from a stream of its own."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._actions = action_generator(run.seed)
        self._coins = np.random.default_rng([run.seed, 2])
        self._uniforms = np.zeros((UNIFORMS_PER_DECISION, CHUNK))
        self._first = 0
        self._drawn: World | None = None

    def world(self, start: int, stop: int) -> World:
        """Rounds start..stop-1 of one chunk, which is drawn once however short the epochs are."""
        first = start - start % CHUNK
        if self._drawn is None or first != self._first:
            self._first = first
            self._drawn = checked(self._run, first, min(first + CHUNK, self._run.n_rounds))
        return self._drawn.take(slice(start - first, stop - first))

    def decisions(self, epoch: Epoch, start: int, world: World) -> Decisions:
        """What the epoch decides from round `start` on."""
        n = len(world)
        self._actions.random(out=self._uniforms[2, :n])
        if needs_coins(epoch):
            self._uniforms[:2, :n] = self._coins.random((n, 2)).T
        return decide(epoch, np.arange(start, start + n), world.contexts, self._uniforms[:, :n].T)


def checked(run: Run, start: int, stop: int) -> World:
    """Rounds start..stop-1 of the run's world, if they are rounds of its problem."""
    world, problem = drawn_world(run.environment, start, stop, run.seed), run.problem
    cube = world.contexts.actions
    given = world.means.shape[1], world.contexts.shared.shape[1], 0 if cube is None else cube.shape[2]
    posed = problem.n_actions, problem.features.width, problem.action_features.width
    if given != posed:
        raise ValueError(
            f"draw({start}, {stop}) gave {given[0]} actions, {given[1]} features and {given[2]} features of "
            f"actions; the problem has {posed[0]}, {posed[1]} and {posed[2]}."
        )
    return world
