"""From evidence to conclusions: comparisons, the decision, and the final policy with its value and regret."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.evaluation.intervals.sequences.contrast_scores import TRUNCATION
from gyrfalcon.experiment.controlled import Stage
from gyrfalcon.experiment.evidence import Candidate, Evidence, joined, scores_of
from gyrfalcon.experiment.final_policy import FinalPolicy
from gyrfalcon.experiment.results import Comparison, ExperimentResult, sentence_of
from gyrfalcon.experiment.wealth import lower_bound


def comparison_of(one: Candidate, problem: Problem) -> Comparison:
    """A candidate's gain over the control, in the unit of rewards."""
    scores, width = joined(one.gains), _width(problem)
    low, high = one.interval()
    return Comparison(
        name=one.name,
        first_round=one.first_round,
        n_rows=len(scores),
        gain=width * _mean(scores),
        low=width * low,
        high=width * high,
        is_better=one.refuted_at is not None,
    )


def is_over(evidence: Evidence) -> bool:
    """Whether a policy is known to be better, or all rounds are over."""
    most = evidence.design.max_rounds
    return bool(evidence.better) or (most is not None and evidence.next_round >= most)


def verdict(evidence: Evidence, comparisons: Sequence[Comparison]) -> str:
    """The verdict so far."""
    better = evidence.better
    by_name = {one.name: one for one in comparisons}
    estimated = [one for one in comparisons if one.n_rows]
    return sentence_of(
        evidence.design.name,
        evidence.n_rows,
        by_name[better[0].name] if better else None,
        max(estimated, key=lambda one: one.gain, default=None),
        ended=is_over(evidence),
        cost=evidence.problem.cost,
    )


def result_of(evidence: Evidence, stages: Sequence[Stage], rows: Log | None) -> ExperimentResult:
    """The result of an experiment from its evidence, and from all rows that this is based on."""
    problem, design, better = evidence.problem, evidence.design, evidence.better
    chosen: Policy = better[0].policy if better else design.control
    name, first = (better[0].name, better[0].first_round) if better else (design.name, 0)
    value, interval = _value_of(evidence, stages, _since(rows, first), chosen)
    regret, bound = _regret_of(evidence, stages, rows, chosen, first)
    width = _width(problem)
    return ExperimentResult(
        policy=FinalPolicy(problem, chosen, name),
        is_better=bool(better),
        value=value,
        value_interval=interval,
        regret=width * regret,
        regret_bound=width * bound,
        level=design.level,
        sentence=verdict(evidence, [comparison_of(one, problem) for one in evidence.candidates]),
    )


def _value_of(
    evidence: Evidence, stages: Sequence[Stage], rows: Log | None, policy: Policy
) -> tuple[float, tuple[float, float]]:
    """A policy's value and bounds, in the unit of rewards.

    The policy was chosen among the candidates and the control by these rows: bounds hold for all of them.
    """
    problem = evidence.problem
    if rows is None:
        return math.nan, _ordered(problem, 0.0, 1.0)
    error = (1.0 - evidence.design.level) / (2.0 * (len(evidence.candidates) + 1))
    gains, losses = scores_of(stages, rows, policy, None)
    low = max(lower_bound(gains, error, TRUNCATION), 0.0)
    high = min(-lower_bound(losses, error, TRUNCATION), 1.0)
    return _in_rewards(problem, _mean(gains)), _ordered(problem, low, high)


def _regret_of(
    evidence: Evidence, stages: Sequence[Stage], rows: Log | None, policy: Policy, first: int
) -> tuple[float, float]:
    """How much more the best of all compared policies earns, and a bound, in units of the reward range."""
    others = [(evidence.design.control, 0), *((one.policy, one.first_round) for one in evidence.candidates)]
    rivals = [(other, max(start, first)) for other, start in others if other is not policy]
    error = (1.0 - evidence.design.level) / (len(others) * len(rivals))
    estimates, bounds = [0.0], [0.0]
    for rival, start in rivals:
        common = _since(rows, start)
        if common is None:
            bounds.append(1.0)
            continue
        gains, losses = scores_of(stages, common, rival, policy)
        estimates.append(_mean(gains))
        bounds.append(-lower_bound(losses, error, TRUNCATION))
    return max(estimates), max(bounds)


def _since(rows: Log | None, first: int) -> Log | None:
    kept = None if rows is None else rows.where(rows.round >= first)
    return kept if kept is not None and len(kept) else None


def _mean(scores: Floats) -> float:
    return float(scores.mean()) if len(scores) else math.nan


def _width(problem: Problem) -> float:
    assert problem.reward_range is not None  # designs are checked for it
    return problem.reward_range[1] - problem.reward_range[0]


def _in_rewards(problem: Problem, value: float) -> float:
    return float(problem.rewards.from_unit(np.array(value)))


def _ordered(problem: Problem, low: float, high: float) -> tuple[float, float]:
    first, last = sorted(problem.rewards.from_unit(np.array([low, high])).tolist())
    return first, last
