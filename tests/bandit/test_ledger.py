"""The ledger: rows are ready in whole cohorts, memory is given back, renumbered actions keep their rows."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

from gyrfalcon.bandit.event_table import SEGMENT, Event, EventTable, Status
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
from gyrfalcon.bandit.ledger import Ledger
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.transitions import changes_of
from gyrfalcon.core.inputs.problem import Problem

PROBLEM = Problem(["a", "b", "c"], features=2, reward_range=(0, 10))


def decided(
    number: int, action: int | None = None, problem: Problem = PROBLEM, eligible: object = None
) -> Decided:
    contexts = problem.contexts(np.full((1, 2), float(number)), eligible=eligible)
    return Decided(
        str(number), float(number), contexts, 0, number % 3 if action is None else action, 0, 1, number, 0.5
    )


def rewarded(number: int, reward: float = 5.0, *, final: bool = True) -> Rewarded:
    return Rewarded(str(number), 99.0, reward, final)


def ledger_of(*records: Record, whole_cohorts: bool = False, max_ended: int = 10_000) -> Ledger:
    timeout = 60.0 if whole_cohorts else None
    ledger = Ledger(PROBLEM, RewardRules(reward_timeout=timeout, max_pending=max_ended))
    ledger.stop = 10**9
    for record in records:
        ledger.apply(record)
    return ledger


def rounds(ledger: Ledger) -> list[int]:
    found: list[int] = ledger.rows(len(ledger.ready), 0).round.tolist()
    return found


def test_rows_are_ready_at_once_or_when_all_earlier_ones_are_final() -> None:
    records: list[Record] = [*map(decided, range(4)), rewarded(2), rewarded(1), rewarded(3, final=False)]
    assert rounds(ledger_of(*records)) == [1, 2]
    whole = ledger_of(*records, whole_cohorts=True)
    assert (rounds(whole), whole.blocking_round()) == ([], 0)
    whole.apply(rewarded(0))
    assert (rounds(whole), whole.blocking_round()) == ([0, 1, 2], 3)
    whole.apply(Finalised("3", 99.0, 7.0, False, False))
    assert (rounds(whole), whole.blocking_round()) == ([0, 1, 2, 3], None)
    assert whole.rows(4, 0).reward.tolist() == [0.5, 0.5, 0.5, 0.7]


@pytest.mark.parametrize("whole", [False, True])
def test_dropped_and_withdrawn_events_hold_nobody_up(whole: bool) -> None:
    ledger = ledger_of(*map(decided, range(3)), rewarded(2), whole_cohorts=whole)
    ledger.apply(Finalised("0", 99.0, math.nan, False, True))
    ledger.apply(Withdrawn("1", 99.0, 0))
    assert rounds(ledger) == [2]
    assert [Status(event.status).name for event in ledger.ended.values()] == ["DROPPED", "WITHDRAWN"]
    counts = ledger.counts
    assert (counts.n_waiting, counts.n_open, counts.n_dropped, counts.n_withdrawn) == (0, 0, 1, 1)
    assert (counts.n_crowded, counts.n_final, counts.sequence) == (1, 1, 6)


def test_rows_of_a_fit_are_the_first_that_were_ready_and_each_is_used_once() -> None:
    ledger = ledger_of(*map(decided, range(5)), *(rewarded(number) for number in (3, 1, 4, 0)))
    ledger.apply(RowsSummed(99.0, 1))
    assert ledger.ended["3"].status == Status.LEARNED
    ledger.apply(RowsSetAside(99.0, ("1",), 0, "it is odd"))
    ledger.apply(EpochOpened(99.0, 2, 1, 0, 5))
    assert rounds(ledger) == [0]
    counts = ledger.counts
    assert (counts.n_learned, counts.n_set_aside, counts.n_open) == (2, 1, 0)
    assert list(ledger.live) == ["0", "2"]


def test_logs_from_elsewhere_come_first_and_only_those_of_the_fit_are_used() -> None:
    log = PROBLEM.log(PROBLEM.contexts(np.full((2, 2), 7.0)), ["a", "b"], [1, 2], [0.5, 0.5], rounds=[70, 71])
    ledger = ledger_of(decided(0), rewarded(0), LogAdded(1.0, log), LogAdded(2.0, log))
    assert (ledger.n_log_rows, ledger.n_ready, ledger.counts.round) == (4, 5, 5)
    assert ledger.rows(1, 2).round.tolist() == [70, 71, 0]
    assert ledger.rows(0, 2).round.tolist() == [70, 71]
    ledger.apply(EpochOpened(3.0, 2, 1, 2, 5))
    assert (ledger.n_log_rows, ledger.n_ready) == (2, 2)


def test_ended_events_are_forgotten_from_the_oldest_on() -> None:
    ledger = ledger_of(*map(decided, range(6)), max_ended=2)
    for number in (4, 0, 2, 5):
        ledger.apply(Withdrawn(str(number), 9.0, None))
    assert list(ledger.ended) == ["2", "5"]
    assert ledger.find("4") is None
    assert ledger.find("1") is not None


def test_rows_keep_their_actions_when_others_come_and_go() -> None:
    mask = np.array([[True, True, False]])
    log = PROBLEM.log(
        PROBLEM.contexts(np.zeros((3, 2)), eligible=np.repeat(mask, 3, axis=0)),
        ["a", "b", "a"],
        [1, 2, 3],
        [0.5] * 3,
    )
    ledger = ledger_of(
        decided(0, 0),
        decided(1, 1),
        decided(2, 2),
        decided(3, 0),
        decided(4, 1, eligible=mask),
        LogAdded(1.0, log),
    )
    for number in (0, 1, 4):
        ledger.apply(rewarded(number))
    other = Problem(["b", "c", "new"], features=2, reward_range=(0, 10))
    ledger.apply(ProblemChanged(1.0, other))
    rows = ledger.rows(len(ledger.ready), ledger.n_log_rows)
    assert rows.action.tolist() == [0, 0, 0]  # of the log's row 1, and of events 1 and 4
    assert rows.reward.tolist() == [0.2, 0.5, 0.5]
    assert rows.contexts.eligible is not None
    assert rows.contexts.eligible[1:].tolist() == [[True, True, False], [True, False, False]]
    assert ledger.ended["0"].status == Status.RETIRED
    assert ledger.tallies.decided.tolist() == [2, 1, 0]
    ledger.apply(rewarded(3))  # credited, and no fit reads it
    assert ledger.ended["3"].status == Status.RETIRED
    assert ledger.counts.n_rewarded == 4
    assert len(ledger.ready) == 2
    assert ledger.retired == {"a"}
    ledger.apply(decided(5, 2, other))
    assert ledger.tallies.decided.tolist() == [2, 1, 1]


def test_rules_may_change_in_the_middle() -> None:
    ledger = ledger_of(*map(decided, range(3)), rewarded(1), rewarded(2), whole_cohorts=True)
    assert rounds(ledger) == []
    ledger.apply(RulesChanged(1.0, RewardRules()))
    assert rounds(ledger) == [1, 2]
    ledger.apply(RulesChanged(1.0, RewardRules(reward_timeout=5.0)))
    ledger.apply(rewarded(0))
    ledger.apply(decided(3))
    assert rounds(ledger) == [0, 1, 2]
    assert ledger.blocking_round() == 3


def test_records_are_numbered_without_gaps_and_a_repeated_write_adds_none() -> None:
    ledger = ledger_of()
    ledger.outbox = deque()
    for record in (decided(0), rewarded(0), LateReward("x", 1.0), EpochOpened(2.0, 2, 1, 0, 1)):
        changes = changes_of(ledger, record)
        for _ in range(3):
            ledger._write(changes)
    assert [number for number, _ in ledger.outbox] == [1, 2, 3, 4]
    counts = ledger.counts
    assert (counts.n_decided, counts.n_rewarded, counts.n_late, counts.n_learned) == (1, 1, 1, 1)
    assert list(ledger.ended) == ["0"]


def test_overdue_events_are_the_late_and_those_beyond_the_cap() -> None:
    ledger = ledger_of(*map(decided, range(5)), rewarded(1))
    late = [(one, crowded) for one, _, crowded in ledger.overdue(12.0, 10.0, 100)]
    assert late == [("0", False), ("2", False)]
    assert [(one, crowded) for one, _, crowded in ledger.overdue(10.0, 10.0, 2)] == [
        ("0", False),
        ("2", True),
    ]
    assert [one for one, *_ in ledger.overdue(99.0, None, 3)] == ["0"]
    assert list(ledger.overdue(99.0, None, 4)) == []


def test_segments_are_given_back_when_all_their_events_have_ended() -> None:
    n = 2 * SEGMENT + 7
    ledger = ledger_of(*map(decided, range(n)), max_ended=5)
    assert len(ledger.table._segments) == 3
    for number in range(n):
        ledger.apply(Withdrawn(str(number), 9.0, None))
    assert list(ledger.table._segments) == [2]  # the one that is written to
    ledger.apply(decided(n))
    assert ledger.find(str(n)) is not None
    assert ledger.table.status(3) == Status.DROPPED
    assert (len(ledger.live), len(ledger.ended), ledger.counts.n_waiting) == (1, 5, 1)


def test_a_table_gives_back_what_was_written_with_masks_and_features_of_actions() -> None:
    problem = Problem(["a", "b"], features=1, action_features=2)
    table, rng = EventTable(1), np.random.default_rng(0)
    written = {}
    for position in (0, 3, SEGMENT - 1, SEGMENT, 3 * SEGMENT + 5):
        eligible = None if position < 4 else np.array([[True, position % 2 == 0]])
        contexts = problem.contexts(
            rng.normal(size=(1, 1)), actions=rng.normal(size=(1, 2, 2)), eligible=eligible
        )
        event = Event(position % 2, 0, 1, position, 0.25, 1.5)
        table.write(position, f"id {position}", event, contexts, 0)
        written[position] = (event, contexts)
    for position, (event, contexts) in written.items():
        columns, back = table.take(np.array([position]), 2)
        assert table.event(position)[:6] == event[:6]
        assert math.isnan(table.event(position).reward)
        assert (table.event_id(position), columns["round"].tolist()) == (f"id {position}", [position])
        assert back.shared.tolist() == contexts.shared.tolist()
        assert back.actions is not None
        assert contexts.actions is not None
        assert back.actions.tolist() == contexts.actions.tolist()
        if contexts.eligible is not None:
            assert back.eligible is not None
            assert back.eligible.tolist() == contexts.eligible.tolist()
