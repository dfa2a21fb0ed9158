"""Environments with features of actions, and with actions that are not eligible."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import Noise, check_flag, check_noise, check_positive, check_share, check_whole
from gyrfalcon.environments.protocol import BLOCK, Drawable, PotentialOutcomes, block_generator, drawn
from gyrfalcon.environments.streams import MASKS, layers, rows_of, stream
from gyrfalcon.environments.synthetic.box import box_problem, noisy, truth_generator, within_unit
from gyrfalcon.environments.validation import check_environment, problem_of


@dataclass(frozen=True, kw_only=True, repr=False)
class ActionFeatureEnvironment:
    """Actions with features of their own, and coefficients that all actions share.

    Features v of each action are new in every round and uniform on (-1, 1)^q, and so are p features x of the
    context. Means are (1 + (1 - m) l + m s) / 2, where l is linear in v and, with interactions, in the
    products x v, s is a sinusoid of a projection of v, and m is the misspecification. There are too many
    features for quadrature: use `Population.sampled`.

    Parameters
    ----------
    n_actions : int, default 5
        Number of actions K.
    n_features : int, default 2
        Number of features p of a context.
    n_action_features : int, default 3
        Number of features q of each action.
    interactions : bool, default False
        Whether means depend on products of the context's features and the actions'.
    misspecification : float, default 0.0
        Weight of the nonlinear part of the means: 0 leaves a linear truth, 1 leaves no linear part.
    frequency : float, default 4.0
        Radians per unit of the projection that a sinusoid is a function of; features run over 2 units.
    noise : float or 'bernoulli', default 0.1
        Standard deviation of Gaussian rewards around their means, or 'bernoulli' for rewards of 0 and 1.
    environment_seed : int, default 0
        Seed of the true mean rewards, which do not depend on the seed of a simulation.

    Examples
    --------
    >>> environment = ActionFeatureEnvironment(n_actions=5, n_action_features=2)
    >>> environment.draw(0, 3, seed=0).contexts.actions.shape
    (3, 5, 2)
    """

    n_actions: int = 5
    n_features: int = 2
    n_action_features: int = 3
    interactions: bool = False
    misspecification: float = 0.0
    frequency: float = 4.0
    noise: Noise = 0.1
    environment_seed: int = 0

    def __post_init__(self) -> None:
        check_whole("n_actions", self.n_actions, 2)
        check_whole("n_features", self.n_features, 0)
        check_whole("n_action_features", self.n_action_features, 1)
        check_whole("environment_seed", self.environment_seed, 0)
        check_flag("interactions", self.interactions)
        check_share("misspecification", self.misspecification)
        check_positive("frequency", self.frequency)
        check_noise(self.noise)
        if self.interactions and not self.n_features:
            raise ValueError("n_features is 0, so that nothing interacts; give some, or interactions=False.")

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """Actions 1 to K, p shared and q action features; Gaussian rewards are accepted outside (0, 1)."""
        return box_problem(self.n_actions, self.n_features, self.n_action_features, self.noise)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        return drawn(lambda block: self._block(seed, block), start, stop)

    def means(self, x: Floats, v: Floats) -> Floats:
        """Expected rewards of all actions at features (n, p) and (n, K, q), (n, K)."""
        truth, m = self.truth, self.misspecification
        slopes = truth.slopes + (x @ truth.products if self.interactions else np.zeros((len(x), 1)))
        linear = truth.intercept + (v * slopes[:, np.newaxis]).sum(axis=2)
        sinusoid = np.sin(v @ truth.frequencies + truth.phase)
        return within_unit((1.0 - m) * linear + m * sinusoid)

    @cached_property
    def truth(self) -> SharedTruth:
        """The coefficients that all actions share."""
        p = self.n_features if self.interactions else 0
        return SharedTruth.drawn(
            truth_generator(self.environment_seed), p, self.n_action_features, frequency=self.frequency
        )

    def _block(self, seed: int, block: int) -> PotentialOutcomes:
        rng = block_generator(seed, block)
        x = rng.uniform(-1.0, 1.0, (BLOCK, self.n_features))
        v = rng.uniform(-1.0, 1.0, (BLOCK, self.n_actions, self.n_action_features))
        means = self.means(x, v)
        return PotentialOutcomes(Contexts(x, v), means, noisy(rng, means, self.noise))


@dataclass(frozen=True, slots=True, eq=False)
class SharedTruth:
    """Coefficients of [1, v, x v], whose absolute values sum to 1, and a sinusoid in v.

    >>> truth = SharedTruth.drawn(np.random.default_rng(0), 2, 3, frequency=4.0)
    >>> round(float(abs(truth.intercept) + abs(truth.slopes).sum() + abs(truth.products).sum()), 12)
    1.0
    """

    intercept: float
    slopes: Floats  # (q,)
    products: Floats  # (p, q)
    frequencies: Floats  # (q,)
    phase: float

    @staticmethod
    def drawn(rng: np.random.Generator, p: int, q: int, *, frequency: float) -> SharedTruth:
        """Random coefficients; the sinusoid comes first, to be the same with and without interactions."""
        direction = rng.standard_normal(q)
        phase = rng.uniform(0.0, 2.0 * math.pi)
        normals = rng.standard_normal(1 + q + p * q)
        normals[0] /= 2.0
        scaled = normals / np.abs(normals).sum()
        frequencies = frequency * direction / np.linalg.norm(direction)
        return SharedTruth(
            float(scaled[0]), scaled[1 : q + 1], scaled[q + 1 :].reshape(p, q), frequencies, phase
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class EligibilityEnvironment:
    """An environment in which only a random part of the actions may be chosen.

    Actions are eligible at random, independently of contexts and rewards. Where none would be, one stays,
    each with the same probability. Actions that the environment itself excludes stay excluded.

    Parameters
    ----------
    environment : Environment
        The environment that contexts and rewards come from.
    share : float, default 0.5
        Probability that an action is eligible.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> environment = EligibilityEnvironment(environment=StepExample(), share=0.5)
    >>> environment.draw(0, 4, seed=0).contexts.eligible.any(axis=1).all()
    np.True_
    """

    environment: Drawable
    share: float = 0.5

    def __post_init__(self) -> None:
        check_environment("environment", self.environment)
        check_share("share", self.share)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def problem(self) -> Problem:
        """The problem of the environment."""
        return problem_of(self.environment)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Outcomes of rounds start..stop-1."""
        outcomes = self.environment.draw(start, stop, seed)
        contexts, n_actions = outcomes.contexts, outcomes.means.shape[1]
        layer = layers(self.environment, EligibilityEnvironment)
        uniforms = rows_of(
            lambda block: stream(seed, block, MASKS, layer).random((BLOCK, n_actions)), start, stop
        )
        mask = _some(uniforms, self.share, contexts.eligible)
        return replace(outcomes, contexts=Contexts(contexts.shared, contexts.actions, mask))


def _some(uniforms: Floats, share: float, allowed: Bools | None) -> Bools:
    """Actions whose uniform is below the share, and the one with the lowest, among those allowed, (n, K)."""
    ranks = uniforms if allowed is None else np.where(allowed, uniforms, np.inf)
    mask = ranks < share
    mask[np.arange(len(mask)), ranks.argmin(axis=1)] = True
    return mask
