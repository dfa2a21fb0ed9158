"""What `half_life` promises: more reward after a change, and hardly less where nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.data.named import dataset
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.environments.wrappers import Switching
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.simulation.simulate import simulate

N_ROUNDS, N_RUNS = 6_000, 4


def gains(environment: Environment, classes: str, half_life: float) -> Floats:
    """(runs,): how much more reward a round there is with forgetting, in the second half."""
    late = [
        simulate(
            AdaptiveFalcon(classes=classes, half_life=kept),
            environment,
            N_ROUNDS,
            N_RUNS,
            seed=3,
            checkpoints=[N_ROUNDS // 2, N_ROUNDS],
        ).late_reward(0.5)
        for kept in (half_life, None)
    ]
    return np.asarray(late[0] - late[1])


@pytest.mark.parametrize("classes", ["linear", "auto"])
def test_after_a_change_forgetting_earns_more(classes: str) -> None:
    environment = Switching(
        (LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=1)), at=N_ROUNDS // 2
    )
    # Over these four runs .12 to .15 with lines, .09 to .10 with all classes.
    assert gains(environment, classes, 1_000.0).min() > 0.05


@pytest.mark.parametrize(
    ("environment", "classes", "half_life"),
    [
        (LinearEnvironment(), "linear", 1_000.0),
        (LinearEnvironment(), "auto", 1_000.0),
        ("magic", "linear", 1_000.0),
        ("segment", "linear", 4_000.0),
        ("satimage", "linear", 4_000.0),
    ],
    ids=str,
)
def test_where_nothing_changes_it_costs_half_a_point_at_most(
    environment: Environment | str, classes: str, half_life: float
) -> None:
    given = dataset(environment) if isinstance(environment, str) else environment
    # Each leaves some twenty rows to a coefficient; with half as many, segment and satimage lose .6 points.
    assert gains(given, classes, half_life).mean() > -0.005
