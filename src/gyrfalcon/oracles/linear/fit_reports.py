"""Fits of the linear class in the words of a report."""

from __future__ import annotations

from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit
from gyrfalcon.oracles.solvers.least_squares import LinearFit
from gyrfalcon.oracles.solvers.moments import Moments


def _notes(condition: float, accurate: bool) -> tuple[str, ...]:
    if accurate:
        return ()
    return (
        f"condition {condition:.1e}: predictions may be off by more than 1e-8; "
        "drop or rescale nearly collinear features, or set a ridge",
    )


def ordinary_report(rows: Moments, fit: LinearFit) -> FitReport:
    """How an ordinary regression of these rows went."""
    return FitReport(
        n_active=rows.n,
        n_passive=0.0,
        condition=fit.condition,
        accurate=fit.accurate,
        notes=_notes(fit.condition, fit.accurate),
    )


def constrained_report(fit: ConstrainedFit) -> FitReport:
    """Report of a constrained fit: its slack, its multiplier and its conditioning."""
    return FitReport(
        n_active=fit.n_active,
        n_passive=fit.n_passive,
        alpha=fit.alpha,
        slack=fit.slack,
        excess=fit.excess,
        multiplier=fit.multiplier,
        binding=fit.binding,
        condition=fit.condition,
        accurate=fit.accurate,
        notes=_notes(fit.condition, fit.accurate),
    )
