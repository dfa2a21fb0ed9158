"""Sampling with given randomness: event ids to uniforms, uniforms and probabilities to actions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from struct import Struct

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

UNIFORMS_PER_DECISION = 3
_WORD = 8
_TO_UNIT = 2.0**-53
_words = Struct(f"<{UNIFORMS_PER_DECISION}Q").unpack
_FEW = 127  # actions that a byte can count


def event_uniforms(seed: int, event_id: str) -> tuple[float, float, float]:
    """Three uniforms in [0, 1) with all 53 bits used, the same for the same seed and event on any machine.

    >>> event_uniforms(7, "visit-1") == event_uniforms(7, "visit-1")
    True
    >>> all(0 <= u < 1 for u in event_uniforms(7, "visit-2"))
    True
    """
    hashed = _keyed(seed).copy()
    hashed.update(event_id.encode())
    first, second, third = _words(hashed.digest())
    return (first >> 11) * _TO_UNIT, (second >> 11) * _TO_UNIT, (third >> 11) * _TO_UNIT


@lru_cache(maxsize=64)
def _keyed(seed: int) -> blake2b:
    """The hash under a seed's key, before any text; it is copied, never changed."""
    return blake2b(digest_size=UNIFORMS_PER_DECISION * _WORD, key=seed.to_bytes(_WORD, "little", signed=True))


def uniforms_of_events(seed: int, event_ids: Iterable[str]) -> Floats:
    """Three uniforms of each event, (n, 3)."""
    rows = [event_uniforms(seed, event_id) for event_id in event_ids]
    return np.array(rows, dtype=np.float64).reshape(len(rows), UNIFORMS_PER_DECISION)


def sample_actions(probabilities: Floats, uniforms: Floats) -> Ints:
    """The action of each row: see `sample`.

    >>> sample_actions(np.array([[0.25, 0.75], [0.25, 0.75]]), np.array([0.2, 0.25])).tolist()
    [0, 1]
    """
    return sample(probabilities, uniforms)[0]


def sample(probabilities: Floats, uniforms: Floats) -> tuple[Ints, Floats]:
    """Each row's action and its probability, by inverse CDF: (n, K) probabilities, (n,) uniforms in [0, 1).

    The running sum is sequential, so that a row draws the same action alone and in any batch. Rounding can
    leave the last sum a hair below 1; a uniform beyond it goes to the last action with positive probability.
    """
    n, n_actions = probabilities.shape
    columns = np.ascontiguousarray(probabilities.T)
    running = columns[0].copy()
    beyond = uniforms >= running
    counts = beyond.view(np.int8) if n_actions <= _FEW else beyond.astype(np.int64)
    for column in columns[1:-1]:
        running += column
        counts += uniforms >= running
    if n_actions == 1:
        counts[:] = 0
    action: Ints = counts.astype(np.int64)
    drawn = columns.reshape(-1).take(action * n + np.arange(n))
    if not drawn.all():
        rows = np.flatnonzero(drawn == 0.0)
        action[rows] = n_actions - 1 - np.argmax(columns[::-1, rows] > 0.0, axis=0)
        drawn[rows] = columns[action[rows], rows]
    return action, drawn


def sample_action(probabilities: list[float], uniform: float) -> int:
    """Draw as in `sample` for one row of plain floats: NumPy's calls cost several times its arithmetic."""
    running = 0.0
    last = 0
    for action, probability in enumerate(probabilities):
        running += probability
        if probability > 0.0:
            last = action
            if running > uniform:
                return action
    return last
