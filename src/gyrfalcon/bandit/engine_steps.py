"""What a record changes in an engine beside its ledger, computed without touching it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gyrfalcon.bandit.history import (
    SettingsChange,
    differences_of_problems,
    differences_of_rules,
    with_changes,
)
from gyrfalcon.bandit.journal import (
    EpochOpened,
    LearnerChanged,
    LogAdded,
    ProblemChanged,
    Record,
    RowsSummed,
    RulesChanged,
)
from gyrfalcon.bandit.learner_changes import first_epoch_of, own_learner, successor_of
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.engine.turnover import starting_at
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums

if TYPE_CHECKING:
    from gyrfalcon.bandit.engine import BanditEngine

BESIDE_LEDGER = frozenset([EpochOpened, RowsSummed, ProblemChanged, RulesChanged, LearnerChanged, LogAdded])
"""Records that change more than the ledger."""


class Step(NamedTuple):
    """What a record changes beside the ledger, and the number of records before it."""

    sequence: int
    record: Record
    learner: Learner
    epoch: Epoch
    sums: Sums | None
    rules: RewardRules
    awaits_features: bool
    n_refits: int
    history: tuple[SettingsChange, ...]


def step_of(engine: BanditEngine, record: Record, following: Epoch | None) -> Step:
    """The step that a record makes; of an opened epoch, `following` is the fit, or it is computed here."""
    learner, epoch, sums, history = engine.learner, engine.epoch, engine.sums, engine.history
    counts, rules, awaits = engine.ledger.counts, engine.rules, engine.awaits_features
    match record:
        case EpochOpened():
            made = following or engine.job_on(record.n_rows, record.n_log_rows, record.round).run()
            epoch, sums = starting_at(made, record.round), None
        case RowsSummed(n_rows=n_rows):
            assert isinstance(learner, Summing)
            sums = learner.sums(epoch, engine.ledger.rows(n_rows, 0), sums)
        case ProblemChanged(problem=problem, shown=shown):
            epoch = learner.start(problem) if awaits else learner.adapt(epoch, problem)
            awaits = awaits and not shown
            differences = differences_of_problems(engine.problem, problem, shown=shown)
            history = with_changes(history, record.time, counts.round, differences)
        case LogAdded():
            awaits = False
        case RulesChanged():
            differences = differences_of_rules(rules, record.rules)
            history = with_changes(history, record.time, counts.round, differences)
            rules = record.rules
        case LearnerChanged():
            learner = successor_of(engine.learner, record.learner, epoch, engine.problem)
            job = engine.job_on(record.n_rows, record.n_log_rows, record.round)
            epoch = first_epoch_of(engine.learner, replace(job, learner=learner), engine.problem)
            pair = (repr(own_learner(engine.learner)), repr(record.learner))
            history = with_changes(history, record.time, counts.round, iter([("learner", *pair)]))
            sums = None
    n_refits = engine.n_refits + isinstance(record, EpochOpened)
    return Step(counts.sequence, record, learner, epoch, sums, rules, awaits, n_refits, history)
