"""Which classes take part beside the linear one: those with rows enough for them, of which some rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.learners import action_changes
from gyrfalcon.learners.adaptive.model_classes import MOST_COLUMNS, TREES, ClassChoice, candidate
from gyrfalcon.oracles.recursive.deferred import RestingRidge
from gyrfalcon.oracles.recursive.forest_features import grown
from gyrfalcon.oracles.recursive.ridge import RunningRidge

Fit = RunningRidge | RestingRidge

_MOST_EARLY = 4096
"""Rows that are kept until classes have enough of them to enter; then they enter with these."""
_MOST_CONTEXTS = 1000
"""Early contexts by which features are scaled, and waves measured."""
_FAR_BEHIND, _RESTS, _STAYS = -4.0, 1.5, 1.3
"""Standard errors behind with which a class rests, until rows are so many times as many; it then stays awake
until they are so many times as many again."""
_ROWS_PER_COLUMN = {"quadratic": 0.5}
_ROWS_PER_OTHER_COLUMN = 1.5
_ROWS_OF_TREES = 300
"""Rows that the first trees are grown on, and at least any; when there are twice as many, the next are."""
_REMEMBERED = 2.0
"""Half-lives of rows that trees are grown on, where rows are forgotten."""


@dataclass(frozen=True, slots=True)
class Entrants:
    """The classes beside the linear one, and the rows that some of them wait for."""

    fits: tuple[Fit | None, ...]
    """None for a class that waits for rows, or is of no use for these features."""
    until: tuple[float, ...]
    """Up to how many rows a class rests, or at least takes part."""
    wanted: tuple[float, ...]
    """Rows with which a class enters, and trees are grown anew; 0 if it has, infinite if it never will, -1
    before that is known. Before a class has entered, rows count by what they are worth to it."""
    early: tuple[Log, ...] = ()
    """The first rows, as long as a class waits for more; all of them where there are trees."""

    @staticmethod
    def none(n_classes: int) -> Entrants:
        """Before the first row."""
        return Entrants((None,) * n_classes, (0.0,) * n_classes, (-1.0,) * n_classes)

    @property
    def awake(self) -> list[int]:
        """The places of those that take part now."""
        return [place for place, fit in enumerate(self.fits) if isinstance(fit, RunningRidge)]

    def sizes(self, choices: Sequence[ClassChoice]) -> list[int]:
        """Columns of each class; trees have few and are richer than all."""
        return [
            0 if fit is None else MOST_COLUMNS + 1 if choice == TREES else fit.n_columns
            for fit, choice in zip(self.fits, choices, strict=False)
        ]

    def entered(
        self,
        choices: Sequence[ClassChoice],
        log: Log,
        n_actions: int,
        ridge: float,
        half_life: float | None = None,
    ) -> Entrants:
        """With the classes that now have rows enough; the log's rows are in the fits of the others."""
        if not _waits(self.wanted):
            return self
        kept = (*self.early, log)
        n = sum(len(one) for one in kept)
        worth = _so_far(kept)
        due = [
            rows < math.inf and rows != 0.0 and rows <= (n if rows > n_first else worth)
            for rows, n_first in zip(self.wanted, map(_first, choices), strict=True)
        ]
        if not any(due):
            return replace(self, early=kept)
        rows = Log.concat(kept, n_actions)
        fits, wanted, until = list(self.fits), list(self.wanted), list(self.until)
        for place, choice in enumerate(choices):
            if not due[place]:
                continue
            if choice == TREES:
                made, wanted[place] = _trees(rows, n_actions, ridge, place, half_life)
            else:
                made, wanted[place] = _made(choice, rows, n_actions, ridge, place)
            if made is not None:
                fits[place], until[place] = made, _STAYS * n
        return Entrants(tuple(fits), tuple(until), tuple(wanted), (rows,) if _waits(wanted) else ())

    def rested(
        self,
        choices: Sequence[ClassChoice],
        playing: int,
        leads: Floats,
        n_seen: int,
        half_life: float | None = None,
    ) -> Entrants:
        """With those at rest that are far behind the one at place `playing`, and awake that have rested.

        `leads` are in standard errors. Trees that are far behind are given up, and the next not grown.
        """
        fits, until, wanted = list(self.fits), list(self.until), list(self.wanted)
        for place, fit in enumerate(self.fits):
            if fit is None or n_seen < until[place] or place == playing:
                continue
            if isinstance(fit, RestingRidge):
                fits[place], until[place] = fit.awake(), _later(_STAYS, n_seen, half_life)
            elif leads[place] < _FAR_BEHIND and choices[place] == TREES:
                fits[place], wanted[place] = None, _later(2.0, wanted[place], half_life)
            elif leads[place] < _FAR_BEHIND:
                fits[place], until[place] = RestingRidge.of(fit), _later(_RESTS, n_seen, half_life)
        return replace(self, fits=tuple(fits), until=tuple(until), wanted=tuple(wanted))

    def scaled(self, factor: float) -> Entrants:
        """With every row's weight in the fits times a factor."""
        return replace(self, fits=tuple(None if fit is None else fit.scaled(factor) for fit in self.fits))

    def reindexed(self, source: Ints) -> Entrants:
        """The same when action k was action source[k] before, -1 if it is new."""
        return replace(
            self,
            fits=tuple(None if fit is None else fit.reindexed(source) for fit in self.fits),
            early=tuple(action_changes.renumbered(log, source) for log in self.early),
        )


