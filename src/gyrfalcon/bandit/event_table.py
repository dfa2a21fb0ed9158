"""Table of events: decisions in their order as columns, from the decision until nothing waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts

SEGMENT = 512
"""Number of events in a segment, the unit by which memory is taken and given back."""


class Status(IntEnum):
    """Where an event stands: it waits up to REWARDED, may be fitted while FINAL, and has ended above that."""

    PENDING = 0  # decided, without a reward
    REWARDED = 1  # with a reward that is not final before the timeout
    FINAL = 2  # with a final reward that no fit has used yet
    LEARNED = 3  # a fit has used it
    DROPPED = 4  # its time was up without a reward, and there is no default reward
    WITHDRAWN = 5  # never shown, or shown with another action
    RETIRED = 6  # its action is no longer there
    SET_ASIDE = 7  # no fit takes it


class Event(NamedTuple):
    """One decision and how it stands; `reward` is in the problem's units, NaN where there is none."""

    action: int
    component: int
    epoch: int
    round: int
    propensity: float
    decided_at: float
    reward: float = float("nan")
    status: int = Status.PENDING
    expired: bool = False  # the reward is the default one
    crowded: bool = False  # it had to make room for others before its time was up

    @property
    def is_waiting(self) -> bool:
        """Whether the outcome is not final yet."""
        return self.status <= Status.REWARDED


_ROW = np.dtype(
    [
        ("action", np.int32),
        ("component", np.int32),
        ("epoch", np.int64),
        ("round", np.int64),
        ("propensity", np.float64),
        ("decided_at", np.float64),
        ("reward", np.float64),
        ("status", np.uint8),
        ("expired", np.bool_),
        ("crowded", np.bool_),
    ]
)


_NAMES = Event._fields


class _Segment:
    """Neighbouring events as arrays; masks and features of actions only where events have them."""

    __slots__ = ("actions", "eligible", "ids", "rows", "shared")

    def __init__(self, width: int) -> None:
        self.rows = np.zeros(SEGMENT, dtype=_ROW)
        self.rows["status"] = Status.DROPPED  # until there is an event
        self.ids: list[str] = [""] * SEGMENT
        self.shared = np.empty((SEGMENT, width))
        self.actions: Floats | None = None
        self.eligible: Bools | None = None

    def write(self, row: int, event_id: str, event: Event, contexts: Contexts, source: int) -> None:
        """Write the event of row `source` of these contexts; the same call twice writes the same."""
        self.rows[row] = event
        self.ids[row] = event_id
        self.shared[row] = contexts.shared[source]
        if contexts.actions is not None:
            if self.actions is None:
                self.actions = np.zeros((SEGMENT, *contexts.actions.shape[1:]))
            self.actions[row] = contexts.actions[source]
        if contexts.eligible is not None:
            if self.eligible is None:
                self.eligible = np.ones((SEGMENT, contexts.eligible.shape[1]), dtype=np.bool_)
            self.eligible[row] = contexts.eligible[source]

    def renumbered(self, source: Ints) -> _Segment:
        """The segment with other numbers of actions: action k was source[k] before, -1 if it is new.

        Retired actions become -1. New actions were not eligible, and their features are 0.
        """
        known, other = source >= 0, _Segment(self.shared.shape[1])
        other.rows, other.shared, other.ids = self.rows.copy(), self.shared, self.ids
        n_before = max(int(source.max(initial=-1)), int(self.rows["action"].max())) + 1
        places = np.full(n_before + 1, -1)  # the last entry is where -1 points to
        places[source[known]] = np.flatnonzero(known)
        other.rows["action"] = places[self.rows["action"]]
        eligible = self.eligible
        if eligible is None and not known.all():
            eligible = np.ones((SEGMENT, n_before), dtype=np.bool_)
        other.eligible = None if eligible is None else eligible[:, source] & known
        if self.actions is not None:
            other.actions = np.where(known[:, np.newaxis], self.actions[:, source], 0.0)
        return other


