"""The paper's lemmas on random finite problems, over every policy; each has a case in which it is tight.

What single contexts and single policies show of them is in test_kernels.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernels import mixture, uniform
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.theory import c_3, c_5, unit_gamma
from tests.environments.finite_problems import Finite, finites, gammas, one_context, tables, values
from tests.environments.tables import Lines, TableModel, TablePolicy

ROUND = 1.0 + 1e-10


# Lemma boundB.


@given(finites(), st.data())
def test_no_play_errs_more_than_the_worst_error_and_some_policy_as_much(
    of: Finite, data: st.DataObject
) -> None:
    odds = np.exp(data.draw(tables(len(of.population.contexts), of.k)))
    play = TablePolicy(odds / odds.sum(axis=1, keepdims=True))
    B = of.population.worst_error(of.model)
    assert of.population.mean_error(of.model, play) <= B * ROUND
    assert max(of.population.mean_error(of.model, policy) for policy in of.policies) == pytest.approx(B)


@given(finites())
def test_the_worst_error_is_k_times_the_mean_error_less_those_of_other_actions(of: Finite) -> None:
    """So that B = K b exactly where at most one action errs in each context."""
    b, B = of.population.mean_error(of.model), of.population.worst_error(of.model)
    others = np.sort(of.population.squared_errors(of.model), axis=1)[:, :-1].sum(axis=1)
    assert of.k * b - B == pytest.approx(of.population.mean(others), abs=1e-12)
    assert b <= B * ROUND


@pytest.mark.parametrize(("errors", "ratio"), [([0.0, 0.3, 0.0], 3.0), ([0.3, -0.3, 0.3], 1.0)])
def test_the_worst_error_can_be_the_mean_error_and_k_times_it(errors: list[float], ratio: float) -> None:
    of = one_context([0.5, 0.5, 0.5], [0.5 + error for error in errors], 1.0)
    assert of.population.worst_error(of.model) == pytest.approx(ratio * of.population.mean_error(of.model))


# Lemma reg-of-best-pred.


@given(finites(max_contexts=4))
def test_the_best_models_policy_has_a_regret_of_at_most_2_root_b(of: Finite) -> None:
    found = misspecification(of.population, Linear())
    assert of.population.regret(greedy_policy(found.model)) <= 2.0 * math.sqrt(found.B) * ROUND + 1e-10
    for policy in of.policies:
        value = of.population.value(policy)
        assert abs(of.population.value(policy, found.model) - value) <= math.sqrt(found.B) * ROUND + 1e-10


def test_a_regret_of_2_root_b_is_reached() -> None:
    """Two actions that the class cannot tell apart, and a tie that goes to the wrong one."""
    contexts = Contexts(np.zeros((1, 0)), actions=np.zeros((1, 2, 1)))
    population = Population.finite(contexts, [[0.0, 1.0]])
    found = misspecification(population, Linear(layout="shared"))
    assert math.sqrt(found.B) == pytest.approx(0.5)
    assert population.regret(greedy_policy(found.model)) == pytest.approx(2.0 * math.sqrt(found.B))


# Lemmas conditional-reward, QmRegEst and QmRootV: what holds on average over policies drawn from Q_m.


@given(finites())
def test_the_regret_of_play_is_that_of_a_policy_drawn_from_q(of: Finite) -> None:
    """Lemma conditional-reward, for the truth and, by the same steps, for the model itself."""
    chances, policies = of.chances(), of.policies
    assert chances.sum() == pytest.approx(1.0)
    for under in (None, of.model):
        regrets = np.array([of.population.regret(policy, under) for policy in policies])
        assert chances @ regrets == pytest.approx(of.population.regret(of.play, under), abs=1e-11)


@given(finites())
def test_play_has_an_estimated_regret_of_at_most_k_minus_1_over_gamma(of: Finite) -> None:
    """Lemma QmRegEst, whose K counts the best action, which has no gap."""
    regrets = np.array([of.population.regret(policy, of.model) for policy in of.policies])
    assert of.chances() @ regrets <= (of.k - 1) / of.gamma * ROUND


@pytest.mark.parametrize("k", [2, 3, 4])
def test_an_estimated_regret_of_k_minus_1_over_gamma_is_nearly_reached(k: int) -> None:
    of = one_context([0.0] * k, [0.0] + [-1.0] * (k - 1), gamma=1e4)
    assert of.population.regret(of.play, of.model) > 0.999 * (k - 1) / of.gamma


@given(finites())
def test_divergences_are_k_and_their_roots_at_most_root_k_on_average(of: Finite) -> None:
    """Lemma QmRootV; Jensen's inequality is strict as soon as policies differ in divergence."""
    divergences = np.array([of.population.divergence(of.play, policy) for policy in of.policies])
    chances = of.chances()
    assert chances @ divergences == pytest.approx(of.k, rel=1e-10)
    assert chances @ np.sqrt(divergences) <= math.sqrt(of.k) * ROUND
    even = replace(of, gamma=0.0)
    roots = [math.sqrt(of.population.divergence(even.play, policy)) for policy in of.policies]
    assert even.chances() @ roots == pytest.approx(math.sqrt(of.k), rel=1e-12)


