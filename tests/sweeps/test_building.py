"""Learners and environments by name, from plain data and back to it."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gyrfalcon.environments
import gyrfalcon.learners
from gyrfalcon import (
    EpsilonFalcon,
    Falcon,
    Geometric,
    Linear,
    LinUCB,
    Regressor,
    SquareCB,
)
from gyrfalcon.core.epochs import PassiveDesign
from gyrfalcon.environments import LinearEnvironment, StepExample
from gyrfalcon.environments.data.classification import Classification
from gyrfalcon.environments.data.named import NamedSet
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.wrappers import Switching
from gyrfalcon.oracles import Polynomial, StumpHull
from gyrfalcon.sweeps.build import build_environment, build_learner
from gyrfalcon.sweeps.content_key import Keyed, as_text, label_of, settings_digest, settings_of
from gyrfalcon.sweeps.registry import ENVIRONMENTS, LEARNERS
from tests.contracts.learners import PLAIN, WITH_ACTION_FEATURES

ALL = {**PLAIN, **WITH_ACTION_FEATURES}
OURS = {name: one for name, one in ALL.items() if type(one).__module__.startswith("gyrfalcon")}


def _classes_of(package: Any, methods: tuple[str, ...]) -> set[str]:
    """The public classes with these methods that can be made, in all modules of a package."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = [import_module(one.name) for one in found]
    return {
        name
        for module in modules
        for name, one in vars(module).items()
        if isinstance(one, type)
        and one.__module__ == module.__name__
        and not name.startswith("_")
        and not getattr(one, "_is_protocol", False)
        and not getattr(one, "__abstractmethods__", None)
        and all(callable(getattr(one, method, None)) for method in methods)
        and hasattr(one, "__dataclass_fields__")
    }


def test_every_learner_is_registered() -> None:
    assert _classes_of(gyrfalcon.learners, ("start", "next_epoch")) == set(LEARNERS)


def test_every_environment_but_those_of_data_is_registered() -> None:
    assert _classes_of(gyrfalcon.environments, ("draw",)) - {"Classification", "NamedSet"} == set(
        ENVIRONMENTS
    )


@pytest.mark.parametrize("name", ["EpsilonFalcon", "epsilon-falcon", "Epsilon FALCON", "epsilon_falcon"])
def test_a_name_may_be_written_as_people_do(name: str) -> None:
    assert build_learner({"name": name, "epsilon": 0.1}) == EpsilonFalcon(epsilon=0.1)


def test_settings_hold_parts_in_the_same_form() -> None:
    basis = {"name": "Polynomial", "degree": 3}
    settings = {"name": "falcon", "model_class": {"name": "linear", "basis": basis}}
    assert build_learner(settings) == Falcon(model_class=Linear(basis=Polynomial(3)))


@pytest.mark.parametrize("name", OURS)
def test_a_learner_is_built_again_from_its_settings(name: str) -> None:
    settings = json.loads(json.dumps(settings_of(OURS[name])))
    again = build_learner(settings)
    assert again == OURS[name]
    assert settings_of(again) == settings_of(OURS[name])


@pytest.mark.parametrize(
    "environment",
    [
        StepExample(noise=0.2),
        LinearEnvironment(noise="bernoulli"),
        Delayed(StepExample(), mean=3),
        Delayed(StepExample(), mean=2.5, distribution="poisson", missing=(0.0, 1.0), timeout=9),
        Switching((LinearEnvironment(), LinearEnvironment(environment_seed=1)), at=10),
        NamedSet("iris", flip=0.1),
    ],
)
def test_an_environment_is_built_again_from_its_settings(environment: Any) -> None:
    assert build_environment(json.loads(json.dumps(settings_of(environment)))) == environment


@pytest.mark.parametrize("name", ["Ridge", "ridge", "sklearn.linear_model.Ridge"])
def test_regressors_go_by_short_and_whole_names(name: str) -> None:
    settings = {"name": "Regressor", "regressor": {"name": name, "alpha": 0.5}}
    learner = build_learner({"name": "SquareCB", "model_class": settings})
    assert learner.model_class.regressor.name == "sklearn.linear_model.Ridge"
    assert dict(learner.model_class.regressor.params) == {"alpha": 0.5}


