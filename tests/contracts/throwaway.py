"""Four learners that no one should use: they prove what the Learner protocol can express."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, action_probabilities
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, UniformPolicy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel, epsilon_greedy, mixture
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Doubling, FixedBatch, Schedule
from gyrfalcon.learners.action_changes import renumbered, sources
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.steps import carried_over
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier
from gyrfalcon.oracles.linear.linear import Linear


def opening(problem: Problem, schedule: Schedule, policy: Policy, state: object) -> Epoch:
    """Epoch 1 of a policy."""
    everyone = UniformPolicy(problem.n_actions)
    return Epoch(index=1, start=0, stop=schedule.end(1), policy=policy, passive_policy=everyone, state=state)


def ips_sum(probabilities: Floats, log: Log) -> float:
    """What a policy with these (n, K) probabilities would have earned on the rows, by their propensities."""
    chosen = probabilities[np.arange(len(log)), log.action]
    return float(np.sum((log.reward * chosen / log.propensity)[log.has_propensity]))


def softmax_weights(gains: Floats, floor: float) -> Floats:
    """Exponential weights with a share of `floor` spread evenly; added up in order they make exactly 1."""
    powers = np.exp(gains - gains.max())
    weights: Floats = (1.0 - floor) * powers / powers.sum() + floor / len(gains)
    weights[-1] = 1.0 - sum(weights[:-1].tolist())
    return weights


# A gate: three candidates learn from every row; the one that earned most on rows it had not seen plays.


@dataclass(frozen=True, slots=True)
class GateState:
    """Each candidate's epoch, and what it would have earned so far."""

    epochs: tuple[Epoch, ...]
    earned: Floats

    @property
    def winner(self) -> Epoch:
        return self.epochs[int(np.argmax(self.earned))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Candidate reward models, scored by IPS on each new block before they are refitted on it."""

    candidates: tuple[EpsilonGreedy, ...] = (
        EpsilonGreedy(),
        EpsilonGreedy(model_class=Linear(basis=Polynomial(2), ridge=1.0)),
        EpsilonGreedy(model_class=Linear(basis=RandomFourier(20), ridge=1.0)),
    )
    schedule: Schedule = Doubling(50)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        epochs = tuple(candidate.start(problem, log) for candidate in self.candidates)
        state = GateState(epochs, np.zeros(len(epochs)))
        return opening(problem, self.schedule, state.winner.policy, state)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        before = gate_state(epoch)
        earned = [ips_sum(one.policy.probabilities(log.contexts), log) for one in before.epochs]
        epochs = tuple(
            candidate.next_epoch(one, log)
            for candidate, one in zip(self.candidates, before.epochs, strict=True)
        )
        state = GateState(epochs, before.earned + np.array(earned))
        winner = state.winner
        return epoch.successor(self.schedule, policy=winner.policy, state=state, report=winner.report)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        before = gate_state(epoch)
        epochs = tuple(
            candidate.adapt(one, problem)
            for candidate, one in zip(self.candidates, before.epochs, strict=True)
        )
        state = replace(before, epochs=epochs)
        everyone = UniformPolicy(problem.n_actions)
        return replace(epoch, policy=state.winner.policy, passive_policy=everyone, state=state)


def gate_state(epoch: Epoch) -> GateState:
    assert isinstance(epoch.state, GateState)
    return epoch.state


# Exponential weights, updated every round: Exp4 whose experts always advise one action.


@dataclass(frozen=True, slots=True)
class Always:
    """One action where it is eligible, else the first that is."""

    action: int
    n_actions: int

    def probabilities(self, contexts: Contexts) -> Floats:
        scores = np.zeros((len(contexts), self.n_actions))
        scores[:, self.action] = 1.0
        return epsilon_greedy(scores, 0.0, contexts.eligible)


@dataclass(frozen=True, slots=True)
class Advice:
    """A mixture of experts by their gains, and a floor of uniform play."""

    experts: tuple[Policy, ...]
    gains: Floats
    floor: float

    def probabilities(self, contexts: Contexts) -> Floats:
        parts = [expert.probabilities(contexts) for expert in self.experts]
        return mixture(parts, softmax_weights(self.gains, self.floor).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialWeights:
    """Exp4 with one constant expert per action and a uniform one; an epoch is one round."""

    rate: float = 0.05
    floor: float = 0.1
    schedule: Schedule = FixedBatch(1)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        cold = opening(
            problem,
            self.schedule,
            self._advice(problem, np.zeros(problem.n_actions + 1)),
            problem,
        )
        if log is None:
            return cold
        return replace(cold, policy=self._updated(advice_of(cold), log))

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        policy = self._updated(advice_of(epoch), log)
        return epoch.successor(self.schedule, policy=policy, state=epoch.state, report=None)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """Gains go with their actions; a new action starts level with the best."""
        assert isinstance(epoch.state, Problem)
        gains = advice_of(epoch).gains
        old = dict(zip(epoch.state.actions, gains.tolist(), strict=False))
        kept = [old.get(action, gains.max()) for action in problem.actions]
        policy = self._advice(problem, np.array([*kept, gains[-1]]))
        everyone = UniformPolicy(problem.n_actions)
        return replace(epoch, policy=policy, passive_policy=everyone, state=problem)

    def _updated(self, advice: Advice, log: Log) -> Advice:
        earned = [ips_sum(expert.probabilities(log.contexts), log) for expert in advice.experts]
        return replace(advice, gains=advice.gains + self.rate * np.array(earned))

    def _advice(self, problem: Problem, gains: Floats) -> Advice:
        k = problem.n_actions
        return Advice((*(Always(action, k) for action in range(k)), UniformPolicy(k)), gains, self.floor)


def advice_of(epoch: Epoch) -> Advice:
    assert isinstance(epoch.policy, Advice)
    return epoch.policy


# A master over two bases, each of which counts only the rounds in which it acted itself.


@dataclass(frozen=True, slots=True)
class MasterState:
    """What each base's policies would have earned, and the settled rows that it has not learned from yet."""

    problem: Problem
    gains: Floats
    waiting: tuple[Log | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """Exponential weights over base learners; a base refits when its own rows fill its own epoch."""

    bases: tuple[EpsilonFalcon, ...] = (
        EpsilonFalcon(epsilon=0.05, passive_design="coin", tau_1=40),
        EpsilonFalcon(epsilon=0.2, passive_design="coin", tau_1=40),
    )
    rate: float = 0.02
    floor: float = 0.2
    schedule: Schedule = FixedBatch(50)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        epochs = tuple(base.start(problem, log) for base in self.bases)
        state = MasterState(problem, np.zeros(len(epochs)), (None,) * len(epochs))
        return opening(problem, self.schedule, self._mixture(state, epochs), state)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        state, master = master_parts(epoch)
        earned = [ips_sum(action_probabilities(base, log.round, log.contexts), log) for base in master.bases]
        waiting = [
            joined(rows, rows_of(log, j), state.problem.n_actions) for j, rows in enumerate(state.waiting)
        ]
        advanced = [self._advanced(j, rows, master.bases[j]) for j, rows in enumerate(waiting)]
        gains = state.gains + self.rate * np.array(earned)
        after = MasterState(state.problem, gains, tuple(rows for rows, _ in advanced))
        policy = self._mixture(after, tuple(base for _, base in advanced))
        return epoch.successor(self.schedule, policy=policy, state=after, report=None)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        state, master = master_parts(epoch)
        bases = tuple(
            learner.adapt(one, problem) for learner, one in zip(self.bases, master.bases, strict=True)
        )
        policy, everyone = self._mixture(state, bases), UniformPolicy(problem.n_actions)
        source = sources(state.problem, problem)
        waiting = tuple(None if rows is None else renumbered(rows, source) for rows in state.waiting)
        after = replace(state, problem=problem, waiting=waiting)
        return replace(epoch, policy=policy, passive_policy=everyone, state=after)

    def _mixture(self, state: MasterState, bases: tuple[Epoch, ...]) -> Mixture:
        return Mixture(softmax_weights(state.gains, self.floor), bases)

    def _advanced(self, j: int, waiting: Log, base: Epoch) -> tuple[Log | None, Epoch]:
        """The rows that wait, and the base's epoch: the next one once its own rows fill the present one."""
        if len(waiting) < base.n_rounds:
            return waiting, base
        return None, self.bases[j].next_epoch(base, waiting)


def joined(before: Log | None, log: Log, n_actions: int) -> Log:
    return log if before is None else Log.concat([before, log], n_actions)


def rows_of(log: Log, base: int) -> Log:
    """The rows in which this base acted, as the base itself would have logged them."""
    own = log.where(log.component // 2 == base)
    return replace(own, component=own.component % 2)


def master_parts(epoch: Epoch) -> tuple[MasterState, Mixture]:
    assert isinstance(epoch.state, MasterState)
    assert isinstance(epoch.policy, Mixture)
    return epoch.state, epoch.policy


# A forest: no sufficient statistics, so it refits on every row there ever was.


@dataclass(frozen=True, slots=True)
class ForestModel:
    """One forest per action; an action without a forest scores as the best of the others."""

    center: Floats
    forests: tuple[Any, ...]

    def scores(self, contexts: Contexts) -> Floats:
        x = inputs(contexts, self.center)
        known = np.array([forest is not None for forest in self.forests])
        scores = np.zeros((len(contexts), len(known)))
        for action in np.flatnonzero(known):
            scores[:, action] = self.forests[action].predict(x)
        playable = known if contexts.eligible is None else known & contexts.eligible
        best = np.where(playable, scores, -np.inf).max(axis=1)
        scores[:, ~known] = np.where(np.isfinite(best), best, 0.0)[:, np.newaxis]
        return scores


def inputs(contexts: Contexts, center: Floats) -> Floats:
    """Centred features, as trees round them to float32, behind a constant, as trees refuse to have none."""
    return np.column_stack([np.ones(len(contexts)), contexts.shared - center])


@dataclass(frozen=True, slots=True)
class ForestState:
    """Every row so far."""

    problem: Problem
    rows: Log | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Epsilon-greedy on random forests."""

    epsilon: float = 0.1
    n_trees: int = 5
    seed: int = 0
    schedule: Schedule = Doubling(100)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        state = ForestState(problem, log)
        cold = opening(problem, self.schedule, UniformPolicy(problem.n_actions), state)
        if log is None or len(log) == 0:
            return cold
        return replace(cold, policy=self._policy(problem, log))

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        if len(log) == 0:
            return carried_over(epoch, self.schedule)
        state = epoch.state
        assert isinstance(state, ForestState)
        rows = joined(state.rows, log, state.problem.n_actions)
        policy = self._policy(state.problem, rows)
        return epoch.successor(self.schedule, policy=policy, state=replace(state, rows=rows), report=None)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        state = epoch.state
        assert isinstance(state, ForestState)
        source = sources(state.problem, problem)
        rows = None if state.rows is None else renumbered(state.rows, source)
        policy: Policy = UniformPolicy(problem.n_actions)
        if isinstance(epoch.policy, KernelPolicy) and isinstance(epoch.policy.scorer, ForestModel):
            model = epoch.policy.scorer
            grown = dict(zip(state.problem.actions, model.forests, strict=True))
            forests = tuple(grown.get(action) for action in problem.actions)
            policy = replace(epoch.policy, scorer=replace(model, forests=forests))
        everyone = UniformPolicy(problem.n_actions)
        return replace(epoch, policy=policy, passive_policy=everyone, state=ForestState(problem, rows))

    def _policy(self, problem: Problem, rows: Log) -> KernelPolicy:
        center = rows.contexts.shared.mean(axis=0)
        x = inputs(rows.contexts, center)
        forests = tuple(
            self._grown(x[rows.action == action], rows.reward[rows.action == action])
            for action in range(problem.n_actions)
        )
        return KernelPolicy(ForestModel(center, forests), EpsilonGreedyKernel(self.epsilon))

    def _grown(self, x: Floats, rewards: Floats) -> Any:
        if len(x) == 0:
            return None
        forest = RandomForestRegressor(n_estimators=self.n_trees, max_depth=4, random_state=self.seed)
        return forest.fit(x, rewards)
