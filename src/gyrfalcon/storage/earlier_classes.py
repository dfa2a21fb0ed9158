"""Values of classes as earlier format versions stored them, built as values of today's classes.

A migration changes names in a tree without looking at arrays. Where an array has to be made of others, or a
class is gone, it gives the class another id, and the reader calls the function of that id with the stored
fields. Every stored value still counts as one, so that references between them stay right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.learners.adaptive.candidates import CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison
from gyrfalcon.learners.adaptive.pooled_fit import PooledFit
from gyrfalcon.learners.adaptive.state import AdaptiveState
from gyrfalcon.oracles.features.bases import FeatureMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel, PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties


def pooled_fit_2(*, oracle: LinearOracle, residual_deviation: float, **fields: Any) -> PooledFit:
    """The linear fit of version 2, which had one ridge, with the penalties that a first fit starts from."""
    start = Penalties.of(oracle.design, oracle.settings.ridge)
    return PooledFit(oracle=oracle, penalties=replace(start, noise=residual_deviation**2), **fields)


def candidate_classes_2(*, fits: tuple[object, ...], **_: Any) -> int:
    """The number of candidate classes of version 2, whose fits are dropped: they start anew."""
    return len(fits)


def nothing(**_: Any) -> None:
    """None for a value of version 2 that is dropped."""


def adaptive_state_2(*, candidates: int, comparison: None, active: int, **fields: Any) -> AdaptiveState:
    """The state of version 2 with candidates as before the first row, compared until rows have doubled."""
    assert comparison is None
    assert active <= candidates
    none = CandidateClasses.none(candidates, fields["problem"].n_actions)
    none = replace(none, next_review=(2.0 * fields["n_seen"],) * candidates)
    return AdaptiveState(candidates=none, comparison=ClassComparison.none(1 + candidates), **fields)


def recursive_model_2(
    *,
    basis: FeatureMap,
    coefficients: Floats,
    matrices: Floats,
    bonus: float,
    bounds: tuple[float, float] | None,
    known: Bools | None,
    origin: float,
    unit: float,
) -> OptimisticModel:
    """The model of a wide class of version 2, with the widths that it had of its first columns."""
    n_actions, width, n_wide = len(coefficients), coefficients.shape[1], matrices.shape[1]
    intercepts, weights = np.split(coefficients, [1], axis=1)
    weights, intercepts = np.ascontiguousarray(weights), np.ascontiguousarray(intercepts)
    model = PerActionModel(basis, None, weights, intercepts, known, True, origin, unit)
    values, vectors = np.linalg.eigh(matrices)
    factors = np.zeros((n_actions, width, width))
    factors[:, :n_wide, :n_wide] = np.sqrt(np.maximum(values, 0.0))[:, :, np.newaxis] * vectors.mT
    none = np.zeros(0)
    design = Design(Layout.PER_ACTION, n_actions, basis, np.zeros(basis.n_features), none, True, True)
    return OptimisticModel(model, design, factors, bonus, bounds)


def epoch_2(**fields: Any) -> Epoch:
    """The epoch of version 2, whose adaptive learner kept the unit of its linear scores elsewhere."""
    epoch = Epoch(**fields)
    state, policy = epoch.state, epoch.policy
    if not (isinstance(state, AdaptiveState) and isinstance(policy, KernelPolicy)):
        return epoch
    scorer = policy.scorer
    assert isinstance(scorer, OptimisticModel)
    model = replace(scorer.model, origin=state.scale.anchor, unit=state.scale.unit or 1.0)
    return replace(epoch, policy=replace(policy, scorer=replace(scorer, model=model)))


EARLIER: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "version-2/epoch": epoch_2,
        "version-2/model/recursive-ridge": recursive_model_2,
        "version-2/ridge/deferred": nothing,
        "version-2/ridge/recursive": nothing,
        "version-2/state/adaptive": adaptive_state_2,
        "version-2/state/candidate-classes": candidate_classes_2,
        "version-2/state/class-comparison": nothing,
        "version-2/state/pooled-fit": pooled_fit_2,
        "version-3/state/adaptive": AdaptiveState,
    }
)
"""What builds a value, by the id that a migration gives its class."""
