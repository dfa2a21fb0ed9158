"""What a record changes in the ledger of events, computed without touching it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gyrfalcon.bandit.counts import Counts
from gyrfalcon.bandit.event_table import Event, EventTable, Status
from gyrfalcon.bandit.journal import (
    Decided,
    EpochOpened,
    Finalised,
    LateReward,
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
from gyrfalcon.bandit.silence import N_POWERS
from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.learners.action_changes import renumbered, sources

if TYPE_CHECKING:
    from gyrfalcon.bandit.ledger import Ledger


class Posed(NamedTuple):
    """Another problem, and what is numbered by its actions."""

    problem: Problem
    table: EventTable
    decided: Ints
    rewarded: Ints
    milestones: Ints
    ended: OrderedDict[str, Event]
    retired: frozenset[Hashable]


class Changes(NamedTuple):
    """What a record changes, as values to write: writing them twice is writing them once."""

    counts: Counts
    record: Record | None = None
    new: tuple[int, str, Event, Contexts, int] | None = None
    updated: tuple[tuple[int, Event], ...] = ()
    ended: tuple[tuple[str, int, Event], ...] = ()
    tally: tuple[tuple[int, int, int], ...] = ()
    """Which action has been decided and rewarded how often."""
    logs: tuple[Log, ...] | None = None
    posed: Posed | None = None
    rules: RewardRules | None = None


def changes_of(ledger: Ledger, record: Record) -> Changes:
    """What a record changes, with the counts after it."""
    if isinstance(record, Decided):
        return _decided(ledger, record, ledger.counts)
    counts = ledger.counts._replace(sequence=ledger.counts.sequence + 1)
    match record:
        case Rewarded() | Finalised() | Withdrawn():
            return _outcome(ledger, record, counts)
        case LateReward():
            return Changes(counts._replace(n_late=counts.n_late + 1))
        case LogAdded(log=log):
            return Changes(counts._replace(round=counts.round + len(log)), logs=(*ledger.logs, log))
        case RowsSummed() | RowsSetAside() | EpochOpened():
            return _used(ledger, record, counts)
        case ProblemChanged(problem=problem):
            return _posed(ledger, problem, counts)
        case RulesChanged(rules=rules):
            return Changes(counts, rules=rules)


def _posed(ledger: Ledger, problem: Problem, counts: Counts) -> Changes:
    """Actions have other numbers, and rows of retired actions end; a first context poses the features."""
    if ledger.problem.features != problem.features:
        table = EventTable(problem.features.width)
        posed = Posed(problem, table, *no_tallies(problem), OrderedDict(), ledger.retired)
        return Changes(counts, posed=posed)
    source = sources(ledger.problem, problem)
    table, known = ledger.table.renumbered(source), source >= 0
    posed = Posed(
        problem,
        table,
        np.where(known, ledger.decided[source], 0),
        np.where(known, ledger.rewarded[source], 0),
        np.where(known[:, np.newaxis], ledger.milestones[source], -1),
        _renumbered(ledger.ended, source),
        ledger.retired | (set(ledger.problem.actions) - set(problem.actions)),
    )
    gone = tuple(
        (ledger.table.event_id(position), position, event._replace(status=Status.RETIRED))
        for position in ledger.live.values()
        if (event := table.event(position)).action < 0 and event.status == Status.FINAL
    )
    logs = [renumbered(log, source) for log in ledger.logs]
    return Changes(counts, posed=posed, ended=gone, logs=tuple(log for log in logs if len(log)))


def _decided(ledger: Ledger, record: Decided, counts: Counts) -> Changes:
    """The way of every decision: positional, because keywords would take as long as all the rest."""
    event_id, now, contexts, row, action, component, epoch, round_, propensity, *_ = record
    event = Event(action, component, epoch, round_, propensity, now)
    sequence, rounds, n_decided, n_waiting, n_open, *others = counts
    n_open += epoch == ledger.epoch_index and round_ < ledger.stop
    opened = Counts._make((sequence + 1, rounds + 1, n_decided + 1, n_waiting + 1, n_open, *others))
    tally = ((action, int(ledger.decided[action]) + 1, int(ledger.rewarded[action])),)
    return Changes(opened, record, (n_decided, event_id, event, contexts, row), (), (), tally)


def _outcome(ledger: Ledger, record: Rewarded | Finalised | Withdrawn, counts: Counts) -> Changes:
    position = ledger.live[record.event_id]
    before = ledger.table.event(position)
    after = _after(before, record)
    counts = _counted(ledger, record, before, after, position, counts)
    tally: tuple[tuple[int, int, int], ...] = ()
    if isinstance(record, Rewarded) and math.isnan(before.reward) and after.action >= 0:
        tally = ((after.action, int(ledger.decided[after.action]), int(ledger.rewarded[after.action]) + 1),)
    if after.status > Status.FINAL:
        return Changes(counts, ended=((record.event_id, position, after),), tally=tally)
    return Changes(counts, updated=((position, after),), tally=tally)


def _counted(
    ledger: Ledger,
    record: Rewarded | Finalised | Withdrawn,
    before: Event,
    after: Event,
    position: int,
    counts: Counts,
) -> Counts:
    """The counts after the outcome of an event."""
    settles = before.is_waiting and not after.is_waiting
    first_reward = isinstance(record, Rewarded) and math.isnan(before.reward)
    counts = counts._replace(
        n_waiting=counts.n_waiting - settles,
        n_open=counts.n_open - (settles and _is_planned(ledger, before)),
        n_rewarded=counts.n_rewarded + first_reward,
        longest_delay=max(counts.longest_delay, first_reward * (counts.n_decided - position)),
        n_final=counts.n_final + (settles and after.status == Status.FINAL),
        n_expired=counts.n_expired + (after.expired and not before.expired),
        n_dropped=counts.n_dropped + (after.status == Status.DROPPED),
        n_crowded=counts.n_crowded + (isinstance(record, Finalised) and record.crowded),
        n_withdrawn=counts.n_withdrawn + (after.status == Status.WITHDRAWN),
    )
    return _with_reward(counts, before, after)


def _with_reward(counts: Counts, before: Event, after: Event) -> Counts:
    """The counts with the reward of an event that is final from now on, or has another one."""
    if after.status != Status.FINAL or math.isnan(after.reward):
        return counts
    is_passive = after.component % 2 == PASSIVE
    moments = counts.passive if is_passive else counts.policy
    if before.is_waiting:
        moments = moments.added(after.reward)
    elif after.reward != before.reward:
        moments = moments.replaced(before.reward, after.reward)
    return counts._replace(passive=moments) if is_passive else counts._replace(policy=moments)


def _used(ledger: Ledger, record: RowsSummed | RowsSetAside | EpochOpened, counts: Counts) -> Changes:
    """Rows that a fit has used, or that none takes, have ended."""
    if isinstance(record, RowsSetAside):
        status, positions = Status.SET_ASIDE, [ledger.live[event_id] for event_id in record.event_ids]
    else:
        status, positions = Status.LEARNED, list(islice(ledger.ready, record.n_rows))
    ended = tuple(
        (ledger.table.event_id(position), position, ledger.table.event(position)._replace(status=status))
        for position in positions
    )
    n = len(ended)
    if status == Status.SET_ASIDE:
        return Changes(counts._replace(n_set_aside=counts.n_set_aside + n), ended=ended)
    counts = counts._replace(n_learned=counts.n_learned + n)
    if isinstance(record, EpochOpened):
        return Changes(counts._replace(n_open=0), ended=ended, logs=logs_after(ledger, record.n_log_rows))
    return Changes(counts, ended=ended)


def logs_after(ledger: Ledger, n_rows: int) -> tuple[Log, ...]:
    """The logs from elsewhere without those of the first `n_rows` rows."""
    remaining = list(ledger.logs)
    while n_rows > 0:
        n_rows -= len(remaining.pop(0))
    return tuple(remaining)


def _is_planned(ledger: Ledger, event: Event) -> bool:
    return event.epoch == ledger.epoch_index and event.round < ledger.stop


def no_tallies(problem: Problem) -> tuple[Ints, Ints, Ints]:
    """How often each action was decided and rewarded, and its milestones, before anything was."""
    zeros = np.zeros(problem.n_actions, dtype=np.int64)
    return zeros, zeros.copy(), np.full((problem.n_actions, N_POWERS), -1)


def _after(before: Event, record: Rewarded | Finalised | Withdrawn) -> Event:
    """The event after an outcome; rewards of retired actions are credited, and no fit uses them."""
    match record:
        case Withdrawn():
            return before._replace(status=Status.WITHDRAWN)
        case Finalised(reward=reward) if math.isnan(reward):
            return before._replace(status=Status.DROPPED, crowded=record.crowded)
        case Finalised(reward=reward, expired=expired):
            final = Status.FINAL if before.action >= 0 else Status.RETIRED
            return before._replace(reward=reward, status=final, expired=expired, crowded=record.crowded)
        case Rewarded(reward=reward, final=final_now):
            final = Status.FINAL if before.action >= 0 else Status.RETIRED
            status = final if final_now or not before.is_waiting else Status.REWARDED
            return before._replace(reward=reward, status=status)


def _renumbered(events: Mapping[str, Event], source: Ints) -> OrderedDict[str, Event]:
    """Ended events by the new numbers of their actions, -1 for retired ones."""
    places = {int(old): new for new, old in enumerate(source.tolist()) if old >= 0}
    return OrderedDict(
        (event_id, event._replace(action=places.get(event.action, -1))) for event_id, event in events.items()
    )
