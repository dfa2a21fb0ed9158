"""Which decisions wait for a reward, and which rewards wait to be learned from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.core.rewards import RewardRange
from gyrfalcon.core.types import Floats

Repeated = Literal["error", "first", "last", "sum"]


class Event(NamedTuple):
    """A decision that was made: row `row` of `contexts`, and when."""

    contexts: Contexts
    row: int
    action: int
    propensity: float
    epoch: int
    round: int
    component: int
    decided_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRules:
    """What happens to rewards that come late, twice or never.

    An event expires `time_to_live` seconds after its decision, or as the oldest when more than
    `max_pending` wait: it then earns `default_reward`, or is dropped when that is None. `repeated` says what
    a second reward for an event does while its row has not been learned from: "error", keep the "first",
    take the "last", or "sum" them.
    """

    time_to_live: float | None = None
    default_reward: float | None = None
    max_pending: int = 100_000
    repeated: Repeated = "error"

    def __post_init__(self) -> None:
        life = self.time_to_live
        if life is not None and not life > 0.0:
            raise ValueError(f"time_to_live is {life}; give seconds above 0, or None to wait for ever.")
        if self.max_pending < 1:
            raise ValueError(f"max_pending is {self.max_pending}; at least 1 event must be able to wait.")
        if self.repeated not in ("error", "first", "last", "sum"):
            raise ValueError(f"repeated is {self.repeated!r}; choose 'error', 'first', 'last' or 'sum'.")


class Ledger:
    """Events by id: waiting, settled but not learned from, or closed (remembered up to the cap)."""

    def __init__(self, rules: RewardRules, rewards: RewardRange) -> None:
        if rules.default_reward is not None:
            rewards.unit_one(rules.default_reward)
        self.rules = rules
        self._rewards = rewards
        self.waiting: dict[str, Event] = {}
        self.settled: dict[str, tuple[Event, float]] = {}
        self.closed: dict[str, str] = {}

    def check_new(self, event_id: object) -> str:
        """The id if it is new, else a refusal."""
        if not isinstance(event_id, str):
            raise TypeError(f"event id {event_id!r} is a {type(event_id).__name__}; give text.")
        if event_id in self.waiting or event_id in self.settled or event_id in self.closed:
            raise ValueError(
                f"event id {event_id!r} has been decided before; give each decision an id of its own."
            )
        return event_id

    def open(self, event_id: str, event: Event) -> None:
        """Let an event wait for its reward."""
        self.waiting[event_id] = event

    def plan(self, event_id: str, value: object) -> tuple[Event, float] | None:
        """What crediting this reward would settle, or a refusal; None when it would change nothing."""
        if event_id in self.waiting:
            return self.waiting[event_id], self._checked(value)
        if event_id in self.settled:
            return self._amended(event_id, value)
        self._refuse_unless_first(event_id)
        return None

    def settle(self, event_id: str, value: object) -> Event | None:
        """Credit a reward; the event if it has waited for it, None if an earlier reward was amended."""
        planned = self.plan(event_id, value)
        if planned is not None:
            self.settled[event_id] = planned
        return self.waiting.pop(event_id, None)

    def expire(self, now: float) -> list[Event]:
        """Close events whose time is up or that exceed the cap, with the default reward if there is one."""
        overflow = max(0, len(self.waiting) - self.rules.max_pending)
        ids = list(islice(self.waiting, overflow))
        life = math.inf if self.rules.time_to_live is None else self.rules.time_to_live
        for event_id, event in islice(self.waiting.items(), overflow, None):
            if now - event.decided_at < life:
                break
            ids.append(event_id)
        return [self._expire(event_id) for event_id in ids]

    def settled_log(self, n_actions: int) -> Log:
        """The settled rows in round order."""
        rows = sorted(self.settled.values(), key=lambda row: row[0].round)
        return log_of(rows, self._rewards, n_actions)

    def close_settled(self) -> None:
        """Remember that the settled rows have been learned from."""
        for event_id in self.settled:
            self._close(event_id, "has been rewarded and learned from")
        self.settled = {}

    def _checked(self, value: object) -> float:
        self._rewards.unit_one(value)
        return float(value)  # type: ignore[arg-type]  # unit_one has refused what is not a number

    def _amended(self, event_id: str, value: object) -> tuple[Event, float] | None:
        event, before = self.settled[event_id]
        match self.rules.repeated:
            case "error":
                raise ValueError(
                    f"event {event_id!r} has a reward already ({before}); choose repeated='first', 'last' or "
                    "'sum' if several may come."
                )
            case "first":
                return None
            case "last":
                return event, self._checked(value)
            case "sum":
                return event, self._checked(before + self._checked(value))

    def _refuse_unless_first(self, event_id: str) -> None:
        known = self.closed.get(event_id)
        if known is None:
            raise ValueError(
                f"event {event_id!r} is unknown: no decision with this id is waiting for a reward; "
                "give the event_id of a Decision."
            )
        if self.rules.repeated != "first":
            raise ValueError(f"event {event_id!r} {known}; a further reward can't change that.")

    def _expire(self, event_id: str) -> Event:
        event = self.waiting.pop(event_id)
        default = self.rules.default_reward
        if default is None:
            self._close(event_id, "expired without a reward and was dropped")
        else:
            self.settled[event_id] = (event, default)
        return event

    def _close(self, event_id: str, how: str) -> None:
        self.closed[event_id] = how
        if len(self.closed) > self.rules.max_pending:
            del self.closed[next(iter(self.closed))]


def log_of(rows: list[tuple[Event, float]], rewards: RewardRange, n_actions: int) -> Log:
    """The log of settled events, in the learner's units."""
    events = [event for event, _ in rows]
    return Log(
        contexts_of(events, n_actions),
        np.array([event.action for event in events], dtype=np.int64),
        rewards.to_unit(np.array([reward for _, reward in rows], dtype=np.float64)),
        np.array([event.propensity for event in events], dtype=np.float64),
        np.array([event.epoch for event in events], dtype=np.int64),
        np.array([event.round for event in events], dtype=np.int64),
        np.array([event.component for event in events], dtype=np.int64),
    )


def contexts_of(events: list[Event], n_actions: int) -> Contexts:
    """The contexts of these events, a row each."""
    if not events:
        return Contexts(np.empty((0, 0)))
    shared = np.stack([event.contexts.shared[event.row] for event in events])
    actions = _stacked(
        event.contexts.actions[event.row] for event in events if event.contexts.actions is not None
    )
    eligible = None
    if any(event.contexts.eligible is not None for event in events):
        everyone = np.ones(n_actions, dtype=np.bool_)
        masks = [event.contexts.eligible for event in events]
        eligible = np.stack([everyone if m is None else m[e.row] for m, e in zip(masks, events, strict=True)])
    return Contexts(shared, actions, eligible)


def _stacked(rows: Iterable[Floats]) -> Floats | None:
    parts = list(rows)
    return np.stack(parts) if parts else None
