"""How a policy was fitted: for people, never read by a decision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """The numbers behind an epoch's reward model.

    `alpha` is the passive mean squared error of the passive fit (alpha_m), `slack` what was allowed above it
    (beta_m), `excess` how far above alpha the fit is, which rounding may put just above the slack, and
    `multiplier` the price of the constraint (lambda). Without a constraint these say alpha 0, slack infinite,
    excess 0, multiplier 0. `binding` says whether the constraint changed the fit, `n_regressions` counts the
    weighted regressions of a class without an exact solver.

    `condition` is that of a linear class's design, 1 for other classes. `accurate` says whether the fit is
    what it claims to be: eight digits of a linear one, and of others a search that met the slack. `notes` are
    what somebody should know or mend, none if all is well; `details` are numbers of the learner's own.
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
    details: tuple[str, ...] = ()
