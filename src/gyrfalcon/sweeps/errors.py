"""Errors of a sweep that was not finished."""

from __future__ import annotations


class SweepError(Exception):
    """A sweep that was not finished: what is stored is safe, and the same sweep goes on from there."""


class StorageError(SweepError):
    """Results could not be written or read, as on a full disk."""


class WorkersError(SweepError):
    """Workers died, or there are none."""


class CellsFailedError(SweepError):
    """Some cells have no results, and all others are stored; `failures` has a sentence for each."""

    def __init__(self, message: str, failures: tuple[str, ...]) -> None:
        super().__init__(message)
        self.failures = failures
