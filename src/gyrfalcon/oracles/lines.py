"""From the coefficients of a linear class to a reward model; an action without data keeps its line."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.types import Bools, Floats
from gyrfalcon.oracles.features import Design, Layout
from gyrfalcon.oracles.models import JointModel, PerActionModel

LinearModel = PerActionModel | JointModel
FOLD_BELOW = 1e3


def linear_model(
    design: Design, coefficients: Floats, seen: Bools | None, previous: LinearModel | None = None
) -> LinearModel:
    """The model of coefficients (B, d); unseen actions keep their `previous` line or are unknown."""
    if design.layout is Layout.PER_ACTION and design.n_joint == design.n_own:
        return _per_action_model(design, coefficients, seen, previous)
    if design.layout is Layout.PER_ACTION:
        kept = previous if isinstance(previous, JointModel) else None
        if seen is not None and kept is not None:
            coefficients = np.where(seen[:, np.newaxis], coefficients, kept.joint)
            seen = _either(seen, kept.known)
        return JointModel(design, np.ascontiguousarray(coefficients), None, seen)
    joint, own = coefficients[0, : design.n_joint], None
    if design.layout is Layout.HYBRID:
        own = np.ascontiguousarray(coefficients[0, design.n_joint :].reshape(design.n_actions, design.n_own))
        if seen is not None and isinstance(previous, JointModel) and previous.own is not None:
            own = np.where(seen[:, np.newaxis], own, previous.own)
            seen = _either(seen, previous.known)
    return JointModel(design, np.ascontiguousarray(joint), own, seen)


def _per_action_model(
    design: Design, coefficients: Floats, seen: Bools | None, previous: LinearModel | None
) -> PerActionModel:
    first = int(design.intercept)
    weights = np.ascontiguousarray(coefficients[:, first:])
    intercepts = coefficients[:, :first].sum(axis=1, keepdims=True)
    center: Floats | None = design.center
    # Folding the centre into the intercepts saves a pass per decision, but cancels digits where means dwarf
    # the range over which a line moves.
    steepest = np.abs(weights).max(axis=0, initial=0.0)
    if np.all(np.abs(design.center) * steepest <= FOLD_BELOW):
        intercepts = intercepts - weights @ design.center[:, np.newaxis]
        center = None
    if seen is not None and isinstance(previous, PerActionModel):
        weights, intercepts = _keep_previous(seen, previous, center, weights, intercepts)
        seen = _either(seen, previous.known)
    return PerActionModel(design.basis, center, weights, intercepts, seen)


def _keep_previous(
    seen: Bools, previous: PerActionModel, center: Floats | None, weights: Floats, intercepts: Floats
) -> tuple[Floats, Floats]:
    """New lines where there is data, previous ones elsewhere, moved to the new centre."""
    moved = np.zeros(weights.shape[1])
    moved += 0.0 if center is None else center
    moved -= 0.0 if previous.center is None else previous.center
    old = previous.intercepts + previous.weights @ moved[:, np.newaxis]
    rows = seen[:, np.newaxis]
    return np.where(rows, weights, previous.weights), np.where(rows, intercepts, old)


def _either(seen: Bools, known: Bools | None) -> Bools | None:
    both = np.ones_like(seen) if known is None else seen | known
    return None if both.all() else both
