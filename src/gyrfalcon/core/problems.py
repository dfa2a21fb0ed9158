"""The problem to learn: which actions there are, what is known before choosing, and what is earned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import PASSIVE, POLICY, Log
from gyrfalcon.core.rewards import Outside, RewardRange
from gyrfalcon.core.schema import Schema
from gyrfalcon.core.tables import (
    by_row,
    enumeration,
    floats_of,
    is_collection,
    is_missing,
    shown,
    suggestion,
    values_of,
)
from gyrfalcon.core.types import Bools, Floats, Ints

T = TypeVar("T")
A = TypeVar("A", Floats, Ints)


@dataclass(frozen=True, slots=True, init=False)
class Problem:
    """Actions by label, features of contexts and of actions, and the range of rewards.

    What people hand in becomes trusted arrays here, and only here; labels are given back as they came.

    >>> problem = Problem(["red", "blue"], features={"age": "numeric", "country": ["NO", "SE"]})
    >>> contexts = problem.contexts([{"age": 31, "country": "SE"}, {"age": 44, "country": "FI"}])
    >>> contexts.shared.tolist()
    [[31.0, 0.0, 1.0, 0.0], [44.0, 0.0, 0.0, 1.0]]
    >>> problem.log(contexts, ["blue", "red"], rewards=[1, 0], propensities=[0.5, 0.25]).action.tolist()
    [1, 0]
    """

    actions: tuple[Hashable, ...]
    features: Schema
    action_features: Schema
    reward_range: tuple[float, float]
    outside: Outside
    cost: bool
    rewards: RewardRange = field(init=False, repr=False, compare=False)
    _indices: dict[object, int] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        actions: Iterable[Hashable],
        features: object = None,
        action_features: object = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        outside: Outside = "error",
        cost: bool = False,
    ) -> None:
        labels = _labels(actions)
        low, high = _ends(reward_range)
        rewards = RewardRange(low, high, outside, cost)
        values = {
            "actions": labels,
            "features": Schema.of(features),
            "action_features": Schema.of(action_features),
            "reward_range": (rewards.low, rewards.high),
            "outside": rewards.outside,
            "cost": rewards.cost,
            "rewards": rewards,
            "_indices": {label: index for index, label in enumerate(labels)},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n_actions(self) -> int:
        """How many actions there are, K."""
        return len(self.actions)

    def index_of(self, label: object) -> int:
        """The position of the action with this label."""
        try:
            return self._indices[label]
        except (KeyError, TypeError):
            hint = suggestion(label, self.actions)
            raise ValueError(f"there is no action {shown(label)}; {hint}") from None

    def indices_of(self, labels: object) -> Ints:
        """The positions of the actions with these labels, (n,)."""
        return np.array(by_row(self.index_of, values_of(labels)), dtype=np.int64)

    def contexts(
        self, shared: object = None, actions: object = None, eligible: object = None, n: int | None = None
    ) -> Contexts:
        """Many situations, checked and encoded.

        `shared` is a table of the features; without features, `n` or the others say how many rows there are.
        `actions` is an (n, K, q) array of the actions' features, or a (K, q) array or a mapping of labels to
        rows of features that are the same in each situation, or a list of n such mappings. `eligible` is an
        (n, K) boolean array or a list of n collections of labels. In mappings, only eligible actions need
        features; the others count as 0.

        >>> Problem(["up", "down"]).contexts(eligible=[["up"], ["up", "down"]]).eligible.tolist()
        [[True, False], [True, True]]
        """
        self._check_given(shared, actions)
        table = None if shared is None else self.features.encode(shared)
        mask = None if eligible is None else self._mask(eligible)
        cube, given = (None, None) if actions is None else self._cube(actions)
        varied = None if cube is None or _is_same(actions) else cube
        n = _agreed_length({"n": n, "shared": table, "actions": varied, "eligible": mask})
        return self._assembled(n, table, cube, given, mask)

    def context(self, shared: object = None, actions: object = None, eligible: object = None) -> Contexts:
        """One situation, checked and encoded, by a shorter way for plain numbers.

        `actions` is a (K, q) array or a mapping of labels to rows of features; `eligible` is a collection of
        labels or a (K,) boolean array.

        >>> Problem(["up", "down"], features=2).context([0.5, 2.0]).shared.tolist()
        [[0.5, 2.0]]
        """
        table = self.features.encode_one(shared)
        if actions is None and eligible is None and not self.action_features.columns:
            return Contexts(table)
        self._check_given(table, actions)
        mask = None if eligible is None else self._mask_of_row(eligible)[None]
        cube, given = (None, None) if actions is None else self._cube(actions)
        if cube is not None and len(cube) != 1:
            raise ValueError(
                f"actions are of {len(cube)} contexts, and one is asked for; give one (K, q) array."
            )
        return self._assembled(1, table, cube, given, mask)

    def log(
        self,
        contexts: Contexts,
        actions: object,
        rewards: object,
        propensities: object = None,
        *,
        epoch: int = 0,
        rounds: object = None,
        passive: object = None,
    ) -> Log:
        """The log of these choices and what they earned, in the learner's units.

        `propensities` are the probabilities with which the actions were chosen; None means that each was
        chosen uniformly among the eligible ones. `passive` marks rows of passive play; without it, none is.
        `rounds` are 0 to n - 1 unless given.
        """
        self._check_contexts(contexts)
        n = len(contexts)
        action = _of_length(n, "actions", self.indices_of(actions))
        reward = _of_length(n, "rewards", self.rewards.to_unit(values_of(rewards)))
        if contexts.eligible is not None:
            barred = np.flatnonzero(~contexts.eligible[np.arange(n), action])
            if len(barred):
                label = shown(self.actions[action[barred[0]]])
                raise ValueError(
                    f"row {barred[0]}: action {label} is not eligible there; mend either column."
                )
        return Log(
            contexts,
            action,
            reward,
            self._propensities(contexts, propensities),
            np.full(n, epoch, dtype=np.int64),
            np.arange(n) if rounds is None else _of_length(n, "rounds", _whole("rounds", rounds)),
            np.full(n, POLICY) if passive is None else _of_length(n, "passive", _components(passive)),
        )

    def _check_given(self, shared: object, actions: object) -> None:
        if shared is None and self.features.columns:
            raise ValueError(f"contexts need the features {enumeration(self.features.names)}; give `shared`.")
        if (actions is None) == bool(self.action_features.columns):
            fault = "declared and not given" if actions is None else "given and not declared"
            raise ValueError(f"features of actions are {fault}; see `action_features` and `actions`.")

    def _check_contexts(self, contexts: Contexts) -> None:
        widths = (self.features.width, self.action_features.width)
        actual = (contexts.shared.shape[1], 0 if contexts.actions is None else contexts.actions.shape[2])
        if actual != widths:
            raise ValueError(
                f"the contexts have {actual[0]} shared and {actual[1]} action features, and the problem has "
                f"{widths[0]} and {widths[1]}; make them with this problem's `contexts`."
            )
        for part in (contexts.actions, contexts.eligible):
            if part is not None and part.shape[1] != self.n_actions:
                fault = f"the contexts have {part.shape[1]} actions and the problem {self.n_actions}"
                raise ValueError(f"{fault}; make them with this problem's `contexts`.")

    def _assembled(
        self, n: int, table: Floats | None, cube: Floats | None, given: Bools | None, mask: Bools | None
    ) -> Contexts:
        """The parts as one value: each row has an eligible action, and eligible actions have features."""
        if mask is not None and not mask.any(axis=1).all():
            row = int(np.argmin(mask.any(axis=1)))
            raise ValueError(f"row {row} has no eligible action; leave the row out, or allow an action.")
        if cube is not None and given is not None:
            lacking = ~given if mask is None else mask & ~given
            if lacking.any():
                row, index = np.argwhere(lacking)[0]
                label = shown(self.actions[index])
                raise ValueError(f"row {row}: action {label} has no features; give them, or bar the action.")
            cube = cube if len(cube) == n else np.repeat(cube, n, axis=0)
        return Contexts(np.zeros((n, 0)) if table is None else table, cube, mask)

    def _mask(self, eligible: object) -> Bools:
        """Who may be chosen, (n, K)."""
        if isinstance(eligible, np.ndarray) and eligible.dtype != object:
            if eligible.dtype != np.bool_ or eligible.shape[1:] != (self.n_actions,):
                kind = f"{eligible.dtype} array of shape {eligible.shape}"
                raise ValueError(f"eligible is a {kind}; give a boolean one of shape (n, {self.n_actions}).")
            return np.array(eligible, order="C")
        mask = by_row(self._mask_of_row, values_of(eligible), " of eligible")
        return np.array(mask, dtype=np.bool_).reshape(len(mask), self.n_actions)

    def _mask_of_row(self, labels: Any) -> Bools:
        if isinstance(labels, np.ndarray) and labels.dtype == np.bool_ and labels.shape == (self.n_actions,):
            return labels.copy()
        if not is_collection(labels):
            raise ValueError(f"{shown(labels)} is not a collection of labels; give one such as ['a', 'b'].")
        mask = np.zeros(self.n_actions, dtype=np.bool_)
        for label in labels:
            index = self.index_of(label)
            # With the labels 0 and 1, a list of booleans would silently pass as a list of labels.
            if _is_bool(label) > _is_bool(self.actions[index]):
                raise ValueError(f"{label} is not a label here; give labels, or a NumPy array of booleans.")
            mask[index] = True
        return mask

    def _cube(self, actions: object) -> tuple[Floats, Bools]:
        """Features of actions, (n, K, q), and where they were given, (n, K); n = 1 where rows are alike."""
        if isinstance(actions, Mapping):
            return self._cube_of_rows([actions])
        if isinstance(actions, list | tuple) and all(isinstance(row, Mapping) for row in actions):
            return self._cube_of_rows(actions)
        array: Any = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
        array = array[None] if array.ndim == 2 else array
        if array.ndim != 3 or array.shape[1:] != (self.n_actions, len(self.action_features.columns)):
            expected = f"(n, {self.n_actions}, {len(self.action_features.columns)})"
            raise ValueError(f"actions have shape {array.shape}; give {expected}, or mappings by label.")
        try:
            flat = self.action_features.encode(array.reshape(-1, array.shape[2]))
        except ValueError:
            # Row by row of the flat table says little: the same refusal, action by action.
            for index, label in enumerate(self.actions):
                _told(f"action {shown(label)}", self.action_features.encode, array[:, index])
            raise
        return flat.reshape(*array.shape[:2], -1), np.ones(array.shape[:2], dtype=np.bool_)

    def _cube_of_rows(self, rows: Sequence[Mapping[object, object]]) -> tuple[Floats, Bools]:
        cube = np.zeros((len(rows), self.n_actions, self.action_features.width))
        given = np.zeros((len(rows), self.n_actions), dtype=np.bool_)
        for row, features in enumerate(rows):
            for label, values in features.items():
                index = self.index_of(label)
                place = f"row {row} of actions, action {shown(label)}"
                cube[row, index] = _told(place, self.action_features.encode_one, values)[0]
                given[row, index] = True
        return cube, given

    def _propensities(self, contexts: Contexts, values: object) -> Floats:
        if values is None:
            mask = contexts.eligible
            n_eligible = np.full(len(contexts), self.n_actions) if mask is None else mask.sum(axis=1)
            return 1.0 / n_eligible
        propensity = _numbers("propensities", values)
        wrong = np.flatnonzero(~((propensity > 0.0) & (propensity <= 1.0)))
        if len(wrong):
            raise ValueError(
                f"row {wrong[0]}: the propensity {propensity[wrong[0]]} is not in (0, 1]; give the "
                "probability with which the action was chosen, or leave the row out."
            )
        return _of_length(len(contexts), "propensities", propensity)


def _labels(actions: Any) -> tuple[Hashable, ...]:
    if not is_collection(actions) or isinstance(actions, set | frozenset):
        raise ValueError(f"actions are {shown(actions)}; give a list of labels, such as ['a', 'b'].")
    labels = tuple(actions)
    first: dict[object, object] = {}
    for label in labels:
        if label is not None and is_missing(label):
            raise ValueError(f"the label {shown(label)} does not equal itself; give text or a number.")
        try:
            is_new = label not in first
        except TypeError:
            raise ValueError(f"the label {shown(label)} is not hashable; give text or a number.") from None
        if not is_new:
            twins = f"{shown(first[label])} and {shown(label)}"
            raise ValueError(f"the actions {twins} compare equal; give each a label of its own.")
        first[label] = label
    if len(labels) < 2:
        raise ValueError(f"there are {len(labels)} actions; a choice needs at least 2.")
    return labels


def _is_bool(label: object) -> bool:
    return isinstance(label, bool | np.bool_)


def _ends(reward_range: object) -> tuple[float, float]:
    if not isinstance(reward_range, list | tuple) or len(reward_range) != 2:
        raise ValueError(f"reward_range is {shown(reward_range)}; give its ends, such as (0.0, 1.0).")
    low, high = reward_range
    return low, high


def _agreed_length(parts: Mapping[str, Any]) -> int:
    lengths = {
        name: part if isinstance(part, int | np.integer) else len(part)
        for name, part in parts.items()
        if part is not None
    }
    if not lengths:
        raise ValueError("how many contexts there are is not said; give n, or `eligible`.")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"the numbers of contexts differ ({told}); give equally many.")
    return int(next(iter(lengths.values())))


def _of_length(n: int, name: str, column: A) -> A:
    if column.shape != (n,):
        raise ValueError(f"there are {len(column)} {name} and {n} contexts; give equally many.")
    return column


def _numbers(name: str, values: object) -> Floats:
    return _told(name, lambda: floats_of(values_of(values)))


def _whole(name: str, values: object) -> Ints:
    numbers = _numbers(name, values)
    whole = np.flatnonzero(numbers != np.floor(numbers))
    if len(whole):
        raise ValueError(f"row {whole[0]}: {name} has {numbers[whole[0]]}; give whole numbers.")
    return numbers.astype(np.int64)


def _components(passive: object) -> Ints:
    flags = Schema.of({"passive": "boolean"}).encode({"passive": passive})[:, 0]
    return np.where(flags == 1.0, PASSIVE, POLICY)


def _told(place: str, convert: Callable[..., T], *values: object) -> T:
    """The converted value; an error is told with its place."""
    try:
        return convert(*values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _is_same(actions: object) -> bool:
    """Whether each context has the same features of actions."""
    return isinstance(actions, Mapping) or getattr(actions, "ndim", 3) == 2
