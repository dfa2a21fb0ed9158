"""Candidate classes beside the linear one: admitted with enough data, deferred while far behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.model_classes import MAX_COLUMNS, TREES, ClassChoice, candidate
from gyrfalcon.oracles.features.design import columns_of
from gyrfalcon.oracles.linear.models import fill_unknown
from gyrfalcon.oracles.recursive.deferred import DeferredRidge
from gyrfalcon.oracles.recursive.forest_features import grown
from gyrfalcon.oracles.recursive.ridge import RecursiveRidge

Fit = RecursiveRidge | DeferredRidge

_MAX_BUFFERED = 4096
"""Rows that are buffered until classes have enough of them; all classes are admitted with these."""
_MAX_CONTEXTS = 1000
"""Early contexts by which features are scaled, and length scales chosen."""
_FAR_BEHIND, _DEFERRED, _UPDATED = -4.0, 1.5, 1.3
"""A class this many standard errors behind is deferred until rows have grown by the first ratio; it is then
updated with every batch until they have grown by the second."""
_ROWS_PER_COLUMN = {"quadratic": 0.5}
_ROWS_PER_OTHER_COLUMN = 1.5
_NO_WAIT = frozenset({0.0, math.inf})
"""Rows that a class needs which waits for none: it is admitted, or never will be."""
_TREE_ROWS = 300
"""Rows that the first trees are grown on, and at least any; the next are grown on twice as many."""
_TREE_HALF_LIVES = 2.0
"""Half-lives of rows that trees are grown on, where rows are discounted."""


@dataclass(frozen=True, slots=True)
class CandidateClasses:
    """Model classes with enough data, some deferred, and the rows that others wait for."""

    fits: tuple[Fit | None, ...]
    """None for a class without enough rows, or of no use for these features."""
    next_review: tuple[float, ...]
    """Number of rows up to which a class stays deferred, or at least is updated."""
    min_rows: tuple[float, ...]
    """Rows with which a class is admitted, and trees are regrown; 0 once it is, infinite if it never will be,
    -1 before that is known. Before a class is admitted, rows are weighted by how rewards vary."""
    buffered_logs: tuple[Log, ...] = ()
    """The first rows, as long as a class waits for more; all of them where there are trees."""

    @staticmethod
    def none(n_classes: int) -> CandidateClasses:
        """Candidates before the first row."""
        return CandidateClasses((None,) * n_classes, (0.0,) * n_classes, (-1.0,) * n_classes)

    def sizes(self, choices: Sequence[ClassChoice]) -> list[int]:
        """Columns of each class; trees have few and are richer than all."""
        return [
            0 if fit is None else MAX_COLUMNS + 1 if choice == TREES else fit.n_columns
            for fit, choice in zip(self.fits, choices, strict=False)
        ]

    def updated(self, log: Log, center: float = 0.0) -> tuple[CandidateClasses, list[Predictions | None]]:
        """Candidates with new rows, and their predictions before: None for those not fitted or deferred.

        `center` is the mean reward before, towards which predictions shrink.
        """
        fits: list[Fit | None] = []
        predictions: list[Predictions | None] = []
        for fit in self.fits:
            if not isinstance(fit, RecursiveRidge):
                fits.append(None if fit is None else fit.with_rows(log))
                predictions.append(None)
                continue
            phi = columns_of(fit.basis, log.contexts)
            after, leverages = fit.updated(log, phi)
            means, known = fit.centered(center) @ phi.T, fit.known
            if known is not None:
                fill_unknown(means, known, log.contexts.eligible, eager=True)
            fits.append(after)
            predictions.append(Predictions(means.T, leverages))
        return replace(self, fits=tuple(fits)), predictions

    def admitted(
        self,
        choices: Sequence[ClassChoice],
        log: Log,
        n_actions: int,
        ridge: float,
        half_life: float | None = None,
    ) -> CandidateClasses:
        """Candidates, with classes that now have enough rows; the others' fits contain the log already."""
        if _NO_WAIT.issuperset(self.min_rows):
            return self
        logs = (*self.buffered_logs, log)
        n = sum(len(one) for one in logs)
        weighted = _effective_rows(logs)
        due = [
            rows < math.inf
            and rows != 0.0
            and rows <= (n if choice == TREES and rows > _TREE_ROWS else weighted)
            for rows, choice in zip(self.min_rows, choices, strict=True)
        ]
        if not any(due):
            return replace(self, buffered_logs=logs)
        rows = Log.concat(logs, n_actions)
        fits, min_rows, next_review = list(self.fits), list(self.min_rows), list(self.next_review)
        for place, choice in enumerate(choices):
            if not due[place]:
                continue
            if choice == TREES:
                made, min_rows[place] = _fitted_trees(rows, n_actions, ridge, place, half_life)
            else:
                made, min_rows[place] = _fitted_class(choice, rows, n_actions, ridge, place)
            if made is not None:
                fits[place], next_review[place] = made, _UPDATED * n
        buffered = () if _NO_WAIT.issuperset(min_rows) else (rows,)
        return CandidateClasses(tuple(fits), tuple(next_review), tuple(min_rows), buffered)

    def reviewed(
        self,
        choices: Sequence[ClassChoice],
        active: int,
        z: Floats,
        n_seen: int,
        half_life: float | None = None,
    ) -> CandidateClasses:
        """The candidates, with those deferred that are far behind the one at place `active`, others resumed.

        `z` are log-score gaps in standard errors. Trees that are far behind are dropped, and regrown later.
        """
        fits, next_review, min_rows = list(self.fits), list(self.next_review), list(self.min_rows)
        for place, fit in enumerate(self.fits):
            if fit is None or n_seen < next_review[place] or place == active:
                continue
            if isinstance(fit, DeferredRidge):
                fits[place], next_review[place] = fit.resume(), _later(_UPDATED, n_seen, half_life)
            elif z[place] < _FAR_BEHIND and choices[place] == TREES:
                fits[place], min_rows[place] = None, _later(2.0, min_rows[place], half_life)
            elif z[place] < _FAR_BEHIND:
                fits[place], next_review[place] = DeferredRidge.of(fit), _later(_DEFERRED, n_seen, half_life)
        return replace(self, fits=tuple(fits), next_review=tuple(next_review), min_rows=tuple(min_rows))

    def scaled(self, factor: float) -> CandidateClasses:
        """The candidates with every row's weight in the fits times a factor."""
        return replace(self, fits=tuple(None if fit is None else fit.scaled(factor) for fit in self.fits))

    def reindexed(self, source: Ints) -> CandidateClasses:
        """The candidates when action k was action source[k] before, -1 if it is new."""
        return replace(
            self,
            fits=tuple(None if fit is None else fit.reindexed(source) for fit in self.fits),
            buffered_logs=tuple(action_changes.renumbered(log, source) for log in self.buffered_logs),
        )


