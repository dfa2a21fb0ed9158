"""Random logs in the shapes that both sides take."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints


@dataclass(frozen=True)
class SlateLog:
    """A log in which each row is one of several positions on a page; an ordinary one has a single position.

    Probabilities and predictions are (n, K, positions), the embeddings (n, D) with probabilities (K, E, D).
    """

    rewards: Floats
    actions: Ints
    position: Ints
    distribution: Floats
    target: Floats
    predictions: Floats
    embedding: Ints
    embedding_probabilities: Floats

    @property
    def rows(self) -> tuple[Ints, slice, Ints]:
        """Indices of each row's own position."""
        return np.arange(len(self.actions)), slice(None), self.position

    @property
    def propensities(self) -> Floats:
        return self.distribution[np.arange(len(self.actions)), self.actions, self.position]

    @property
    def with_one_part(self) -> SlateLog:
        """The log whose embedding is the first part alone."""
        parts = self.embedding[:, :1], self.embedding_probabilities[..., :1]
        return replace(self, embedding=parts[0], embedding_probabilities=parts[1])

    @property
    def own_target(self) -> Floats:
        """The target's probabilities at each row's position, (n, K)."""
        return self.target[self.rows]


def random_log(seed: int, n: int, n_actions: int, n_positions: int) -> SlateLog:
    """Rewards of both signs, and targets that are certain in a fifth of the rows."""
    rng = np.random.default_rng(seed)
    shape = n, n_positions
    distribution = rng.dirichlet(np.ones(n_actions), shape) * 0.9 + 0.1 / n_actions
    target = rng.dirichlet(np.ones(n_actions), shape)
    certain = rng.random(shape) < 0.2
    target[certain] = np.eye(n_actions)[rng.integers(0, n_actions, certain.sum())]
    position = rng.integers(0, n_positions, n)
    own = distribution[np.arange(n), position]
    actions = np.minimum((rng.random(n)[:, None] > own.cumsum(axis=1)).sum(axis=1), n_actions - 1)
    categories, parts = 3, 2
    embedding_probabilities = rng.dirichlet(np.ones(categories), (n_actions, parts)).transpose(0, 2, 1)
    drawn = embedding_probabilities[actions].cumsum(axis=1) < rng.random((n, 1, parts))
    return SlateLog(
        rewards=rng.normal(size=n),
        actions=actions,
        position=position,
        distribution=distribution.transpose(0, 2, 1),
        target=target.transpose(0, 2, 1),
        predictions=rng.normal(size=(n, n_actions, n_positions)),
        embedding=np.minimum(drawn.sum(axis=1), categories - 1),
        embedding_probabilities=embedding_probabilities,
    )
