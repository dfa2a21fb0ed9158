from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import evaluate
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict.verdict import Reason, Verdict
from gyrfalcon.reports.evaluation_decision import decision_sentences, shown_policies
from gyrfalcon.reports.evaluation_summary import headline, several_policies
from gyrfalcon.reports.page import plain
from tests.evaluation.logs import log_of


@pytest.fixture(scope="module")
def table() -> DecisionTable:
    return log_of(600)


def told(evaluation: Evaluation) -> str:
    return plain(decision_sentences(evaluation))


def with_differences(
    table: DecisionTable, differences: dict[str, float], levels: dict[str, str] | None = None
) -> Evaluation:
    """An evaluation whose policies have these differences to the logged play, with standard errors of 1."""
    found = evaluate(table, dict.fromkeys(differences, "uniform"))
    return replace(found, policies=tuple(_changed(one, differences, levels or {}) for one in found.policies))


def _changed(policy: PolicyValue, differences: dict[str, float], levels: dict[str, str]) -> PolicyValue:
    if policy.name not in differences:
        return policy
    difference = differences[policy.name]
    level = levels.get(policy.name, "trust")
    return replace(
        policy,
        difference=difference,
        difference_error=1.0,
        difference_interval=Interval.around(difference, 1.96, 0.95, "MinVar"),
        verdict=Verdict((Reason(level, "support", "So it is."),)),  # type: ignore[arg-type]
    )


def test_a_policy_beyond_chance_is_better(table: DecisionTable) -> None:
    text = told(with_differences(table, {"new": 4.0, "old": -1.0}))
    assert text.startswith("new is better than logged by 4.00 per decision (95% interval of the difference")
    assert "+2.04 to +5.96" in text
    assert text.endswith("and the log supports that.")


def test_a_cost_that_falls_is_better(table: DecisionTable) -> None:
    costs = replace(with_differences(table, {"new": -4.0, "old": 5.0}), cost=True)
    assert told(costs).startswith("new is better than logged by 4.00 per decision")


def test_the_best_of_many_is_no_finding_where_alone_it_would_be(table: DecisionTable) -> None:
    alone = with_differences(table, {"new": 2.2})
    many = with_differences(table, {"new": 2.2, **{f"other {k}": 0.0 for k in range(9)}})
    assert "new is better than logged" in told(alone)
    assert "the best of 10 policies may look so by chance" in told(many)
    assert several_policies(alone) == ""
    assert "10 policies were compared" in several_policies(many)


def test_reservations_lead_to_a_trial(table: DecisionTable) -> None:
    assert "try it on a share of the traffic first" in told(
        with_differences(table, {"new": 4.0}, {"new": "caution"})
    )


def test_a_value_that_is_not_to_be_trusted_is_never_better(table: DecisionTable) -> None:
    untold = with_differences(table, {"new": 40.0}, {"new": "do not trust"})
    assert told(untold) == "This log does not say whether this policy is better than logged."
    both = with_differences(table, {"new": 40.0, "old": 0.5}, {"new": "do not trust"})
    assert told(both) == "No policy is shown to be better than logged."


def test_without_a_baseline_nothing_is_said(table: DecisionTable) -> None:
    assert told(evaluate(table, {"new": "uniform"}, baseline=None)) == ""


def test_noise_alone_hardly_ever_makes_a_policy_better() -> None:
    """Chance that any of 20 logs of equal policies has one that is better: below 20 * 0.025 = 0.5.

    Six policies in each log would make it 0.95 without the correction for several ones.
    """
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        action = rng.integers(7, size=700)
        table = DecisionTable.of(
            actions=list("abcdefg"),
            action=np.array(list("abcdefg"))[action],
            reward=rng.normal(size=700),
            propensity=np.full(700, 1 / 7),
            distribution=np.full((700, 7), 1 / 7),
        )
        evaluation = evaluate(table, {name: f"always {name}" for name in "abcdef"}, estimator="ips")
        found += " is better than " in told(evaluation)
    assert found <= 2


def test_headlines_of_many_policies_stay_short(table: DecisionTable) -> None:
    found = with_differences(table, {f"a rather long name of policy {k}": -1.0 - k for k in range(30)})
    assert " and 25 more." in headline(found)
    assert len(headline(found)) < 400
    shown = shown_policies(found.policies, found, 4)
    assert shown[0].name == "logged"
    assert [one.name[-2:] for one in shown[1:]] == [" 0", " 1", " 2"]
