from __future__ import annotations

from inspect import getdoc, signature

import pytest

from gyrfalcon.cli._describe import Setting, describe, short
from gyrfalcon.core.schedules import Geometric
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.sweeps.registry import ENVIRONMENTS, LEARNERS
from tests.cli.terminal import WIDTH, invoke, numbers, refusal


def test_every_learner_is_listed_in_a_line_of_its_own() -> None:
    text = invoke("learners").stdout
    assert all(f"\n {name} " in text for name in LEARNERS)
    assert max(map(len, text.splitlines())) <= WIDTH


def test_every_environment_is_listed_and_data_sets_are_named() -> None:
    text = invoke("learners", "--environments").stdout
    assert all(f"\n {name} " in text for name in ENVIRONMENTS)
    assert "digits" in text
    assert "letter" in numbers("learners", "--environments")["data_sets"]


def test_machines_get_names_and_lines() -> None:
    listed = numbers("learners")["learners"]
    assert [one["name"] for one in listed] == list(LEARNERS)
    assert all(one["summary"].endswith(".") for one in listed)


@pytest.mark.parametrize("name", [*LEARNERS, *ENVIRONMENTS])
def test_every_setting_has_a_meaning_which_help_says_as_well(name: str) -> None:
    maker = {**LEARNERS, **ENVIRONMENTS}[name]
    description, text = describe(name, maker), " ".join((getdoc(maker) or "").split())
    assert all(setting.meaning and setting.meaning in text for setting in description.settings)
    assert description.summary in text


@pytest.mark.parametrize(
    "name", [name for name, maker in ENVIRONMENTS.items() if "noise" in signature(maker).parameters]
)
def test_noise_is_said_to_be_bernoulli_just_where_it_may_be(name: str) -> None:
    (meaning,) = (one.meaning for one in describe(name, ENVIRONMENTS[name]).settings if one.name == "noise")
    try:
        ENVIRONMENTS[name](noise="bernoulli")
    except (ValueError, TypeError):
        assert "bernoulli" not in meaning
    else:
        assert "bernoulli" in meaning


@pytest.mark.parametrize("spelling", ["EpsilonFalcon", "epsilon-falcon", "Epsilon FALCON"])
def test_the_settings_of_one_are_shown_however_its_name_is_written(spelling: str) -> None:
    told = numbers("learners", spelling)
    settings = {setting["name"]: setting for setting in told["settings"]}
    assert told["name"] == "EpsilonFalcon"
    assert settings["delta"]["default"] == "0.05"
    assert settings["epsilon"]["meaning"].startswith("Passive share")
    assert settings["data"]["meaning"] == settings["passive_data"]["meaning"]


def test_a_setting_without_a_default_is_required() -> None:
    assert "required" in invoke("learners", "Delayed").stdout


def test_a_data_set_has_settings_too() -> None:
    told = numbers("learners", "digits")
    assert [setting["name"] for setting in told["settings"]] == ["standardise", "clip", "order", "flip"]


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    result = invoke("learners", "Epsilonfalcn")
    assert result.exit_code == 2
    assert "EpsilonFalcon" in refusal(result)


def test_defaults_are_as_one_would_write_them() -> None:
    assert short(Geometric(100, 1.5)) == "Geometric(first=100, ratio=1.5)"
    assert short(Linear()) == "Linear()"
    assert short(Linear(basis=Polynomial(degree=3))).startswith("Linear(basis=Polynomial(degree=3")


def test_a_function_can_be_described() -> None:
    def environment(size: int, noise: float = 0.5) -> None:
        """An environment of its own.

        Parameters
        ----------
        size
            How large it is.
        """

    description = describe("environment", environment)
    assert description.summary == "An environment of its own."
    assert description.settings[0] == Setting("size", None, "How large it is.")
    assert description.settings[1].default == "0.5"
