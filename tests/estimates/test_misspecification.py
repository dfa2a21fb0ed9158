from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.result import NotEstimableError, quantile
from gyrfalcon.oracles.linear.linear import Linear
from tests.estimates.rows import line_log, passive_log, recurring_log, step_log

METHODS = ["pure_error", "residual_products", "one_step"]


def environment_log(environment: Environment, n: int, seed: int = 0) -> Log:
    """Uniform play among eligible actions."""
    drawn = environment.draw(0, n, seed)
    means = np.where(
        np.ones(drawn.means.shape, dtype=bool)
        if drawn.contexts.eligible is None
        else drawn.contexts.eligible,
        np.random.default_rng(seed).random(drawn.means.shape),
        -1.0,
    )
    action = means.argmax(axis=1)
    log = passive_log(drawn.contexts.shared, action, drawn.rewards[np.arange(n), action])
    return replace(log, contexts=drawn.contexts)


def test_recurring_contexts_are_judged_by_pure_error() -> None:
    found = misspecification_estimate(recurring_log(np.random.default_rng(0), 200, 0.3, None), 2)
    assert found.method == "pure_error, unequal noise"
    assert found.why == "200 of 200 rows share their context and action with another."


def test_few_features_are_judged_by_nearest_pairs() -> None:
    found = misspecification_estimate(step_log(np.random.default_rng(0), 200), StepExample().problem)
    assert found.method == "residual_products"
    assert found.why.endswith("with 1 varying features the nearest row is near.")


def test_many_features_are_judged_by_a_richer_class() -> None:
    found = misspecification_estimate(line_log(np.random.default_rng(0), 300, d=4), 2)
    assert found.method == "one_step"
    assert found.why == (
        "0 of 300 rows share their context and action with another, and with 4 varying features the nearest "
        "row is not near."
    )


