"""The rows of the table: what is compared, the limit, and what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from benchmarks.pairs import Call, Clock, Spread, interleaved, repeated


class NotRun(Exception):  # noqa: N818 - a missing peer is no error
    """Why a row can't be measured here."""


class Disagreement(Exception):  # noqa: N818 - a verdict on the row
    """The two sides do not compute the same: their times mean nothing."""


class Verdict(Enum):
    """What a row says; only a missed limit makes the command fail."""

    PASS = "pass"
    FAIL = "FAIL"
    INFO = "info"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Race:
    """Both sides, ready to be called again and again; `note` says what was checked beforehand.

    A call plays `n_ours` or `n_theirs` rounds, or does one thing; times are per round, or of that thing.
    """

    ours: Call
    theirs: Call
    clock: Clock = time.process_time
    note: str = ""
    n_ours: int = 1
    n_theirs: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """Our side alone, which gets through `amount` rounds in a call."""

    ours: Call
    amount: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """How long a call has to wait at most: seconds by the clock on the wall, and what else was seen."""

    sample: Callable[[], tuple[float, str]]


class Quantity(Enum):
    """What is printed of each pair."""

    RATIO = "ours / theirs"
    TIMES_FASTER = "theirs / ours"
    RATE = "rounds per second"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table, which `prepare` gets ready; without a limit it is for information."""

    key: str
    ours: str
    theirs: str
    prepare: Callable[[], Race | Run | Pause]
    limit: float | None = None
    quantity: Quantity = Quantity.RATIO
    most_pairs: int | None = None
    """Fewer pairs for a side that takes seconds."""

    def verdict(self, median: float) -> Verdict:
        if self.limit is None:
            return Verdict.INFO
        kept = median >= self.limit if self.quantity is Quantity.TIMES_FASTER else median <= self.limit
        return Verdict.PASS if kept else Verdict.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A row and what was measured; seconds are medians per call, or per round where a call plays many."""

    row: Row
    verdict: Verdict
    spread: Spread | None = None
    seconds: list[float] = field(default_factory=list)
    note: str = ""


def measured(row: Row, n_pairs: int, on_pair: Callable[[], None]) -> Outcome:
    """The outcome of a row; a missing peer or a disagreement is an outcome too."""
    n_pairs = min(n_pairs, row.most_pairs or n_pairs)
    try:
        prepared = row.prepare()
    except NotRun as reason:
        return Outcome(row=row, verdict=Verdict.NOT_RUN, note=f"not run: {reason}")
    except Disagreement as reason:
        return Outcome(row=row, verdict=Verdict.FAIL, note=str(reason))
    if isinstance(prepared, Pause):
        return _pauses(row, prepared, n_pairs, on_pair)
    if isinstance(prepared, Run):
        samples = repeated(prepared.ours, n_pairs, on_pair=on_pair)
        values = [prepared.amount / seconds for seconds in samples]
        sides = [samples]
    else:
        calls = interleaved(prepared.ours, prepared.theirs, n_pairs, clock=prepared.clock, on_pair=on_pair)
        pairs = [(ours / prepared.n_ours, theirs / prepared.n_theirs) for ours, theirs in calls]
        inverted = row.quantity is Quantity.TIMES_FASTER
        values = [theirs / ours if inverted else ours / theirs for ours, theirs in pairs]
        sides = [list(side) for side in zip(*pairs, strict=True)]
    spread = Spread.of(values)
    return Outcome(
        row=row,
        verdict=row.verdict(spread.median),
        spread=spread,
        seconds=[Spread.of(side).median for side in sides],
        note=prepared.note,
    )


def _pauses(row: Row, prepared: Pause, n_samples: int, on_pair: Callable[[], None]) -> Outcome:
    samples = []
    for _ in range(n_samples):
        samples.append(prepared.sample())
        on_pair()
    spread = Spread.of([seconds for seconds, _ in samples])
    verdict, note = row.verdict(spread.median), samples[-1][1]
    return Outcome(row=row, verdict=verdict, spread=spread, seconds=[spread.median], note=note)


@contextmanager
def peer(name: str) -> Iterator[None]:
    """Whatever goes wrong with a peer's own code is a reason not to run the row, never a crash."""
    try:
        yield
    except Exception as error:
        raise NotRun(f"{name}: {type(error).__name__}: {error}") from error


def require(holds: bool, message: str) -> None:
    if not holds:
        raise Disagreement(message)
