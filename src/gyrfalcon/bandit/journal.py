"""Journal of a bandit: what happened, one record each, in the order in which it took effect.

The state of a bandit follows from its settings and its journal alone: see `BanditEngine.apply`, and `replay`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.protocol import Learner

if TYPE_CHECKING:
    from gyrfalcon.bandit.engine import BanditEngine


class Decided(NamedTuple):
    """An action was chosen for the context in row `row` of `contexts`.

    `epoch_round` counts from the start of the epoch, and `silent` are the actions that its policy left out.
    """

    event_id: str
    time: float
    contexts: Contexts
    row: int
    action: int
    component: int
    epoch: int
    round: int
    propensity: float
    distribution: tuple[float, ...] | None = None
    model: str | None = None
    epoch_round: int = 0
    silent: Bools | None = None


class Rewarded(NamedTuple):
    """A reward in the problem's units was credited, the last one of its event if `final`."""

    event_id: str
    time: float
    reward: float
    final: bool


class Finalised(NamedTuple):
    """An outcome became final without a word from the caller: `reward` is NaN where the event was dropped.

    `expired` says that the reward is the default one, `crowded` that the event had to make room for others
    before its time was up.
    """

    event_id: str
    time: float
    reward: float
    expired: bool
    crowded: bool


class Withdrawn(NamedTuple):
    """A decision had no effect: it was never shown, or another action was, at position `shown`."""

    event_id: str
    time: float
    shown: int | None


class LateReward(NamedTuple):
    """A reward was refused, because its event had ended."""

    event_id: str
    time: float


class LogAdded(NamedTuple):
    """Decisions that were made elsewhere were taken in as rounds played."""

    time: float
    log: Log


class ProblemChanged(NamedTuple):
    """Actions or rules of the problem changed, or the first context has shown the features (`shown`)."""

    time: float
    problem: Problem
    shown: bool = False


class RulesChanged(NamedTuple):
    """Other rules for rewards apply from here on."""

    time: float
    rules: RewardRules


class LearnerChanged(NamedTuple):
    """Another learner took over, in a new epoch that is fitted on the first `n_rows` ready rows."""

    time: float
    learner: Learner
    epoch: int
    n_rows: int
    n_log_rows: int
    round: int


class RowsSummed(NamedTuple):
    """The first `n_rows` rows that are ready were added to the sums of the epoch in play."""

    time: float
    n_rows: int


class RowsSetAside(NamedTuple):
    """Rows that are ready were set aside, because the learner fails on them: also the first of logs."""

    time: float
    event_ids: tuple[str, ...]
    n_log_rows: int
    reason: str


class EpochOpened(NamedTuple):
    """An epoch was fitted on the first `n_rows` rows that were ready, and opened in round `round`."""

    time: float
    epoch: int
    n_rows: int
    n_log_rows: int
    round: int


Record: TypeAlias = (
    Decided
    | Rewarded
    | Finalised
    | Withdrawn
    | LateReward
    | LogAdded
    | ProblemChanged
    | RulesChanged
    | LearnerChanged
    | RowsSummed
    | RowsSetAside
    | EpochOpened
)


def replay(engine: BanditEngine, records: Iterable[tuple[int, Record]]) -> BanditEngine:
    """Let numbered records take effect on an engine, which then stands as the one that wrote them.

    A record that the engine has had already is passed over; one that does not follow is refused.
    """
    for number, record in records:
        expected = engine.ledger.counts.sequence + 1
        if number > expected:
            raise ValueError(f"record {number} follows record {expected - 1}; give the journal without gaps.")
        if number == expected:
            engine.apply(record)
    return engine
