"""Logged decisions as an environment: rounds count where a learner chooses the logged action."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.arguments import numbers_of, with_location
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.tables import values_of
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_flag, is_number
from gyrfalcon.environments.content import data_digest
from gyrfalcon.environments.streams import LOG_ROWS, stream

_ORDER, _COINS = 0, 1


@dataclass(frozen=True, eq=False, repr=False)
class LoggedReplay:
    """Logged decisions on which a learner is replayed by rejection.

    Li, Chu, Langford and Wang (2011). A learner decides row by row. A row counts as a round if the learner
    chose the logged action and a coin with probability `min_propensity` / propensity succeeds; otherwise the
    row is ignored. Every row then counts with probability `min_propensity`, whatever its context and the
    learner's choice: accepted rounds are distributed as in live play, if the log's rows are independent.
    Rewards of other actions are unknown, so that there is nothing to `draw`, and regret is unknown: see
    `simulate`.

    Parameters
    ----------
    problem : Problem
        The problem that the log was recorded for.
    contexts : table or Contexts
        Contexts of the decisions: a table of the problem's features, or contexts made by the problem.
    action : sequence of labels
        Labels of the logged actions.
    reward : array_like
        Rewards of the logged actions, in the problem's units.
    propensity : array_like or "uniform"
        Probabilities of the logged actions, "uniform" for uniform choices among the eligible ones. They must
        be exact, and every eligible action must have had some.
    shuffle : bool, default True
        Whether each seed replays the rows in an order of its own; otherwise the log's order is kept.
    min_propensity : float, optional
        Acceptance level; the smallest propensity by default. A larger one accepts more rows, at the price of
        a bias where propensities are below it.

    Examples
    --------
    >>> problem = Problem(["a", "b"], features=1)
    >>> log = LoggedReplay(problem, [[0.1], [0.7], [0.3]], ["a", "b", "b"], [1, 0, 1], [0.5, 0.5, 0.25])
    >>> log.acceptance.tolist(), log.expected_rounds
    ([0.5, 0.5, 1.0], 0.75)
    """

    problem: Problem
    contexts: Any
    action: Any
    reward: Any
    propensity: Any
    _: KW_ONLY
    shuffle: bool = True
    min_propensity: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise ValueError(f"problem is {short_repr(self.problem)}; give a gyrfalcon.Problem.")  # noqa: TRY004 - as all settings
        check_flag("shuffle", self.shuffle)
        if self.min_propensity is not None and not (
            is_number(self.min_propensity) and 0.0 < self.min_propensity <= 1.0
        ):
            raise ValueError(
                f"min_propensity is {self.min_propensity!r}; give a probability above 0, or None."
            )
        if self.propensity is None or (isinstance(self.propensity, str) and self.propensity != "uniform"):
            raise ValueError(
                f"propensity is {self.propensity!r}; replay by rejection needs the probability of each "
                "logged action, or 'uniform'."
            )
        # Read at once: what is handed in may change later.
        log, _ = self.log, self.own_rewards
        if not len(log):
            raise ValueError("the log has no rows; give at least one.")
        _check_chances(log, self.problem.n_actions)

    @cached_property
    def log(self) -> Log:
        """The rows in the learner's units; a refusal if they do not fit the problem."""
        contexts = self.contexts
        if not isinstance(contexts, Contexts):
            n = len(with_location("action", values_of, self.action)) if contexts is None else None
            contexts = with_location("contexts", lambda table: self.problem.contexts(table, n=n), contexts)
        return self.problem.log(contexts, self.action, self.reward, self.propensity)

    @cached_property
    def own_rewards(self) -> Floats:
        """Rewards in the problem's own units, (n,)."""
        return numbers_of("reward", self.reward)

    @property
    def n_rows(self) -> int:
        """Rows of the log, n."""
        return len(self.log)

    @cached_property
    def acceptance(self) -> Floats:
        """The probability that a row counts if the learner chose what the log did, (n,)."""
        propensity = self.log.propensity
        min_propensity = propensity.min() if self.min_propensity is None else self.min_propensity
        return np.minimum(min_propensity / propensity, 1.0)

    @cached_property
    def expected_rounds(self) -> float:
        """Expected number of rounds of a replay, whatever the learner; with a `min_propensity`, at most."""
        return float(
            self.n_rows * (self.log.propensity.min() if self.min_propensity is None else self.min_propensity)
        )

    def rows(self, seed: int) -> Ints:
        """The order in which a seed replays the rows, (n,)."""
        return _generator(seed, _ORDER).permutation(self.n_rows) if self.shuffle else np.arange(self.n_rows)

    def admitted(self, seed: int) -> Bools:
        """Where the coins fall right, (n,) in the order of `rows`: a match there counts as a round."""
        admitted: Bools = _generator(seed, _COINS).random(self.n_rows) < self.acceptance[self.rows(seed)]
        return admitted

    @cached_property
    def content(self) -> str:
        """A digest of the data: another log or problem gives another."""
        log = self.log
        contexts = log.contexts
        parts = contexts.shared, contexts.actions, contexts.eligible, log.action, log.reward, log.propensity
        return data_digest(repr(self.problem), *parts)

    def __repr__(self) -> str:
        settings = f"shuffle={self.shuffle!r}, min_propensity={self.min_propensity!r}"
        return f"LoggedReplay(<{self.n_rows} rows, content {self.content}>, {settings})"


def _generator(seed: int, purpose: int) -> np.random.Generator:
    return stream(seed, 0, LOG_ROWS, purpose)


def _check_chances(log: Log, n_actions: int) -> None:
    """Refuse rows on which other actions could be chosen, but never were."""
    eligible = log.contexts.eligible
    n_eligible = np.full(len(log), n_actions) if eligible is None else eligible.sum(axis=1)
    certain = np.flatnonzero((log.propensity == 1.0) & (n_eligible > 1))
    if len(certain):
        row = int(certain[0])
        raise ValueError(
            f"row {row} has the propensity 1 with {n_eligible[row]} eligible actions, so that the log says "
            "nothing about the others; replay needs a log in which every eligible action could be chosen."
        )