def _made(
    choice: ClassChoice, rows: Log, n_actions: int, ridge: float, seed: int
) -> tuple[RunningRidge | None, float]:
    """The fit of a class, None if rows are too few, and the rows that it then wants."""
    found = candidate(choice, rows.contexts.shared[:_MOST_CONTEXTS], n_actions, seed=seed)
    if found is None:
        return None, math.inf
    wanted = _wanted(choice, found.n_columns)
    if wanted > _so_far([rows]):
        return None, wanted
    return found.start(n_actions, ridge).with_rows(rows), 0.0


def _trees(
    rows: Log, n_actions: int, ridge: float, seed: int, half_life: float | None
) -> tuple[RunningRidge | None, float]:
    """Trees of what is remembered, and as many rows again as there were, with which the next are grown."""
    if _so_far([rows]) < _ROWS_OF_TREES:
        return None, float(_ROWS_OF_TREES)
    recent = _remembered(rows, half_life)
    return grown(recent, n_actions, ridge, seed), float(len(rows) + len(recent))


def _waits(wanted: Sequence[float]) -> bool:
    """Whether a class still waits for rows."""
    return any(rows not in {0.0, math.inf} for rows in wanted)


def _first(choice: ClassChoice) -> float:
    """Up to how many rows those that a class wants are the first ones."""
    return _ROWS_OF_TREES if choice == TREES else math.inf


def _so_far(logs: Sequence[Log]) -> float:
    """What rows are worth to a class that waits: less where rewards hardly vary, as rare ones say little.

    At some number all enter, whatever rewards are like.
    """
    rewards = np.concatenate([log.reward for log in logs])
    worth = len(rewards) * min(1.0, 4.0 * float(rewards.var()))
    return worth if len(rewards) < _MOST_EARLY else math.inf


def _wanted(choice: ClassChoice, n_columns: int) -> float:
    per_column = (
        _ROWS_PER_OTHER_COLUMN
        if not isinstance(choice, str)
        else _ROWS_PER_COLUMN.get(choice, _ROWS_PER_OTHER_COLUMN)
    )
    return per_column * n_columns


def _remembered(rows: Log, half_life: float | None) -> Log:
    """The latest rows, where earlier ones are forgotten."""
    most = len(rows) if half_life is None else max(math.ceil(_REMEMBERED * half_life), _ROWS_OF_TREES)
    return rows.take(slice(max(len(rows) - most, 0), len(rows)))


def _later(ratio: float, n_seen: float, half_life: float | None) -> float:
    """When rows are so many times as many, but no later than a half-life from now."""
    return min(ratio * n_seen, n_seen + (half_life or math.inf))
