"""Rows that no fit takes: found by bisection, so that one of them does not end all learning.

A learner that fails leaves the rows for the next attempt. When it fails again and again, its rows are
searched: blocks of them are fitted on top of those that fit already, and a block that fails is halved. What
remains are single rows, or blocks once the search has taken `MOST_FITS` fits. They are set aside only if the
learner takes all others, and still fails with them: one that fails whatever the rows are loses none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Ints

if TYPE_CHECKING:
    from gyrfalcon.bandit.refits import RefitJob

FIRST_SEARCH = 3
"""Failures in a row before the first search; each further search waits for twice as many."""
MOST_FITS = 64
"""Fits of a search, after which blocks are not halved any more."""


class Refused(NamedTuple):
    """Rows that the learner fails on: positions of events, and the first rows of logs from elsewhere."""

    positions: tuple[int, ...]
    n_log_rows: int
    reason: str

    def __len__(self) -> int:
        return len(self.positions) + self.n_log_rows

    def __str__(self) -> str:
        return (
            f"{len(self)} rows are set aside, because the learner fails on them ({self.reason}). "
            "Learning goes on with the others; `status` counts them."
        )


def is_search_due(n_failures: int) -> bool:
    """Whether ready rows are searched after this number of failures in a row.

    >>> [n for n in range(50) if is_search_due(n)]
    [3, 6, 12, 24, 48]
    """
    rounds, remainder = divmod(n_failures, FIRST_SEARCH)
    return rounds > 0 and remainder == 0 and rounds & (rounds - 1) == 0


def refused_rows(job: RefitJob) -> Refused | None:
    """The rows of a job that its learner fails on; None if it does not, or fails without them as well."""
    kept, refused = _parted(job)
    reason = _failure(job, np.arange(len(job.rows)))
    if not len(refused) or reason is None or _failure(job, kept) is not None:
        return None
    positions = np.array(sorted(job.positions), dtype=np.int64)
    events = refused[refused >= job.n_log_rows] - job.n_log_rows
    return Refused(tuple(positions[events].tolist()), len(refused) - len(events), reason)


def _parted(job: RefitJob) -> tuple[Ints, Ints]:
    """Row numbers that the learner takes together, and the others; rows of logs are one block."""
    logs, events = np.split(np.arange(len(job.rows)), [job.n_log_rows])
    waiting = [block for block in (events, logs) if len(block)]
    kept, refused, n_fits = logs[:0], logs[:0], 0
    while waiting:
        block = waiting.pop()
        both, n_fits = np.concatenate((kept, block)), n_fits + 1
        if _failure(job, both) is None:
            kept = both
        elif block is logs or len(block) == 1 or n_fits >= MOST_FITS:
            refused = np.concatenate((refused, block))
        else:
            middle = len(block) // 2
            waiting += [block[middle:], block[:middle]]
    return kept, refused


def _failure(job: RefitJob, rows: Ints) -> str | None:
    """Why the learner fails on these rows of a job; None if it takes them."""
    try:
        replace(job, rows=job.rows.take(rows)).run()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).rstrip('.')}"
    return None
