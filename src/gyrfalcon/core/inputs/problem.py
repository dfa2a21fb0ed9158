"""The problem to learn: which actions there are, what is known before choosing, and what is earned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.arguments import (
    agreed_length,
    checked_labels,
    components,
    ends,
    is_bool,
    numbers_of,
    of_length,
    whole_numbers,
    with_location,
)
from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion
from gyrfalcon.core.inputs.reward_range import OutOfRange, RewardRange
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.inputs.tables import by_row, is_collection, listed, values_of
from gyrfalcon.core.records import PASSIVE, POLICY, Log


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
    out_of_range: OutOfRange
    cost: bool
    rewards: RewardRange = field(init=False, repr=False, compare=False)
    _indices: dict[object, int] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        actions: Iterable[Hashable],
        features: object = None,
        action_features: object = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        out_of_range: OutOfRange = "error",
        cost: bool = False,
    ) -> None:
        labels = checked_labels(actions)
        low, high = ends(reward_range)
        rewards = RewardRange(low, high, out_of_range, cost)
        values = {
            "actions": labels,
            "features": Schema.of(features),
            "action_features": Schema.of(action_features),
            "reward_range": (rewards.low, rewards.high),
            "out_of_range": rewards.out_of_range,
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
            raise ValueError(f"there is no action {short_repr(label)}; {hint}") from None

    def indices_of(self, labels: object) -> Ints:
        """The positions of the actions with these labels, (n,)."""
        values = values_of(labels)
        try:
            indices = [self._indices[label] for label in listed(values)]
        except (KeyError, TypeError):
            indices = by_row(self.index_of, values)
        return np.array(indices, dtype=np.int64)

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
        cube, given, is_same = (None, None, True) if actions is None else self._cube(actions)
        varied = None if is_same else cube
        n = agreed_length(n, {"shared": table, "actions": varied, "eligible": mask})
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
        cube, given, _ = (None, None, True) if actions is None else self._cube(actions)
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
        chosen uniformly among the eligible ones, which is passive play. `passive` marks the rows of passive
        play, where not all or none of them are.
        `rounds` are 0 to n - 1 unless given.
        """
        self._check_contexts(contexts)
        n = len(contexts)
        action = of_length(n, "actions", self.indices_of(actions))
        reward = of_length(n, "rewards", self.rewards.to_unit(values_of(rewards)))
        if contexts.eligible is not None:
            barred = np.flatnonzero(~contexts.eligible[np.arange(n), action])
            if len(barred):
                label = short_repr(self.actions[action[barred[0]]])
                raise ValueError(
                    f"row {barred[0]}: action {label} is not eligible there; mend either column."
                )
        return Log(
            contexts,
            action,
            reward,
            self._propensities(contexts, propensities),
            np.repeat(whole_numbers("epoch", [epoch]), n),
            np.arange(n) if rounds is None else of_length(n, "rounds", whole_numbers("rounds", rounds)),
            self._components(n, propensities is None, passive),
        )

    def _check_given(self, shared: object, actions: object) -> None:
        if shared is None and self.features.columns:
            raise ValueError(f"contexts need the features {enumeration(self.features.names)}; give `shared`.")
        if (actions is None) == bool(self.action_features.columns):
            fault = "declared and not given" if actions is None else "given and not declared"
            raise ValueError(f"features of actions are {fault}; see `action_features` and `actions`.")

    def _check_contexts(self, contexts: Contexts) -> None:
        if type(contexts) is not Contexts:
            raise ValueError(
                f"contexts are {short_repr(contexts)}; make them with this problem's `contexts`."
            )
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
                label = short_repr(self.actions[index])
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
        mask = by_row(self._mask_of_row, with_location("eligible", values_of, eligible), " of eligible")
        return np.array(mask, dtype=np.bool_).reshape(len(mask), self.n_actions)

    def _mask_of_row(self, labels: Any) -> Bools:
        if isinstance(labels, np.ndarray) and labels.dtype == np.bool_ and labels.shape == (self.n_actions,):
            return labels.copy()
        if not is_collection(labels):
            raise ValueError(
                f"{short_repr(labels)} is not a collection of labels; give one such as ['a', 'b']."
            )
        mask = np.zeros(self.n_actions, dtype=np.bool_)
        for label in labels:
            index = self.index_of(label)
            # With the labels 0 and 1, a list of booleans would silently pass as a list of labels.
            if is_bool(label) > is_bool(self.actions[index]):
                raise ValueError(f"{label} is not a label here; give labels, or a NumPy array of booleans.")
            mask[index] = True
        return mask

    def _cube(self, actions: object) -> tuple[Floats, Bools, bool]:
        """Features of actions, (n, K, q), where they were given, (n, K), and whether all rows share them."""
        if isinstance(actions, Mapping):
            return *self._cube_of_rows([actions]), True
        if isinstance(actions, list | tuple) and all(isinstance(row, Mapping) for row in actions):
            return *self._cube_of_rows(actions), False
        if hasattr(actions, "columns") or hasattr(actions, "column_names"):
            raise ValueError(
                f"actions are a {type(actions).__name__}, whose rows have no labels here; "
                "give a mapping of labels to rows of features, or an array in the order of the actions."
            )
        # Objects keep text and numbers apart; rows of unequal lengths then show in the shape.
        array: Any = np.array(actions, dtype=object) if isinstance(actions, list | tuple) else actions
        array = array if isinstance(array, np.ndarray) else np.asarray(array)
        is_same = array.ndim == 2
        array = array[None] if is_same else array
        if array.ndim != 3 or array.shape[1:] != (self.n_actions, len(self.action_features.columns)):
            expected = f"(n, {self.n_actions}, {len(self.action_features.columns)})"
            raise ValueError(f"actions have shape {array.shape}; give {expected}, or mappings by label.")
        try:
            flat = self.action_features.encode(array.reshape(-1, array.shape[2]))
        except ValueError:
            # Row by row of the flat table says little: the same refusal, action by action.
            for index, label in enumerate(self.actions):
                with_location(f"action {short_repr(label)}", self.action_features.encode, array[:, index])
            raise
        shape = (len(array), self.n_actions)
        return flat.reshape(*shape, self.action_features.width), np.ones(shape, dtype=np.bool_), is_same

    def _cube_of_rows(self, rows: Sequence[Mapping[object, object]]) -> tuple[Floats, Bools]:
        cube = np.zeros((len(rows), self.n_actions, self.action_features.width))
        given = np.zeros((len(rows), self.n_actions), dtype=np.bool_)
        for row, features in enumerate(rows):
            for label, values in features.items():
                index = self.index_of(label)
                place = f"row {row} of actions, action {short_repr(label)}"
                cube[row, index] = with_location(place, self.action_features.encode_one, values)[0]
                given[row, index] = True
        return cube, given

    @staticmethod
    def _components(n: int, is_uniform: bool, passive: object) -> Ints:
        if passive is None:
            return np.full(n, PASSIVE if is_uniform else POLICY)
        return of_length(n, "passive", components(passive))

    def _propensities(self, contexts: Contexts, values: object) -> Floats:
        if values is None:
            mask = contexts.eligible
            n_eligible = np.full(len(contexts), self.n_actions) if mask is None else mask.sum(axis=1)
            return 1.0 / n_eligible
        propensity = numbers_of("propensities", values)
        wrong = np.flatnonzero(~((propensity > 0.0) & (propensity <= 1.0)))
        if len(wrong):
            raise ValueError(
                f"row {wrong[0]}: the propensity {propensity[wrong[0]]} is not in (0, 1]; give the "
                "probability with which the action was chosen, or leave the row out."
            )
        return of_length(len(contexts), "propensities", propensity)
