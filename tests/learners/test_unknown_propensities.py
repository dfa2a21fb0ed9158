"""Rows of unknown propensity in AdaptiveFalcon: in the pooled fit, and in nothing that weights rows."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.learners.adaptive.class_selection import ClassComparison, Predictions
from gyrfalcon.learners.adaptive.pooled_fit import GateStatistics
from gyrfalcon.learners.adaptive.value_gate import ALTERNATIVES, ValueGate
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel

K = 3


def log_of(n: int = 80, share_unknown: float = 0.5, seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    propensity = np.where(rng.random(n) < share_unknown, np.nan, rng.uniform(0.1, 0.9, n))
    zeros = np.zeros(n, dtype=np.int64)
    contexts = Contexts(rng.normal(size=(n, 2)))
    return Log(
        contexts, rng.integers(0, K, n), rng.random(n), propensity, zeros, np.arange(n), zeros + POLICY
    )


def oracle_of(log: Log) -> LinearOracle:
    return Linear(ridge=1.0).oracle(log.contexts, K)


def model_of(oracle: LinearOracle, seed: int) -> LinearModel:
    model, _ = oracle.confident(oracle.summed(replace(log_of(seed=seed)), oracle.empty(), penalised=True))
    return model.model


def test_only_known_rows_are_importance_weighted_and_all_are_pooled() -> None:
    log = log_of()
    oracle = oracle_of(log)
    none = oracle.empty()
    start = GateStatistics(none, none, none)
    mixed = start.with_rows(oracle, log, pooled_only=False)
    known = start.with_rows(oracle, log.where(log.has_propensity), pooled_only=False)
    assert mixed.pooled.n == 80
    assert known.pooled.n == np.count_nonzero(log.has_propensity)
    assert mixed.passive.n == mixed.n_passive == 0.0
    np.testing.assert_array_equal(mixed.importance_weighted.gram, known.importance_weighted.gram)
    np.testing.assert_array_equal(mixed.importance_weighted.cross, known.importance_weighted.cross)
    nobody = start.with_rows(oracle, log_of(share_unknown=1.0), pooled_only=False)
    assert nobody.importance_weighted.n == 0.0


def test_the_value_gate_is_evaluated_on_known_rows_alone() -> None:
    log = log_of()
    oracle = oracle_of(log)
    gate = ValueGate(models=tuple(model_of(oracle, seed) for seed in range(len(ALTERNATIVES))))
    pooled = model_of(oracle, 9)
    mixed, known = gate.evaluated(pooled, log), gate.evaluated(pooled, log.where(log.has_propensity))
    assert mixed.gains is not None
    assert known.gains is not None
    assert mixed.gains.count == known.gains.count == np.count_nonzero(log.has_propensity)
    np.testing.assert_array_equal(mixed.gains.total, known.gains.total)
    unknown = log_of(share_unknown=1.0)
    assert gate.evaluated(pooled, unknown).gains is None
    later = mixed.evaluated(pooled, unknown, retention=0.5)
    assert later.gains is not None
    np.testing.assert_array_equal(later.gains.total, 0.5 * mixed.gains.total)


def test_classes_are_compared_on_all_rows_alike() -> None:
    log = log_of()
    rng = np.random.default_rng(5)
    given = [Predictions(rng.random(80), rng.random(80), 0.1) for _ in range(2)]
    mixed = ClassComparison.none(2).updated(given, log, 80.0)
    known = replace(log, propensity=np.full(80, 0.5))
    assert mixed.weights[0, 1] == 80.0 * 80.0
    for field in fields(mixed):
        one, other = (
            getattr(each, field.name) for each in (mixed, ClassComparison.none(2).updated(given, known, 80.0))
        )
        np.testing.assert_array_equal(one, other)
