"""Epoch-greedy (Langford, Zhang 2007): uniform rounds to learn from, greedy rounds to earn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Geometric, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_parts, check_positive
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochGreedy:
    """Greedy play by a fit of uniform rows alone, whose share falls as t^(-1/3).

    After a uniform first epoch, about exploration t^(2/3) of t rounds are uniform (passive). What is fitted
    tends to the best in-class model under uniform play, whatever the greedy rounds choose. If the model class
    is right, regret is of order T^(2/3). If it is wrong, the regret of that model's greedy policy is paid in
    every round, and may be no less than that of uniform play: the best linear models of an xor are constants.
    The published bound is for a search among policies by weighted rewards, where here is a regression.

    Parameters
    ----------
    exploration
        Scale of the uniform rounds. Theory has it grow with K^(1/3) and with the size of the class.
    passive_design
        "coin": uniform rounds anywhere in an epoch; "tail": at its end.
    rows
        "passive" as published, or "all": greedy rounds are fitted too, and the fit depends on them.
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> round(EpochGreedy().share(1000, 1500), 3)
    0.062

    Mean rewards where the class is wrong, and the models of them that it tends to:

    >>> from gyrfalcon.environments import XorEnvironment, best_in_class
    >>> xor = XorEnvironment(n_actions=2)
    >>> contexts = xor.problem.contexts([[0.5, 0.5], [-0.5, 0.5]])
    >>> xor.means(contexts.shared).round(2).tolist()
    [[0.93, 0.23], [0.07, 0.77]]
    >>> best_in_class(xor.population, Linear()).scores(contexts).round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    exploration: float = 1.0
    passive_design: Literal["tail", "coin"] | PassiveDesign = "coin"
    rows: Literal["passive", "all"] = "passive"
    schedule: Schedule = Geometric(100, 1.5)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_parts(self.model_class, self.schedule)
        check_positive("exploration", self.exploration)
        check_choice("passive_design", self.passive_design, ("tail", "coin", *PassiveDesign))
        check_choice("rows", self.rows, ("passive", "all"))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """A passive epoch unless a log warms it up."""
        design = PassiveDesign(self.passive_design)
        cold = steps.first_epoch(problem, self.schedule, self.model_class, 1.0, design)
        return self._with_share(steps.warm_started(self, cold, log))

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """A regression of the passive rows so far, then greedy play beside a smaller passive share."""
        rows = log.where(log.passive) if self.rows == "passive" else log
        if len(rows) == 0:
            why = "no passive rows came in" if len(log) else "no rewards came in"
            return self._with_share(steps.carried_over(epoch, self.schedule, why))
        # Greedy rounds leave an action without data to passive ones: only those are learned from.
        following = steps.refit(
            epoch,
            rows,
            schedule=self.schedule,
            model_class=self.model_class,
            kernel=lambda _: EpsilonGreedyKernel(),
        )
        return self._with_share(self._reported(following))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def share(self, start: int, stop: int) -> float:
        """The share of passive rounds among rounds start..stop-1."""
        explored = self.exploration * (math.pow(stop, 2.0 / 3.0) - math.pow(start, 2.0 / 3.0))
        return min(1.0, explored / (stop - start))

    def _with_share(self, epoch: Epoch) -> Epoch:
        """The epoch with its share of passive rounds: all, as long as there is no model to be greedy by."""
        if steps.fitted_state(epoch).model is None:
            return replace(epoch, passive_share=1.0)
        return replace(epoch, passive_share=self.share(epoch.start, epoch.stop))

    def _reported(self, epoch: Epoch) -> Epoch:
        """The epoch with its rows reported as the passive rows that they are."""
        if epoch.report is None or self.rows == "all":
            return epoch
        report = replace(epoch.report, n_active=0.0, n_passive=epoch.report.n_active)
        return replace(epoch, report=report)
