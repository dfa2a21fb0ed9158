"""Ledger of events: every event in exactly one status, and the rows that fits may read.

A record takes effect in two steps. What it changes is computed from the state without touching it, and kept
by one assignment: from then on it has happened. Then the changes are written, each of which may be repeated.
An exception between any two instructions, such as that of a signal, therefore leaves either the state before,
or one that the next call completes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from itertools import islice

import numpy as np

from gyrfalcon.bandit.counts import Counts
from gyrfalcon.bandit.event_table import Event, EventTable, Status
from gyrfalcon.bandit.journal import Decided, Record, RowsSetAside
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.silence import STRETCH, Tallies
from gyrfalcon.bandit.transitions import Changes, Posed, changes_of, logs_after
from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.engine.finality import final_prefix, final_time


class Ledger:
    """Events of a bandit from decision to end, rows that are ready for a fit, and counts of it all.

    Parameters
    ----------
    problem
        The decision problem.
    rules
        Rules for rewards. With a timeout, a row is ready only when the outcomes of all earlier decisions are
        final as well; otherwise as soon as its own outcome is. The ids of `max_pending` ended events are
        remembered.
    """

    def __init__(self, problem: Problem, rules: RewardRules) -> None:
        self.problem = problem
        self.max_ended = rules.max_pending
        self.whole_cohorts = rules.reward_timeout is not None
        self.silence_is_outcome = rules.silence_is_outcome
        self.counts = Counts()
        self.stop = 0  # the round at which the epoch in play is planned to end
        self.epoch_index = 1
        self.table = EventTable(problem.features.width)
        self.live: dict[str, int] = {}
        self.ended: OrderedDict[str, Event] = OrderedDict()
        self.ready: dict[int, None] = {}
        self.logs: tuple[Log, ...] = ()
        self.watermark = 0  # the first position that may be waiting
        self.posed_at = 0  # the first position that was decided with the actions as they are
        self.retired: frozenset[Hashable] = frozenset()
        self.tallies = Tallies.none(problem.n_actions)
        self.refusal = ""  # why the learner fails on the rows that were set aside last
        self.silent: Bools | None = None
        """Actions that the policy leaves out, because their rewards never arrive, (K,); None for none."""
        self.outbox: deque[tuple[int, Record]] | None = None
        """Records with their numbers that a sink has not had yet; None without a sink."""
        self._changes: Changes | None = None

    @property
    def n_ready(self) -> int:
        """Number of rows that the next fit would have, but for those that are summed already."""
        return len(self.ready) + self.n_log_rows

    @property
    def n_log_rows(self) -> int:
        """Number of rows in logs from elsewhere that no fit has used."""
        return sum(map(len, self.logs))

    def find(self, event_id: str) -> Event | None:
        """The event with this id, or None if it is unknown or forgotten."""
        position = self.live.get(event_id)
        return self.ended.get(event_id) if position is None else self.table.event(position)

    def apply(self, record: Record) -> None:
        """Let a record take effect, as a whole."""
        if self._changes is not None:
            self.complete()
        self._changes = changes_of(self, record)
        self.complete()

    def complete(self) -> None:
        """Finish what an exception has interrupted."""
        if self._changes is not None:
            self._write(self._changes)
            self._changes = None

    def n_overdue(self, now: float, timeout: float | None, most: int) -> int:
        """Number of waiting events that must become final: see `overdue`."""
        late = 0 if timeout is None else self.table.n_late(self.watermark, now, timeout)
        return max(late, self.counts.n_waiting - most, 0)

    def overdue(self, now: float, timeout: float | None, most: int) -> Iterator[tuple[str, Event, bool]]:
        """Waiting events that must become final, the oldest first, and whether only to make room.

        They were decided at least `timeout` seconds before `now`, or are the oldest of more than `most`.
        """
        crowd = self.counts.n_waiting - most
        if crowd <= 0 and timeout is None:
            return
        self.move_watermark()
        for position in range(self.watermark, self.counts.n_decided):
            if self.table.status(position) > Status.REWARDED:
                continue
            event = self.table.event(position)
            is_late = now >= final_time(event.decided_at, None, timeout)
            if not is_late and crowd <= 0:
                return
            crowd -= 1
            yield self.table.event_id(position), event, not is_late

    def provisional(self) -> Iterator[tuple[str, float]]:
        """Events whose reward waits for the event's time to be up, and their rewards."""
        for event_id, position in self.live.items():
            event = self.table.event(position)
            if event.status == Status.REWARDED:
                yield event_id, event.reward

    def first_ready(self, n: int) -> Ints:
        """Positions of the first n ready rows, in the order of their decisions."""
        return np.sort(np.fromiter(islice(self.ready, n), dtype=np.int64))

    def blocking_round(self) -> int | None:
        """The round whose outcome later ones wait for before a fit may read them, if there is one."""
        if not self.whole_cohorts or self.watermark >= self.counts.n_decided:
            return None
        return self.table.event(self.watermark).round

    def rows(self, n: int, n_log_rows: int) -> Log:
        """The first n ready rows in the learner's units, after the first rows of logs from elsewhere."""
        columns, contexts = self.table.take(self.first_ready(n), self.problem.n_actions)
        log = Log(
            contexts,
            columns["action"].astype(np.int64),
            self.problem.rewards.scaled(columns["reward"]),
            columns["propensity"],
            columns["epoch"],
            columns["round"],
            columns["component"].astype(np.int64),
        )
        logs = self.logs[: len(self.logs) - len(logs_after(self, n_log_rows))]
        return Log.concat([*logs, log] if len(log) else list(logs), self.problem.n_actions) if logs else log

    def _write(self, changes: Changes) -> None:
        counts, record, updated, ended, tally, logs, posed, rules = changes
        if posed is not None:
            self._pose(posed)
        if rules is not None:
            self._follow(rules)
        if isinstance(record, Decided):
            self._open(record, counts.n_decided - 1)
        for position, event in updated:
            self.table.update(position, event)
            self._make_ready(position, event)
        self.counts = counts
        if ended:
            self._end(ended)
        if tally is not None:
            self.tallies.write(tally, counts.n_decided)
            if counts.n_decided % STRETCH == 0 or tally.rewarded == 1 or tally.final == 1:
                self._listen()
        if logs is not None:
            self.logs = logs
            if isinstance(record, RowsSetAside):
                self.refusal = record.reason
        if self.whole_cohorts:
            self.move_watermark()
        if self.outbox is not None and (not self.outbox or self.outbox[-1][0] < counts.sequence):
            self.outbox.append((counts.sequence, record))

    def _open(self, decided: Decided, position: int) -> None:
        event_id, now, contexts, row, action, component, epoch, round_, propensity, *_ = decided
        event = Event(action, component, epoch, round_, propensity, now)
        self.table.write(position, event_id, event, contexts, row)
        self.live[event_id] = position

    def _pose(self, posed: Posed) -> None:
        self.problem, self.table, self.ended = posed.problem, posed.table, posed.ended
        self.posed_at = self.counts.n_decided
        self.tallies, self.retired, self.silent = posed.tallies, posed.retired, None

    def _listen(self) -> None:
        """Find anew which actions are left out: none where each decision has an outcome in the end."""
        left_out = self.tallies.left_out(self.counts.longest_delay, self.counts.n_decided)
        self.silent = None if self.silence_is_outcome else left_out

    def _end(self, ended: tuple[tuple[str, int, Event], ...]) -> None:
        for event_id, position, event in ended:
            if event_id in self.live:
                self.ended[event_id] = event
                del self.live[event_id]
            self.ready.pop(position, None)
        positions, statuses = [one[1] for one in ended], [one[2].status for one in ended]
        self.table.end(positions, statuses, self.counts.n_decided)
        while len(self.ended) > self.max_ended:
            self.ended.popitem(last=False)

    def _follow(self, rules: RewardRules) -> None:
        """Follow other rules: final outcomes are ready at once, or with a timeout wait for earlier ones."""
        self.max_ended, self.whole_cohorts = rules.max_pending, rules.reward_timeout is not None
        self.silence_is_outcome = rules.silence_is_outcome
        self._listen()
        if self.whole_cohorts:
            self.move_watermark()
            self.ready = {position: None for position in self.ready if position < self.watermark}
        else:
            for position in sorted(self.live.values()):
                self._make_ready(position, self.table.event(position))

    def _make_ready(self, position: int, event: Event) -> None:
        if event.status == Status.FINAL and not self.whole_cohorts and event.action >= 0:
            self.ready[position] = None

    def move_watermark(self) -> None:
        """Pass over events whose outcome is final: with whole cohorts, these are ready from then on."""
        window = (
            4  # most records let it pass over none or one; arrays of many would take longer than all else
        )
        while self.watermark < self.counts.n_decided:
            if self.table.status(self.watermark) <= Status.REWARDED:
                return
            stop = min(self.watermark + window, self.counts.n_decided)
            statuses = self.table.statuses(self.watermark, stop)
            n_final = final_prefix(statuses > Status.REWARDED)
            if self.whole_cohorts:
                for place, status in enumerate(statuses[:n_final].tolist(), start=self.watermark):
                    if status == Status.FINAL:
                        self.ready[place] = None
            self.watermark += n_final
            window *= 4
