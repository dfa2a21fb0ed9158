"""Decisions by inverse gap weighting against the same arithmetic in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from benchmarks.rows import Race, Row, require
from gyrfalcon import Contexts, Epoch
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.learners import Decisions, decide
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.linear.models import PerActionModel

N_ACTIONS, N_FEATURES, N_BATCH = 10, 20, 10_000
GAMMA = 50.0


@dataclass(frozen=True, slots=True)
class Lines:
    """One line per action, and situations to decide in."""

    W: Floats  # (K, p)
    b: Floats  # (K,)
    X: Floats  # (n, p)
    uniforms: Floats  # (n, 3)

    @property
    def epoch(self) -> Epoch:
        """An epoch in the middle of its active rounds."""
        model = PerActionModel(
            IdentityMap(N_FEATURES), None, self.W, np.ascontiguousarray(self.b[:, np.newaxis]), None
        )
        return Epoch(
            index=5,
            start=0,
            stop=100 * N_BATCH,
            policy=KernelPolicy(model, InverseGapWeighting(GAMMA)),
            passive_policy=UniformPolicy(N_ACTIONS),
            passive_share=0.05,
        )


@cache
def lines() -> Lines:
    rng = np.random.default_rng(4)
    return Lines(
        rng.standard_normal((N_ACTIONS, N_FEATURES)) / N_FEATURES,
        rng.random(N_ACTIONS),
        rng.standard_normal((N_BATCH, N_FEATURES)),
        rng.random((N_BATCH, 3)),
    )


def batch_by_hand(X: Floats, W: Floats, b: Floats, uniforms: Floats) -> tuple[Ints, Floats]:
    scores = X @ W.T + b
    best = scores.argmax(axis=1)
    rows = np.arange(len(X))
    p = 1.0 / (N_ACTIONS + GAMMA * (scores[rows, best][:, np.newaxis] - scores))
    p[rows, best] = 0.0
    p[rows, best] = 1.0 - p.sum(axis=1)
    action = (p.cumsum(axis=1)[:, :-1] <= uniforms[:, np.newaxis]).sum(axis=1)
    return action, p[rows, action]


def one_by_hand(x: Floats, W: Floats, b: Floats, uniform: float) -> tuple[int, float]:
    scores = W @ x + b
    best = scores.argmax()
    p = 1.0 / (N_ACTIONS + GAMMA * (scores[best] - scores))
    p[best] = 0.0
    p[best] = 1.0 - p.sum()
    action = min(p.cumsum().searchsorted(uniform, side="right"), N_ACTIONS - 1)
    return int(action), float(p[action])


def batch_against_hand() -> Race:
    given = lines()
    ours = partial(decide, given.epoch, np.arange(N_BATCH), Contexts(given.X), given.uniforms)
    theirs = partial(batch_by_hand, given.X, given.W, given.b, np.ascontiguousarray(given.uniforms[:, 2]))
    decisions, (action, propensity) = ours(), theirs()
    same = float((decisions.action == action).mean())
    # A product by BLAS and a sum in sequence differ in the last bit, which can tip a draw at a boundary.
    require(same > 0.999, f"only {same:.2%} of the actions agree.")
    agreed = decisions.action == action
    require(
        np.allclose(decisions.propensity[agreed], propensity[agreed], rtol=1e-9, atol=0.0),
        "the propensities differ.",
    )
    return Race(ours, theirs, note="same actions and propensities")


def one_against_hand() -> Race:
    given = lines()
    theirs = partial(one_by_hand, given.X[0].copy(), given.W, given.b, float(given.uniforms[0, 2]))
    ours = single()
    decisions, (action, propensity) = ours(), theirs()
    require(int(decisions.action[0]) == action, "the actions differ.")
    require(abs(float(decisions.propensity[0]) / propensity - 1.0) < 1e-9, "the propensities differ.")
    return Race(ours, theirs, note="same action and propensity")


def single() -> partial[Decisions]:
    """`decide` for one context that is ready."""
    given = lines()
    context, uniforms = Contexts(given.X[:1].copy()), given.uniforms[:1].copy()
    return partial(decide, given.epoch, np.array([0]), context, uniforms)


ROWS = [
    Row(
        key="decide 10,000 / NumPy by hand",
        ours="decide, 10,000 contexts",
        theirs="the same step in NumPy",
        prepare=batch_against_hand,
        limit=1.5,
    ),
    Row(
        key="decide 1 / NumPy by hand",
        ours="decide, one context",
        theirs="the same step in NumPy",
        prepare=one_against_hand,
        limit=2.0,
    ),
]
