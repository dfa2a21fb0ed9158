"""The value gate: another fit of the same rows plays only while it is known to earn more.

Fits are judged on rows that came after them, by doubly robust scores with the propensities of then, paired
with those of the pooled fit: what both would have done alike cancels row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import paired_gains
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.oracles.linear.models import LinearModel


@dataclass(frozen=True, slots=True)
class ValueGate:
    """Alternatives to a fit, what each earned more than it, and which one plays."""

    names: tuple[str, ...]
    models: tuple[LinearModel, ...] = ()
    """One per name, fitted before the rows that will judge them; none before the first fits."""
    gains: Tally | None = None
    """(C,): of the greedy play of each alternative over that of the pooled fit, since the beginning."""
    in_use: int = -1
    """Which alternative plays, -1 for the pooled fit."""
    due: float = 0.0
    """Rows with which the alternatives are fitted anew."""

    def judged(self, pooled: Scorer, log: Log, forget: float = 1.0) -> ValueGate:
        """The gate after rows that no model has seen yet; what went before counts `forget` times."""
        if not self.models or len(log) == 0:
            return self
        told = np.asarray(pooled.scores(log.contexts))
        plays = np.stack([greedy_play(model, log.contexts) for model in self.models])
        gains = Tally.of(paired_gains(plays, greedy_of(told, log.contexts), told, log))
        return replace(self, gains=gains if self.gains is None else self.gains.scaled(forget) + gains)

    def opened(self, threshold: float) -> ValueGate:
        """The gate with the alternative in use whose gain is largest, of those above so many errors."""
        if self.gains is None:
            return self
        passing = self.gains.z > threshold
        best = int(np.where(passing, self.gains.mean, -np.inf).argmax()) if passing.any() else -1
        return replace(self, in_use=best)

    def refitted(self, models: Sequence[LinearModel], due: float) -> ValueGate:
        """The gate with new fits of its alternatives."""
        return replace(self, models=tuple(models), due=due)

    @property
    def model(self) -> LinearModel | None:
        """The alternative that plays, None if it is the pooled fit."""
        return self.models[self.in_use] if self.in_use >= 0 else None

    def lines(self) -> tuple[str, ...]:
        """What each alternative is known to earn, and who plays, in words."""
        if self.gains is None:
            return ()
        means, errors = self.gains.mean, self.gains.standard_error
        said = [
            f"{name}: {mean:+.4f} ({error:.4f}) a round against the pooled fit"
            for name, mean, error in zip(self.names, means.tolist(), errors.tolist(), strict=True)
        ]
        player = "the pooled fit" if self.in_use < 0 else f"the {self.names[self.in_use]} fit"
        return (*said, f"{player} plays")


def greedy_play(model: Scorer, contexts: Contexts) -> Floats:
    """(n, K): probability 1 for the action that a model thinks best of those that may be chosen."""
    return greedy_of(np.asarray(model.scores(contexts)), contexts)


def greedy_of(scores: Floats, contexts: Contexts) -> Floats:
    """The same of its scores."""
    if contexts.eligible is not None:
        scores = np.where(contexts.eligible, scores, -np.inf)
    play = np.zeros(scores.shape)
    play[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
    return play
