"""Differences between the costs and probabilities of our dsjson and what Vowpal Wabbit reads from it.

`.venv-bench/bin/python -m benchmarks.agreement.vowpal_wabbit` prints the largest difference for each shape of
log; the exit code is 1 if one is above 1e-7 of its scale, which single precision allows for, or if Vowpal
Wabbit finds another action.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.agreement import wabbit_labels as wabbit
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import write_log

TOLERANCE = 1e-7
SHAPES = ((1_000, 2, 0, 0, 1.0), (1_000, 10, 20, 0, 1.0), (500, 40, 5, 3, 1.0), (1_000, 5, 3, 2, 1e4))
"""Rows, actions, features, features of actions, and scale of the rewards."""


def random_table(n: int, n_actions: int, p: int, q: int, scale: float, seed: int) -> DecisionTable:
    """Random decisions with ineligible actions, where actions have features with these as well."""
    rng = np.random.default_rng(seed)
    eligible = rng.random((n, n_actions)) < 0.7
    eligible[np.arange(n), rng.integers(n_actions, size=n)] = True
    shares = np.where(eligible, rng.exponential(size=(n, n_actions)) + 1e-6, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    action = (shares.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    cube = rng.standard_normal((n, n_actions, q)) if q else None
    return DecisionTable(
        actions=tuple(f"action {label}" for label in range(n_actions)),
        contexts=Contexts(rng.standard_normal((n, p)), cube, eligible),
        action=action,
        reward=scale * rng.standard_normal(n),
        propensity=shares[np.arange(n), action],
        distribution=shares,
        features=tuple(f"x{column}" for column in range(p)),
        action_features=tuple(f"a{column}" for column in range(q)),
    )


def differences(table: DecisionTable, scale: float) -> tuple[float, float, int]:
    """Largest difference of costs over their scale and of probabilities, and the number of other actions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.dsjson"
        write_log(table, path)
        found = wabbit.labels(path.read_text(encoding="utf-8").splitlines())
    costs = np.array([label.cost for label in found])
    chances = np.array([label.probability for label in found])
    places = table.eligible.cumsum(axis=1)[np.arange(len(table)), table.action]
    others = sum(label.action != place for label, place in zip(found, places, strict=True))
    largest = max(scale, float(np.abs(table.reward).max()))
    return (
        float(np.abs(costs + table.reward).max() / largest),
        float(np.abs(chances - table.propensity).max()),
        int(others),
    )


def main() -> int:
    """Print the table of differences, and return the exit code."""
    print(f"{'rows':>6} {'actions':>8} {'features':>9} {'scale':>8} {'costs':>10} {'probabilities':>14}")
    failed = False
    for seed, (n, n_actions, p, q, scale) in enumerate(SHAPES):
        costs, chances, others = differences(random_table(n, n_actions, p, q, scale, seed), scale)
        print(f"{n:>6} {n_actions:>8} {p + q:>9} {scale:>8g} {costs:>10.1e} {chances:>14.1e}")
        failed |= max(costs, chances) > TOLERANCE or others > 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
