"""What a learning algorithm would have earned, from a log that another policy has collected."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_choice, check_level, check_share, check_whole
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.estimates.scores import corrected_scores
from gyrfalcon.evaluation.estimators.estimate import Estimate
from gyrfalcon.evaluation.estimators.importance_weighted import weighted_mean
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.predictions.by_time import predictions_by_time
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.simulation.accepted_rows import Visited, visited_rows
from gyrfalcon.simulation.learner_value import LearnerValue

METHODS = ("doubly_robust", "replay")
_N_BLOCKS = 10


def evaluate_learner(
    learner: Learner,
    table: DecisionTable,
    *,
    method: str = "doubly_robust",
    n_rounds: int | None = None,
    quantile: float = 0.0,
    model_class: ModelClass = Linear(ridge=1.0),
    seed: int = 0,
    level: float = 0.95,
) -> LearnerValue:
    """The mean reward of a learner over its first rounds, from logged decisions, with an interval.

    A row counts as a round of the learner with probability c pi / p, where pi and p are the learner's and the
    log's probability of the logged action. "replay" (Li, Chu, Langford and Wang 2011) is the mean reward of
    the rows that count, with c the smallest propensity of the log. "doubly_robust" (Dudik, Erhan, Langford
    and Li 2012) averages doubly robust scores of all rows that it goes through, each weighted with its c,
    and takes c as large as p / pi of earlier rows permits, so that the log suffices for more rounds.

    The interval is that of the mean value of the policies which the learner had in this one run. Another run
    learns other policies: values of several seeds tell how much they differ.

    Parameters
    ----------
    learner
        The learner, such as `AdaptiveFalcon()`.
    table
        Logged decisions with known propensities, independent of each other: of a policy that did not learn,
        or of one whose learning mattered little.
    method
        `"doubly_robust"` or `"replay"`.
    n_rounds
        Number of rounds; None means as many as the log gives.
    quantile
        For "doubly_robust", the quantile of p / pi over earlier rows that c is: 0 cuts no row that is like
        earlier ones, and larger ones give more rounds and more bias.
    model_class
        Reward models of "doubly_robust", each fitted to rows before those that it predicts.
    seed
        Of the order of rows and of the draws.
    level
        The probability with which the interval covers.

    Returns
    -------
    LearnerValue
        The value with its interval, what was used of the log, and what the bias is.

    Examples
    --------
    >>> from gyrfalcon import EpsilonGreedy
    >>> rng = np.random.default_rng(0)
    >>> actions = rng.choice(["red", "blue"], 2_000)
    >>> rewards = (rng.random(2_000) < np.where(actions == "red", 0.7, 0.3)).astype(float)
    >>> table = DecisionTable.of(
    ...     actions=["red", "blue"],
    ...     action=actions,
    ...     reward=rewards,
    ...     propensity=np.full(2_000, 0.5),
    ...     reward_range=(0.0, 1.0),
    ... )
    >>> evaluate_learner(EpsilonGreedy(epsilon=0.1), table, n_rounds=500)
    LearnerValue(0.664 in [0.628, 0.7] at level 0.95 over 500 rounds, doubly_robust, 991 of 2,000 rows)
    """
    check_choice("method", method, METHODS)
    check_share("quantile", quantile, 0.0, 0.5)
    check_level(level)
    if n_rounds is not None:
        check_whole("n_rounds", n_rounds, 2)
    environment = _environment(table)
    taken_from = None if method == "replay" else quantile
    visited = list(visited_rows(learner, environment, taken_from, n_rounds, seed))
    n_counted = sum(len(one.accepted) for one in visited)
    if n_counted < (n_rounds or 2):
        raise ValueError(
            f"the log of {len(table)} rows gave {n_counted} rounds, and n_rounds is {n_rounds or 2}; ask for "
            'fewer, use method="doubly_robust", or give a log of more rows.'
        )
    if method == "replay":
        unit = Estimate.of_contributions(environment.log.reward[_counted(visited)])
    else:
        unit = _doubly_robust(environment, visited, model_class, seed)
    estimate = _in_own_units(unit, environment.problem)
    return LearnerValue(
        estimate=estimate,
        interval=normal_interval(estimate.contributions, level),
        method=method,
        n_rounds=n_counted,
        n_visited=sum(len(one.rows) for one in visited),
        n_rows=len(table),
        cut_share=_cut_share(environment.log, visited),
    )


def _environment(table: DecisionTable) -> LoggedReplay:
    unknown = np.flatnonzero(table.action < 0)
    if len(unknown):
        raise ValueError(
            f"row {table.rows[unknown[0]]}: the action is none of the table's; leave the row out, with "
            "table.take(table.action >= 0)."
        )
    problem = Problem(
        table.actions,
        features=list(table.features) or None,
        action_features=list(table.action_features) or None,
        reward_range=table.reward_range,
        cost=table.cost,
    )
    labels = [table.actions[place] for place in table.action.tolist()]
    return LoggedReplay(problem, table.contexts, labels, table.reward, table.propensity)


def _counted(visited: list[Visited]) -> Ints:
    return np.concatenate([one.rows[one.accepted] for one in visited])


def _doubly_robust(
    environment: LoggedReplay, visited: list[Visited], model_class: ModelClass, seed: int
) -> Estimate:
    """The mean of doubly robust scores of all rows gone through, weighted with their acceptance levels."""
    log, rows = environment.log, np.concatenate([one.rows for one in visited])
    target = np.concatenate([one.target for one in visited])
    levels = np.concatenate([np.full(len(one.rows), one.level) for one in visited])
    ordered = log.take(environment.rows(seed)[: len(rows)])
    by_time = Log(
        ordered.contexts,
        ordered.action,
        ordered.reward,
        ordered.propensity,
        np.zeros(len(rows), dtype=np.int64),
        np.arange(len(rows)),
        np.zeros(len(rows), dtype=np.int64),
    )
    n_blocks, n_actions = min(_N_BLOCKS, len(rows)), environment.problem.n_actions
    predictions = predictions_by_time(by_time, model_class, n_blocks=n_blocks, n_actions=n_actions)
    weights = target[np.arange(len(rows)), by_time.action] / by_time.propensity
    scores = corrected_scores(target, predictions, by_time.action, weights, by_time.reward)
    return weighted_mean(levels, scores)


def _in_own_units(unit: Estimate, problem: Problem) -> Estimate:
    start, end = problem.rewards.from_unit(np.array([0.0, 1.0])).tolist()
    return Estimate(start + (end - start) * unit.value, (end - start) * unit.influence)


def _cut_share(log: Log, visited: list[Visited]) -> float:
    """The share of rows that should have counted with a probability above 1."""
    cut = [
        one.level * one.target[np.arange(len(one.rows)), log.action[one.rows]]
        > log.propensity[one.rows] * (1.0 + 1e-9)
        for one in visited
    ]
    return float(np.concatenate(cut).mean())
