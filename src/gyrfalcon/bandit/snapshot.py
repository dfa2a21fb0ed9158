"""Snapshot of a bandit in the middle of an epoch, as a frozen value that a file can hold."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.counts import Counts, Moments
from gyrfalcon.bandit.engine import MIN_SETTLED, BanditEngine
from gyrfalcon.bandit.event_table import Event
from gyrfalcon.bandit.history import SettingsChange
from gyrfalcon.bandit.identity import IdSource
from gyrfalcon.bandit.learner_changes import stored_learner
from gyrfalcon.bandit.ledger import Ledger
from gyrfalcon.bandit.refits import RefitMode
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.silence import Tallies
from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.engine.turnover import Patience
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Sums

_PART = 4096
_MEASURES = ("propensity", "decided_at", "reward")
_NUMBERS = tuple(name for name in Event._fields if name not in _MEASURES)


@dataclass(frozen=True, slots=True)
class Events:
    """Events as columns of arrays, in one order."""

    ids: list[str]
    numbers: Ints
    measures: Floats

    @staticmethod
    def of(ids: list[str], events: Sequence[Event]) -> Events:
        """The columns of these events."""
        # In parts, between which other threads have their turn.
        parts = [
            np.array(events[start : start + _PART], dtype=np.float64)
            for start in range(0, len(events), _PART)
        ]
        table = np.concatenate(parts) if parts else np.empty((0, len(Event._fields)))
        return Events.of_columns(ids, dict(zip(Event._fields, table.T, strict=True)))

    @staticmethod
    def of_columns(ids: list[str], columns: Mapping[str, Any]) -> Events:
        """The events whose fields are these columns."""
        return Events(
            ids,
            np.stack([columns[name].astype(np.int64) for name in _NUMBERS], axis=1),
            np.stack([columns[name].astype(np.float64) for name in _MEASURES], axis=1),
        )

    def rows(self) -> list[Event]:
        """The events as they were, row by row."""
        columns = dict(zip(_NUMBERS, self.numbers.T.tolist(), strict=True))
        columns |= dict(zip(_MEASURES, self.measures.T.tolist(), strict=True))
        rows = (Event(*row) for row in zip(*(columns[name] for name in Event._fields), strict=True))
        return [row._replace(expired=bool(row.expired), crowded=bool(row.crowded)) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All of a bandit's state in the middle of an epoch."""

    learner: object
    problem: Problem
    epoch: Epoch
    sums: Sums | None
    seed: int
    awaits_features: bool
    refit: RefitMode
    n_refits: int
    refit_seconds: float
    max_overtime: float
    rules: RewardRules
    history: list[SettingsChange]
    clock_latest: float
    clock_offset: float
    counts: dict[str, int]
    rewards: Floats
    live: Events
    positions: Ints
    contexts: Contexts
    ready: Ints
    watermark: int
    ended: Events
    tallies: Tallies
    silent: Bools | None
    retired: list[Hashable]
    logs: list[Log]
    refusal: str

    @staticmethod
    def of(engine: BanditEngine, refit: RefitMode) -> Snapshot:
        """The snapshot of an engine."""
        return Snapshot.begun(engine, refit)()

    @staticmethod
    def begun(engine: BanditEngine, refit: RefitMode) -> Callable[[], Snapshot]:
        """The function that makes the snapshot of an engine as it stands now, and needs no lock for it."""
        ledger = engine.ledger
        ledger.move_watermark()  # which may lag behind, so that the same events give the same file
        counts = ledger.counts._asdict()
        positions = np.fromiter(ledger.live.values(), dtype=np.int64)
        columns, contexts = ledger.table.take(positions, ledger.problem.n_actions)
        live_ids, ended_ids, ended = list(ledger.live), list(ledger.ended), list(ledger.ended.values())
        most = partial(
            Snapshot,
            learner=stored_learner(engine.learner, ledger.problem),
            problem=ledger.problem,
            epoch=engine.epoch,
            sums=engine.sums,
            seed=engine.seed,
            awaits_features=engine.awaits_features,
            refit=refit,
            n_refits=engine.n_refits,
            refit_seconds=engine.refit_seconds,
            max_overtime=engine.patience.max_overtime,
            rules=engine.rules,
            history=list(engine.history),
            clock_latest=engine.clock.latest,
            clock_offset=engine.clock.offset,
            counts={name: value for name, value in counts.items() if isinstance(value, int)},
            rewards=np.array([counts["policy"], counts["passive"]], dtype=np.float64),
            positions=positions,
            contexts=contexts,
            ready=np.array(list(ledger.ready), dtype=np.int64),
            watermark=ledger.watermark,
            tallies=ledger.tallies.copy(),
            silent=ledger.silent,
            retired=sorted(ledger.retired, key=repr),
            logs=list(ledger.logs),
            refusal=ledger.refusal,
        )
        return lambda: most(live=Events.of_columns(live_ids, columns), ended=Events.of(ended_ids, ended))

    def engine(self, clock: MonotonicClock) -> BanditEngine:
        """The engine that goes on from here, with event ids that no other process gives out."""
        self.rules.check_default(self.problem.rewards)
        return BanditEngine(
            cast(Learner, self.learner),
            self._ledger(),
            self.rules,
            Patience(self.max_overtime, MIN_SETTLED),
            clock,
            self.epoch,
            IdSource.elsewhere(self.seed),
            self.awaits_features,
            self.sums,
            n_refits=self.n_refits,
            refit_seconds=self.refit_seconds,
            history=tuple(self.history),
        )

    def _ledger(self) -> Ledger:
        ledger = Ledger(self.problem, self.rules)
        policy, passive = (Moments(int(n), *rest) for n, *rest in self.rewards.tolist())
        numbers: dict[str, Any] = dict(self.counts)
        ledger.counts = Counts(policy=policy, passive=passive, **numbers)
        ledger.stop, ledger.epoch_index = self.epoch.stop, self.epoch.index
        events = zip(self.live.ids, self.positions.tolist(), self.live.rows(), strict=True)
        for row, (event_id, position, event) in enumerate(events):
            ledger.table.write(position, event_id, event, self.contexts, row)
            ledger.live[event_id] = position
        ledger.ready = dict.fromkeys(self.ready.tolist())
        ledger.watermark, ledger.posed_at = self.watermark, ledger.counts.n_decided
        ledger.ended = OrderedDict(zip(self.ended.ids, self.ended.rows(), strict=True))
        ledger.tallies, ledger.silent = self.tallies.copy(), self.silent
        ledger.retired, ledger.logs = frozenset(self.retired), tuple(self.logs)
        ledger.refusal = self.refusal
        return ledger


def load_engine(
    path: str | os.PathLike[str], classes: Iterable[type], clock: Callable[[], float], *, accept_refits: bool
) -> tuple[BanditEngine, RefitMode]:
    """The engine that a file holds, which goes on by this clock from where it was saved."""
    from gyrfalcon.oracles.regressors.fitted import accepting_refits
    from gyrfalcon.storage import files

    with accepting_refits() if accept_refits else nullcontext():
        snapshot = files.load(path, classes)
    if not isinstance(snapshot, Snapshot):
        raise ValueError(  # noqa: TRY004 - the file is wrong, not the argument's type
            f"{os.fspath(path)} holds a {type(snapshot).__name__}, not a saved Bandit."
        )
    try:
        own_clock = MonotonicClock(clock, snapshot.clock_latest, snapshot.clock_offset)
        return snapshot.engine(own_clock), snapshot.refit
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} holds parts that don't fit together: {error}.") from error
