"""Events: decisions that wait for a reward, and rewards that wait to be learned from.

`EventStore` is all that the engine needs of whatever keeps events. `MemoryEventStore` keeps them in this
process; a store in a database has the same methods.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple, Protocol

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log

Closed = Literal["learned", "dropped", "defaulted"]
"""How an event ended: with a reward that was learned from, or expired without or with the default reward."""


class Event(NamedTuple):
    """One decision: row `row` of `contexts`, what was chosen there, and when."""

    contexts: Contexts
    row: int
    action: int
    propensity: float
    epoch: int
    round: int
    component: int
    decided_at: float


class Settled(NamedTuple):
    """An event with its reward in the problem's units; `expired` where that is the default reward."""

    event: Event
    reward: float
    expired: bool = False


class StoreContents(NamedTuple):
    """All that an event store holds at one moment, events by id in the order of their decisions."""

    pending: Mapping[str, Event]
    settled: Mapping[str, Settled]
    closed: Mapping[str, Closed]
    logs: Sequence[Log]


class EventStore(Protocol):
    """Where events are kept: pending, then settled, then closed.

    An event is pending from its decision to its reward, settled until an epoch has been fitted on it, and
    closed from then on. Each method either happens as a whole or not at all. Rules for rewards are not the
    store's: see `RewardRules`.
    """

    problem: Problem
    """The problem that rows are made for; a problem with other features or actions may take its place."""

    @property
    def n_pending(self) -> int:
        """Number of decisions that wait for a reward."""
        ...

    @property
    def n_settled(self) -> int:
        """Number of rows that the next fit would have."""
        ...

    def find(self, event_id: str) -> Event | Settled | Closed | None:
        """The event with this id as it stands, how it was closed, or None if it is unknown or forgotten."""
        ...

    def insert(self, event_id: str, event: Event) -> None:
        """Add a decision, under an id that `find` does not know."""
        ...

    def settle(self, event_id: str, settled: Settled) -> bool:
        """Set the reward of a pending or settled event; whether it was pending."""
        ...

    def overdue(self, now: float, timeout: float | None, most: int) -> list[str]:
        """Ids of pending events that are to expire, the oldest first.

        These are events decided at least `timeout` seconds before `now`, and the oldest of more than `most`.
        """
        ...

    def expire(self, event_ids: Sequence[str], default: float | None) -> list[Event]:
        """Settle these pending events with the default reward, or close them as dropped if that is None."""
        ...

    def add_log(self, log: Log) -> None:
        """Add rows that were decided elsewhere, which have no ids here."""
        ...

    def rows(self) -> Log:
        """All settled rows, in the learner's units: logs from elsewhere, then events by round."""
        ...

    def mark_learned(self) -> None:
        """Close all settled events, because an epoch has been fitted on `rows`."""
        ...

    def contents(self) -> StoreContents:
        """All that is held, for a snapshot."""
        ...


