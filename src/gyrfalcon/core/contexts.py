"""Contexts of decisions: shared features, features of actions, and eligible actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats


@dataclass(frozen=True, slots=True)
class Contexts:
    """n contexts as C-contiguous arrays, validated once by `Problem.contexts` and trusted from there on.

    Parameters
    ----------
    shared
        Features that all actions share, (n, p) float64; p = 0 is a problem without contexts.
    actions
        Features of each action, (n, K, q) float64, or None where actions have none.
    eligible
        Which actions may be chosen, (n, K) boolean, or None where all may.

    Examples
    --------
    >>> Contexts(np.zeros((2, 3))).take(slice(0, 1))
    Contexts(1 row, 3 features)
    """

    shared: Floats
    actions: Floats | None = None
    eligible: Bools | None = None

    def __len__(self) -> int:
        return len(self.shared)

    def __repr__(self) -> str:
        parts = [f"{len(self)} row{'' if len(self) == 1 else 's'}", f"{self.shared.shape[-1]} features"]
        if self.actions is not None:
            parts.append(f"{self.actions.shape[-1]} features of actions")
        if self.eligible is not None:
            parts.append(f"{self.eligible.mean():.0%} eligible" if self.eligible.size else "eligible actions")
        return f"Contexts({', '.join(parts)})"

    def take(self, rows: slice | Bools | np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Contexts:
        """The contexts of these rows, as views where they are a slice."""
        return Contexts(
            self.shared[rows],
            None if self.actions is None else self.actions[rows],
            None if self.eligible is None else self.eligible[rows],
        )

    @staticmethod
    def concat(parts: list[Contexts], n_actions: int) -> Contexts:
        """All rows of the parts in order; in a part without a mask, all actions are eligible."""
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
