"""Linear-in-features classes by name, of which a learner may try several on the same log.

Those with a name have the standardised inputs as their first columns. A class is left out where it would be
no richer than the linear one, or too large: d columns of K actions make d^2 K numbers, of which there may be
`MOST_NUMBERS`, and there may be `MOST_COLUMNS` columns. So 26 actions or fewer have room for 400 columns, 100
actions for 204 and 1000 actions for 64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.oracles.features.bases import FeatureMap, Identity, Polynomial, RandomFourier
from gyrfalcon.oracles.features.splines import Splines
from gyrfalcon.oracles.features.union import ChainedMap, JoinedMap, StandardisedMap
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.recursive.forest_features import check_installed
from gyrfalcon.oracles.recursive.ridge import N_LEADING, RunningRidge

MOST_COLUMNS = 400
MOST_NUMBERS = 1 << 22
N_WAVES = 300
_LIMIT_OF_WAVES = 4.0
"""Within how many standard deviations inputs are kept for waves: far outside, these tell only noise."""
FEWEST_WAVES = 20
"""Fewer waves than these are too coarse a picture of a kernel to be worth a trial."""
_N_DISTANT = 200
"""Contexts whose distances from each other are looked at."""
_SPLINES = (Splines(5, 3), Splines(4, 3), Splines(3, 3), Splines(3, 1))
"""The richest first: 6, 5, 4 and 2 columns of an input, besides the input itself."""
_MOST_KNOTS, _KNOTS_OF_ALL = 16, 64
"""Few inputs may bend more often: so many knots each, or all together."""

ClassChoice = str | Linear
TREES = "trees"
"""Grown by scikit-learn on the rows themselves, not on their contexts alone: see `oracles.trees`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A class whose feature map is fixed by early contexts, and not yet fitted."""

    name: str
    basis: FeatureMap
    ridge: float | None = None
    """The class's own, None where it has none."""

    @property
    def n_columns(self) -> int:
        """The coefficients of an action, with its intercept."""
        return 1 + self.basis.n_features

    def start(self, n_actions: int, ridge: float = 1.0, n_leading: int = N_LEADING) -> RunningRidge:
        """Its regression without any rows; a ridge of its own goes before the one given."""
        return RunningRidge.start(self.basis, n_actions, self.ridge or ridge, n_leading)


def checked_classes(classes: object) -> tuple[ClassChoice, ...]:
    """The classes that a user asked for, one by one; ValueError where one can't be tried.

    >>> checked_classes("auto")
    ('linear', 'quadratic', 'splines', 'fourier')
    >>> checked_classes(["linear", "splin"])
    Traceback (most recent call last):
        ...
    ValueError: classes names 'splin', which is no class: did you mean 'splines'?
    """
    if isinstance(classes, str | Linear):
        classes = [classes]
    listed = classes if isinstance(classes, Iterable) else ()
    chosen = tuple(one for given in listed for one in _checked(given))
    if not chosen:
        raise ValueError(
            f"classes is {short_repr(classes)}; give 'auto', or a list such as ['linear', 'fourier']."
        )
    names = [name_of(one) for one in chosen]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"classes holds {short_repr(name)} twice; give each class once.")
    return chosen


def name_of(choice: ClassChoice) -> str:
    """What a class is called in reports.

    >>> name_of("fourier"), name_of(Linear(basis=Splines(n_knots=4)))
    ('fourier', 'Splines(n_knots=4, degree=3)')
    """
    if isinstance(choice, str):
        return choice
    ridge = f", ridge {choice.ridge:g}" if choice.ridge else ""
    return f"{choice.basis!r}{ridge}{'' if choice.standardise else ', not standardised'}"


def candidate(choice: ClassChoice, x: Floats, n_actions: int, seed: int = 0) -> Candidate | None:
    """The class for inputs like these early ones, (n, p), or None where it is of no use there.

    `seed` decides the waves.

    >>> x = np.random.default_rng(0).normal(size=(300, 3))
    >>> {name: candidate(name, x, n_actions=2).n_columns for name in AUTO}
    {'linear': 4, 'quadratic': 10, 'splines': 55, 'fourier': 304}
    """
    if isinstance(choice, Linear):
        basis = choice.basis.fit(x)
        made = StandardisedMap.of(basis, x) if choice.standardise else basis
        return Candidate(name_of(choice), made, choice.ridge or None)
    made_of_name = _NAMED[choice](x, most_columns(n_actions), seed)
    return None if made_of_name is None else Candidate(choice, made_of_name)


