"""How a policy was fitted: for people, never read by a decision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """The numbers behind an epoch's reward model.

    `alpha` is the passive mean squared error of the passive fit (alpha_m), `slack` what was allowed above it
    (beta_m), `excess` what the fit used of it, `multiplier` the price of the constraint (lambda). Without a
    constraint these say alpha 0, slack infinite, excess 0, multiplier 0. `n_regressions` counts the weighted
    regressions of a class without an exact solver.
    """

    n_active: float
    n_passive: float
    gamma: float = 0.0
    alpha: float = 0.0
    slack: float = float("inf")
    excess: float = 0.0
    multiplier: float = 0.0
    binding: bool = False
    n_regressions: int = 0
    condition: float = 1.0
    accurate: bool = True
    notes: tuple[str, ...] = ()
