"""Properties of intervals: level, units and order of rows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.adaptive_weights import weighted_interval
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_sequence
from gyrfalcon.evaluation.intervals.sequences.betting import betting_interval
from gyrfalcon.evaluation.intervals.validation import Bounds

Method = Callable[[Floats, Bounds, float], Interval]


def bernstein_last(column: Floats, bounds: Bounds, level: float) -> Interval:
    return bernstein_sequence(column, bounds, level).last


def weighted(column: Floats, bounds: Bounds, level: float) -> Interval:
    return weighted_interval(column, np.arange(1.0, 1.0 + len(column)), level)


ANY_ORDER: dict[str, Method] = {
    "normal": lambda column, _, level: normal_interval(column, level),
    "empirical Bernstein": empirical_bernstein_interval,
}
IN_TIME: dict[str, Method] = {
    "bootstrap": lambda column, _, level: bootstrap_interval(column, level, n_resamples=50),
    "weighted": weighted,
    "betting": betting_interval,
    "Bernstein sequence": bernstein_last,
}
EVERY = pytest.mark.parametrize(
    "method", [*ANY_ORDER.values(), *IN_TIME.values()], ids=[*ANY_ORDER, *IN_TIME]
)

columns = st.lists(st.integers(0, 64), min_size=2, max_size=60).map(lambda units: np.array(units) / 64.0)
levels = st.floats(0.5, 0.99)


@EVERY
@settings(max_examples=30)
@given(columns, st.floats(-50.0, 50.0), st.floats(0.01, 50.0), levels)
def test_bounds_follow_the_units(
    method: Method, column: Floats, shift: float, scale: float, level: float
) -> None:
    first = method(column, (0.0, 1.0), level)
    second = method(shift + scale * column, (shift, shift + scale), level)
    expected = [shift + scale * first.low, shift + scale * first.high]
    assert [second.low, second.high] == pytest.approx(expected, abs=1e-5 * scale)


@EVERY
@settings(max_examples=30)
@given(columns, levels)
def test_turning_the_sign_turns_the_bounds(method: Method, column: Floats, level: float) -> None:
    first, second = method(column, (0.0, 1.0), level), method(-column, (-1.0, 0.0), level)
    assert [-second.high, -second.low] == pytest.approx([first.low, first.high], abs=1e-6)


@pytest.mark.parametrize("method", ANY_ORDER.values(), ids=ANY_ORDER.keys())
@settings(max_examples=30)
@given(columns, levels, st.randoms(use_true_random=False))
def test_order_does_not_matter_for_independent_rows(
    method: Method, column: Floats, level: float, random: Random
) -> None:
    shuffled = list(column)
    random.shuffle(shuffled)
    first, second = method(column, (0.0, 1.0), level), method(np.array(shuffled), (0.0, 1.0), level)
    assert [second.low, second.high] == pytest.approx([first.low, first.high], abs=1e-12)


@settings(max_examples=30)
@given(columns, levels, st.randoms(use_true_random=False))
def test_rows_may_change_places_with_their_weights(column: Floats, level: float, random: Random) -> None:
    order = list(range(len(column)))
    random.shuffle(order)
    weights = np.arange(1.0, 1.0 + len(column))
    first, second = (
        weighted_interval(column, weights, level),
        weighted_interval(column[order], weights[order], level),
    )
    assert [second.low, second.high] == pytest.approx([first.low, first.high], abs=1e-12)


@pytest.mark.parametrize(
    "method",
    [*ANY_ORDER.values(), IN_TIME["bootstrap"], IN_TIME["weighted"]],
    ids=[*ANY_ORDER, "bootstrap", "weighted"],
)
@settings(max_examples=30)
@given(columns, levels, levels)
def test_a_higher_level_gives_no_narrower_interval(
    method: Method, column: Floats, level: float, other: float
) -> None:
    low, high = sorted((level, other))
    inner, outer = method(column, (0.0, 1.0), low), method(column, (0.0, 1.0), high)
    assert outer.low <= inner.low + 1e-12
    assert outer.high >= inner.high - 1e-12


@pytest.mark.parametrize("method", [betting_interval, bernstein_last])
def test_a_higher_level_gives_wider_sequences_of_many_rows(method: Method) -> None:
    column = np.random.default_rng(5).beta(2.0, 5.0, 2_000)
    widths = [method(column, (0.0, 1.0), level).width for level in (0.6, 0.8, 0.9, 0.95, 0.99)]
    assert widths == sorted(widths)


def test_order_matters_for_sequences() -> None:
    column = np.repeat([0.2, 0.8], 50)
    assert betting_interval(column, (0.0, 1.0)) != betting_interval(column[::-1], (0.0, 1.0))
