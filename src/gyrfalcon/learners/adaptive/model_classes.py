"""Linear-in-features model classes by name, as candidates for the same log.

Named classes have the standardised inputs as their first columns, and "mixed" has the columns of all others:
penalties by marginal likelihood decide which of them count. A class is left out where it would be no richer
than the linear one, or too large: d columns of K actions make d^2 K numbers, at most `MAX_NUMBERS`, and there
are at most `MAX_COLUMNS` columns: 400 columns for up to 26 actions, 204 for 100 actions and 64 for 1000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.oracles.features.bases import (
    ChainedMap,
    FeatureMap,
    Identity,
    JoinedMap,
    Polynomial,
    StandardisedMap,
)
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear

MAX_COLUMNS = 400
MAX_NUMBERS = 1 << 22
N_FOURIER, N_MIXED_FOURIER = 300, 150
"""Random Fourier features of their class alone, and beside the columns of other classes."""
_MOST_QUADRATIC, _MOST_SPLINES = 120, 130
"""Columns of products and splines with which they are part of the mixed class, and at most half its room."""
_CLIP = 4.0
"""Standard deviations at which inputs of random Fourier features are clipped: beyond, they are noise."""
MIN_FOURIER = 20
"""Fewer random Fourier features than these approximate the kernel too coarsely."""
_N_PAIRED = 200
"""Contexts whose pairwise distances determine the length scale."""
_SPLINES = (Splines(5, 3), Splines(4, 3), Splines(3, 3), Splines(3, 1))
"""The richest first: 6, 5, 4 and 2 columns of an input, besides the input itself."""
_MAX_KNOTS, _TOTAL_KNOTS = 16, 64
"""With few inputs, splines have more knots: at most these per input, and in total."""

ClassChoice = str | Linear
LOGISTIC = "logistic"
"""For rewards with two values: `logistic_fit`."""
TREES, AUTO_TREES = "trees", "auto_trees"
"""Grown on the rows, not on their contexts alone: `oracles.regressors.forest_features`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model class whose feature map is fixed by early contexts, before its fit."""

    name: str
    basis: FeatureMap
    sizes: tuple[int, ...]
    """Columns of each group with a penalty of its own: the intercept, the inputs, and so on."""
    ridge: float | None = None
    """The class's own least penalty, None where it has none."""

    @property
    def n_columns(self) -> int:
        """The number of coefficients per action, with its intercept."""
        return 1 + self.basis.n_features


@dataclass(frozen=True, slots=True)
class ParsedClasses:
    """Model classes to choose from, in the order given."""

    others: tuple[ClassChoice, ...]
    """Classes beside the linear one."""
    with_linear: bool
    """Whether the linear class may be active once another one is fitted."""
    names: tuple[str, ...]
    """Names of all classes, the linear one first."""


def parsed_classes(classes: object) -> ParsedClasses:
    """The classes that a setting names; ValueError where one is not known or not usable.

    >>> parsed_classes("auto").names
    ('linear', 'mixed', 'logistic')
    >>> parsed_classes(["linear", "splin"])
    Traceback (most recent call last):
        ...
    ValueError: classes names 'splin', which is no model class: did you mean 'splines'?
    """
    listed = [classes] if isinstance(classes, str | Linear) else classes
    chosen = [one for given in listed for one in _checked(given)] if isinstance(listed, Sequence) else []
    if not chosen:
        raise ValueError(
            f"classes is {short_repr(classes)}; give 'auto', or a list such as ['linear', 'fourier']."
        )
    names = [name_of(one) for one in chosen]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"classes holds {short_repr(name)} twice; give each class once.")
    others = tuple(one for one in chosen if one != "linear")
    return ParsedClasses(others, "linear" in chosen, ("linear", *map(name_of, others)))


def name_of(choice: ClassChoice) -> str:
    """The name of a model class in reports.

    >>> name_of("fourier"), name_of(Linear(basis=Splines(n_knots=4)))
    ('fourier', 'Splines(n_knots=4, degree=3)')
    """
    if isinstance(choice, str):
        return choice
    ridge = f", ridge {choice.ridge:g}" if choice.ridge else ""
    return f"{choice.basis!r}{ridge}{'' if choice.standardise else ', not standardised'}"


def candidate(choice: ClassChoice, x: Floats, n_actions: int, seed: int = 0) -> Candidate | None:
    """The class for inputs like these early ones, (n, p), or None where it is of no use there.

    `seed` draws the random Fourier features.

    >>> x = np.random.default_rng(0).normal(size=(300, 3))
    >>> candidate("quadratic", x, n_actions=2).sizes, candidate("mixed", x, n_actions=2).sizes
    ((1, 3, 6), (1, 3, 6, 51, 150))
    """
    if isinstance(choice, Linear):
        basis = choice.basis.fit(x)
        made = StandardisedMap.of(basis, x) if choice.standardise else basis
        return Candidate(name_of(choice), made, (1, made.n_features), choice.ridge or None)
    parts = _NAMED[choice](x, most_columns(n_actions), seed)
    if parts is None:
        return None
    sizes = (1, *(part.n_features for part in parts))
    return Candidate(choice, parts[0] if len(parts) == 1 else JoinedMap(parts), sizes)


