"""Candidate classes beside the linear one: admitted with some rows, deferred while they can gain nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.class_selection import Predictions
from gyrfalcon.learners.adaptive.logistic_fit import LogisticFit
from gyrfalcon.learners.adaptive.model_classes import LOGISTIC, TREES, ClassChoice, candidate
from gyrfalcon.oracles.features.design import features_of
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.regressors.forest_features import grown

_MIN_ROWS, _MIN_ROWS_PER_ACTION = 40.0, 3.0
"""Rows with which classes are admitted, in all and per action; their feature maps are then made anew at
doublings."""
_MAX_CONTEXTS = 1000
"""Early contexts by which features are scaled, and length scales chosen; more rows change no feature map."""
_MAX_BUFFERED = 4096
"""Rows that are buffered for feature maps at most; all classes are admitted with these."""
_DEFERRED, _UPDATED = 2.0, 1.2
"""A class that can gain nothing is deferred until rows have grown by the first ratio; it is then compared on
every batch until they have grown by the second."""
_TREE_ROWS = 300
"""Rows that the first trees are grown on, and at least any; the next are grown on twice as many."""
_TREE_HALF_LIVES = 2.0
"""Half-lives of rows that trees are grown on, where rows are discounted."""

AnyFit = ClassFit | LogisticFit


@dataclass(frozen=True, slots=True)
class CandidateClasses:
    """Model classes with their fits, some deferred, and the rows that feature maps are made of."""

    fits: tuple[AnyFit | None, ...]
    """None for a class without enough rows, or of no use for these features."""
    next_review: tuple[float, ...]
    """Number of rows up to which a class stays deferred, or at least is compared."""
    next_map: tuple[float, ...]
    """Number of rows with which a class gets its feature map or a new one; infinite if it never will."""
    deferred: tuple[bool, ...]
    """Whether a class is neither refitted nor compared for the time being; its rows are summed."""
    buffered_logs: tuple[Log, ...] = ()
    """The rows so far, while a feature map is still to be made of them; all of them where there are trees."""

    @staticmethod
    def none(n_classes: int, n_actions: int) -> CandidateClasses:
        """Candidates before the first row."""
        rows = max(_MIN_ROWS, _MIN_ROWS_PER_ACTION * n_actions)
        return CandidateClasses(
            (None,) * n_classes, (0.0,) * n_classes, (rows,) * n_classes, (False,) * n_classes
        )

    def with_more(self, others: CandidateClasses) -> CandidateClasses:
        """The candidates and others after them, which have not seen any row."""
        return CandidateClasses(
            self.fits + others.fits,
            self.next_review + others.next_review,
            self.next_map + others.next_map,
            self.deferred + others.deferred,
            self.buffered_logs,
        )

    @property
    def excluded(self) -> list[bool]:
        """Whether a class is of no use for these features."""
        places = zip(self.fits, self.next_map, strict=True)
        return [fit is None and rows == math.inf for fit, rows in places]

    def updated(self, log: Log) -> tuple[CandidateClasses, list[Predictions | None]]:
        """Candidates with new rows, and their predictions before: None for those without any."""
        predictions = [
            None if fit is None or deferred else fit.predictions(log)
            for fit, deferred in zip(self.fits, self.deferred, strict=True)
        ]
        fits = tuple(None if fit is None else fit.with_rows(log) for fit in self.fits)
        return replace(self, fits=fits), predictions

    def refitted(self) -> CandidateClasses:
        """The candidates with those refitted that are not deferred, where they have rows enough."""
        places = zip(self.fits, self.deferred, strict=True)
        fits = (fit if fit is None or deferred else fit.refitted() for fit, deferred in places)
        return replace(self, fits=tuple(fits))

    def admitted(
        self,
        choices: Sequence[ClassChoice],
        log: Log,
        n_actions: int,
        ridge: float,
        half_life: float | None = None,
    ) -> CandidateClasses:
        """Candidates, with feature maps that these rows make due; other fits contain the log already."""
        if all(rows == math.inf for rows in self.next_map):
            return self
        logs = (*self.buffered_logs, log)
        n = sum(len(one) for one in logs)
        known = _effective_rows(logs) if n < _MAX_BUFFERED else math.inf
        due = [
            rows <= (n if fit is not None else known) and rows < math.inf
            for rows, fit in zip(self.next_map, self.fits, strict=True)
        ]
        if not any(due):
            return replace(self, buffered_logs=logs)
        rows = Log.concat(logs, n_actions)
        fits, next_map, next_review = list(self.fits), list(self.next_map), list(self.next_review)
        for place, choice in enumerate(choices):
            if not due[place]:
                continue
            if choice == TREES:
                fits[place], next_map[place] = _fitted_trees(rows, n_actions, ridge, place, half_life)
            else:
                before = fits[place]
                if before is not None and not self.deferred[place]:
                    before = before.refitted()  # a step of its penalties, with which it starts anew
                given = choice, rows, n_actions, ridge, place, before
                fits[place], next_map[place] = _fitted_class(*given)
            next_review[place] = max(next_review[place], _UPDATED * n)
        buffered = () if all(one == math.inf for one in next_map) else (rows,)
        return replace(
            self,
            fits=tuple(fits),
            next_map=tuple(next_map),
            next_review=tuple(next_review),
            buffered_logs=buffered,
        )

    def reviewed(
        self,
        choices: Sequence[ClassChoice],
        active: int,
        hopeless: Bools,
        n_seen: int,
        half_life: float | None = None,
    ) -> CandidateClasses:
        """The candidates, with those deferred that can gain nothing over the active one, others resumed.

        Trees that can gain nothing are dropped, and regrown later.
        """
        fits, next_review = list(self.fits), list(self.next_review)
        next_map, deferred = list(self.next_map), list(self.deferred)
        for place, fit in enumerate(self.fits):
            if fit is None or n_seen < next_review[place] or place == active:
                continue
            if deferred[place]:
                deferred[place], next_review[place] = False, _later(_UPDATED, n_seen, half_life)
            elif hopeless[place] and choices[place] == TREES:
                fits[place], next_map[place] = None, _later(2.0, next_map[place], half_life)
            elif hopeless[place]:
                deferred[place], next_review[place] = True, _later(_DEFERRED, n_seen, half_life)
        return replace(
            self,
            fits=tuple(fits),
            next_review=tuple(next_review),
            next_map=tuple(next_map),
            deferred=tuple(deferred),
        )

    def scaled(self, factor: float) -> CandidateClasses:
        """The candidates with every row's weight in the fits times a factor."""
        return replace(self, fits=tuple(None if fit is None else fit.scaled(factor) for fit in self.fits))

    def forgotten(self, kept: float) -> CandidateClasses:
        """The candidates when earlier rows count `kept` times; trees are regrown on that share of rows."""
        n = sum(len(log) for log in self.buffered_logs)
        if n < _MAX_BUFFERED:
            return self.scaled(kept)
        rows = Log.concat(self.buffered_logs, 1 + max(int(log.action.max()) for log in self.buffered_logs))
        recent = rows.take(slice(n - max(math.ceil(kept * n), _TREE_ROWS), n))
        grow = tuple(min(rows, 2.0 * len(recent)) if rows < math.inf else rows for rows in self.next_map)
        return replace(self.scaled(kept), buffered_logs=(recent,), next_map=grow)

    def reindexed(self, source: Ints) -> CandidateClasses:
        """The candidates when action k was action source[k] before, -1 if it is new."""
        return replace(
            self,
            fits=tuple(None if fit is None else fit.reindexed(source) for fit in self.fits),
            buffered_logs=tuple(action_changes.renumbered(log, source) for log in self.buffered_logs),
        )