# Lemma boundV.


@given(finites())
def test_every_divergence_lies_between_gamma_times_estimated_regret_and_k_more(of: Finite) -> None:
    best = greedy_policy(of.model).probabilities(of.population.contexts)
    for policy in of.policies:
        divergence = of.population.divergence(of.play, policy)
        regret = of.gamma * of.population.regret(policy, of.model)
        assert regret <= divergence * ROUND
        assert divergence <= (of.k + regret) * ROUND
        if not (best * policy.table).any():  # never the best action: the upper bound is reached
            assert divergence == pytest.approx(of.k + regret, rel=1e-10)


def test_a_divergence_of_gamma_times_estimated_regret_is_nearly_reached() -> None:
    of = one_context([0.0, 0.0], [0.0, -1.0], gamma=1e4)
    divergence = of.population.divergence(of.play, worst := TablePolicy.choosing([1], 2))
    assert divergence < 1.001 * of.gamma * of.population.regret(worst, of.model)


# Lemma reg-est-accuracy.


@given(finites(), st.data())
def test_values_are_as_accurate_as_root_divergence_times_root_error(of: Finite, data: st.DataObject) -> None:
    """Cauchy-Schwarz, and equality for errors of 1 / p where the policy plays."""
    next_model = TableModel(data.draw(tables(len(of.population.contexts), of.k)))
    error = of.population.mean_error(next_model, of.play)
    for policy in of.policies:
        divergence = of.population.divergence(of.play, policy)
        off = of.population.value(policy, next_model) - of.population.value(policy)
        assert abs(off) <= math.sqrt(divergence * error) * ROUND + 1e-12
        worst = TableModel(of.population.means + policy.table / of.play.table)
        off = of.population.value(policy, worst) - of.population.value(policy)
        reached = math.sqrt(divergence * of.population.mean_error(worst, of.play))
        assert off == pytest.approx(reached, rel=1e-9)


def at_the_event(of: Finite, direction: Floats, B: float, next_gamma: float) -> TableModel:
    """The truth plus a multiple of a direction, with an error under p_m of just B + K / (4 gamma_{m+1}^2)."""
    size = of.population.mean((of.play.table * direction**2).sum(axis=1))
    return TableModel(of.population.means + direction * math.sqrt((B + of.k / 4.0 / next_gamma**2) / size))


@given(finites(min_contexts=2), gammas, st.data())
def test_values_are_accurate_on_the_event_of_the_oracles_guarantee(
    of: Finite, next_gamma: float, data: st.DataObject
) -> None:
    B = misspecification(of.population, Linear()).B
    direction = data.draw(tables(len(of.population.contexts), of.k))
    assume(np.abs(direction).max() > 1e-3)
    next_model = at_the_event(of, direction, B, next_gamma)
    for policy in of.policies:
        root = math.sqrt(of.population.divergence(of.play, policy))
        off = of.population.value(policy, next_model) - of.population.value(policy)
        assert abs(off) <= root * (math.sqrt(B) + math.sqrt(of.k) / (2.0 * next_gamma)) * ROUND + 1e-12


