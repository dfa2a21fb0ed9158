"""Classification data as a bandit: actions are the classes, and the right label earns 1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.arguments import checked_labels, with_location
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.inputs.tables import is_missing, listed, read, values_of
from gyrfalcon.core.validation import check_flag, check_optional, check_share
from gyrfalcon.environments.content import data_digest
from gyrfalcon.environments.population.population import Population
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator
from gyrfalcon.environments.streams import FLIPS, rows_of, stream

Order: TypeAlias = Literal["passes", "iid"]
_PLAIN = {str, bool, int, float}


@dataclass(frozen=True, eq=False, repr=False)
class Classification:
    """Labelled rows as a bandit: classes are actions, and the right label earns 1.

    Rows come in random order. Two of these environments are equal if their data and settings are.

    Parameters
    ----------
    X : table
        Features, (n, p) numbers or any table of them; a frame's columns keep their names.
    y : sequence of labels
        The n labels: text, numbers or booleans. Sorted, they are the problem's actions.
    features : sequence of str, optional
        Names of the features where X has none; x0, x1, ... by default.
    standardise : bool, default True
        Whether features are centred and scaled to variance 1 over all n rows, before any is played. A
        constant one becomes 0.
    clip : float or None, default 4.0
        Number of standard deviations that standardised features are clipped to; None does not clip.
    order : {'passes', 'iid'}, default 'passes'
        'passes': all rows in random order, then all in another order, and so on, so that the first n rounds
        see each row once; 'iid': each round draws a row independently.
    flip : float, default 0.0
        Probability that a reward is inverted, in each round and for each action independently.

    Examples
    --------
    >>> fruit = Classification([[1.0], [2.0], [9.0]], ["lime", "lime", "melon"])
    >>> fruit.problem.actions, sorted(fruit.draw(0, 3, seed=0).means[:, 1].tolist())
    (('lime', 'melon'), [0.0, 0.0, 1.0])
    """

    X: Any
    y: Any
    _: KW_ONLY
    features: Sequence[str] | None = None
    standardise: bool = True
    clip: float | None = 4.0
    order: Order = "passes"
    flip: float = 0.0

    def __post_init__(self) -> None:
        check_flag("standardise", self.standardise)
        check_optional("clip", self.clip)
        check_share("flip", self.flip)
        if self.order not in get_args(Order):
            raise ValueError(f"order is {self.order!r}; give 'passes' or 'iid'.")
        names, X = _table(self.X, self.features)
        labels = listed(with_location("y", values_of, self.y))
        _check_labels(labels)
        if len(X) != len(labels):
            raise ValueError(f"X has {len(X)} rows and y has {len(labels)} labels; give equally many.")
        # Read-only copies: what was keyed, hashed or drawn once stays true.
        for name, value in {"X": X, "y": _column(labels), "features": names}.items():
            object.__setattr__(self, name, value)

    @property
    def n_rows(self) -> int:
        """Rows of X, n: as many rounds see each of them once, in passes."""
        return len(self.X)

    @cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """The different labels, sorted if they can be, else as they come."""
        return _classes(listed(self.y))

    @cached_property
    def problem(self) -> Problem:
        """The classes as actions, the columns as features, rewards 0 and 1."""
        return Problem(self.classes, self.features)

    @property
    def population(self) -> Population:
        """The rows, each as likely; this is what a round is drawn from in either order."""
        return Population.finite(Contexts(self._features), self._means[self._labels])

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        rows = self.rows(start, stop, seed)
        means = self._means[self._labels[rows]]
        return PotentialOutcomes(
            Contexts(self._features[rows]), means, self._rewards(means, start, stop, seed)
        )

    def rows(self, start: int, stop: int, seed: int) -> Ints:
        """Which rows of X the rounds start..stop-1 are, (n,)."""
        n = self.n_rows
        if self.order == "iid":
            return rows_of(lambda block: block_generator(seed, block).integers(n, size=BLOCK), start, stop)
        return rows_of(lambda block: _passes(n, seed, block), start, stop, size=n * _n_passes(n))

    @cached_property
    def content(self) -> str:
        """A digest of the data: other rows, labels or names give another."""
        return data_digest(repr((self.features, self.classes)), self.X, self._labels)

    def __repr__(self) -> str:
        size = f"{self.n_rows} rows, {self.X.shape[1]} features, {len(self.classes)} classes"
        settings = ", ".join(f"{name}={value!r}" for name, value in self._settings.items())
        return f"Classification(<{size}, content {self.content}>, {settings})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Classification):
            return NotImplemented
        return self.content == other.content and self._settings == other._settings

    def __hash__(self) -> int:
        return hash((self.content, *self._settings.values()))

    def __getstate__(self) -> dict[str, object]:
        # What is computed from the data need not travel to other processes.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def _settings(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("standardise", "clip", "order", "flip")}

    @cached_property
    def _labels(self) -> Ints:
        return self.problem.indices_of(self.y)

    @cached_property
    def _features(self) -> Floats:
        return _standardised(self.X, self.clip) if self.standardise else self.X

    @cached_property
    def _means(self) -> Floats:
        """Expected rewards of all actions where a class is the label, (K, K)."""
        right = np.eye(len(self.classes))
        return np.where(right == 1.0, 1.0 - self.flip, self.flip)

    def _rewards(self, means: Floats, start: int, stop: int, seed: int) -> Floats:
        if not self.flip:
            return means
        shape = BLOCK, means.shape[1]
        uniforms = rows_of(lambda block: stream(seed, block, FLIPS).random(shape), start, stop)
        return (uniforms < means).astype(np.float64)


def _table(X: object, features: Sequence[str] | None) -> tuple[tuple[str, ...], Floats]:
    """The names of the features and the (n, p) numbers, read-only."""
    table = with_location("X", read, X)
    if not table.columns:
        raise ValueError("X has no columns; give at least one feature.")
    names = table.names if features is None else features
    schema = with_location("X", Schema.of, len(table.columns) if names is None else list(map(str, names)))
    if len(schema.columns) != len(table.columns):
        raise ValueError(
            f"features has {len(schema.columns)} names and X {len(table.columns)} columns; give a name each."
        )
    numbers = with_location("X", schema.encode, dict(zip(schema.names, table.columns, strict=True)))
    numbers.setflags(write=False)
    return schema.names, numbers


def _check_labels(labels: list[Any]) -> None:
    """Refuse labels that can't be those of actions."""
    missing = next((row for row, label in enumerate(labels) if is_missing(label)), None)
    if missing is not None:
        raise ValueError(f"y: row {missing} has no label; leave the row out, or give it one.")
    if len(labels) < 2:
        raise ValueError(f"y has {len(labels)} labels; give at least two rows, of different classes.")
    classes = with_location("y", _classes, labels)
    if len(classes) == 1:
        raise ValueError(
            f"y has the class {short_repr(classes[0])} alone; give rows of at least two classes."
        )
    with_location("y", checked_labels, classes)


