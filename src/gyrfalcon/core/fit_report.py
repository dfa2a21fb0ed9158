"""Reports on fits of policies: for people, never read by a decision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """Numbers on how an epoch's reward model was fitted; no decision depends on them.

    Without a constraint, alpha is 0, the slack infinite, the excess 0 and the multiplier 0.

    Attributes
    ----------
    n_active : float
        Active rows, or the sum of their weights.
    n_passive : float
        Passive rows, or the sum of their weights.
    gamma : float, default 0.0
        Learning rate of the kernel, for gaps in multiples of `reward_unit`.
    reward_unit : float, default 1.0
        What the learner's constants take for 1: twice the standard deviation of rewards so far, as a share of
        the reward range, or in the problem's units where that is unknown.
    alpha : float, default 0.0
        Passive mean squared error of the passive fit (alpha_m).
    slack : float, default inf
        What the constraint allows above alpha (beta_m).
    excess : float, default 0.0
        How far above alpha the fit is, as computed: rounding may put it just above the slack.
    multiplier : float, default 0.0
        Lagrange multiplier of the constraint (lambda).
    binding : bool, default False
        Whether the constraint changed the fit.
    n_regressions : int, default 0
        Weighted regressions that a class without an exact solver took.
    condition : float, default 1.0
        Condition number of a linear class's design, 1 for other classes.
    accurate : bool, default True
        Whether the fit is as precise as it claims: eight digits of a linear class, and a search that met the
        slack of others.
    notes : tuple[str, ...], default ()
        Sentences on what needs attention, none if all is well.
    details : tuple[str, ...], default ()
        Further sentences of the learner's own.
    """

    n_active: float
    n_passive: float
    gamma: float = 0.0
    reward_unit: float = 1.0
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
