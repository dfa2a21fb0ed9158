"""Situations to decide in: features shared by all actions, features of each action, and who may be chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats


@dataclass(frozen=True, slots=True)
class Contexts:
    """Validated contexts of n decisions as C-contiguous float64 arrays.

    Parameters
    ----------
    shared : array of float
        (n, p) features of the contexts; p = 0 is a problem without contexts.
    actions : array of float, optional
        (n, K, q) features of the actions, where they have some.
    eligible : array of bool, optional
        (n, K) mask of the actions that may be chosen; all by default.

    Examples
    --------
    >>> Contexts(np.zeros((2, 3))).take(slice(0, 1)).shared.shape
    (1, 3)
    """

    shared: Floats
    actions: Floats | None = None
    eligible: Bools | None = None

    def __len__(self) -> int:
        return len(self.shared)

    def take(self, rows: slice | Bools | np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Contexts:
        """The contexts of these rows."""
        return Contexts(
            self.shared[rows],
            None if self.actions is None else self.actions[rows],
            None if self.eligible is None else self.eligible[rows],
        )

    @staticmethod
    def concat(parts: list[Contexts], n_actions: int) -> Contexts:
        """All rows of the parts in order; a part without a mask counts as all eligible."""
        masks: Bools | None = None
        if any(part.eligible is not None for part in parts):
            masks = np.concatenate(
                [
                    np.ones((len(part), n_actions), dtype=np.bool_)
                    if part.eligible is None
                    else part.eligible
                    for part in parts
                ]
            )
        features = [part.actions for part in parts if part.actions is not None]
        if features and sum(map(len, features)) != sum(map(len, parts)):
            raise ValueError("some contexts have action features and some have none; give all or none.")
        return Contexts(
            np.concatenate([part.shared for part in parts]),
            np.concatenate(features) if features else None,
            masks,
        )
