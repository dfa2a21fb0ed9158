"""One evaluation in progress: rows, predictions and methods, by which each policy is valued."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.estimators.by_name import EstimatorRow, on_policy
from gyrfalcon.evaluation.estimators.inputs import TUNED, EstimatorInputs, Limit
from gyrfalcon.evaluation.evaluation import PolicyValue
from gyrfalcon.evaluation.intervals.by_name import (
    INTERVALS,
    IntervalEstimate,
    IntervalRow,
    interval_estimate,
    paired_difference,
)
from gyrfalcon.evaluation.intervals.inputs import IntervalInputs
from gyrfalcon.evaluation.intervals.sequences.betting import betting_sequence
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.sequences.value_sequence import value_sequence
from gyrfalcon.evaluation.intervals.validation import Bounds
from gyrfalcon.evaluation.policies.logged_policies import LoggedPolicies
from gyrfalcon.evaluation.policies.targets import FixedTarget, LoggedTarget, PolicyTarget, TargetPolicy
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.merged_actions import MergedActions
from gyrfalcon.evaluation.rows.weighting import TargetWeights, expected_proxies, planned_uniform
from gyrfalcon.evaluation.verdict.diagnostics import WeightDiagnostics
from gyrfalcon.evaluation.verdict.preflight import unused_range
from gyrfalcon.evaluation.verdict.refusals import check_probabilities, policy_failure, refuse_own_weights
from gyrfalcon.evaluation.verdict.value_reasons import (
    change_reason,
    dependence_on_log,
    limit_reason,
    sequence_reason,
    spread_reasons,
)
from gyrfalcon.evaluation.verdict.verdict import Level, Reason, Verdict
from gyrfalcon.evaluation.verdict.weight_reasons import rows_reason, weight_reasons

_OF_LOGGED_PLAY = frozenset({"missing rewards", "reward range", "adaptivity"})
"""Checks of the log that matter to its mean reward."""


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    """A policy's contributions and interval, before they are reported."""

    inputs: IntervalInputs
    method: IntervalRow
    estimate: IntervalEstimate
    sequence: ConfidenceSequence | None
    sequence_note: str
    is_learned: bool = False
    limit: Reason | None = None

    @property
    def weights(self) -> TargetWeights:
        """The policy on the evaluated rows."""
        return self.inputs.weights

    @property
    def is_logged(self) -> bool:
        """Whether the policy is the play that was logged."""
        return self.inputs.is_logged


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
    max_weight: Limit = None
    shrinkage: Limit = None
    logged_policies: Mapping[Hashable, TargetPolicy] = field(default_factory=dict)
    """Policies that decided, by content hash."""
    merged: MergedActions | None = None
    """How actions of the table are merged in the rows; None where they are not."""
    policies: LoggedPolicies = field(init=False)

    def __post_init__(self) -> None:
        policies = LoggedPolicies(self.rows, self.epochs, self.logged_policies)
        object.__setattr__(self, "policies", policies)
        if self.interval.needs_policies:
            policies.refuse_unknown(self.interval.title)
            refuse_own_weights(self.estimator, self.interval)

    @property
    def is_adaptive(self) -> bool:
        """Whether several policies took turns in the log, so that later ones may follow earlier rewards."""
        if self.epochs is None:
            return False
        return len(np.unique(self.epochs[~planned_uniform(self.rows)])) > 1

    @property
    def is_tuned(self) -> bool:
        """Whether the limit of weights is the one of the least estimated squared error."""
        return TUNED in (self.max_weight, self.shrinkage)

    def method_reasons(self) -> Iterator[Reason]:
        """What to beware of in the chosen estimator and interval."""
        if self.merged is not None:
            yield Reason("caution", "marginalisation", self.merged.caution)
        if self.estimator.caution:
            level: Level = "caution" if self.estimator.is_biased else "trust"
            yield Reason(level, "estimator", f"{self.estimator.title}: {self.estimator.caution}")
        if self.interval.caution:
            level = "caution" if self.is_adaptive else "trust"
            yield Reason(level, "interval", f"{self.interval.title}: {self.interval.caution}")

    def valued(self, target: TargetPolicy, name: str) -> Valued:
        """Contributions, interval and sequence of a policy."""
        if isinstance(target, LoggedTarget):
            return self._valued_play()
        table = self.rows.table
        probabilities = self._probabilities(target, name)
        is_weighted = self.estimator.needs_propensities
        weights = (
            TargetWeights.of(probabilities, self.rows)
            if is_weighted
            else TargetWeights.unweighted(probabilities)
        )
        given = self._estimator_inputs(weights)
        expected = np.ones(len(table))
        if is_weighted:
            under, rates = self.policies.proxies_under(weights.target), weights.bounded(self.rows)
            expected = expected_proxies(rates, self.epochs, float(table.n_actions), under)
        inputs = IntervalInputs(
            contributions=self.estimator.estimate(given).contributions,
            expected=expected,
            level=self.level,
            rows=self.rows,
            weights=weights,
            epochs=self.epochs,
            bounds=self.bounds,
            predictions=self.predictions,
            policies=self.policies.on_all_rows(),
            reweighted=None if self.estimator.reweighting is None else self.estimator.reweighting(given),
        )
        sequence, note = self._sequence(weights)
        return Valued(
            inputs=inputs,
            method=self.interval,
            estimate=interval_estimate(self.interval, inputs),
            sequence=sequence,
            sequence_note=note,
            is_learned=isinstance(target, PolicyTarget) and target.is_learned,
            limit=limit_reason(self.estimator, given, is_tuned=self.is_tuned),
        )

    def _valued_play(self) -> Valued:
        """Mean reward of the logged play, whose rows have weights of 1."""
        inputs = IntervalInputs(
            contributions=on_policy(self.rows.table).contributions,
            expected=np.ones(len(self.rows.table)),
            level=self.level,
            rows=self.rows,
            weights=TargetWeights.of_logged_play(self.rows),
            epochs=self.epochs,
            bounds=self.bounds,
            is_logged=True,
        )
        method = INTERVALS["normal"] if self.interval.needs_policies else self.interval
        sequence, note = self._sequence_of_play()
        return Valued(
            inputs=inputs,
            method=method,
            estimate=interval_estimate(method, inputs),
            sequence=sequence,
            sequence_note=note,
        )

    def result(
        self, name: str, valued: Valued, base: Valued | None, about_log: tuple[Reason, ...]
    ) -> PolicyValue:
        """The reported value of a policy, with its verdict and its difference to a baseline."""
        weighting = valued.method.row_weights
        row_weights = np.ones(len(self.rows.table)) if weighting is None else weighting(valued.inputs)
        diagnostics = WeightDiagnostics.of(
            valued.weights, self.rows, None if weighting is None else row_weights, valued.estimate.spread
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
            row_weights=row_weights / row_weights.mean(),
        )

    def _reasons(
        self, valued: Valued, diagnostics: WeightDiagnostics, about_log: tuple[Reason, ...]
    ) -> Iterator[Reason]:
        if valued.is_logged:
            yield from (reason for reason in about_log if reason.check in _OF_LOGGED_PLAY)
            yield rows_reason(diagnostics)
            yield from spread_reasons(valued.inputs, valued.estimate)
            return
        yield from about_log
        if self.estimator.needs_propensities:
            yield from weight_reasons(diagnostics)
            yield from spread_reasons(valued.inputs, valued.estimate)
            yield change_reason(valued.inputs.contributions)
        if valued.limit is not None:
            yield valued.limit
        if valued.is_learned:
            yield dependence_on_log()
        if valued.sequence is not None:
            yield sequence_reason(valued.sequence, valued.estimate.interval, self.rows)

    def _difference(self, valued: Valued, base: Valued) -> IntervalEstimate | None:
        differences = valued.inputs.contributions - base.inputs.contributions
        inputs = replace(valued.inputs, contributions=differences)
        return paired_difference(valued.method, valued.estimate, base.estimate, inputs)

    def _estimator_inputs(self, weights: TargetWeights) -> EstimatorInputs:
        """What the estimator computes from, with limits of weights as numbers, or None for the default."""
        inputs = EstimatorInputs(
            table=self.rows.table,
            target=weights.target,
            predictions=self.predictions,
            mean_squared_weight=float(weights.proxies.mean()),
            max_weight=None if isinstance(self.max_weight, str) else self.max_weight,
            shrinkage=None if isinstance(self.shrinkage, str) else self.shrinkage,
            distribution=self.rows.distribution if self.rows.known.all() else None,
            bounds=self.bounds,
        )
        limit = self.estimator.limit
        if not self.is_tuned or limit is None or limit.tuned is None:
            return inputs
        return inputs.limited(limit.name, limit.tuned(inputs))

    def _probabilities(self, target: TargetPolicy, name: str) -> Floats:
        """The target's probabilities in the evaluated rows, refused where they are none."""
        places, is_fixed = self.rows.places, isinstance(target, FixedTarget)
        table = self.rows.table if self.merged is None else self.given.take(places)
        try:
            probabilities = target(self.given if is_fixed else table)
        except Exception as error:
            raise policy_failure(name, error) from error
        probabilities = np.asarray(probabilities[places] if is_fixed else probabilities, np.float64)
        check_probabilities(probabilities, table, name)
        return probabilities if self.merged is None else self.merged.sums(probabilities, places)

    def _sequence(self, weights: TargetWeights) -> tuple[ConfidenceSequence | None, str]:
        """The betting sequence, and what it presumes or why there is none."""
        if not self.estimator.needs_propensities:
            return None, "It needs propensities, which this estimator does without."
        bounds, note = self._reward_bounds()
        if bounds is None:
            return None, note
        sequence = value_sequence(weights, self.rows, bounds, self.level, predictions=self.predictions)
        return sequence, note

    def _sequence_of_play(self) -> tuple[ConfidenceSequence | None, str]:
        """The betting sequence of the mean reward, and what it presumes or why there is none."""
        if self.is_adaptive:
            return (
                None,
                "The logged play changed over time, so that a sequence of its mean reward has no target.",
            )
        bounds, note = self._reward_bounds()
        if bounds is None:
            return None, note
        return betting_sequence(self.rows.table.reward, bounds, self.level, resolution=1), note

    def _reward_bounds(self) -> tuple[Bounds | None, str]:
        """The range of rewards for bets, and that it was observed where none is known."""
        if self.bounds is not None:
            return self.bounds, unused_range(self.rows, self.bounds)
        low, high = float(self.rows.table.reward.min()), float(self.rows.table.reward.max())
        if low == high:
            return None, "All rewards are equal, and no range is known."
        return (
            (low, high),
            f"It presumes that no reward lies outside of those observed, from {low:g} to {high:g}.",
        )
