"""What a record changes in the ledger of events, computed without touching it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from gyrfalcon.bandit.counts import Counts, Moments
from gyrfalcon.bandit.event_table import Event, EventTable, Status
from gyrfalcon.bandit.journal import (
    Decided,
    EpochOpened,
    Finalised,
    LateReward,
    LearnerChanged,
    LogAdded,
    ProblemChanged,
    Record,
    Rewarded,
    RowsSetAside,
    RowsSummed,
    RulesChanged,
    Withdrawn,
)
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.silence import Tallies, Tally
from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.learners.action_changes import renumbered, sources

if TYPE_CHECKING:
    from gyrfalcon.bandit.ledger import Ledger


class Posed(NamedTuple):
    """Another problem, and what is numbered by its actions."""

    problem: Problem
    table: EventTable
    tallies: Tallies
    ended: OrderedDict[str, Event]
    retired: frozenset[Hashable]


class Changes(NamedTuple):
    """What a record changes, as values to write: writing them twice is writing them once."""

    counts: Counts
    record: Record
    """What has happened; of a decision, the event to write at the last position."""
    updated: tuple[tuple[int, Event], ...] = ()
    ended: tuple[tuple[str, int, Event], ...] = ()
    tally: Tally | None = None
    logs: tuple[Log, ...] | None = None
    posed: Posed | None = None
    rules: RewardRules | None = None


def changes_of(ledger: Ledger, record: Record) -> Changes:
    """What a record changes, with the counts after it."""
    match record:
        case Decided():
            return _decided(ledger, record)
        case Rewarded() | Finalised() | Withdrawn():
            return _outcome(ledger, record)
    counts = ledger.counts._replace(sequence=ledger.counts.sequence + 1)
    match record:
        case LateReward():
            return Changes(counts._replace(n_late=counts.n_late + 1), record)
        case LogAdded(log=log):
            return Changes(counts._replace(round=counts.round + len(log)), record, logs=(*ledger.logs, log))
        case RowsSummed() | RowsSetAside() | EpochOpened() | LearnerChanged():
            return _used(ledger, record, counts)
        case ProblemChanged():
            return _posed(ledger, record, counts)
        case RulesChanged(rules=rules):
            return Changes(counts, record, rules=rules)


def _posed(ledger: Ledger, record: ProblemChanged, counts: Counts) -> Changes:
    """Actions have other numbers, and rows of retired actions end; a first context poses the features."""
    problem = record.problem
    if ledger.problem.features != problem.features:
        table = EventTable(problem.features.width)
        posed = Posed(problem, table, Tallies.none(problem.n_actions), OrderedDict(), ledger.retired)
        return Changes(counts, record, posed=posed)
    source = sources(ledger.problem, problem)
    table = ledger.table.renumbered(source)
    posed = Posed(
        problem,
        table,
        ledger.tallies.reindexed(source),
        _renumbered(ledger.ended, source),
        ledger.retired | (set(ledger.problem.actions) - set(problem.actions)),
    )
    gone = table.ended(table.final_without_action(), Status.RETIRED)
    logs = tuple(log for log in (renumbered(log, source) for log in ledger.logs) if len(log))
    updated, counts = _moved(ledger, problem, table, counts)
    return Changes(counts, record, updated, gone, logs=logs, posed=posed)


def _moved(
    ledger: Ledger, problem: Problem, table: EventTable, counts: Counts
) -> tuple[tuple[tuple[int, Event], ...], Counts]:
    """Rewards keep what they counted for, and are moved into the range where that is the rule from now on."""
    before, after, updated = ledger.problem.rewards, problem.rewards, []
    policy, passive = counts.policy, counts.passive
    for position in ledger.live.values() if before != after else ():
        event = table.event(position)
        counted = before.within(event.reward)
        moved = after.within(counted)
        if moved != event.reward and not math.isnan(event.reward) and event.action >= 0:
            updated.append((position, event._replace(reward=moved)))
            if event.status == Status.FINAL:
                policy, passive = _with_reward((policy, passive), event.component, counted, moved)
    return tuple(updated), counts._replace(policy=policy, passive=passive)


def _decided(ledger: Ledger, record: Decided) -> Changes:
    """The way of every decision: positional, because keywords would take as long as all the rest."""
    action = record.action
    sequence, rounds, n_decided, n_waiting, n_open = ledger.counts[:5]
    n_open += record.epoch == ledger.epoch_index and record.round < ledger.stop
    opened = Counts._make(
        (sequence + 1, rounds + 1, n_decided + 1, n_waiting + 1, n_open, *ledger.counts[5:])
    )
    return Changes(opened, record, (), (), ledger.tallies.of(action, 1, 0, 0))


def _outcome(ledger: Ledger, record: Rewarded | Finalised | Withdrawn) -> Changes:
    position = ledger.live[record.event_id]
    before = ledger.table.event(position)
    after = _after(before, record)
    counts = _counted(ledger, record, before, after, position, ledger.counts)
    tally = None if after.action < 0 else _tallied(ledger, before, after)
    if after.status > Status.FINAL:
        return Changes(counts, record, (), ((record.event_id, position, after),), tally)
    return Changes(counts, record, ((position, after),), (), tally)


def _tallied(ledger: Ledger, before: Event, after: Event) -> Tally:
    """The tally of an action after an outcome; a withdrawn decision counts for nothing."""
    was_rewarded = not math.isnan(before.reward) and not before.expired
    is_rewarded = not math.isnan(after.reward) and not after.expired
    is_final = (after.status == Status.FINAL) - (before.status == Status.FINAL)
    if after.status == Status.WITHDRAWN:
        return ledger.tallies.of(after.action, -1, -was_rewarded, is_final)
    return ledger.tallies.of(after.action, 0, is_rewarded - was_rewarded, is_final)


def _counted(
    ledger: Ledger,
    record: Rewarded | Finalised | Withdrawn,
    before: Event,
    after: Event,
    position: int,
    counts: Counts,
) -> Counts:
    """The counts after the outcome of an event: positional, as those after a decision."""
    sequence, rounds, n_decided, n_waiting, n_open, n_rewarded, n_final, *ends, delay, policy, passive = (
        counts
    )
    waited, status = before.status <= Status.REWARDED, after.status
    if waited and status > Status.REWARDED:
        n_waiting -= 1
        n_open -= before.epoch == ledger.epoch_index and before.round < ledger.stop
    if isinstance(record, Rewarded):
        if math.isnan(before.reward):
            n_rewarded, delay = n_rewarded + 1, max(delay, n_decided - position)
    else:
        n_expired, n_dropped, n_crowded, n_withdrawn, *others = ends
        n_expired += after.expired and not before.expired
        n_crowded += isinstance(record, Finalised) and record.crowded
        n_dropped, n_withdrawn = (
            n_dropped + (status == Status.DROPPED),
            n_withdrawn + (status == Status.WITHDRAWN),
        )
        ends = [n_expired, n_dropped, n_crowded, n_withdrawn, *others]
    if Status.FINAL in (status, before.status):
        n_final += (status == Status.FINAL) - (before.status == Status.FINAL)
        seen = ledger.problem.rewards.within  # as fits see them
        old = seen(before.reward) if before.status == Status.FINAL else None
        new = seen(after.reward) if status == Status.FINAL else None
        policy, passive = _with_reward((policy, passive), after.component, old, new)
    first = (sequence + 1, rounds, n_decided, n_waiting, n_open, n_rewarded, n_final)
    return Counts._make((*first, *ends, delay, policy, passive))


def _with_reward(
    both: tuple[Moments, Moments], component: int, old: float | None, new: float | None
) -> tuple[Moments, Moments]:
    """The moments of policy and passive rounds with a final reward in place of another; None is no reward."""
    policy, passive = both
    is_passive = component % 2 == PASSIVE
    moments = passive if is_passive else policy
    if old is None and new is not None:
        moments = moments.added(new)
    elif old is not None and new is None:
        moments = moments.removed(old)
    elif old is not None and new is not None and old != new:
        moments = moments.replaced(old, new)
    return (policy, moments) if is_passive else (moments, passive)


def _used(
    ledger: Ledger, record: RowsSummed | RowsSetAside | EpochOpened | LearnerChanged, counts: Counts
) -> Changes:
    """Rows that a fit has used, or that none takes, have ended."""
    if isinstance(record, RowsSetAside):
        ended = ledger.table.ended((ledger.live[one] for one in record.event_ids), Status.SET_ASIDE)
        counts = counts._replace(n_set_aside=counts.n_set_aside + len(ended) + record.n_log_rows)
        return Changes(counts, record, ended=ended, logs=logs_after(ledger, record.n_log_rows))
    ended = ledger.table.ended(islice(ledger.ready, record.n_rows), Status.LEARNED)
    counts = counts._replace(n_learned=counts.n_learned + len(ended))
    if isinstance(record, RowsSummed):
        return Changes(counts, record, ended=ended)
    logs = logs_after(ledger, record.n_log_rows)
    return Changes(counts._replace(n_open=0), record, ended=ended, logs=logs)


def logs_after(ledger: Ledger, n_rows: int) -> tuple[Log, ...]:
    """The logs from elsewhere without those of the first `n_rows` rows."""
    remaining = list(ledger.logs)
    while n_rows > 0:
        n_rows -= len(remaining.pop(0))
    return tuple(remaining)


def _after(before: Event, record: Rewarded | Finalised | Withdrawn) -> Event:
    """The event after an outcome; rewards of retired actions are credited, and no fit uses them."""
    final = Status.FINAL if before.action >= 0 else Status.RETIRED
    if isinstance(record, Rewarded):
        status = final if record.final or before.status > Status.REWARDED else Status.REWARDED
        return Event(*before[:6], record.reward, status, before.expired, before.crowded)
    if isinstance(record, Withdrawn):
        return before._replace(status=Status.WITHDRAWN)
    if math.isnan(record.reward):
        return before._replace(status=Status.DROPPED, crowded=record.crowded)
    return Event(*before[:6], record.reward, final, record.expired, record.crowded)


def _renumbered(events: OrderedDict[str, Event], source: Ints) -> OrderedDict[str, Event]:
    """Ended events by the new numbers of their actions, -1 for retired ones."""
    places = {int(old): new for new, old in enumerate(source.tolist()) if old >= 0}
    if all(places.get(action, -1) == action for action in {event.action for event in events.values()}):
        return events
    return OrderedDict(
        (event_id, Event(places.get(event[0], -1), *event[1:])) for event_id, event in events.items()
    )
