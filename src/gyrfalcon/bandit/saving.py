"""Saved bandits: one file that holds the running state, written and read as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext

from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.refits import RefitMode
from gyrfalcon.bandit.snapshot import Snapshot


def load_engine(
    path: str | os.PathLike[str], classes: Iterable[type], clock: Callable[[], float], *, accept_refits: bool
) -> tuple[BanditEngine, RefitMode]:
    """The engine that a file holds, which goes on by this clock from where it was saved."""
    from gyrfalcon.oracles.regressors.fitted import accepting_refits
    from gyrfalcon.storage import files

    with accepting_refits() if accept_refits else nullcontext():
        snapshot = files.load(path, classes)
    if not isinstance(snapshot, Snapshot):
        raise ValueError(  # noqa: TRY004 - the file is wrong, not the argument's type
            f"{os.fspath(path)} holds a {type(snapshot).__name__}, not a saved Bandit."
        )
    try:
        own_clock = MonotonicClock(clock, snapshot.clock_latest, snapshot.clock_offset)
        return snapshot.engine(own_clock), snapshot.refit
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} holds parts that don't fit together: {error}.") from error
