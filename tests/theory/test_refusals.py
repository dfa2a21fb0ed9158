"""Every function refuses what its theorem does not cover, with the value and a remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from gyrfalcon import theory
from gyrfalcon.theory import DELTA_MAX, epochwise_regret_bound, regret_bound, regret_rate

fine: dict[str, Any] = {"T": 1000, "K": 2, "comp": 4.0, "b": 0.01, "epsilon": 0.1, "delta": 0.05}

wrong_for_all = [
    ("T", 0),
    ("T", 10.5),
    ("T", math.nan),
    ("T", math.inf),
    ("K", 1),
    ("K", 2.5),
    ("comp", 0.0),
    ("comp", math.nan),
    ("b", -1e-9),
    ("b", 1.5),
    ("b", math.nan),
    ("epsilon", 0.0),
    ("epsilon", 0.5),
    ("delta", 0.0),
    ("delta", 0.51),
    ("rho", 0.0),
    ("rho", 1.1),
    ("rho_prime", -1.0),
    ("rho_prime", math.inf),
    ("B", 0.005),
    ("B", 0.03),
    ("B", math.nan),
]
wrong_for_bounds = [("tau_1", 3), ("tau_1", 4.5), ("C", 0.0), ("C", math.inf), ("variant", "typo")]


@pytest.mark.parametrize(("name", "value"), wrong_for_all)
@pytest.mark.parametrize("function", [regret_bound, epochwise_regret_bound, regret_rate])
def test_rates_and_bounds(function: Callable[..., object], name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is {value!r}.*; .*\.$"):
        function(**(fine | {name: value}))


@pytest.mark.parametrize(("name", "value"), wrong_for_bounds)
@pytest.mark.parametrize("function", [regret_bound, epochwise_regret_bound])
def test_bounds(function: Callable[..., object], name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is {value!r}; .*\.$"):
        function(**(fine | {name: value}))


def test_the_corrected_proof_allows_a_little_less_delta_than_the_printed_one() -> None:
    regret_bound(1000, 2, 4.0, 0.01, 0.1, delta=DELTA_MAX)
    regret_bound(1000, 2, 4.0, 0.01, 0.1, delta=0.5, variant="paper")
    with pytest.raises(ValueError, match=r"delta is 0\.4902; the proof needs delta in \(0, 0\.4901\]"):
        regret_bound(1000, 2, 4.0, 0.01, 0.1, delta=0.4902)
    with pytest.raises(ValueError, match=r"delta is 0\.5001; the proof needs delta in \(0, 0\.5\]"):
        regret_bound(1000, 2, 4.0, 0.01, 0.1, delta=0.5001, variant="paper")


calls: list[tuple[str, dict[str, Any], str]] = [
    ("constants", {"rho": 2.0}, "rho is 2.0"),
    ("constants", {"rho_prime": -1.0}, "rho_prime is -1.0"),
    ("constants", {"C": -1.0}, "C is -1.0"),
    ("constants", {"variant": "typo"}, "variant is 'typo'"),
    ("c_linear", {"z": 0.6}, "z is 0.6"),
    ("c_linear", {"d": 0}, "d is 0"),
    ("c_1", {"c": 0.0}, "C is 0.0"),
    ("c_3", {"rho": 0.0}, "rho is 0.0"),
    ("c_5", {"c": math.nan}, "C is nan"),
    ("kappa", {"rho": 0.0}, "rho is 0.0"),
    ("kappa", {"variant": "typo"}, "variant is 'typo'"),
    ("gamma", {"n": 0, "n_actions": 2, "comp": 4, "index": 2, "delta": 0.05}, "n is 0"),
    ("gamma", {"n": 9, "n_actions": 1, "comp": 4, "index": 2, "delta": 0.05}, "K is 1"),
    ("gamma", {"n": 9, "n_actions": 2, "comp": 4, "index": 0, "delta": 0.05}, "index is 0"),
    ("gamma", {"n": 9, "n_actions": 2, "comp": 4, "index": 2, "delta": 0.6}, "delta is 0.6"),
    ("unit_gamma", {"n": 9, "n_actions": 2, "comp": 0, "index": 2, "delta": 0.05}, "comp is 0"),
    (
        "unit_gamma",
        {"n": 9, "n_actions": 2, "comp": 4, "index": 2, "delta": 0.05, "form": "x"},
        "form is 'x'",
    ),
    ("slack", {"n_passive": -1, "comp": 4, "index": 2, "delta": 0.05}, "n_passive is -1"),
    ("slack", {"n_passive": 9, "comp": 4, "index": 0, "delta": 0.05}, "index is 0"),
    ("unit_slack", {"n_passive": 9, "comp": -1, "index": 2, "delta": 0.05}, "comp is -1"),
    ("worst_misspecification", {"b": -1.0, "K": 2}, "b is -1.0"),
    ("best_model_regret_bound", {"B": -1.0}, "B is -1.0"),
    (
        "passive_error_bound",
        {"n": 9, "comp": 4, "index": 1, "epsilon": 0.5, "delta": 0.05},
        "epsilon is 0.5",
    ),
    (
        "passive_error_bound",
        {"n": 9, "comp": 4, "index": 1, "epsilon": 0.1, "delta": 0.495},
        "delta is 0.495",
    ),
    ("active_error_bound", {"n": 0, "comp": 4, "index": 1, "delta": 0.05, "B": 0.0}, "n is 0"),
    ("active_error_bound", {"n": 9, "comp": 4, "index": 1, "delta": 0.05, "B": -1.0}, "B is -1.0"),
    ("reward_error_bound", {"V": 0.0, "B": 0.0, "K": 2, "gamma": 1.0}, "V is 0.0"),
    ("reward_error_bound", {"V": 2.0, "B": 0.0, "K": 2, "gamma": 0.0}, "gamma is 0.0"),
    ("best_policy_divergence_bound", {"K": 1, "epsilon": 0.1}, "K is 1"),
    ("divergence_bound", {"V_next": -1.0, "K": 2, "epsilon": 0.1}, "V_next is -1.0"),
    (
        "policy_regret_bound",
        {"regret": 0.1, "V": 2.0, "gamma": 1.0, "K": 2, "B": -1.0, "epsilon": 0.1},
        "B is -1.0",
    ),
    ("epoch_regret_bound", {"gamma": 1.0, "K": 2, "B": 0.0, "epsilon": 0.7}, "epsilon is 0.7"),
    ("misspecification_scale", {"K": 2, "B": 0.0, "epsilon": 0.1, "rho": 0.0}, "rho is 0.0"),
    ("tuned_rate", {"T": 0, "K": 2, "comp": 4, "b": 0.1, "delta": 0.05}, "T is 0"),
    ("optimal_epsilon", {"b": -1.0, "K": 2}, "b is -1.0"),
    ("optimal_epsilon", {"b": 0.1, "K": 1}, "K is 1"),
    ("optimal_epsilon", {"b": 0.1, "K": 2, "c": 0.0}, "c is 0.0"),
    ("optimal_epsilon", {"b": 0.1, "K": 2, "eps_min": 0.0}, "eps_min is 0.0"),
    ("optimal_cost", {"b": 0.1, "K": 2, "rho": 0.0}, "rho is 0.0"),
    ("cost_of_epsilon", {"epsilon": 0.0, "b": 0.1, "K": 2}, "epsilon is 0.0"),
    ("linear", {"d": 0}, "d is 0"),
    ("linear", {"d": 2, "C": 0.0}, "C is 0.0"),
    ("vc_subgraph", {"V": 1.5}, "V is 1.5"),
    ("vc_hull", {"V": 0}, "V is 0"),
    ("entropy", {"s": 1.0}, "s is 1.0"),
    ("Rates", {"rho": 1.0, "rho_prime": 0.0, "comp": 0.0}, "comp is 0.0"),
    ("Rates", {"rho": 1.0, "rho_prime": 0.0, "comp": 1.0, "psi_scale": 0.0}, "psi_scale is 0.0"),
    (
        "example_1",
        {"T": 5, "K": 2, "V": 5, "b": 0.1, "epsilon": 0.1, "delta": 0.05, "variant": "paper"},
        "T is 5, V 5",
    ),
    (
        "example_2",
        {"T": 5, "K": 2, "V": 5, "b": 0.1, "epsilon": 0.1, "delta": 0.05, "variant": "x"},
        "variant is 'x'",
    ),
    ("example_3", {"T": 5, "K": 2, "s": 0.0, "b": 0.1, "epsilon": 0.1, "delta": 0.05}, "s is 0.0"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), calls)
def test_every_function_says_what_is_wrong(name: str, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match="; ") as refusal:
        getattr(theory, name)(**arguments)
    assert str(refusal.value).startswith(told)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize(("epsilon", "n"), [(0.0, 10), (0.1, 0)])
def test_psi_sharp(epsilon: float, n: int) -> None:
    with pytest.raises(ValueError, match=r"is 0(\.0)?; give"):
        theory.linear(2).psi_sharp(epsilon, n)


@pytest.mark.parametrize("z", [0.0, 0.5, math.nan])
def test_the_threshold(z: float) -> None:
    with pytest.raises(ValueError, match="z is"):
        theory.linear(2).threshold(10, z)


def test_public_names_exist_and_are_sorted() -> None:
    assert all(hasattr(theory, name) for name in theory.__all__)
    assert len(set(theory.__all__)) == len(theory.__all__)
