"""Environments show in one line what was changed from the defaults."""

from __future__ import annotations

import pytest

from gyrfalcon.environments import (
    BumpEnvironment,
    Delayed,
    Drifting,
    EligibilityEnvironment,
    LinearEnvironment,
    StepExample,
    Switching,
)
from gyrfalcon.registry import Entry, entries_of


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        (StepExample(), "StepExample()"),
        (StepExample(0.2), "StepExample(noise=0.2)"),
        (LinearEnvironment(noise="bernoulli"), "LinearEnvironment(noise='bernoulli')"),
        (BumpEnvironment(radius=0.2, n_actions=5), "BumpEnvironment(n_actions=5, radius=0.2)"),
        (Delayed(StepExample(), mean=3), "Delayed(environment=StepExample(), mean=3)"),
        (
            Switching((LinearEnvironment(), LinearEnvironment(environment_seed=1)), at=10),
            "Switching(environments=(LinearEnvironment(), LinearEnvironment(environment_seed=1)), at=10)",
        ),
        (
            Drifting(LinearEnvironment(), LinearEnvironment(), start=1, stop=2),
            "Drifting(before=LinearEnvironment(), after=LinearEnvironment(), start=1, stop=2)",
        ),
        (
            EligibilityEnvironment(environment=StepExample()),
            "EligibilityEnvironment(environment=StepExample())",
        ),
    ],
)
def test_an_environment_shows_what_was_changed(environment: object, text: str) -> None:
    assert repr(environment) == text


@pytest.mark.parametrize("entry", entries_of("environment"), ids=lambda entry: entry.name)
def test_every_environment_has_a_short_representation_of_its_own(entry: Entry) -> None:
    assert entry.load().__repr__ is not object.__repr__
    if entry.name not in ("Delayed", "Switching", "Drifting", "EligibilityEnvironment"):
        assert repr(entry.load()()) == f"{entry.name}()"
