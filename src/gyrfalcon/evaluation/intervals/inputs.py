"""What intervals of a value compute from: contributions of rows, and how these came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.evaluation.intervals.epoch_policies import EpochPolicies
from gyrfalcon.evaluation.intervals.validation import Bounds
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.weighting import TargetWeights


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntervalInputs:
    """What intervals compute from: contributions of rows in the order of time, and what their weights need.

    Parameters
    ----------
    contributions
        Estimates of the value from one row each, (n,).
    expected
        Means of the variance proxies of earlier rows, (n,).
    level
        Probability of covering.
    rows
        The evaluated rows.
    weights
        The target and its importance weights.
    epochs
        Number of the policy in play in each row, (n,); None where unknown.
    bounds
        Lowest and highest reward; None where unknown.
    predictions
        Predicted rewards of all actions, (n, K); None without a model.
    policies
        Probabilities of all actions in every row under each policy that decided, one after the other, in the
        order of the numbers in `epochs`; None where one of these policies is unknown.
    reweighted
        What the estimator makes of importance weights; None where its contributions are no function of their
        own row alone.
    is_logged
        Whether contributions are the rewards themselves, as those of the logged play are.
    """

    contributions: Floats
    expected: Floats
    level: float
    rows: EvaluatedRows
    weights: TargetWeights
    epochs: Ints | None = None
    bounds: Bounds | None = None
    predictions: Floats | None = None
    policies: Callable[[], Iterator[Floats]] | None = None
    reweighted: Callable[[Floats], Floats] | None = None
    is_logged: bool = False

    @property
    def model(self) -> Floats:
        """Predicted rewards of all actions, (n, K); 0 without a model."""
        return np.zeros(self.weights.target.shape) if self.predictions is None else self.predictions

    def epoch_policies(self) -> EpochPolicies:
        """What every policy that decided would have done in every row."""
        if self.policies is None or self.epochs is None:
            raise ValueError("this interval needs every policy that decided; choose interval='minvar'.")
        played = map(self._supported, self.policies())
        return EpochPolicies.of(played, self.epochs, self.rows.table.action, self.weights.target)

    def _supported(self, chances: Floats) -> Floats:
        """Probabilities of one policy that decided, refused where the target may do what it never does."""
        wrong = np.argwhere((self.weights.target > 0.0) & ~(chances > 0.0))
        if len(wrong):
            row, action = wrong[0].tolist()
            table = self.rows.table
            raise ValueError(
                f"row {table.rows[row]}: one of the policies that decided would never take "
                f"{short_repr(table.actions[action])} there, and the policy in question may; choose "
                "interval='minvar', or a policy within what all of them do."
            )
        return chances

    def contribution_bounds(self) -> Bounds:
        """The smallest and the largest contribution that these contexts permit, whatever is drawn in them.

        A contribution is linear in the reward, so that it is extreme at an end of the range of rewards, for
        one of the actions that the log could take.
        """
        if self.bounds is None or not (self.is_logged or self.rows.known.all()):
            raise ValueError(
                "empirical Bernstein intervals need a reward range and the distribution of every row; "
                "give reward_range, or choose interval='minvar'."
            )
        if self.is_logged:
            return self.bounds
        if self.reweighted is None:
            raise ValueError(
                "empirical Bernstein intervals need contributions with bounds, which self-normalised weights "
                "don't give; choose estimator='dr' or 'ips', or interval='minvar'."
            )
        chances, target, model = self.rows.distribution, self.weights.target, self.model
        assert chances is not None
        possible = chances > 0.0
        ratios = np.divide(target, chances, out=np.zeros(target.shape), where=possible)
        used = self.reweighted(ratios)
        direct = (target * model).sum(axis=1, keepdims=True)
        low, high = (direct + used * (reward - model) for reward in self.bounds)
        return float(low[possible].min()), float(high[possible].max())
