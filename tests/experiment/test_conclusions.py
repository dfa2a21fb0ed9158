"""Value and simple regret of the final policy: their bounds hold though the policy was chosen by the rows."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.engine.turnover import turn_over
from gyrfalcon.experiment.conclusions import result_of
from gyrfalcon.experiment.controlled import ControlledLearner, stages_of
from gyrfalcon.experiment.designs import checked_design
from gyrfalcon.experiment.evidence import Evidence
from gyrfalcon.learners.rapr import RAPR
from gyrfalcon.simulation.engine import Rounds, Run, chosen_of, chunks
from tests.experiment.environments import Effects

ENVIRONMENT = Effects((0.0, 0.05, -0.05), (0.0, 0.4, -0.4))
OUTCOMES = ENVIRONMENT.draw(0, 20_000, seed=99)


def value(policy: Policy) -> float:
    return float((policy.probabilities(OUTCOMES.contexts) * OUTCOMES.means).sum(axis=1).mean())


def ended(seed: int, n_rounds: int) -> tuple[Evidence, Policy, float, tuple[float, float], float]:
    """An experiment of so many rounds, the final policy, and the bounds of its value and regret."""
    problem = ENVIRONMENT.problem
    design = checked_design(
        problem, 0, control_share=0.1, level=0.95, minimum_effect=0.0, max_rounds=n_rounds
    )
    learner, evidence = ControlledLearner(RAPR(), design), Evidence(design, problem)
    logs: list[Log] = []
    rounds, epoch = Rounds(Run(learner, ENVIRONMENT, problem, n_rounds, seed)), learner.start(problem)
    while True:
        first_log = len(logs)
        for first, last in chunks(epoch.start, min(epoch.stop, n_rounds)):
            outcomes = rounds.outcomes(first, last)
            decisions = rounds.decisions(epoch, first, outcomes)
            reward = outcomes.rewards.take(chosen_of(decisions.action, problem.n_actions))
            logs.append(Log.of(outcomes.contexts, decisions, reward))
            evidence.add(stages_of(epoch), logs[-1])
        if epoch.stop >= n_rounds:
            break
        epoch = turn_over(learner, epoch, Log.concat(logs[first_log:], problem.n_actions), epoch.stop)
    result = result_of(evidence, stages_of(epoch), Log.concat(logs, problem.n_actions))
    return evidence, result.policy.policy, result.value, result.value_interval, result.regret_bound


@pytest.mark.parametrize("n_rounds", [150, 1000])
def test_bounds_of_the_final_policy_hold(n_rounds: int) -> None:
    """In 40 runs; at 5% seven or more misses would have a chance of 0.3%."""
    missed = np.zeros(2)
    for seed in range(40):
        evidence, policy, estimate, (low, high), most = ended(seed, n_rounds)
        best = max(value(one) for one in [evidence.design.control, *(c.policy for c in evidence.candidates)])
        truth = value(policy)
        assert low <= estimate <= high
        missed += [not low <= truth <= high, best - truth > most]
    assert (missed < 7).all()


def test_bounds_get_narrower() -> None:
    few, many = (ended(1, n_rounds) for n_rounds in (200, 4000))
    assert many[3][1] - many[3][0] < 0.5 * (few[3][1] - few[3][0])
    assert many[4] < few[4]
