"""Counts of a bandit's events and rounds."""

from __future__ import annotations

from typing import NamedTuple


class Counts(NamedTuple):
    """Numbers of events and rounds; all but `n_waiting` and `n_open` only grow."""

    sequence: int = 0
    """Number of records."""
    round: int = 0
    """Number of rounds played: decisions, and rows of logs from elsewhere."""
    n_decided: int = 0
    n_waiting: int = 0
    n_open: int = 0
    """Decisions among the planned rounds of the epoch in play whose outcome is not final."""
    n_rewarded: int = 0
    n_final: int = 0
    n_expired: int = 0
    n_dropped: int = 0
    n_crowded: int = 0
    n_withdrawn: int = 0
    n_late: int = 0
    n_learned: int = 0
    n_set_aside: int = 0
