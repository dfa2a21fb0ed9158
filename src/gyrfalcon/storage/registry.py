"""Every class that may stand in a file: a literal list, no registry magic."""

from __future__ import annotations

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.columns import Boolean, Categorical, Hashed, Numeric
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import RewardRange
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.policies.elimination import EliminationPolicy
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, TryingKernel, UniformPolicy
from gyrfalcon.core.policies.kernels import (
    EpsilonGreedyKernel,
    InverseGapWeighting,
    LogBarrierWeighting,
    SoftmaxKernel,
)
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.learners.adaptive.candidates import CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.state import AdaptiveState, PooledFit
from gyrfalcon.learners.adaptive.value_gate import GateStatistics, ValueGate
from gyrfalcon.learners.baselines.epoch_greedy import EpochGreedy
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.explore_first import Explored, ExploreFirst
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.learners.baselines.softmax import Softmax
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.falcon_plus import FalconPlus
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import CoefficientDraws, LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL, Refreshed
from gyrfalcon.learners.optimistic.regcb import RegCB, VersionSpace
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.features.bases import (
    FourierMap,
    Identity,
    IdentityMap,
    Polynomial,
    PolynomialMap,
    RandomFourier,
)
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.features.splines import SplineMap, Splines
from gyrfalcon.oracles.features.union import ChainedMap, Joined, JoinedMap, StandardisedMap
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import JointModel, OptimisticModel, PerActionModel
from gyrfalcon.oracles.recursive.deferred import DeferredRidge
from gyrfalcon.oracles.recursive.forest_features import TreeMap
from gyrfalcon.oracles.recursive.ridge import RecursiveModel, RecursiveRidge
from gyrfalcon.oracles.regressors.fitted import FittedRegressor, RegressorModel, WeightedRows
from gyrfalcon.oracles.regressors.regressor import Regressor, RegressorOracle
from gyrfalcon.oracles.regressors.rows import Part, RowSummary
from gyrfalcon.oracles.regressors.spec import Estimator
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.storage.codec import class_table

CLASSES = class_table(
    [
        *(Boolean, Categorical, Hashed, Numeric, Schema, RewardRange, Problem),
        *(Contexts, Decisions, Log, Epoch, Mixture, PassiveDesign, FitReport),
        TryingKernel,
        *(KernelPolicy, UniformPolicy, ThompsonPolicy, SampledPolicy, EliminationPolicy),
        *(EpsilonGreedyKernel, InverseGapWeighting, LogBarrierWeighting, SoftmaxKernel),
        *(Doubling, FixedBatch, Geometric, KnownHorizon),
        *(Identity, IdentityMap, Polynomial, PolynomialMap, RandomFourier, FourierMap, Splines, SplineMap),
        *(Layout, Design, Linear, LinearOracle, Moments, PerActionModel, JointModel, OptimisticModel),
        *(Estimator, Regressor, RegressorOracle, Part, RowSummary, WeightedRows),
        *(FittedRegressor, RegressorModel),
        *(EpsilonFalcon, Falcon, LinUCB, EpsilonGreedy, Uniform, Fitted),
        *(AdaptiveFalcon, AdaptiveState, PooledFit, GateStatistics, ValueGate, Tally, ClassComparison),
        *(RecursiveRidge, DeferredRidge, RecursiveModel),
        *(Joined, JoinedMap, StandardisedMap, ChainedMap, TreeMap, CandidateClasses),
        *(OFUL, Refreshed, EnlargedLinUCB, LinTS, CoefficientDraws, RegCB, VersionSpace),
        *(FalconPlus, SquareCB, EpochGreedy, ExploreFirst, Explored, Greedy, Softmax),
    ]
)
