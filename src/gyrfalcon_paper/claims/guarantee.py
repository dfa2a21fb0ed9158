"""Lemma 7 in samples: who keeps the constraint, distances in convex classes, and runs by the book."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import PopulationMisspecification, misspecification
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import PlayedEpoch
from gyrfalcon.theory import active_error_bound, c_1, passive_error_bound, unit_slack
from gyrfalcon_paper.claims.claim import Finding, as_rare_as, inequality, unless_vacuous
from gyrfalcon_paper.claims.finite import Finite, count, largest, random_problems
from gyrfalcon_paper.linear_models import played_model

N_COEFFICIENTS = 4
DELTA = 0.05
LARGEST_SQUARE = 1.0
"""No squared difference of two numbers in [0, 1] is larger."""


def best_model_stays(
    n_draws: int, n_passive: int = 100, m: int = 3, C_1: float | None = None
) -> list[Finding]:
    """How often the best in-class model keeps epoch m's constraint, with passive rows of the step example."""
    constant = c_1() if C_1 is None else C_1
    unit = unit_slack(n_passive, N_COEFFICIENTS, m, DELTA)
    samples = [_excess_and_noise(n_passive, seed) for seed in range(n_draws)]
    failures = sum(excess > constant * unit for excess, _ in samples)
    calibrated = EpsilonFalcon()
    kept = float(np.mean([excess <= calibrated.c_beta * noise * unit for excess, noise in samples]))
    allowed = DELTA / (12.0 * m**2)
    numbers = {
        "slack": constant * unit,
        "largest_excess": max(excess for excess, _ in samples),
        "samples": n_draws,
        "exclusions": failures,
        "expected_at_most": allowed * n_draws,
        "share_kept_by_calibrated_slack": kept,
    }
    holds = unless_vacuous(as_rare_as(failures, n_draws, allowed), vacuous=constant * unit >= LARGEST_SQUARE)
    return [Finding("constraint-keeps-best", holds, numbers)]


def _excess_and_noise(n: int, seed: int) -> tuple[float, float]:
    """Excess risk of the best linear model on n passive rows, and the noise that their own fit estimates."""
    rng = np.random.default_rng([70, seed])
    drawn = StepExample().draw(0, n, seed)
    action = rng.integers(0, 2, size=n)
    rows, zeros = np.arange(n), np.zeros(n, dtype=np.int64)
    reward = drawn.rewards[rows, action]
    log = Log(drawn.contexts, action, reward, np.full(n, 0.5), zeros, rows, zeros + PASSIVE)
    oracle = Linear().oracle(drawn.contexts, 2)
    alpha = oracle.passive_risk(oracle.summarise(log))
    chosen = np.array(StepExample().best_coefficients)[action]
    best = chosen[:, 0] + chosen[:, 1] * drawn.contexts.shared[:, 0]
    return float(((best - reward) ** 2).mean()) - alpha, n * alpha / (n - N_COEFFICIENTS)


def distance_in_convex_classes(n_problems: int, printed: float = 2.0) -> list[Finding]:
    """Squared distance from the best model over excess risk, in segments and balls of reward models."""
    problems, rng = random_problems(n_problems, seed=71), np.random.default_rng(71)
    segments = largest(problems, lambda part: _in_segment(part, rng) / printed)
    balls = largest(problems, lambda part: _in_ball(part, rng) / printed)
    return [inequality("lemma-7-distance", max(segments, balls), 2 * count(problems))]


def _in_segment(part: Finite, rng: np.random.Generator) -> Floats:
    """Squared distance over excess risk of a random model on a segment from the problem's model."""
    other, flat = rng.random(part.model.shape), np.full_like(part.model, 1.0 / part.k)
    along = other - part.model
    size = part.error(along, flat)
    target = part.mean((flat * along * (part.truth - part.model)).sum(axis=2))
    best, chosen = np.clip(target / size, 0.0, 1.0), rng.random(len(part))
    return _distance_over_excess(part, *(part.model + _wide(share) * along for share in (best, chosen)))


