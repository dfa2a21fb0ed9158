"""The learners of the contract suite by name, and which of them need special treatment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
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
from gyrfalcon.learners.limited import Limited
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.rapr import RAPR
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from tests.contracts.throwaway import ExponentialWeights, Forest, Gate, Master
from tests.long_run import all_long, spread

PLAIN: dict[str, Learner] = {
    "gate": Gate(),
    "exponential weights": ExponentialWeights(),
    "master": Master(),
    "forest": Forest(),
    "epsilon-falcon paper": EpsilonFalcon(constants="paper"),
    "epsilon-falcon paper rho": EpsilonFalcon(constants="paper", rho=0.75, rho_prime=1.0, comp=3.0),
    "epsilon-falcon calibrated": EpsilonFalcon(),
    "epsilon-falcon coin": EpsilonFalcon(passive_design="coin"),
    "epsilon-falcon all data": EpsilonFalcon(data="all", monotone_gamma=True),
    "epsilon-falcon cumulative passive": EpsilonFalcon(passive_data="all"),
    "epsilon-falcon chi-square": EpsilonFalcon(slack="chi_square", schedule=Geometric(50, 1.5)),
    "epsilon-falcon sandwich": EpsilonFalcon(slack="sandwich", passive_data="all", epsilon=0.3),
    "epsilon-falcon polynomial": EpsilonFalcon(model_class=Linear(basis=Polynomial(2))),
    "epsilon-falcon by the corollary": EpsilonFalcon(epsilon="corollary"),
    "adaptive-falcon": AdaptiveFalcon(),
    "adaptive-falcon tail": AdaptiveFalcon(passive_data="last_epoch", passive_design="tail", epsilon=0.1),
    "adaptive-falcon by the corollary": AdaptiveFalcon(epsilon="corollary"),
    "adaptive-falcon linear": AdaptiveFalcon(classes=("linear",)),
    "adaptive-falcon fourier": AdaptiveFalcon(classes=("fourier",)),
    "adaptive-falcon linear by the corollary": AdaptiveFalcon(epsilon="corollary", classes=("linear",)),
    "adaptive-falcon last epoch and tails": AdaptiveFalcon(
        data="last_epoch",
        passive_data="last_epoch",
        passive_design="tail",
        schedule=Doubling(100),
    ),
    "adaptive-falcon trees": AdaptiveFalcon(classes=("trees",)),
    "adaptive-falcon own class": AdaptiveFalcon(classes=("linear", Linear(basis=Splines(3, 2)))),
    "adaptive-falcon always constrained": AdaptiveFalcon(gate="always", classes=("linear",)),
    "adaptive-falcon never constrained": AdaptiveFalcon(
        gate="never", bonus=0.0, decay=0.0, model_class=Linear(basis=Polynomial(2))
    ),
    "falcon last epoch": Falcon(),
    "falcon all": Falcon(data="all"),
    "falcon splines": Falcon(model_class=Linear(basis=Splines(3, 2), ridge=0.1)),
    "linucb": LinUCB(),
    "linucb mixing": LinUCB(mixing=0.05),
    "linucb small bonus": LinUCB(alpha=0.1),
    "linucb fourier": LinUCB(model_class=Linear(basis=RandomFourier(10))),
    "oful": OFUL(),
    "oful every batch": OFUL(growth=0.0, noise=0.1, norm=0.3, mixing=0.05),
    "enlarged linucb": EnlargedLinUCB(),
    "enlarged linucb mixing": EnlargedLinUCB(misspecification=0.01, alpha=0.3, mixing=0.05),
    "lints": LinTS(),
    "lints mixing": LinTS(scale=0.1, mixing=0.05, model_class=Linear(basis=Polynomial(2))),
    "regcb elimination": RegCB(),
    "regcb elimination mixing": RegCB(c_0=0.01, clip=False, mixing=0.05),
    "regcb optimistic": RegCB(rule="optimistic"),
    "regcb optimistic mixing": RegCB(rule="optimistic", clip=False, ridge=0.1, mixing=0.05),
    "epsilon-greedy": EpsilonGreedy(),
    "epsilon-greedy last epoch": EpsilonGreedy(data="last_epoch", schedule=Doubling(50)),
    "epsilon-falcon ridge regressor": EpsilonFalcon(model_class=Regressor(Ridge(alpha=0.1))),
    "epsilon-falcon lasso": EpsilonFalcon(model_class=Regressor(Lasso(alpha=0.001)), data="all"),
    "epsilon-falcon non-negative": EpsilonFalcon(model_class=Regressor(LinearRegression(positive=True))),
    "epsilon-falcon stumps": EpsilonFalcon(model_class=Regressor(StumpHull(budget=2.0)), passive_data="all"),
    "epsilon-falcon tree": EpsilonFalcon(model_class=Regressor(DecisionTreeRegressor(max_depth=3))),
    "falcon kernel ridge": Falcon(model_class=Regressor(KernelRidge(kernel="rbf", alpha=1.0))),
    "epsilon-greedy boosting": EpsilonGreedy(
        model_class=Regressor(GradientBoostingRegressor(n_estimators=5)), schedule=Doubling(100)
    ),
    "epsilon-greedy decay": EpsilonGreedy(epsilon=1.5, decay=1 / 3),
    "falcon finite class": Falcon(class_size=1e4, c_gamma=1.0, data="all"),
    "falcon plus": FalconPlus(),
    "falcon plus known horizon": FalconPlus(schedule=KnownHorizon(600), rho=0.9, rho_prime=1.0, comp=3.0),
    "squarecb": SquareCB(),
    "squarecb regret": SquareCB(gamma="regret", comp=2.0, horizon=2000, misspecification=0.01),
    "squarecb log barrier": SquareCB(weighting="log_barrier", schedule=FixedBatch(50)),
    "squarecb online": SquareCB(schedule=FixedBatch(1)),
    "rapr": RAPR(),
    "rapr last epoch": RAPR(omega=1, data="last_epoch", schedule=FixedBatch(100)),
    "rapr tree": RAPR(model_class=Regressor(DecisionTreeRegressor(max_depth=3))),
    "epoch-greedy": EpochGreedy(),
    "epoch-greedy tail": EpochGreedy(passive_design="tail", schedule=FixedBatch(100)),
    "epoch-greedy all rows": EpochGreedy(rows="all", exploration=0.5),
    "explore-first": ExploreFirst(n_explore=200),
    "explore-first refit": ExploreFirst(n_explore=50, refit=True, mixing=0.02),
    "greedy": Greedy(),
    "greedy mixing": Greedy(mixing=0.05, model_class=Linear(basis=Polynomial(2), ridge=1.0)),
    "squarecb tree": SquareCB(model_class=Regressor(DecisionTreeRegressor(max_depth=3))),
    "explore-first tree": ExploreFirst(
        n_explore=200, mixing=0.02, model_class=Regressor(DecisionTreeRegressor(max_depth=3))
    ),
    "softmax": Softmax(),
    "softmax fixed": Softmax(temperature=0.05, decay=0.0),
    "uniform": Uniform(),
    "limited adaptive-falcon": Limited(
        AdaptiveFalcon(), floor=0.02, control=("action 0", 0.1), shares=[("action 1", 0.0, 0.6)]
    ),
    "limited greedy": Limited(Greedy(), floor=0.1),
}
WITH_ACTION_FEATURES: dict[str, Learner] = {
    "linucb shared": LinUCB(model_class=Linear(layout="shared")),
    "linucb hybrid": LinUCB(model_class=Linear(layout="hybrid")),
    "linucb per action": LinUCB(model_class=Linear(layout="per_action")),
    "oful shared": OFUL(model_class=Linear(layout="shared")),
    "oful hybrid": OFUL(model_class=Linear(layout="hybrid"), noise=0.1),
    "enlarged linucb shared": EnlargedLinUCB(model_class=Linear(layout="shared")),
    "enlarged linucb hybrid": EnlargedLinUCB(model_class=Linear(layout="hybrid")),
    "enlarged linucb per action": EnlargedLinUCB(model_class=Linear(layout="per_action")),
    "lints shared": LinTS(model_class=Linear(layout="shared"), n_draws=200),
    "lints hybrid": LinTS(model_class=Linear(layout="hybrid"), n_draws=200),
    "lints hybrid mixing": LinTS(model_class=Linear(layout="hybrid"), n_draws=200, mixing=0.05),
    "lints per action": LinTS(model_class=Linear(layout="per_action")),
    "regcb elimination shared": RegCB(model_class=Linear(layout="shared")),
    "regcb elimination hybrid": RegCB(model_class=Linear(layout="hybrid")),
    "regcb optimistic hybrid": RegCB(rule="optimistic", model_class=Linear(layout="hybrid")),
    "epsilon-falcon shared": EpsilonFalcon(model_class=Linear(layout="shared")),
    "epsilon-falcon hybrid": EpsilonFalcon(model_class=Linear(layout="hybrid"), slack="sandwich"),
    "adaptive-falcon shared": AdaptiveFalcon(model_class=Linear(layout="shared")),
    "adaptive-falcon with action features": AdaptiveFalcon(),
    "adaptive-falcon hybrid": AdaptiveFalcon(gate="always", model_class=Linear(layout="hybrid")),
    "epsilon-falcon ridge regressor shared": EpsilonFalcon(model_class=Regressor(Ridge(alpha=0.1))),
    "falcon tree shared": Falcon(model_class=Regressor(DecisionTreeRegressor(max_depth=4)), data="all"),
    "falcon tree per action": Falcon(
        model_class=Regressor(DecisionTreeRegressor(max_depth=4), layout="per_action")
    ),
    "epsilon-greedy hybrid": EpsilonGreedy(model_class=Linear(layout="hybrid"), data="last_epoch"),
    "falcon plus shared": FalconPlus(model_class=Linear(layout="shared")),
    "falcon plus hybrid": FalconPlus(model_class=Linear(layout="hybrid")),
    "squarecb shared": SquareCB(model_class=Linear(layout="shared")),
    "squarecb hybrid": SquareCB(model_class=Linear(layout="hybrid"), weighting="log_barrier"),
    "rapr hybrid": RAPR(model_class=Linear(layout="hybrid")),
    "epoch-greedy shared": EpochGreedy(model_class=Linear(layout="shared")),
    "epoch-greedy hybrid": EpochGreedy(model_class=Linear(layout="hybrid")),
    "explore-first shared": ExploreFirst(n_explore=200, model_class=Linear(layout="shared")),
    "explore-first hybrid": ExploreFirst(n_explore=200, model_class=Linear(layout="hybrid")),
    "greedy hybrid": Greedy(model_class=Linear(layout="hybrid")),
    "softmax shared": Softmax(model_class=Linear(layout="shared")),
    "limited epsilon-falcon hybrid": Limited(
        EpsilonFalcon(model_class=Linear(layout="hybrid")), control=("action 0", 0.3), floor=0.05
    ),
}
LEARNERS = PLAIN | WITH_ACTION_FEATURES
THROWAWAY = {"gate", "exponential weights", "master", "forest"}
DETERMINISTIC = {
    "epoch-greedy",
    "epoch-greedy tail",
    "epoch-greedy all rows",
    "epoch-greedy shared",
    "epoch-greedy hybrid",
    "explore-first",
    "explore-first shared",
    "explore-first hybrid",
    "greedy",
    "greedy hybrid",
    "linucb",
    "linucb small bonus",
    "linucb fourier",
    "linucb shared",
    "linucb hybrid",
    "linucb per action",
    "oful",
    "oful shared",
    "oful hybrid",
    "enlarged linucb",
    "enlarged linucb shared",
    "enlarged linucb hybrid",
    "enlarged linucb per action",
    "regcb optimistic",
    "regcb optimistic hybrid",
    "adaptive-falcon hybrid",
}
# Their control action can't be retired.
CONTROLLED = {"limited adaptive-falcon", "limited epsilon-falcon hybrid"}
# They randomise over what may be best; the rest have no or next to no probability.
CHOOSY = {
    "lints",
    "lints shared",
    "lints hybrid",
    "lints per action",
    "regcb elimination",
    "regcb elimination shared",
    "regcb elimination hybrid",
}
# The widths of a hybrid model are sums over the columns of all actions, so that they round differently when
# actions come and go.
HYBRID_WIDTHS = {
    "linucb hybrid",
    "oful hybrid",
    "enlarged linucb hybrid",
    "regcb elimination hybrid",
    "regcb optimistic hybrid",
    "adaptive-falcon hybrid",
}
LEARNING = [name for name in LEARNERS if name != "uniform"]
# Every algorithm and kind of model, state, policy and kernel at least once.
REPRESENTATIVES = {
    *THROWAWAY,
    "epsilon-falcon paper",
    "epsilon-falcon calibrated",
    "adaptive-falcon",
    "adaptive-falcon linear",
    "epsilon-falcon tree",
    "falcon all",
    "falcon splines",
    "linucb",
    "linucb fourier",
    "oful",
    "enlarged linucb mixing",
    "lints",
    "regcb elimination",
    "regcb optimistic mixing",
    "epsilon-greedy",
    "falcon plus",
    "squarecb",
    "squarecb log barrier",
    "rapr",
    "epoch-greedy tail",
    "explore-first refit",
    "greedy",
    "greedy mixing",
    "softmax",
    "uniform",
    "limited adaptive-falcon",
    "limited greedy",
    "linucb hybrid",
    "lints hybrid",
    "regcb elimination shared",
    "epsilon-falcon hybrid",
    "adaptive-falcon with action features",
    "falcon tree per action",
}


def cases(names: Iterable[str], *columns: Iterable[str]) -> list[Any]:
    """Parameters of a test: representatives are for each run, and the other learners for the long one.

    Of a further column each run has every other value for a representative, and the long one has all.
    """
    listed = list(names)
    chosen, others = ([one for one in listed if (one in REPRESENTATIVES) is kept] for kept in (True, False))
    return [*spread(chosen, *columns, every=2 if columns else 1), *all_long(others, *columns)]
