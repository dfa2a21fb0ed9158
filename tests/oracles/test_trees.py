"""Trees as features: honest about the rows that they were grown on, and the same in any batch."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.model_classes import parsed_classes
from gyrfalcon.oracles.linear.models import LinearModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.regressors.forest_features import ForestMap, dealt, grown
from gyrfalcon.oracles.regressors.prediction import FittedEstimator, predictions_of


def corners(x: Floats) -> Floats:
    """(n, 3): expected rewards that jump at the axes, as no line does."""
    inside = (x[:, 0] > 0.0) ^ (x[:, 1] > 0.0)
    return np.stack([inside * 1.0, 1.0 - inside, np.full(len(x), 0.3)], axis=1)


def rows_of(n: int, seed: int = 0, *, noise: float = 0.1, n_actions: int = 3) -> Log:
    rng = np.random.default_rng(seed)
    x, action = rng.uniform(-1.0, 1.0, size=(n, 4)), rng.integers(0, n_actions, n)
    reward = corners(x)[np.arange(n), action] + noise * rng.normal(size=n)
    zeros, ones = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    return Log(Contexts(x), action, reward, np.full(n, 1.0 / 3.0), zeros, np.arange(n), ones)


def fitted(rows: Log, n_actions: int = 3) -> ClassFit:
    """The fit to columns of trees that are grown on these rows."""
    trees, columns = grown(rows, n_actions)
    penalties = Penalties.start((1, trees.n_features - n_actions, n_actions))
    return ClassFit.of(trees, n_actions, penalties).with_columns(columns, rows).refitted()


def model_of(rows: Log, n_actions: int = 3) -> LinearModel:
    model = fitted(rows, n_actions).model
    assert model is not None
    return model


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("n", [1, 7, 300])
def test_forests_asked_tree_by_tree_say_what_they_say_together(kind: type, n: int) -> None:
    rng = np.random.default_rng(3)
    forest: FittedEstimator = kind(11, random_state=0).fit(rng.normal(size=(200, 5)), rng.random(200))
    x = 3.0 * rng.normal(size=(n, 5))
    assert np.array_equal(predictions_of(forest, x), forest.predict(x))


def test_rewards_that_jump_are_predicted_where_a_line_can_not() -> None:
    new = np.random.default_rng(9).uniform(-1.0, 1.0, size=(1_000, 4))
    error = model_of(rows_of(2_000)).scores(Contexts(new)) - corners(new)
    # The variance of the jumps is 0.25, which is what is left of them by a line; trees left 0.005 to 0.007.
    assert float((error[:, :2] ** 2).mean()) < 0.02


def test_rows_are_not_known_by_heart() -> None:
    fit = fitted(rows_of(600, noise=1.0))
    # Trees with leaves of 2 rows would leave a fifth of the noise on rows that they know.
    assert fit.penalties.noise > 0.8
    new = rows_of(4_000, seed=1, noise=1.0)
    predictions = fit.predictions(new)
    assert predictions is not None
    errors = new.reward - predictions.estimates
    assert predictions.noise == pytest.approx(float((errors**2).mean()), rel=0.2)


def test_the_columns_of_rows_are_what_trees_of_other_rows_predict() -> None:
    rows = rows_of(400)
    trees, columns = grown(rows, 3)
    halves = dealt(rows)
    counts = [np.bincount(rows.action[half], minlength=3) for half in (halves, ~halves)]
    assert np.abs(counts[0] - counts[1]).max() <= 1
    asked = trees.expand(rows.contexts.shared)
    assert columns.shape == (400, 1 + 4 + 3)
    assert np.array_equal(columns[:, 0], np.ones(400))
    np.testing.assert_allclose(columns[:, 1:5], asked[:, :4])
    # The forest of all rows knows their rewards; that of the other half does not.
    own = np.arange(400), rows.action
    by_heart, honest = (((rows.reward - one[own]) ** 2).mean() for one in (asked[:, 4:], columns[:, 5:]))
    assert honest > 1.5 * by_heart
    fit = ClassFit.of(trees, 3, Penalties.start((1, 4, 3))).with_columns(columns, rows)
    for action in range(3):
        mine = columns[rows.action == action]
        np.testing.assert_allclose(fit.rows.gram[action], mine.T @ mine, rtol=1e-10)
    assert fit.n == 400.0


def test_a_row_has_the_same_prediction_alone_and_in_any_batch() -> None:
    model, x = model_of(rows_of(500)), np.random.default_rng(2).normal(size=(50, 4))
    together = model.scores(Contexts(x))
    alone = np.concatenate([model.scores(Contexts(x[place : place + 1])) for place in range(len(x))])
    assert np.array_equal(together, alone)


def test_the_same_rows_and_seed_grow_the_same_trees_and_another_seed_others() -> None:
    rows, x = rows_of(300), np.random.default_rng(2).normal(size=(50, 4))
    one, again, other = (grown(rows, 3, seed=seed)[0].expand(x) for seed in (4, 4, 5))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_actions_without_rows_are_no_obstacle() -> None:
    model = model_of(rows_of(300, n_actions=2), 5)
    assert model.known is not None
    assert model.known.tolist() == [True, True, False, False, False]
    assert np.isfinite(model.scores(Contexts(np.zeros((3, 4))))).all()


def test_one_row_of_an_action_is_no_obstacle() -> None:
    rows = rows_of(300, n_actions=2)
    alone = Log.concat(
        (rows, rows_of(40, seed=5).where(rows_of(40, seed=5).action == 2).take(slice(0, 1))), 3
    )
    assert np.isfinite(model_of(alone).scores(Contexts(np.zeros((3, 4))))).all()


def test_trees_join_auto_by_a_name_of_their_own() -> None:
    assert parsed_classes("auto_trees").names == ("linear", "mixed", "trees", "logistic")
    assert parsed_classes(["linear", "trees"]).names == ("linear", "trees")
    with pytest.raises(
        ValueError, match="names 'auto_tree', which is no model class: did you mean 'auto_trees'"
    ):
        parsed_classes("auto_tree")


def test_trees_need_no_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    assert parsed_classes("auto_trees").names == ("linear", "mixed", "trees", "logistic")
    assert np.isfinite(model_of(rows_of(300)).scores(Contexts(np.zeros((2, 4))))).all()


def test_many_rows_have_the_columns_of_few() -> None:
    trees, x = grown(rows_of(2_500), 3)[0], np.random.default_rng(2).normal(size=(2_500, 4))
    parts = [trees.expand(x[start : start + 700]) for start in range(0, 2_500, 700)]
    assert isinstance(trees, ForestMap)
    assert np.array_equal(trees.expand(x), np.concatenate(parts))
    assert trees.expand(x[:0]).shape == (0, 7)
    assert np.array_equal(trees.expand(x[5]), trees.expand(x)[5])


def test_a_row_of_each_action_is_enough_not_to_fail() -> None:
    rows = rows_of(40)
    few = Log.concat([rows.where(rows.action == action).take(slice(0, 1)) for action in range(3)], 3)
    assert np.isfinite(model_of(few).scores(Contexts(np.zeros((2, 4))))).all()
