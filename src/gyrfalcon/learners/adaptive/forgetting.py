"""Changes of the environment, noticed by fits that forget and by errors that grow.

Beside the pooled linear fit there are shadows of it, in which the weight of a row halves every so many rows.
While the environment stays and the linear class is right, shadows predict worse, as they know less. When one
of them predicts surely better, the pooled fit goes on from the rows as that shadow weighs them: what is older
than the change is forgotten, and from there on all rows count alike again. The fit from before the change is
set aside: when it surely predicts better, as in a season that returns, fits go on from its rows.

A class that is wrong fits the rows of late better than all rows, only because its policy has moved. But
errors become smaller while a class learns, right or wrong. So the shadows decide while the linear class is
active and its errors, one block ahead, have grown. A wide class is watched by its errors alone: when they are
surely larger of late than before, it starts anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.reward_scale import RewardScale
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import marginal_fit
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

HALF_LIVES = (500.0, 2000.0, 8000.0)
"""Rows after which a row's weight has halved, shadow by shadow."""
_MIN_Z, _MIN_GAP = 3.0, 5.0
"""Standard errors and log-likelihood by which a shadow must predict better: where rewards are rare, rows
without any all say the same, and make many standard errors of next to nothing."""
_MIN_LINEAR_ERRORS_Z, _MIN_ERRORS_Z = 1.0, 4.0
"""Standard errors by which the errors of the linear class, and of a wide class, must have grown."""
_SET_ASIDE_HALF_LIFE = 300.0
"""Rows after which a row counts half where the fit set aside is compared: it predicts badly for as long as
its season is over, and is to be found again soon after that returns."""
_MOST_SURPRISE, _LARGEST_ERROR = 5.0, 25.0
"""Log-likelihood that one row can count for or against a shadow, and the largest squared error of a wide
class in multiples of their mean before: one absurd reward is no change."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A ridge fit of discounted rows, and how much better than all classes it has predicted of late."""

    half_life: float
    rows: Moments
    penalties: Penalties
    model: OptimisticModel | None = None
    """None before its first fit."""
    log_score_gap: float = 0.0
    """Discounted sum of its log-scores less those of the best class."""
    log_score_gap_squares: float = 0.0
    """The sum of their squares, with squared weights."""

    @property
    def z(self) -> float:
        """The gap in standard errors, 0 before any row."""
        squares = self.log_score_gap_squares
        return self.log_score_gap / math.sqrt(squares) if squares > 0.0 else 0.0

    def compared(self, least: Floats, noise: float, log: Log, scale: RewardScale) -> Shadow:
        """The shadow with its gaps on rows that it has not seen, where the best class has these errors."""
        if self.model is None:
            return self
        own = _squared_errors(self.model.model.estimates_of(log), log, scale)
        gaps = np.clip((least - own) / (2.0 * noise), -_MOST_SURPRISE, _MOST_SURPRISE)
        kept = math.pow(0.5, len(gaps) / self.half_life)
        return replace(
            self,
            log_score_gap=kept * self.log_score_gap + float(gaps.sum()),
            log_score_gap_squares=kept**2 * self.log_score_gap_squares + float(gaps @ gaps),
        )

    @property
    def is_better(self) -> bool:
        """Whether it has surely predicted better."""
        return self.z > _MIN_Z and self.log_score_gap > _MIN_GAP

    def refitted(self, oracle: LinearOracle, sums: Moments, n_new: int, information: float = 1.0) -> Shadow:
        """The shadow with the sums of new rows, fitted anew."""
        rows = self.rows.scaled(math.pow(0.5, n_new / self.half_life)) + sums
        return replace(self, rows=rows).fitted(oracle, information)

    def fitted(self, oracle: LinearOracle, information: float = 1.0) -> Shadow:
        """The shadow fitted to its rows."""
        model, _, penalties = marginal_fit(oracle, self.rows, self.penalties, information)
        return replace(self, model=model, penalties=penalties)

    def reindexed(self, before: LinearOracle, after: LinearOracle, source: Ints) -> Shadow:
        """The shadow when action k was action source[k] before, -1 if it is new; compared anew."""
        rows = before.reindexed_summary(self.rows, source)
        return Shadow(self.half_life, rows, self.penalties.reindexed(before.design, after.design))


