"""Values that hold arrays show their shapes, in one line."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.solvers.moments import Moments

KNOWN = np.array([True, False])
MODEL = PerActionModel(IdentityMap(300), None, np.ones((2, 300)), np.ones((2, 1)), KNOWN)


def test_outcomes_and_populations_show_how_many_rows_they_have() -> None:
    shapes = "contexts=Contexts, means=array[9000, 2], rewards=array[9000, 2]"
    assert repr(StepExample().draw(0, 9_000, seed=0)) == f"PotentialOutcomes({shapes})"
    late = Delayed(StepExample(), mean=3).draw(0, 5, seed=0)
    assert repr(late).endswith("rewards=array[5, 2], reward_round=array[5])")
    assert repr(StepExample().population).startswith("Population(contexts=Contexts, weights=array[")


def test_moments_show_blocks_and_features() -> None:
    assert repr(Moments.of(np.ones((3, 2)), np.ones(3), keep_root=True)).endswith("root=array[1, 3, 3])")


def test_a_model_shows_actions_and_features() -> None:
    shapes = "basis=IdentityMap(n_inputs=300), weights=array[2, 300], intercepts=array[2, 1], known=array[2]"
    assert repr(MODEL) == f"PerActionModel({shapes})"


def test_a_policy_shows_its_model_and_its_kernel() -> None:
    policy = KernelPolicy(MODEL, InverseGapWeighting(3.0))
    assert repr(policy) == "KernelPolicy(scorer=PerActionModel, kernel=InverseGapWeighting(gamma=3.0))"
    trying = KernelPolicy(MODEL, TryingKernel(InverseGapWeighting(3.0), KNOWN))
    assert repr(trying) == "KernelPolicy(scorer=PerActionModel, kernel=TryingKernel)"
