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
        "ActionFeatureEnvironment",
        "EligibilityEnvironment",
    ),
    "environments.classification": ("Classification",),
    "environments.delay": ("Delayed",),
    "environments.drift": (
        "Drifting",
        "Switching",
    ),
    "environments.environment": ("PotentialOutcomes",),
    "environments.families": (
        "BumpEnvironment",
        "LinearEnvironment",
        "SinusoidEnvironment",
        "XorEnvironment",
    ),
    "environments.misspecification": (
        "Misspecification",
        "best_in_class",
        "misspecification",
    ),
    "environments.outcomes": (
        "HeteroscedasticEnvironment",
        "RareRewardEnvironment",
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
    "ActionFeatureEnvironment",
    "EligibilityEnvironment",
    "Classification",
    "Delayed",
    "Drifting",
    "Switching",
    "PotentialOutcomes",
    "BumpEnvironment",
    "LinearEnvironment",
    "SinusoidEnvironment",
    "XorEnvironment",
    "Misspecification",
    "best_in_class",
    "misspecification",
    "HeteroscedasticEnvironment",
    "RareRewardEnvironment",
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
