"""Replay of logged decisions: rows on which a learner agrees with the log are its rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch, PassiveDesign, decide
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.core.validation import is_own
from gyrfalcon.engine.own_policies import checked_epoch
from gyrfalcon.engine.turnover import played_epochs
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.protocol import BLOCK
from gyrfalcon.environments.streams import rows_of
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.engine import CHUNK, OnRounds, RowBuffer
from gyrfalcon.simulation.kept_log import KeptReplication
from gyrfalcon.simulation.trace import Recorder


def uniforms_of_rows(seed: int, start: int, stop: int) -> Floats:
    """Uniforms of a learner's decisions on the rows start..stop-1 of the replay, (n, 3).

    They belong to rows, not to decisions: a row that is decided once more, in a later epoch, has the same.
    """
    shape = BLOCK, UNIFORMS_PER_DECISION
    return rows_of(lambda block: np.random.default_rng([seed, 1, block]).random(shape), start, stop)


def replay(
    learner: Learner,
    environment: LoggedReplay,
    n_rounds: int,
    seed: int,
    replication: int,
    recorder: Recorder,
    on_rounds: OnRounds,
    kept: KeptReplication | None = None,
) -> None:
    """Play n_rounds of a log, and record them; regret is nan, because expected rewards are unknown."""
    rows = _Rows(environment, n_rounds, seed, learner if is_own(learner) else None)
    buffer = RowBuffer(learner, environment.problem.n_actions, long=math.inf)
    here = slice(replication, replication + 1)
    for epoch in played_epochs(learner.start(environment.problem), n_rounds, buffer.next_epoch):
        recorder.epoch(replication, epoch)
        for counted in _counted(rows, epoch):
            log = counted.log
            unknown = np.full((1, len(log)), np.nan)
            recorder.rounds(here, int(log.round[0]), unknown, counted.reward[None], log.propensity[None])
            buffer.add(epoch, log)
            if kept is not None:
                kept.add(epoch, log.contexts, counted.decisions, counted.reward)
            on_rounds(len(log))


def _counted(rows: _Rows, epoch: Epoch) -> Iterator[_Counted]:
    """The rounds of an epoch, some at a time."""
    for first, last in stretches(epoch, min(epoch.stop, rows.n_rounds)):
        round_ = first
        while round_ < last:
            counted = rows.counted(epoch, round_, last)
            round_ += len(counted.log)
            if len(counted.log):
                yield counted


def stretches(epoch: Epoch, stop: int) -> Iterator[tuple[int, int]]:
    """Rounds in which an epoch decides alike: its passive tail is apart.

    Which round a row will be is known only after the rows before it were decided; within a stretch it does
    not matter.
    """
    cut = epoch.passive_start if epoch.passive_design is PassiveDesign.TAIL else epoch.start
    middle = min(max(cut, epoch.start), stop)
    yield from ((first, last) for first, last in ((epoch.start, middle), (middle, stop)) if first < last)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Rows that count as rounds: the learner's log, and rewards in the problem's own units."""

    log: Log
    reward: Floats
    decisions: Decisions


class _Rows:
    """The rows of a log in the order of a seed, gone through once."""

    def __init__(
        self, environment: LoggedReplay, n_rounds: int, seed: int, own_learner: Learner | None
    ) -> None:
        self.environment, self.n_rounds = environment, n_rounds
        self._own_learner = own_learner
        self._order, self._admitted, self._seed = environment.rows(seed), environment.admitted(seed), seed
        self._next = 0

    def counted(self, epoch: Epoch, round_: int, stop: int) -> _Counted:
        """The next rows that count, none or at most as many as there are rounds from `round_` to `stop`.

        Rows after the last of those are left for whoever decides next.
        """
        rows = self._candidates(round_, stop)
        log, n = self.environment.log, len(rows)
        contexts = log.contexts.take(rows)
        uniforms = uniforms_of_rows(self._seed, self._next, self._next + n)
        rounds, deciding = np.full(n, round_), epoch
        if self._own_learner is not None and round_ == epoch.start:
            deciding = checked_epoch(epoch, rounds, self.environment.problem.actions, self._own_learner)
        decisions = decide(deciding, rounds, contexts, uniforms)
        agreed = decisions.action == log.action[rows]
        places = np.flatnonzero(agreed & self._admitted[self._next : self._next + n])[: stop - round_]
        self._next += int(places[-1]) + 1 if len(places) == stop - round_ else n
        kept = _renumbered(decisions, places, round_)
        own = self.environment.own_rewards[rows[places]]
        return _Counted(Log.of(contexts.take(places), kept, log.reward[rows[places]]), own, kept)

    def _candidates(self, round_: int, stop: int) -> Ints:
        """About as many rows as it takes to go on to round `stop`."""
        share = self.environment.expected_rounds / self.environment.n_rows
        n = math.ceil(min(CHUNK, 1.1 * (stop - round_) / share + 16.0))
        rows = self._order[self._next : self._next + n]
        if not len(rows):
            raise ValueError(
                f"the log of {self.environment.n_rows} rows gave {round_} rounds, and n_rounds is "
                f"{self.n_rounds}; ask for fewer, or give a log of about {self.n_rounds / share:.0f} rows "
                "and some to spare."
            )
        return rows


def _renumbered(decisions: Decisions, places: Ints, round_: int) -> Decisions:
    """The decisions that count, as rounds from `round_` on."""
    return Decisions(
        decisions.epoch[places],
        np.arange(round_, round_ + len(places)),
        decisions.action[places],
        decisions.propensity[places],
        decisions.component[places],
    )
