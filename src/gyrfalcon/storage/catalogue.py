"""Every class that may stand in a file: a literal list, no registry magic."""

from __future__ import annotations

from gyrfalcon.core.columns import Boolean, Categorical, Hashed, Numeric
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.elimination import EliminationPolicy
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign
from gyrfalcon.core.kernels import (
    EpsilonGreedyKernel,
    InverseGapWeighting,
    LogBarrierWeighting,
    SoftmaxKernel,
)
from gyrfalcon.core.policies import KernelPolicy, UniformPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Decisions, Log, PastLogs
from gyrfalcon.core.reports import FitReport
from gyrfalcon.core.rewards import RewardRange
from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
from gyrfalcon.core.schema import Schema
from gyrfalcon.core.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.untried import TryingKernel
from gyrfalcon.estimates.tallies import Tally
from gyrfalcon.learners.choosing import Standings
from gyrfalcon.learners.class_choice import Chosen
from gyrfalcon.learners.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.entrants import Entrants
from gyrfalcon.learners.epoch_greedy import EpochGreedy
from gyrfalcon.learners.epochwise import Fitted
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.explore_first import Explored, ExploreFirst
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.falcon_plus import FalconPlus
from gyrfalcon.learners.gate import ValueGate
from gyrfalcon.learners.greedy import Greedy
from gyrfalcon.learners.lints import CoefficientDraws, LinTS
from gyrfalcon.learners.linucb import LinUCB
from gyrfalcon.learners.oful import OFUL, Refreshed
from gyrfalcon.learners.played import Played
from gyrfalcon.learners.regcb import RegCB, VersionSpace
from gyrfalcon.learners.softmax import Softmax
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.learners.uniform import Uniform
from gyrfalcon.oracles.alternatives import Evidence
from gyrfalcon.oracles.bases import (
    FourierMap,
    Identity,
    IdentityMap,
    Polynomial,
    PolynomialMap,
    RandomFourier,
)
from gyrfalcon.oracles.estimators import Estimator
from gyrfalcon.oracles.features import Design, Layout
from gyrfalcon.oracles.fitted import FittedRegressor, RegressorModel, WeightedRows
from gyrfalcon.oracles.joined import ChainedMap, Joined, JoinedMap, StandardisedMap
from gyrfalcon.oracles.linear import Linear, LinearOracle
from gyrfalcon.oracles.models import JointModel, OptimisticModel, PerActionModel
from gyrfalcon.oracles.moments import Moments
from gyrfalcon.oracles.regressor import Regressor, RegressorOracle
from gyrfalcon.oracles.resting import RestingRidge
from gyrfalcon.oracles.rows import Part, RowSummary
from gyrfalcon.oracles.running import RunningModel, RunningRidge
from gyrfalcon.oracles.splines import SplineMap, Splines
from gyrfalcon.oracles.trees import TreeMap
from gyrfalcon.storage.codec import class_table

CLASSES = class_table(
    [
        *(Boolean, Categorical, Hashed, Numeric, Schema, RewardRange, Problem),
        *(Contexts, Decisions, Log, PastLogs, Epoch, Mixture, PassiveDesign, FitReport),
        TryingKernel,
        *(KernelPolicy, UniformPolicy, ThompsonPolicy, SampledPolicy, EliminationPolicy),
        *(EpsilonGreedyKernel, InverseGapWeighting, LogBarrierWeighting, SoftmaxKernel),
        *(Doubling, FixedBatch, Geometric, KnownHorizon),
        *(Identity, IdentityMap, Polynomial, PolynomialMap, RandomFourier, FourierMap, Splines, SplineMap),
        *(Layout, Design, Linear, LinearOracle, Moments, PerActionModel, JointModel, OptimisticModel),
        *(Estimator, Regressor, RegressorOracle, Part, RowSummary, WeightedRows),
        *(FittedRegressor, RegressorModel),
        *(EpsilonFalcon, Falcon, LinUCB, EpsilonGreedy, Uniform, Fitted),
        *(Played, Evidence, ValueGate, Tally, Chosen, Standings, RunningRidge, RestingRidge, RunningModel),
        *(Joined, JoinedMap, StandardisedMap, ChainedMap, TreeMap, Entrants),
        *(OFUL, Refreshed, EnlargedLinUCB, LinTS, CoefficientDraws, RegCB, VersionSpace),
        *(FalconPlus, SquareCB, EpochGreedy, ExploreFirst, Explored, Greedy, Softmax),
    ]
)
