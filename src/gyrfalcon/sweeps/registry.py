"""Learners, environments and their parts by name: literal lists, no registry magic.

Names may be written as people do: `epsilon-falcon`, `Epsilon FALCON` and `EpsilonFalcon` are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
from gyrfalcon.environments.data.named import dataset_names
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import (
    BumpEnvironment,
    LinearEnvironment,
    SinusoidEnvironment,
    XorEnvironment,
)
from gyrfalcon.environments.synthetic.outcomes import HeteroscedasticEnvironment, RareRewardEnvironment
from gyrfalcon.environments.wrappers import Delayed, Drifting, Switching
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.epoch_greedy import EpochGreedy
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.explore_first import ExploreFirst
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.learners.baselines.softmax import Softmax
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.falcon_plus import FalconPlus
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.oracles.features.bases import Identity, Polynomial, RandomFourier
from gyrfalcon.oracles.features.splines import Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.regressors.spec import class_named
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from gyrfalcon.storage.codec import class_table
from gyrfalcon.sweeps.named_sets import NamedSet

Maker = Callable[..., Any]
Makers = Mapping[str, Maker]

LEARNERS: Makers = class_table(
    [
        *(AdaptiveFalcon, EpsilonFalcon, Falcon, FalconPlus, SquareCB),
        *(LinUCB, EnlargedLinUCB, OFUL, LinTS, RegCB),
        *(EpochGreedy, ExploreFirst, EpsilonGreedy, Softmax, Greedy, Uniform),
    ]
)
ENVIRONMENTS: Makers = class_table(
    [
        *(StepExample, SensitivityExample),
        *(
            LinearEnvironment,
            SinusoidEnvironment,
            XorEnvironment,
            BumpEnvironment,
            RareRewardEnvironment,
            HeteroscedasticEnvironment,
        ),
        *(ActionFeatureEnvironment, EligibilityEnvironment, Delayed, Switching, Drifting),
    ]
)
PARTS: Makers = class_table(
    [
        *(Linear, Regressor, StumpHull),
        *(Identity, Polynomial, Splines, RandomFourier),
        *(Doubling, Geometric, FixedBatch, KnownHorizon),
    ]
)
REGRESSORS = (
    "sklearn.linear_model.LinearRegression",
    "sklearn.linear_model.Ridge",
    "sklearn.linear_model.Lasso",
    "sklearn.linear_model.ElasticNet",
    "sklearn.kernel_ridge.KernelRidge",
    "sklearn.isotonic.IsotonicRegression",
    "sklearn.tree.DecisionTreeRegressor",
    "sklearn.ensemble.RandomForestRegressor",
    "sklearn.ensemble.ExtraTreesRegressor",
    "sklearn.ensemble.GradientBoostingRegressor",
    "sklearn.ensemble.HistGradientBoostingRegressor",
)
"""Known without their modules; any other regressor of scikit-learn by its whole name."""
_REGRESSORS = {name.rpartition(".")[2]: name for name in REGRESSORS}


def plain_name(name: str) -> str:
    """The one form of all ways to write a name.

    >>> plain_name("Epsilon-FALCON") == plain_name("epsilon_falcon") == plain_name("EpsilonFalcon")
    True
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def learner_maker(name: object, place: str) -> tuple[str, Maker]:
    """The right name of a learner and what makes it; ValueError with the nearest names if there is none."""
    return _found(name, LEARNERS, "learner", place)


def environment_maker(name: object, place: str) -> tuple[str, Maker]:
    """The right name of an environment or a data set, and what makes it."""
    return _data_set(name) or _found(name, ENVIRONMENTS, "environment", place, _environment_names)


def part_maker(name: object, place: str) -> tuple[str, Maker]:
    """The right name of what a setting may hold, and what makes it: a part, a regressor, or an environment."""
    makers = {**PARTS, **ENVIRONMENTS, **LEARNERS}
    known = partial(_part_names, makers)
    return _regressor(name, place) or _data_set(name) or _found(name, makers, "part", place, known)


def _found(
    name: object, makers: Makers, kind: str, place: str, known: Callable[[], Iterable[str]] | None = None
) -> tuple[str, Maker]:
    if not isinstance(name, str):
        given = "there is no name" if name is None else f"the name is {short_repr(name)}"
        example = f'name = "{next(iter(makers))}"'
        raise ValueError(f"{place}: {given}; say which {kind} it is, as in {example}.")  # noqa: TRY004 - as all settings
    right = _right_name(name, makers)
    if right is None:
        near = suggestion(name, makers if known is None else known())
        raise ValueError(f"{place}: there is no {kind} called {short_repr(name)}; {near}")
    return right, makers[right]


def _right_name(name: str, known: Iterable[str]) -> str | None:
    return {plain_name(one): one for one in known}.get(plain_name(name))


def _regressor(name: object, place: str) -> tuple[str, Maker] | None:
    short = _right_name(name, _REGRESSORS) if isinstance(name, str) else None
    if short is None and not (isinstance(name, str) and "." in name):
        return None
    long = _REGRESSORS[short] if short else str(name)
    try:
        return long, class_named(long)
    except ValueError as error:
        near = suggestion(long, [*REGRESSORS, *_REGRESSORS])
        raise ValueError(f"{place}: {str(error).rstrip('.')}; {near}") from error


def _data_set(name: object) -> tuple[str, Maker] | None:
    """A classification set; its name is looked up last, as that may have to read what is installed."""
    if not isinstance(name, str) or _right_name(name, {**PARTS, **ENVIRONMENTS, **LEARNERS}):
        return None
    right = name if "/" in name else _right_name(name, dataset_names())
    return None if right is None else (right, partial(NamedSet, right))


def _environment_names() -> list[str]:
    return [*ENVIRONMENTS, *dataset_names()]


def _part_names(makers: Makers) -> list[str]:
    return [*makers, *_REGRESSORS]
