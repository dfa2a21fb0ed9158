"""Policies: contexts -> probabilities; usually a kernel over the scores of a reward model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernels import InverseGapWeighting, Kernel, uniform
from gyrfalcon.core.settings import shapes_repr


class Scorer(Protocol):
    """A reward model, or one with an optimism bonus."""

    def scores(self, contexts: Contexts) -> Floats:
        """Scores of all actions in each context, (n, K)."""
        ...


class Policy(Protocol):
    """Policy of an epoch: probabilities of actions in contexts."""

    def probabilities(self, contexts: Contexts) -> Floats:
        """(n, K); rows sum to 1, ineligible actions have exactly 0."""
        ...


def row_of(policy: Policy, contexts: Contexts) -> list[float]:
    """A policy's probabilities for the first context, in plain floats where it offers them."""
    quick = getattr(policy, "row", None)
    # A policy of one's own may have a field of this name.
    row: list[float] = quick(contexts) if callable(quick) else policy.probabilities(contexts)[0].tolist()
    return row


@dataclass(frozen=True, slots=True)
class KernelPolicy:
    """A policy that applies an exploration kernel to the scores of a reward model.

    Parameters
    ----------
    scorer : Scorer
        Reward model, or one with an optimism bonus.
    kernel : Kernel
        Exploration kernel: scores to probabilities.
    """

    scorer: Scorer
    kernel: Kernel

    __repr__ = shapes_repr

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities of actions by the kernel of the model's scores, (n, K)."""
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
    """The policy that plays every eligible action with the same probability.

    Parameters
    ----------
    n_actions : int
        Number of actions K.

    Examples
    --------
    >>> import numpy as np
    >>> UniformPolicy(4).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    n_actions: int

    def probabilities(self, contexts: Contexts) -> Floats:
        """Equal probabilities of all eligible actions, (n, K)."""
        return uniform(self.n_actions, len(contexts), contexts.eligible)

    def row(self, contexts: Contexts) -> list[float]:
        """Probabilities for the first context, as plain floats."""
        if contexts.eligible is None:
            return [1.0 / self.n_actions] * self.n_actions
        row: list[float] = self.probabilities(contexts)[0].tolist()
        return row
