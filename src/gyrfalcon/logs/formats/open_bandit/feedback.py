"""Feedback dicts of the Open Bandit Pipeline, to and from tables of decisions."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.logs.formats.exporting import check_actions

_POSITION = re.compile(r"^position=(\d+)$")
_KEYS = (
    *("n_rounds", "n_actions", "context", "action_context", "action", "position", "reward"),
    *("expected_reward", "pi_b", "pscore"),
)


def table_from_obp(
    feedback: Mapping[str, Any],
    *,
    actions: Sequence[Hashable] | None = None,
    features: Sequence[str] | None = None,
    action_features: Sequence[str] | None = None,
) -> DecisionTable:
    """The decisions of a feedback dict of the Open Bandit Pipeline.

    Where items were shown in several positions, indicators of the position are the first features. Expected
    rewards, which simulated data has, are no part of a log.

    Parameters
    ----------
    feedback
        The dict, as `obtain_batch_bandit_feedback` returns it.
    actions
        Labels of the actions; None means 0, 1, ...
    features
        Names of the columns of `context`; None means x0, x1, ...
    action_features
        Names of the columns of `action_context`; None means a0, a1, ...

    Returns
    -------
    DecisionTable
        Its rounds in their order.

    Raises
    ------
    ValueError
        If something is missing, or of another shape than `n_rounds` and `n_actions` say.

    Examples
    --------
    >>> feedback = {
    ...     "n_rounds": 2, "n_actions": 2, "context": [[0.5], [1.0]], "action": [1, 0], "reward": [1, 0],
    ...     "position": None, "pscore": [0.5, 0.25],
    ... }
    >>> table_from_obp(feedback).propensity.tolist()
    [0.5, 0.25]
    """
    n, n_actions = _counts(feedback)
    labels = tuple(range(n_actions)) if actions is None else tuple(actions)
    if len(labels) != n_actions:
        raise ValueError(f"there are {len(labels)} labels for {n_actions} actions; give one for each.")
    places = _positions(feedback, n)
    context = _array(feedback, "context", (n, None), np.zeros((n, 0)))
    items = _array(feedback, "action_context", (n_actions, None), np.zeros((n_actions, 0)))
    shown = np.zeros((n, 0)) if places is None else np.eye(int(places.max(initial=-1)) + 1)[places]
    names = tuple(f"position={place}" for place in range(shown.shape[1]))
    own = _names("action_features", action_features, "a", items.shape[1])
    return DecisionTable(
        actions=labels,
        contexts=Contexts(
            np.ascontiguousarray(np.concatenate([shown, context], axis=1)),
            np.repeat(items[None], n, axis=0) if items.shape[1] else None,
        ),
        action=_actions(feedback, n, n_actions),
        reward=_array(feedback, "reward", (n,)),
        propensity=_array(feedback, "pscore", (n,), np.full(n, np.nan)),
        distribution=_distribution(feedback, n, n_actions, places),
        features=(*names, *_names("features", features, "x", context.shape[1])),
        action_features=own,
    )


def obp_feedback(table: DecisionTable) -> dict[str, Any]:
    """A table of decisions as a feedback dict of the Open Bandit Pipeline.

    `table_from_obp` gives contexts, actions, rewards, propensities and distributions again; a feedback dict
    has nothing else, and no labels.

    Parameters
    ----------
    table
        The decisions, with known actions and rewards.

    Returns
    -------
    dict
        `n_rounds`, `n_actions`, `context`, `action_context`, `action`, `position`, `reward`,
        `expected_reward`, `pi_b` and `pscore`. What the table lacks is None. Features called "position=0",
        "position=1", ... become `position`.

    Raises
    ------
    ValueError
        If a row has no action or no reward, or features of an action differ between rows.
    """
    check_actions(table)
    missing = np.isnan(table.reward)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(
            f"row {table.rows[row]}: there is no reward, and the format has no way to say so; leave such "
            "rows out, with table.take(~np.isnan(table.reward))."
        )
    n, n_actions = len(table), table.n_actions
    is_place = np.array([bool(_POSITION.match(name)) for name in table.features], dtype=np.bool_)
    shared = table.contexts.shared
    position = shared[:, is_place].argmax(axis=1) if _are_indicators(shared[:, is_place]) else None
    context = shared if position is None else shared[:, ~is_place]
    pi_b = None if table.distribution is None else _by_position(table.distribution, position)
    return {
        "n_rounds": n,
        "n_actions": n_actions,
        "context": context,
        "action_context": _items(table),
        "action": table.action,
        "position": position,
        "reward": table.reward,
        "expected_reward": None,
        "pi_b": pi_b,
        "pscore": None if np.isnan(table.propensity).all() else table.propensity,
    }


def _counts(feedback: Mapping[str, Any]) -> tuple[int, int]:
    for key in feedback:
        if key not in _KEYS:
            raise ValueError(f"the feedback has {short_repr(key)}; {suggestion(key, _KEYS)}")
    for key in ("n_rounds", "n_actions", "action", "reward"):
        if feedback.get(key) is None:
            raise ValueError(f"the feedback has no {key!r}; give it.")
    return int(feedback["n_rounds"]), int(feedback["n_actions"])


def _array(
    feedback: Mapping[str, Any], key: str, shape: tuple[int | None, ...], default: Floats | None = None
) -> Floats:
    """An entry as floats of this shape, whose open dimensions are None."""
    given = feedback.get(key)
    if given is None and default is not None:
        return default
    array = np.asarray(given, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        size is None or size == found for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        sizes = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{key} has shape {array.shape}; give ({sizes}), as n_rounds and n_actions say.")
    return array


def _whole(feedback: Mapping[str, Any], key: str, n: int) -> Ints:
    numbers = _array(feedback, key, (n,))
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    valid = (whole == numbers) & (whole >= 0)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(f"row {row}: {key} is {numbers[row]}; give whole numbers from 0 on.")
    return whole


def _actions(feedback: Mapping[str, Any], n: int, n_actions: int) -> Ints:
    chosen = _whole(feedback, "action", n)
    if (chosen >= n_actions).any():
        row = int((chosen >= n_actions).argmax())
        raise ValueError(f"row {row}: action is {chosen[row]}; give numbers from 0 to {n_actions - 1}.")
    return chosen


def _positions(feedback: Mapping[str, Any], n: int) -> Ints | None:
    """Positions in the list; None where there is only one."""
    if feedback.get("position") is None:
        return None
    places = _whole(feedback, "position", n)
    return places if places.any() else None


def _distribution(feedback: Mapping[str, Any], n: int, n_actions: int, places: Ints | None) -> Floats | None:
    """Probabilities of all actions in each row's position, (n, K)."""
    if feedback.get("pi_b") is None:
        return None
    shares = np.asarray(feedback["pi_b"], dtype=np.float64)
    shares = shares[:, :, None] if shares.ndim == 2 else shares
    n_places = 1 if places is None else int(places.max()) + 1
    if shares.ndim != 3 or shares.shape[:2] != (n, n_actions) or shares.shape[2] < n_places:
        raise ValueError(f"pi_b has shape {shares.shape}; give ({n}, {n_actions}, {n_places}).")
    return np.ascontiguousarray(shares[np.arange(n), :, 0 if places is None else places])


