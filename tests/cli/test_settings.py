from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.cli._parsing import completed, typed_settings, typed_value, whole_number
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.sweeps.build import build_learner


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.3", 0.3),
        (".3", 0.3),
        ("-.5", -0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("False", False),
        ("None", None),
        ("all", "all"),
        ('"all"', "all"),
        ("last_epoch", "last_epoch"),
        ("[1, 2]", [1, 2]),
        ("{name = 'Doubling', first = 8}", {"name": "Doubling", "first": 8}),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
    ],
)
def test_values_are_read_as_people_type_them(text: str, value: Any) -> None:
    read = typed_value(text)
    assert read == value
    assert type(read) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_comes_back(value: float) -> None:
    assert typed_value(repr(value)) == value


@given(st.integers())
def test_every_whole_number_comes_back(value: int) -> None:
    assert whole_number(str(value)) == value


@pytest.mark.parametrize("text", ["1.5", "ten", "", "nan", "inf", "1e400"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        whole_number(text)


def test_parts_are_laid_over_the_defaults_own() -> None:
    settings = completed(typed_settings(["schedule.first=50"], "--set"), Greedy)
    assert build_learner({"name": "Greedy", **settings}) == Greedy(
        schedule=type(Greedy().schedule)(first=50, ratio=1.5)  # type: ignore[call-arg]
    )


def test_a_part_that_names_itself_replaces_the_default() -> None:
    settings = completed(typed_settings(["schedule.name=Doubling", "schedule.first=8"], "--set"), LinUCB)
    assert settings == {"schedule": {"name": "Doubling", "first": 8}}


def test_parts_of_parts_can_be_set() -> None:
    texts = ["model_class.basis.name=Polynomial", "model_class.basis.degree=3", "epsilon=.1"]
    settings = completed(typed_settings(texts, "--set"), EpsilonFalcon)
    learner = build_learner({"name": "EpsilonFalcon", **settings})
    assert learner.epsilon == 0.1
    assert learner.model_class.basis.degree == 3


@pytest.mark.parametrize(
    "texts", [["alpha"], ["=3"], ["a..b=1"], ["a=1", "a=2"], ["a=1", "a.b=2"], ["a.b=1", "a=2"]]
)
def test_what_is_no_setting_or_stands_twice_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="--set"):
        typed_settings(texts, "--set")
