"""Contextual bandits that stay right when the reward model is wrong.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyrfalcon.bandit import Bandit, Decision, DecisionBatch
    from gyrfalcon.core.contexts import Contexts
    from gyrfalcon.core.epochs import Epoch, PassiveDesign, decide
    from gyrfalcon.core.inputs.columns import Boolean, Categorical, Hashed, Numeric
    from gyrfalcon.core.inputs.problem import Problem
    from gyrfalcon.core.inputs.reward_range import RewardRange
    from gyrfalcon.core.inputs.schema import Schema
    from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
    from gyrfalcon.core.policies.kernels import (
        epsilon_greedy,
        inverse_gap_weighting,
        log_barrier_weighting,
        mixture,
        softmax,
        uniform,
    )
    from gyrfalcon.core.records import Decisions, Log
    from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
    from gyrfalcon.environments.data.classification import Classification
    from gyrfalcon.environments.data.logged_replay import LoggedReplay
    from gyrfalcon.environments.data.named import dataset, dataset_names
    from gyrfalcon.environments.paper import SensitivityExample, StepExample
    from gyrfalcon.environments.population.best_in_class import (
        Misspecification,
        best_in_class,
        misspecification,
    )
    from gyrfalcon.environments.population.population import Population, greedy
    from gyrfalcon.environments.protocol import PotentialOutcomes
    from gyrfalcon.environments.synthetic.action_features import (
        ActionFeatureEnvironment,
        EligibilityEnvironment,
    )
    from gyrfalcon.environments.synthetic.families import (
        BumpEnvironment,
        LinearEnvironment,
        SinusoidEnvironment,
        XorEnvironment,
    )
    from gyrfalcon.environments.synthetic.outcomes import HeteroscedasticEnvironment, RareRewardEnvironment
    from gyrfalcon.environments.wrappers import Delayed, Drifting, Switching
    from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
    from gyrfalcon.estimates.misspecification.passive_share import EpsilonChoice, epsilon_choice
    from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate, NotEstimableError
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
    from gyrfalcon.oracles.solvers.constrained import (
        ConstrainedFit,
        constrained_fit,
        constrained_least_squares,
    )
    from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
    from gyrfalcon.oracles.solvers.moments import Moments
    from gyrfalcon.oracles.stump_hull.regressor import StumpHull
    from gyrfalcon.simulation.simulate import simulate
    from gyrfalcon.simulation.trace import Summary, Trace
    from gyrfalcon.sweeps.content_key import Keyed
    from gyrfalcon.sweeps.grid import Grid
    from gyrfalcon.sweeps.run import Sweep, SweepError, run_sweep

__version__ = "0.1.0"

_HOMES = {
    "bandit": (
        "Bandit",
        "Decision",
        "DecisionBatch",
    ),
    "core.contexts": ("Contexts",),
    "core.epochs": (
        "Epoch",
        "PassiveDesign",
        "decide",
    ),
    "core.inputs.columns": (
        "Boolean",
        "Categorical",
        "Hashed",
        "Numeric",
    ),
    "core.inputs.problem": ("Problem",),
    "core.inputs.reward_range": ("RewardRange",),
    "core.inputs.schema": ("Schema",),
    "core.policies.kernel_policy": (
        "KernelPolicy",
        "UniformPolicy",
    ),
    "core.policies.kernels": (
        "epsilon_greedy",
        "inverse_gap_weighting",
        "log_barrier_weighting",
        "mixture",
        "softmax",
        "uniform",
    ),
    "core.records": (
        "Decisions",
        "Log",
    ),
    "core.schedules": (
        "Doubling",
        "FixedBatch",
        "Geometric",
        "KnownHorizon",
    ),
    "environments.data.classification": ("Classification",),
    "environments.data.logged_replay": ("LoggedReplay",),
    "environments.data.named": (
        "dataset",
        "dataset_names",
    ),
    "environments.paper": (
        "SensitivityExample",
        "StepExample",
    ),
    "environments.population.best_in_class": (
        "Misspecification",
        "best_in_class",
        "misspecification",
    ),
    "environments.population.population": (
        "Population",
        "greedy",
    ),
    "environments.protocol": ("PotentialOutcomes",),
    "environments.synthetic.action_features": (
        "ActionFeatureEnvironment",
        "EligibilityEnvironment",
    ),
    "environments.synthetic.families": (
        "BumpEnvironment",
        "LinearEnvironment",
        "SinusoidEnvironment",
        "XorEnvironment",
    ),
    "environments.synthetic.outcomes": (
        "HeteroscedasticEnvironment",
        "RareRewardEnvironment",
    ),
    "environments.wrappers": (
        "Delayed",
        "Drifting",
        "Switching",
    ),
    "estimates.misspecification.estimate": ("misspecification_estimate",),
    "estimates.misspecification.result": ("MisspecificationEstimate", "NotEstimableError"),
    "estimates.misspecification.passive_share": (
        "EpsilonChoice",
        "epsilon_choice",
    ),
    "learners.baselines.epoch_greedy": ("EpochGreedy",),
    "learners.baselines.epsilon_greedy": ("EpsilonGreedy",),
    "learners.baselines.explore_first": ("ExploreFirst",),
    "learners.baselines.greedy": ("Greedy",),
    "learners.baselines.softmax": ("Softmax",),
    "learners.baselines.uniform": ("Uniform",),
    "learners.adaptive.learner": ("AdaptiveFalcon",),
    "learners.epsilon_falcon": ("EpsilonFalcon",),
    "learners.falcon": ("Falcon",),
    "learners.falcon_plus": ("FalconPlus",),
    "learners.optimistic.enlarged_linucb": ("EnlargedLinUCB",),
    "learners.optimistic.lints": ("LinTS",),
    "learners.optimistic.linucb": ("LinUCB",),
    "learners.optimistic.oful": ("OFUL",),
    "learners.optimistic.regcb": ("RegCB",),
    "learners.squarecb": ("SquareCB",),
    "oracles.features.bases": (
        "Identity",
        "Polynomial",
        "RandomFourier",
    ),
    "oracles.features.splines": ("Splines",),
    "oracles.linear.linear": ("Linear",),
    "oracles.regressors.regressor": ("Regressor",),
    "oracles.solvers.constrained": (
        "ConstrainedFit",
        "constrained_fit",
        "constrained_least_squares",
    ),
    "oracles.solvers.dual_search": (
        "DualFit",
        "dual_search",
    ),
    "oracles.solvers.moments": ("Moments",),
    "oracles.stump_hull.regressor": ("StumpHull",),
    "simulation.simulate": ("simulate",),
    "simulation.trace": (
        "Summary",
        "Trace",
    ),
    "sweeps.content_key": ("Keyed",),
    "sweeps.grid": ("Grid",),
    "sweeps.run": (
        "Sweep",
        "SweepError",
        "run_sweep",
    ),
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
    "Boolean",
    "Categorical",
    "Hashed",
    "Numeric",
    "Problem",
    "RewardRange",
    "Schema",
    "KernelPolicy",
    "UniformPolicy",
    "epsilon_greedy",
    "inverse_gap_weighting",
    "log_barrier_weighting",
    "mixture",
    "softmax",
    "uniform",
    "Decisions",
    "Log",
    "Doubling",
    "FixedBatch",
    "Geometric",
    "KnownHorizon",
    "Classification",
    "LoggedReplay",
    "dataset",
    "dataset_names",
    "SensitivityExample",
    "StepExample",
    "Misspecification",
    "best_in_class",
    "misspecification",
    "Population",
    "greedy",
    "PotentialOutcomes",
    "ActionFeatureEnvironment",
    "EligibilityEnvironment",
    "BumpEnvironment",
    "LinearEnvironment",
    "SinusoidEnvironment",
    "XorEnvironment",
    "HeteroscedasticEnvironment",
    "RareRewardEnvironment",
    "Delayed",
    "Drifting",
    "Switching",
    "MisspecificationEstimate",
    "NotEstimableError",
    "misspecification_estimate",
    "EpsilonChoice",
    "epsilon_choice",
    "EpochGreedy",
    "EpsilonGreedy",
    "ExploreFirst",
    "Greedy",
    "Softmax",
    "Uniform",
    "AdaptiveFalcon",
    "EpsilonFalcon",
    "Falcon",
    "FalconPlus",
    "EnlargedLinUCB",
    "LinTS",
    "LinUCB",
    "OFUL",
    "RegCB",
    "SquareCB",
    "Identity",
    "Polynomial",
    "RandomFourier",
    "Splines",
    "Linear",
    "Regressor",
    "ConstrainedFit",
    "constrained_fit",
    "constrained_least_squares",
    "DualFit",
    "dual_search",
    "Moments",
    "StumpHull",
    "simulate",
    "Summary",
    "Trace",
    "Keyed",
    "Grid",
    "Sweep",
    "SweepError",
    "run_sweep",
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
