"""What claims are computed with, each against a second way."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import mpmath
import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.population import Population
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.theory import LINEAR_CONSTANTS, regret_bound
from gyrfalcon_paper.claims import one_step
from gyrfalcon_paper.claims.epochs import drawn_setting, steps
from gyrfalcon_paper.claims.exact import Problem, moments
from gyrfalcon_paper.claims.examples import iltcb_bound
from gyrfalcon_paper.claims.finite import Finite, random_problems
from gyrfalcon_paper.claims.guarantee import distance_in_convex_classes
from gyrfalcon_paper.claims.kernel import projected
from gyrfalcon_paper.claims.search import Regressions, exact_ends, race, random_regressions
from gyrfalcon_paper.claims.sums import horizon_of_meaning, rounds_until, whole_epochs
from tests.environments.tables import TableModel, TablePolicy, numbered

PROBLEMS = random_problems(90, seed=5)


@pytest.mark.parametrize("part", PROBLEMS, ids=lambda part: str(part.truth.shape))
def test_finite_problems_are_what_populations_say(part: Finite) -> None:
    contexts = numbered(part.truth.shape[1])
    population = Population.finite(contexts, part.truth[0], part.weights[0])
    model = TableModel(part.model[0])
    play = KernelPolicy(model, InverseGapWeighting(float(part.gamma[0])))
    np.testing.assert_allclose(part.play[0], play.probabilities(contexts), rtol=1e-10)
    policies = [TablePolicy.choosing(choice, part.k) for choice in part.choices]
    assert part.value(part.model)[0] == pytest.approx([population.value(each, model) for each in policies])
    assert part.regret(part.truth)[0] == pytest.approx(
        [population.regret(each) for each in policies], abs=1e-12
    )
    assert part.divergence(part.play)[0] == pytest.approx(
        [population.divergence(play, each) for each in policies], rel=1e-9
    )
    assert part.chances(part.play)[0].sum() == pytest.approx(1.0)
    assert part.error(part.model - part.truth, part.play)[0] == pytest.approx(
        population.mean_error(model, play)
    )


def test_projections_are_nearer_than_any_other_model_of_the_plane() -> None:
    part = PROBLEMS[-1]
    best = projected(part, np.random.default_rng(0))
    again = projected(Finite(part.weights, best, part.model, part.gamma), np.random.default_rng(0))
    np.testing.assert_allclose(again, best, atol=1e-10)  # the same plane holds it
    flat = np.full_like(best, 1.0 / part.k)
    other = projected(Finite(part.weights, part.model, part.model, part.gamma), np.random.default_rng(0))
    for share in (0.3, 1.0):
        moved = best + share * (other - best)
        assert (part.error(moved - part.truth, flat) >= part.error(best - part.truth, flat) - 1e-12).all()


def test_epochs_are_at_the_edge_of_the_oracles_guarantee() -> None:
    rng = np.random.default_rng(1)
    for part in PROBLEMS:
        setting = drawn_setting(part, rng)
        flat = np.full_like(part.truth, 1.0 / part.k)
        for step in steps(part, setting, rng):
            gamma = setting.gamma[step.number]
            passive = part.error(step.after - setting.best, flat)
            active = part.error(step.after - part.truth, step.play)
            product = LINEAR_CONSTANTS.C_3 * LINEAR_CONSTANTS.C_4
            used = np.maximum(
                passive * setting.epsilon * gamma**2 / (product * part.k),
                active / (setting.worst + part.k / (4.0 * gamma**2)),
            )
            np.testing.assert_allclose(used, 1.0, rtol=1e-6)


def test_distances_in_convex_classes_reach_the_excess_risk_itself() -> None:
    """Pythagoras, within a segment around the projection: half of what the paper allows."""
    assert distance_in_convex_classes(900)[0].numbers["largest_ratio"] == pytest.approx(0.5, abs=1e-3)


def test_sums_over_epochs_round_by_round() -> None:
    for T, tau_1 in ((4, 4), (5, 4), (100, 7), (129, 4), (1000, 9)):
        by_round = 0.0
        for t in range(tau_1 + 1, T + 1):
            m = math.ceil(math.log2(t / tau_1)) + 1
            by_round += (tau_1 if m <= 3 else tau_1 * 2 ** (m - 3)) ** -0.5
        assert rounds_until(T, tau_1) == pytest.approx(by_round)
        assert whole_epochs(T, tau_1) >= by_round - 1e-9


def test_the_bound_is_below_t_from_its_horizon_on() -> None:
    T = horizon_of_meaning()
    for factor, meaningful in ((0.9, False), (1.1, True)):
        rounds = round(factor * T)
        assert (regret_bound(rounds, 2, 4.0, 0.0, 0.05, 0.05).total < rounds) is meaningful
    assert horizon_of_meaning(b=1 / 32) == math.inf


def test_iltcbs_bound_by_hand() -> None:
    learning = math.sqrt(16.0 * 10 * 1e6 * math.log(16.0 * 4e12 * 100 / 0.05))
    scale = 400.0 + 4.0 * math.sqrt(2.0) * 95.1
    assert iltcb_bound(1e6, 10, 100) > scale * learning
    assert iltcb_bound(1e6, 10, 100) < 1.2 * scale * learning


@pytest.mark.parametrize("seed", range(5))
def test_regressions_at_the_exact_multiplier_keep_the_constraint_just_so(seed: int) -> None:
    found, problem = race(seed), random_regressions(seed)
    if found.binds:
        excess = problem(found.exact).passive_risk - problem(math.inf).passive_risk
        assert excess == pytest.approx(problem.slack, rel=1e-6)
    else:
        assert problem(0.0).passive_risk - problem(math.inf).passive_risk <= problem.slack


def mpmath_risk(problem: Regressions, multiplier: str) -> Any:
    """Least active risk + multiplier passive risk, by QR of the weighted rows instead of normal equations."""
    n, n_passive = len(problem.r), len(problem.r_passive)
    weights = [mpmath.sqrt(mpmath.mpf(1) / n)] * n
    weights += [mpmath.sqrt(mpmath.mpf(multiplier) / n_passive)] * n_passive
    rows = [*problem.X.tolist(), *problem.X_passive.tolist()]
    targets = [*problem.r.tolist(), *problem.r_passive.tolist()]
    A = mpmath.matrix([[w * x for x in row] for w, row in zip(weights, rows, strict=True)])
    b = mpmath.matrix([w * r for w, r in zip(weights, targets, strict=True)])
    return mpmath.norm(A * mpmath.qr_solve(A, b)[0] - b) ** 2


@pytest.mark.parametrize("multiplier", ["0.5", "3"])
def test_duals_in_40_digits_are_those_of_another_arithmetic(multiplier: str) -> None:
    problem = min((random_regressions(seed) for seed in range(20)), key=lambda each: each.X.size)
    with localcontext(prec=40):
        sides = moments(problem.X, problem.r), moments(problem.X_passive, problem.r_passive)
        m, ours = Decimal(multiplier), Problem(*sides, Decimal(problem.slack))
        risk = ours.fit(m).dual + m * (ours.alpha + ours.slack)
    with mpmath.workdps(50):
        assert abs(mpmath.mpf(str(risk)) - mpmath_risk(problem, multiplier)) < mpmath.mpf(10) ** -36


def test_a_coarse_search_in_40_digits_ends_where_it_does_in_double_precision() -> None:
    for seed in range(6):
        each = race(seed, kappa=1e-3)
        assert float(exact_ends(each, 1e-3).middle) == pytest.approx(each.printed.multiplier, abs=1e-3)


def real_rows(example: SensitivityExample, n: int, seed: int) -> Log:
    """Rows of the optimal policy, one by one."""
    drawn = example.draw(0, n, seed)
    action, zeros = drawn.means.argmax(axis=1), np.zeros(n, dtype=np.int64)
    reward = drawn.rewards[np.arange(n), action]
    return Log(drawn.contexts, action, reward, np.ones(n), zeros, np.arange(n), zeros + POLICY)


LEARNERS: dict[str, Learner] = {"LinUCB": LinUCB(), "LinTS": LinTS(), "FALCON": Falcon()}


@pytest.mark.parametrize("name", LEARNERS)
def test_summed_up_rows_lead_to_the_same_regret_as_rows_one_by_one(name: str) -> None:
    example, n = SensitivityExample(0.05), 20_000
    x = (np.arange(2000) + 0.5) / 2000
    population = Population.finite(Contexts(x[:, np.newaxis]), example.means(x))
    one_by_one, summed = [], []
    for seed in range(30):
        epoch = LEARNERS[name].start(example.problem, real_rows(example, n, seed))
        one_by_one.append(population.regret(epoch.policy))
        summed.append(one_step.outcome(0.05, n, seed).regret[name])
    error = math.hypot(np.std(one_by_one), np.std(summed)) / math.sqrt(30)
    # Independent samples: four errors are exceeded once in 10,000 seeds; 1e-3 is for the rounded contexts.
    assert abs(np.mean(one_by_one) - np.mean(summed)) < 4.0 * error + 1e-3


def test_interval_widths_by_the_populations_moments() -> None:
    """alpha sqrt(phi' (n M + ridge)^-1 phi) at x = 0, with M of uniform contexts above 1 - theta."""
    theta, n = 0.05, 10**8
    centre, variance = 1.0 - theta / 2.0, theta**2 / 12.0
    width = math.sqrt((1.0 + centre**2 / variance) / (n * theta))
    assert one_step.outcome(theta, n, 0).width == pytest.approx(width, rel=0.02)