@given(finites(), gammas)
def test_that_accuracy_is_reached_where_the_class_is_right(of: Finite, next_gamma: float) -> None:
    for policy in of.policies:
        worst = at_the_event(of, policy.table / of.play.table, 0.0, next_gamma)
        off = of.population.value(policy, worst) - of.population.value(policy)
        root = math.sqrt(of.population.divergence(of.play, policy))
        assert off == pytest.approx(root * math.sqrt(of.k) / (2.0 * next_gamma), rel=1e-9, abs=1e-12)


@given(st.integers(4, 10**6), st.integers(2, 4), st.integers(1, 20), st.integers(1, 30), st.floats(1e-3, 0.5))
def test_gamma_makes_the_estimation_error_of_the_event_k_over_4_gamma_squared(
    n: int, k: int, comp: int, m: int, delta: float
) -> None:
    assume(m / delta > 1.001)
    gamma = math.sqrt(c_3()) * unit_gamma(n, k, comp, index=m + 1, delta=delta)
    assert k / (4.0 * gamma**2) == pytest.approx(c_5() * math.log(m / delta) * comp / n, rel=1e-12)


# Mixtures with uniform play (P10).


@given(finites(), st.floats(0.01, 1.0))
def test_a_share_of_uniform_play_bounds_every_divergence(of: Finite, share: float) -> None:
    n = len(of.population.contexts)

    def mixed(base: TablePolicy) -> TablePolicy:
        return TablePolicy(mixture([base.table, uniform(of.k, n)], [1.0 - share, share]))

    for policy in of.policies:
        assert of.population.divergence(mixed(of.play), policy) <= of.k / share * ROUND
    first, second = TablePolicy.choosing([0] * n, of.k), TablePolicy.choosing([1] * n, of.k)
    assert of.population.divergence(mixed(first), second) == pytest.approx(of.k / share)


# Pythagoras around the best in-class model (Lemma ConReg uses it with a factor of 2).


@given(finites(min_contexts=2, max_contexts=4), st.data())
def test_excess_risk_is_squared_distance_from_the_best_of_a_linear_class(
    of: Finite, data: st.DataObject
) -> None:
    lines = data.draw(st.lists(st.tuples(values, values), min_size=of.k, max_size=of.k))
    model = Lines(tuple(lines))
    for play in (None, of.play):
        best = best_in_class(of.population, Linear(), play=play)
        around = replace(of.population, means=best.scores(of.population.contexts))
        excess = of.population.mean_error(model, play) - of.population.mean_error(best, play)
        assert excess == pytest.approx(around.mean_error(model, play), abs=1e-9)


constants = st.floats(0.0, 1.0)


@given(finites(), constants, constants)
def test_excess_risk_is_at_least_squared_distance_in_a_convex_class(of: Finite, low: float, c: float) -> None:
    """Constants between two bounds: the best is the mean of the truth, moved inside."""
    c = low + c * (1.0 - low)
    best = min(max(of.population.mean(of.population.means.mean(axis=1)), low), 1.0)

    def risk(constant: float) -> float:
        return of.population.mean_error(TableModel(np.full(of.population.means.shape, constant)))

    assert (c - best) ** 2 <= risk(c) - risk(best) + 1e-12


def test_excess_risk_may_exceed_squared_distance_if_convex_and_fall_below_it_if_not() -> None:
    of = one_context([1.0, 1.0], [0.0, 0.0], 1.0)
    half, zero = TableModel(np.full((1, 2), 0.5)), TableModel(np.zeros((1, 2)))
    assert of.population.mean_error(zero) - of.population.mean_error(half) > 2.0 * 0.5**2  # of [0, .5]
    of = one_context([0.4, 0.4], [0.0, 0.0], 1.0)
    one = TableModel(np.ones((1, 2)))
    assert of.population.mean_error(one) - of.population.mean_error(zero) < 0.5 * 1.0**2  # of {0, 1}
