"""Explore first, then commit: uniform rounds up to a fixed number, greedy ones from then on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_flag, check_mixing, check_parts, check_whole
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True)
class Explored(Fitted):
    """A fit, and which actions it has rows of."""

    tried: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # (K,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreFirst:
    """`n_explore` uniform rounds, then the action with the best estimate by them.

    For T rounds, an n_explore of order T^(2/3) makes regret of that order if the model class is right.
    Uniform rounds are passive, and count even if their reward is late. No other rows are fitted but the first
    of an action that had none, which greedy play tries as soon as it is eligible. Greedy propensities are 0
    and 1, from which no other policy can be evaluated.

    Parameters
    ----------
    n_explore
        Number of uniform rounds at the start.
    refit
        Whether to learn from all rows, at each doubling of the rounds.
    mixing
        Share of later rounds with uniform play.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> ExploreFirst(n_explore=200).schedule.end(2)
    400
    """

    n_explore: int = 500
    refit: bool = False
    mixing: float = 0.0
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_whole("n_explore", self.n_explore)
        check_parts(self.model_class, self.schedule)
        check_flag("refit", self.refit)
        check_mixing(self.mixing)

    @property
    def schedule(self) -> Schedule:
        """Exploration, and epochs that double from then on."""
        return Geometric(self.n_explore, 2.0)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The exploration, unless a log replaces it."""
        cold = steps.first_epoch(problem, self.schedule, self.model_class, 1.0, PassiveDesign.COIN)
        untried = np.zeros(problem.n_actions, dtype=np.bool_)
        return steps.warm_started(self, replace(cold, state=Explored(problem, tried=untried)), log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch: greedy play by the explored rows."""
        state = explored_state(epoch)
        rows = log if self.refit else log.where(log.passive | ~state.tried[log.action])
        if len(rows) == 0:
            why = "exploration is over" if len(log) else "no rewards came in"
            return steps.carried_over(epoch, self.schedule, why)
        following = steps.refit(
            epoch,
            rows,
            schedule=self.schedule,
            model_class=self.model_class,
            kernel=lambda _: EpsilonGreedyKernel(self.mixing),
            tries_unknown=True,
        )
        tried = state.tried | (np.bincount(rows.action, minlength=len(state.tried)) > 0)
        return replace(following, passive_share=0.0, state=replace(explored_state(following), tried=tried))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        state = explored_state(epoch)
        source = action_changes.sources(state.problem, problem)
        adapted = action_changes.adapted(epoch, problem)
        tried = (source >= 0) & state.tried[source]
        return replace(adapted, state=replace(explored_state(adapted), tried=tried))


def explored_state(epoch: Epoch) -> Explored:
    """The state of an epoch that ExploreFirst made."""
    if not isinstance(epoch.state, Explored):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give ExploreFirst its own epochs."
        )
    return epoch.state
