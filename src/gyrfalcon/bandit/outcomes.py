"""Outcomes of events: rewards that are credited, time that is up, and decisions that had no effect."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.event_table import Event, Status
from gyrfalcon.bandit.identity import text_of
from gyrfalcon.bandit.journal import Finalised, LateReward, Rewarded, Withdrawn
from gyrfalcon.bandit.reward_rules import LateRewardError
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.engine.finality import final_time

PORTION = 256
"""Outcomes whose time is up that one call makes final; a thousand take about ten milliseconds."""


def tick(engine: BanditEngine, n_new: int) -> float:
    """The time of n decisions to come: outcomes whose time is up are final, and there is room."""
    now = engine.clock.tick()
    finalise(engine, now, engine.rules.max_pending - n_new, n_new)
    return now


def finalise(engine: BanditEngine, now: float, most: int, n_new: int = 0) -> None:
    """Make outcomes final whose time is up, and those of the oldest of more than `most` open events.

    After a quiet hour many are up at once: a call takes the oldest `PORTION` of them, more only where it
    makes n new decisions or needs room, so that no call waits for all.
    """
    rules, n_waiting = engine.rules, engine.ledger.counts.n_waiting
    if rules.reward_timeout is None and n_waiting <= most:
        engine.has_backlog = False
        return
    portion = max(PORTION, 2 * n_new, n_waiting - most)
    overdue = engine.ledger.overdue(now, rules.reward_timeout, most)
    listed = list(islice(overdue, portion))
    engine.has_backlog = len(listed) == portion
    for event_id, event, crowded in listed:
        if crowded:
            engine.warn(
                "max_pending",
                f"More than max_pending = {engine.rules.max_pending} events are open: outcomes of the "
                "oldest become final before their time. Raise max_pending, or set a reward_timeout.",
            )
        engine.failed = False
        engine.record(Finalised(event_id, now, *engine.rules.outcome(event), crowded))


def _event_by_now(engine: BanditEngine, event_id: str, now: float) -> Event | None:
    """The event with this id, whose outcome is final if its time is up, though it was not yet its turn."""
    event, timeout = engine.ledger.find(event_id), engine.rules.reward_timeout
    if event is None or timeout is None or event.status > Status.REWARDED:
        return event
    if now < final_time(event.decided_at, None, timeout):
        return event
    engine.failed = False
    engine.record(Finalised(event_id, now, *engine.rules.outcome(event), False))
    return engine.ledger.find(event_id)


def credit(engine: BanditEngine, rewards: Iterable[tuple[object, object]], *, final: bool) -> None:
    """Credit all of these rewards, or none when one is refused."""
    now = engine.clock.now()
    finalise(engine, now, engine.rules.max_pending)
    ledger = engine.ledger
    credited: dict[str, float | None] = {}
    for event_id, value in rewards:
        text = text_of(event_id)
        if text in credited:
            raise ValueError(f"event {short_repr(text)} is there twice; give each event one reward.")
        event = _event_by_now(engine, text, now)
        in_fit = engine.job is not None and ledger.live.get(text) in engine.job.positions
        try:
            reward = engine.rules.credited(text, event, value, ledger.problem.rewards, in_fit=in_fit)
        except LateRewardError as error:
            engine.record(LateReward(text, now))
            raise ValueError(str(error)) from None
        credited[text] = reward
    is_final = final or engine.rules.reward_timeout is None
    changed = {text: reward for text, reward in credited.items() if reward is not None}
    engine.failed = engine.failed and not changed
    engine.record_all(Rewarded(text, now, reward, is_final) for text, reward in changed.items())


def withdraw(engine: BanditEngine, event_id: object, shown: object | None) -> None:
    """End an event whose decision was never shown, or shown with another action."""
    text = text_of(event_id)
    event, position = engine.ledger.find(text), engine.ledger.live.get(text)
    if event is None:
        raise ValueError(f"event {short_repr(text)} is unknown; give the event_id of a Decision.")
    if position is None or (engine.job is not None and position in engine.job.positions):
        done = Status(event.status).name.lower().replace("_", " ")
        if event.status == Status.WITHDRAWN:
            return
        raise ValueError(f"event {short_repr(text)} has ended ({done}); it can't be withdrawn any more.")
    action = None if shown is None else engine.problem.index_of(shown)
    if action is not None and action == event.action:
        raise ValueError(f"event {short_repr(text)} was decided as {shown!r}; there is nothing to override.")
    engine.failed = False
    engine.record(Withdrawn(text, engine.clock.now(), action))
