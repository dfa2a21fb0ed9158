"""Regressors in files and on their way to other processes."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.regressors.fitted import FittedRegressor, RegressorModel, accepting_refits
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from gyrfalcon.storage import files
from tests.oracles.regressions import fitted, two_logs


def test_fitted_models_can_be_sent_to_other_processes() -> None:
    # Only between processes of one program: files hold no pickle.
    active, passive = two_logs(0, p=1)
    for regressor in (DecisionTreeRegressor(), KernelRidge(kernel="rbf"), SVR()):
        model, _, scores = fitted(Regressor(regressor), active, passive, 0.1)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).scores(active.contexts), scores)


BANDITS = {
    "tree": Regressor(DecisionTreeRegressor(max_depth=3)),
    "forest": Regressor(RandomForestRegressor(n_estimators=3, max_depth=3)),
    "kernel ridge": Regressor(KernelRidge(kernel="rbf", alpha=1.0)),
    "stumps": Regressor(StumpHull(budget=1.0)),
    "lasso": Regressor(Lasso(alpha=0.001)),
}


def played(bandit: Bandit, rng: np.random.Generator, n: int) -> list[tuple[object, float]]:
    seen: list[tuple[object, float]] = []
    for _ in range(n):
        x = float(rng.random())
        decision = bandit.decide({"x": x}, event_id=repr(x))  # a loaded bandit would make another id
        seen.append((decision.action, decision.propensity))
        bandit.reward(decision.event_id, float(x > 0.5) if decision.action == "a" else 0.5)
    return seen


@pytest.mark.parametrize("name", BANDITS)
def test_a_bandit_is_stored_in_mid_run_and_goes_on_alike(name: str, tmp_path: Path) -> None:
    learner = EpsilonFalcon(model_class=BANDITS[name], tau_1=20, epsilon=0.2)
    bandit = Bandit(learner=learner, actions=["a", "b"], features=["x"], seed=1)
    played(bandit, np.random.default_rng(0), 70)
    bandit.save(tmp_path / "bandit")
    assert b"pickle" not in (tmp_path / "bandit").read_bytes()
    again = Bandit.load(tmp_path / "bandit")
    one, other = (played(this, np.random.default_rng(1), 60) for this in (bandit, again))
    assert one == other


def stored_regressor(tmp_path: Path) -> FittedRegressor:
    active, passive = two_logs(0, p=2)
    model = fitted(Regressor(DecisionTreeRegressor(max_depth=3)), active, passive, 0.01)[0]
    first = model.regressors[0]
    assert isinstance(first, FittedRegressor)
    files.save(tmp_path / "model", first)
    back = files.load(tmp_path / "model")
    assert isinstance(back, FittedRegressor)
    assert np.array_equal(back.predict(passive.contexts.shared), first.predict(passive.contexts.shared))
    return back


def test_a_regressor_that_predicts_otherwise_after_loading_is_refused(tmp_path: Path) -> None:
    back = stored_regressor(tmp_path)
    assert back.probe is not None
    with pytest.raises(
        ValueError, match=r"fitted again by sklearn .* does not predict what it did when sklearn"
    ):
        replace(back, probe=back.probe + 1e-3)
    replace(back, probe=back.probe + 1e-12)
    with accepting_refits():
        accepted = replace(back, probe=back.probe + 1e-3)
    assert accepted.probe is not None
    assert np.array_equal(accepted.probe, back.probe)


def test_a_bandit_whose_regressor_comes_out_otherwise_loads_if_it_may(tmp_path: Path) -> None:
    learner = EpsilonFalcon(model_class=BANDITS["tree"], tau_1=20, epsilon=0.2)
    bandit = Bandit(learner=learner, actions=["a", "b"], features=["x"], seed=1)
    played(bandit, np.random.default_rng(0), 70)
    state = fitted_state(bandit.epoch)
    assert isinstance(state.model, RegressorModel)
    for regressor in state.model.regressors:
        assert regressor is not None
        assert regressor.probe is not None
        regressor.probe[0] += 0.5  # as if another version had fitted it
    bandit.save(tmp_path / "bandit")
    with pytest.raises(ValueError, match=r"bandit is intact, but sklearn.*accept_refits=True"):
        Bandit.load(tmp_path / "bandit")
    again = Bandit.load(tmp_path / "bandit", accept_refits=True)
    one, other = (played(this, np.random.default_rng(1), 40) for this in (bandit, again))
    assert one == other