def test_features_that_never_vary_are_not_counted() -> None:
    log = step_log(np.random.default_rng(0), 200)
    padded = np.column_stack([log.contexts.shared, np.full((200, 9), 0.1)])
    found = misspecification_estimate(passive_log(padded, log.action, log.reward), 2)
    assert found.method == "residual_products"
    assert found.untruncated == pytest.approx(misspecification_estimate(log, 2).untruncated, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_is_asked_for_needs_no_reason(method: Any) -> None:
    found = misspecification_estimate(
        recurring_log(np.random.default_rng(1), 200, 0.3, 0.1), 2, method=method
    )
    assert found.method.startswith(method)
    assert found.why == ""
    assert 0.0 <= found.lower <= found.b_hat <= found.upper
    assert found.b_hat == max(found.untruncated, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_only_passive_rows_count(method: Any) -> None:
    log = recurring_log(np.random.default_rng(2), 200, 0.3, 0.1)
    active = replace(log, reward=log.reward + 100.0, component=np.full(200, POLICY))
    both = Log.concat([active, log], 2)
    oracle = Linear().oracle(log.contexts, 2)
    with_active = misspecification_estimate(both, 2, oracle=oracle, method=method)
    alone = misspecification_estimate(log, 2, oracle=oracle, method=method)
    assert with_active.untruncated == pytest.approx(alone.untruncated, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(method: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    log = recurring_log(rng, 120, 0.3, 0.2)
    one = misspecification_estimate(log, 2, method=method)
    other = misspecification_estimate(log.take(rng.permutation(120)), 2, method=method)
    for name in ("untruncated", "standard_error", "lower", "upper"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-7, abs=1e-12)
    assert (one.n_rows, one.n_pairs, one.n_groups) == (other.n_rows, other.n_pairs, other.n_groups)


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_what_the_class_can_say_changes_nothing(method: Any, seed: int, level: float, slope: float) -> None:
    log = recurring_log(np.random.default_rng(seed), 120, 0.3, 0.2)
    lifted = replace(log, reward=log.reward + level + slope * log.contexts.shared[:, 0])
    one = misspecification_estimate(log, 2, method=method)
    other = misspecification_estimate(lifted, 2, method=method)
    assert one.untruncated == pytest.approx(other.untruncated, abs=1e-9)


def test_wider_levels_make_wider_intervals() -> None:
    log = step_log(np.random.default_rng(3), 300)
    narrow, wide = (misspecification_estimate(log, 2, level=level) for level in (0.5, 0.99))
    assert wide.lower < narrow.lower < narrow.upper < wide.upper
    assert quantile(0.95) == pytest.approx(1.959964, abs=1e-6)


def test_features_of_actions_and_barred_actions() -> None:
    environment = EligibilityEnvironment(
        environment=ActionFeatureEnvironment(n_actions=4, n_features=1, n_action_features=1), share=0.6
    )
    log = environment_log(environment, 800)
    # A linear model of both features and their product is the truth of this environment.
    found = misspecification_estimate(log, environment.problem)
    assert found.lower == 0.0
    assert found.upper < 0.01
    bound = misspecification_estimate(log, environment.problem, method="one_step")
    assert bound.lower == 0.0
    assert bound.b_hat < 0.01


def test_a_class_that_is_in_use_keeps_its_basis() -> None:
    log = step_log(np.random.default_rng(4), 200)
    oracle = Linear().oracle(log.contexts.take(slice(0, 3)), 2)
    found = misspecification_estimate(log, 2, oracle=oracle)
    assert found.untruncated == pytest.approx(misspecification_estimate(log, 2).untruncated, rel=1e-9)


def test_one_action_is_enough() -> None:
    log = step_log(np.random.default_rng(5), 400)
    rows = log.where(log.action == 0)
    found = misspecification_estimate(rows, 1)
    assert found.lower < 1 / 16 < found.upper


def test_with_more_coefficients_than_rows_a_ridge_decides() -> None:
    log = line_log(np.random.default_rng(6), 60, d=40)
    with pytest.raises(NotEstimableError, match="choose a smaller class or a ridge"):
        misspecification_estimate(log, 2, method="residual_products")
    found = misspecification_estimate(log, 2, Linear(ridge=1.0), method="residual_products")
    assert found.n_pairs > 20


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_rewards_that_never_vary_say_nothing(method: Any) -> None:
    log = replace(step_log(np.random.default_rng(7), 50), reward=np.zeros(50))
    with pytest.raises(NotEstimableError, match=r"rewards of all 50 passive rows are 0.0.*wait for rows"):
        misspecification_estimate(log, 2, method=method)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_few_rows_get_a_sentence(method: Any, n: int) -> None:
    log = step_log(np.random.default_rng(8), 50).take(slice(0, n))
    with pytest.raises(NotEstimableError, match=r"; (wait|give)"):
        misspecification_estimate(log, 2, method=method)


def test_no_passive_rows_get_a_sentence() -> None:
    log = replace(step_log(np.random.default_rng(9), 50), component=np.zeros(50, dtype=np.int64))
    with pytest.raises(NotEstimableError, match="none of the 50 rows is passive"):
        misspecification_estimate(log, 2, rows="passive")


def test_bad_arguments_are_refused() -> None:
    log = step_log(np.random.default_rng(10), 50)
    with pytest.raises(ValueError, match="method is 'magic'; choose 'auto', 'pure_error'"):
        misspecification_estimate(log, 2, method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level is 95; give a number in"):
        misspecification_estimate(log, 2, level=95)
    with pytest.raises(ValueError, match="holds a reward of nan; drop or fill"):
        misspecification_estimate(replace(log, reward=np.full(50, np.nan)), 2)


def labelled_log(problem: Problem, propensities: Any, n: int = 400) -> Log:
    """Rewards that are far from linear in x for action "b" alone, whatever the order of the labels."""
    rng = np.random.default_rng(3)
    x, labels = rng.random((n, 1)), rng.choice(["a", "b"], n)
    rewards = np.where(labels == "b", (x[:, 0] > 0.5) * 0.8, 0.5) + 0.1 * rng.random(n)
    return problem.log(problem.contexts(x), labels, rewards, propensities)


def test_rows_of_unknown_propensity_say_nothing_of_misspecification() -> None:
    problem = Problem(["a", "b"], features=1)
    unknown = labelled_log(problem, "unknown")
    with pytest.raises(NotEstimableError, match=r"none of the 400 rows is passive .*, and 400 have unknown"):
        misspecification_estimate(unknown, problem)
    uniform = labelled_log(problem, "uniform")
    alone = misspecification_estimate(uniform, problem)
    assert misspecification_estimate(Log.concat([uniform, unknown], 2), problem) == alone
    with pytest.raises(ValueError, match="passive rows of unknown propensity"):
        misspecification_estimate(replace(uniform, propensity=unknown.propensity), problem)


def test_a_log_is_aligned_with_the_problem_of_its_estimate() -> None:
    here, elsewhere = Problem(["a", "b"], features=1), Problem(["b", "a"], features=1)
    expected = misspecification_estimate(labelled_log(here, "uniform"), here)
    assert misspecification_estimate(labelled_log(elsewhere, "uniform"), here) == expected
    with pytest.raises(ValueError, match=r"the log has rewards .* and this problem costs"):
        misspecification_estimate(labelled_log(here, "uniform"), Problem(["a", "b"], features=1, cost=True))
    with pytest.raises(ValueError, match="the log's problem has 2 actions, and 3 are given"):
        misspecification_estimate(labelled_log(here, "uniform"), 3)


def test_a_problem_without_features_has_no_error_that_rows_could_show() -> None:
    problem = Problem(["a", "b"])
    rng = np.random.default_rng(11)
    labels = np.where(rng.random(60) < 0.5, "a", "b")
    log = problem.log(Contexts(np.zeros((60, 0))), labels, rng.random(60), propensities="uniform")
    found = misspecification_estimate(log, problem)
    assert (found.b_hat, found.lower, found.is_lower_bound) == (0.0, 0.0, True)
    assert log.reward.var() < found.upper < 2.0 * log.reward.var()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(12))
def test_an_interval_is_never_a_point(method: Any, seed: int) -> None:
    # Estimates below 0 come in about half of the logs of a class that is right.
    log = recurring_log(np.random.default_rng(seed), 60, 0.0, 0.3)
    for noise in ("equal", "unequal"):
        found = misspecification_estimate(log, 2, method=method, noise=noise)
        assert found.lower <= found.b_hat < found.upper


def test_only_one_step_is_a_lower_bound() -> None:
    log = recurring_log(np.random.default_rng(12), 200, 0.3, 0.1)
    found = {method: misspecification_estimate(log, 2, method=method) for method in METHODS}  # type: ignore[arg-type]
    assert [one.is_lower_bound for one in found.values()] == [False, False, True]


def test_a_result_says_in_one_line_what_was_found() -> None:
    log = recurring_log(np.random.default_rng(13), 200, 0.3, 0.1)
    estimate = misspecification_estimate(log, 2)
    bound = misspecification_estimate(log, 2, method="one_step")
    assert repr(estimate).startswith(f"MisspecificationEstimate(b about {estimate.b_hat:.4g}, 95% interval ")
    assert repr(bound).startswith(f"MisspecificationEstimate(b >= {bound.b_hat:.4g}, 95% interval ")
    assert repr(bound).endswith(f"to {bound.upper:.4g}, one step of 200 rows)")
