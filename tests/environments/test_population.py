"""Quadrature against closed forms and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.population import Population, greedy_policy
from tests.environments.tables import Always, Lines, TableModel, TablePolicy, numbered


def parabola_and_line(x: Floats) -> Floats:
    return np.stack([x**2, 0.5 * x], axis=1)  # they cross at .5


# On a line.


def test_means_of_piecewise_polynomials_are_exact() -> None:
    population = Population.on_interval(
        lambda x: np.stack([x**20, np.where(x > 0.3, x, 7.0)], axis=1), (0, 0.3, 1)
    )
    assert population.value(Always((1.0, 0.0))) == pytest.approx(1 / 21, rel=1e-14)
    assert population.value(Always((0.0, 1.0))) == pytest.approx(7 * 0.3 + (1 - 0.09) / 2, rel=1e-14)


def test_a_density_weighs_contexts() -> None:
    population = Population.on_interval(
        lambda x: np.stack([x, 0 * x], axis=1), (0, 1), density=lambda x: 5 * x
    )
    assert population.weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert population.value(Always((1.0, 0.0))) == pytest.approx(2 / 3, rel=1e-14)


@given(switch=st.floats(0.01, 0.99))
def test_the_regret_of_a_switch_inside_a_piece_is_exact(switch: float) -> None:
    population = Population.on_interval(parabola_and_line, (0, 1))
    policy = greedy_policy(Lines(((-switch, 1.0), (0.0, 0.0))))
    regret = population.regret(policy)
    # The integral of x^2 - x / 2 between the two switches, whose sign is that of the gap.
    exact = (switch**3 - 0.5**3) / 3 - (switch**2 - 0.5**2) / 4
    assert regret == pytest.approx(exact, abs=1e-14)
    assert population.value(policy) + regret == pytest.approx(population.optimal_value(), abs=1e-14)


def test_the_optimal_value_cuts_where_the_truth_switches() -> None:
    population = Population.on_interval(parabola_and_line, (0, 1))
    assert population.optimal_value() == pytest.approx(0.25 * 0.25 + (1 - 0.125) / 3, rel=1e-14)
    assert population.mean(population.means.max(axis=1)) != pytest.approx(
        population.optimal_value(), abs=1e-6
    )


def test_regret_under_a_model_cuts_where_the_model_switches() -> None:
    population = Population.on_interval(parabola_and_line, (0, 1))
    model = Lines(((0.0, 1.0), (0.25, 0.0)))
    assert population.optimal_value(model) == pytest.approx(0.25 * 0.25 + (1 - 0.0625) / 2, rel=1e-14)
    assert population.regret(Always((1.0, 0.0)), under=model) == pytest.approx(0.25**2 / 2, rel=1e-13)
    assert population.value(Always((0.5, 0.5)), under=model) == pytest.approx(0.375, rel=1e-14)
    assert population.regret(greedy_policy(model), under=model) == 0.0


def test_the_worst_error_cuts_where_another_action_errs_most() -> None:
    population = Population.on_interval(lambda x: np.zeros((len(x), 2)), (0, 1))
    model = Lines(((0.0, 1.0), (0.3, 0.0)))
    assert population.worst_error(model) == pytest.approx(0.3**3 + (1 - 0.3**3) / 3, rel=1e-14)
    assert population.mean_error(model) == pytest.approx((1 / 3 + 0.09) / 2, rel=1e-14)
    assert population.mean_error(model, play=Always((0.0, 1.0))) == pytest.approx(0.09, rel=1e-14)
    worst = greedy_policy(Lines(((-0.3, 1.0), (0.0, 0.0))))
    assert population.mean_error(model, play=worst) == pytest.approx(population.worst_error(model), rel=1e-14)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 100.0, 1e4, 1e6])
def test_inverse_gap_weighting_is_integrated_at_every_gamma(gamma: float) -> None:
    """The gap is |x| on (-1, 1), and the best action switches at the break, where all changes fast."""
    model = Lines(((0.0, 1.0), (0.0, 0.0)))
    population = Population.on_interval(lambda x: np.stack([x, np.zeros(len(x))], axis=1), (-1, 0, 1))
    play = KernelPolicy(model, InverseGapWeighting(gamma))
    explored = 1 / 4 if gamma == 0.0 else (1 - 2 / gamma * math.log1p(gamma / 2)) / gamma
    assert population.regret(play) == pytest.approx(explored, rel=1e-12)
    assert population.divergence(play, greedy_policy(Lines(((0.0, -1.0), (0.0, 0.0))))) == pytest.approx(
        2 + gamma / 2, rel=1e-13
    )
    # 1 / p of the best action is (2 + gamma x) / (1 + gamma x) = 1 + 1 / (1 + gamma x).
    best = 2.0 if gamma == 0.0 else 1 + math.log1p(gamma) / gamma
    assert population.divergence(play, greedy_policy(model)) == pytest.approx(best, rel=1e-13)


def test_divergence_cuts_where_play_switches() -> None:
    population = Population.on_interval(parabola_and_line, (0, 1))
    play = KernelPolicy(Lines(((-0.3, 1.0), (0.0, 0.0))), InverseGapWeighting(100.0))
    # Below .3 the gap of action 1 is .3 - x, above it that of action 2 is x - .3.
    exact = 2 * 0.3 + 100 * 0.3**2 / 2 + 0.7 + math.log1p(70.0) / 100
    assert population.divergence(play, Always((1.0, 0.0))) == pytest.approx(exact, rel=1e-14)


def test_divergence_is_infinite_where_play_never_does_what_the_policy_does() -> None:
    population = Population.on_interval(parabola_and_line, (0, 1))
    assert population.divergence(Always((1.0, 0.0)), Always((0.0, 1.0))) == math.inf
    assert population.divergence(Always((1.0, 0.0)), Always((1.0, 0.0))) == 1.0
    assert population.divergence(Always((0.25, 0.75)), UniformPolicy(2)) == pytest.approx(
        (2 + 2 / 3) / 1, rel=1e-14
    )


def test_three_actions_may_switch_between_two_nodes() -> None:
    """Action 2 is best on a thousandth of the line only, between two nodes."""
    model = Lines(((0.5, -1.0), (5e-4, 0.0), (-0.5, 1.0)))
    population = Population.on_interval(lambda x: np.zeros((len(x), 3)), (0, 1))
    assert population.optimal_value(model) == pytest.approx(0.25 + 5e-4**2, abs=1e-15)


def test_the_sup_error_sees_both_limits_at_a_jump_and_peaks_between_nodes() -> None:
    jump = Population.on_interval(lambda x: np.where(x > 0.5, 1.0, 0.0)[:, np.newaxis], (0, 0.5, 1), order=4)
    assert jump.sup_error(Lines(((0.3, 0.0),))) == pytest.approx(0.7, abs=1e-15)
    assert jump.sup_error(Lines(((0.0, 1.8),))) == pytest.approx(0.9, abs=1e-15)  # as x rises to .5
    assert jump.sup_error(Lines(((-0.8, 1.8),))) == pytest.approx(0.9, abs=1e-15)  # as x falls to .5
    smooth = Population.on_interval(lambda x: np.sin(7.0 * x)[:, np.newaxis], (0, 1), order=8)
    assert smooth.sup_error(Lines(((0.0, 0.0),))) == pytest.approx(1.0, abs=1e-15)


# On a box.


def test_a_box_has_the_closed_form_of_a_product() -> None:
    """f* = x y on the square, f = x / 2 + y / 2 - 1 / 4: the error is (x - 1/2)(y - 1/2)."""
    population = Population.on_box(
        lambda x: np.stack([x.prod(axis=1), 0 * x[:, 0]], axis=1), [(0, 1), (0, 1)]
    )
    f = population.contexts.shared.sum(axis=1) / 2 - 0.25
    errors = (f - population.means[:, 0]) ** 2
    assert population.mean(errors) == pytest.approx(1 / 144, rel=1e-13)
    assert math.sqrt(errors.max()) == pytest.approx(0.25, abs=1e-14)  # at the corners
    assert population.optimal_value() == pytest.approx(0.25, rel=1e-14)
    assert population.cut(None) is population


def test_a_box_takes_breaks_and_a_density() -> None:
    def truth(x: Floats) -> Floats:
        return np.stack([(x[:, 0] > 0.5) * x[:, 1] * x[:, 2], np.zeros(len(x))], axis=1)

    even = Population.on_box(truth, [(0, 0.5, 1), (0, 2), (0, 1)], order=3)
    assert even.value(Always((1.0, 0.0))) == pytest.approx(0.25, rel=1e-13)
    tilted = Population.on_box(
        truth, [(0, 0.5, 1), (0, 2), (0, 1)], order=3, density=lambda x: x[:, 0] * x[:, 1]
    )
    assert tilted.value(Always((1.0, 0.0))) == pytest.approx(0.75 * (4 / 3) * 0.5, rel=1e-13)


# Finitely many contexts.

fractions = st.integers(-20, 20).map(lambda i: Fraction(i, 7))
Rows = list[list[Fraction]]


def floats(table: Rows) -> Floats:
    return np.array([[float(entry) for entry in row] for row in table])


def dot(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


@st.composite
def tables(draw: st.DrawFn, n_tables: int) -> tuple[list[Fraction], list[Rows]]:
    n, k = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    mass = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    row = st.lists(fractions, min_size=k, max_size=k)
    drawn = [draw(st.lists(row, min_size=n, max_size=n)) for _ in range(n_tables)]
    return [Fraction(m, sum(mass)) for m in mass], drawn


@given(tables(3))
def test_a_finite_population_agrees_with_fractions(drawn: tuple[list[Fraction], list[Rows]]) -> None:
    weights, (truth, model, strengths) = drawn
    n, k = len(truth), len(truth[0])
    population = Population.finite(numbered(n), floats(truth), [float(w) for w in weights])
    f = TableModel(floats(model))
    odds = [[1 + entry**2 for entry in row] for row in strengths]
    p = [[entry / sum(row) for entry in row] for row in odds]
    play = TablePolicy(floats(p))

    def close(got: float, column: list[Fraction]) -> bool:
        return got == pytest.approx(float(dot(weights, column)), rel=1e-12, abs=1e-13)

    squares = [[(model[i][a] - truth[i][a]) ** 2 for a in range(k)] for i in range(n)]
    assert close(population.mean_error(f), [sum(row, Fraction(0)) / k for row in squares])
    assert close(population.worst_error(f), [max(row) for row in squares])
    assert close(population.mean_error(f, play), [dot(p[i], squares[i]) for i in range(n)])
    assert population.sup_error(f) == pytest.approx(math.sqrt(max(map(max, squares))), rel=1e-13)
    assert close(population.value(play), [dot(p[i], truth[i]) for i in range(n)])
    assert close(population.optimal_value(f), [max(row) for row in model])
    best = [row.index(max(row)) for row in model]
    assert close(population.regret(greedy_policy(f)), [max(truth[i]) - truth[i][best[i]] for i in range(n)])
    for choice in product(range(k), repeat=n):
        policy = TablePolicy.choosing(choice, k)
        assert close(
            population.regret(policy, f), [max(model[i]) - model[i][a] for i, a in enumerate(choice)]
        )
        assert close(population.divergence(play, policy), [1 / p[i][a] for i, a in enumerate(choice)])


def test_actions_that_may_not_be_chosen_count_for_nothing() -> None:
    mask = np.array([[True, True, False], [True, False, False]])
    contexts = Contexts(numbered(2).shared, None, mask)
    population = Population.finite(contexts, [[0.0, 1.0, np.nan], [0.5, np.nan, 9.0]], [1.0, 3.0])
    model = TableModel(np.array([[0.5, 0.5, np.nan], [0.0, 0.0, 0.0]]))
    assert population.optimal_value() == 0.25 + 0.75 * 0.5
    assert population.regret(UniformPolicy(3)) == 0.25 * 0.5
    assert population.mean_error(model) == 0.25
    assert population.worst_error(model) == 0.25
    assert population.sup_error(model) == 0.5
    assert population.divergence(UniformPolicy(3), UniformPolicy(3)) == 0.25 * 2 + 0.75 * 1


# Samples of any environment.


def test_a_sample_strays_by_its_standard_error() -> None:
    environment = StepExample()
    sample = Population.sampled(environment, 20_000, seed=3)
    regrets = sample.regrets(Always((1.0, 0.0)))
    # Regret .5 below x = .5, else 0: a standard deviation of .25. Five errors: once in 1.7 million seeds.
    assert sample.standard_error(regrets) == pytest.approx(0.25 / math.sqrt(20_000), rel=0.05)
    assert abs(sample.mean(regrets) - 0.25) < 5 * sample.standard_error(regrets)
    assert sample.mean(regrets) == pytest.approx(sample.regret(Always((1.0, 0.0))), abs=1e-15)
    assert environment.population.standard_error(regrets) == 0.0


# Refusals.


@pytest.mark.parametrize("breaks", [(0.0,), (0.0, 0.0), (1.0, 0.0), (0.0, math.inf), (0.0, math.nan)])
def test_breaks_that_do_not_increase_are_refused(breaks: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="give at least two finite numbers that increase"):
        Population.on_interval(parabola_and_line, breaks)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="order is 0; give at least 1"):
        Population.on_interval(parabola_and_line, (0, 1), order=0)
    with pytest.raises(ValueError, match="no feature"):
        Population.on_box(parabola_and_line, [])
    with pytest.raises(ValueError, match="6 features at order 20 make 113,379,904 nodes"):
        Population.on_box(parabola_and_line, [(0, 1)] * 6, order=20)
    with pytest.raises(ValueError, match=r"means has shape \(3, 2\); give \(n, K\) for 2 contexts"):
        Population.finite(numbered(2), np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"weights has shape \(1,\)"):
        Population.finite(numbered(2), np.zeros((2, 2)), [1.0])
    with pytest.raises(ValueError, match=r"weights holds -1.0; give finite numbers"):
        Population.finite(numbered(2), np.zeros((2, 2)), [1.0, -1.0])
    with pytest.raises(ValueError, match="weights sum to 0"):
        Population.finite(numbered(2), np.zeros((2, 2)), [0.0, 0.0])


class Bump:
    """Action 1 is best in a window that no node of a rule of 32 points looks into."""

    def scores(self, contexts: Contexts) -> Floats:
        x = contexts.shared[:, 0]
        return np.stack([np.zeros_like(x), 4e-4 - 4.0 * (x - 0.5) ** 2], axis=1)


def test_a_switch_there_and_back_between_two_nodes_is_found() -> None:
    population = Population.on_interval(
        lambda x: np.stack([np.ones_like(x), np.zeros_like(x)], axis=1), (0.0, 1.0)
    )
    assert population.regret(greedy_policy(Bump())) == pytest.approx(0.02, abs=1e-12)
    assert population.regret(greedy_policy(Bump()), under=Bump()) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda c: Population.finite(c, [[np.nan, 1.0], [0.0, 1.0]]), "means holds nan; give finite"),
        (lambda _: Population.sampled(StepExample(), 1, seed=0), "n is 1; give at least 2 rounds"),
    ],
)
def test_what_is_no_population_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(Contexts(np.zeros((2, 1))))


def test_contexts_of_weight_0_are_not_there() -> None:
    contexts = Contexts(np.array([[0.0], [1.0]]))
    population = Population.finite(contexts, [[0.0, 0.0], [9.0, 9.0]], weights=[1.0, 0.0])
    assert population.sup_error(Zero()) == 0.0


class Zero:
    def scores(self, contexts: Contexts) -> Floats:
        return np.zeros((len(contexts), 2))