def most_columns(n_actions: int) -> int:
    """The largest number of columns of a class, with its intercept.

    >>> most_columns(2), most_columns(100)
    (400, 204)
    """
    return min(MAX_COLUMNS, math.isqrt(MAX_NUMBERS // n_actions))


def _checked(given: object) -> tuple[ClassChoice, ...]:
    if isinstance(given, str):
        if given == "auto":
            return AUTO
        if given == AUTO_TREES:
            return (*AUTO[:2], TREES, *AUTO[2:])
        if given != TREES and given not in _NAMED:
            known = suggestion(given, ["auto", AUTO_TREES, *NAMES, TREES])
            raise ValueError(f"classes names {given!r}, which is no model class: {known}")
        return (given,)
    if isinstance(given, Linear):
        return (_per_action(given),)
    raise ValueError(
        f"classes holds {short_repr(given)}; give names such as 'splines', or linear classes such as "
        "Linear(basis=Splines())."
    )


def _per_action(given: Linear) -> Linear:
    if given.layout not in {None, "per_action"} or not given.intercept:
        raise ValueError(
            f"classes holds {short_repr(given)}; classes are tried with coefficients per action and "
            "an intercept only: leave out its layout and intercept."
        )
    return given


_Parts = tuple[FeatureMap, ...]


def _inputs(x: Floats) -> StandardisedMap:
    return StandardisedMap.of(Identity().fit(x), x)


def _linear(x: Floats, most: int, seed: int) -> _Parts | None:  # noqa: ARG001 - one signature for all
    return (_inputs(x),)


def _logistic(x: Floats, most: int, seed: int) -> _Parts | None:  # noqa: ARG001
    return (_inputs(x),) if x.shape[1] < most else None


def _quadratic(x: Floats, most: int, seed: int, limit: int = MAX_COLUMNS) -> _Parts | None:  # noqa: ARG001
    """Squares and products of inputs, squares alone where products are too many; None beyond the limit."""
    p = x.shape[1]
    for interactions, n_features in ((True, p + math.comb(p, 2)), (False, p)):
        if p and p + n_features < most:
            if n_features > limit:
                return None
            made = Polynomial(degree=2, interactions=interactions).fit(x)
            products = replace(made, factors=made.factors[p:])
            return _inputs(x), StandardisedMap.of(products, x)
    return None


def _splines(x: Floats, most: int, seed: int, limit: int = MAX_COLUMNS) -> _Parts | None:  # noqa: ARG001
    """The inputs and splines of each, the richest with at most `most` columns; None beyond the limit.

    Splines are not rescaled, so that the penalty prefers linear functions.
    """
    p = x.shape[1]
    n_knots = min(_MAX_KNOTS, _TOTAL_KNOTS // max(p, 1))
    richer = (Splines(n_knots, 3),) if n_knots > _SPLINES[0].n_knots else ()
    for splines in (*richer, *_SPLINES):
        made = splines.fit(x)
        if p < made.n_features < most - p:
            if made.n_features > limit:
                return None
            centred = StandardisedMap(made, made.expand(x).mean(axis=0), np.ones(made.n_features))
            return _inputs(x), centred
    return None


def _fourier(x: Floats, most: int, seed: int, n_most: int = N_FOURIER) -> _Parts | None:
    """The inputs and random Fourier features sqrt(2) cos(W z + b), with at most `most` columns."""
    p = x.shape[1]
    n_fourier = min(n_most, most - 1 - p)
    if p == 0 or n_fourier < MIN_FOURIER:
        return None
    clipped = StandardisedMap.of(Identity().fit(x), x, _CLIP)
    z = clipped.expand(x)
    drawn = RandomFourier(n_fourier, length_scale=median_distance(z), seed=seed).fit(z)
    # Standardised once: clipped inputs are not rescaled.
    features = ChainedMap(clipped, replace(drawn, means=np.zeros(p), scales=np.ones(p)))
    # They have scale 1 already; dividing by their early deviation would inflate nearly constant ones.
    unscaled = StandardisedMap(features, np.zeros(n_fourier), np.full(n_fourier, 1.0 / math.sqrt(n_fourier)))
    return _inputs(x), unscaled


def _mixed(x: Floats, most: int, seed: int) -> _Parts | None:
    """The inputs, with products, splines and random Fourier features as far as there is room for them."""
    parts: _Parts = (_inputs(x),)
    for make, limit in ((_quadratic, _MOST_QUADRATIC), (_splines, _MOST_SPLINES)):
        room = most - 1 - sum(part.n_features for part in parts)
        made = make(x, most, seed, min(limit, room // 2))
        parts += () if made is None else made[1:]
    used = sum(part.n_features for part in parts[1:])
    made = _fourier(x, most - used, seed, N_MIXED_FOURIER)
    parts += () if made is None else made[1:]
    return parts if len(parts) > 1 else None


def median_distance(z: Floats) -> float:
    """Median distance between distinct rows of (n, p), of some two hundred of them; 1 if none differ.

    >>> median_distance(np.array([[0.0, 5.0], [2.0, 5.0]]))
    2.0
    """
    some = z[np.unique(np.linspace(0, len(z) - 1, _N_PAIRED).astype(np.int64))]
    squares = np.einsum("ip,ip->i", some, some)
    apart = (squares[:, np.newaxis] + squares - 2.0 * (some @ some.T))[np.triu_indices(len(some), 1)]
    distinct = apart[apart > 1e-9 * max(float(squares.max()), 1.0)]
    return math.sqrt(float(np.median(distinct))) if distinct.size else 1.0


_NAMED: Mapping[str, Callable[[Floats, int, int], _Parts | None]] = MappingProxyType(
    {
        "linear": _linear,
        "quadratic": _quadratic,
        "splines": _splines,
        "fourier": _fourier,
        "mixed": _mixed,
        LOGISTIC: _logistic,
    }
)
NAMES: tuple[str, ...] = tuple(_NAMED)
AUTO: tuple[str, ...] = ("linear", "mixed", LOGISTIC)
