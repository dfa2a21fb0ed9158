"""A bandit for programs: decide, reward, and epochs turn over by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from gyrfalcon.bandit.clock import MonotonicClock
from gyrfalcon.bandit.deciding import (
    checked_id,
    checked_ids,
    decide_many,
    decide_one,
    known_decision,
    known_decisions,
    problem_for,
)
from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.decision_log import LogTarget
from gyrfalcon.bandit.engine import MIN_SETTLED, BanditEngine
from gyrfalcon.bandit.identity import EventId
from gyrfalcon.bandit.live import LiveEngine
from gyrfalcon.bandit.management import Management
from gyrfalcon.bandit.outcomes import credit, tick
from gyrfalcon.bandit.refits import RefitMode
from gyrfalcon.bandit.reward_rules import OnDuplicate, RewardRules
from gyrfalcon.bandit.validation import (
    check_learner,
    check_mapping,
    check_room,
    checked_seed,
    problem_of,
)
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import OutOfRange
from gyrfalcon.core.inputs.schema import UnknownFeatures
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_at_least
from gyrfalcon.engine.turnover import Patience
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.protocol import Learner


class Bandit(Management):
    """Contextual bandit that decides, keeps pending events, and refits when an epoch is over.

    The next epoch starts once the planned rounds have been decided and their outcomes are final; or after
    another `max_overtime` times the planned rounds, if half as many rows as planned rounds are ready.
    Outcomes that become final later count in a later fit.

    A call that does not fit the problem is refused with a ValueError or TypeError, and changes nothing. Where
    a refit is due and fails, rewards and logs are kept, and the learner's error is raised with a note;
    decisions go on by the epoch in play, with a RuntimeWarning. All methods may be called from any thread.

    Parameters
    ----------
    actions
        At least two labels of any hashable kind, returned as given; None if a `problem` is given instead.
    learner
        How to learn; `AdaptiveFalcon()` by default.
    features
        Names, kinds or number of context features (see `Schema.of`). Without them the first context decides.
    problem
        Actions, features and rewards in one value, instead of `actions` and the settings of `Problem`.
    action_features
        Names, kinds or number of the features of actions (see `Schema.of`), or None if they have none.
    reward_range
        Lowest and highest reward; None if they are not known.
    out_of_range
        Effect of a reward outside the range: "error" refuses it, "clip" moves it to the nearer end, and
        "accept" takes it as it is.
    cost
        Whether rewards are costs, of which less is better.
    unknown_features
        Effect of a named value that is no feature, of a context or an action: "error" refuses the call,
        "ignore" passes the value over. None leaves it to the schemas, which refuse it by themselves.
    seed
        The same seed, event ids and calls give the same decisions. None draws one.
    reward_timeout
        Seconds after its decision at which an outcome is final, and may enter a fit: whole cohorts by
        decision time, never quick rewards first. None waits without limit: a reward is then final at once.
    default_reward
        Reward of an event without one when its time is up; None drops the event.
    max_pending
        Number of events that may be open: when there are more, the oldest becomes final, with a warning.
    on_duplicate
        Effect of a second reward for an event: "error" refuses it, "first" ignores it, "last" takes its
        value, and "sum" adds it. Once the first reward was learned from, "last" and "sum" refuse too.
    max_overtime
        How long an epoch waits for rewards after its planned rounds, as a multiple of these rounds.
    initial_log
        Log of earlier decisions that the first epoch is fitted on, made with `Problem.log`.
    refit
        "background": a refit runs in a thread of its own, and decisions go on meanwhile; Python's switch
        interval is at most half a millisecond for that time. "inline": the call that makes it due computes
        it, so that the same calls give the same decisions. None is "inline" where a seed is given, else
        "background".
    log
        Folder for the decision log, a `LogFolder` with its settings, or a function that is called with each
        line: see `read_decision_log` and `audit_decision_log`. None writes none.
    clock
        Function that returns seconds, for `reward_timeout`; where it is set back, no time has passed.

    Examples
    --------
    >>> bandit = Bandit(["red", "blue"], features=["age"], seed=1)
    >>> decision = bandit.decide({"age": 31})
    >>> decision.propensity
    0.5
    >>> bandit.reward(decision.event_id, 1.0)
    >>> bandit
    Bandit(actions='red', 'blue'; AdaptiveFalcon, epoch 1, 1 decided, 0 pending)
    """

    def __init__(
        self,
        actions: Iterable[Hashable] | None = None,
        *,
        learner: Learner | None = None,
        features: object = None,
        problem: Problem | None = None,
        action_features: object = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        out_of_range: OutOfRange = "error",
        cost: bool = False,
        unknown_features: UnknownFeatures | None = None,
        seed: int | None = None,
        reward_timeout: float | None = None,
        default_reward: float | None = None,
        max_pending: int = 100_000,
        on_duplicate: OnDuplicate = "error",
        max_overtime: float = 1.0,
        initial_log: Log | None = None,
        refit: RefitMode | None = None,
        log: LogTarget | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        chosen: Learner = AdaptiveFalcon() if learner is None else learner
        check_learner(chosen)
        awaits_features = features is None and problem is None and initial_log is None
        problem = problem_of(
            problem,
            actions,
            features=features,
            action_features=action_features,
            reward_range=reward_range,
            out_of_range=out_of_range,
            cost=cost,
            unknown_features=unknown_features,
        )
        rules = RewardRules(
            reward_timeout=reward_timeout,
            default_reward=default_reward,
            max_pending=max_pending,
            on_duplicate=on_duplicate,
        )
        check_at_least("max_overtime", max_overtime, 0.0)
        engine = BanditEngine.begin(
            chosen,
            problem,
            rules,
            Patience(max_overtime, MIN_SETTLED),
            MonotonicClock(clock),
            seed=checked_seed(seed),
            initial_log=initial_log,
            awaits_features=awaits_features,
        )
        default: RefitMode = "background" if seed is None else "inline"
        self._live = LiveEngine(engine, default if refit is None else refit)
        self._log_to(log)

    def decide(
        self,
        context: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_id: EventId | None = None,
    ) -> Decision:
        """Choose an action for one context, with its exact propensity and the event id to reward it by.

        Parameters
        ----------
        context
            Features as a mapping of names to values, a sequence or an array; None without features.
        actions
            Features of actions: a (K, q) array, or a mapping of labels to rows of features.
        eligible
            Labels that may be chosen, or a boolean (K,) array; None for all.
        event_id
            Id of the decision, to know it beforehand; None makes one.
        """
        identity = checked_id(event_id)
        self._live.give_way()
        with self._live.lock:
            engine = self._live.completed()
            known = None if identity is None else known_decision(engine, identity)
            if known is not None:
                return known
            problem = problem_for(engine, context)
            contexts = problem.context(context, actions, eligible)
            now = self._prepared(problem, 1)
            return decide_one(engine, problem, contexts, identity, now)

    def decide_many(
        self,
        contexts: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_ids: Sequence[EventId] | None = None,
        n: int | None = None,
    ) -> DecisionBatch:
        """Choose actions for many contexts at once, in their order and all by the epoch in play.

        As long as the epoch lasts, these are the decisions for the same contexts one by one.

        Parameters
        ----------
        contexts
            Features as a frame, a matrix or a list of mappings; None without features.
        actions
            Features of actions: as in `decide`, for all contexts alike or for each of them.
        eligible
            n collections of labels that may be chosen, or a boolean (n, K) array; None for all.
        event_ids
            Ids of the decisions; None makes them.
        n
            Number of contexts, for a problem without features.
        """
        self._live.give_way()
        with self._live.lock:
            engine = self._live.completed()
            problem = problem_for(engine, contexts)
            rows = problem.contexts(contexts, actions, eligible, n)
            ids = checked_ids(event_ids, len(rows))
            known = known_decisions(engine, ids)
            n_new = len(rows) - len(known)
            check_room(n_new, engine.rules.max_pending)
            now = self._prepared(problem, n_new)
            return decide_many(engine, problem, rows, ids, known, now)

    def reward(self, event_id: EventId, value: float, *, final: bool = False) -> None:
        """Credit a reward to a decision: in any order, at any time before the event's time is up.

        Parameters
        ----------
        event_id
            Id of the decision.
        value
            Reward in the problem's units.
        final
            Whether no further reward comes: the outcome then does not wait for `reward_timeout`. It enters a
            fit when all earlier decisions are final as well, so that quick outcomes do not count first.

        Raises
        ------
        ValueError, TypeError
            If the event is unknown, has ended or is rewarded already, or the value is out of range.
        """
        with self._live.lock:
            credit(self._live.completed(), [(event_id, value)], final=final)
            self._live.advance()

    def reward_many(self, rewards: Mapping[Any, float], *, final: bool = False) -> None:
        """Credit rewards by event id: all of them, or none when one is refused.

        Parameters
        ----------
        rewards
            Mapping of event ids to rewards, such as `dict(zip(batch.event_id, rewards))`.
        final
            Whether no further rewards come for these events: see `reward`.
        """
        check_mapping(rewards)
        with self._live.lock:
            credit(self._live.completed(), list(rewards.items()), final=final)
            self._live.advance()

    def _prepared(self, problem: Problem, n: int) -> float:
        """The time of n decisions that nothing can refuse any more, with the epoch that is to play them."""
        engine = self._live.engine
        if engine.awaits_features:
            engine.change_problem(problem, shown=True)
        now = tick(engine, n)
        self._live.advance_or_warn()
        return now
