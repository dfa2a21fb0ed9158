"""Simulation of replications together: with many short epochs, calls take more time than rounds.

All replications have the same clock, so their batches are decided, judged and summed as one array. Each has
its own streams and its own fit, with the bits that it would have alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.core.sampling import sample
from gyrfalcon.core.simulated_uniforms import action_generator
from gyrfalcon.engine.turnover import played_epochs, turn_over
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.learners.batched import BatchedPolicy, ReplicationBatch, can_be_batched, supports_batching
from gyrfalcon.learners.optimistic.ridge_learner import RidgeLearner
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.simulation.engine import (
    CHUNK,
    OnRounds,
    Run,
    checked,
    chosen_of,
    chunks,
    regret_of,
)
from gyrfalcon.simulation.trace import PlayedEpoch, Recorder

_NUMBERS_AHEAD = 1 << 24


class NotBatchableError(Exception):
    """Raised for outcomes with eligible actions, action features or late rewards."""


def how_many_together(run: Run) -> int:
    """How many replications to play at once: as many as fit in memory, 1 if they can't be batched."""
    problem = run.problem
    if not supports_batching(run.learner) or problem.action_features.width:
        return 1
    numbers = CHUNK * (problem.features.width + 2 * problem.n_actions + 1)
    return max(1, _NUMBERS_AHEAD // numbers)


def play_together(runs: Sequence[Run], first: int, recorder: Recorder, on_rounds: OnRounds) -> None:
    """Play all rounds of these replications, the first of which has number `first` in the recorder."""
    prefetch, batch = Prefetch(runs), Batch()
    here, n_rounds = slice(first, first + len(runs)), runs[0].n_rounds
    for state in played_epochs(ReplicationState.of(runs), n_rounds, lambda played: played.advanced(batch)):
        clock = state.clock
        if recorder.keeps(clock.start, clock.stop):
            for place in range(len(runs)):
                recorder.played(first + place, state.played(place, recorder.keeps_policies))
        batch.clear()
        for start, stop in chunks(clock.start, min(clock.stop, n_rounds)):
            rows = prefetch.rows(start, stop)
            action, propensity = state.decisions(rows)
            regret, reward = rows.outcome(action, runs[0])
            recorder.rounds(here, start, regret, reward, propensity)
            units = runs[0].problem.rewards.to_unit(reward.reshape(-1)).reshape(reward.shape)
            batch.add(rows, action, units, propensity)
            on_rounds((stop - start) * len(runs))


@dataclass(frozen=True, slots=True)
class BatchedRounds:
    """Outcomes and uniforms of n rounds in each of R replications."""

    shared: Floats  # (R, n, p)
    means: Floats  # (R, n, K)
    rewards: Floats  # (R, n, K)
    uniforms: Floats  # (R, n)

    def outcome(self, action: Ints, run: Run) -> tuple[Floats, Floats]:
        """Expected regret and reward of these actions, (R, n) each."""
        n_actions = self.means.shape[-1]
        flat = PotentialOutcomes(
            Contexts(np.empty((action.size, 0))),
            self.means.reshape(-1, n_actions),
            self.rewards.reshape(-1, n_actions),
        )
        chosen = chosen_of(action.reshape(-1), n_actions)
        regret, reward = regret_of(flat, chosen, run.problem), flat.rewards.take(chosen)
        return regret.reshape(action.shape), reward.reshape(action.shape)


class Prefetch:
    """Prefetched outcomes and uniforms of all replications, drawn a chunk ahead."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._generators = [action_generator(run.seed) for run in runs]
        self._first = -1
        self._drawn: BatchedRounds | None = None

    def rows(self, start: int, stop: int) -> BatchedRounds:
        """Rounds start..stop-1 of one chunk."""
        first = start - start % CHUNK
        if self._drawn is None or first != self._first:
            self._first, self._drawn = first, self._chunk(first, min(first + CHUNK, self._runs[0].n_rounds))
        part, drawn = slice(start - first, stop - first), self._drawn
        return BatchedRounds(
            np.ascontiguousarray(drawn.shared[:, part]),
            np.ascontiguousarray(drawn.means[:, part]),
            np.ascontiguousarray(drawn.rewards[:, part]),
            np.ascontiguousarray(drawn.uniforms[:, part]),
        )

    def _chunk(self, start: int, stop: int) -> BatchedRounds:
        drawn = [_drawn(run, start, stop) for run in self._runs]
        return BatchedRounds(
            np.stack([outcomes.contexts.shared for outcomes in drawn]),
            np.stack([outcomes.means for outcomes in drawn]),
            np.stack([outcomes.rewards for outcomes in drawn]),
            np.stack([generator.random(stop - start) for generator in self._generators]),
        )


def _drawn(run: Run, start: int, stop: int) -> PotentialOutcomes:
    outcomes = checked(run, start, stop)
    contexts = outcomes.contexts
    late = outcomes.reward_round is not None or outcomes.final_round is not None
    if contexts.eligible is not None or contexts.actions is not None or late:
        raise NotBatchableError
    return outcomes


@dataclass
class Batch:
    """Rows of all replications in one epoch, in parts where a chunk ends within it."""

    parts: list[tuple[Floats, Ints, Floats, Floats]] = field(default_factory=list)

    def clear(self) -> None:
        """Begin with the rows of another epoch."""
        self.parts = []

    def add(self, rows: BatchedRounds, action: Ints, reward: Floats, propensity: Floats) -> None:
        """Add the next rounds of the epoch."""
        self.parts.append((rows.shared, action, reward, propensity))

    def of(self, places: Sequence[int]) -> tuple[Floats, Ints, Floats]:
        """Contexts, actions and rewards of some replications."""
        shared, action, reward, _ = self._whole()
        return shared[list(places)], action[list(places)], reward[list(places)]

    def log(self, place: int, clock: Epoch) -> Log:
        """The rows of one replication, as it would have them alone."""
        shared, action, reward, propensity = (column[place] for column in self._whole())
        n = len(action)
        return Log(
            Contexts(shared),
            action,
            reward,
            propensity,
            np.full(n, clock.index),
            np.arange(clock.start, clock.start + n),
            np.zeros(n, dtype=np.int64),
        )

    def _whole(self) -> tuple[Floats, Ints, Floats, Floats]:
        if len(self.parts) > 1:
            shared, action, reward, propensity = zip(*self.parts, strict=True)
            self.parts = [
                (
                    np.concatenate(shared, axis=1),
                    np.concatenate(action, axis=1),
                    np.concatenate(reward, axis=1),
                    np.concatenate(propensity, axis=1),
                )
            ]
        return self.parts[0]


@dataclass(frozen=True, slots=True)
class ReplicationState:
    """State of all replications: batched ones by their place in the batch, others by their epochs."""

    learner: RegressionLearner | RidgeLearner
    clock: Epoch  # what all epochs of this moment have in common
    members: tuple[int, ...]
    batched: BatchedPolicy | None
    alone: dict[int, Epoch]

    @property
    def stop(self) -> int:
        """The planned end of the epoch, which all replications share."""
        return self.clock.stop

    @staticmethod
    def of(runs: Sequence[Run]) -> ReplicationState:
        """The start, with each replication alone: its first rows fix its features."""
        learner = runs[0].learner
        assert isinstance(learner, RegressionLearner | RidgeLearner)
        clock = learner.start(runs[0].problem)
        return ReplicationState(learner, clock, (), None, dict.fromkeys(range(len(runs)), clock))

    def played(self, place: int, keep_policy: bool) -> PlayedEpoch:
        """The record of the epoch of one replication."""
        if place in self.alone:
            return PlayedEpoch.of(self.alone[place], keep_policy)
        assert self.batched is not None
        rank, clock = self.members.index(place), self.clock
        policy = self.batched.policy_alone(rank) if keep_policy else None
        return PlayedEpoch(clock.index, clock.start, clock.stop, self.batched.report(rank), policy)

    def decisions(self, rows: BatchedRounds) -> tuple[Ints, Floats]:
        """Actions and propensities, (R, n) each."""
        shape = rows.uniforms.shape
        action, propensity = np.empty(shape, dtype=np.int64), np.empty(shape)
        if self.batched is not None:
            together = slice(None) if len(self.members) == shape[0] else list(self.members)
            drawn = _sampled(self.batched.policy, rows.shared[together], rows.uniforms[together])
            action[together], propensity[together] = drawn
        for place, epoch in self.alone.items():
            drawn = _sampled(epoch.policy, rows.shared[place : place + 1], rows.uniforms[place : place + 1])
            action[place : place + 1], propensity[place : place + 1] = drawn
        return action, propensity

    def advanced(self, batch: Batch) -> ReplicationState:
        """The state in the next epoch."""
        alone = {
            place: turn_over(self.learner, epoch, batch.log(place, self.clock), self.stop)
            for place, epoch in self.alone.items()
        }
        stack, members = self._summed(batch, alone)
        joining = [place for place, epoch in alone.items() if can_be_batched(self.learner, epoch)]
        stack = self._joined(stack, [alone[place] for place in joining])
        clock = self.clock.successor(self.learner.schedule, policy=self.clock.policy, state=None, report=None)
        if stack is None:
            return ReplicationState(self.learner, clock, (), None, alone)
        fit = stack.fit()
        places = [*members, *joining]
        for rank, place in enumerate(members):
            if not fit.quick[rank]:
                self._split_off(place, batch, alone)
        quick = sorted(np.flatnonzero(fit.quick).tolist(), key=places.__getitem__)
        members = tuple(places[rank] for rank in quick)
        for place in members:
            alone.pop(place, None)
        if not members:
            return ReplicationState(self.learner, clock, (), None, alone)
        batched = BatchedPolicy.of(stack.take(quick), fit.take(quick), self.clock.n_rounds, clock.index)
        return ReplicationState(self.learner, clock, members, batched, alone)

    def _summed(
        self, batch: Batch, alone: dict[int, Epoch]
    ) -> tuple[ReplicationBatch | None, tuple[int, ...]]:
        """The batch with new rows; members whose sums need a QR factor are simulated alone from here on."""
        if self.batched is None:
            return None, ()
        stack, enough = self.batched.batch.summed(*batch.of(self.members))
        if enough.all():
            return stack, self.members
        for rank, place in enumerate(self.members):
            if not enough[rank]:
                self._split_off(place, batch, alone)
        staying = [rank for rank in range(len(self.members)) if enough[rank]]
        return stack.take(staying) if staying else None, tuple(self.members[rank] for rank in staying)

    def _split_off(self, place: int, batch: Batch, alone: dict[int, Epoch]) -> None:
        """Take a replication out of the batch, from before these rows."""
        assert self.batched is not None
        epoch = self.batched.batch.epoch_of(self.members.index(place), self.clock)
        alone[place] = turn_over(self.learner, epoch, batch.log(place, self.clock), self.stop)

    def _joined(self, stack: ReplicationBatch | None, epochs: list[Epoch]) -> ReplicationBatch | None:
        states = [epoch.state for epoch in epochs if isinstance(epoch.state, Fitted)]
        if not states:
            return stack
        if stack is None:
            first = states[0]
            rows = first.active
            assert isinstance(rows, Moments)
            empty = ReplicationBatch(self.learner, first.problem, (), rows.take([]), ())
            return empty.extended(states)
        return stack.extended(states)


def _sampled(policy: Policy, shared: Floats, uniforms: Floats) -> tuple[Ints, Floats]:
    contexts = Contexts(shared.reshape(uniforms.size, shared.shape[-1]))
    action, propensity = sample(policy.probabilities(contexts), uniforms.reshape(-1))
    return action.reshape(uniforms.shape), propensity.reshape(uniforms.shape)
