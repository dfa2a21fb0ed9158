"""The running state of a bandit: ledger, epoch in play, and turnover of epochs, changed by records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.decision_rules import DecisionRules
from gyrfalcon.bandit.engine_steps import BESIDE_LEDGER, Step, step_of
from gyrfalcon.bandit.history import SettingsChange
from gyrfalcon.bandit.identity import IdSource
from gyrfalcon.bandit.journal import (
    Decided,
    EpochOpened,
    LearnerChanged,
    LogAdded,
    ProblemChanged,
    Record,
    Rewarded,
    RowsSetAside,
    RowsSummed,
)
from gyrfalcon.bandit.ledger import Ledger
from gyrfalcon.bandit.refits import RefitJob, Refitted
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.bandit.setting_aside import Refused, is_search_due
from gyrfalcon.bandit.silence import without_silent
from gyrfalcon.bandit.validation import aligned_log
from gyrfalcon.bandit.warning import warn_caller
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.engine.turnover import Patience
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums

MIN_SETTLED = 0.5
"""Ready rows that a fit after overtime needs, as a share of the epoch's planned rounds."""
CHUNK = 1024
"""Ready rows that are added to the sums of a long epoch at a time."""

Sink = Callable[[int, Record], None]


class _Batch(NamedTuple):
    """Records that take effect together, and the number of records before them."""

    sequence: int
    records: tuple[Record, ...]


