"""Confidence sequences: capital as in a plain loop, bounds rounded outward, and what they look like."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import (
    bernstein_lower_bounds,
    bernstein_sequence,
)
from gyrfalcon.evaluation.intervals.sequences.bets import plug_in_bets
from gyrfalcon.evaluation.intervals.sequences.betting import betting_interval, betting_sequence
from gyrfalcon.evaluation.intervals.sequences.capital import log_capital, lower_bounds
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence

ERROR = 0.025
SAMPLES = {
    "beta": np.random.default_rng(1).beta(2.0, 5.0, 200),
    "Bernoulli": (np.random.default_rng(2).random(200) < 0.3).astype(float),
    "rare": (np.random.default_rng(3).random(200) < 0.02).astype(float),
    "ones": np.ones(200),
    "half": np.full(200, 0.5),
}
SAMPLE = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())


def looped_capital(scores: Floats, candidate: float, k: float = 0.0) -> list[float]:
    """The capital after each row, with products in a plain loop."""
    capital, capitals = 1.0, []
    total, squares, variance = 0.5, 0.25, 0.25
    for i, score in enumerate(scores / (k + 1.0), start=1):
        bet = math.sqrt(2.0 * math.log(1.0 / ERROR) / (variance * i * math.log(1.0 + i))) / (k + 1.0)
        if k + candidate > 0.0:
            bet = min(bet, 0.5 / (k + candidate))
        capital *= 1.0 + bet * (score * (k + 1.0) - candidate)
        capitals.append(capital)
        total += score
        squares += (score - total / (i + 1)) ** 2
        variance = squares / (i + 1)
    return capitals


@SAMPLE
@pytest.mark.parametrize("candidate", [0.0, 0.05, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("k", [0.0, 1.5])
def test_capital_is_that_of_a_plain_loop(sample: Floats, candidate: float, k: float) -> None:
    scores = sample * (1.0 + k) - k
    bets = plug_in_bets(scores / (k + 1.0), ERROR) / (k + 1.0)
    capital = log_capital(scores, np.array([candidate]), bets, np.full(len(scores), k), 0.5)
    assert np.exp(capital[0]) == pytest.approx(looped_capital(scores, candidate, k), rel=1e-9)


@pytest.mark.parametrize("k", [0.0, 1.5])
def test_bernstein_bounds_are_those_of_a_plain_loop(k: float) -> None:
    scores = np.where(SAMPLES["Bernoulli"] == 1.0, 9.0, -k)  # their mean is far above the cut of the center
    expected, past = [], 0.0
    gain, penalty, weight = 0.0, 0.0, 0.0
    for i, (score, bet) in enumerate(zip(scores, plug_in_bets(scores / (k + 1.0), ERROR), strict=True)):
        limited, scaled = min(bet, 0.5), score / (k + 1.0)
        center = min(past / i if i else 0.0, 1.0 / (k + 1.0))
        gain += limited * scaled
        penalty += (scaled - center) ** 2 * (-math.log(1.0 - limited) - limited)
        weight += limited / (k + 1.0)
        expected.append((gain - penalty - math.log(1.0 / ERROR)) / weight)
        past += scaled
    assert bernstein_lower_bounds(scores, np.full(len(scores), k), ERROR) == pytest.approx(expected)


@SAMPLE
@pytest.mark.parametrize("k", [0.0, 1.5])
def test_capital_decreases_in_the_candidate(sample: Floats, k: float) -> None:
    scores, truncation = sample * (1.0 + k) - k, np.full(len(sample), k)
    capital = log_capital(scores, np.linspace(0.0, 1.0, 101), plug_in_bets(scores, ERROR), truncation)
    assert (np.diff(capital, axis=0) <= 1e-9).all()


@SAMPLE
@pytest.mark.parametrize("resolution", [1, 7, 500])
def test_bounds_are_rounded_outward(sample: Floats, resolution: int) -> None:
    fine = np.linspace(0.0, 1.0, 4_001)
    bets, none = plug_in_bets(sample, ERROR), np.zeros(len(sample))
    refused = np.maximum.accumulate(log_capital(sample, fine, bets, none), axis=1) >= math.log(1.0 / ERROR)
    smallest_kept = np.where(refused.all(axis=0), 1.0, fine[refused.argmin(axis=0)])
    bounds = lower_bounds(sample, none, ERROR, resolution)
    assert (bounds <= smallest_kept).all()
    if resolution == 500:
        assert (bounds >= smallest_kept - 1.0 / 4_000 - 1.0 / resolution).all()


@SAMPLE
@pytest.mark.parametrize("sequence", [betting_sequence, bernstein_sequence])
def test_bounds_never_widen_and_stay_in_range(sample: Floats, sequence: Callable[..., object]) -> None:
    bounds = sequence(sample, (0.0, 1.0))
    assert isinstance(bounds, ConfidenceSequence)
    assert (np.diff(bounds.low) >= 0.0).all()
    assert (np.diff(bounds.high) <= 0.0).all()
    assert (bounds.low <= bounds.high).all()
    assert bounds.low.min() >= 0.0
    assert bounds.high.max() <= 1.0


@SAMPLE
def test_the_last_bounds_do_not_depend_on_the_resolution(sample: Floats) -> None:
    last = betting_sequence(sample, (0.0, 1.0), resolution=100).last
    assert last == betting_interval(sample, (0.0, 1.0))


def test_bounds_after_some_rows_are_about_those_of_these_rows_alone() -> None:
    sample = SAMPLES["beta"]
    sequence = betting_sequence(sample, (0.0, 1.0))
    for n_rows in (1, 50, 120, 200):
        alone, within = betting_interval(sample[:n_rows], (0.0, 1.0)), sequence.after(n_rows)
        assert within.low <= alone.low + 1e-12
        assert within.high >= alone.high - 1e-12
        assert (within.low, within.high) == pytest.approx((alone.low, alone.high), abs=2e-3)


def test_a_mean_that_changes_empties_the_sequence_and_the_row_is_named() -> None:
    sample = np.repeat([0.1, 0.9], 400)
    sequence = betting_sequence(sample, (0.0, 1.0))
    assert sequence.empty_from is not None
    assert 400 <= sequence.empty_from < 800
    assert (sequence.low <= sequence.high).all()
    assert "empty_from" in repr(sequence)


def test_sequences_say_how_many_rows_they_have() -> None:
    sequence = bernstein_sequence(np.full(3, 0.5), (0.0, 1.0))
    assert len(sequence) == 3
    assert sequence.last == sequence.after(3)
    with pytest.raises(ValueError, match="n_rows is 4; give a whole number from 1 to 3"):
        sequence.after(4)
