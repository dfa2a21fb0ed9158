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
    from gyrfalcon.core.policies import KernelPolicy, UniformPolicy
    from gyrfalcon.core.problems import Problem
    from gyrfalcon.core.records import Decisions, Log
    from gyrfalcon.core.rewards import RewardRange
    from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
    from gyrfalcon.core.schema import Schema
    from gyrfalcon.environments.choices import ActionFeatureWorld, EligibilityWorld
    from gyrfalcon.environments.classification import Classification
    from gyrfalcon.environments.delay import Delayed
    from gyrfalcon.environments.drift import Drifting, Switching
    from gyrfalcon.environments.environment import World
    from gyrfalcon.environments.families import BumpWorld, LinearWorld, SinusoidWorld, XorWorld
    from gyrfalcon.environments.misspecification import Misspecification, best_in_class, misspecification
    from gyrfalcon.environments.outcomes import HeteroscedasticWorld, RareRewardWorld
    from gyrfalcon.environments.paper import SensitivityExample, StepExample
    from gyrfalcon.environments.population import Population, greedy
    from gyrfalcon.environments.replay import LoggedReplay
    from gyrfalcon.estimates.epsilon import EpsilonChoice, epsilon_choice
    from gyrfalcon.estimates.misspecification import misspecification_estimate
    from gyrfalcon.estimates.result import MisspecificationEstimate, NotEstimableError
    from gyrfalcon.experiments.datasets import dataset, dataset_names
    from gyrfalcon.experiments.simulate import simulate
    from gyrfalcon.experiments.summaries import Summary
    from gyrfalcon.experiments.sweeps.content import Keyed
    from gyrfalcon.experiments.sweeps.grid import Grid
    from gyrfalcon.experiments.sweeps.sweep import Sweep, run_sweep
    from gyrfalcon.experiments.sweeps.sweep_errors import SweepError
    from gyrfalcon.experiments.trace import Trace
    from gyrfalcon.learners.enlarged_linucb import EnlargedLinUCB
    from gyrfalcon.learners.epoch_greedy import EpochGreedy
    from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
    from gyrfalcon.learners.epsilon_greedy import EpsilonGreedy
    from gyrfalcon.learners.explore_first import ExploreFirst
    from gyrfalcon.learners.falcon import Falcon
    from gyrfalcon.learners.falcon_plus import FalconPlus
    from gyrfalcon.learners.greedy import Greedy
    from gyrfalcon.learners.lints import LinTS
    from gyrfalcon.learners.linucb import LinUCB
    from gyrfalcon.learners.oful import OFUL
    from gyrfalcon.learners.regcb import RegCB
    from gyrfalcon.learners.softmax import Softmax
    from gyrfalcon.learners.squarecb import SquareCB
    from gyrfalcon.learners.uniform import Uniform
    from gyrfalcon.oracles.bases import Identity, Polynomial, RandomFourier
    from gyrfalcon.oracles.constrained import ConstrainedFit, constrained_fit, constrained_least_squares
    from gyrfalcon.oracles.dual import DualFit, dual_search
    from gyrfalcon.oracles.linear import Linear
    from gyrfalcon.oracles.moments import Moments
    from gyrfalcon.oracles.regressor import Regressor
    from gyrfalcon.oracles.splines import Splines
    from gyrfalcon.oracles.stumps import StumpHull

__version__ = "0.1.0"