def most_columns(n_actions: int) -> int:
    """How many columns a class may have, its intercept among them.

    >>> most_columns(2), most_columns(100)
    (400, 204)
    """
    return min(MOST_COLUMNS, math.isqrt(MOST_NUMBERS // n_actions))


def _checked(given: object) -> tuple[ClassChoice, ...]:
    if isinstance(given, str):
        if given == "auto":
            return AUTO
        if given == f"auto+{TREES}":
            return (*AUTO, *_checked(TREES))
        if given == TREES:
            check_installed()
        elif given not in _NAMED:
            known = suggestion(given, ["auto", f"auto+{TREES}", *AUTO, TREES])
            raise ValueError(f"classes names {given!r}, which is no class: {known}")
        return (given,)
    if isinstance(given, Linear):
        return (_per_action(given),)
    raise ValueError(
        f"classes holds {short_repr(given)}; give names such as 'splines', or classes of your own such as "
        "Linear(basis=Splines())."
    )


def _per_action(given: Linear) -> Linear:
    if given.layout not in {None, "per_action"} or not given.intercept:
        raise ValueError(
            f"classes holds {short_repr(given)}; classes are tried with coefficients per action and an intercept "
            "only: leave out its layout and intercept."
        )
    return given


def _linear(x: Floats, most: int, seed: int) -> FeatureMap | None:  # noqa: ARG001 - one signature for all
    return StandardisedMap.of(Identity().fit(x), x)


def _quadratic(x: Floats, most: int, seed: int) -> FeatureMap | None:  # noqa: ARG001
    """Squares and products of inputs, squares alone where products are too many."""
    p = x.shape[1]
    for interactions, n_features in ((True, 2 * p + math.comb(p, 2)), (False, 2 * p)):
        if p and n_features < most:
            return StandardisedMap.of(Polynomial(degree=2, interactions=interactions).fit(x), x)
    return None


def _splines(x: Floats, most: int, seed: int) -> FeatureMap | None:  # noqa: ARG001
    """The inputs and splines of each, the richest that there may be columns for.

    Splines stay as small as they are, so that the ridge prefers a line to what bends.
    """
    p = x.shape[1]
    n_knots = min(_MOST_KNOTS, _KNOTS_OF_ALL // max(p, 1))
    richer = (Splines(n_knots, 3),) if n_knots > _SPLINES[0].n_knots else ()
    for splines in (*richer, *_SPLINES):
        made = splines.fit(x)
        if p < made.n_features < most - p:
            centred = StandardisedMap(made, made.expand(x).mean(axis=0), np.ones(made.n_features))
            return JoinedMap((StandardisedMap.of(Identity().fit(x), x), centred))
    return None


def _waves(x: Floats, most: int, seed: int) -> FeatureMap | None:
    """The inputs and sqrt(2) cos(W z + b), as many as there may be columns for."""
    p = x.shape[1]
    n_waves = min(N_WAVES, most - 1 - p)
    if p == 0 or n_waves < FEWEST_WAVES:
        return None
    inputs = StandardisedMap.of(Identity().fit(x), x, _LIMIT_OF_WAVES)
    z = inputs.expand(x)
    drawn = RandomFourier(n_waves, length_scale=median_distance(z), seed=seed).fit(z)
    # Standardised once: what lost its far values to the limit is not stretched again.
    waves = ChainedMap(inputs, replace(drawn, means=np.zeros(p), scales=np.ones(p)))
    # They are of scale 1 by themselves; in units of their early spread, flat ones would be blown up.
    unscaled = StandardisedMap(waves, np.zeros(n_waves), np.full(n_waves, 1.0 / math.sqrt(n_waves)))
    return JoinedMap((StandardisedMap.of(Identity().fit(x), x), unscaled))


def median_distance(z: Floats) -> float:
    """The median distance of rows (n, p) that differ, of some two hundred of them; 1 if none do.

    >>> median_distance(np.array([[0.0, 5.0], [2.0, 5.0]]))
    2.0
    """
    some = z[np.unique(np.linspace(0, len(z) - 1, _N_DISTANT).astype(np.int64))]
    squares = np.einsum("ip,ip->i", some, some)
    apart = (squares[:, np.newaxis] + squares - 2.0 * (some @ some.T))[np.triu_indices(len(some), 1)]
    distinct = apart[apart > 1e-9 * max(float(squares.max()), 1.0)]
    return math.sqrt(float(np.median(distinct))) if distinct.size else 1.0


_NAMED: Mapping[str, Callable[[Floats, int, int], FeatureMap | None]] = MappingProxyType(
    {"linear": _linear, "quadratic": _quadratic, "splines": _splines, "fourier": _waves}
)
AUTO: tuple[str, ...] = tuple(_NAMED)
