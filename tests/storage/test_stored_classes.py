"""Every class that a learner produces can be stored, and decides the same afterwards."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, action_probabilities
from gyrfalcon.core.inputs.columns import Boolean, Categorical, Hashed, Numeric
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.greedy import GreedyPolicy, LikeliestPolicy
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.policies.kernels import LogBarrierWeighting, SoftmaxKernel
from gyrfalcon.core.policies.untried import TryingKernel, TryingPolicy
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.experiment.controlled import ControlledLearner, Design
from gyrfalcon.experiment.final_policy import FinalPolicy
from gyrfalcon.experiment.policies import SingleAction
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.safe_return import SharedPolicy
from gyrfalcon.learners.adaptive.state import adaptive_state
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
from gyrfalcon.learners.steps import Sums
from gyrfalcon.oracles.features.bases import Identity, Joined, Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.forest_features import TreeMap
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.registry import ENTRIES
from gyrfalcon.storage import files

BASES = (Identity(), Polynomial(2), RandomFourier(6), Splines(4))
LEARNERS: list[Learner] = [
    *(EpsilonFalcon(model_class=Linear(basis=basis, ridge=0.1)) for basis in BASES),
    *(EpsilonFalcon(model_class=Linear(layout=layout, ridge=0.1)) for layout in ("shared", "hybrid")),
    *(EpsilonFalcon(slack=slack) for slack in ("paper", "chi_square", "sandwich")),
    EpsilonFalcon(
        passive_design="coin",
        data="all",
        passive_data="all",
        schedule=KnownHorizon(1000),
    ),
    AdaptiveFalcon(),
    AdaptiveFalcon(classes=("linear",), half_life=500.0),
    AdaptiveFalcon(classes=("linear", "trees")),
    AdaptiveFalcon(classes=("linear",), epsilon="corollary"),
    Falcon(schedule=Geometric(50, 1.5)),
    LinUCB(schedule=FixedBatch(50), mixing=0.1),
    *(OFUL(growth=growth) for growth in (0.0, 1.0, 1e9)),
    *(EnlargedLinUCB(model_class=Linear(layout=layout)) for layout in (None, "hybrid")),
    *(LinTS(model_class=Linear(layout=layout), n_draws=20) for layout in (None, "shared", "hybrid")),
    *(RegCB(rule=rule) for rule in ("elimination", "optimistic")),
    EpsilonGreedy(),
    EpsilonFalcon(model_class=Regressor(DecisionTreeRegressor(max_depth=2)), data="all"),
    EpsilonFalcon(model_class=Regressor(Lasso(alpha=0.01), layout="shared")),
    Falcon(model_class=Regressor(MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", tol=0.1))),
    FalconPlus(schedule=KnownHorizon(1000)),
    *(SquareCB(weighting=weighting, horizon=1000) for weighting in ("inverse_gap", "log_barrier")),
    RAPR(omega=2.0, delta=0.1),
    *(EpochGreedy(passive_design=design) for design in ("tail", "coin")),
    *(ExploreFirst(n_explore=50, refit=refit) for refit in (False, True)),
    Greedy(mixing=0.1),
    Softmax(),
    Uniform(schedule=Doubling(50)),
    Limited(EpsilonGreedy(), floor=0.05, control=("a", 0.1), shares={"b": (0.1, 0.4)}),
]


CONTROLLED = ControlledLearner(
    RAPR(),
    Design(
        control=SingleAction(0, UniformPolicy(3), 3),
        name="always 'a'",
        action=0,
        share=0.1,
        level=0.95,
        minimum_effect=0.0,
        max_rounds=None,
    ),
)
LEARNERS.append(CONTROLLED)


def problem_for(learner: Learner) -> Problem:
    linear = getattr(learner, "model_class", Linear())
    return Problem(["a", "b", "c"], features=2, action_features=2 if linear.layout else None)


def log_for(problem: Problem, n: int, seed: int) -> Log:
    rng = np.random.default_rng(seed)
    actions = rng.normal(size=(n, 3, 2)) if problem.action_features.width else None
    contexts = problem.contexts(rng.normal(size=(n, 2)), actions=actions)
    labels = rng.choice(["a", "b", "c"], size=n).tolist()
    return problem.log(contexts, labels, rng.random(n), passive=rng.random(n) < 0.3, propensities="uniform")


def epoch_of(learner: Learner) -> Epoch:
    problem = problem_for(learner)
    n = 1_000 if getattr(learner, "classes", None) == ("linear", "trees") else 80
    return learner.next_epoch(learner.start(problem), log_for(problem, n, seed=1))


CHOOSING = AdaptiveFalcon(
    classes=("linear", "fourier", "quadratic", Linear(basis=Joined((Identity(), Splines(2, 1))), ridge=2.0)),
)


def sinusoidal_log(n: int, seed: int) -> Log:
    """Rows whose rewards no line or parabola predicts."""
    problem, rng = problem_for(CHOOSING), np.random.default_rng([seed, 5])
    x, action = rng.uniform(-2.0, 2.0, size=(n, 2)), rng.integers(0, 3, n)
    reward = 0.5 + 0.5 * np.sin(3.0 * x[:, 0] + 2.0 * x[:, 1] + action)
    return problem.log(
        problem.contexts(x), np.array(["a", "b", "c"])[action].tolist(), reward, propensities="uniform"
    )


@cache
def chosen_epochs() -> tuple[Epoch, Epoch, Epoch]:
    """Classes that wait for rows, that are compared, and one that is active while others are deferred."""
    made = [CHOOSING.start(problem_for(CHOOSING), sinusoidal_log(30, seed=0))]
    for seed, n in enumerate((200, 900, 800, 800), start=1):
        made.append(CHOOSING.next_epoch(made[-1], sinusoidal_log(n, seed)))
    return made[0], made[1], made[-1]


def test_these_epochs_have_classes_that_wait_are_compared_and_are_deferred() -> None:
    waiting, compared, deferred = (adaptive_state(epoch) for epoch in chosen_epochs())
    assert waiting.candidates.fits == (None, None, None)
    assert waiting.candidates.buffered_logs
    assert all(fit is not None for fit in compared.candidates.fits)
    assert compared.candidates.buffered_logs
    assert deferred.active == 1
    assert any(deferred.candidates.deferred)
    assert not deferred.candidates.buffered_logs
    assert any(fit is not None and fit.waiting for fit in deferred.candidates.fits)


DEFAULT = AdaptiveFalcon()


def checked_log(n: int, seed: int, *, items: bool = False) -> Log:
    """Rows whose rewards depend on products of features, of the context or of context and action."""
    rng = np.random.default_rng([seed, 6])
    problem = Problem(["a", "b", "c"], features=2, action_features=2 if items else None)
    x, action = rng.uniform(-1.0, 1.0, size=(n, 2)), rng.integers(0, 3, n)
    actions = rng.uniform(-1.0, 1.0, size=(n, 3, 2)) if items else None
    taken = np.zeros((n, 2)) if actions is None else actions[np.arange(n), action]
    better = ((x - taken) ** 2).sum(axis=1) < 0.5 if items else (x[:, 0] * x[:, 1] > 0.0) == (action == 0)
    contexts = problem.contexts(x, actions=actions)
    labels = np.array(["a", "b", "c"])[action].tolist()
    return problem.log(contexts, labels, better.astype(np.float64), propensities="uniform")


@cache
def mixed_epoch(items: bool) -> Epoch:
    """An epoch of the default learner with its wide class active."""
    log = checked_log(300, 0, items=items)
    labels = ["a", "b", "c"]
    epoch = DEFAULT.start(Problem(labels, features=2, action_features=2 if items else None), log)
    for seed in (1, 2):
        epoch = DEFAULT.next_epoch(epoch, checked_log(300, seed, items=items))
    assert adaptive_state(epoch).active == 1
    return epoch


@pytest.mark.parametrize("items", [False, True], ids=["contexts", "items"])
def test_the_mixed_class_comes_back_while_it_is_active(items: bool, tmp_path: Path) -> None:
    shown, log = (checked_log(n, seed, items=items) for n, seed in ((20, 7), (200, 8)))
    assert_comes_back(DEFAULT, mixed_epoch(items), shown, log, tmp_path)


LOGISTIC = AdaptiveFalcon(classes=("logistic",))


def rare_log(n: int, seed: int) -> Log:
    """Rows of which 3 in 100 are rewarded."""
    log = log_for(problem_for(LOGISTIC), n, seed)
    return replace(log, reward=(log.reward < 0.03).astype(np.float64))


@cache
def logistic_epoch() -> Epoch:
    """An epoch with the logistic class active."""
    epoch = LOGISTIC.start(problem_for(LOGISTIC), rare_log(3_000, seed=1))
    assert adaptive_state(epoch).active == 1
    return epoch


def test_the_logistic_class_comes_back_while_it_is_active(tmp_path: Path) -> None:
    assert_comes_back(LOGISTIC, logistic_epoch(), rare_log(20, 7), rare_log(400, 8), tmp_path)


def mixture() -> Epoch:
    bases = tuple(epoch_of(learner) for learner in (EpsilonFalcon(passive_design="coin"), EpsilonGreedy()))
    policy = Mixture(np.array([0.25, 0.75]), bases)
    return Epoch(index=1, start=0, stop=9, policy=policy, passive_policy=UniformPolicy(3))


def assert_plays_alike(one: Epoch, two: Epoch, contexts: Contexts) -> None:
    rounds = np.arange(len(contexts)) + one.stop - len(contexts) // 2
    ours, theirs = (action_probabilities(epoch, rounds, contexts) for epoch in (one, two))
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:60])
def test_epochs_come_back_play_alike_and_are_refitted_alike(learner: Learner, tmp_path: Path) -> None:
    problem = problem_for(learner)
    assert_comes_back(
        learner, epoch_of(learner), log_for(problem, 20, seed=2), log_for(problem, 60, seed=3), tmp_path
    )


@pytest.mark.parametrize("place", range(3), ids=["waiting", "compared", "deferred"])
def test_so_do_epochs_of_classes_that_were_chosen(place: int, tmp_path: Path) -> None:
    epoch = chosen_epochs()[place]
    assert_comes_back(CHOOSING, epoch, sinusoidal_log(20, seed=6), sinusoidal_log(200, seed=7), tmp_path)


def assert_comes_back(learner: Learner, epoch: Epoch, shown: Log, log: Log, tmp_path: Path) -> None:
    files.save(tmp_path / "epoch", (learner, epoch))
    same_learner, same_epoch = files.load(tmp_path / "epoch")
    assert same_learner == learner
    assert_plays_alike(epoch, same_epoch, shown.contexts)
    ours = learner.next_epoch(epoch, log)
    theirs = same_learner.next_epoch(same_epoch, log)
    assert_plays_alike(ours, theirs, log.contexts)
    files.save(tmp_path / "ours", ours)
    files.save(tmp_path / "theirs", theirs)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_mixture_comes_back(tmp_path: Path) -> None:
    files.save(tmp_path / "epoch", mixture())
    contexts = log_for(Problem(["a", "b", "c"], features=2), 20, seed=2).contexts
    assert_plays_alike(mixture(), files.load(tmp_path / "epoch"), contexts)


def others() -> list[object]:
    """Values of the classes that no learner above produces."""
    columns = {"n": Numeric(missing=True), "b": Boolean(), "c": Categorical(("x", 1, 2.5)), "h": Hashed(8)}
    problem = Problem(["a", ("b", 1), None], columns, reward_range=(-1, 5), out_of_range="clip", cost=True)
    kernels = [SoftmaxKernel(2.0), LogBarrierWeighting(3.0)]
    decisions = Decisions(np.array([1]), np.array([0]), np.array([2]), np.array([0.5]), np.array([1]))
    known = np.array([True, False, True])
    untried = [TryingKernel(SoftmaxKernel(1.0), known), TryingPolicy(UniformPolicy(3), known)]
    tally = Tally.of(np.array([[1.0, 2.0], [0.0, 0.5]]))
    shared = SharedPolicy(UniformPolicy(3), UniformPolicy(3), 0.5)
    final = FinalPolicy(problem, LikeliestPolicy(shared), "always")
    greedy = [GreedyPolicy(None, known, problem), LikeliestPolicy(shared)]
    return [problem, problem.rewards, kernels, decisions, untried, tally, sums(), shared, final, greedy]


def sums() -> Sums:
    """Sufficient statistics in the middle of an epoch."""
    learner = EpsilonFalcon()
    return learner.sums(epoch_of(learner), log_for(problem_for(learner), 30, seed=4))


def test_problems_kernels_decisions_and_logs_come_back(tmp_path: Path) -> None:
    files.save(tmp_path / "values", others())
    back = files.load(tmp_path / "values")
    assert back[:3] == others()[:3]
    files.save(tmp_path / "again", back)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "values").read_bytes()


def _classes_in(value: object, found: set[type]) -> set[type]:
    if isinstance(value, Enum) or is_dataclass(value):
        found.add(type(value))
    if isinstance(value, list | tuple):
        for item in value:
            _classes_in(item, found)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in (one for one in fields(value) if one.init):
            _classes_in(getattr(value, field.name), found)
    return found


def test_these_tests_store_every_class_that_has_an_id_but_those_of_the_bandit() -> None:
    epochs = [*(epoch_of(learner) for learner in LEARNERS), *chosen_epochs(), mixed_epoch(items=True)]
    epochs.append(logistic_epoch())
    found = _classes_in([LEARNERS, CHOOSING, epochs, mixture(), others()], set())
    stored = {entry.load() for entry in ENTRIES if entry.id and not entry.id.startswith("bandit/")}
    assert stored - found == {TreeMap}  # of earlier files alone
    assert not found - stored