def _by_position(distribution: Floats, position: Ints | None) -> Floats:
    """Probabilities (n, K, positions), of which only those of each row's position are known, and others 0."""
    if position is None:
        return distribution[:, :, None]
    spread = np.zeros((*distribution.shape, int(position.max(initial=0)) + 1))
    spread[np.arange(len(distribution)), :, position] = distribution
    return spread


def _are_indicators(columns: Floats) -> bool:
    """Whether each row has one 1 among zeros."""
    if columns.shape[1] < 2 or not len(columns):
        return False
    return bool(np.isin(columns, (0.0, 1.0)).all() and (columns.sum(axis=1) == 1.0).all())


def _items(table: DecisionTable) -> Floats | None:
    cube = table.contexts.actions
    if cube is None or not len(cube):
        return None
    same = (cube == cube[:1]) | (np.isnan(cube) & np.isnan(cube[:1]))
    if not same.all():
        row = int(np.flatnonzero(~same.all(axis=(1, 2)))[0])
        raise ValueError(
            f"row {table.rows[row]}: features of actions are others than in row {table.rows[0]}, and "
            "action_context has one row for each action; leave them out, or make them shared features."
        )
    first: Floats = cube[0]
    return first


def _names(what: str, given: Sequence[str] | None, letter: str, n: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{letter}{place}" for place in range(n))
    if len(given) != n:
        raise ValueError(f"{what} has {len(given)} names for {n} columns; give one for each.")
    return tuple(given)
