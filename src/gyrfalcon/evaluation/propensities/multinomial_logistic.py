"""Multinomial logistic regression of actions on contexts, over the eligible actions of each row.

Action a has the log-odds w_a . (1, x) + v . phi(x, a), with x the shared features and phi those of actions;
its probability is the softmax over eligible actions. The penalised log-likelihood is concave, and L-BFGS
finds its maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from gyrfalcon.core.arrays import Bools, Floats, Ints

FREE = 1e-6
"""Penalty that makes intercepts unique, and those of actions without rows finite, and does no more."""
_MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRows:
    """Rows of choices among eligible actions.

    Parameters
    ----------
    shared
        Shared features, standardised, (n, p).
    own
        Features of actions, standardised, (n, K, q); None without.
    eligible
        Which actions could be chosen, (n, K).
    action
        Position of the chosen action, (n,).
    """

    shared: Floats
    own: Floats | None
    eligible: Bools
    action: Ints

    def take(self, rows: Ints) -> ChoiceRows:
        """The rows at these places."""
        own = None if self.own is None else self.own[rows]
        return ChoiceRows(self.shared[rows], own, self.eligible[rows], self.action[rows])

    @property
    def n_parameters(self) -> int:
        """Number of coefficients: p + 1 of each action, and q that actions share."""
        q = 0 if self.own is None else self.own.shape[2]
        return int(self.eligible.shape[1] * (self.shared.shape[1] + 1) + q)

    def log_probabilities(self, parameters: Floats) -> Floats:
        """Logarithms of the probabilities of all actions, (n, K); minus infinity where ineligible."""
        weights, common = self._parts(parameters)
        scores = self.shared @ weights[:, 1:].T + weights[:, 0]
        if self.own is not None:
            scores += self.own @ common
        return np.asarray(log_softmax(np.where(self.eligible, scores, -np.inf), axis=1))

    def loss(self, parameters: Floats, ridge: float, pooling: float = FREE) -> tuple[float, Floats]:
        """Mean negative log-likelihood with penalties on slopes and intercepts, and its gradient."""
        n, chosen = len(self.action), (np.arange(len(self.action)), self.action)
        weights, common = self._parts(parameters)
        logs = self.log_probabilities(parameters)
        residuals = np.exp(logs)
        residuals[chosen] -= 1.0
        penalty = np.full(weights.shape, ridge)
        penalty[:, 0] = pooling
        slopes = np.concatenate([residuals.sum(axis=0)[:, None], residuals.T @ self.shared], axis=1)
        gradient = [(slopes + penalty * weights).ravel()]
        value = -logs[chosen].sum() + 0.5 * (penalty * weights**2).sum()
        if self.own is not None:
            gradient.append(np.einsum("nk,nkq->q", residuals, self.own) + ridge * common)
            value += 0.5 * ridge * (common**2).sum()
        return float(value) / n, np.concatenate(gradient) / n

    def _parts(self, parameters: Floats) -> tuple[Floats, Floats]:
        n_actions, p = self.eligible.shape[1], self.shared.shape[1]
        size = n_actions * (p + 1)
        return parameters[:size].reshape(n_actions, p + 1), parameters[size:]


def fitted_choices(
    rows: ChoiceRows, ridge: float, pooling: float = FREE, start: Floats | None = None
) -> Floats:
    """The coefficients of largest penalised likelihood.

    Parameters
    ----------
    rows
        The choices to fit.
    ridge
        Penalty on squared slopes, in units of one row.
    pooling
        Penalty on squared intercepts; a large one makes actions equally likely at the mean of the features.
    start
        Coefficients to start from, such as those of another penalty.

    Returns
    -------
    Floats
        Coefficients for `ChoiceRows.log_probabilities`.
    """
    if start is None:
        start = np.zeros(rows.n_parameters)
        taken = np.bincount(rows.action, minlength=rows.eligible.shape[1]) + 0.5
        offered = rows.eligible.sum(axis=0) + 1.0
        start[:: rows.shared.shape[1] + 1][: len(taken)] = np.log(taken / offered)
    options: Any = {"maxiter": _MOST_STEPS, "gtol": 1e-9, "ftol": 1e-14, "maxcor": 20}
    found: Any = minimize(
        rows.loss, start, args=(ridge, pooling), jac=True, method="L-BFGS-B", options=options
    )
    return np.asarray(found.x, dtype=np.float64)