_HOMES = {
    "bandit": (
        "Bandit",
        "Decision",
        "DecisionBatch",
    ),
    "core.columns": (
        "Boolean",
        "Categorical",
        "Hashed",
        "Numeric",
    ),
    "core.contexts": ("Contexts",),
    "core.epochs": (
        "Epoch",
        "PassiveDesign",
        "decide",
    ),
    "core.kernels": (
        "epsilon_greedy",
        "inverse_gap_weighting",
        "log_barrier_weighting",
        "mixture",
        "softmax",
        "uniform",
    ),
    "core.policies": (
        "KernelPolicy",
        "UniformPolicy",
    ),
    "core.problems": ("Problem",),
    "core.records": (
        "Decisions",
        "Log",
    ),
    "core.rewards": ("RewardRange",),
    "core.schedules": (
        "Doubling",
        "FixedBatch",
        "Geometric",
        "KnownHorizon",
    ),
    "core.schema": ("Schema",),
    "environments.choices": (
        "ActionFeatureWorld",
        "EligibilityWorld",
    ),
    "environments.classification": ("Classification",),
    "environments.delay": ("Delayed",),
    "environments.drift": (
        "Drifting",
        "Switching",
    ),
    "environments.environment": ("World",),
    "environments.families": (
        "BumpWorld",
        "LinearWorld",
        "SinusoidWorld",
        "XorWorld",
    ),
    "environments.misspecification": (
        "Misspecification",
        "best_in_class",
        "misspecification",
    ),
    "environments.outcomes": (
        "HeteroscedasticWorld",
        "RareRewardWorld",
    ),
    "environments.paper": (
        "SensitivityExample",
        "StepExample",
    ),
    "environments.population": (
        "Population",
        "greedy",
    ),
    "environments.replay": ("LoggedReplay",),
    "experiments.sweeps.content": ("Keyed",),
    "estimates.epsilon": (
        "EpsilonChoice",
        "epsilon_choice",
    ),
    "estimates.misspecification": ("misspecification_estimate",),
    "estimates.result": (
        "MisspecificationEstimate",
        "NotEstimableError",
    ),
    "experiments.datasets": (
        "dataset",
        "dataset_names",
    ),
    "experiments.sweeps.grid": ("Grid",),
    "experiments.simulate": ("simulate",),
    "experiments.summaries": ("Summary",),
    "experiments.sweeps.sweep": (
        "Sweep",
        "run_sweep",
    ),
    "experiments.sweeps.sweep_errors": ("SweepError",),
    "experiments.trace": ("Trace",),
    "learners.enlarged_linucb": ("EnlargedLinUCB",),
    "learners.epoch_greedy": ("EpochGreedy",),
    "learners.epsilon_falcon": ("EpsilonFalcon",),
    "learners.epsilon_greedy": ("EpsilonGreedy",),
    "learners.explore_first": ("ExploreFirst",),
    "learners.falcon": ("Falcon",),
    "learners.falcon_plus": ("FalconPlus",),
    "learners.greedy": ("Greedy",),
    "learners.lints": ("LinTS",),
    "learners.linucb": ("LinUCB",),
    "learners.oful": ("OFUL",),
    "learners.regcb": ("RegCB",),
    "learners.softmax": ("Softmax",),
    "learners.squarecb": ("SquareCB",),
    "learners.uniform": ("Uniform",),
    "oracles.bases": (
        "Identity",
        "Polynomial",
        "RandomFourier",
    ),
    "oracles.constrained": (
        "ConstrainedFit",
        "constrained_fit",
        "constrained_least_squares",
    ),
    "oracles.dual": (
        "DualFit",
        "dual_search",
    ),
    "oracles.linear": ("Linear",),
    "oracles.moments": ("Moments",),
    "oracles.regressor": ("Regressor",),
    "oracles.splines": ("Splines",),
    "oracles.stumps": ("StumpHull",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022 - in the order of _HOMES, and checked against it
    "Bandit",
    "Decision",
    "DecisionBatch",
    "Boolean",
    "Categorical",
    "Hashed",
    "Numeric",
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
    "KernelPolicy",
    "UniformPolicy",
    "Problem",
    "Decisions",
    "Log",
    "RewardRange",
    "Doubling",
    "FixedBatch",
    "Geometric",
    "KnownHorizon",
    "Schema",
    "ActionFeatureWorld",
    "EligibilityWorld",
    "Classification",
    "Delayed",
    "Drifting",
    "Switching",
    "World",
    "BumpWorld",
    "LinearWorld",
    "SinusoidWorld",
    "XorWorld",
    "Misspecification",
    "best_in_class",
    "misspecification",
    "HeteroscedasticWorld",
    "RareRewardWorld",
    "SensitivityExample",
    "StepExample",
    "Population",
    "greedy",
    "LoggedReplay",
    "Keyed",
    "EpsilonChoice",
    "epsilon_choice",
    "misspecification_estimate",
    "MisspecificationEstimate",
    "NotEstimableError",
    "dataset",
    "dataset_names",
    "Grid",
    "simulate",
    "Summary",
    "Sweep",
    "run_sweep",
    "SweepError",
    "Trace",
    "EnlargedLinUCB",
    "EpochGreedy",
    "EpsilonFalcon",
    "EpsilonGreedy",
    "ExploreFirst",
    "Falcon",
    "FalconPlus",
    "Greedy",
    "LinTS",
    "LinUCB",
    "OFUL",
    "RegCB",
    "Softmax",
    "SquareCB",
    "Uniform",
    "Identity",
    "Polynomial",
    "RandomFourier",
    "ConstrainedFit",
    "constrained_fit",
    "constrained_least_squares",
    "DualFit",
    "dual_search",
    "Linear",
    "Moments",
    "Regressor",
    "Splines",
    "StumpHull",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name == "theory":
        return import_module("gyrfalcon.theory")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gyrfalcon' has no attribute {name!r}")
    value = getattr(import_module(f"gyrfalcon.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
