"""Learners that fit an ordinary regression at epoch ends and play its scores through a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.kernels import Kernel
from gyrfalcon.core.records import History, Log
from gyrfalcon.learners import epochwise
from gyrfalcon.learners.epochwise import Data, Size
from gyrfalcon.learners.refitting import Refitting
from gyrfalcon.learners.sums import Sums, summed
from gyrfalcon.oracles.linear import LinearOracle


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

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """A regression of the rows, then the kernel."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.schedule)
        return self.next_from(epoch, self.sums(epoch, log))

    def can_sum(self, epoch: Epoch) -> bool:
        """After the first rows, for linear classes."""
        return isinstance(epochwise.fitted_state(epoch).oracle, LinearOracle)

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """The rows to fit on, with these."""
        state = epochwise.fitted_state(epoch)
        if before is not None:
            rows = summed(before.oracle, log, before.active, penalised=True)
            return replace(before, active=rows, n_new=before.n_new + len(log))
        oracle = epochwise.oracle_for(state, self.model_class, log)
        onto = state.active if self.fitted_data == "all" else None
        return Sums(oracle, summed(oracle, log, onto, penalised=True), None, len(log))

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The next epoch, given the rows to fit on."""
        return epochwise.regressed(
            epoch, sums, schedule=self.schedule, kernel=self.kernel, tries_unknown=self.tries_unknown
        )
