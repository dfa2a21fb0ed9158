"""Contextual bandits that stay right when the reward model is wrong.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyrfalcon.bandit import Bandit, Decision, DecisionBatch
    from gyrfalcon.core.columns import Boolean, Categorical, Hashed, Numeric
    from gyrfalcon.core.contexts import Contexts
    from gyrfalcon.core.epochs import Epoch, PassiveDesign, decide
    from gyrfalcon.core.kernels import (
        epsilon_greedy,
        inverse_gap_weighting,
        log_barrier_weighting,
        mixture,
        softmax,
        uniform,
    )
    from gyrfalcon.core.problems import Problem
    from gyrfalcon.core.records import Decisions, Log
    from gyrfalcon.core.rewards import RewardRange
    from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
    from gyrfalcon.core.schema import Schema
    from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
    from gyrfalcon.learners.epsilon_greedy import EpsilonGreedy
    from gyrfalcon.learners.falcon import Falcon
    from gyrfalcon.learners.linucb import LinUCB
    from gyrfalcon.learners.uniform import Uniform
    from gyrfalcon.oracles.bases import Identity, Polynomial, RandomFourier
    from gyrfalcon.oracles.constrained import ConstrainedFit, constrained_fit, constrained_least_squares
    from gyrfalcon.oracles.linear import Linear
    from gyrfalcon.oracles.moments import Moments
    from gyrfalcon.oracles.splines import Splines

__version__ = "0.1.0"

_HOMES = {
    "bandit": ("Bandit", "Decision", "DecisionBatch"),
    "core.contexts": ("Contexts",),
    "core.epochs": ("Epoch", "PassiveDesign", "decide"),
    "core.kernels": (
        "epsilon_greedy",
        "inverse_gap_weighting",
        "log_barrier_weighting",
        "mixture",
        "softmax",
        "uniform",
    ),
    "core.problems": ("Problem",),
    "core.records": ("Decisions", "Log"),
    "core.rewards": ("RewardRange",),
    "core.schedules": ("Doubling", "FixedBatch", "Geometric", "KnownHorizon"),
    "core.columns": ("Boolean", "Categorical", "Hashed", "Numeric"),
    "core.schema": ("Schema",),
    "learners.epsilon_falcon": ("EpsilonFalcon",),
    "learners.epsilon_greedy": ("EpsilonGreedy",),
    "learners.falcon": ("Falcon",),
    "learners.linucb": ("LinUCB",),
    "learners.uniform": ("Uniform",),
    "oracles.bases": ("Identity", "Polynomial", "RandomFourier"),
    "oracles.constrained": ("ConstrainedFit", "constrained_fit", "constrained_least_squares"),
    "oracles.linear": ("Linear",),
    "oracles.moments": ("Moments",),
    "oracles.splines": ("Splines",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order of _HOMES, and checked against it
    "Bandit",
    "Decision",
    "DecisionBatch",
    "Contexts",
    "Epoch",
    "PassiveDesign",
    "decide",
    "epsilon_greedy",
    "inverse_gap_weighting",
    "log_barrier_weighting",
    "mixture",
    "softmax",
    "uniform",
    "Problem",
    "Decisions",
    "Log",
    "RewardRange",
    "Doubling",
    "FixedBatch",
    "Geometric",
    "KnownHorizon",
    "Boolean",
    "Categorical",
    "Hashed",
    "Numeric",
    "Schema",
    "EpsilonFalcon",
    "EpsilonGreedy",
    "Falcon",
    "LinUCB",
    "Uniform",
    "Identity",
    "Polynomial",
    "RandomFourier",
    "ConstrainedFit",
    "constrained_fit",
    "constrained_least_squares",
    "Linear",
    "Moments",
    "Splines",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gyrfalcon' has no attribute {name!r}")
    value = getattr(import_module(f"gyrfalcon.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
