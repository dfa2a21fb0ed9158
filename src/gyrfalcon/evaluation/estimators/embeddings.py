"""Likelihoods of the embeddings of logged rows by action: known, counted, or by logistic regression."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import check_whole, is_number
from gyrfalcon.evaluation.estimators.validation import target_probabilities
from gyrfalcon.evaluation.propensities.multinomial_logistic import ChoiceRows, fitted_choices


def embedding_likelihoods(embedding: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Probability of each row's embedding under each action, (n, K).

    Parameters
    ----------
    embedding
        Numbers of the embedding's categories, (n,), or (n, D) for one with D parts.
    probabilities
        Probability of each category given the action, (K, E), or (K, E, D) for D parts that are independent
        given the action; see `counted_embeddings` where it is unknown.

    Returns
    -------
    Floats
        The product over parts, (n, K).

    Examples
    --------
    >>> embedding_likelihoods([0, 1, 1], [[1.0, 0.0], [0.5, 0.5]]).tolist()
    [[1.0, 0.5], [0.0, 0.5], [0.0, 0.5]]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    table = table[..., None] if table.ndim == 2 else table
    if table.ndim != 3:
        raise ValueError(f"probabilities has shape {table.shape}; give (K, E), or (K, E, D) for D parts.")
    parts = _parts(embedding, table.shape[2])
    _check_categories(parts, table.shape[1])
    likelihoods = np.ones((len(parts), len(table)))
    for part in range(table.shape[2]):
        likelihoods *= table[:, parts[:, part], part].T
    return likelihoods


def counted_embeddings(actions: ArrayLike, embedding: ArrayLike, n_actions: int) -> Floats:
    """Share of each category among the rows of each action, (K, E, D), nan for actions without rows.

    Parameters
    ----------
    actions
        Positions of the logged actions, (n,).
    embedding
        Numbers of the embedding's categories, (n,) or (n, D).
    n_actions
        Number of actions K.

    Examples
    --------
    >>> counted_embeddings([0, 0, 1], [0, 1, 1], 2)[..., 0].tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    parts, chosen = _parts(embedding), _checked_actions(actions, n_actions)
    if len(parts) != len(chosen):
        raise ValueError(
            f"there are {len(chosen)} actions and {len(parts)} embeddings; give both for each row."
        )
    counts = np.zeros((n_actions, int(parts.max(initial=0)) + 1, parts.shape[1]))
    for part in range(parts.shape[1]):
        np.add.at(counts[:, :, part], (chosen, parts[:, part]), 1.0)
    rows = np.bincount(chosen, minlength=n_actions)[:, None, None]
    return np.asarray(np.divide(counts, rows, out=np.full(counts.shape, math.nan), where=rows > 0))


def logistic_embedding_likelihoods(
    actions: ArrayLike,
    embedding: ArrayLike,
    distribution: ArrayLike,
    shared: ArrayLike | None = None,
    *,
    ridge: float = 1.0,
) -> Floats:
    """Likelihoods, (n, K) up to a factor of each row, from a logistic regression of actions on embeddings.

    By the theorem of Bayes p(e | x, a) is proportional to p(a | x, e) / p(a | x), of which the denominator is
    known. For embeddings with many parts, which cannot be counted.

    Parameters
    ----------
    actions
        Positions of the logged actions, (n,).
    embedding
        Numbers of the embedding's categories, (n,) or (n, D).
    distribution
        Probabilities of all actions under the policy that was logged, (n, K).
    shared
        Features of the context, (n, d), of similar size; None for none.
    ridge
        Penalty of half the sum of squared coefficients; intercepts are free.

    Returns
    -------
    Floats
        What `marginalised_inverse_propensity` takes, (n, K).
    """
    logged = target_probabilities(distribution, name="distribution")
    chosen = _checked_actions(actions, logged.shape[1])
    features = _one_hot(_parts(embedding))
    if shared is not None:
        features = np.column_stack([np.asarray(shared, dtype=np.float64).reshape(len(logged), -1), features])
    if not (is_number(ridge) and 0.0 < ridge < math.inf):
        raise ValueError(f"ridge is {short_repr(ridge)}; give a positive number, such as 1.0.")
    seen, classes = np.unique(chosen, return_inverse=True)
    posteriors = np.zeros(logged.shape)
    rows = ChoiceRows(features, None, np.ones((len(classes), len(seen)), dtype=np.bool_), classes)
    posteriors[:, seen] = np.exp(rows.log_probabilities(fitted_choices(rows, ridge)))
    return np.divide(posteriors, logged, out=np.zeros(logged.shape), where=logged > 0.0)


def _one_hot(parts: Ints) -> Floats:
    """Indicators of all categories but the first of each part."""
    columns = [parts[:, [part]] == np.unique(parts[:, part])[1:] for part in range(parts.shape[1])]
    return np.column_stack(columns).astype(np.float64)


def _parts(embedding: ArrayLike, n_parts: int | None = None) -> Ints:
    parts = np.asarray(embedding)
    parts = parts[:, None] if parts.ndim == 1 else parts
    if parts.ndim != 2 or not np.issubdtype(parts.dtype, np.integer) or parts.size == 0:
        raise ValueError(
            f"embedding has shape {np.shape(embedding)} and type {parts.dtype}; give whole numbers of "
            "categories, (n,) or (n, D)."
        )
    if n_parts is not None and parts.shape[1] != n_parts:
        raise ValueError(
            f"embedding has {parts.shape[1]} parts, and probabilities has {n_parts}; give both of each part."
        )
    _check_categories(parts, None)
    return parts.astype(np.int64)


def _check_categories(parts: Ints, n_categories: int | None) -> None:
    wrong = (parts < 0) if n_categories is None else (parts >= n_categories)
    if wrong.any():
        row, part = np.argwhere(wrong)[0].tolist()
        most = "" if n_categories is None else f", and there are {n_categories}"
        raise ValueError(
            f"row {row}: the category is {parts[row, part]}{most}; give numbers of categories counted from 0."
        )


def _checked_actions(actions: ArrayLike, n_actions: int) -> Ints:
    check_whole("n_actions", n_actions)
    chosen = np.asarray(actions)
    valid = chosen.ndim == 1 and np.issubdtype(chosen.dtype, np.integer)
    if not valid or chosen.min(initial=0) < 0 or chosen.max(initial=0) >= n_actions:
        raise ValueError(
            f"actions is {short_repr(actions)}; give positions from 0 to {n_actions - 1}, one for each row."
        )
    return chosen.astype(np.int64)
