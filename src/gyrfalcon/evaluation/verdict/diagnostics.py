"""Numbers that say how far a log supports a target policy: effective rows, tails, support, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.expected_spread import ExpectedSpread, expected_spread
from gyrfalcon.evaluation.rows.weighting import TargetWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightDiagnostics:
    """Importance weights of a target policy on a log, in numbers.

    Parameters
    ----------
    n_rows
        Number of evaluated rows.
    n_matching
        Number of rows with a positive weight, whose rewards the value rests on.
    mean_weight
        Mean weight, whose expectation is 1 less `unsupported`.
    mean_weight_error
        Standard error of the mean weight, expected from the logged distributions where these are known.
    expected_rows
        Expected effective number of rows: (sum h)^2 / sum h^2 phi, for weights h of rows by the interval and
        phi = sum_a pi(a)^2 / e(a). Without such weights it is n over the mean of phi.
    effective_rows
        Observed effective number of rows, (sum w)^2 / sum w^2; high also where the rare row of a large weight
        has not been drawn.
    drawn_share
        Sum of h^2 w^2 over what was expected of it, both without rows too rare to be seen; nan where
        distributions are unknown. See `ExpectedSpread`.
    largest_weight
        Largest weight.
    largest_share
        Largest share of a row in the sum of h w.
    top_share
        Share of the 1% of rows that count most in the sum of h w.
    unsupported
        Mean probability that the target gives to actions of propensity 0.
    unsupported_in_value
        The same mean, of rows as the estimate weights them: epochs without support may count for little.
    never_logged
        Mean probability that the target gives to actions that no row has.
    known_share
        Share of rows whose distribution is known.
    """

    n_rows: int
    n_matching: int
    mean_weight: float
    mean_weight_error: float
    expected_rows: float
    effective_rows: float
    drawn_share: float
    largest_weight: float
    largest_share: float
    top_share: float
    unsupported: float
    unsupported_in_value: float
    never_logged: float
    known_share: float

    @staticmethod
    def of(
        weights: TargetWeights,
        rows: EvaluatedRows,
        row_weights: Floats | None = None,
        spread: ExpectedSpread | None = None,
    ) -> WeightDiagnostics:
        """The numbers of a target's weights on evaluated rows, which the estimate weights in turn."""
        w, n = weights.weights, len(weights.weights)
        total, squares = float(w.sum()), float(np.dot(w, w))
        rates = np.ones(n) if row_weights is None else row_weights / row_weights.mean()
        expected = float(np.dot(rates**2, weights.proxies))
        if spread is None:
            spread = expected_spread(weights, rows, rates / n)
        seen = rates * w / n
        drawn = float((seen[seen <= spread.limit] ** 2).sum())
        counted = np.sort(rates * w)[::-1] / max(float(np.dot(rates, w)), 1e-300)
        logged = np.bincount(rows.table.action, minlength=rows.table.n_actions) > 0
        excess = np.maximum(weights.proxies - (1.0 - weights.unsupported) ** 2, 0.0)
        return WeightDiagnostics(
            n_rows=n,
            n_matching=int((w > 0.0).sum()),
            mean_weight=total / n,
            mean_weight_error=math.sqrt(float(excess.sum())) / n,
            expected_rows=n * n / expected if expected > 0.0 else 0.0,
            effective_rows=total**2 / squares if squares > 0.0 else 0.0,
            drawn_share=drawn / spread.seen if weights.exact.all() and spread.seen > 0.0 else math.nan,
            largest_weight=float(w.max()),
            largest_share=float(counted[0]) if total > 0.0 else 1.0,
            top_share=float(counted[: max(1, n // 100)].sum()) if total > 0.0 else 1.0,
            unsupported=float(weights.unsupported.mean()),
            unsupported_in_value=float(np.dot(rates, weights.unsupported)) / n,
            never_logged=float(weights.target[:, ~logged].sum()) / n,
            known_share=float(weights.exact.mean()),
        )

    @property
    def expected_mean_weight(self) -> float:
        """The mean weight that right propensities lead to."""
        return 1.0 - self.unsupported


@dataclass(frozen=True, slots=True)
class ActionCalibration:
    """How often an action was logged, against what its propensities add up to.

    Parameters
    ----------
    place
        Position of the action.
    n_logged
        Number of rows with the action.
    expected
        Sum of its probabilities.
    z
        Distance between both in standard deviations of fair draws.
    """

    place: int
    n_logged: int
    expected: float
    z: float


def action_calibration(rows: EvaluatedRows) -> tuple[ActionCalibration, ...]:
    """Logged and expected frequency of each action, in rows whose distribution is known."""
    if rows.distribution is None:
        return ()
    chances = rows.distribution[rows.known]
    actions = rows.table.action[rows.known]
    found = []
    for place in range(chances.shape[1]):
        column = chances[:, place]
        n_logged, expected = int((actions == place).sum()), float(column.sum())
        deviation = math.sqrt(float((column * (1.0 - column)).sum()))
        # Half a row for continuity: counts are whole.
        distance = max(abs(n_logged - expected) - 0.5, 0.0)
        z = 0.0 if distance == 0.0 else math.copysign(distance / max(deviation, 1e-9), n_logged - expected)
        found.append(ActionCalibration(place, n_logged, expected, z))
    return tuple(found)


def tail_share(errors: Floats) -> float:
    """Share of the row with the largest squared error in the sum of squares: near 1, one row decides."""
    squares = errors**2
    total = float(squares.sum())
    return float(squares.max()) / total if total > 0.0 else 0.0


def change_over_time(contributions: Floats) -> float:
    """Distance between the means of the first and the second half, in standard errors."""
    half = len(contributions) // 2
    first, second = contributions[:half], contributions[half:]
    if half < 2:
        return 0.0
    error = math.sqrt(float(np.var(first)) / len(first) + float(np.var(second)) / len(second))
    gap = abs(float(first.mean() - second.mean()))
    return gap / error if error > 0.0 else 0.0
