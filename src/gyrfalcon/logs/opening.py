"""Opening of logs, whatever their format: each becomes a table of decisions."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.log_reader import LogReader


def read_log(path: str | os.PathLike[str]) -> DecisionTable:
    """Read the decisions of a log as a table.

    Parameters
    ----------
    path
        A folder that `Bandit(log=...)`, `simulate(..., keep_log=...)` or `LogWriter` has written, or one of
        its Parquet files. `LogReader` reads it some rows at a time.

    Returns
    -------
    DecisionTable
        The decisions in the order of their times, where these are known.

    Raises
    ------
    ValueError, ImportError
        If there is no log, or it can't be read.
    """
    table = _by_time(DecisionTable.concat(list(LogReader(path).tables())))
    shares = table.distribution
    unknown = shares is not None and np.isnan(shares).all()
    return replace(table, source_row=None, distribution=None if unknown else shares)


def _by_time(table: DecisionTable) -> DecisionTable:
    times = table.time
    if times is None or not (np.diff(times) < 0.0).any():
        return table
    return table.take(np.argsort(times, kind="stable"))
