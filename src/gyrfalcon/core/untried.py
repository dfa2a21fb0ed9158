"""Trying what there are no data on: beside a kernel that would play it always or never."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.kernels import Kernel
from gyrfalcon.core.types import Bools, Floats


@dataclass(frozen=True, slots=True)
class TryingKernel:
    """Each eligible action without data with probability 1 / K, and the kernel among the others.

    >>> from gyrfalcon.core.kernels import EpsilonGreedyKernel
    >>> kernel = TryingKernel(EpsilonGreedyKernel(0.0), known=np.array([True, True, True, False]))
    >>> kernel.probabilities(np.array([[0.1, 0.3, 0.2, 0.0]])).tolist()
    [[0.0, 0.75, 0.0, 0.25]]
    """

    kernel: Kernel
    known: Bools | None  # (K,); None: all

    def probabilities(self, scores: Floats, eligible: Bools | None = None) -> Floats:
        """(n, K)."""
        if self.known is None:
            return self.kernel.probabilities(scores, eligible)
        mask = np.ones(scores.shape, dtype=np.bool_) if eligible is None else eligible
        known = mask & self.known
        # A row without any known action is left to chance; the kernel must still have something to choose.
        playable = np.where(known.any(axis=-1, keepdims=True), known, mask)
        tried: Floats = (mask & ~self.known) / mask.sum(axis=-1, keepdims=True, dtype=np.float64)
        rest = known.sum(axis=-1, keepdims=True) / mask.sum(axis=-1, keepdims=True, dtype=np.float64)
        return np.asarray(tried + rest * self.kernel.probabilities(scores, playable))
