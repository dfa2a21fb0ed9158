"""Simulation of one replication: epochs are decided as arrays, and regret is expected regret."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.limited import control_share_of
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.validation import is_own
from gyrfalcon.engine.finality import final_prefix
from gyrfalcon.engine.own_policies import checked_epoch
from gyrfalcon.engine.turnover import played_epochs, turn_over
from gyrfalcon.environments.protocol import BLOCK, NEVER, Drawable, PotentialOutcomes
from gyrfalcon.environments.random_access import check_random_access
from gyrfalcon.environments.validation import drawn_outcomes
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums
from gyrfalcon.simulation.trace import Recorder

CHUNK = BLOCK
"""Rounds decided at a time: few enough to stay in cache, enough for the calls not to matter."""

CHECKED_EPOCHS = 16
BETWEEN_CHECKS = 1024
"""A user's own policies are checked in the first epochs, then after this many rounds at least: checks of each
short epoch would take more than a hundredth of the time."""

OnRounds = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Run:
    """One replication of a learner in an environment."""

    learner: Learner
    environment: Drawable
    problem: Problem
    n_rounds: int
    seed: int  # of this replication
    checks_draws: bool = False  # whether this replication checks that rounds can be cut anywhere


def play(run: Run, replication: int, recorder: Recorder, on_rounds: OnRounds) -> None:
    """Play all rounds of one replication, and record them."""
    rounds, rows = Rounds(run), RowBuffer(run.learner, run.problem.n_actions, CHUNK)
    here = slice(replication, replication + 1)
    for epoch in played_epochs(run.learner.start(run.problem), run.n_rounds, rows.next_epoch):
        recorder.epoch(replication, epoch)
        for first, last in chunks(epoch.start, min(epoch.stop, run.n_rounds)):
            outcomes = rounds.outcomes(first, last)
            decisions = rounds.decisions(epoch, first, outcomes)
            chosen = chosen_of(decisions.action, run.problem.n_actions)
            regret, reward = regret_of(outcomes, chosen, run.problem), outcomes.rewards.take(chosen)
            recorder.rounds(here, first, regret[None], reward[None], decisions.propensity[None])
            log = Log.of(outcomes.contexts, decisions, run.problem.rewards.to_unit(reward))
            due = chosen_rounds(outcomes.reward_round, chosen), chosen_rounds(outcomes.final_round, chosen)
            rows.add(epoch, log, *due)
            on_rounds(last - first)


def chunks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Stretches of rounds that are decided together, cut where environments are."""
    while start < stop:
        end = min(start - start % CHUNK + CHUNK, stop)
        yield start, end
        start = end


def chosen_of(action: Ints, n_actions: int) -> Ints:
    """Where the chosen actions are in a flattened (n, K) array."""
    flat: Ints = np.arange(0, len(action) * n_actions, n_actions)
    flat += action
    return flat


def chosen_rounds(rounds: Ints | None, chosen: Ints) -> Ints | None:
    """The round numbers of the chosen actions, (n,), where they are given for all actions."""
    return rounds if rounds is None or rounds.ndim == 1 else rounds.take(chosen)


def regret_of(outcomes: PotentialOutcomes, chosen: Ints, problem: Problem) -> Floats:
    """(n,): by how much the chosen actions are expected to fall behind the best eligible ones."""
    means, eligible = outcomes.means, outcomes.contexts.eligible
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
    """Whether an epoch flips coins before it draws actions: for bases, passive rounds or a control share."""
    coins = epoch.passive_design is PassiveDesign.COIN and epoch.passive_share > 0.0
    return coins or control_share_of(epoch.policy) > 0.0 or isinstance(epoch.policy, Mixture)


