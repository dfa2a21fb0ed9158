"""An experiment for programs: decide, reward, and stop when it is known whether a policy is better."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.bandit.decision_log import LogTarget
from gyrfalcon.bandit.validation import check_learner
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import OutOfRange
from gyrfalcon.core.records import Log
from gyrfalcon.experiment.conclusions import comparison_of, is_over, result_of, verdict
from gyrfalcon.experiment.controlled import (
    ControlledLearner,
    Stage,
    controlled_state,
    rows_from,
    stages_of,
)
from gyrfalcon.experiment.deciding import Deciding
from gyrfalcon.experiment.designs import checked_design
from gyrfalcon.experiment.evidence import Evidence
from gyrfalcon.experiment.results import ExperimentResult, ExperimentStatus
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.rapr import RAPR


class Experiment(Deciding):
    """A bandit beside a control, which ends when a policy is known to be better than the control.

    The control is played in a share of the rounds, and the learner's policy in the others. Candidates are
    every single action, and the policies that the learner has learned: each is frozen at the start of an
    epoch, and compared with the control on later rows. The experiment stops when the gain of a candidate is
    known to be above `minimum_effect`. That is said of a candidate of which it is not true with probability
    1 - `level` at most, however often one looks, and however the rounds were allotted.

    Comparisons take outcomes in order of decision, up to the first decision whose outcome is open. So set a
    `reward_timeout` where outcomes may never come.

    Parameters
    ----------
    actions
        At least two labels of any hashable kind.
    control
        The incumbent: a label, a policy with `probabilities(contexts)`, or an earlier `FinalPolicy`.
    learner
        How to learn; `RAPR()` by default, which explores for the final policy.
    features, action_features
        Names, kinds or number of features of contexts and of actions (see `Schema.of`).
    reward_range
        Lowest and highest reward, which must be known.
    out_of_range
        Effect of a reward outside the range: "error" refuses it, "clip" moves it to the nearer end.
    cost
        Whether rewards are costs, of which less is better.
    control_share
        Share of the rounds of the learner's policy in which the control is played instead.
    level
        1 less the probability of a false alarm over the whole experiment.
    minimum_effect
        Gain a round that is to be exceeded, in the unit of rewards.
    max_rounds
        Decisions after which the experiment ends also where nothing is known; None for no end.
    settings
        Further settings of `Bandit`, such as `seed`, `reward_timeout`, `default_reward` and `log`.

    Examples
    --------
    >>> experiment = Experiment(["red", "blue"], control="red", features=["age"], seed=1)
    >>> for _ in range(600):
    ...     decision = experiment.decide({"age": 30})
    ...     experiment.reward(decision.event_id, 1.0 if decision.action == "blue" else 0.5)
    >>> experiment.stopped, experiment.decision
    (True, "always 'blue'")
    """

    def __init__(
        self,
        actions: Iterable[Hashable],
        *,
        control: object,
        learner: Learner | None = None,
        features: object = None,
        action_features: object = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        out_of_range: OutOfRange = "error",
        cost: bool = False,
        control_share: float = 0.1,
        level: float = 0.95,
        minimum_effect: float = 0.0,
        max_rounds: int | None = None,
        **settings: Any,
    ) -> None:
        labels, chosen = list(actions), RAPR() if learner is None else learner
        check_learner(chosen)
        _check_outcomes(settings)
        range_of = {"reward_range": reward_range, "out_of_range": out_of_range, "cost": cost}
        design = checked_design(
            Problem(labels, **range_of),  # type: ignore[arg-type]  # they are of these types
            control,
            control_share=control_share,
            level=level,
            minimum_effect=minimum_effect,
            max_rounds=max_rounds,
        )
        self._of(
            Bandit(
                labels,
                learner=ControlledLearner(chosen, design),
                features=features,
                action_features=action_features,
                **range_of,  # type: ignore[arg-type]  # they are of these types
                **settings,
            )
        )

    def _of(self, bandit: Bandit) -> None:
        learner = bandit._live.engine.learner
        assert isinstance(learner, ControlledLearner)
        self._bandit, self._design = bandit, learner.design
        self._evidence: Evidence | None = None
        # No action is left out for its silence: probabilities must be those of the epoch's policy.
        ledger = bandit._live.engine.ledger
        ledger.silence_is_outcome, ledger.silent = True, None

    def __repr__(self) -> str:
        status = f"decided for {self.decision}" if self.stopped else "running"
        return f"Experiment(control {self._design.name}; {status}; {self._bandit!r})"

    @property
    def stopped(self) -> bool:
        """Whether the experiment is over: a policy is known to be better, or all rounds are over."""
        return is_over(self._current()[0])

    @property
    def decision(self) -> str | None:
        """Name of the policy that the experiment has decided for; None while it goes on."""
        return _decision_of(self._current()[0])

    def status(self) -> ExperimentStatus:
        """Every policy against the control by now, with bounds that hold at all times at once."""
        evidence, _ = self._current()
        counts = self._bandit.status()
        comparisons = tuple(comparison_of(one, evidence.problem) for one in evidence.candidates)
        return ExperimentStatus(
            control=self._design.name,
            n_decided=counts.n_decided,
            n_compared=evidence.n_rows,
            n_open=counts.n_pending,
            n_dropped=counts.n_dropped,
            comparisons=comparisons,
            stopped=is_over(evidence),
            decision=_decision_of(evidence),
            sentence=verdict(evidence, comparisons),
        )

    def result(self) -> ExperimentResult:
        """The policy to go on with, its value and simple regret, and the verdict, as far as it is known."""
        evidence, stages = self._current()
        return result_of(evidence, stages, self._rows(0, evidence.next_round))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        classes: Iterable[type] = (),
        clock: Callable[[], float] = time.time,
        *,
        log: LogTarget | None = None,
    ) -> Experiment:
        """Read a saved experiment, which goes on where it was.

        Parameters
        ----------
        path
            A file that `save` has written.
        classes
            Dataclasses of your own that it holds, as for `save`.
        clock
            Function that returns seconds, for `reward_timeout`.
        log
            Folder, `LogFolder` or function for the decision log, as for `Bandit`.
        """
        bandit = Bandit.load(path, classes, clock, log=log)
        if not isinstance(bandit._live.engine.learner, ControlledLearner):
            raise ValueError(  # noqa: TRY004 - the file is wrong, not the argument's type
                f"{os.fspath(path)} holds a Bandit, not an Experiment; use Bandit.load."
            )
        experiment = cls.__new__(cls)
        experiment._of(bandit)
        return experiment

    def _current(self) -> tuple[Evidence, tuple[Stage, ...]]:
        """Evidence of all rows before the first decision that is open, and the stages so far."""
        live = self._bandit._live
        with live.lock:
            engine = live.completed()
            if self._evidence is None or self._evidence.problem != engine.problem:
                self._evidence = Evidence(self._design, engine.problem)
            stages = stages_of(engine.epoch)
            rows = self._rows(self._evidence.next_round, self._limit())
            if rows is not None:
                self._evidence.add(stages, rows)
            return self._evidence, stages

    def _limit(self) -> int:
        """The round of the first decision that is open, or that no comparison counts any more."""
        ledger = self._bandit._live.engine.ledger
        ledger.move_watermark()
        waiting = ledger.watermark < ledger.counts.n_decided
        limit = ledger.table.event(ledger.watermark).round if waiting else ledger.counts.round
        most = self._design.max_rounds
        return limit if most is None else min(limit, most)

    def _rows(self, first: int, limit: int) -> Log | None:
        """Rows of rounds from `first` up to `limit`, in order of decision; None if there are none."""
        live = self._bandit._live
        with live.lock:
            engine = live.completed()
            ready = engine.ledger.rows(len(engine.ledger.ready), 0)
            parts = (*controlled_state(engine.epoch).rows, ready)
            return rows_from(parts, first, limit, engine.problem.n_actions)


def _decision_of(evidence: Evidence) -> str | None:
    """The name of the policy that is decided for; None while the experiment goes on."""
    if not is_over(evidence):
        return None
    return evidence.better[0].name if evidence.better else evidence.design.name


def _check_outcomes(settings: Mapping[str, Any]) -> None:
    """Refuse outcomes that would be left out by their reward: what is missing then says something."""
    if settings.get("reward_timeout") is not None and settings.get("default_reward") is None:
        raise ValueError(
            f"reward_timeout is {settings['reward_timeout']} and there is no default_reward: decisions "
            "without a reward would be missing from comparisons, which would favour actions whose failures "
            "are silent; give a default_reward, such as 0."
        )
