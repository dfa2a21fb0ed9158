"""The best in-class model and its errors against closed forms: the paper's examples, products, fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import Scorer, UniformPolicy
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from tests.environments.tables import Always, Lines, numbered

STEP = StepExample()
ACTION_1 = Always((1.0, 0.0))


def lines_of(model: Scorer) -> Floats:
    """Intercept and slope of every action, (K, 2)."""
    ends = model.scores(Contexts(np.array([[0.0], [1.0]])))
    return np.stack([ends[0], ends[1] - ends[0]], axis=1)


# Section 1.1.


def test_section_1_1_has_its_closed_form() -> None:
    found = misspecification(STEP.population, Linear())
    np.testing.assert_allclose(lines_of(found.model), [[-0.25, 1.5], [0.5, 0.0]], rtol=0, atol=1e-13)
    assert (found.b, found.B, found.sup) == pytest.approx((1 / 32, 1 / 16, 0.5), abs=1e-13)
    assert STEP.population.mean_error(found.model, ACTION_1) == pytest.approx(1 / 16, abs=1e-13)


def test_section_1_1_has_its_values_and_regrets() -> None:
    population = STEP.population
    best = best_in_class(population, Linear())
    assert population.optimal_value() == pytest.approx(0.75, abs=1e-14)
    assert population.regret(greedy_policy(best)) == pytest.approx(0.0, abs=1e-14)
    assert population.regret(ACTION_1) == pytest.approx(0.25, abs=1e-14)
    assert population.regret(UniformPolicy(2)) == pytest.approx(0.25, abs=1e-14)


def test_section_1_1_data_of_the_optimal_policy_make_action_1_look_best_everywhere() -> None:
    population = STEP.population
    best = best_in_class(population, Linear())
    misled = best_in_class(population, Linear(), play=greedy_policy(best))
    np.testing.assert_allclose(lines_of(misled), [[1.0, 0.0], [0.5, 0.0]], rtol=0, atol=1e-12)
    assert population.regret(greedy_policy(misled)) == pytest.approx(0.25, abs=1e-14)


def test_section_1_1_greedy_play_that_fits_its_own_data_switches_too_early() -> None:
    population = STEP.population

    def fitted_switch(switch: float) -> float:
        fitted = best_in_class(population, Linear(), play=greedy_policy(Lines(((-switch, 1.0), (0.0, 0.0)))))
        (first, slope), (level, _) = lines_of(fitted)
        return float((level - first) / slope)

    switch = brentq(lambda s: fitted_switch(s) - s, 0.3, 0.49, xtol=1e-15)
    share = (4 - math.sqrt(10)) / 6  # the share of action 1's contexts that lies below .5
    assert switch == pytest.approx((0.5 - share) / (1 - share), abs=1e-12)
    assert switch == pytest.approx(0.418861, abs=5e-7)
    regret = population.regret(greedy_policy(Lines(((-switch, 1.0), (0.0, 0.0)))))
    assert regret == pytest.approx(0.5 * (0.5 - switch), abs=1e-13)
    assert regret == pytest.approx(0.040569, abs=1e-6)


# Appendix E.


@pytest.mark.parametrize(
    ("theta", "line", "m", "b", "regret"),
    [
        (0.05, (0.01675, 0.2565), -0.7785, 0.01649616, 0.50370188),
        (0.01, (0.08227, 0.05346), -0.87354, 0.00389042, 0.46292172),
    ],
)
def test_appendix_e_has_its_numbers(
    theta: float, line: tuple[float, float], m: float, b: float, regret: float
) -> None:
    population = SensitivityExample(theta).population
    found = misspecification(population, Linear())
    np.testing.assert_allclose(lines_of(found.model), [line, (1.0, m)], rtol=0, atol=1e-12)
    assert (found.b, found.B) == pytest.approx((b, 2 * b), abs=1e-8)
    assert population.regret(ACTION_1) == pytest.approx(regret, abs=1e-8)


@given(theta=st.floats(1e-4, 0.05))
def test_appendix_e_has_its_closed_form(theta: float) -> None:
    environment = SensitivityExample(theta)
    population = environment.population
    found = misspecification(population, Linear())
    np.testing.assert_allclose(
        lines_of(found.model), [environment.best_coefficients, (1.0, environment.slope)], rtol=0, atol=1e-12
    )
    assert (found.b, found.B) == pytest.approx((environment.b, 2 * environment.b), abs=1e-13)
    at_jump = sum(np.array(environment.best_coefficients) * (1.0, 1.0 - theta))
    assert found.sup == pytest.approx(1.0 - at_jump, abs=1e-12)
    assert population.regret(greedy_policy(found.model)) == pytest.approx(0.0, abs=1e-13)
    regret = 0.9 * (1 - theta) + environment.slope * (1 - theta) ** 2 / 2
    assert population.regret(ACTION_1) == pytest.approx(regret, abs=1e-13)
    assert regret > 0.4275
    assert found.b < theta / 2


@pytest.mark.parametrize("theta", [0.05, 0.01])
def test_appendix_e_data_of_the_optimal_policy_hide_the_low_rewards_of_action_1(theta: float) -> None:
    environment = SensitivityExample(theta)
    best = best_in_class(environment.population, Linear())
    misled = best_in_class(environment.population, Linear(), play=greedy_policy(best))
    np.testing.assert_allclose(lines_of(misled), [(1.0, 0.0), (1.0, environment.slope)], rtol=0, atol=1e-9)
    assert environment.population.regret(greedy_policy(misled)) == pytest.approx(
        environment.population.regret(ACTION_1), abs=1e-9
    )


# Other classes and populations.


def test_the_best_linear_model_of_a_product_of_three() -> None:
    """With u, v, w = x - 1/2, ... what is left of x y z is (u v + u w + v w) / 2 + u v w."""
    cube = Population.on_box(lambda x: np.stack([x.prod(axis=1), 0 * x[:, 0]], axis=1), [(0, 1)] * 3, order=4)
    found = misspecification(cube, Linear())
    assert (found.b, found.B) == pytest.approx((5 / 1728, 5 / 864), abs=1e-14)
    assert found.sup == pytest.approx(0.5, abs=1e-12)  # at (1, 1, 1)


def test_a_richer_class_is_less_wrong() -> None:
    population = Population.on_interval(lambda x: np.stack([x**3, x], axis=1), (0, 1))
    line, parabola, cubic = (
        misspecification(population, Linear(basis=Polynomial(degree=degree))) for degree in (1, 2, 3)
    )
    # What is left of x^3 after degree 2 is a shifted Legendre polynomial, leading coefficient 20, over 20.
    assert parabola.b == pytest.approx(1 / 7 / 20**2 / 2, abs=1e-15)
    assert parabola.sup == pytest.approx(1 / 20, abs=1e-12)
    assert line.b == pytest.approx((1 / 7 / 20**2 + (3 / 2) ** 2 / 5 / 6**2) / 2, abs=1e-15)
    assert cubic.b == pytest.approx(0.0, abs=1e-25)


def test_a_ridge_weighs_nothing_unless_rows_are_few() -> None:
    population = Population.on_interval(lambda x: np.stack([x, 1.0 - x], axis=1), (0, 1))
    exact = best_in_class(population, Linear(ridge=1.0))
    np.testing.assert_allclose(lines_of(exact), [[0.0, 1.0], [1.0, -1.0]], rtol=0, atol=1e-11)
    # Each action has half of 20 rows; a ridge of 1 on the standardised slope shrinks it by 10 / 11.
    shrunk = best_in_class(population, Linear(ridge=1.0), rows=20.0)
    np.testing.assert_allclose(lines_of(shrunk)[:, 1], [10 / 11, -10 / 11], rtol=0, atol=1e-12)


def test_an_oracle_sees_the_same_rows_as_active_and_as_passive() -> None:
    population = STEP.population
    nodes = population.contexts.take(population.weights > 0)
    log = STEP.problem.log(
        nodes, [1] * len(nodes), rewards=STEP.means(nodes.shared[:, 0])[:, 0], propensities="uniform"
    )
    oracle = Linear().oracle(nodes, 2)
    rows = oracle.summarise(log, population.weights[population.weights > 0])
    active, passive = oracle.fit(rows, oracle.empty())[0], oracle.fit(oracle.empty(), rows)[0]
    np.testing.assert_allclose(lines_of(active)[0], lines_of(passive)[0], rtol=0, atol=1e-13)


def test_models_that_share_coefficients_are_projected_too() -> None:
    """Actions without anything to tell them apart share one constant: the mean of all true means."""
    contexts = Contexts(np.zeros((2, 0)), actions=np.zeros((2, 2, 1)))
    population = Population.finite(contexts, [[0.0, 1.0], [0.5, 0.5]], [3, 1])
    found = misspecification(population, Linear(layout="shared"))
    np.testing.assert_allclose(found.model.scores(contexts), 0.5, rtol=0, atol=1e-13)
    assert (found.b, found.B, found.sup) == pytest.approx((3 / 16, 3 / 16, 0.5), abs=1e-13)


def test_uniform_play_is_uniform_over_those_who_may_be_chosen() -> None:
    """Context 0 has both actions, context 1 only the first: its rows weigh 1 / 2 and 1."""
    contexts = Contexts(np.zeros((2, 1)), None, np.array([[True, True], [True, False]]))
    population = Population.finite(contexts, [[0.0, 0.25], [1.0, np.nan]])
    best = best_in_class(population, Linear())
    np.testing.assert_allclose(best.scores(contexts.take(slice(0, 1))), [[2 / 3, 0.25]], rtol=0, atol=1e-13)
    assert population.mean_error(best) == pytest.approx((2 / 9 + 1 / 9) / 2, abs=1e-13)


fractions = st.integers(-20, 20).map(lambda i: Fraction(i, 7))


def exact_line(weights: list[Fraction], y: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Intercept and slope of the weighted line through (0, y_0), (1, y_1), ..."""
    total = sum(weights, Fraction(0))
    mean = sum((w * i for i, w in enumerate(weights)), Fraction(0)) / total
    spread = sum((w * (i - mean) ** 2 for i, w in enumerate(weights)), Fraction(0))
    slope = sum((w * (i - mean) * y[i] for i, w in enumerate(weights)), Fraction(0)) / spread
    level = sum((w * y[i] for i, w in enumerate(weights)), Fraction(0)) / total
    return level - slope * mean, slope