def _in_ball(part: Finite, rng: np.random.Generator) -> Floats:
    """Squared distance over excess risk of a random model in a ball around the problem's model."""
    flat = np.full_like(part.model, 1.0 / part.k)
    radius = 0.5 * rng.random(len(part))
    towards, anywhere = part.truth - part.model, rng.standard_normal(part.model.shape)
    reach = np.minimum(1.0, radius / np.sqrt(np.maximum(part.error(towards, flat), 1e-30)))
    chosen = rng.random(len(part)) * radius / np.sqrt(part.error(anywhere, flat))
    return _distance_over_excess(
        part, part.model + _wide(reach) * towards, part.model + _wide(chosen) * anywhere
    )


def _distance_over_excess(part: Finite, best: Floats, chosen: Floats) -> Floats:
    flat = np.full_like(part.model, 1.0 / part.k)
    excess = part.error(chosen - part.truth, flat) - part.error(best - part.truth, flat)
    return np.asarray(part.error(chosen - best, flat) / np.maximum(excess, 1e-12))


def _wide(column: Floats) -> Floats:
    return column[:, np.newaxis, np.newaxis]


def errors_of_runs(n_replications: int, n_epochs: int = 12, share: float = 1.0) -> list[Finding]:
    """Lemma 7 along runs of Algorithm 1 with the paper's constants, on the step example.

    `share` scales both bounds, to see how much of them is needed.
    """
    learner, example = EpsilonFalcon(constants="paper", epsilon=0.1, delta=DELTA), StepExample()
    ends = [4 * 2**step for step in range(n_epochs)]
    trace = simulate(
        learner, example, ends[-1], n_replications, seed=72, checkpoints=ends, keep_policies=True
    )
    found = misspecification(example.population, Linear())
    # (R, epochs, 2, 2): both errors and their bounds
    pairs = np.array(
        [
            [_with_bounds(found, *pair, learner.passive_share) for pair in pairwise(run)]
            for run in trace.epochs
        ]
    )
    errors, bounds = pairs[..., 0], share * pairs[..., 1]
    failed = int((errors > bounds).any(axis=(1, 2)).sum())
    numbers = {
        "runs": n_replications,
        "runs_with_an_exception": failed,
        "largest_passive_error_over_bound": float((errors / bounds)[..., 0].max()),
        "largest_active_error_over_bound": float((errors / bounds)[..., 1].max()),
        "smallest_bound": float(bounds.min()),
    }
    rare = as_rare_as(failed, n_replications, DELTA / 2.0)
    vacuous = float(bounds.min()) >= LARGEST_SQUARE
    return [Finding("lemma-7", unless_vacuous(rare, vacuous=vacuous), numbers)]


def _with_bounds(
    found: PopulationMisspecification, before: PlayedEpoch, after: PlayedEpoch, epsilon: float
) -> list[tuple[float, float]]:
    """Both errors of an epoch's fit, each with its bound of Lemma 7."""
    population, n, m = StepExample().population, before.stop - before.start, before.index
    fit = _model(after.policy)
    off = fit.scores(population.contexts) - found.model.scores(population.contexts)
    distance = population.mean((population.uniform_play() * off**2).sum(axis=1))
    return [
        (distance, passive_error_bound(n, N_COEFFICIENTS, m, epsilon, DELTA)),
        (
            population.mean_error(fit, before.policy),
            active_error_bound(n, N_COEFFICIENTS, m, DELTA, found.B),
        ),
    ]


def _model(policy: Policy | None) -> Scorer:
    if not isinstance(policy, KernelPolicy):
        raise TypeError(f"policy is {policy!r}; simulate with keep_policies=True and a learner with a model.")
    played = played_model(policy)
    assert played is not None
    return played