def test_data_sets_are_environments_by_their_names() -> None:
    built = build_environment({"name": "Breast-Cancer", "flip": 0.25})
    assert built == NamedSet("breast_cancer", flip=0.25)
    assert label_of(built) == "breast_cancer(flip=0.25)"


def test_a_named_set_draws_what_its_data_do() -> None:
    named = NamedSet("iris", order="iid")
    assert np.array_equal(named.draw(3, 9, 1).contexts.shared, named.data.draw(3, 9, 1).contexts.shared)
    assert named.problem == named.data.problem


def test_other_data_under_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"environment \(iris\): the data set 'iris'.* not 0123; install"):
        build_environment({"name": "iris", "content": "0123"})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("linucbb", r"learner: there is no learner called 'linucbb'; did you mean 'LinUCB'\?"),
        ("zzzz", r"no learner called 'zzzz'; known are 'AdaptiveFalcon', .* and 8 more\."),
        ({"name": "LinUCB", "alhpa": 1.0}, r"learner \(LinUCB\): .*'alhpa'; did you mean 'alpha'\?"),
        ({"name": "LinUCB", "alpha": -1}, r"learner \(LinUCB\): alpha is -1; give a finite number"),
        ({"name": "LinUCB", "alpha": "much"}, r"learner \(LinUCB\): alpha is 'much'; give"),
        ({"alpha": 1.0}, r"learner: there is no name; say which learner it is"),
        ({"name": 3}, r"learner: the name is 3; say which learner"),
        ({"name": "falcon", "model_class": {"name": "Lineer"}}, r"learner\.model_class: .*'Linear'"),
        (
            {"name": "falcon", "model_class": {"name": "Linear", "basis": {"name": "Splines", "degree": 9}}},
            r"learner\.model_class\.basis \(Splines\): degree is 9; give 1 to 5",
        ),
        (
            {"name": "falcon", "schedule": {"name": "KnownHorizon"}},
            r"learner\.schedule \(KnownHorizon\): the setting 'horizon' is missing",
        ),
        (
            {
                "name": "falcon",
                "model_class": {"name": "Regressor", "regressor": {"name": "sklearn.svm.SVX"}},
            },
            r"learner\.model_class\.regressor: sklearn\.svm\.SVX is not a regressor",
        ),
        (LinUCB, r"learner is the class LinUCB; give an object, LinUCB\(\)\."),
        (StepExample(), r"learner is StepExample.*, which has no start and next_epoch; give settings"),
        (7, r"learner is 7, which has no start"),
    ],
)
def test_what_is_no_learner_is_refused_with_its_place(settings: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build_learner(settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            "StepExampel",
            r"environment: there is no environment called 'StepExampel'; did you mean 'StepExample'\?",
        ),
        ("digit", r"no environment called 'digit'; did you mean 'digits'"),
        ({"name": "iris", "flop": 1}, r"environment \(iris\): .*'flop'; did you mean 'flip'\?"),
        ({"name": "iris", "flip": 3}, r"environment \(iris\): flip is 3; give a number from 0 to 1\."),
        ({"name": "keel/wien"}, r"environment \(keel/wien\): there is no data set 'keel/wien'; .*\?$"),
        (
            {"name": "Delayed", "environment": {"name": "StepExmple"}, "mean": 1},
            r"environment\.environment: .*'StepExample'",
        ),
        (
            {"name": "Switching", "environments": [{"name": "iris"}, {"name": "Liner"}]},
            r"environment\.environments\[1\]: ",
        ),
        (LinUCB(), r"environment is LinUCB.*, which has no draw"),
    ],
)
def test_what_is_no_environment_is_refused_with_its_place(settings: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build_environment(settings)


def test_a_whole_number_is_a_float_where_that_is_meant() -> None:
    one, other = LinUCB(alpha=2), LinUCB(alpha=2.0)
    assert as_text(settings_of(one)) == as_text(settings_of(other))
    assert label_of(one) == label_of(other) == "LinUCB(alpha=2.0)"
    assert settings_of(EpsilonFalcon(tau_1=50))["tau_1"] == 50
    assert label_of(LinUCB(alpha=np.float64(0.3), ridge=np.int64(2))) == "LinUCB(alpha=0.3, ridge=2.0)"  # type: ignore[arg-type]


def test_labels_have_what_is_not_the_default() -> None:
    assert label_of(LinUCB(alpha=0.3)) == "LinUCB(alpha=0.3)"
    assert (
        label_of(EpsilonFalcon(passive_design=PassiveDesign.COIN)) == "EpsilonFalcon(passive_design='coin')"
    )
    assert label_of(Falcon(schedule=Geometric(ratio=1.5))) == "Falcon(schedule=Geometric(ratio=1.5))"
    stumps = SquareCB(model_class=Regressor(StumpHull(budget=2.0)))
    assert label_of(stumps) == "SquareCB(model_class=Regressor(regressor=gyrfalcon.StumpHull(budget=2.0)))"


def test_all_learners_of_the_contract_suite_have_contents_and_labels_of_their_own() -> None:
    assert len({settings_digest(settings_of(one)) for one in ALL.values()}) == len(
        set(map(repr, ALL.values()))
    )
    assert len({label_of(one) for one in ALL.values()}) == len(set(map(repr, ALL.values())))


@given(st.sampled_from([field.name for field in fields(LinUCB)][:3]), st.floats(0.01, 0.99))
def test_any_other_value_of_a_setting_is_another_content(setting: str, value: float) -> None:
    settings: dict[str, Any] = {setting: value}
    changed = replace(LinUCB(), **settings)
    assert settings_of(changed)[setting] == value
    assert settings_digest(settings_of(changed)) != settings_digest(settings_of(LinUCB()))


class _Worldly:
    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return StepExample().draw(start, stop, seed)


@dataclass(frozen=True)
class Tabular(_Worldly):
    means: Any
    name: str = "table"


class Described(_Worldly):
    def __init__(self, level: Any) -> None:
        self.level = level

    def __repr__(self) -> str:
        return f"Described({self.level!r})"


def test_a_dataclass_of_ones_own_is_known_by_its_fields() -> None:
    one, same = Tabular(np.arange(4.0)), Tabular(np.arange(4.0))
    assert settings_of(one) == settings_of(same)
    for other in (Tabular(np.arange(5.0)), Tabular(np.arange(4)), Tabular(np.arange(4.0).reshape(2, 2))):
        assert settings_of(one) != settings_of(other)
    assert settings_of(one)["name"] == f"{__name__}.Tabular"
    assert label_of(one).startswith(f"{__name__}.Tabular(means=array(")


def test_a_class_of_ones_own_is_known_by_its_repr() -> None:
    assert settings_of(Described(3)) == settings_of(Described(3)) != settings_of(Described(4))
    assert label_of(Described(3)) == "Described(3)"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (_Worldly(), r"as its repr is an address in memory; make _Worldly a frozen dataclass, or wrap"),
        (Described(_Worldly()), r"as its repr is an address in memory"),
        (Described(np.arange(5000)), r"as its repr is cut short"),
        (Tabular(lambda x: x), r"<lambda> has no name that would be the same in the next program"),
        (Tabular(partial(np.sum, axis=0)), r"Keyed\(object, key="),
    ],
)
def test_what_has_no_stable_content_is_refused_with_what_to_do(value: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        settings_of(value)


def test_a_key_stands_for_what_has_no_content() -> None:
    assert settings_of(Keyed(_Worldly(), "mine 1")) == {"key": "mine 1"}
    assert label_of(Keyed(_Worldly(), "mine 1")) == "mine 1"
    with pytest.raises(ValueError, match=r"key is ' '; give a name"):
        Keyed(_Worldly(), " ")


def test_data_handed_over_are_known_by_their_content() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    one, other = Classification(rows, [0, 1, 1]), Classification(rows, [0, 1, 0])
    assert settings_of(one) == settings_of(Classification(rows.copy(), [0, 1, 1])) != settings_of(other)


def test_plain_values_of_all_kinds_have_one_text() -> None:
    values = {"b": (1, 2.5, None, True, float("inf")), "a": {2, 1}, "c": b"\x00", "d": PassiveDesign.COIN}
    text = as_text(settings_of(values))
    assert text == as_text(settings_of(dict(reversed(values.items()))))
    assert json.loads(text)["mapping"][1][1] == [1, 2.5, None, True, {"float": "inf"}]
    assert as_text(True) != as_text(1)
