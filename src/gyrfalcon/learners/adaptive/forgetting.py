"""Whether earlier rows still count: fits that forget are compared with the one that does not.

Beside the pooled linear fit there are shadows of it, in which the weight of a row halves every so many rows.
While the environment stays, they predict worse, for they know less. When one of them predicts surely better,
by predictive log-likelihood one block ahead, the pooled fit goes on from the rows as that shadow weighs them:
what is older than the change is forgotten, and from there on all rows count alike again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions, log_scores
from gyrfalcon.learners.reward_scale import RewardScale
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import marginal_fit
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

HALF_LIVES = (500.0, 2000.0, 8000.0)
"""Rows after which a row's weight has halved, shadow by shadow."""
_MIN_Z = 3.0
"""Standard errors by which a shadow must predict better."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A ridge fit of discounted rows, and how much better than the pooled fit it has predicted of late."""

    half_life: float
    rows: Moments
    penalties: Penalties
    model: OptimisticModel | None = None
    """None before its first fit."""
    log_score_gap: float = 0.0
    """Discounted sum of its log-scores less those of the pooled fit."""
    log_score_gap_squares: float = 0.0
    """The sum of their squares, with squared weights."""

    @property
    def z(self) -> float:
        """The gap in standard errors."""
        squares = self.log_score_gap_squares
        return self.log_score_gap / math.sqrt(squares) if squares > 0.0 else 0.0

    def predictions(self, log: Log) -> Predictions | None:
        """Predictions for rows that the shadow has not seen; None before its first fit."""
        if self.model is None or self.penalties.noise == 0.0:
            return None
        leverages = self.model.widths_of(log.contexts, log.action) ** 2
        return Predictions(self.model.model.estimates_of(log), leverages, self.penalties.noise)

    def with_gaps(self, gaps: Floats) -> Shadow:
        """The shadow with log-scores less those of the best class, (n,), of new rows."""
        kept = math.pow(0.5, len(gaps) / self.half_life)
        return replace(
            self,
            log_score_gap=kept * self.log_score_gap + float(gaps.sum()),
            log_score_gap_squares=kept**2 * self.log_score_gap_squares + float(gaps @ gaps),
        )

    def refitted(self, oracle: LinearOracle, sums: Moments, n_new: int) -> Shadow:
        """The shadow with these sums of new rows, fitted anew."""
        rows = self.rows.rootless().scaled(math.pow(0.5, n_new / self.half_life)) + sums
        model, _, penalties = marginal_fit(oracle, rows, self.penalties)
        return replace(self, rows=rows, model=model, penalties=penalties)

    def restarted(self, rows: Moments, penalties: Penalties) -> Shadow:
        """The shadow with other rows and penalties, compared from now on."""
        return Shadow(self.half_life, rows, penalties)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The shadows so far, the shortest half-life first; one joins with as many rows as its half-life."""

    shadows: tuple[Shadow, ...] = ()

    def predictions(self, log: Log) -> list[Predictions | None]:
        """Predictions of the shadows for rows that they have not seen."""
        return [one.predictions(log) for one in self.shadows]

    def compared(
        self,
        classes: Sequence[Predictions | None],
        shadows: Sequence[Predictions | None],
        log: Log,
        scale: RewardScale,
    ) -> Forgetting:
        """The shadows, compared with the class that predicted these rows best."""
        given = [one for one in classes if one is not None]
        if not given or scale.variance == 0.0:
            return self
        noise = min(one.noise for one in given)
        scores = log_scores([replace(one, noise=noise) for one in given], log, scale)
        best = scores[scores.sum(axis=1).argmax()]
        return Forgetting(
            tuple(
                one if own is None else one.with_gaps(log_scores([replace(own, noise=noise)], log, scale)[0] - best)
                for one, own in zip(self.shadows, shadows, strict=True)
            )
        )

    @property
    def winner(self) -> Shadow | None:
        """The shadow that surely predicts best, None if none predicts surely better than the pooled fit."""
        surely = [one for one in self.shadows if one.z > _MIN_Z]
        return max(surely, key=lambda one: one.log_score_gap, default=None)

    def followed(self, winner: Shadow) -> Forgetting:
        """The shadows when the pooled fit goes on from the winner: those that forget less do so, too."""
        return Forgetting(
            tuple(
                replace(one, log_score_gap=0.0, log_score_gap_squares=0.0)
                if one.half_life <= winner.half_life
                else one.restarted(winner.rows, winner.penalties)
                for one in self.shadows
            )
        )

    def refitted(self, oracle: LinearOracle, log: Log, pooled: Moments, penalties: Penalties) -> Forgetting:
        """The shadows with new rows; one more where there are rows enough to forget some."""
        if not self.shadows and pooled.n < HALF_LIVES[0]:
            return self
        sums = oracle.sums(log)
        shadows = tuple(one.refitted(oracle, sums, len(log)) for one in self.shadows)
        due = [half for half in HALF_LIVES[len(shadows) :] if pooled.n >= half]
        return Forgetting((*shadows, *(Shadow(half, pooled, penalties) for half in due)))


NO_SHADOWS = Forgetting()