class MemoryEventStore:
    """Event store in memory, which remembers the ids of the last `max_closed` closed events."""

    def __init__(self, problem: Problem, max_closed: int, contents: StoreContents | None = None) -> None:
        self.problem = problem
        self._max_closed = max_closed
        held = contents or StoreContents({}, {}, {}, [])
        # In a plain dict, finding the first entry walks over all that were deleted before it.
        self._pending = OrderedDict(held.pending)
        self._settled = dict(held.settled)
        self._closed = OrderedDict(held.closed)
        self._logs = list(held.logs)

    @property
    def n_pending(self) -> int:
        """Number of decisions that wait for a reward."""
        return len(self._pending)

    @property
    def n_settled(self) -> int:
        """Number of rows that the next fit would have."""
        return len(self._settled) + sum(map(len, self._logs))

    def find(self, event_id: str) -> Event | Settled | Closed | None:
        """The event with this id as it stands, how it was closed, or None if it is unknown or forgotten."""
        return self._pending.get(event_id) or self._settled.get(event_id) or self._closed.get(event_id)

    def insert(self, event_id: str, event: Event) -> None:
        """Add a decision, under an id that `find` does not know."""
        self._pending[event_id] = event

    def settle(self, event_id: str, settled: Settled) -> bool:
        """Set the reward of a pending or settled event; whether it was pending."""
        self._settled[event_id] = settled
        return self._pending.pop(event_id, None) is not None

    def overdue(self, now: float, timeout: float | None, most: int) -> list[str]:
        """Ids of pending events that are to expire, the oldest first."""
        ids = list(islice(self._pending, max(0, len(self._pending) - most)))
        if timeout is not None:
            for event_id, event in islice(self._pending.items(), len(ids), None):
                if now - event.decided_at < timeout:
                    break
                ids.append(event_id)
        return ids

    def expire(self, event_ids: Sequence[str], default: float | None) -> list[Event]:
        """Settle these pending events with the default reward, or close them as dropped if that is None."""
        events = [self._pending.pop(event_id) for event_id in event_ids]
        if default is None:
            self._close(dict.fromkeys(event_ids, "dropped"))
        else:
            rows = (Settled(event, default, expired=True) for event in events)
            self._settled.update(zip(event_ids, rows, strict=True))
        return events

    def add_log(self, log: Log) -> None:
        """Add rows that were decided elsewhere, which have no ids here."""
        self._logs.append(log)

    def rows(self) -> Log:
        """All settled rows, in the learner's units: logs from elsewhere, then events by round."""
        settled = sorted(self._settled.values(), key=lambda row: row.event.round)
        events = [row.event for row in settled]
        n_actions = len(self.problem.actions)
        log = Log(
            contexts_of(events, n_actions),
            np.array([event.action for event in events], dtype=np.int64),
            self.problem.rewards.scaled(np.array([row.reward for row in settled], dtype=np.float64)),
            np.array([event.propensity for event in events], dtype=np.float64),
            np.array([event.epoch for event in events], dtype=np.int64),
            np.array([event.round for event in events], dtype=np.int64),
            np.array([event.component for event in events], dtype=np.int64),
        )
        if not self._logs:
            return log
        return Log.concat([*self._logs, log] if events else self._logs, n_actions)

    def mark_learned(self) -> None:
        """Close all settled events, because an epoch has been fitted on `rows`."""
        learned: dict[str, Closed] = {
            event_id: "defaulted" if row.expired else "learned" for event_id, row in self._settled.items()
        }
        self._close(learned)
        self._settled, self._logs = {}, []

    def contents(self) -> StoreContents:
        """All that is held, for a snapshot."""
        return StoreContents(dict(self._pending), dict(self._settled), dict(self._closed), list(self._logs))

    def _close(self, events: Mapping[str, Closed]) -> None:
        self._closed.update(events)
        while len(self._closed) > self._max_closed:
            self._closed.popitem(last=False)


def contexts_of(events: Sequence[Event], n_actions: int) -> Contexts:
    """The contexts of events, a row each; an event without a mask has all actions eligible."""
    if not events:
        return Contexts(np.empty((0, 0)))
    shared = np.stack([event.contexts.shared[event.row] for event in events])
    features = [e.contexts.actions[e.row] for e in events if e.contexts.actions is not None]
    eligible = None
    if any(event.contexts.eligible is not None for event in events):
        everyone = np.ones(n_actions, dtype=np.bool_)
        masks = [event.contexts.eligible for event in events]
        eligible = np.stack([everyone if m is None else m[e.row] for m, e in zip(masks, events, strict=True)])
    return Contexts(shared, np.stack(features) if features else None, eligible)


def text_of(event_id: object) -> str:
    """An event id as plain text, also where it is NumPy's or an Enum's; anything else is refused."""
    if not isinstance(event_id, str):
        raise TypeError(f"event id {short_repr(event_id)} is a {type(event_id).__name__}; give text.")
    return str.__str__(event_id)


def new_id(events: EventStore, event_id: object) -> str:
    """A caller's id for a new decision, refused if it is empty, not valid text or taken."""
    text = text_of(event_id)
    if not text:
        raise ValueError("event id '' is empty; give each decision a text of its own, or None for one.")
    if events.find(text) is not None:
        raise ValueError(f"event id {text!r} has been decided before; give each decision its own.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"event id {text!r} is no valid Unicode; give text for UTF-8.") from None
    return text


def new_ids(events: EventStore, event_ids: Iterable[object], n: int) -> list[str]:
    """A caller's ids for n new decisions, refused if one is not new or there twice."""
    ids = [event_ids] if isinstance(event_ids, str) else list(event_ids)
    if len(ids) != n:
        raise ValueError(f"there are {len(ids)} event ids for {n} contexts; give one each.")
    new: dict[str, None] = {}
    for event_id in ids:
        text = new_id(events, event_id)
        if text in new:
            raise ValueError(f"event id {text!r} is there twice; give each decision an id of its own.")
        new[text] = None
    return list(new)


def free_id(events: EventStore, event_id: str) -> str:
    """An id made for a decision, lengthened while a caller has brought one that looks like it."""
    while events.find(event_id) is not None:
        event_id += "+"
    return event_id
