"""Policies: contexts -> probabilities; usually a kernel over the scores of a reward model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.kernels import InverseGapWeighting, Kernel, uniform
from gyrfalcon.core.types import Floats


class Scorer(Protocol):
    """A reward model, or one with an optimism bonus."""

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K)."""
        ...


class Policy(Protocol):
    """What an epoch plays."""

    def probabilities(self, contexts: Contexts) -> Floats:
        """(n, K); rows sum to 1, ineligible actions have exactly 0."""
        ...


@dataclass(frozen=True, slots=True)
class KernelPolicy:
    """A kernel applied to the scores of a model."""

    scorer: Scorer
    kernel: Kernel

    def probabilities(self, contexts: Contexts) -> Floats:
        """Kernel of scores."""
        return self.kernel.probabilities(self.scorer.scores(contexts), contexts.eligible)

    def row(self, contexts: Contexts) -> list[float]:
        """The probabilities of the first row, bit-identical, in plain floats where the kernel can."""
        scores = self.scorer.scores(contexts)
        if contexts.eligible is None and isinstance(self.kernel, InverseGapWeighting):
            return self.kernel.row(scores[0].tolist())
        row: list[float] = self.kernel.probabilities(scores, contexts.eligible)[0].tolist()
        return row


@dataclass(frozen=True, slots=True)
class UniformPolicy:
    """Every eligible action alike.

    >>> import numpy as np
    >>> UniformPolicy(4).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    n_actions: int

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 / K each."""
        return uniform(self.n_actions, len(contexts), contexts.eligible)

    def row(self, contexts: Contexts) -> list[float]:
        """The same for the first row, in plain floats."""
        if contexts.eligible is None:
            return [1.0 / self.n_actions] * self.n_actions
        row: list[float] = self.probabilities(contexts)[0].tolist()
        return row
