# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon import bandit as bandit
from gyrfalcon import environments as environments
from gyrfalcon import estimates as estimates
from gyrfalcon import evaluation as evaluation
from gyrfalcon import experiment as experiment
from gyrfalcon import kernels as kernels
from gyrfalcon import learners as learners
from gyrfalcon import logs as logs
from gyrfalcon import oracles as oracles
from gyrfalcon import simulation as simulation
from gyrfalcon import sweeps as sweeps
from gyrfalcon import theory as theory
from gyrfalcon.bandit.bandit import Bandit as Bandit
from gyrfalcon.bandit.decision import Decision as Decision
from gyrfalcon.bandit.decision import DecisionBatch as DecisionBatch
from gyrfalcon.core.contexts import Contexts as Contexts
from gyrfalcon.core.epochs import Epoch as Epoch
from gyrfalcon.core.fit_report import FitReport as FitReport
from gyrfalcon.core.inputs.columns import Boolean as Boolean
from gyrfalcon.core.inputs.columns import Categorical as Categorical
from gyrfalcon.core.inputs.columns import Hashed as Hashed
from gyrfalcon.core.inputs.columns import Numeric as Numeric
from gyrfalcon.core.inputs.problem import Problem as Problem
from gyrfalcon.core.inputs.schema import Schema as Schema
from gyrfalcon.core.policies.kernel_policy import Policy as Policy
from gyrfalcon.core.records import Log as Log
from gyrfalcon.core.schedules import Doubling as Doubling
from gyrfalcon.core.schedules import FixedBatch as FixedBatch
from gyrfalcon.core.schedules import Geometric as Geometric
from gyrfalcon.core.schedules import KnownHorizon as KnownHorizon
from gyrfalcon.estimates.misspecification.estimate import (
    misspecification_estimate as misspecification_estimate,
)
from gyrfalcon.experiment.experiment import Experiment as Experiment
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon as AdaptiveFalcon
from gyrfalcon.learners.baselines.epoch_greedy import EpochGreedy as EpochGreedy
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from gyrfalcon.learners.baselines.explore_first import ExploreFirst as ExploreFirst
from gyrfalcon.learners.baselines.greedy import Greedy as Greedy
from gyrfalcon.learners.baselines.softmax import Softmax as Softmax
from gyrfalcon.learners.baselines.uniform import Uniform as Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon as EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon as Falcon
from gyrfalcon.learners.falcon_plus import FalconPlus as FalconPlus
from gyrfalcon.learners.limited import Limited as Limited
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB as EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import LinTS as LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB as LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL as OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB as RegCB
from gyrfalcon.learners.protocol import Learner as Learner
from gyrfalcon.learners.rapr import RAPR as RAPR
from gyrfalcon.learners.squarecb import SquareCB as SquareCB
from gyrfalcon.oracles.linear.linear import Linear as Linear
from gyrfalcon.oracles.regressors.regressor import Regressor as Regressor
from gyrfalcon.simulation.replications import simulate as simulate
from gyrfalcon.simulation.trace import Trace as Trace
from gyrfalcon.sweeps.grid import Grid as Grid
from gyrfalcon.sweeps.run import run_sweep as run_sweep

__all__: list[str]
__version__: str
