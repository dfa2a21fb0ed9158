"""A learner beside a control, which has a share of the rounds; every row is kept for comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.experiment.policies import learned_policy
from gyrfalcon.learners.adaptive.safe_return import SharedPolicy
from gyrfalcon.learners.protocol import Learner


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What an experiment compares, and when it stops.

    Parameters
    ----------
    control
        The control policy.
    name
        What the control is called.
    action
        Position of the action that the control is; None for another policy.
    share
        Share of the policy's rounds in which the control is played.
    level
        1 less the probability of a false alarm over the whole experiment.
    minimum_effect
        Gain over the control that is to be exceeded, in units of the reward range.
    max_rounds
        Rounds after which the experiment ends in any case; None for no end.
    """

    control: Policy
    name: str
    action: int | None
    share: float
    level: float
    minimum_effect: float
    max_rounds: int | None


@dataclass(frozen=True, slots=True)
class Stage:
    """An epoch as it was played, with what was known before its first round."""

    epoch: Epoch
    """Without state and report."""
    learned: Policy | None
    """The policy that the learner had learned, without exploration; None before its first fit."""
    mean_reward: float
    """Of the rows so far, in [0, 1]: what stands for predictions where a learner has none."""


@dataclass(frozen=True, slots=True)
class ControlledState:
    """The learner's own epoch, earlier stages, and all rows so far."""

    inner: Epoch
    learned: Policy | None = None
    mean_reward: float = 0.5
    stages: tuple[Stage, ...] = ()
    rows: tuple[Log, ...] = ()
    """In parts of falling length."""


@dataclass(frozen=True, slots=True)
class ControlledLearner:
    """A learner whose policies share their rounds with a control; passive rounds are left as they are.

    Parameters
    ----------
    learner
        The learner, which learns from the rounds of both, with their exact propensities.
    design
        The control, its share, and the rules of the experiment.
    """

    learner: Learner
    design: Design

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The learner's first epoch, shared with the control."""
        inner = self.learner.start(problem, log)
        return self._shared(inner, ControlledState(inner, learned_policy(inner.policy)))

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The learner's next epoch, shared with the control."""
        state = controlled_state(epoch)
        rows = _appended(state.rows, replace(log, problem=None))
        n = sum(map(len, rows))
        mean = sum(float(part.reward.sum()) for part in rows) / n if n else state.mean_reward
        current = replace(state.inner, start=epoch.start, stop=epoch.stop)
        inner = self.learner.next_epoch(current, log)
        stages = (*state.stages, stage_of(epoch))
        learned = learned_policy(inner.policy)
        return self._shared(inner, ControlledState(inner, learned, min(max(mean, 0.0), 1.0), stages, rows))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """Refused: policies of other actions can't be compared."""
        del epoch, problem
        raise ValueError("the actions of an experiment can't change; end it, and start another.")

    def _shared(self, inner: Epoch, state: ControlledState) -> Epoch:
        policy = SharedPolicy(inner.policy, self.design.control, self.design.share)
        return replace(inner, policy=policy, state=state)


def controlled_state(epoch: Epoch) -> ControlledState:
    """The state of an epoch of an experiment."""
    if not isinstance(epoch.state, ControlledState):
        raise TypeError(f"epoch {epoch.index} is none of an experiment; give the learner its own epochs.")
    return epoch.state


def stage_of(epoch: Epoch) -> Stage:
    """The stage that an epoch is, as it is played."""
    state = controlled_state(epoch)
    return Stage(replace(epoch, state=None, report=None), state.learned, state.mean_reward)


def stages_of(epoch: Epoch) -> tuple[Stage, ...]:
    """All stages up to an epoch, with the one that it is."""
    return (*controlled_state(epoch).stages, stage_of(epoch))


def rows_from(parts: tuple[Log, ...], first: int, limit: int, n_actions: int) -> Log | None:
    """The rows of rounds from `first` up to `limit`, in order of decision; None if there are none."""
    chosen = [part.where((part.round >= first) & (part.round < limit)) for part in parts]
    kept = [part for part in chosen if len(part)]
    if not kept:
        return None
    log = Log.concat(kept, n_actions)
    return log.take(np.argsort(log.round, kind="stable"))


def _appended(parts: tuple[Log, ...], log: Log) -> tuple[Log, ...]:
    """Parts with another one: of falling length, so that rows are copied seldom and parts are few."""
    if len(log) == 0:
        return parts
    listed = [*parts, log]
    while len(listed) > 1 and len(listed[-2]) <= 2 * len(listed[-1]):
        last, before = listed.pop(), listed.pop()
        listed.append(_joined(before, last))
    return tuple(listed)


def _joined(one: Log, other: Log) -> Log:
    masks = [log.contexts.eligible for log in (one, other)]
    n_actions = next((mask.shape[1] for mask in masks if mask is not None), 0)
    return Log.concat([one, other], n_actions)
