"""Regressors as values: what can be named comes back, and nothing foreign is imported."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.oracles.regressors.spec import Estimator, class_named, estimator_of
from gyrfalcon.oracles.stump_hull.regressor import StumpHull


class Mean(BaseEstimator):  # type: ignore[misc]
    """A regressor of one's own: the weighted mean."""

    def __init__(self, shrinkage: float = 0.0) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Mean:
        self.mean_ = np.average(y, weights=sample_weight) * (1.0 - self.shrinkage)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


REGRESSORS = [
    Ridge(alpha=0.5),
    Lasso(alpha=np.float64(0.25)),
    KernelRidge(kernel="rbf", gamma=2.0),
    HistGradientBoostingRegressor(max_iter=7),
    MLPRegressor(hidden_layer_sizes=[4, 3]),
    BaggingRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3),
    AdaBoostRegressor(BaggingRegressor(Ridge(alpha=2.0))),
    StumpHull(budget=3.0),
    Mean(shrinkage=0.1),
]


@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda one: type(one).__name__)
def test_a_regressor_comes_back_with_its_parameters(regressor: Any) -> None:
    estimator = estimator_of(regressor)
    assert hash(estimator) == hash(estimator_of(regressor))
    again = estimator.built()
    assert type(again) is type(regressor)
    assert estimator_of(again) == estimator
    assert estimator_of(estimator) is estimator


def test_the_name_is_the_public_one_and_only_changed_parameters_are_kept() -> None:
    assert repr(estimator_of(Ridge(alpha=0.5))) == "sklearn.linear_model.Ridge(alpha=0.5)"
    nested = "sklearn.ensemble.BaggingRegressor(estimator=sklearn.linear_model.Ridge())"
    assert repr(estimator_of(BaggingRegressor(Ridge()))) == nested
    assert estimator_of(Mean(shrinkage=0.1)).name == f"{__name__}.Mean"


def test_files_know_our_own_regressors_by_a_name_that_no_module_has_to_offer() -> None:
    assert estimator_of(StumpHull(budget=2.0)).name == "gyrfalcon.StumpHull"
    assert class_named("gyrfalcon.StumpHull") is StumpHull
    assert class_named("gyrfalcon.oracles.StumpHull") is StumpHull


def test_the_seed_stands_in_for_a_random_state_that_is_not_set() -> None:
    tree = estimator_of(DecisionTreeRegressor())
    assert tree.built(seed=5).random_state == 5
    assert estimator_of(DecisionTreeRegressor(random_state=3)).built(seed=5).random_state == 3
    assert not hasattr(estimator_of(KernelRidge()).built(seed=5), "random_state")


@pytest.mark.parametrize(
    ("regressor", "message"),
    [
        (
            KNeighborsRegressor(),
            r"KNeighborsRegressor\.fit takes no sample_weight.*choose a regressor that does",
        ),
        (make_pipeline(StandardScaler(), Ridge()), r"Pipeline\.fit takes no sample_weight"),
        (Ridge, r"the regressor is <class .*; give an object with fit and predict"),
        ("ridge", r"the regressor is 'ridge'; give an object"),
        (RandomForestClassifier(), r"RandomForestClassifier predicts classes or clusters, not rewards"),
        (LogisticRegression(), r"LogisticRegression predicts classes"),
        (KMeans(), r"KMeans predicts classes or clusters"),
        (KernelRidge(kernel=lambda x, y: x @ y), r"KernelRidge has kernel=<function.*can't be stored"),
        (Estimator("sklearn.linear_model.Rigde"), r"sklearn.linear_model.Rigde is not a regressor"),
    ],
)
def test_what_can_not_be_used_is_refused_with_a_sentence(regressor: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimator_of(regressor)


def test_a_class_inside_a_function_is_refused_because_no_file_could_find_it() -> None:
    class Hidden(Mean):
        pass

    with pytest.raises(ValueError, match=r"Hidden can't be found again.*define it at the top of a module"):
        estimator_of(Hidden())


@pytest.mark.parametrize(
    "name", ["os.system", "subprocess.Popen", "builtins.eval", "sklearn.linear_model.np", "Ridge", "", "."]
)
def test_a_file_can_not_name_anything_but_a_regressor(name: str) -> None:
    with pytest.raises(ValueError, match="is not a regressor"):
        class_named(name)


def test_a_file_can_not_bring_a_cache_that_is_read_with_pickle() -> None:
    pipeline = Estimator("sklearn.pipeline.Pipeline", (("memory", "anywhere"), ("steps", ())))
    with pytest.raises(ValueError, match="memory='anywhere', a cache on disk"):
        Estimator("sklearn.ensemble.BaggingRegressor", (("estimator", pipeline),)).built(0)
    bare = Estimator("sklearn.pipeline.Pipeline", (("steps", ()),))
    with pytest.raises(ValueError, match=r"Pipeline.fit takes no sample_weight"):
        Estimator("sklearn.ensemble.BaggingRegressor", (("estimator", bare),)).built(0)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        estimator_of(Estimator("sklearn.neighbors.KNeighborsRegressor"))


@pytest.mark.parametrize(
    ("regressor", "is_convex"),
    [
        (KernelRidge(kernel="rbf"), True),
        (KernelRidge(kernel="sigmoid"), False),
        (IsotonicRegression(), True),
        (IsotonicRegression(increasing=False), True),
        (IsotonicRegression(increasing="auto"), False),
        (StumpHull(), True),
        (DecisionTreeRegressor(), False),
    ],
)
def test_convexity_is_a_matter_of_parameters_too(regressor: Any, is_convex: bool) -> None:
    assert estimator_of(regressor).is_convex is is_convex


def test_threads_fits_in_place_and_scores_that_are_not_there_are_put_right() -> None:
    assert estimator_of(RandomForestRegressor(n_jobs=2)).params == ()
    assert estimator_of(Ridge(copy_X=False)).params == ()
    assert estimator_of(IsotonicRegression()).built().out_of_bounds == "clip"


def test_regressors_within_regressors_get_the_seed_as_well() -> None:
    wrapped = BaggingRegressor(RandomForestRegressor(n_estimators=3))
    assert estimator_of(wrapped).built(seed=4).estimator.random_state == 4


def test_a_file_can_not_make_a_program_import_a_module() -> None:
    assert "antigravity" not in sys.modules
    with pytest.raises(ValueError, match="import its module first"):
        class_named("antigravity.Anything")
    assert "antigravity" not in sys.modules
    for name in (
        "sklearn.conftest.Ridge",
        "sklearn.tests.Ridge",
        "sklearn.externals.Ridge",
        "gyrfalcon.cli.x.Y",
    ):
        with pytest.raises(ValueError, match="import its module first"):
            class_named(name)
    assert "sklearn.conftest" not in sys.modules


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ValueError, match=r"needs sklearn\.no_such_part, which is not installed"):
        class_named("sklearn.no_such_part.Ridge")
