"""What a wrong class costs in reward: doubly robust values of its greedy policy and of richer classes'.

Models of a block of rows are fitted to earlier blocks alone. Propensities of an adaptive learner follow from
earlier rewards, so that a model which has seen later rows would bias the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.estimates.misspecification.row_choice import uniform_weights
from gyrfalcon.estimates.scores import dr_scores, greedy_policy
from gyrfalcon.evaluation.intervals.adaptive_weights import min_var_weights, weighted_interval
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.oracles.features.bases import Basis, Identity, Joined, Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass

N_BLOCKS = 10
FIRST_BLOCK = 2
"""Blocks that are only learned from."""
FEWEST_ROWS = 100
MEAN_WEIGHT_TOLERANCE = 0.2
"""How far the mean importance weight of a policy may be from 1."""
MOST_FEATURES_MULTIPLIED = 20
"""Features of which all products are candidates; of more, squares alone: 50 would have 1,275 products."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A greedy policy's mean reward per round, and what it earns beyond the class's own greedy policy.

    Attributes
    ----------
    policy : str
        Which policy.
    value : Interval
        Its estimated value in reward units.
    gain : Interval or None
        What it earns more than the greedy policy of the class's plain fit, paired; None for that one itself.
    """

    policy: str
    value: Interval
    gain: Interval | None


@dataclass(frozen=True, slots=True)
class RewardCost:
    """Values of greedy policies that were learned from earlier rows, over the same later rows.

    Attributes
    ----------
    plain : ClassValue
        The class, fitted to all rows alike.
    uniform : ClassValue
        The class, fitted to rows weighted to uniform play: what a constraint by passive rows aims at.
    richer : ClassValue
        The class or a richer one, whichever predicted earlier blocks best.
    chosen : str
        Which class that was in the last block.
    n_rows : int
        Rows on which policies were compared.
    supported : bool
        Whether importance weights of all three policies average about 1: if not, what one of them would do is
        rare in the log, and intervals are too narrow.
    notes : tuple[str, ...]
        What needs attention.
    """

    plain: ClassValue
    uniform: ClassValue
    richer: ClassValue
    chosen: str
    n_rows: int
    supported: bool
    notes: tuple[str, ...] = ()


def default_candidates(model_class: ModelClass, n_features: int) -> dict[str, ModelClass]:
    """Classes richer than a linear one: products, splines and random Fourier features, with a ridge of 1.

    >>> list(default_candidates(Linear(), 2)), next(iter(default_candidates(Linear(), 50)))
    (['products', 'splines', 'Fourier', 'short Fourier'], 'squares')
    """
    base = model_class if isinstance(model_class, Linear) else Linear()
    scale = float(np.sqrt(max(n_features, 1)))
    wide = Joined((Identity(), RandomFourier(n_features=60, length_scale=scale)))
    near = Joined((Identity(), RandomFourier(n_features=60, length_scale=scale / 3.0)))
    multiplied = n_features <= MOST_FEATURES_MULTIPLIED
    bases: dict[str, Basis] = {
        "products" if multiplied else "squares": Polynomial(degree=2, interactions=multiplied),
        "splines": Splines(),
        "Fourier": wide,
        "short Fourier": near,
    }
    if n_features == 0:
        return {}
    return {name: replace(base, basis=basis, ridge=max(base.ridge, 1.0)) for name, basis in bases.items()}


def reward_cost(
    log: Log,
    n_actions: int,
    model_class: ModelClass,
    *,
    candidates: dict[str, ModelClass],
    distribution: Floats | None = None,
    level: float = 0.95,
    n_blocks: int = N_BLOCKS,
) -> RewardCost:
    """What greedy policies of the class and of richer ones earn, from rows with known propensities.

    Parameters
    ----------
    log
        Rows in order.
    n_actions
        Number of actions K.
    model_class
        The class in question.
    candidates
        Richer classes by name.
    distribution
        Logged probabilities of all actions, (n, K), nan where unknown; None if unknown everywhere.
    level
        Confidence level of the intervals.
    n_blocks
        Number of blocks of about equal size.

    Raises
    ------
    NotEstimableError
        If too few rows have propensities.
    """
    known = log.has_propensity
    rows = log.where(known)
    if len(rows) < FEWEST_ROWS:
        raise NotEstimableError(
            f"{len(rows)} rows have known propensities; wait for at least {FEWEST_ROWS} to compare what "
            "policies earn."
        )
    learned = learned_policies(rows, n_actions, model_class, candidates, n_blocks)
    values = np.stack([dr_scores(policy, learned.scores, learned.later) for policy in learned.policies])
    weights = learned.weights(None if distribution is None else distribution[known])
    own, uniform, wide = _compared(values, weights, level)
    means = learned.mean_weights()
    supported = all(abs(mean - 1.0) <= MEAN_WEIGHT_TOLERANCE for mean in means)
    notes = _notes(rows, means)
    return RewardCost(own, uniform, wide, learned.chosen, len(learned.later), supported, notes)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedPolicies:
    """Greedy policies on later rows, each row's by models of earlier blocks."""

    later: Log
    """Rows of all blocks but the first two."""
    sizes: tuple[int, ...]
    """Numbers of rows of their blocks."""
    policies: tuple[Floats, Floats, Floats]
    """Probabilities (n, K) of the class's plain fit, its weighted fit and the richer class."""
    scores: Floats
    """(n, K): rewards that the richer class predicts."""
    chosen: str
    """Name of the richer class in the last block."""

    def weights(self, distribution: Floats | None) -> Floats:
        """MinVar weights of rows, (n,), one for each block, from the two blocks before.

        The variance of a doubly robust score goes with sum pi^2 / p; where distributions are unknown, with
        (pi / p)^2 of the logged action, whose expectation that is.
        """
        n = len(self.later)
        own = None if distribution is None else distribution[-n:]
        proxies = np.sum([_proxies(self.later, policy, own) for policy in self.policies], axis=0)
        ends = np.cumsum([0, *self.sizes])
        spans = [slice(ends[max(block - 2, 0)], ends[block]) for block in range(1, len(self.sizes))]
        means = [float(proxies[span].mean()) for span in spans]
        # The first block has none before it, and takes the next one's weight: the same for all its rows.
        return min_var_weights(np.maximum(np.repeat([means[0], *means], self.sizes), 1.0))

    def mean_weights(self) -> list[float]:
        """Mean importance weights of the policies, each about 1 where the log holds what they would do."""
        played = np.arange(len(self.later)), self.later.action
        return [float((policy[played] / self.later.propensity).mean()) for policy in self.policies]


