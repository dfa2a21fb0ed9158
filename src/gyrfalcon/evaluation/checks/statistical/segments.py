"""Stretches of a log that are tested by themselves: epochs, or blocks of rows where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import stretch_name

_LEAST, _MOST = 100, 40
"""Fewest rows of a stretch, into which short epochs are merged, and most stretches of a log."""

_BLOCK = 500


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The segment of each row, (n,), and names of all segments for messages."""

    of_row: Ints
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def sums(self, values: Floats) -> Floats:
        """Sums of each column over the rows of each segment, (G,) or (G, K)."""
        if values.ndim == 1:
            return np.bincount(self.of_row, weights=values, minlength=len(self)).astype(np.float64)
        return np.stack([self.sums(column) for column in values.T], axis=1)


def segments_of(log: LogColumns) -> Segments:
    """Epochs, short ones merged with the next; or blocks of rows in a log without epochs."""
    if log.epoch is None or not np.isfinite(log.epoch).all() or len(np.unique(log.epoch)) < 2:
        return blocks_of(log, min(20, len(log) // _BLOCK))
    epochs, place, counts = np.unique(log.epoch, return_inverse=True, return_counts=True)
    least = max(_LEAST, len(log) // _MOST)
    merged = np.zeros(len(epochs), dtype=np.int64)
    group, size = 0, 0
    for index, count in enumerate(counts.tolist()):
        if size >= least:
            group, size = group + 1, 0
        merged[index] = group
        size += count
    if size < least and group:
        merged[merged == group] = group - 1
    names = tuple(_epoch_name(epochs[merged == one]) for one in range(int(merged.max()) + 1))
    return Segments(merged[place], names)


def blocks_of(log: LogColumns, n_blocks: int) -> Segments:
    """Blocks of rows of about equal size, in the order of the log."""
    n_blocks = max(n_blocks, 1)
    block = np.arange(len(log)) * n_blocks // max(len(log), 1)
    names = tuple(
        stretch_name(log.rows[block == one]) if (block == one).any() else "no rows" for one in range(n_blocks)
    )
    return Segments(block, names)


def _epoch_name(epochs: Floats) -> str:
    first, last = epochs[0], epochs[-1]
    return f"epoch {first:.0f}" if first == last else f"epochs {first:.0f} to {last:.0f}"
