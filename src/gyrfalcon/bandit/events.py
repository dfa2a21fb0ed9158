"""Which decisions wait for a reward, and which rewards wait to be learned from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, get_args

import numpy as np

from gyrfalcon.bandit.validation import check_count, check_seconds
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.reward_range import RewardRange
from gyrfalcon.core.inputs.tables import shown
from gyrfalcon.core.records import Log

Repeated = Literal["error", "first", "last", "sum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRules:
    """What happens to rewards that come late, twice or never.

    An event expires `reward_timeout` seconds after its decision, or as the oldest when more than `max_pending`
    would wait: it then earns `default_reward`, or is dropped when that is None, and a reward that comes even
    later is refused. `repeated` says what a second reward for an event does: "error" refuses it, "first"
    ignores it, "last" takes its value, and "sum" adds it, where the total must be in the range or follows
    the rule for what lies outside. Once the first reward was learned from, "last" and "sum" refuse too.
    """

    reward_timeout: float | None = None
    default_reward: float | None = None
    max_pending: int = 100_000
    repeated: Repeated = "error"

    def __post_init__(self) -> None:
        check_seconds("reward_timeout", self.reward_timeout)
        check_count("max_pending", self.max_pending)
        if self.repeated not in get_args(Repeated):
            raise ValueError(f"repeated is {shown(self.repeated)}; choose 'error', 'first', 'last' or 'sum'.")


How = Literal["learned", "dropped", "defaulted"]
_CLOSED: dict[How, str] = {
    "learned": "has been rewarded and learned from",
    "dropped": "expired without a reward and was dropped",
    "defaulted": "expired without a reward and earned the default one",
}


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


class Settled(NamedTuple):
    """An event and what it earned, in people's units; `expired` where that is the default reward."""

    event: Event
    reward: float
    expired: bool = False


