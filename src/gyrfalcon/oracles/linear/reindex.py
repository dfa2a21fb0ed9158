"""Linear summaries and models when actions come and go: what is known of the others stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.models import JointModel, PerActionModel
from gyrfalcon.oracles.solvers.moments import Moments


def reindexed_moments(moments: Moments, source: Ints, before: Design) -> Moments:
    """The rows as seen by a problem in which action k was action source[k] before, -1 if it is new."""
    if before.layout is Layout.SHARED:
        return moments
    if before.layout is Layout.PER_ACTION:
        return moments.take(source)
    change, level = _without_retired(moments, source, before)
    moved = moments.transformed(change)
    explained = np.einsum("bd,d->b", moments.cross, level)
    root = moved.root
    if root is not None and moments.root is not None:
        rewards = moments.root[:, :, -1:] - moments.root[:, :, :-1] @ level[:, np.newaxis]
        root = np.concatenate([root[:, :, :-1], rewards], axis=2)
    return replace(moved, squares=np.maximum(moved.squares - explained, 0.0), root=root)


def reindexed_scatter(scatter: Floats, passive: Moments, source: Ints, before: Design) -> Floats:
    """The scatter of residuals, which goes through the same change of columns as the passive rows."""
    if before.layout is Layout.SHARED:
        return scatter
    if before.layout is Layout.PER_ACTION:
        return scatter[source] * (source >= 0)[:, np.newaxis, np.newaxis]
    change, _ = _without_retired(passive, source, before)
    return change @ scatter @ change.T


def reindexed_factors(factors: Floats, unseen: Floats, source: Ints, before: Design) -> Floats:
    """Confidence factors when action k was action source[k] before; those of a new one (-1) are `unseen`."""
    if before.layout is Layout.PER_ACTION:
        return np.where((source < 0)[:, np.newaxis, np.newaxis], unseen, factors[source])
    columns, first = before.columns_from(source), before.n_joint
    is_new = columns < 0
    # Own columns of all actions are scaled alike, and nothing else is done to them.
    own = np.diag(unseen)[first : first + before.n_own]
    scales = np.concatenate([np.zeros(first), np.tile(own, (len(columns) - first) // max(len(own), 1))])
    return np.concatenate([factors[0][:, columns] * ~is_new, np.diag(scales)[is_new]])[np.newaxis]


def _without_retired(moments: Moments, source: Ints, before: Design) -> tuple[Floats, Floats]:
    """The change of columns that fits retired actions' own coefficients away, and their fit, (d',d) and (d,).

    Rows of a retired action still tell of the shared coefficients, once its own have taken what they explain.
    """
    columns = before.columns_from(source)
    select = (columns[:, np.newaxis] == np.arange(before.block_width)).astype(np.float64)
    gone = ~select.any(axis=0)
    gram = moments.gram[0]
    inverse = np.zeros_like(gram)
    inverse[np.ix_(gone, gone)] = np.linalg.pinv(gram[np.ix_(gone, gone)], rcond=1e-12, hermitian=True)
    return select - select @ gram @ inverse, inverse @ moments.cross[0]


def reindexed_model(
    model: PerActionModel | JointModel, source: Ints, design: Design
) -> PerActionModel | JointModel:
    """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
    if isinstance(model, PerActionModel):
        return replace(
            model,
            weights=_rows_from(model.weights, source),
            intercepts=_rows_from(model.intercepts, source),
            known=_still_known(model.known, source),
        )
    own = None if model.own is None else _rows_from(model.own, source)
    joint = model.joint if model.joint.ndim == 1 else _rows_from(model.joint, source)
    has_rows = own is not None or joint.ndim == 2
    known = _still_known(model.known, source) if has_rows else None
    return replace(model, design=design, joint=joint, own=own, known=known)


def _rows_from(rows: Floats, source: Ints) -> Floats:
    return np.ascontiguousarray(rows[source] * (source >= 0)[:, np.newaxis])


def _still_known(known: Bools | None, source: Ints) -> Bools | None:
    still = source >= 0 if known is None else (source >= 0) & known[source]
    return None if still.all() else still