class Rounds:
    """Rounds of an environment and uniforms of a learner, from independent streams."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._is_own, self._next_check = is_own(run.learner), 0
        self._actions = action_generator(run.seed)
        self._coins = np.random.default_rng([run.seed, 2])
        self._uniforms = np.zeros((UNIFORMS_PER_DECISION, CHUNK))
        self._first = 0
        self._drawn: PotentialOutcomes | None = None

    def outcomes(self, start: int, stop: int) -> PotentialOutcomes:
        """Rounds start..stop-1 of one chunk, which is drawn once however short the epochs are."""
        first = start - start % CHUNK
        if self._drawn is None or first != self._first:
            self._first = first
            self._drawn = checked(self._run, first, min(first + CHUNK, self._run.n_rounds))
        return self._drawn.take(slice(start - first, stop - first))

    def decisions(self, epoch: Epoch, start: int, outcomes: PotentialOutcomes) -> Decisions:
        """Decisions of the epoch from round `start` on."""
        n = len(outcomes)
        self._actions.random(out=self._uniforms[2, :n])
        if needs_coins(epoch):
            self._uniforms[:2, :n] = self._coins.random((n, 2)).T
        rounds = np.arange(start, start + n)
        if (
            self._is_own
            and start == epoch.start
            and (epoch.index <= CHECKED_EPOCHS or start >= self._next_check)
        ):
            self._next_check = start + BETWEEN_CHECKS
            epoch = checked_epoch(epoch, rounds, self._run.problem.actions, self._run.learner)
        return decide(epoch, rounds, outcomes.contexts, self._uniforms[:, :n].T)


def checked(run: Run, start: int, stop: int) -> PotentialOutcomes:
    """Rounds start..stop-1 of the run's outcomes, if they are rounds of its problem."""
    outcomes, problem = drawn_outcomes(run.environment, start, stop, run.seed), run.problem
    cube = outcomes.contexts.actions
    given = outcomes.means.shape[1], outcomes.contexts.shared.shape[1], 0 if cube is None else cube.shape[2]
    posed = problem.n_actions, problem.features.width, problem.action_features.width
    if given != posed:
        raise ValueError(
            f"draw({start}, {stop}) gave {given[0]} actions, {given[1]} features and {given[2]} features of "
            f"actions; the problem has {posed[0]}, {posed[1]} and {posed[2]}."
        )
    if start == 0 and run.checks_draws:
        check_random_access(run.environment, outcomes, run.seed)
    return outcomes


class RowBuffer:
    """Rows of the running epoch, and rows of earlier ones that fits may not read yet.

    Epochs of more than `long` rounds are summed as they are played, if the learner can: millions of rows
    would leave the cache, and then the memory.
    """

    def __init__(self, learner: Learner, n_actions: int, long: float) -> None:
        self._learner, self._n_actions, self._long = learner, n_actions, long
        self._sums: Sums | None = None
        self._logs: list[Log] = []
        self._late: list[_Late] = []  # a heap by what is due first
        self._n_late = 0
        self._open: deque[tuple[Log, Ints]] = deque()  # rows with their final rounds, as they were decided
        self._none: Log  # no rows, in the shape of others

    def add(
        self, epoch: Epoch, log: Log, reward_round: Ints | None = None, final_round: Ints | None = None
    ) -> None:
        """Add the next rows of the epoch, in the order of their decisions.

        Fits read them after the rounds `reward_round`, or at once; or when they and all rows before them are
        final.
        """
        self._none = log.take(slice(0, 0))
        if final_round is not None:
            ends = final_round < NEVER  # nobody waits for rows that are never read
            self._open.append((log.where(ends), final_round[ends]))
        elif reward_round is not None:
            self._wait(log, reward_round)
        elif (
            isinstance(self._learner, Summing)
            and epoch.n_rounds > self._long
            and self._learner.can_sum(epoch)
        ):
            self._sums = self._learner.sums(epoch, log, self._sums)
        else:
            self._logs.append(log)

    def next_epoch(self, epoch: Epoch) -> Epoch:
        """The epoch after this one, fitted on all rows that it may read when this one ends."""
        following = turn_over(self._learner, epoch, self._rows(epoch), epoch.stop)
        self._logs, self._sums = [], None
        return following

    def _rows(self, epoch: Epoch) -> Log | Sums:
        self._settle(epoch.stop)
        self._finalise(epoch.stop)
        log = Log.concat(self._logs or [self._none], self._n_actions)
        self._logs = [log]
        if self._sums is None or not isinstance(self._learner, Summing):
            return log
        return self._learner.sums(epoch, log, self._sums) if len(log) else self._sums

    def _wait(self, log: Log, due: Ints) -> None:
        """Keep rows until they are due."""
        if len(log):
            heappush(self._late, _Late(int(due.min()), self._n_late, log, due))
            self._n_late += 1

    def _settle(self, stop: int) -> None:
        """Add late rows that are due before round `stop`; the others are not looked at."""
        ready = []
        while self._late and self._late[0].first_due < stop:
            ready.append(heappop(self._late))
        for late in sorted(ready, key=lambda one: one.number):
            settled = late.due < stop
            self._logs.append(late.log.where(settled))
            self._wait(late.log.where(~settled), late.due[~settled])

    def _finalise(self, stop: int) -> None:
        """Add rows that are final before round `stop`, up to the first that is not."""
        while self._open:
            log, final = self._open.popleft()
            n_final = final_prefix(final < stop)
            self._logs.append(log.take(slice(0, n_final)))
            if n_final < len(log):
                self._open.appendleft((log.take(slice(n_final, None)), final[n_final:]))
                return


class _Late(NamedTuple):
    """Rows that fits may not read yet, some due earlier than others."""

    first_due: int
    number: int  # the order in which they came, so that no two compare equal
    log: Log
    due: Ints