def learned_policies(
    rows: Log,
    n_actions: int,
    model_class: ModelClass,
    candidates: dict[str, ModelClass],
    n_blocks: int = N_BLOCKS,
) -> LearnedPolicies:
    """Greedy policies of the class and of the candidate that predicted best, block by block.

    Parameters
    ----------
    rows
        Rows in order, with known propensities.
    n_actions
        Number of actions K.
    model_class
        The class in question, itself among the candidates.
    candidates
        Richer classes by name.
    n_blocks
        Number of blocks of about equal size.
    """
    ends = np.linspace(0, len(rows), n_blocks + 1).astype(int)
    parts = [rows.take(slice(start, stop)) for start, stop in pairwise(ends)]
    plain = scores_by_block(parts, model_class, n_actions)
    weighted = scores_by_block(parts, model_class, n_actions, weighted=True)
    tables = {name: scores_by_block(parts, one, n_actions) for name, one in candidates.items()}
    richer, chosen = _best_so_far(parts, {"the class itself": plain, **tables})
    later = rows.take(slice(int(ends[FIRST_BLOCK]), None))
    given = [np.concatenate(scores[FIRST_BLOCK - 1 :]) for scores in (plain, weighted, richer)]
    own, uniform, wide = (greedy_policy(scores, later.contexts) for scores in given)
    sizes = tuple(len(part) for part in parts[FIRST_BLOCK:])
    return LearnedPolicies(later, sizes, (own, uniform, wide), given[2], chosen)


def scores_by_block(
    parts: Sequence[Log], model_class: ModelClass, n_actions: int, *, weighted: bool = False
) -> list[Floats]:
    """Predicted rewards of all actions in each block but the first, by a model of all earlier blocks."""
    oracle = model_class.oracle(parts[0].contexts, n_actions)
    seen, scores = oracle.empty(), []
    for earlier, block in pairwise(parts):
        weights = np.minimum(uniform_weights(earlier, n_actions), len(earlier)) if weighted else None
        seen = seen + oracle.summarise(earlier, weights)
        model, _ = oracle.fit(seen, oracle.empty())
        scores.append(np.asarray(model.scores(block.contexts)))
    return scores


def _best_so_far(parts: Sequence[Log], tables: dict[str, list[Floats]]) -> tuple[list[Floats], str]:
    """In each block the scores of the class whose squared error was least in earlier blocks."""
    names = list(tables)
    totals = np.zeros(len(names))
    richer, chosen = [tables[names[0]][0]], names[0]
    for place, block in enumerate(parts[1:-1]):
        for number, name in enumerate(names):
            left = block.reward - tables[name][place][np.arange(len(block)), block.action]
            totals[number] += float(left @ left)
        chosen = names[int(np.argmin(totals))]
        richer.append(tables[chosen][place + 1])
    return richer, chosen


def _proxies(later: Log, policy: Floats, distribution: Floats | None) -> Floats:
    """What the variance of each row's doubly robust score goes with, (n,)."""
    observed = (policy[np.arange(len(later)), later.action] / later.propensity) ** 2
    if distribution is None:
        return np.asarray(observed)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(policy > 0.0, policy**2 / distribution, 0.0).sum(axis=1)
    return np.asarray(np.where(np.isfinite(exact), exact, observed))


def _compared(values: Floats, weights: Floats, level: float) -> list[ClassValue]:
    """Values of the three policies from their doubly robust scores (3, n), and gains over the first.

    Equal scores that are summed in another order differ by rounding, which is no gain.
    """
    gains = values - values[0]
    gains[np.abs(gains) <= _ROUNDING * np.abs(values).max()] = 0.0
    names = "the class, fitted to all rows", "the class, weighted to uniform play", "the richer class"
    return [
        ClassValue(
            name,
            weighted_interval(values[place], weights, level),
            None if place == 0 else weighted_interval(gains[place], weights, level),
        )
        for place, name in enumerate(names)
    ]


def _notes(rows: Log, means: Sequence[float]) -> tuple[str, ...]:
    """Cautions: a policy whose actions are hardly ever logged, and policies that change along the log."""
    names = "class's plain fit", "class weighted to uniform play", "richer class"
    notes = [
        f"Importance weights of the greedy policy of the {name} average {mean:.2f} where 1 is expected: what "
        "it would do is rare in this log, and intervals are too narrow."
        for name, mean in zip(names, means, strict=True)
        if abs(mean - 1.0) > MEAN_WEIGHT_TOLERANCE
    ]
    if len(np.unique(rows.epoch)) > 1:
        notes.append("Values are of policies as they were learned along the log, not of the last one.")
    return tuple(notes)
