"""Evidence of an experiment: every candidate policy against the control, row by row in order of decision.

Candidates are the single actions, from the first row on, and learned policies. A learned policy is frozen
at the start of an epoch and compared on later rows alone, so that it is one fixed policy, which no row that
it is compared on has helped to choose. The probability of a false alarm is divided: half of it among the
single actions, half among learned policies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import action_probabilities
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.greedy import GreedyPolicy
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.evaluation.intervals.sequences.contrast_scores import TRUNCATION, contrast_scores
from gyrfalcon.experiment.controlled import Design, Stage
from gyrfalcon.experiment.policies import SingleAction
from gyrfalcon.experiment.wealth import Wealth, lower_bound
from gyrfalcon.learners.reward_scale import estimated_rewards

_GROWTH = 2
"""A learned policy is frozen when there are this many times the rounds that there were at the last time."""


@dataclass(slots=True)
class Candidate:
    """A policy that may be better than the control, and the scores of its gain."""

    name: str
    policy: Policy
    first_round: int
    error: float
    wealth: Wealth
    epoch: int | None = None
    """Number of the epoch from whose start on a learned policy is frozen; None for a single action."""
    refuted_at: int | None = None
    """The round at which it was first known that the candidate is better."""
    gains: list[Floats] = field(default_factory=list)
    losses: list[Floats] = field(default_factory=list)

    def interval(self) -> tuple[float, float]:
        """Bounds of the gain, in units of the reward range; both hold for all candidates at once."""
        known = -1.0 if self.refuted_at is None else self.wealth.null
        return (
            lower_bound(joined(self.gains), self.error, TRUNCATION, known),
            -lower_bound(joined(self.losses), self.error, TRUNCATION),
        )


class Evidence:
    """Candidates of an experiment, and what rows so far say of them.

    Parameters
    ----------
    design
        The control, and the rules of the experiment.
    problem
        The decision problem.
    """

    def __init__(self, design: Design, problem: Problem) -> None:
        self.design, self.problem = design, problem
        self.next_round = self.n_rows = 0
        self.candidates: list[Candidate] = []
        self._n_frozen_most = 0
        others = [k for k in range(problem.n_actions) if k != design.action]
        for action in others:
            policy = SingleAction(action, design.control, problem.n_actions)
            error = (1.0 - design.level) / (2.0 * len(others))
            self._add(f"always {problem.actions[action]!r}", policy, 0, error, None)

    def add(self, stages: Sequence[Stage], rows: Log) -> None:
        """Take in further rows, in order of decision, and the stages that they were played in."""
        by_index = {stage.epoch.index: stage for stage in stages}
        for stage, part in _by_stage(by_index, rows):
            self._freeze(stage)
            active = [one for one in self.candidates if one.first_round <= stage.epoch.start]
            parts = Parts.of(stage, part)
            control = self.design.control.probabilities(part.contexts)
            for one in active:
                difference = one.policy.probabilities(part.contexts) - control
                gains = parts.scores(difference)
                one.gains.append(gains)
                one.losses.append(parts.scores(-difference))
                at = one.wealth.add(gains)
                if at is not None:
                    one.refuted_at = int(part.round[at])
            self.n_rows += len(part)
        self.next_round = int(rows.round[-1]) + 1

    @property
    def better(self) -> list[Candidate]:
        """Candidates that are known to be better than the control, in the order in which that was known."""
        known = [one for one in self.candidates if one.refuted_at is not None]
        return sorted(known, key=lambda one: (one.refuted_at, -one.wealth.largest))

    def _freeze(self, stage: Stage) -> None:
        """Freeze what was learned before a stage, unless a policy was frozen not long ago."""
        epoch, frozen = stage.epoch, [one for one in self.candidates if one.epoch is not None]
        if stage.learned is None or (frozen and epoch.start < _GROWTH * max(frozen[-1].first_round, 1)):
            return
        name = f"policy learned by epoch {epoch.index}"
        self._add(name, stage.learned, epoch.start, self._error_of(len(frozen), epoch.start), epoch.index)

    def _error_of(self, n_before: int, start: int) -> float:
        """The share of false alarms of a learned policy: equal ones, or falling ones without an end."""
        half, most = (1.0 - self.design.level) / 2.0, self.design.max_rounds
        if most is None:
            return half / ((n_before + 1) * (n_before + 2))
        if n_before == 0:
            self._n_frozen_most = 1 + max(0, math.floor(math.log2(most / max(start, 1)) / math.log2(_GROWTH)))
        return half / self._n_frozen_most

    def _add(self, name: str, policy: Policy, start: int, error: float, epoch: int | None) -> None:
        wealth = Wealth(self.design.minimum_effect, error, TRUNCATION)
        self.candidates.append(Candidate(name, policy, start, error, wealth, epoch))


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows of one stage with what their scores are made of."""

    rows: Log
    propensities: Floats
    predictions: Floats

    @staticmethod
    def of(stage: Stage, rows: Log) -> Parts:
        """The rows of a stage, with the probabilities of all actions and predictions from before it."""
        played = action_probabilities(stage.epoch, rows.round, rows.contexts)
        predictions = np.full(played.shape, stage.mean_reward)
        if isinstance(stage.learned, GreedyPolicy):
            predictions = np.clip(estimated_rewards(stage.learned.scorer, rows.contexts), 0.0, 1.0)
        return Parts(rows, played, predictions)

    def scores(self, difference: Floats) -> Floats:
        """Scores of the value of a difference between policies, (n,)."""
        rows = self.rows
        reward = np.clip(rows.reward, 0.0, 1.0)
        return contrast_scores(
            difference, self.propensities, rows.action, rows.propensity, reward, self.predictions
        )


def scores_of(
    stages: Sequence[Stage], rows: Log, policy: Policy, other: Policy | None
) -> tuple[Floats, Floats]:
    """Scores of a policy's gain over another, or of its value if there is none, and of the negative, (n,)."""
    gains, losses = [], []
    for stage, part in _by_stage({stage.epoch.index: stage for stage in stages}, rows):
        parts, difference = Parts.of(stage, part), policy.probabilities(part.contexts)
        if other is not None:
            difference = difference - other.probabilities(part.contexts)
        gains.append(parts.scores(difference))
        losses.append(parts.scores(-difference))
    return joined(gains), joined(losses)


def joined(parts: Sequence[Floats]) -> Floats:
    """Parts of a column, one after the other."""
    return np.concatenate(parts) if parts else np.empty(0)


def _by_stage(stages: dict[int, Stage], rows: Log) -> Iterator[tuple[Stage, Log]]:
    """Stretches of rows in order, each of one stage."""
    ends = [*(np.flatnonzero(np.diff(rows.epoch)) + 1).tolist(), len(rows)]
    for start, end in zip([0, *ends], ends, strict=False):
        if start < end:
            yield stages[int(rows.epoch[start])], rows.take(slice(start, end))
