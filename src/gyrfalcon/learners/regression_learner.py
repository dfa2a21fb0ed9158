"""Base of learners that fit one regression at epoch ends and play its scores through a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernels import Kernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.steps import Data, SampleSize, Sums
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import ModelClass


class RegressionLearner:
    """Regression of the rows, its scores played by the kernel for the sample size.

    It implements the protocol `Learner`, which is all that a learner needs; a subclass adds its settings and
    `kernel`.
    """

    __slots__ = ()
    tries_unknown: ClassVar[bool] = False
    """For kernels that would otherwise never try an action without data, or nothing else."""

    if TYPE_CHECKING:

        @property
        def schedule(self) -> Schedule:
            """Schedule of the ends of epochs."""

        @property
        def model_class(self) -> ModelClass:
            """The class of reward models."""

        def kernel(self, size: SampleSize) -> Kernel:
            """The kernel after a fit of this size."""

    @property
    def fitted_data(self) -> Data:
        """Which rows are fitted."""
        return "all"

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform unless a log warms it up."""
        return steps.warm_started(self, steps.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch: a regression of the rows, then the kernel."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.schedule)
        return self.next_from(epoch, self.sums(epoch, log))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether rows may come in parts: after the first rows, for linear classes."""
        return isinstance(steps.fitted_state(epoch).oracle, LinearOracle)

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Sufficient statistics of the rows to fit, with these."""
        state = steps.fitted_state(epoch)
        scale, log = (state if before is None else before).scale.converted(log)
        if before is not None:
            rows = steps.summed(before.oracle, log, before.active, penalised=True)
            return replace(before, active=rows, n_new=before.n_new + len(log), scale=scale)
        oracle = steps.oracle_for(state, self.model_class, log)
        onto = state.active if self.fitted_data == "all" else None
        return Sums(oracle, steps.summed(oracle, log, onto, penalised=True), None, len(log), scale)

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The next epoch, given the sufficient statistics of the rows to fit."""
        return steps.refit_from_sums(
            epoch, sums, schedule=self.schedule, kernel=self.kernel, tries_unknown=self.tries_unknown
        )
