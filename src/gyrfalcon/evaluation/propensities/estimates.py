"""Propensities estimated from the rows of a log that lacks them, with their calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import check_not_negative, check_share, check_whole
from gyrfalcon.evaluation.propensities.calibration import PropensityCalibration, propensity_calibration
from gyrfalcon.evaluation.propensities.multinomial_logistic import FREE, ChoiceRows, fitted_choices
from gyrfalcon.evaluation.rows.table import check_table
from gyrfalcon.oracles.features.bases import Basis, moments

POOLING = (10_000.0, 1_000.0, 100.0, 10.0, 1.0, FREE)
RIDGES = (100_000.0, 10_000.0, 1_000.0, 100.0, 10.0, 1.0, 0.1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PropensityEstimate:
    """Estimated propensities of a log, and how well they are calibrated.

    Parameters
    ----------
    probabilities
        Estimated probabilities of all actions, (n, K); 0 where ineligible. Each row's are by a model of other
        rows, or the shares of actions among all rows where nothing distinguishes one row from another.
    propensity
        Those of the logged actions, (n,); nan where the action is unknown.
    ridge
        The penalty with the largest log-likelihood of rows that the models had not seen.
    log_likelihood
        Mean log-likelihood of unseen rows at each penalty that was tried.
    n_clipped
        Number of rows whose logged action had an estimate below the floor.
    calibration
        Predicted and observed shares by action and by decile.
    source
        The log that they were estimated from.
    """

    probabilities: Floats
    propensity: Floats
    ridge: float
    log_likelihood: dict[float, float]
    n_clipped: int
    calibration: PropensityCalibration
    source: DecisionTable

    def __repr__(self) -> str:
        state = "calibrated" if self.calibration.is_calibrated else "not calibrated"
        return f"PropensityEstimate({len(self.propensity)} rows, ridge {self.ridge:g}, {state})"

    @property
    def table(self) -> DecisionTable:
        """The log with the estimates as propensities and distribution, marked as estimated."""
        known = (self.source.action != UNKNOWN_ACTION)[:, None]
        distribution = np.where(known, self.probabilities, np.nan)
        return replace(
            self.source,
            propensity=self.propensity,
            distribution=distribution,
            propensity_source="estimated",
        )


def estimated_propensities(
    table: DecisionTable,
    *,
    n_folds: int = 5,
    ridges: Sequence[float] = RIDGES,
    floor: float = 0.001,
    basis: Basis | None = None,
    seed: int = 0,
) -> PropensityEstimate:
    """Propensities of a log that lacks them, by multinomial logistic regression over eligible actions.

    Values that are estimated with them are right if the log has everything that its decisions followed, and
    log-odds are linear in it: neither can be seen from the log alone. Calibration finds some errors, not all.

    Parameters
    ----------
    table
        The log; its propensities, if it has any, are not used.
    n_folds
        Number of random parts; each row's probabilities come from a model of the other parts.
    ridges
        Penalties on squared slopes of standardised features, in units of one row. The one with the largest
        log-likelihood of unseen rows is taken; they are tried from the largest to the smallest, until the
        log-likelihood has fallen twice in a row. The penalty on intercepts is chosen alike beforehand.
    floor
        Least probability of an eligible action; lower estimates become this, and rows sum to 1 again.
    basis
        Features of the shared ones, such as `Polynomial(degree=2)`; None takes these themselves.
    seed
        Seed of the random parts.

    Returns
    -------
    PropensityEstimate
        Probabilities of all actions, propensities, calibration, and the table with these propensities.

    Raises
    ------
    ValueError
        If a setting is not valid, a feature is not finite, or an action was not eligible.

    Examples
    --------
    >>> table = DecisionTable.of(actions=["a", "b"], action=["a", "b", "a", "a"] * 50, reward=[0.0] * 200)
    >>> estimate = estimated_propensities(table)
    >>> estimate.table.propensity_source, estimate.probabilities.mean(axis=0).round(6).tolist()
    ('estimated', [0.75, 0.25])
    """
    check_table(table)
    known = np.flatnonzero(table.action != UNKNOWN_ACTION)
    check_whole("n_folds", n_folds, 2)
    check_share("floor", floor, 0.0, 1.0 / max(table.n_actions, 1))
    for ridge in ridges:
        check_not_negative("ridge", ridge)
    _check(table, known, n_folds)
    rows = _choice_rows(table, basis)
    folds = np.random.default_rng(seed).permutation(len(known)) % n_folds
    best, scores, probabilities = _cross_fitted(rows, known, folds, sorted(set(ridges), reverse=True))
    clipped, n_clipped = _clipped(probabilities, table, floor)
    propensity = np.full(len(table), np.nan)
    propensity[known] = clipped[known, table.action[known]]
    calibration = propensity_calibration(
        clipped[known], table.action[known], table.eligible[known], table.actions
    )
    return PropensityEstimate(clipped, propensity, best, scores, n_clipped, calibration, table)


def _check(table: DecisionTable, known: Ints, n_folds: int) -> None:
    if len(known) < n_folds:
        raise ValueError(f"{len(known)} rows have an action; give at least one for each of {n_folds} folds.")
    allowed = table.eligible[known, table.action[known]]
    if not allowed.all():
        row = int(known[allowed.argmin()])
        label = short_repr(table.actions[table.action[row]])
        raise ValueError(f"row {table.rows[row]}: the action {label} was not eligible; leave the row out.")
    for what, values in (("feature", table.contexts.shared), ("action feature", table.contexts.actions)):
        if values is None:
            continue
        finite = np.isfinite(values).reshape(len(table), -1).all(axis=1)
        if not finite.all():
            row = int(finite.argmin())
            raise ValueError(
                f"row {table.rows[row]}: a {what} is missing or infinite; give a number, and another feature "
                "that says where it was missing."
            )


def _choice_rows(table: DecisionTable, basis: Basis | None) -> ChoiceRows:
    """The rows with standardised features, without those that are constant."""
    shared, cube = table.contexts.shared, table.contexts.actions
    if basis is not None and shared.shape[1]:
        shared = basis.fit(shared).expand(shared)
    own = None if cube is None else _standardised(cube.reshape(-1, cube.shape[2]))
    own = None if own is None or cube is None else own.reshape(*cube.shape[:2], -1)
    return ChoiceRows(_standardised(shared), own, table.eligible, table.action)


def _standardised(values: Floats) -> Floats:
    varies = values.max(axis=0) > values.min(axis=0)
    kept = values[:, varies]
    means, scales = moments(kept)
    return np.asarray((kept - means) / scales)


def _cross_fitted(
    rows: ChoiceRows, known: Ints, folds: Ints, ridges: list[float]
) -> tuple[float, dict[float, float], Floats]:
    """The best penalty, all log-likelihoods, and the probabilities at the best penalty."""
    if _is_simple(rows):
        shares = np.bincount(rows.action[known], minlength=rows.eligible.shape[1]) / len(known)
        return ridges[0], {}, np.tile(shares, (len(rows.action), 1))
    study = _Study(rows, known, folds)
    # Intercepts that are noise would make the probabilities of equally likely actions differ.
    pooling, _, _ = _best(POOLING, lambda one: study.probabilities(ridges[0], one), study)
    return _best(ridges, lambda one: study.probabilities(one, pooling), study)


def _best(
    penalties: Sequence[float], probabilities: Callable[[float], Floats], study: _Study
) -> tuple[float, dict[float, float], Floats]:
    """The penalty of largest log-likelihood in a sequence that ends when it has fallen twice in a row."""
    scores: dict[float, float] = {}
    best, kept = penalties[0], np.zeros(0)
    for penalty in penalties:
        found = probabilities(penalty)
        scores[penalty] = study.log_likelihood(found)
        if scores[penalty] >= max(scores.values()):
            best, kept = penalty, found
        last = list(scores.values())[-3:]
        if len(last) == 3 and last[0] > last[1] > last[2]:
            break
    return best, scores, kept


class _Study:
    """Fits of all folds, each of which starts from the one before."""

    def __init__(self, rows: ChoiceRows, known: Ints, folds: Ints) -> None:
        self._rows, self._known, self._folds = rows, known, folds
        self._unknown = np.setdiff1d(np.arange(len(rows.action)), known)
        self._starts: list[Any] = [None] * (int(folds.max()) + 1)

    def probabilities(self, ridge: float, pooling: float) -> Floats:
        """Probabilities of all actions, (n, K), each row by a model of the other folds."""
        logs = np.zeros(self._rows.eligible.shape)
        for fold, start in enumerate(self._starts):
            others = self._rows.take(self._known[self._folds != fold])
            self._starts[fold] = fitted_choices(others, ridge, pooling, start)
            held = self._known[self._folds == fold]
            logs[held] = self._rows.take(held).log_probabilities(self._starts[fold])
        logs[self._unknown] = self._rows.take(self._unknown).log_probabilities(self._starts[0])
        return np.asarray(np.exp(logs))

    def log_likelihood(self, probabilities: Floats) -> float:
        """Mean log-likelihood of the actions taken."""
        with np.errstate(divide="ignore"):
            return float(np.log(probabilities[self._known, self._rows.action[self._known]]).mean())


def _is_simple(rows: ChoiceRows) -> bool:
    """Whether nothing distinguishes one row from another, so that shares of actions are the answer."""
    return rows.shared.shape[1] == 0 and rows.own is None and bool(rows.eligible.all())


def _clipped(probabilities: Floats, table: DecisionTable, floor: float) -> tuple[Floats, int]:
    """Probabilities of at least the floor where eligible, and the number of logged actions below it."""
    eligible, known = table.eligible, np.flatnonzero(table.action != UNKNOWN_ACTION)
    n_clipped = int((probabilities[known, table.action[known]] < floor).sum())
    low = eligible & (probabilities < floor)
    while True:
        # What is added to low ones is taken from the others in proportion, which may lower more of them.
        spare = np.where(low, 0.0, probabilities)
        total = spare.sum(axis=1, keepdims=True)
        left = 1.0 - floor * low.sum(axis=1, keepdims=True)
        scaled = spare * np.divide(left, total, out=np.ones_like(total), where=total > 0.0)
        lower = eligible & ~low & (scaled < floor)
        if not lower.any():
            return np.where(low, floor, scaled), n_clipped
        low |= lower
