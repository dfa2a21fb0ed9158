"""Comparison of classes: predictive log-likelihoods of the same rows by hand, and which class is active."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import (
    ClassComparison,
    Predictions,
    log_scores,
    mean_within,
)
from gyrfalcon.learners.reward_scale import COIN, RewardScale

K = 3


def log_of(n: int, seed: int, propensity: float = 0.5) -> Log:
    rng = np.random.default_rng(seed)
    zeros = np.zeros(n, dtype=np.int64)
    action, reward = rng.integers(0, K, n), rng.random(n)
    return Log(Contexts(np.empty((n, 0))), action, reward, np.full(n, propensity), zeros, zeros, zeros)


def predictions(n: int, seed: int, leverage: float | None = None, noise: float = 0.1) -> Predictions:
    rng = np.random.default_rng([seed, 1])
    leverages = rng.exponential(0.3, n) if leverage is None else np.full(n, leverage)
    return Predictions(rng.normal(0.5, 0.2, n), leverages, noise)


def densities(given: Predictions, log: Log) -> Floats:
    """The logarithm of the density that a class gave to each reward, with its own noise."""
    scale = np.sqrt(given.noise * (1.0 + given.leverages))
    return np.asarray(stats.norm.logpdf(log.reward, given.estimates, scale))


def comparison(gaps: list[list[float]], errors: float = 1.0, n_rows: float = 100.0) -> ClassComparison:
    """A comparison with these log-score gaps, each with one standard error."""
    n = len(gaps)
    pairs = np.full((n, n), n_rows)
    return ClassComparison(np.array(gaps), np.full((n, n), errors**2), pairs, pairs)


def test_gaps_are_differences_of_log_densities_by_the_number_of_rows() -> None:
    first, second = log_of(40, 1), log_of(70, 2)
    early = [predictions(40, 1, noise=0.1), predictions(40, 2, noise=0.3)]
    later = [predictions(70, 3, noise=0.2), predictions(70, 4, noise=0.15)]
    after = ClassComparison.none(2).updated(early, first, 40.0).updated(later, second, 110.0)
    ahead = np.concatenate(
        [
            40.0 * (densities(early[1], first) - densities(early[0], first)),
            110.0 * (densities(later[1], second) - densities(later[0], second)),
        ]
    )
    assert after.log_score_gap[0, 1] == pytest.approx(ahead.sum(), rel=1e-10)
    assert after.log_score_gap_squares[0, 1] == pytest.approx(ahead @ ahead, rel=1e-10)
    assert after.z[0, 1] == pytest.approx(ahead.sum() / math.sqrt(ahead @ ahead), rel=1e-10)
    assert after.n_rows[0, 1] == 110.0
    assert after.weights[0, 1] == 40.0 * 40.0 + 70.0 * 110.0


def test_a_class_that_takes_itself_for_too_exact_loses_to_one_that_knows_its_noise() -> None:
    # The same estimates: of errors with variance 0.09, a noise of 0.01 gives a far lower likelihood.
    rng = np.random.default_rng(0)
    log, honest = log_of(300, 3), predictions(300, 5, leverage=0.0, noise=0.09)
    log = replace(log, reward=honest.estimates + 0.3 * rng.normal(size=300))
    for noise in (0.01, 1.0):
        after = ClassComparison.none(2).updated([replace(honest, noise=noise), honest], log, 300.0)
        assert after.z[0, 1] > 5.0
        assert after.best(0, [0, 1]) == 1


def test_an_error_where_a_class_knows_little_is_no_surprise() -> None:
    log = replace(log_of(1, 0), reward=np.array([1.0]))
    sure, unsure = (Predictions(np.zeros(1), np.full(1, leverage), 0.25) for leverage in (0.0, 5.0))
    assert ClassComparison.none(2).updated([sure, unsure], log, 1.0).log_score_gap[0, 1] > 0.0
    right = replace(log, reward=np.array([0.0]))
    assert ClassComparison.none(2).updated([sure, unsure], right, 1.0).log_score_gap[0, 1] < 0.0


def test_one_absurd_reward_decides_nothing() -> None:
    scale = replace(COIN, high=1e6)
    log = replace(log_of(1, 0), reward=np.array([1e6]))
    one, other = (Predictions(np.zeros(1), np.zeros(1), noise) for noise in (0.1, 0.2))
    gap = ClassComparison.none(2).updated([one, other], log, 1.0, scale).log_score_gap[0, 1]
    assert gap == pytest.approx(-0.5 * math.log(2.0))  # both are as wrong as can be


@given(st.integers(0, 2**32), st.integers(2, 5), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_gaps_are_opposite_and_spreads_alike_and_no_class_is_ahead_of_itself(
    seed: int, n_classes: int, sizes: list[int]
) -> None:
    given, n_rows = ClassComparison.none(n_classes), 0
    for block, n in enumerate(sizes):
        n_rows += n
        looks = [predictions(n, hash((seed, block, place)) % 2**32) for place in range(n_classes)]
        given = given.updated(looks, log_of(n, seed), float(n_rows))
    assert np.array_equal(given.log_score_gap, -given.log_score_gap.T)
    assert np.array_equal(given.log_score_gap_squares, given.log_score_gap_squares.T)
    assert not np.diag(given.log_score_gap).any()
    assert np.isfinite(given.z).all()
    assert not given.hopeless(0)[0] or n_rows > 0


def test_two_copies_of_a_class_never_separate() -> None:
    given = ClassComparison.none(3)
    for block in range(5):
        same = predictions(30, block)
        given = given.updated(
            [same, same, predictions(30, 100 + block)], log_of(30, block), 30.0 * (block + 1)
        )
    assert given.log_score_gap[0, 1] == given.log_score_gap[1, 0] == given.z[0, 1] == 0.0
    assert given.log_score_gap[0, 2] == given.log_score_gap[1, 2] != 0.0
    assert given.best(0, [0, 1]) == 0
    assert given.hopeless(0)[1]  # what says the same need not be computed twice


def test_the_order_of_rows_within_a_block_and_of_blocks_does_not_matter() -> None:
    log, looks = log_of(200, 7), [predictions(200, 7), predictions(200, 8)]
    order = np.random.default_rng(0).permutation(200)
    shuffled = [Predictions(one.estimates[order], one.leverages[order], one.noise) for one in looks]
    one = ClassComparison.none(2).updated(looks, log, 200.0)
    other = ClassComparison.none(2).updated(shuffled, log.take(order), 200.0)
    more, their = log_of(60, 9), [predictions(60, 10), predictions(60, 11)]
    forth = one.updated(their, more, 100.0)
    back = ClassComparison.none(2).updated(their, more, 100.0).updated(looks, log, 200.0)
    for ours, theirs in ((one, other), (forth, back)):
        for field in fields(ClassComparison):
            np.testing.assert_allclose(
                getattr(ours, field.name), getattr(theirs, field.name), rtol=1e-10, atol=1e-12
            )


def test_a_class_without_a_fit_does_not_take_part() -> None:
    log, looks = log_of(50, 10), [predictions(50, 12), None, predictions(50, 13)]
    after = ClassComparison.none(3).updated(looks, log, 50.0)
    assert not after.log_score_gap[1].any()
    assert not after.log_score_gap[:, 1].any()
    assert after.weights[0].tolist() == [2_500.0, 0.0, 2_500.0]
    assert after.n_rows[2].tolist() == [50.0, 0.0, 50.0]
    pair = ClassComparison.none(2).updated([looks[0], looks[2]], log, 50.0)
    assert after.log_score_gap[0, 2] == pair.log_score_gap[0, 1]
    assert after.best(0, [0, 1, 2]) in {0, 2}
    assert not after.hopeless(0)[1]


def test_a_pair_is_compared_on_the_rows_of_both() -> None:
    # A class that was deferred missed the first rows, which count for the other two only.
    both, alone = log_of(50, 11), log_of(80, 12)
    given = ClassComparison.none(3).updated([predictions(80, 1), predictions(80, 2), None], alone, 80.0)
    given = given.updated([predictions(50, place) for place in range(3)], both, 130.0)
    assert given.n_rows.tolist() == [[130.0, 130.0, 50.0], [130.0, 130.0, 50.0], [50.0, 50.0, 50.0]]


def test_nothing_is_compared_alone_or_by_no_rows_or_by_rewards_that_are_all_alike() -> None:
    given, two = ClassComparison.none(2), [predictions(50, 14), predictions(50, 15)]
    assert given.updated([two[0], None], log_of(50, 11), 50.0) is given
    assert given.updated([predictions(0, 15), predictions(0, 16)], log_of(0, 12), 0.0) is given
    assert given.updated(two, log_of(50, 11), 50.0, replace(COIN, total=2.0, squares=2.0)) is given
    assert given.best(0, [0, 1]) == 0


def test_the_class_that_made_the_rows_wins_in_the_long_run() -> None:
    # Rewards of class 0 with noise 0.3; class 1 is off by 0.15 everywhere, and says so in its noise: a gap of
    # ln(1.25) / 2 = 0.11 a row, with a deviation of about 0.4: at 2,000 rows some 10 errors, as later rows
    # count more.
    rng = np.random.default_rng(16)
    given = ClassComparison.none(2)
    for block in range(20):
        log, right = log_of(100, block), predictions(100, block, leverage=0.01, noise=0.09)
        wrong = replace(right, estimates=right.estimates + 0.15, noise=0.09 + 0.15**2)
        log = replace(log, reward=right.estimates + 0.3 * rng.normal(size=100))
        given = given.updated([right, wrong], log, 100.0 * (block + 1))
    assert given.z[1, 0] > 7.0
    assert given.best(1, [0, 1]) == 0
    assert given.log_score_gap[1, 0] / given.weights[1, 0] == pytest.approx(0.5 * math.log(1.25), abs=0.04)
    assert given.hopeless(0).tolist() == [True, True]  # the active class gains nothing over itself
    assert given.hopeless(1).tolist() == [False, True]


def test_estimates_are_kept_within_bounds_before_they_are_compared() -> None:
    log = log_of(2, 0)
    wild, bounded, other = (
        Predictions(np.array(estimates), np.zeros(2), 0.2)
        for estimates in ([-3.0, 9.0], [-0.5, 1.5], [0.1, 0.3])
    )
    ours, theirs = (ClassComparison.none(2).updated([one, other], log, 10.0) for one in (wild, bounded))
    assert np.array_equal(ours.log_score_gap, theirs.log_score_gap)
    assert np.array_equal(ours.log_score_gap_squares, theirs.log_score_gap_squares)


@pytest.mark.parametrize(
    ("active", "ahead", "n_rows", "switches"),
    [
        (0, 0.9, 100.0, False),  # one standard error, whichever class is larger
        (0, 1.1, 100.0, True),
        (1, 0.9, 100.0, False),
        (1, 1.1, 100.0, True),
        (0, -3.0, 100.0, False),
        (0, 1.1, 19.0, False),  # and twenty rows
        (0, 9.0, 19.0, False),
        (0, 1.1, 20.0, True),
    ],
)
def test_a_class_becomes_active_when_it_is_ahead_by_a_standard_error(
    active: int, ahead: float, n_rows: float, switches: bool
) -> None:
    other = 1 - active
    gaps = [[0.0, 0.0], [0.0, 0.0]]
    gaps[active][other], gaps[other][active] = 2.0 * ahead, -2.0 * ahead
    assert comparison(gaps, errors=2.0, n_rows=n_rows).best(active, [0, 1]) == (other if switches else active)


def test_of_several_that_pass_the_one_ahead_of_the_others_is_active() -> None:
    # Class 1 is further ahead of class 0 than class 2 is, and class 2 beats class 1 in rows of their own.
    given = comparison([[0.0, 9.0, 5.0], [-9.0, 0.0, 4.0], [-5.0, -4.0, 0.0]])
    assert given.best(0, [0, 1, 2]) == 2
    assert given.best(0, [0, 1]) == 1
    assert given.best(0, [0]) == 0


def test_a_class_that_may_not_be_active_is_not_even_if_it_is_ahead() -> None:
    given = comparison([[0.0, -9.0], [9.0, 0.0]])
    assert given.best(1, [1]) == 1


def test_a_class_is_hopeless_when_it_can_surely_gain_next_to_nothing() -> None:
    # In multiples of the weights: gaps with standard errors of 0.0001, the limit of worth is 0.001.
    gaps = {-0.5: True, -0.0001: True, 0.0007: True, 0.0009: False, 0.01: False}
    for gap, expected in gaps.items():
        given = comparison([[0.0, 1e4 * gap], [-1e4 * gap, 0.0]], errors=1.0, n_rows=1e4)
        assert given.hopeless(0)[1] == expected
    unsure = comparison([[0.0, -50.0], [50.0, 0.0]], errors=100.0, n_rows=1e4)
    assert not unsure.hopeless(0)[1]  # behind, but two standard errors reach well beyond


def test_discounting_leaves_ratios_and_makes_room_for_new_rows() -> None:
    log, looks = log_of(60, 17), [predictions(60, 23), predictions(60, 24)]
    given = ClassComparison.none(2).updated(looks, log, 60.0)
    discounted = given.scaled(0.25)
    np.testing.assert_allclose(discounted.z, given.z, rtol=1e-12)
    assert discounted.hopeless(0).tolist() == given.hopeless(0).tolist()
    assert discounted.n_rows[0, 1] == 15.0
    later = log_of(60, 18)
    ours, theirs = (one.updated(looks, later, 60.0).log_score_gap[0, 1] for one in (discounted, given))
    assert theirs - ours == pytest.approx(0.75 * given.log_score_gap[0, 1])


def test_the_report_has_a_line_for_every_class() -> None:
    given, names = ClassComparison.none(3), ["small", "middle", "large"]
    for block in range(3):
        looks = [
            predictions(100, 30 + block),
            predictions(100, 40 + block),
            predictions(100, 50 + block) if block else None,
        ]
        given = given.updated(looks, log_of(100, 60 + block), 100.0 * (block + 1))
    lines = given.report_lines(names, 1, [True, True, True])
    gap = given.log_score_gap[1, 0] / given.weights[1, 0]
    side = "higher" if gap > 0.0 else "lower"
    assert lines[0] == (
        f"small: {side} predictive log-likelihood than middle, by {abs(gap):.4f} per row "
        f"(z = {given.z[1, 0]:+.1f})"
    )
    assert lines[1] == "active class: middle"
    assert lines[2].startswith("large: ")
    assert given.report_lines(names, 0, [True, True, False])[2] == "large: too few rows"
    excluded = given.report_lines(names, 0, [True] * 3, [False, False, True])
    assert excluded[2] == "large: excluded, of no use for these features or rewards, or too large"
    new = ClassComparison.none(2).report_lines(names[:2], 0, [True, True])
    assert new == ("active class: small", "middle: not compared with small yet")


@pytest.mark.parametrize(("mean", "deviation"), [(0.01, 0.02), (-0.3, 0.2), (0.5, 1.0), (1.2, 0.1)])
def test_the_mean_of_a_normal_variable_that_is_clipped_is_that_of_quadrature(
    mean: float, deviation: float
) -> None:
    z = np.linspace(-9.0, 9.0, 200_001)
    density = np.exp(-0.5 * z**2)
    expected = np.sum((mean + deviation * z).clip(0.0, 1.0) * density) / np.sum(density)
    assert mean_within(np.array([mean]), np.array([deviation]))[0] == pytest.approx(expected, abs=1e-6)


def test_with_two_values_all_classes_are_judged_by_the_chances_that_they_gave() -> None:
    log = replace(log_of(4, 1), reward=np.array([0.0, 1.0, 0.0, 0.5]))
    given = [
        Predictions(np.array([0.2, 0.6, -3.0, 0.5]), np.zeros(4), 0.25, two_valued=known)
        for known in (False, True)
    ]
    scale = RewardScale(n=10.0, total=2.0, squares=2.0, low=0.0, high=1.0)
    scores = log_scores(given, log, scale)
    # The least chance is a tenth of the share of successes; a third value counts in proportion.
    assert np.exp(scores[0]) == pytest.approx([0.8, 0.6, 0.98, 0.5])
    assert np.array_equal(scores[0], scores[1])
