"""What can be seen of a running bandit, without changing it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import NoReturn

from gyrfalcon.bandit.deciding import probabilities, problem_for
from gyrfalcon.bandit.explanation import Explanation, explained
from gyrfalcon.bandit.learner_changes import own_learner
from gyrfalcon.bandit.live import LiveEngine
from gyrfalcon.bandit.status import BanditStatus, status_of
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.messages import enumeration
from gyrfalcon.core.inputs.problem import Problem


class Inspection:
    """Read-only part of a bandit: its problem, epoch, status and probabilities."""

    _live: LiveEngine

    def __repr__(self) -> str:
        engine = self._live.engine
        name, labels = type(own_learner(engine.learner)).__name__, enumeration(self.problem.actions)
        counts = f"{engine.ledger.counts.n_decided} decided, {engine.ledger.counts.n_waiting} pending"
        return f"Bandit(actions={labels}; {name}, epoch {engine.epoch.index}, {counts})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Bandit can't be copied or pickled; use save(path) and Bandit.load(path).")

    @property
    def problem(self) -> Problem:
        """The decision problem; the first context fixes its features when none were given."""
        return self._live.engine.problem

    @property
    def epoch(self) -> Epoch:
        """The epoch in play, with the report of its fit."""
        return self._live.engine.epoch

    @property
    def n_pending(self) -> int:
        """Number of decisions whose outcome is open, without those whose time is up."""
        with self._live.lock:
            return self._live.completed().n_pending

    def status(self) -> BanditStatus:
        """Counts of events, mean reward, cost of exploration, the last fit, and what needs attention."""
        with self._live.lock:
            engine = self._live.completed()
            status, epoch = status_of(engine, self._live.refit), engine.epoch
        return replace(status, learner_state=engine.decision_rules.state_hash(epoch))

    def probabilities(
        self, context: object = None, *, actions: object = None, eligible: object = None
    ) -> dict[Hashable, float]:
        """The probability of each action by label, if this context came next; no event is opened.

        Parameters
        ----------
        context
            Features as in `decide`.
        actions
            Features of actions as in `decide`.
        eligible
            Labels that may be chosen as in `decide`.
        """
        with self._live.lock:
            engine = self._live.completed()
            problem = problem_for(engine, context)
            row = probabilities(engine, problem.context(context, actions, eligible))[0].tolist()
        return dict(zip(problem.actions, row, strict=True))

    def explain(
        self, context: object = None, *, actions: object = None, eligible: object = None
    ) -> Explanation:
        """Estimate, confidence width and probability of every action in a context, and what they come from.

        Parameters
        ----------
        context
            Features as in `decide`.
        actions
            Features of actions as in `decide`.
        eligible
            Labels that may be chosen as in `decide`.
        """
        with self._live.lock:
            engine = self._live.completed()
            problem = problem_for(engine, context)
            return explained(engine, problem, problem.context(context, actions, eligible))

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no refit is under way in the background.

        Parameters
        ----------
        seconds
            How long to wait at most; None waits without limit.
        """
        self._live.wait(seconds)