class EventTable:
    """Events by position, which counts decisions from 0 on; segments without a live event are given back.

    Every method leaves the same table if it is called again with the same arguments.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._segments: dict[int, _Segment] = {}

    def write(self, position: int, event_id: str, event: Event, contexts: Contexts, source: int) -> None:
        """Write a new event, whose context is row `source` of these contexts."""
        number, row = divmod(position, SEGMENT)
        segment = self._segments.get(number)
        if segment is None:
            segment = _Segment(self._width)
            self._segments[number] = segment
        segment.write(row, event_id, event, contexts, source)

    def update(self, position: int, event: Event) -> None:
        """Write how an event stands now."""
        number, row = divmod(position, SEGMENT)
        self._segments[number].rows[row] = event

    def event(self, position: int) -> Event:
        """The event at a position."""
        number, row = divmod(position, SEGMENT)
        return Event(*self._segments[number].rows[row].item())

    def event_id(self, position: int) -> str:
        """The id of the event at a position."""
        number, row = divmod(position, SEGMENT)
        return self._segments[number].ids[row]

    def status(self, position: int) -> int:
        """The status of the event at a position; DROPPED where there is none any more."""
        number, row = divmod(position, SEGMENT)
        segment = self._segments.get(number)
        return Status.DROPPED if segment is None else int(segment.rows["status"][row])

    def statuses(self, position: int, stop: int) -> Any:
        """The statuses from a position on, up to the end of its segment or `stop`."""
        number, row = divmod(position, SEGMENT)
        n, segment = min(SEGMENT - row, stop - position), self._segments.get(number)
        if segment is None:
            return np.full(n, Status.DROPPED)
        return segment.rows["status"][row : row + n]

    def ended(self, positions: Iterable[int], status: Status) -> tuple[tuple[str, int, Event], ...]:
        """The events at these positions as they are once they have ended like this; nothing is written."""
        listed: list[tuple[str, int, Event]] = []
        for number, places in self._runs(np.fromiter(positions, dtype=np.int64)):
            segment, rows = self._segments[number], places.tolist()
            events = segment.rows[places]
            events["status"] = status
            ids, first = segment.ids, number * SEGMENT
            listed += [
                (ids[row], first + row, Event._make(event))
                for row, event in zip(rows, events.tolist(), strict=True)
            ]
        return tuple(listed)

    def end(self, positions: Iterable[int], statuses: Iterable[int], n_decided: int) -> None:
        """Let events end with these statuses, and give back full segments in which all events have ended."""
        status = np.fromiter(statuses, dtype=np.uint8)
        for number, places in self._runs(np.fromiter(positions, dtype=np.int64)):
            here, status = status[: len(places)], status[len(places) :]
            segment = self._segments.get(number)
            if segment is None:
                continue  # given back before
            segment.rows["status"][places] = here
            if (number + 1) * SEGMENT <= n_decided and (segment.rows["status"] > Status.FINAL).all():
                del self._segments[number]

    def n_late(self, first: int, now: float, timeout: float) -> int:
        """How many waiting events from a position on were decided at least `timeout` seconds ago."""
        count = 0
        for number, segment in self._segments.items():
            if (number + 1) * SEGMENT > first:
                rows = segment.rows
                is_late = (rows["status"] <= Status.REWARDED) & (now >= rows["decided_at"] + timeout)
                count += int(np.count_nonzero(is_late))
        return count

    def final_without_action(self) -> list[int]:
        """Positions of events with a final reward whose action is no longer there, in their order."""
        found: list[int] = []
        for number in sorted(self._segments):
            rows = self._segments[number].rows
            places = np.flatnonzero((rows["status"] == Status.FINAL) & (rows["action"] < 0))
            found += (number * SEGMENT + places).tolist()
        return found

    def renumbered(self, source: Ints) -> EventTable:
        """The table with other numbers of actions: action k was source[k] before, -1 if it is new."""
        other = EventTable(self._width)
        other._segments = {number: one.renumbered(source) for number, one in self._segments.items()}
        return other

    def take(self, positions: Ints, n_actions: int) -> tuple[dict[str, Any], Contexts]:
        """Columns and contexts of the events at these positions, in their order."""
        pieces = [(self._segments[number], places) for number, places in self._runs(positions)]
        if not pieces:
            return {name: np.empty(0, _ROW[name]) for name in _NAMES}, Contexts(np.empty((0, self._width)))
        rows = np.concatenate([segment.rows[at] for segment, at in pieces])
        contexts = [
            Contexts(
                segment.shared[at],
                None if segment.actions is None else segment.actions[at],
                None if segment.eligible is None else segment.eligible[at],
            )
            for segment, at in pieces
        ]
        return {name: rows[name] for name in _NAMES}, Contexts.concat(contexts, n_actions)

    @staticmethod
    def _runs(positions: Ints) -> Iterator[tuple[int, Ints]]:
        """Segments of these positions with the places in them, in their order."""
        numbers, places = np.divmod(positions, SEGMENT)
        ends = [*(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(positions)]
        for start, end in zip([0, *ends], ends, strict=False):
            if start < end:
                yield int(numbers[start]), places[start:end]
