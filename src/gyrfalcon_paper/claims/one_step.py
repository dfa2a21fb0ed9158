"""Appendix E, one step: what LinUCB, LinTS and FALCON play after n rows of the optimal policy's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.policies.thompson import ThompsonPolicy
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.population import Population
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.ridge_learner import optimistic_policy
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.theory import unit_gamma
from gyrfalcon_paper.claims.claim import Finding

CELLS = 1000
"""Contexts are rounded to the middles of this many cells: the rows of a cell are then one weighted row."""

LEARNERS = ("LinUCB", "LinTS", "FALCON")
WITHOUT_BONUS = "LinUCB without its bonus"
CONFIDENT = 0.95
TIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one data set of n rows leads to."""

    regret: dict[str, float]
    """Of the next policy, by learner."""
    width: float
    """The largest half-width of LinUCB's intervals for action 1, over contexts."""
    far: float
    """The largest distance of LinUCB's estimates from the misleading fit, over contexts and actions."""
    excluded: float
    """The share of contexts below 1 - theta in which LinUCB's interval excludes the truth of action 1."""


def one_step(
    theta: float,
    n_seeds: int,
    factor: float,
    printed: float = SensitivityExample.claimed_regret,
    largest: float = 1e12,
) -> list[Finding]:
    """From how many rows on the next policy's regret is above the printed one in 95% of data sets.

    Sizes run from 100 rows up to the largest, each `factor` times the one before.
    """
    sizes = _sizes(factor, largest)
    outcomes = [[outcome(theta, n, seed) for seed in range(n_seeds)] for n in sizes]
    suffix = f"theta-{theta:g}"
    return [
        _intervals(f"one-step-intervals-{suffix}", sizes, outcomes),
        *(
            _next_policy(f"one-step-{name.lower()}-{suffix}", name, sizes, outcomes, printed)
            for name in LEARNERS
        ),
    ]


def outcome(theta: float, n: int, seed: int) -> Outcome:
    """One data set of n rows, and what each learner makes of it."""
    example = SensitivityExample(theta)
    x = (np.arange(CELLS) + 0.5) / CELLS
    population = Population.finite(Contexts(x[:, np.newaxis]), example.means(x))
    log, counts = optimal_rows(example, x, n, seed)
    model = _ridge_fit(log, counts, LinUCB().ridge)
    policies = next_policies(log, counts, model)
    wide, estimates = LinUCB().alpha * model.widths(population.contexts), model.means(population.contexts)
    misleading = np.stack([np.ones(CELLS), population.means[:, 1]], axis=1)
    wrong = np.abs(estimates[:, 0] - population.means[:, 0]) > wide[:, 0]
    return Outcome(
        {name: population.regret(policy) for name, policy in policies.items()},
        float(wide[:, 0].max()),
        float(np.abs(estimates - misleading).max()),
        float(wrong[x < 1.0 - theta].mean()),
    )


def optimal_rows(example: SensitivityExample, x: Floats, n: int, seed: int) -> tuple[Log, Floats]:
    """Rows of the optimal policy, n in all, summed up: the mean reward of each cell x, and how many.

    The mean of k rewards with Gaussian noise is one reward with a k-th of its variance, so that the fits are
    those of the n rows.
    """
    rng = np.random.default_rng([60, seed, n])
    drawn = rng.multinomial(n, np.full(len(x), 1.0 / len(x))).astype(np.float64)
    x, counts = x[drawn > 0.0], drawn[drawn > 0.0]
    means = example.means(x)
    action = means.argmax(axis=1)
    rewards = means.max(axis=1) + example.noise * rng.standard_normal(len(x)) / np.sqrt(counts)
    zeros, ones = np.zeros(len(x), dtype=np.int64), np.ones(len(x))
    log = Log(Contexts(x[:, np.newaxis]), action, rewards, ones, zeros, np.arange(len(x)), zeros + POLICY)
    return log, counts


def next_policies(log: Log, counts: Floats, model: OptimisticModel) -> dict[str, Policy]:
    """What each learner, with its own settings, would play next; `model` is the ridge fit of the rows."""
    falcon = Falcon()
    oracle = _oracle(log, 0.0)
    plain, _ = oracle.fit(oracle.summarise(log, counts), oracle.empty())
    unit = unit_gamma(int(counts.sum()), 2, oracle.n_parameters, index=2, delta=falcon.delta)
    scale = LinTS().scale_after(float(counts.sum()), oracle.n_parameters)
    return {
        "LinUCB": optimistic_policy(model, LinUCB().alpha, 0.0),
        WITHOUT_BONUS: optimistic_policy(model, 0.0, 0.0),
        "LinTS": ThompsonPolicy(model, scale, 0.0),
        "FALCON": KernelPolicy(plain, InverseGapWeighting(falcon.c_gamma * unit)),
    }


def enough(sizes: Sequence[int], shares: Sequence[float], wanted: float = CONFIDENT) -> int | None:
    """The size from which on every share is at least the one wanted; None if the last is not.

    >>> enough([1, 2, 4, 8], [1.0, 0.5, 0.96, 1.0]), enough([1, 2], [1.0, 0.0])
    (4, None)
    """
    good = [share >= wanted for share in shares]
    last_bad = max((place for place, ok in enumerate(good) if not ok), default=-1)
    return sizes[last_bad + 1] if last_bad + 1 < len(sizes) else None


def _next_policy(
    key: str, name: str, sizes: list[int], outcomes: list[list[Outcome]], printed: float
) -> Finding:
    n, plain = (
        enough(sizes, [float(np.mean([each.regret[which] >= printed for each in row])) for row in outcomes])
        for which in (name, WITHOUT_BONUS)
    )
    last = float(np.mean([each.regret[name] for each in outcomes[-1]]))
    numbers = {"rows_needed": n, "rows_needed_without_bonus": plain if name == "LinUCB" else None}
    return Finding(
        key,
        n is not None,
        {**_known(numbers), f"regret_at_{sizes[-1]:.0e}_rows": last, "data_sets": len(outcomes[0])},
    )


def _intervals(key: str, sizes: list[int], outcomes: list[list[Outcome]]) -> Finding:
    tight = [float(np.mean([each.width <= TIGHT and each.far <= TIGHT for each in row])) for row in outcomes]
    excluded = [float(np.mean([each.excluded == 1.0 for each in row])) for row in outcomes]
    n, n_excluded = enough(sizes, tight), enough(sizes, excluded)
    return Finding(
        key,
        n is not None and n_excluded is not None,
        {**_known({"rows_needed": n, "rows_to_miss_the_truth": n_excluded}), "data_sets": len(outcomes[0])},
    )


def _known(numbers: dict[str, int | None]) -> dict[str, float]:
    return {name: float(number) for name, number in numbers.items() if number is not None}


def _sizes(factor: float, largest: float) -> list[int]:
    sizes = [100]
    while sizes[-1] * factor <= largest:
        sizes.append(int(sizes[-1] * factor))
    return sizes


def _oracle(log: Log, ridge: float) -> LinearOracle:
    return replace(Linear(), ridge=ridge).oracle(log.contexts, 2)


def _ridge_fit(log: Log, counts: Floats, ridge: float) -> OptimisticModel:
    oracle = _oracle(log, ridge)
    model, _ = oracle.optimistic(oracle.summarise(log, counts), 0.0)
    return model
