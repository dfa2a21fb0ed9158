from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, action_probabilities, decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.schedules import Doubling, passive_count


@dataclass(frozen=True)
class Fixed:
    """A policy that plays the same probabilities everywhere."""

    row: tuple[float, ...]

    def probabilities(self, contexts: Contexts) -> Floats:
        return np.tile(self.row, (len(contexts), 1))


FOUR = Epoch(
    index=1, start=0, stop=4, policy=Fixed((0.75, 0.25)), passive_policy=UniformPolicy(2), passive_share=0.3
)
COIN = replace(FOUR, passive_design=PassiveDesign.COIN)


def contexts(n: int) -> Contexts:
    return Contexts(np.empty((n, 0)))


@pytest.mark.parametrize(
    ("share", "n_rounds", "expected"),
    [
        (0.07, 100, 7),
        (0.1, 30, 3),
        (0.3, 4, 2),
        (0.0, 10, 0),
        (1e-6, 10, 1),
        (5e-324, 1, 1),
        (1.0, 10, 10),
        (0.5, 0, 0),
        (0.5, 10**10, 5 * 10**9),
        (0.2001, 10**7, 2_001_000),
    ],
)
def test_passive_counts_by_hand(share: float, n_rounds: int, expected: int) -> None:
    assert passive_count(share, n_rounds) == expected


@given(share=st.integers(0, 10**6), n_rounds=st.integers(0, 10**5))
def test_a_passive_count_is_the_ceiling_of_the_decimal_share(share: int, n_rounds: int) -> None:
    assert passive_count(share / 10**6, n_rounds) == math.ceil(Fraction(share, 10**6) * n_rounds)


def test_four_rounds_with_a_share_of_30_percent_are_two_active_then_two_passive() -> None:
    made = decide(FOUR, np.arange(4), contexts(4), np.full((4, 3), 0.6))
    assert made.component.tolist() == [0, 0, 1, 1]
    assert made.action.tolist() == [0, 0, 1, 1]
    assert made.propensity.tolist() == [0.75, 0.75, 0.5, 0.5]
    assert made.epoch.tolist() == [1, 1, 1, 1]
    assert made.round.tolist() == [0, 1, 2, 3]


def test_rounds_past_the_planned_stop_are_active() -> None:
    made = decide(FOUR, np.arange(3, 9), contexts(6), np.zeros((6, 3)))
    assert made.component.tolist() == [1, 0, 0, 0, 0, 0]
    assert [FOUR.passive_rate(r) for r in range(3, 9)] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_coin_makes_any_round_passive_and_mixes_the_propensity() -> None:
    uniforms = np.array([[0.9, 0.29, 0.6], [0.9, 0.31, 0.6], [0.0, 0.31, 0.8]])
    made = decide(COIN, np.array([0, 3, 50]), contexts(3), uniforms)
    assert made.component.tolist() == [1, 0, 0]
    assert made.action.tolist() == [1, 0, 1]
    np.testing.assert_allclose(made.propensity, [0.325, 0.675, 0.325], rtol=1e-14)


@pytest.mark.parametrize("epoch", [FOUR, COIN], ids=["tail", "coin"])
def test_rates_of_many_rounds_are_the_rates_of_each(epoch: Epoch) -> None:
    assert epoch.passive_rates(np.arange(9)).tolist() == [epoch.passive_rate(r) for r in range(9)]


def test_without_a_share_nothing_is_passive() -> None:
    for epoch in (replace(FOUR, passive_share=0.0), replace(COIN, passive_share=0.0)):
        made = decide(epoch, np.arange(4), contexts(4), np.zeros((4, 3)))
        assert made.component.tolist() == [0, 0, 0, 0]
        assert made.propensity.tolist() == [0.75] * 4


def test_epochs_of_algorithm_1_split_into_active_and_passive() -> None:
    ends = [0, *(Doubling(4).end(m) for m in (1, 2, 3, 4))]
    split = []
    for m in (1, 2, 3, 4):
        epoch = replace(FOUR, index=m, start=ends[m - 1], stop=ends[m])
        split.append((epoch.passive_start - epoch.start, epoch.stop - epoch.passive_start))
    assert split == [(2, 2), (2, 2), (5, 3), (11, 5)]


def test_probabilities_of_active_passive_and_coin_rounds() -> None:
    @dataclass(frozen=True)
    class Scores:
        def scores(self, contexts: Contexts) -> Floats:
            return np.tile([0.7, 0.4, 0.1], (len(contexts), 1))

    weighted = KernelPolicy(Scores(), InverseGapWeighting(10.0))
    tail = replace(FOUR, policy=weighted, passive_policy=UniformPolicy(3))
    active, passive = [13 / 18, 1 / 6, 1 / 9], [1 / 3, 1 / 3, 1 / 3]
    np.testing.assert_allclose(
        action_probabilities(tail, np.array([0, 2, 4]), contexts(3)), [active, passive, active]
    )
    mixed = 0.7 * np.array(active) + 0.3 * np.array(passive)
    coin = replace(tail, passive_design=PassiveDesign.COIN)
    np.testing.assert_allclose(action_probabilities(coin, np.array([0, 2]), contexts(2)), [mixed, mixed])


def test_a_mixture_by_hand() -> None:
    other = replace(COIN, policy=Fixed((0.0, 1.0)), passive_share=0.1)
    master = replace(FOUR, passive_share=0.0, policy=Mixture(np.array([0.25, 0.75]), (COIN, other)))
    uniforms = np.array([[0.24, 0.29, 0.4], [0.24, 0.31, 0.7], [0.25, 0.09, 0.4], [0.25, 0.11, 0.0]])
    made = decide(master, np.arange(4), contexts(4), uniforms)
    assert made.component.tolist() == [1, 0, 3, 2]
    assert made.action.tolist() == [0, 0, 0, 1]
    first = 0.25 * (0.7 * 0.75 + 0.3 * 0.5) + 0.75 * (0.9 * 0.0 + 0.1 * 0.5)
    np.testing.assert_allclose(made.propensity, [first, first, first, 1.0 - first], rtol=1e-14)
    np.testing.assert_allclose(
        action_probabilities(master, np.arange(4), contexts(4)), np.tile([first, 1.0 - first], (4, 1))
    )


def test_a_base_of_weight_0_never_plays() -> None:
    other = replace(COIN, policy=Fixed((0.0, 1.0)))
    for weights, base in (([0.0, 1.0], 1), ([1.0, 0.0], 0)):
        master = replace(FOUR, passive_share=0.0, policy=Mixture(np.array(weights), (COIN, other)))
        uniforms = np.array([[0.0, 0.9, 0.5], [1.0 - 2.0**-53, 0.9, 0.5]])
        assert (decide(master, np.arange(2), contexts(2), uniforms).component // 2).tolist() == [base, base]