@dataclass(frozen=True, slots=True)
class RecentErrors:
    """Squared errors of a class one block ahead: their sums over all rows, and over those of late.

    >>> errors = RecentErrors().updated(np.tile([0.8, 1.2], 1000)).updated(np.tile([1.8, 2.2], 250))
    >>> bool(errors.z > 4.0)
    True
    """

    n: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    recent_n: float = 0.0
    recent_total: float = 0.0
    recent_weights: float = 0.0
    """The sum of squared weights of rows in the recent sums."""

    @property
    def z(self) -> float:
        """The mean of late less the mean of all rows, in standard errors; 0 while there are few rows."""
        if self.n < 2.0 * HALF_LIVES[0]:
            return 0.0
        mean = self.total / self.n
        variance = self.squares / self.n - mean**2
        if variance <= 0.0:
            return 0.0
        excess = self.recent_total - self.recent_n * mean
        return excess / math.sqrt(variance * self.recent_weights)

    def updated(self, errors: Floats) -> RecentErrors:
        """The sums with the squared errors of new rows, (n,)."""
        if self.total > 0.0:
            errors = np.minimum(errors, _LARGEST_ERROR * self.total / self.n)
        kept, total = math.pow(0.5, len(errors) / HALF_LIVES[0]), float(errors.sum())
        return RecentErrors(
            self.n + len(errors),
            self.total + total,
            self.squares + float(errors @ errors),
            kept * self.recent_n + len(errors),
            kept * self.recent_total + total,
            kept**2 * self.recent_weights + len(errors),
        )


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The shadows, the shortest half-life first, and the errors of the active class."""

    shadows: tuple[Shadow, ...] = ()
    """One joins when there are as many rows as its half-life."""
    errors: RecentErrors = RecentErrors()
    active: int = 0
    """The number of the class whose errors these are."""
    n_changes: int = 0
    """How many times rows have been forgotten."""
    set_aside: Shadow | None = None
    """The pooled fit as it was when rows were forgotten last; no rows are added to it."""
    n_returns: int = 0
    """How many times fits have gone on from the rows set aside."""

    @property
    def winner(self) -> Shadow | None:
        """The shadow from whose rows fits are to go on, None where nothing is to be forgotten."""
        if self.active:
            return self.shadows[0] if self.shadows and self.errors.z > _MIN_ERRORS_Z else None
        given = self.shadows if self.errors.z > _MIN_LINEAR_ERRORS_Z else ()
        if self.set_aside is not None:
            given = (*given, self.set_aside)
        surely = [one for one in given if one.is_better]
        return max(surely, key=lambda one: one.log_score_gap, default=None)

    def compared(
        self, classes: Sequence[Predictions | None], active: int, log: Log, scale: RewardScale
    ) -> Forgetting:
        """The shadows compared with the class that predicted new rows best, and the errors of the active one.

        Densities have the least noise of all classes and no uncertainty of estimates: what a shadow takes for
        noise, or how little it claims to know, says nothing of a change.
        """
        given, playing = [one for one in classes if one is not None], classes[active]
        if not self.shadows or not given or scale.variance == 0.0:
            return self
        noise = min(one.noise for one in given)
        squares = np.stack([_squared_errors(one.estimates, log, scale) for one in given])
        least = squares[squares.sum(axis=1).argmin()]
        shadows = tuple(one.compared(least, noise, log, scale) for one in self.shadows)
        errors = self.errors if active == self.active else RecentErrors()
        if playing is not None:
            errors = errors.updated(_squared_errors(playing.estimates, log, scale))
        aside = self.set_aside and self.set_aside.compared(least, noise, log, scale)
        return replace(self, shadows=shadows, errors=errors, active=active, set_aside=aside)

    def followed(
        self, winner: Shadow, rows: Moments, penalties: Penalties, model: OptimisticModel
    ) -> Forgetting:
        """The shadows when fits go on from the winner's rows: those that forget less do so, too.

        The pooled fit until now, with these rows, is set aside. A change can need several steps: so the
        errors of the linear class go on, and so do all shadows where fits return to the rows set aside.
        """
        returns = winner is self.set_aside
        shadows = [
            Shadow(one.half_life, winner.rows, winner.penalties)
            if one.half_life > winner.half_life and not returns
            else replace(one, log_score_gap=0.0, log_score_gap_squares=0.0)
            for one in self.shadows
        ]
        return Forgetting(
            tuple(shadows),
            RecentErrors() if self.active else self.errors,
            self.active,
            self.n_changes + (not returns),
            Shadow(_SET_ASIDE_HALF_LIFE, rows.rootless(), penalties, model),
            self.n_returns + returns,
        )

    def refitted(
        self,
        oracle: LinearOracle,
        log: Log,
        pooled: Moments,
        penalties: Penalties,
        information: float = 1.0,
    ) -> Forgetting:
        """The shadows with new rows, and one more where there are rows enough to forget some."""
        if pooled.n < HALF_LIVES[0] and not self.shadows:
            return self
        sums = oracle.sums(log)
        shadows = tuple(one.refitted(oracle, sums, len(log), information) for one in self.shadows)
        due = [half_life for half_life in HALF_LIVES[len(shadows) :] if pooled.n >= half_life]
        new = (Shadow(half_life, pooled.rootless(), penalties) for half_life in due)
        aside = self.set_aside
        if aside is not None and aside.model is None:
            aside = aside.fitted(oracle, information)
        return replace(self, shadows=(*shadows, *new), set_aside=aside)

    def reindexed(self, before: LinearOracle, after: LinearOracle, source: Ints) -> Forgetting:
        """The shadows when action k was action source[k] before, -1 if it is new."""
        shadows = tuple(one.reindexed(before, after, source) for one in self.shadows)
        aside = self.set_aside and self.set_aside.reindexed(before, after, source)
        return replace(self, shadows=shadows, errors=RecentErrors(), set_aside=aside)


def _squared_errors(estimates: Floats, log: Log, scale: RewardScale) -> Floats:
    """(n,): squared errors of estimates that are kept within the rewards seen."""
    return np.asarray((log.reward - estimates.clip(scale.low, scale.high)) ** 2)


NOTHING_FORGOTTEN = Forgetting()
