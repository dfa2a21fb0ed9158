"""The value of a learning algorithm, as estimated from a log."""

from __future__ import annotations

from dataclasses import dataclass

from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.intervals.interval import Interval


@dataclass(frozen=True, slots=True, repr=False)
class LearnerValue:
    """Mean reward of a learner over its first rounds, as estimated from a log; see `evaluate_learner`.

    Parameters
    ----------
    estimate
        The mean reward per round, in the units of the log.
    interval
        Normal interval of the mean value of the policies that the learner had in this run.
    method
        "replay" or "doubly_robust".
    n_rounds
        Rows of the log that counted as rounds of the learner.
    n_visited
        Rows that the learner went through until then.
    n_rows
        Rows of the log.
    cut_share
        Share of the rows gone through that should have counted with a probability above 1.
    """

    estimate: Estimate
    interval: Interval
    method: str
    n_rounds: int
    n_visited: int
    n_rows: int
    cut_share: float

    @property
    def value(self) -> float:
        """The estimated mean reward per round."""
        return self.estimate.value

    @property
    def bias(self) -> str:
        """One sentence on the bias of the value."""
        if self.cut_share == 0.0:
            return (
                f"Rounds are distributed as the first {self.n_rounds:,} of live play, if the log's rows are "
                "independent of each other and its propensities are right; what a longer run would learn is "
                "not in the value."
            )
        return (
            f"{100.0 * self.cut_share:.2g}% of the rows should have counted with a probability above 1, so "
            "that the learner met fewer of the log's rare actions than in live play; a smaller quantile, or "
            "replay, lessens that."
        )

    def __repr__(self) -> str:
        bounds = f"[{self.interval.low:.3g}, {self.interval.high:.3g}] at level {self.interval.level:g}"
        rows = f"{self.n_visited:,} of {self.n_rows:,} rows"
        return (
            f"LearnerValue({self.value:.3g} in {bounds} over {self.n_rounds:,} rounds, {self.method}, {rows})"
        )
