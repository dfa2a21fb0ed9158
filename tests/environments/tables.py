"""Models and policies on finitely many contexts, written out as tables: context i has i as its feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts


def numbered(n: int) -> Contexts:
    """Contexts 0..n-1."""
    return Contexts(np.arange(float(n))[:, np.newaxis])


def rows_of(table: Floats, contexts: Contexts) -> Floats:
    rows: Floats = table[contexts.shared[:, 0].astype(np.int64)]
    return rows


@dataclass(frozen=True)
class TableModel:
    """Scores of every context."""

    table: Floats

    def scores(self, contexts: Contexts) -> Floats:
        return rows_of(self.table, contexts)


@dataclass(frozen=True)
class TablePolicy:
    """Probabilities in every context."""

    table: Floats

    @staticmethod
    def choosing(actions: ArrayLike, n_actions: int) -> TablePolicy:
        """The policy that plays action actions[i] in context i."""
        return TablePolicy(np.eye(n_actions)[np.asarray(actions, dtype=np.int64)])

    def probabilities(self, contexts: Contexts) -> Floats:
        return rows_of(self.table, contexts)


@dataclass(frozen=True)
class Always:
    """The same probabilities in whatever context."""

    row: tuple[float, ...]

    def probabilities(self, contexts: Contexts) -> Floats:
        return np.tile(np.array(self.row), (len(contexts), 1))


@dataclass(frozen=True)
class Lines:
    """Intercept and slope of each action on one feature."""

    lines: tuple[tuple[float, float], ...]

    def scores(self, contexts: Contexts) -> Floats:
        return np.stack([first + slope * contexts.shared[:, 0] for first, slope in self.lines], axis=1)
