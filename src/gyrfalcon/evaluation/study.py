"""One evaluation in progress: rows, predictions and methods, by which each policy is valued."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.diagnostics import WeightDiagnostics
from gyrfalcon.evaluation.estimator_table import EstimatorInputs, EstimatorRow, on_policy
from gyrfalcon.evaluation.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.evaluation import PolicyValue
from gyrfalcon.evaluation.interval_table import (
    IntervalEstimate,
    IntervalInputs,
    IntervalRow,
    interval_estimate,
    paired_difference,
)
from gyrfalcon.evaluation.intervals.betting import betting_sequence
from gyrfalcon.evaluation.intervals.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.preflight import (
    change_reason,
    dependence_on_log,
    rows_reason,
    sequence_reason,
    spread_reasons,
    weight_reasons,
)
from gyrfalcon.evaluation.refusals import check_probabilities
from gyrfalcon.evaluation.targets import FixedTarget, LoggedTarget, PolicyTarget, TargetPolicy, UniformTarget
from gyrfalcon.evaluation.value_sequence import value_sequence
from gyrfalcon.evaluation.verdict import Level, Reason, Verdict
from gyrfalcon.evaluation.weighting import (
    EpochProxies,
    TargetWeights,
    expected_proxies,
    planned_uniform,
    supported_proxies,
)

_OF_LOGGED_PLAY = frozenset({"missing rewards", "reward range", "adaptivity"})
"""Checks of the log that matter to its mean reward."""


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    """A policy's contributions and interval, before they are reported."""

    weights: TargetWeights
    inputs: IntervalInputs
    estimate: IntervalEstimate
    sequence: ConfidenceSequence | None
    sequence_note: str
    is_logged: bool
    is_learned: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Study:
    """Evaluated rows of a table with the methods by which policies are valued on them."""

    given: DecisionTable
    rows: EvaluatedRows
    epochs: Ints | None
    bounds: tuple[float, float] | None
    estimator: EstimatorRow
    interval: IntervalRow
    level: float
    predictions: Floats | None
    max_weight: float | None
    shrinkage: float | None
    logged_policies: Mapping[Hashable, TargetPolicy] = field(default_factory=dict)
    """Policies that decided, by content hash."""
    computed: dict[int, Floats | None] = field(default_factory=dict)
    """Distributions of epochs' policies on earlier contexts, so far."""

    @property
    def is_adaptive(self) -> bool:
        """Whether several policies took turns in the log, so that later ones may follow earlier rewards."""
        if self.epochs is None:
            return False
        return len(np.unique(self.epochs[~planned_uniform(self.rows)])) > 1

    def method_reasons(self) -> Iterator[Reason]:
        """What to beware of in the chosen estimator and interval."""
        if self.estimator.caution:
            level: Level = "caution" if self.estimator.is_biased else "trust"
            yield Reason(level, "estimator", f"{self.estimator.title}: {self.estimator.caution}")
        if self.interval.caution:
            level = "caution" if self.is_adaptive else "trust"
            yield Reason(level, "interval", f"{self.interval.title}: {self.interval.caution}")

    def valued(self, target: TargetPolicy, name: str) -> Valued:
        """Contributions, interval and sequence of a policy."""
        rows, is_logged = self.rows, isinstance(target, LoggedTarget)
        is_weighted = self.estimator.needs_propensities
        if is_logged:
            weights = TargetWeights.of_logged_play(rows)
            contributions = on_policy(rows.table).contributions
        else:
            probabilities = self._probabilities(target, name)
            weights = (
                TargetWeights.of(probabilities, rows)
                if is_weighted
                else TargetWeights.unweighted(probabilities)
            )
            contributions = self.estimator.estimate(self._estimator_inputs(weights)).contributions
        varies = is_weighted and not is_logged
        prior = float(rows.table.n_actions) if varies else 1.0
        under = self._proxies_under(weights.target) if varies else None
        inputs = IntervalInputs(
            contributions=contributions,
            expected=expected_proxies(weights.proxies, self.epochs, prior, under),
            level=self.level,
            rows=rows,
            weights=weights,
            epochs=self.epochs,
            bounds=self.bounds,
            predictions=None if is_logged else self.predictions,
            policies=None if is_logged else self._policies_on_all_rows(),
        )
        sequence, note = self._sequence(weights, is_logged=is_logged)
        return Valued(
            weights=weights,
            inputs=inputs,
            estimate=interval_estimate(self.interval, inputs),
            sequence=sequence,
            sequence_note=note,
            is_logged=is_logged,
            is_learned=isinstance(target, PolicyTarget) and target.is_learned,
        )

    def result(
        self, name: str, valued: Valued, base: Valued | None, about_log: tuple[Reason, ...]
    ) -> PolicyValue:
        """The reported value of a policy, with its verdict and its difference to a baseline."""
        row_weights = self.interval.row_weights
        diagnostics = WeightDiagnostics.of(
            valued.weights,
            self.rows,
            None if row_weights is None else row_weights(valued.inputs),
            valued.estimate.spread,
        )
        difference = None if base is None else self._difference(valued, base)
        sequence = None if valued.sequence is None else valued.sequence.last
        return PolicyValue(
            name=name,
            verdict=Verdict.of(self._reasons(valued, diagnostics, about_log)),
            value=valued.estimate.value,
            standard_error=valued.estimate.standard_error,
            interval=valued.estimate.interval,
            plain_value=float(valued.inputs.contributions.mean()),
            sequence=sequence,
            sequence_note=valued.sequence_note,
            difference=None if difference is None else difference.value,
            difference_error=None if difference is None else difference.standard_error,
            difference_interval=None if difference is None else difference.interval,
            weights=diagnostics,
            contributions=valued.inputs.contributions,
            importance=valued.weights.weights,
        )

    def _reasons(
        self, valued: Valued, diagnostics: WeightDiagnostics, about_log: tuple[Reason, ...]
    ) -> Iterator[Reason]:
        if valued.is_logged:
            yield from (reason for reason in about_log if reason.check in _OF_LOGGED_PLAY)
            yield rows_reason(diagnostics)
            yield from spread_reasons(valued.inputs.contributions, valued.estimate)
            return
        yield from about_log
        if self.estimator.needs_propensities:
            yield from weight_reasons(diagnostics)
            yield from spread_reasons(valued.inputs.contributions, valued.estimate)
            yield change_reason(valued.inputs.contributions)
        if valued.is_learned:
            yield dependence_on_log()
        if valued.sequence is not None:
            yield sequence_reason(valued.sequence, valued.estimate.interval, self.rows)

    def _policies_of_epochs(self) -> list[TargetPolicy | None]:
        """The policy of each epoch number; None where it is unknown."""
        models = self.rows.table.model
        if self.epochs is None:
            return []
        even = planned_uniform(self.rows)
        first = np.unique(self.epochs, return_index=True)[1].tolist()
        return [
            UniformTarget()
            if even[row]
            else self.logged_policies.get(None if models is None else models[row])
            for row in first
        ]

    def _proxies_under(self, target: Floats) -> EpochProxies | None:
        """Variance proxies of the target under the policy of an epoch, on the contexts of other rows."""
        policies = self._policies_of_epochs()

        def under(epoch: int, places: Ints) -> Floats | None:
            policy = policies[epoch]
            if policy is None:
                return None
            # The same contexts come up for each target.
            if epoch not in self.computed:
                self.computed[epoch] = _distribution(policy, self.rows.table.take(places))
            chances = self.computed[epoch]
            return None if chances is None else supported_proxies(target[places], chances)

        return under if any(policy is not None for policy in policies) else None

    def _policies_on_all_rows(self) -> Callable[[], Iterator[Floats]] | None:
        """Distributions in every row under each epoch's policy, if all of them are known."""
        found = self._policies_of_epochs()
        known = [policy for policy in found if policy is not None]
        if not known or len(known) < len(found):
            return None
        return lambda: (np.asarray(policy(self.rows.table), dtype=np.float64) for policy in known)

    def _difference(self, valued: Valued, base: Valued) -> IntervalEstimate | None:
        differences = valued.inputs.contributions - base.inputs.contributions
        inputs = replace(valued.inputs, contributions=differences)
        return paired_difference(self.interval, valued.estimate, base.estimate, inputs)

    def _estimator_inputs(self, weights: TargetWeights) -> EstimatorInputs:
        return EstimatorInputs(
            table=self.rows.table,
            target=weights.target,
            predictions=self.predictions,
            mean_squared_weight=float(weights.proxies.mean()),
            max_weight=self.max_weight,
            shrinkage=self.shrinkage,
        )

    def _probabilities(self, target: TargetPolicy, name: str) -> Floats:
        """The target's probabilities in the evaluated rows, refused where they are none."""
        table = self.rows.table
        if isinstance(target, FixedTarget):
            probabilities = target(self.given)[self.rows.places]
        else:
            probabilities = np.asarray(target(table), dtype=np.float64)
        check_probabilities(probabilities, table, name)
        return probabilities

    def _sequence(self, weights: TargetWeights, *, is_logged: bool) -> tuple[ConfidenceSequence | None, str]:
        """The betting sequence, and what it presumes or why there is none."""
        rewards, bounds, note = self.rows.table.reward, self.bounds, ""
        low, high = float(rewards.min()), float(rewards.max())
        if bounds is None:
            bounds = low, high
            note = f"It presumes that no reward lies outside of those observed, from {low:g} to {high:g}."
        if is_logged and self.is_adaptive:
            return (
                None,
                "The logged play changed over time, so that a sequence of its mean reward has no target.",
            )
        if not self.estimator.needs_propensities:
            return None, "It needs propensities, which this estimator does without."
        if low == high and self.bounds is None:
            return None, "All rewards are equal, and no range is known."
        if is_logged:
            return betting_sequence(rewards, bounds, self.level, resolution=1), note
        sequence = value_sequence(weights, self.rows, bounds, self.level, predictions=self.predictions)
        return sequence, note


def _distribution(policy: TargetPolicy, table: DecisionTable) -> Floats | None:
    """What a logged policy would have done in these rows; None if it does not know their actions."""
    try:
        return np.asarray(policy(table), dtype=np.float64)
    except ValueError:
        return None