def _fitted_class(
    choice: ClassChoice, rows: Log, n_actions: int, ridge: float, seed: int, before: AnyFit | None
) -> tuple[AnyFit | None, float]:
    """The fit of a class with a feature map of these rows, and the number of rows for its next map."""
    early = rows.take(slice(0, _MAX_CONTEXTS))
    own = features_of(early.contexts, early.action)
    inputs = np.concatenate([early.contexts.shared, own], axis=1) if own.shape[1] else early.contexts.shared
    found = candidate(choice, inputs, 1 if own.shape[1] else n_actions, seed=seed)
    if found is None:
        return None, math.inf
    n = len(rows)
    next_map = math.inf if n >= _MAX_CONTEXTS else min(2.0 * n, _MAX_CONTEXTS)
    if choice == LOGISTIC:
        made = None if own.shape[1] else LogisticFit.start(found, n_actions, ridge, rows)
        return made, math.inf if made is None else next_map
    fit = ClassFit.start(found, n_actions, ridge, own.shape[1])
    if isinstance(before, ClassFit) and len(before.penalties.values) == len(fit.penalties.values):
        known = before.penalties
        fit = replace(
            fit,
            penalties=replace(fit.penalties, values=known.values, noise=known.noise, center=known.center),
        )
    return fit.with_rows(rows).refitted(), next_map


def _fitted_trees(
    rows: Log, n_actions: int, ridge: float, seed: int, half_life: float | None
) -> tuple[ClassFit | None, float]:
    """The fit on trees of recent rows, and the number of rows with which the next are grown."""
    if rows.contexts.actions is not None:
        return None, math.inf
    if len(rows) < _MAX_BUFFERED and _effective_rows([rows]) < _TREE_ROWS:
        return None, float(_TREE_ROWS)
    most = len(rows) if half_life is None else max(math.ceil(_TREE_HALF_LIVES * half_life), _TREE_ROWS)
    recent = rows.take(slice(max(len(rows) - most, 0), len(rows)))
    trees, columns = grown(recent, n_actions, seed)
    sizes = (1, trees.n_features - n_actions, n_actions)
    fit = ClassFit.of(trees, n_actions, Penalties.start(sizes, ridge)).with_columns(columns, recent)
    return fit.refitted(), float(len(rows) + len(recent))


def _effective_rows(logs: Sequence[Log]) -> float:
    """The number of rows, less where most rewards are alike: rare or huge ones carry little information.

    A row counts by the variance over that of a coin between the least and the largest reward, or by the
    inverse of the kurtosis if that is more.
    """
    rewards = np.concatenate([log.reward for log in logs])
    squares = (rewards - rewards.mean()) ** 2
    variance, half = float(squares.mean()), 0.5 * float(np.ptp(rewards))
    if variance == 0.0 or half == 0.0:
        return 0.0
    share = max(variance / half**2, variance**2 / float((squares**2).mean()))
    return len(rewards) * min(1.0, share)


def _later(ratio: float, n_seen: float, half_life: float | None) -> float:
    """The number of rows times a ratio, but at most a half-life more."""
    return min(ratio * n_seen, n_seen + (half_life or math.inf))