def _fitted_class(
    choice: ClassChoice, rows: Log, n_actions: int, ridge: float, seed: int
) -> tuple[RecursiveRidge | None, float]:
    """The fit of a class, None if rows are too few, and the number of rows that it then needs."""
    found = candidate(choice, rows.contexts.shared[:_MAX_CONTEXTS], n_actions, seed=seed)
    if found is None:
        return None, math.inf
    per_column = _ROWS_PER_COLUMN.get(choice) if isinstance(choice, str) else None
    min_rows = (per_column or _ROWS_PER_OTHER_COLUMN) * found.n_columns
    if min_rows > _effective_rows([rows]):
        return None, min_rows
    return found.start(n_actions, ridge).with_rows(rows), 0.0


def _fitted_trees(
    rows: Log, n_actions: int, ridge: float, seed: int, half_life: float | None
) -> tuple[RecursiveRidge | None, float]:
    """The fit on trees of recent rows, and the number of rows with which the next are grown."""
    if _effective_rows([rows]) < _TREE_ROWS:
        return None, float(_TREE_ROWS)
    most = len(rows) if half_life is None else max(math.ceil(_TREE_HALF_LIVES * half_life), _TREE_ROWS)
    recent = rows.take(slice(max(len(rows) - most, 0), len(rows)))
    return grown(recent, n_actions, ridge, seed), float(len(rows) + len(recent))


def _effective_rows(logs: Sequence[Log]) -> float:
    """The number of rows, less where most rewards are alike: rare or huge ones carry little information.

    A row counts by the variance over that of a coin between the least and the largest reward, or by the
    inverse of the kurtosis if that is more. At the largest number that is buffered it is infinite, so that
    every class is admitted.
    """
    rewards = np.concatenate([log.reward for log in logs])
    if len(rewards) >= _MAX_BUFFERED:
        return math.inf
    squares = (rewards - rewards.mean()) ** 2
    variance, half = float(squares.mean()), 0.5 * float(np.ptp(rewards))
    if variance == 0.0 or half == 0.0:
        return 0.0
    share = max(variance / half**2, variance**2 / float((squares**2).mean()))
    return len(rewards) * min(1.0, share)


def _later(ratio: float, n_seen: float, half_life: float | None) -> float:
    """The number of rows times a ratio, but at most a half-life more."""
    return min(ratio * n_seen, n_seen + (half_life or math.inf))
