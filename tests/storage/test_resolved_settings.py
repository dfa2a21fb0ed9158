"""Files say what was played: settings are values, and None only where it switches something off."""

from __future__ import annotations

import inspect
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gyrfalcon import Bandit
from gyrfalcon.bandit.learner_changes import LaterLearner
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.resolved_settings import resolved
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.registry import ENTRIES
from tests.contracts.environments import Lines, started, uniform_log

OWN = [Linear(basis=Polynomial(degree=2))]
LEARNERS: dict[str, Learner] = {
    **{entry.name: entry.load()() for entry in ENTRIES if (entry.id or "").startswith("learner/")},
    "paper": EpsilonFalcon(constants="paper"),
    "short": EpsilonFalcon(schedule=FixedBatch(30)),
    "regressor": EpsilonFalcon(model_class=Regressor(Ridge()), schedule=FixedBatch(30)),
    "classes": AdaptiveFalcon(classes=["linear", *OWN]),
    "last epoch": AdaptiveFalcon(data="last_epoch"),
}
SWITCHED_OFF = {
    "learner/adaptive-falcon": {"half_life"},
    "learner/epsilon-falcon": {"tau_1"},
    "learner/falcon": {"class_size"},
    "learner/limited": {"control"},
    "learner/squarecb": {"horizon"},
    "schedule/geometric": {"longest"},
    "bandit/reward-rules": {"reward_timeout", "default_reward"},
}
FOLLOWS_DATA = {
    "learner/epsilon-falcon": {"comp"},
    "learner/falcon-plus": {"comp"},
    "learner/squarecb": {"comp"},
    "model-class/regressor": {"complexity"},
}
KINDS = ("learner", "model-class", "schedule", "basis", "bandit/reward-rules")


def fields_of(tree: object) -> Iterator[tuple[str, str, object]]:
    """Class id, field and value of all values of classes in a manifest."""
    match tree:
        case {"class": str(found), "fields": dict(parts)}:
            for name, part in parts.items():
                yield found, name, part
                yield from fields_of(part)
        case dict():
            for part in tree.values():
                yield from fields_of(part)
        case list():
            for part in tree:
                yield from fields_of(part)


def played(learner: Learner) -> Bandit:
    rng = np.random.default_rng(1)
    bandit = Bandit(["a", "b", "c"], learner=learner, features=2, seed=1)
    for _ in range(120):
        decision = bandit.decide(rng.normal(size=2))
        bandit.reward(decision.event_id, float(decision.action == "a"))
    return bandit


def manifest_of(bandit: Bandit, path: Path) -> dict[str, Any]:
    bandit.save(path)
    with zipfile.ZipFile(path) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return manifest


@pytest.mark.parametrize("name", LEARNERS)
def test_a_setting_is_null_only_where_that_says_something(name: str, tmp_path: Path) -> None:
    manifest = manifest_of(played(LEARNERS[name]), tmp_path / "bandit")
    nulls = {
        (found, field)
        for found, field, value in fields_of(manifest["value"])
        if value is None and found.startswith(KINDS)
    }
    tables = (SWITCHED_OFF, FOLLOWS_DATA)
    assert nulls <= {(found, field) for table in tables for found in table for field in table[found]}


@pytest.mark.parametrize("found", sorted({*SWITCHED_OFF, *FOLLOWS_DATA}))
def test_what_none_says_is_documented(found: str) -> None:
    cls = next(entry.load() for entry in ENTRIES if entry.id == found)
    for field in SWITCHED_OFF.get(found, set()) | FOLLOWS_DATA.get(found, set()):
        lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
        names = [line.partition(" : ")[0].replace(" ", "").split(",") for line in lines]
        place = next(row for row, listed in enumerate(names) if field in listed)
        text = " ".join(lines[place : place + 6])
        assert "None" in text or "optional" in text, field


@pytest.mark.parametrize("name", LEARNERS)
def test_the_learner_of_a_file_decides_as_the_one_that_was_given(name: str) -> None:
    environment = Lines()
    log, contexts = uniform_log(environment, 200), environment.draw(0, 50, seed=3).contexts
    given, stored = LEARNERS[name], resolved(LEARNERS[name], environment.problem)
    tables = []
    for learner in (given, stored):
        play = started(learner, environment)
        play.learn(log)
        tables.append((play.epoch.stop, play.epoch.policy.probabilities(contexts)))
    assert tables[0][0] == tables[1][0]
    assert np.array_equal(tables[0][1], tables[1][1])
    assert resolved(stored, environment.problem) is stored


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (EpsilonFalcon(), EpsilonFalcon(c_gamma=5.0)),
        (EpsilonFalcon(tau_1=100), EpsilonFalcon(epsilon=0.1)),
        (AdaptiveFalcon(), AdaptiveFalcon(bonus=2.0)),
        (AdaptiveFalcon(classes=OWN), AdaptiveFalcon(classes=OWN, bonus=2.0)),
    ],
)
def test_a_loaded_bandit_goes_on_from_its_fits_with_another_exploration(
    before: Learner, after: Learner, tmp_path: Path
) -> None:
    played(before).save(tmp_path / "bandit")
    bandit = Bandit.load(tmp_path / "bandit")
    bandit.change_learner(after)
    assert not isinstance(bandit._live.engine.learner, LaterLearner)


def test_the_layout_follows_the_features_of_actions() -> None:
    problem = Lines(n_action_features=2).problem
    learner = resolved(EpsilonFalcon(), problem)
    assert isinstance(learner, EpsilonFalcon)
    assert isinstance(learner.model_class, Linear)
    assert learner.model_class.layout == "shared"
