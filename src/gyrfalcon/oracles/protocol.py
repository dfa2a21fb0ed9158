"""What a regression oracle is: from logs to summaries that add up, and from summaries to a reward model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log


class Summary(Protocol):
    """What an oracle keeps of rows: moments for linear classes, the rows themselves for other regressors."""

    @property
    def n(self) -> float:
        """The total weight of the rows."""
        ...

    @property
    def reward_variance(self) -> float:
        """The variance of the rewards, or a larger number."""
        ...

    def __add__(self, other: Self) -> Self: ...

    def scaled(self, factor: float) -> Self:
        """The summary with every row's weight times a factor of at least 0."""
        ...


class RewardModel(Protocol):
    """The estimated reward of every action, and on which there are data."""

    def scores(self, contexts: Contexts) -> Floats:
        """(n, K) estimated rewards of every action."""
        ...

    @property
    def known(self) -> Bools | None:
        """(K,) which actions there are data on; None: all."""
        ...


Slack = float | Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Noise:
    """What a passive fit says about the rewards' scatter around the model."""

    variance: float
    """sigma^2."""
    degrees: float
    """Degrees of freedom that the fit has used: alpha is about sigma^2 (1 - degrees / n')."""


S = TypeVar("S", bound=Summary)
M = TypeVar("M", bound=RewardModel)


class Oracle(Protocol[S, M]):
    """Constrained regression over a model class F, for one problem."""

    @property
    def n_parameters(self) -> int:
        """comp(F): the number of coefficients of all actions, or what stands for it."""
        ...

    def summarise(self, log: Log, weights: Floats | None = None) -> S:
        """What is kept of these rows."""
        ...

    def empty(self) -> S:
        """The summary of no rows."""
        ...

    def fit(
        self, active: S, passive: S, *, slack: Slack = math.inf, previous: M | None = None
    ) -> tuple[M, FitReport]:
        """The model of least active risk whose passive risk is within `slack` of alpha, the passive fit's.

        `slack` is a number, or says what it is for an alpha; without passive rows there is no constraint. An
        action without any rows keeps what `previous` says of it.
        """
        ...

    def passive_risk(self, passive: S) -> float:
        """alpha: the mean squared error of the fit of these rows."""
        ...

    def noise(self, alpha: float, active: S, passive: S) -> Noise:
        """How far rewards scatter around the model, and by how many degrees of freedom alpha is too small."""
        ...

    def reindexed(self, n_actions: int) -> Self:
        """The oracle for another number of actions."""
        ...

    def reindexed_summary(self, summary: S, source: Ints) -> S:
        """The rows for actions of which the k-th was number source[k] before, -1 if it is new."""
        ...

    def reindexed_model(self, model: M, source: Ints) -> M:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        ...


AnyOracle = Oracle[Any, Any]


class ModelClass(Protocol):
    """F: frozen settings from which a problem's oracle is made."""

    def check(self, n_features: int, n_action_features: int) -> None:
        """Refuse a problem that this class can't be fitted to."""
        ...

    def oracle(self, contexts: Contexts, n_actions: int) -> AnyOracle:
        """The oracle for a problem, its scales fixed by these early contexts."""
        ...