@given(
    st.lists(st.tuples(st.integers(1, 9), fractions, fractions), min_size=2, max_size=5),
    st.lists(st.integers(1, 9), min_size=2, max_size=2),
)
def test_a_finite_population_has_the_best_lines_of_fractions(
    rows: list[tuple[int, Fraction, Fraction]], odds: list[int]
) -> None:
    mass, *columns = map(list, zip(*rows, strict=True))
    weights = [Fraction(m, sum(mass)) for m in mass]
    population = Population.finite(numbered(len(rows)), np.array(columns, dtype=np.float64).T, mass)
    exact = [exact_line(weights, column) for column in columns]
    expected = np.array(exact, dtype=np.float64)
    play = Always((odds[0] / sum(odds), odds[1] / sum(odds)))
    for model in (best_in_class(population, Linear()), best_in_class(population, Linear(), play=play)):
        np.testing.assert_allclose(lines_of(model), expected, rtol=0, atol=1e-11)
    squares = [
        [(first + slope * i - column[i]) ** 2 for (first, slope), column in zip(exact, columns, strict=True)]
        for i in range(len(rows))
    ]
    found = misspecification(population, Linear())
    b = sum((w * sum(row) / 2 for w, row in zip(weights, squares, strict=True)), Fraction(0))
    B = sum((w * max(row) for w, row in zip(weights, squares, strict=True)), Fraction(0))
    assert (found.b, found.B) == pytest.approx((float(b), float(B)), rel=1e-10, abs=1e-13)
    assert found.sup == pytest.approx(math.sqrt(max(map(max, squares))), abs=1e-11)


def test_a_sample_finds_the_misspecification_within_its_error() -> None:
    sample = Population.sampled(STEP, 20_000, seed=5)
    found = misspecification(sample, Linear())
    stray = sample.standard_error(sample.squared_errors(found.model).mean(axis=1))
    assert 0.0 < stray < 4e-4
    # Five standard errors: once in 1.7 million seeds; the fit's own optimism, 4 coefficients over n, is less.
    assert abs(found.b - 1 / 32) < 5 * stray


class Window:
    """Action 0 is best on (0, .4997) and (.5003, 1), and the other in between."""

    def scores(self, contexts: Contexts) -> Floats:
        x = contexts.shared[:, 0]
        return np.stack([np.zeros_like(x), 9e-8 - (x - 0.5) ** 2], axis=1)


def test_the_best_model_under_a_policy_sees_what_it_rarely_plays() -> None:
    population = Population.on_interval(lambda x: np.stack([0.0 * x, x], axis=1), (0.0, 1.0))
    play = greedy_policy(Window())
    best = best_in_class(population, Linear(), play=play)
    assert population.mean_error(best, play) == pytest.approx(0.0, abs=1e-15)
