"""Learners that fit an ordinary regression at epoch ends and play its scores through a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernels import Kernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.steps import Data, Size
from gyrfalcon.learners.sums import Sums, summed
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import ModelClass


class Refitting:
    """A learner with a schedule and a model class: uniform play first, then what `next_epoch` makes of it."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def schedule(self) -> Schedule:
            """When epochs end."""

        @property
        def model_class(self) -> ModelClass:
            """The models among which it fits."""

        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            """The algorithm itself."""

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """A uniform epoch, unless a log warms it up."""
        return steps.started(self, steps.first_epoch(problem, self.schedule, self.model_class), log)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)


class Regressing(Refitting):
    """A regression of the rows, played by the kernel that its size asks for."""

    __slots__ = ()
    tries_unknown: ClassVar[bool] = False
    """For kernels that would otherwise never try an action without data, or nothing else."""

    if TYPE_CHECKING:

        def kernel(self, size: Size) -> Kernel:
            """How scores are played after a fit of this size."""

    @property
    def fitted_data(self) -> Data:
        """Which rows are fitted."""
        return "all"

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """A regression of the rows, then the kernel."""
        if len(log) == 0:
            return steps.unchanged(epoch, self.schedule)
        return self.next_from(epoch, self.sums(epoch, log))

    def can_sum(self, epoch: Epoch) -> bool:
        """After the first rows, for linear classes."""
        return isinstance(steps.fitted_state(epoch).oracle, LinearOracle)

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """The rows to fit on, with these."""
        state = steps.fitted_state(epoch)
        if before is not None:
            rows = summed(before.oracle, log, before.active, penalised=True)
            return replace(before, active=rows, n_new=before.n_new + len(log))
        oracle = steps.oracle_for(state, self.model_class, log)
        onto = state.active if self.fitted_data == "all" else None
        return Sums(oracle, summed(oracle, log, onto, penalised=True), None, len(log))

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The next epoch, given the rows to fit on."""
        return steps.regressed(
            epoch, sums, schedule=self.schedule, kernel=self.kernel, tries_unknown=self.tries_unknown
        )