@dataclass(slots=True)
class BanditEngine:
    """Learner, epoch in play and events of one bandit; mutable, and used under the bandit's lock only."""

    learner: Learner
    ledger: Ledger
    rules: RewardRules
    patience: Patience
    clock: MonotonicClock
    epoch: Epoch
    ids: IdSource
    awaits_features: bool = False  # until the first context has shown them
    sums: Sums | None = None  # of the epoch's first rows
    job: RefitJob | None = None  # that is being computed
    has_backlog: bool = False  # of outcomes whose time is up: a fit waits, so that it has all of them
    failed: bool = False  # on the rows as they are; the learner is called again when there are others
    n_failures: int = 0  # in a row, by the learner
    n_refits: int = 0
    refit_seconds: float = 0.0
    sink: Sink | None = None
    warned: frozenset[str] = frozenset()
    decision_rules: DecisionRules = field(default_factory=DecisionRules)
    history: tuple[SettingsChange, ...] = ()
    step: Step | None = None
    batch: _Batch | None = None

    @staticmethod
    def begin(
        learner: Learner,
        problem: Problem,
        rules: RewardRules,
        patience: Patience,
        clock: MonotonicClock,
        *,
        seed: int,
        initial_log: Log | None,
        awaits_features: bool,
    ) -> BanditEngine:
        """The engine in the first epoch of a problem, fitted on an initial log if there is one."""
        rules.check_default(problem.rewards)
        if initial_log is not None:
            initial_log = aligned_log(initial_log, problem)
        epoch = learner.start(problem, initial_log)
        ledger = Ledger(problem, rules)
        ledger.stop, ledger.epoch_index = epoch.stop, epoch.index
        return BanditEngine(learner, ledger, rules, patience, clock, epoch, IdSource(seed), awaits_features)

    @property
    def seed(self) -> int:
        """The seed that draws of actions depend on."""
        return self.ids.seed

    @property
    def problem(self) -> Problem:
        """The decision problem, as it stands."""
        return self.ledger.problem

    @property
    def playing(self) -> Epoch:
        """The epoch in play, whose policy leaves out silent actions: see `silence`."""
        return without_silent(self.epoch, self.ledger.silent)

    @property
    def model(self) -> str | None:
        """Content hash of the decision rule in play; None if it can't be stored."""
        return self.decision_rules.latest_hash(self.epoch, self.problem)

    @property
    def n_pending(self) -> int:
        """Number of events whose outcome is open, without those whose time is up."""
        n_overdue = self.ledger.n_overdue(self.clock.now(), self.rules.reward_timeout, self.rules.max_pending)
        return self.ledger.counts.n_waiting - n_overdue

    def apply(self, record: Record, following: Epoch | None = None) -> None:
        """Let a record take effect; of an opened epoch, `following` is the fit, or it is computed here."""
        if type(record) in BESIDE_LEDGER:
            self.step = step_of(self, record, following)
            self.complete()
        else:
            self.ledger.apply(record)

    def complete(self) -> None:
        """Finish what an exception has interrupted: see `ledger`."""
        self.ledger.complete()
        if self.step is not None:
            step = self.step
            if self.ledger.counts.sequence == step.sequence:
                self.ledger.apply(step.record)
            self.learner, self.epoch, self.sums, self.rules = step.learner, step.epoch, step.sums, step.rules
            self.awaits_features, self.n_refits = step.awaits_features, step.n_refits
            self.history = step.history
            self.ledger.stop, self.ledger.epoch_index = step.epoch.stop, step.epoch.index
            self.step = None
        if self.batch is not None:
            for record in self.batch.records[self.ledger.counts.sequence - self.batch.sequence :]:
                self.ledger.apply(record)
            self.batch = None

    def record(self, record: Record, following: Epoch | None = None) -> None:
        """Let a record take effect, and hand it to the sink."""
        self.apply(record, following)
        if self.sink is not None:
            self.deliver()

    def record_all(self, records: Iterable[Decided | Rewarded]) -> None:
        """Let records take effect, all of them even if an exception comes in between, and hand them on."""
        together = tuple(records)
        if len(together) == 1:  # takes effect as a whole by itself
            self.apply(together[0])
        else:
            self.batch = _Batch(self.ledger.counts.sequence, together)
            self.complete()
        self.deliver()

    def deliver(self) -> None:
        """Hand records to the sink in their order; those that it fails to take are kept for later."""
        outbox = self.ledger.outbox
        if self.sink is None or outbox is None:
            return
        try:
            while outbox:
                self.sink(*outbox[0])
                outbox.popleft()
        except Exception as error:
            self.warn("sink", f"The decision log failed: {error}. Records are kept in memory until it works.")

    def add(self, log: Log) -> None:
        """Take in decisions made elsewhere as rounds played."""
        if len(log):
            self.failed = False
            self.record(LogAdded(self.clock.now(), log))

    def change_problem(self, problem: Problem, *, shown: bool = False) -> None:
        """Go on with another problem: other actions or rules, or features that a first context has shown."""
        self.job = None
        self.failed, self.n_failures = False, 0
        if self.sums is not None:  # they are of the actions as they were
            self.record(self._opening(self._whole_job()))
        self.record(ProblemChanged(self.clock.now(), problem, shown))

    def change_learner(self, learner: Learner) -> None:
        """Go on with another learner, in a new epoch that is fitted on all rows that are ready."""
        self.job = None
        self.failed, self.n_failures = False, 0
        ledger, index = self.ledger, self.epoch.index + 1
        rows = (len(ledger.ready), ledger.n_log_rows, ledger.counts.round)
        self.record(LearnerChanged(self.clock.now(), learner, index, *rows))

    def sum_rows(self) -> None:
        """Add ready rows of a long epoch to its sums, so that its end does not wait for all of them."""
        if len(self.ledger.ready) < CHUNK or self.job is not None or self.failed:
            return
        if self.epoch.n_rounds <= 4 * CHUNK or is_search_due(self.n_failures):
            return
        if isinstance(self.learner, Summing) and self.learner.can_sum(self.epoch):
            while len(self.ledger.ready) >= CHUNK:
                try:
                    self.record(RowsSummed(self.clock.latest, CHUNK))
                except Exception as error:
                    self._fail(error)
                    raise

    def due(self) -> RefitJob | None:
        """The refit that is due, if none is computed already: it is to be computed and installed."""
        counts, n_summed = self.ledger.counts, 0 if self.sums is None else self.sums.n_new
        if self.job is not None or self.failed or self.has_backlog:
            return None
        if is_search_due(self.n_failures):
            self.job = replace(self._whole_job(), searches=True)
            return self.job
        if counts.round < self.epoch.stop:
            return None
        n_rows = self.ledger.n_ready + n_summed
        if not self.patience.is_over(self.epoch, counts.round, self._n_open(), n_rows):
            return None
        self.job = self._whole_job()
        return self.job

    def _n_open(self) -> int:
        """Decisions of the planned rounds that no fit can read yet, though their outcomes may be final."""
        n_open, waits_for = self.ledger.counts.n_open, self.ledger.blocking_round()
        return n_open if waits_for is None or waits_for >= self.epoch.stop else max(n_open, 1)

    def install(self, done: Refitted) -> None:
        """Open the epoch that a job has made, unless another one is in play by now.

        A learner that failed leaves everything as it was, and the rows for the next attempt.
        """
        if self.job is not done.job:
            return
        job, self.job = done.job, None
        if job.searches and (done.error is None or done.refused is not None):
            self._set_aside(done.refused)
            return
        if done.error is not None:
            self._fail(done.error)
            raise done.error
        assert done.epoch is not None
        self.refit_seconds += done.seconds
        self.n_failures = 0
        self.record(self._opening(job), done.epoch)
        if done.model is not None:
            self.decision_rules.latest = (self.epoch, self.problem, done.model)

    def _set_aside(self, refused: Refused | None) -> None:
        """Go on without rows that the learner fails on; with all of them if it takes them by now."""
        self.n_failures = 0
        if refused is not None:
            event_ids = tuple(map(self.ledger.table.event_id, refused.positions))
            self.record(RowsSetAside(self.clock.latest, event_ids, refused.n_log_rows, refused.reason))
            self.warn("set aside", str(refused))

    def _fail(self, error: Exception) -> None:
        self.failed = True
        self.n_failures += not isinstance(error, MemoryError | OSError)  # these are not for the rows
        error.add_note(
            "The rewards are credited, decisions go on by the epoch in play, and the next reward tries again."
        )

    def _opening(self, job: RefitJob) -> EpochOpened:
        index, round_ = job.epoch.index + 1, self.ledger.counts.round
        return EpochOpened(self.clock.latest, index, len(job.positions), job.n_log_rows, round_)

    def _whole_job(self) -> RefitJob:
        """A refit on all rows that are ready."""
        return self.job_on(len(self.ledger.ready), self.ledger.n_log_rows, self.ledger.counts.round)

    def job_on(self, n_rows: int, n_log_rows: int, round_: int) -> RefitJob:
        """A refit on the first rows that are ready, and on the first of logs from elsewhere."""
        ledger = self.ledger
        return RefitJob(
            self.learner,
            self.epoch,
            ledger.rows(n_rows, n_log_rows),
            self.sums,
            frozenset(ledger.first_ready(n_rows).tolist()),
            n_log_rows,
            round_,
            partial(self.decision_rules.hash_of, problem=self.problem),
        )

    def warn(self, topic: str, message: str) -> None:
        """Warn of a topic once."""
        if topic not in self.warned:
            self.warned |= {topic}
            warn_caller(message)
