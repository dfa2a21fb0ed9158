"""Who takes part: a line each. A new contestant is a new line here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from benchmarks.regret.fourier import FourierLinUCB
from benchmarks.regret.peers.bayesian_agents import BayesianAgent
from benchmarks.regret.peers.coba_learners import CobaLearner
from benchmarks.regret.peers.contextualbandits_online import ClassifierPolicy, LinearPolicy
from benchmarks.regret.peers.mabwiser_linear import Mabwiser
from benchmarks.regret.peers.vowpal_wabbit import Wabbit
from benchmarks.regret.players import Ours, Player
from gyrfalcon.core.schedules import Geometric
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.regcb import RegCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.oracles.linear.linear import Linear

REFITS = Geometric(16, 1.1, longest=200)
RIDGE = Linear(ridge=1.0)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player under a name of its own."""

    name: str
    package: str
    player: Player
    milliseconds: tuple[float, float, float]
    """A round of banana, digits and letter (2, 10 and 26 actions; 2, 64 and 16 features), for estimates."""
    binary: bool = False
    """Whether rewards must be 0 or 1."""
    slow: bool = False
    """Whether it takes part only when asked for."""

    @property
    def version(self) -> str | None:
        """The installed version of its package, if it is installed."""
        return _installed(self.package)


@lru_cache
def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def ours(
    name: str, learner: Learner, milliseconds: tuple[float, float, float], slow: bool = False
) -> Contestant:
    """A learner of this package."""
    return Contestant(name, "gyrfalcon", Ours(learner), milliseconds, slow=slow)


def adaptive(one: str) -> AdaptiveFalcon:
    """The adaptive learner with one model class only."""
    return AdaptiveFalcon(classes=(one,))


BASELINE, LINEAR = "LinUCB 0.3", "AdaptiveFalcon, linear"
AUTO, TREES = "AdaptiveFalcon, auto", "AdaptiveFalcon, auto_trees"
"""Whom all others are compared with, and those that requirements are about."""
CLASSES = (LINEAR, "AdaptiveFalcon, quadratic", "AdaptiveFalcon, splines", "AdaptiveFalcon, fourier")
"""One class each, known in advance: what a choice from the data is measured by."""

CONTESTANTS = (
    ours(BASELINE, LinUCB(alpha=0.3, schedule=REFITS), (0.012, 0.07, 0.04)),
    ours("LinTS 0.1", LinTS(scale=0.1, schedule=REFITS), (0.012, 0.1, 0.15)),
    ours(
        "RegCB 0.1",
        RegCB(rule="optimistic", c_0=0.1, ridge=1.0, schedule=REFITS),
        (0.012, 0.07, 0.04),
    ),
    ours("SquareCB 10", SquareCB(gamma_scale=10.0, schedule=REFITS, model_class=RIDGE), (0.01, 0.05, 0.03)),
    ours("Epsilon-FALCON paper", EpsilonFalcon(constants="paper"), (0.002, 0.04, 0.02)),
    ours("Epsilon-FALCON calibrated", EpsilonFalcon(), (0.002, 0.03, 0.02)),
    ours(LINEAR, adaptive("linear"), (0.02, 0.1, 0.06)),
    ours("AdaptiveFalcon, quadratic", adaptive("quadratic"), (0.03, 0.5, 0.2)),
    ours("AdaptiveFalcon, splines", adaptive("splines"), (0.04, 0.5, 0.3)),
    ours("AdaptiveFalcon, fourier", adaptive("fourier"), (0.09, 0.4, 0.4)),
    ours(AUTO, AdaptiveFalcon(), (0.11, 0.6, 0.45)),
    ours(TREES, AdaptiveFalcon(classes="auto_trees"), (0.2, 0.6, 1.3), slow=True),
    Contestant(
        "LinUCB 0.3 on 100 Fourier features", "gyrfalcon", FourierLinUCB(0.3, 100, REFITS), (0.07, 0.2, 0.45)
    ),
    Contestant("VW squarecb", "vowpalwabbit", Wabbit("--squarecb -l 2"), (0.15, 0.3, 0.5)),
    Contestant(
        "VW squarecb, costs 1 - r", "vowpalwabbit", Wabbit("--squarecb -l 2", "1-r"), (0.15, 0.3, 0.5)
    ),
    Contestant(
        "VW regcbopt", "vowpalwabbit", Wabbit("--regcbopt --mellowness 0.001", "1-r"), (0.12, 0.35, 0.75)
    ),
    Contestant("VW cover", "vowpalwabbit", Wabbit("--cover 5 --nounif", "1-r"), (0.15, 0.5, 0.75)),
    Contestant("VW bag", "vowpalwabbit", Wabbit("--bag 5", "1-r"), (0.12, 0.35, 0.55)),
    Contestant("VW first", "vowpalwabbit", Wabbit("--first 500 -l 2", "1-r"), (0.11, 0.25, 0.5)),
    Contestant("VW epsilon 0.02", "vowpalwabbit", Wabbit("--epsilon 0.02 -l 2", "1-r"), (0.12, 0.3, 0.45)),
    Contestant("contextualbandits LinUCB", "contextualbandits", LinearPolicy("LinUCB", 0.3), (0.3, 1.0, 2.0)),
    Contestant("contextualbandits LinTS", "contextualbandits", LinearPolicy("LinTS", 0.01), (0.3, 1.0, 1.2)),
    Contestant(
        "contextualbandits BootstrappedUCB",
        "contextualbandits",
        ClassifierPolicy("BootstrappedUCB", (("percentile", 60),)),
        (0.7, 2.5, 5.0),
        binary=True,
    ),
    Contestant(
        "contextualbandits AdaptiveGreedy",
        "contextualbandits",
        ClassifierPolicy("AdaptiveGreedy"),
        (0.15, 0.4, 0.65),
        binary=True,
    ),
    Contestant("MABWiser LinUCB", "mabwiser", Mabwiser("LinUCB", 0.3), (0.6, 2.9, 4.0)),
    Contestant("MABWiser LinTS", "mabwiser", Mabwiser("LinTS", 0.1), (0.7, 3.5, 4.6)),
    Contestant("MABWiser LinGreedy", "mabwiser", Mabwiser("LinGreedy", 0.02), (0.4, 2.0, 2.9)),
    Contestant(
        "bayesianbandits TS", "bayesianbandits", BayesianAgent("ThompsonSampling", scale=0.1), (0.8, 2.8, 5.5)
    ),
    Contestant(
        "bayesianbandits UCB", "bayesianbandits", BayesianAgent("UpperConfidenceBound"), (1.4, 5.0, 12.0)
    ),
    Contestant("coba LinUCB", "coba", CobaLearner("LinUCBLearner", (("alpha", 0.3),)), (0.4, 7.0, 7.5)),
    Contestant("coba VW squarecb", "coba", CobaLearner("VowpalSquarecbLearner"), (0.12, 0.45, 0.8)),
    Contestant("coba VW epsilon", "coba", CobaLearner("VowpalEpsilonLearner"), (0.12, 0.45, 0.8)),
    Contestant(
        "coba LinTS", "coba", CobaLearner("LinTSLearner", (("v", 0.01),)), (0.4, 24.0, 10.5), slow=True
    ),
)

PACKAGES = tuple(dict.fromkeys(contestant.package for contestant in CONTESTANTS))