def _classes(labels: list[Any]) -> tuple[Hashable, ...]:
    try:
        classes = tuple(dict.fromkeys(labels))
    except TypeError:
        raise ValueError("a label is not hashable; give text, numbers or booleans.") from None
    try:
        return tuple(sorted(classes))
    except TypeError:
        return classes


def _column(labels: list[Any]) -> NDArray[Any]:
    """The labels as a read-only array from which they come back as they are."""
    kinds = set(map(type, labels))
    column = np.empty(len(labels), dtype=object)
    column[:] = labels
    if len(kinds) == 1 and kinds <= _PLAIN:
        plain = np.array(labels)
        column = plain if plain.tolist() == labels else column
    column.setflags(write=False)
    return column


def _standardised(X: Floats, clip: float | None) -> Floats:
    """Columns of mean 0 and variance 1, clipped; 0 where a column is constant."""
    # Scaling by powers of two is exact, and keeps squares of very large or small numbers in range.
    _, exponents = np.frexp(np.abs(X).max(axis=0))
    scaled = np.ldexp(X, -exponents)
    spread = scaled.std(axis=0)
    constant = X.max(axis=0) == X.min(axis=0)
    columns: Floats = (scaled - scaled.mean(axis=0)) / np.where(constant, 1.0, spread)
    columns[:, constant] = 0.0
    return columns if clip is None else np.clip(columns, -clip, clip)


def _n_passes(n_rows: int) -> int:
    """How many passes make a block: small sets would otherwise need a random stream every few rounds."""
    return -(-BLOCK // n_rows)


@lru_cache(maxsize=4)
def _passes(n_rows: int, seed: int, block: int) -> Ints:
    """A block of permutations of the rows; a large set is played in many stretches of the same one."""
    rows = np.tile(np.arange(n_rows), (_n_passes(n_rows), 1))
    shuffled: Ints = block_generator(seed, block).permuted(rows, axis=1).ravel()
    shuffled.setflags(write=False)
    return shuffled