class Ledger:
    """Events by id: waiting, settled but not learned from, or closed (remembered up to the cap)."""

    def __init__(self, rules: RewardRules, rewards: RewardRange) -> None:
        if rules.default_reward is not None:
            rewards.unit_one(rules.default_reward)
        self.rules = rules
        self._rewards = rewards
        # In a plain dict, finding the first entry walks over all that were deleted before it.
        self.waiting: OrderedDict[str, Event] = OrderedDict()
        self.settled: dict[str, Settled] = {}
        self.closed: OrderedDict[str, How] = OrderedDict()

    def knows(self, event_id: str) -> bool:
        """Whether a decision with this id is remembered."""
        return event_id in self.waiting or event_id in self.settled or event_id in self.closed

    def check_new(self, event_id: object) -> str:
        """The id if it is new, else a refusal."""
        text = text_of(event_id)
        if self.knows(text):
            raise ValueError(f"event id {text!r} has been decided before; give each decision its own.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"event id {text!r} is no valid Unicode; give text for UTF-8.") from None
        return text

    def new_id(self, wish: str) -> str:
        """The wish itself, unless somebody has brought an id that looks like it."""
        while self.knows(wish):
            wish += "+"
        return wish

    def check_all_new(self, event_ids: Iterable[object], n: int) -> list[str]:
        """The n ids if each is new, else a refusal."""
        ids = [event_ids] if isinstance(event_ids, str) else list(event_ids)
        if len(ids) != n:
            raise ValueError(f"there are {len(ids)} event ids for {n} contexts; give one each.")
        new: dict[str, None] = {}
        for one in map(self.check_new, ids):
            if one in new:
                raise ValueError(f"event id {one!r} is there twice; give each decision an id of its own.")
            new[one] = None
        return list(new)

    def check_room(self, n: int) -> None:
        """Refuse more decisions at once than may wait: the first of them would be lost to the last."""
        if n > self.rules.max_pending:
            raise ValueError(
                f"{n} contexts at once are more than the {self.rules.max_pending} decisions that may wait; "
                "raise max_pending, or give fewer at a time."
            )

    def plan(self, event_id: str, value: object) -> Settled | None:
        """What crediting this reward would settle, or a refusal; None when it would change nothing."""
        event = self.waiting.get(event_id)
        if event is not None:
            return Settled(event, self._checked(value))
        before = self.settled.get(event_id)
        if before is not None and not before.expired:
            return self._amended(event_id, before, self._checked(value))
        self._refuse_closed(event_id, "defaulted" if before is not None else self.closed.get(event_id))
        self._checked(value)
        return None

    def settle(self, event_id: str, planned: Settled) -> Event | None:
        """Credit a planned reward; the event if it has waited for it, None if an earlier one was amended."""
        self.settled[event_id] = planned
        return self.waiting.pop(event_id, None)

    def due(self, now: float, n_new: int = 0) -> list[str]:
        """Ids of events whose time is up, or that must make room for new ones: the oldest first."""
        life, overflow = self.rules.reward_timeout, len(self.waiting) + n_new - self.rules.max_pending
        ids = list(islice(self.waiting, overflow)) if overflow > 0 else []
        if life is not None:
            for event_id, event in islice(self.waiting.items(), len(ids), None):
                if now - event.decided_at < life:
                    break
                ids.append(event_id)
        return ids

    def expire(self, now: float, n_new: int = 0) -> list[Event]:
        """Close events that are due, with the default reward if there is one."""
        ids = self.due(now, n_new)
        return [self._expire(event_id) for event_id in ids] if ids else []

    def settled_log(self, n_actions: int) -> Log:
        """The settled rows in round order."""
        rows = sorted(self.settled.values(), key=lambda row: row.event.round)
        return log_of(rows, self._rewards, n_actions)

    def close_settled(self) -> None:
        """Remember that the settled rows have been learned from."""
        for event_id, row in self.settled.items():
            self._close(event_id, "defaulted" if row.expired else "learned")
        self.settled = {}

    def _checked(self, value: object) -> float:
        self._rewards.unit_one(value)
        return float(value)  # type: ignore[arg-type]  # unit_one has refused what is not a number

    def _amended(self, event_id: str, before: Settled, value: float) -> Settled | None:
        match self.rules.repeated:
            case "error":
                raise ValueError(
                    f"event {event_id!r} has a reward already ({before.reward}); choose repeated='first', "
                    "'last' or 'sum' if several may come."
                )
            case "first":
                return None
            case "last":
                return Settled(before.event, value)
            case "sum":
                return Settled(before.event, self._checked(before.reward + value))

    def _refuse_closed(self, event_id: str, how: How | None) -> None:
        if how is None:
            raise ValueError(
                f"event {event_id!r} is unknown: no decision with this id is waiting for a reward; "
                "give the event_id of a Decision."
            )
        if how != "learned" or self.rules.repeated != "first":
            raise ValueError(f"event {event_id!r} {_CLOSED[how]}; a further reward can't change that.")

    def _expire(self, event_id: str) -> Event:
        event = self.waiting.pop(event_id)
        default = self.rules.default_reward
        if default is None:
            self._close(event_id, "dropped")
        else:
            self.settled[event_id] = Settled(event, default, expired=True)
        return event

    def _close(self, event_id: str, how: How) -> None:
        self.closed[event_id] = how
        if len(self.closed) > self.rules.max_pending:
            self.closed.popitem(last=False)


def text_of(event_id: object) -> str:
    """The id as plain text, also where it is NumPy's or an Enum's; a refusal of anything else."""
    if not isinstance(event_id, str):
        raise TypeError(f"event id {shown(event_id)} is a {type(event_id).__name__}; give text.")
    return str.__str__(event_id)


def log_of(rows: list[Settled], rewards: RewardRange, n_actions: int) -> Log:
    """The log of settled events, in the learner's units."""
    events = [row.event for row in rows]
    return Log(
        contexts_of(events, n_actions),
        np.array([event.action for event in events], dtype=np.int64),
        rewards.to_unit(np.array([row.reward for row in rows], dtype=np.float64)),
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
