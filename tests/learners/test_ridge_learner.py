"""What learners with confidence widths have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.elimination import EliminationPolicy
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import CoefficientDraws, LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB, VersionSpace
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
from tests.contracts.environments import Lines, started, uniform_log

AnyRidgeLearner = LinUCB | OFUL | EnlargedLinUCB | LinTS | RegCB
EVERY: list[AnyRidgeLearner] = [
    LinUCB(),
    OFUL(growth=0.0),
    EnlargedLinUCB(),
    LinTS(),
    RegCB(),
    RegCB(rule="optimistic"),
]
LAYOUTS: tuple[Literal["per_action", "shared", "hybrid"], ...] = ("per_action", "shared", "hybrid")

every_one = pytest.mark.parametrize("learner", EVERY, ids=lambda learner: repr(learner)[:30])
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


class Trees:
    """A model class that is not linear."""

    def __repr__(self) -> str:
        return "Trees()"

    def check(self, n_features: int, n_action_features: int) -> None: ...

    def oracle(self, contexts: object, n_actions: int) -> None: ...


def model_of(policy: Policy) -> OptimisticModel:
    """The ridge fit behind a policy."""
    policy = without_trying(policy)
    assert isinstance(policy, KernelPolicy | ThompsonPolicy | SampledPolicy | EliminationPolicy)
    scorer = policy.scorers if isinstance(policy, SampledPolicy) else policy.scorer
    model = scorer.model if isinstance(scorer, VersionSpace | CoefficientDraws) else scorer
    assert isinstance(model, OptimisticModel)
    return model


@pytest.mark.parametrize("learner", [LinUCB(), OFUL(growth=0.0), EnlargedLinUCB()])
@pytest.mark.parametrize("standardise", [True, False])
def test_the_regulariser_is_one_fixed_matrix_only_without_standardising(
    learner: Any, standardise: bool
) -> None:
    # An action without data has no width but what the regulariser gives it.
    problem, context = Problem([0, 1], 2), Contexts(np.ones((1, 2)))
    play = started(replace(learner, model_class=Linear(standardise=standardise)), Lines(n_actions=2))
    widths = []
    for spread in (1.0, 10.0):
        x = spread * np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
        play.learn(problem.log(Contexts(x), [0] * 50, [0.5] * 50, propensities="uniform"))
        widths.append(model_of(play.epoch.policy).widths(context)[0, 1])
    assert (widths[0] == widths[1]) is not standardise


@pytest.mark.parametrize(
    "model_class",
    # Raw features have no early centre, which the ridge on products of features would notice.
    [Linear(), *(Linear(layout=layout, intercept=False, standardise=False) for layout in LAYOUTS)],
    ids=["standardised", *LAYOUTS],
)
@every_one
def test_a_batch_teaches_what_its_parts_teach_one_after_the_other(
    learner: AnyRidgeLearner, model_class: Linear
) -> None:
    environment = Lines(n_action_features=2) if model_class.layout else Lines()
    log, number = uniform_log(environment, 120), np.arange(120)
    learner = replace(learner, model_class=model_class)
    whole, parts = started(learner, environment), started(learner, environment)
    whole.learn(log)
    for first in range(0, 120, 20):
        parts.learn(log.where((number >= first) & (number < first + 20)))
    contexts = environment.draw(0, 50, seed=1).contexts
    one, other = model_of(whole.epoch.policy), model_of(parts.epoch.policy)
    np.testing.assert_allclose(one.means(contexts), other.means(contexts), rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.widths(contexts), other.widths(contexts), rtol=1e-8)


@every_layout
@every_one
def test_widths_do_not_depend_on_rewards(learner: AnyRidgeLearner, layout: Any) -> None:
    environment = Lines(n_action_features=2)
    log = uniform_log(environment, 120)
    learner = replace(learner, model_class=Linear(layout=layout))
    one, other = started(learner, environment), started(learner, environment)
    one.learn(log)
    other.learn(replace(log, reward=1.0 - log.reward**2))
    left, right = (model_of(play.epoch.policy).widths(log.contexts) for play in (one, other))
    assert np.array_equal(left, right)


@every_one
def test_all_fit_the_same_ridge_regression(learner: AnyRidgeLearner) -> None:
    environment = Lines()
    log = uniform_log(environment, 120)
    play, linucb = started(replace(learner, ridge=0.7), environment), started(LinUCB(ridge=0.7), environment)
    play.learn(log)
    linucb.learn(log)
    one, other = model_of(play.epoch.policy), model_of(linucb.epoch.policy)
    assert np.array_equal(one.means(log.contexts), other.means(log.contexts))
    assert np.array_equal(one.widths(log.contexts), other.widths(log.contexts))


@every_layout
def test_the_log_determinant_grows_with_rows_and_is_that_of_a_dense_matrix(layout: Any) -> None:
    environment = Lines(n_action_features=2)
    log = uniform_log(environment, 300)
    oracle = Linear(layout=layout, standardise=False, ridge=0.5).oracle(log.contexts, 3)
    before = 0.0
    for n in (1, 5, 50, 300):
        part = log.where(np.arange(300) < n)
        rows_so_far = oracle.summarise(part)
        total = float(oracle.log_determinants(rows_so_far, rows_so_far).sum())
        assert total > before
        before = total
        rows, blocks = oracle.design.rows(part)
        own = np.zeros(n, dtype=np.int64) if blocks is None else blocks
        dense = np.zeros((n, oracle.design.n_blocks, rows.shape[1]))
        dense[np.arange(n), own] = rows
        flat = dense.reshape(n, -1)
        expected = np.linalg.slogdet(np.eye(flat.shape[1]) + flat.T @ flat / 0.5)[1]
        np.testing.assert_allclose(total, expected, rtol=1e-10)


def test_the_log_determinant_of_standardised_features_does_not_depend_on_their_units() -> None:
    values = []
    for scale, origin in ((1.0, 0.0), (1000.0, 1e5)):
        log = uniform_log(Lines(scale=scale, origin=origin), 300)
        oracle = Linear(ridge=1.0).oracle(log.contexts, 3)
        summary = oracle.summarise(log)
        values.append(oracle.log_determinants(summary, summary).sum())
    np.testing.assert_allclose(values[1], values[0], rtol=1e-8)


@every_one
def test_a_class_that_is_not_linear_is_refused(learner: AnyRidgeLearner) -> None:
    sentence = rf"model_class is Trees\(\); {type(learner).__name__} needs the confidence widths of a linear"
    with pytest.raises(ValueError, match=sentence):
        type(learner)(model_class=Trees())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ridge": 0.0}, "ridge is 0.0; give a positive number"),
        ({"mixing": 1.0}, "mixing is 1.0; give a share"),
        ({"mixing": -0.1}, "mixing is -0.1"),
        ({"model_class": Linear(ridge=7.0)}, "model_class has 7.0; give"),
        ({"model_class": "linear"}, "model_class is 'linear'"),
        ({"schedule": 100}, "schedule is 100"),
    ],
)
@pytest.mark.parametrize("make", [LinUCB, OFUL, EnlargedLinUCB, LinTS, RegCB])
def test_bad_settings_are_refused_with_their_value(
    make: Callable[..., AnyRidgeLearner], settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        make(**settings)


@pytest.mark.parametrize("make", [LinUCB, OFUL, EnlargedLinUCB, LinTS, RegCB])
def test_a_model_class_that_does_not_fit_the_problem_is_refused_at_the_start(
    make: Callable[..., AnyRidgeLearner],
) -> None:
    with pytest.raises(ValueError, match="no features to share coefficients over"):
        make(model_class=Linear(layout="shared")).start(Problem(["a", "b"], 2))


@every_one
def test_uniform_play_is_mixed_in(learner: AnyRidgeLearner) -> None:
    environment = Lines()
    log = uniform_log(environment, 300)
    plain, mixed = started(learner, environment), started(replace(learner, mixing=0.3), environment)
    plain.learn(log)
    mixed.learn(log)
    before = plain.epoch.policy.probabilities(log.contexts)
    after = mixed.epoch.policy.probabilities(log.contexts)
    np.testing.assert_allclose(after, 0.7 * before + 0.1, rtol=0, atol=1e-12)


@every_one
def test_the_report_says_when_features_are_collinear(learner: AnyRidgeLearner) -> None:
    environment = Lines()
    log = uniform_log(environment, 300)
    x = log.contexts.shared
    twins = Contexts(np.column_stack([x[:, 0], x[:, 0] * (1.0 + 1e-9 * np.arange(300))]))
    small = replace(learner, ridge=1e-9)
    report = small.start(environment.problem, replace(log, contexts=twins)).report
    assert report is not None
    assert report.condition > 1e4
    clean = small.start(environment.problem, log).report
    assert clean is not None
    assert clean.condition < 1e3
    assert clean.notes == ()
