"""Learners and model classes as constructor calls with the settings that were changed."""

from __future__ import annotations

import pytest

import gyrfalcon
from gyrfalcon.core.schedules import Doubling
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.sweeps.registry import LEARNERS


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_with_its_defaults_is_its_name(name: str) -> None:
    assert repr(LEARNERS[name]()) == f"{name}()"


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (LinUCB(alpha=0.3, ridge=1.0), "LinUCB(alpha=0.3)"),
        (AdaptiveFalcon(classes=["linear"]), "AdaptiveFalcon(classes=['linear'])"),
        (EpsilonFalcon(schedule=Doubling(8)), "EpsilonFalcon(schedule=Doubling(first=8))"),
        (LinUCB(model_class=Linear(standardise=False)), "LinUCB(model_class=Linear(standardise=False))"),
        (LinUCB(alpha=1), "LinUCB(alpha=1)"),
    ],
    ids=str,
)
def test_a_repr_has_what_was_changed_and_makes_an_equal_learner(learner: Learner, text: str) -> None:
    assert repr(learner) == text
    assert eval(text, vars(gyrfalcon) | {"Doubling": Doubling, "Linear": Linear, **LEARNERS}) == learner


def test_parts_are_short_as_well() -> None:
    assert repr(Linear()) == "Linear()"
    assert "ridge=2.0" in repr(Linear(basis=Polynomial(2), ridge=2.0))
