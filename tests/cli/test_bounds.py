from __future__ import annotations

import math

import pytest

from gyrfalcon import theory
from gyrfalcon.cli._theorem import Theorem
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.simulation.replications import simulate
from tests.cli.terminal import invoke, numbers, refusal

ASKED = ("bounds", "-T", "1e6", "-K", "2", "-d", "4", "-b", "0.01")


def theorem(**changes: float) -> Theorem:
    settings = {"T": 10**6, "K": 2, "comp": 4.0, "b": 0.01, "epsilon": 0.1, "delta": 0.05, "tau_1": 4}
    rates = {"rho": 1.0, "rho_prime": 0.0, "C": theory.C_LINEAR}
    return Theorem(**{**settings, **rates, **changes})  # type: ignore[arg-type]


def test_the_numbers_are_those_of_the_theory() -> None:
    report = numbers(*ASKED, "--epsilon", "0.1")
    assert report["bounds"]["corrected"]["total"] == pytest.approx(1.2557770120e9)
    assert report["bounds"]["printed"]["total"] == pytest.approx(1.0429531403e9)
    assert report["bounds"]["corrected"]["capped"] == 1e6
    assert report["rate"]["total"] == pytest.approx(462362, abs=1)
    assert report["optimal_epsilon"] == pytest.approx(0.09102821)
    assert report["vacuous"] is True


def test_without_epsilon_the_optimal_one_is_taken() -> None:
    report = numbers(*ASKED)
    assert report["settings"]["epsilon"] == report["optimal_epsilon"]


def test_the_table_has_every_term_and_says_that_the_bound_is_vacuous() -> None:
    text = invoke(*ASKED).stdout
    assert all(term in text for term in ("passive rounds", "misspecification", "estimation", "total"))
    assert "vacuous" in text
    assert "More rounds do not help" in " ".join(text.split())
    assert "`Linear` is unbounded, so that the theorem is not proved of it" in " ".join(text.split())


def test_a_bound_that_says_something_is_not_called_vacuous() -> None:
    text = invoke("bounds", "-T", "1e15", "-K", "2", "-d", "4", "-b", "0").stdout
    assert "not vacuous" in text


@pytest.mark.parametrize("changes", [{}, {"comp": 40.0}, {"K": 10}, {"rho": 0.5}, {"rho_prime": 1.0}])
def test_the_bound_says_something_from_where_it_is_said_to(changes: dict[str, float]) -> None:
    asked = theorem(b=0.0, **changes)
    rounds = asked.meaningful_from()
    assert rounds is not None
    assert not theorem(b=0.0, T=rounds, **changes).vacuous
    assert theorem(b=0.0, T=int(rounds * 0.99), **changes).vacuous


def test_where_misspecification_alone_costs_more_than_1_no_horizon_helps() -> None:
    asked = theorem(b=0.01)
    assert asked.meaningful_from() is None
    assert asked.bound().misspecification > asked.T


def test_gamma_and_slack_by_epoch_are_those_that_the_learner_plays_by() -> None:
    learner = EpsilonFalcon(constants="paper", epsilon=0.1)
    played = simulate(learner, StepExample(), 1000, checkpoints="every").epochs[0]
    told = list(theorem(T=1000, epsilon=0.1).epochs())
    assert [epoch.index for epoch in told] == [epoch.index for epoch in played]
    for before, epoch, shown in zip(told, played[1:], told[1:], strict=False):
        assert epoch.report is not None
        assert shown.gamma == pytest.approx(epoch.report.gamma)
        assert before.n_passive == epoch.report.n_passive
        assert before.slack == pytest.approx(epoch.report.slack)


def test_epochs_are_printed_and_end_with_the_horizon() -> None:
    report = numbers(*ASKED, "--epochs")
    assert report["epochs"][-1]["stop"] == 10**6
    assert [epoch["start"] for epoch in report["epochs"]][:4] == [1, 5, 9, 17]
    assert "unit slack" in invoke(*ASKED, "--epochs").stdout


def test_a_share_above_one_half_is_said_to_be_clipped() -> None:
    text = invoke("bounds", "-T", "1000", "-K", "20", "-d", "4", "-b", "0.9").stdout
    assert "above one half" in text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("-T", "1.5"), "whole number"),
        (("-T", "many"), "whole number"),
        (("-K", "1"), "at least 2 actions"),
        (("-b", "2"), "mean squared error in [0, 1]"),
        (("-d", "0"), "positive"),
        (("--epsilon", "0.7"), "passive share"),
        (("--delta", "0.6"), "delta"),
        (("--first-epoch", "2"), "at least 4"),
        (("-d", "nan"), "positive"),
        (("-T", "1e200", "--rho", "0.1"), "too large"),
    ],
)
def test_what_the_theorem_does_not_cover_is_refused(changed: tuple[str, ...], words: str) -> None:
    result = invoke(*ASKED, *changed)
    assert result.exit_code == 2
    assert words in refusal(result)


def test_a_missing_option_is_refused() -> None:
    result = invoke("bounds", "-T", "1000")
    assert result.exit_code == 2
    assert "--actions" in refusal(result)


def test_the_constant_of_another_class_scales_the_bound() -> None:
    small = numbers(*ASKED, "--constant", "1")["bounds"]["corrected"]["estimation"]
    large = numbers(*ASKED, "--constant", "4")["bounds"]["corrected"]["estimation"]
    assert large / small == pytest.approx(math.sqrt(4.0))
