"""The value gate: an alternative fit of the same rows is active only while its estimated value is higher.

Alternatives are evaluated on rows that came after their fit, by doubly robust scores with the propensities in
force then, paired with the scores of the pooled fit: where both policies choose alike, the gain is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import greedy_policy, paired_gains
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.oracles.linear.models import LinearModel

GateRule = Literal["value", "always", "never"]
"""When the constrained fit is active: while its estimated value is higher, always, or never."""
ALTERNATIVES = ("constrained", "tightly constrained", "importance-weighted", "passive")
"""Names of the alternative fits, in the order of `alternatives.alternative_fits`."""

_MIN_Z = 2.5
"""Standard errors by which the estimated gain must exceed 0."""
_REFIT_RATIO = 1.5
"""How many times as many rows there are when alternatives are refitted."""


@dataclass(frozen=True, slots=True)
class ValueGate:
    """Alternatives to the pooled fit, their estimated gains over it, and which one is active."""

    models: tuple[LinearModel, ...] = ()
    """One per name in ALTERNATIVES, fitted before the rows that evaluate them; none before the first fit."""
    gains: Tally | None = None
    """(4,): value of each alternative's greedy policy less that of the pooled fit's, over all rows."""
    active: int = -1
    """Which alternative is active, -1 for the pooled fit."""
    next_refit: float = 0.0
    """Number of rows with which the alternatives are refitted."""

    @property
    def model(self) -> LinearModel | None:
        """The active alternative, None for the pooled fit."""
        return self.models[self.active] if self.active >= 0 else None

    def evaluated(self, pooled: Scorer, log: Log, retention: float = 1.0) -> ValueGate:
        """The gate with the gains on rows that no model has seen; earlier gains count `retention` times.

        Rows of unknown propensity tell nothing of gains.
        """
        if not self.models or len(log) == 0:
            return self
        log = log.where(log.has_propensity)
        if len(log) == 0:
            return replace(self, gains=None if self.gains is None else self.gains.scaled(retention))
        scores = np.asarray(pooled.scores(log.contexts))
        policies = np.stack(
            [greedy_policy(np.asarray(model.scores(log.contexts)), log.contexts) for model in self.models]
        )
        gains = Tally.of(paired_gains(policies, greedy_policy(scores, log.contexts), scores, log))
        return replace(self, gains=gains if self.gains is None else self.gains.scaled(retention) + gains)

    def refitted(self, models: Sequence[LinearModel], n_seen: int, half_life: float) -> ValueGate:
        """The gate with new fits of its alternatives to this many rows."""
        return replace(self, models=tuple(models), next_refit=min(_REFIT_RATIO * n_seen, n_seen + half_life))

    def switched(self, rule: GateRule, min_z: float = _MIN_Z) -> ValueGate:
        """The gate with the alternative active whose gain is largest, of those known to be above 0."""
        if rule == "always":
            return replace(self, active=0 if self.models else -1)
        if self.gains is None:
            return self
        passing = self.gains.z > min_z
        best = int(np.where(passing, self.gains.mean, -np.inf).argmax()) if passing.any() else -1
        return replace(self, active=best)

    def report_lines(self, unit: float = 1.0) -> tuple[str, ...]:
        """Report lines: estimated gain of each alternative, times a unit, and which fit is active."""
        if self.gains is None:
            return ()
        means, errors = unit * self.gains.mean, unit * self.gains.standard_error
        gains = [
            f"{name} fit: estimated value gain {mean:+.4f} +- {error:.4f} per round over the pooled fit"
            for name, mean, error in zip(ALTERNATIVES, means.tolist(), errors.tolist(), strict=True)
        ]
        active = "pooled" if self.active < 0 else ALTERNATIVES[self.active]
        return (*gains, f"active fit: {active}")
