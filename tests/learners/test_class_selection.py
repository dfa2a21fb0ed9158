"""ClassComparison of classes: what they foretell of the same rows, by hand, and who gets to play for it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_selection import ClassComparison, Predictions

K = 3
SIZES = np.array([3, 10, 300])


def log_of(n: int, seed: int, propensity: float = 0.5) -> Log:
    rng = np.random.default_rng(seed)
    zeros = np.zeros(n, dtype=np.int64)
    action, reward = rng.integers(0, K, n), rng.random(n)
    return Log(Contexts(np.empty((n, 0))), action, reward, np.full(n, propensity), zeros, zeros, zeros)


def predictions(n: int, seed: int, leverage: float | None = None) -> Predictions:
    rng = np.random.default_rng([seed, 1])
    means = rng.normal(0.5, 0.2, (n, K))
    return Predictions(means, rng.exponential(0.3, n) if leverage is None else np.full(n, leverage))


def told(given: Predictions, log: Log) -> Floats:
    return given.means[np.arange(len(log)), log.action]


def densities(given: Predictions, log: Log, noise: float) -> Floats:
    """The logarithm of the density that a class gave to each reward."""
    scale = np.sqrt(noise * (1.0 + given.leverages))
    return np.asarray(stats.norm.logpdf(log.reward, told(given, log), scale))


def comparison(gaps: list[list[float]], errors: float = 1.0) -> ClassComparison:
    """A comparison with these log-score gaps, each with one standard error, and no gains."""
    n = len(gaps)
    table = np.array(gaps)
    return replace(
        ClassComparison.none(n),
        log_score_gap=table,
        log_score_gap_squares=np.full((n, n), errors**2),
        weights=np.ones(n),
        errors=np.ones(n),
    )


def with_gain(given: ClassComparison, playing: int, other: int, z: float) -> ClassComparison:
    """The same where another class is estimated to earn z errors more than the one that plays."""
    gains, squares = given.gains.copy(), given.gain_squares.copy()
    gains[playing, other], squares[playing, other] = z, 1.0
    return replace(given, gains=gains, gain_squares=squares)


def test_leads_are_differences_of_log_densities_by_the_number_of_rows() -> None:
    # The noise is 1/4 before anything is known, then the least mean squared error so far.
    first, second = log_of(40, 1), log_of(70, 2)
    early, later = [predictions(40, 1), predictions(40, 2)], [predictions(70, 3), predictions(70, 4)]
    after = ClassComparison.none(2).updated(early, 0, first, 40.0).updated(later, 0, second, 110.0)
    squares = [(first.reward - told(one, first)) ** 2 / (1.0 + one.leverages) for one in early]
    noise = min(float(one.mean()) for one in squares)
    ahead = np.concatenate(
        [
            40.0 * (densities(early[1], first, 0.25) - densities(early[0], first, 0.25)),
            110.0 * (densities(later[1], second, noise) - densities(later[0], second, noise)),
        ]
    )
    assert after.log_score_gap[0, 1] == pytest.approx(ahead.sum(), rel=1e-10)
    assert after.log_score_gap_squares[0, 1] == pytest.approx(ahead @ ahead, rel=1e-10)
    assert after.z[0, 1] == pytest.approx(ahead.sum() / math.sqrt(ahead @ ahead), rel=1e-10)


def test_the_noise_is_the_least_mean_of_errors_in_units_of_their_uncertainty() -> None:
    assert ClassComparison.none(2).noise(0.2) == 0.2
    log, both = log_of(50, 3), [predictions(50, 5), predictions(50, 6)]
    after = ClassComparison.none(2).updated(both, 0, log, 50.0)
    means = [np.mean((log.reward - told(one, log)) ** 2 / (1.0 + one.leverages)) for one in both]
    assert after.noise(0.25) == pytest.approx(min(means))
    perfect = Predictions(np.tile(log.reward[:, np.newaxis], K), np.zeros(50))
    assert ClassComparison.none(2).updated([perfect, both[0]], 0, log, 50.0).noise(0.25) == 1e-3


def test_an_error_where_a_class_knows_little_is_no_surprise() -> None:
    log = replace(log_of(1, 0), reward=np.array([1.0]))
    zeros = np.zeros((1, K))
    sure, unsure = Predictions(zeros, np.zeros(1)), Predictions(zeros, np.full(1, 5.0))
    assert ClassComparison.none(2).updated([sure, unsure], 0, log, 1.0).log_score_gap[0, 1] > 0.0
    right = replace(log, reward=np.array([0.0]))
    assert ClassComparison.none(2).updated([sure, unsure], 0, right, 1.0).log_score_gap[0, 1] < 0.0


@given(st.integers(0, 2**32), st.integers(2, 5), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_leads_are_opposite_and_spreads_alike_and_no_class_leads_itself(
    seed: int, n_classes: int, sizes: list[int]
) -> None:
    given, n_rows = ClassComparison.none(n_classes), 0
    for block, n in enumerate(sizes):
        n_rows += n
        looks = [predictions(n, hash((seed, block, place)) % 2**32) for place in range(n_classes)]
        given = given.updated(looks, block % n_classes, log_of(n, seed), float(n_rows))
    assert np.array_equal(given.log_score_gap, -given.log_score_gap.T)
    assert np.array_equal(given.log_score_gap_squares, given.log_score_gap_squares.T)
    assert not np.diag(given.log_score_gap).any()
    assert np.isfinite(given.z).all()


def test_two_copies_of_a_class_never_separate() -> None:
    given = ClassComparison.none(3)
    for block in range(5):
        same = predictions(30, block)
        given = given.updated(
            [same, same, predictions(30, 100 + block)], 0, log_of(30, block), 30.0 * (block + 1)
        )
    assert given.log_score_gap[0, 1] == given.log_score_gap[1, 0] == given.z[0, 1] == 0.0
    assert given.gains[0, 1] == given.gain_squares[0, 1] == 0.0
    assert given.log_score_gap[0, 2] == given.log_score_gap[1, 2] != 0.0
    assert given.best(0, np.array([3, 300, 3]), 5_000.0, [0, 1]) == 0


def test_the_order_of_rows_within_a_block_does_not_matter() -> None:
    log, looks = log_of(200, 7), [predictions(200, 7), predictions(200, 8)]
    order = np.random.default_rng(0).permutation(200)
    shuffled = [Predictions(one.means[order], one.leverages[order]) for one in looks]
    one = ClassComparison.none(2).updated(looks, 0, log, 200.0)
    other = ClassComparison.none(2).updated(shuffled, 0, log.take(order), 200.0)
    for name in ("log_score_gap", "log_score_gap_squares", "gains", "gain_squares", "errors", "weights"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-12)


def test_of_two_blocks_the_errors_and_gains_add_up_in_any_order() -> None:
    # Leads need not: the noise by which a block is scored is that of the blocks before it.
    blocks = [
        (log_of(40, 8), [predictions(40, 8), predictions(40, 9)]),
        (log_of(60, 9), [predictions(60, 10), predictions(60, 11)]),
    ]
    one, other = ClassComparison.none(2), ClassComparison.none(2)
    for log, looks in blocks:
        one = one.updated(looks, 1, log, 100.0)
    for log, looks in reversed(blocks):
        other = other.updated(looks, 1, log, 100.0)
    for name in ("gains", "gain_squares", "n_gains", "errors", "weights"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)


def test_a_class_without_a_fit_does_not_take_part() -> None:
    log, looks = log_of(50, 10), [predictions(50, 12), None, predictions(50, 13)]
    after = ClassComparison.none(3).updated(looks, 0, log, 50.0)
    assert not after.log_score_gap[1].any()
    assert not after.log_score_gap[:, 1].any()
    assert after.weights.tolist() == [2_500.0, 0.0, 2_500.0]
    pair = ClassComparison.none(2).updated([looks[0], looks[2]], 0, log, 50.0)
    assert after.log_score_gap[0, 2] == pair.log_score_gap[0, 1]
    assert after.gains[0, 2] == pair.gains[0, 1]
    assert after.best(0, SIZES, 5_000.0, [0, 1, 2]) in {0, 2}


def test_nothing_is_judged_alone_or_by_no_rows() -> None:
    given = ClassComparison.none(2)
    assert given.updated([predictions(50, 14), None], 0, log_of(50, 11), 50.0) is given
    assert given.updated([predictions(0, 15), predictions(0, 16)], 0, log_of(0, 12), 0.0) is given
    assert given.best(0, SIZES[:2], 5_000.0, [0, 1]) == 0


def test_gains_are_doubly_robust_by_the_mean_of_both_estimates() -> None:
    log, looks = log_of(80, 13, propensity=0.2), [predictions(80, 17), predictions(80, 18)]
    after = ClassComparison.none(2).updated(looks, 1, log, 80.0)
    both = 0.5 * (looks[0].means + looks[1].means)
    gains = []
    for row in range(80):
        challenger, incumbent = looks[0].means[row].argmax(), looks[1].means[row].argmax()
        played = log.action[row]
        weight = (float(played == challenger) - float(played == incumbent)) / 0.2
        surprise = log.reward[row] - both[row, played]
        gains.append(both[row, challenger] - both[row, incumbent] + weight * surprise)
    assert after.gains[1, 0] == pytest.approx(sum(gains))
    assert after.gain_squares[1, 0] == pytest.approx(np.dot(gains, gains))
    assert after.n_gains[1, 0] == 80.0
    assert after.gains[0, 1] == after.n_gains[0, 1] == 0.0  # class 0 did not play


def test_there_are_no_gains_over_a_class_that_foretells_nothing() -> None:
    looks = [None, predictions(30, 19), predictions(30, 20)]
    after = ClassComparison.none(3).updated(looks, 0, log_of(30, 14), 30.0)
    assert not after.gains.any()
    assert after.log_score_gap[1, 2] != 0.0


def test_actions_that_may_not_be_chosen_gain_nothing() -> None:
    log = log_of(40, 15)
    eligible = np.zeros((40, K), dtype=np.bool_)
    eligible[np.arange(40), log.action] = True
    masked = replace(log, contexts=Contexts(log.contexts.shared, eligible=eligible), propensity=np.ones(40))
    after = ClassComparison.none(2).updated([predictions(40, 21), predictions(40, 22)], 0, masked, 40.0)
    assert after.gains[0, 1] == after.gain_squares[0, 1] == 0.0
    assert after.log_score_gap[0, 1] != 0.0


def test_the_class_that_made_the_rows_wins_in_the_long_run() -> None:
    # Rewards of class 0 with noise .3; class 1 is off by .15 everywhere: a lead of .125 a row, with a
    # deviation of .5: at 2,000 rows some 9 errors, as later rows count more.
    rng = np.random.default_rng(16)
    given = ClassComparison.none(2)
    for block in range(20):
        log, right = log_of(100, block), predictions(100, block, leverage=0.01)
        wrong = Predictions(right.means + 0.15, right.leverages)
        log = replace(log, reward=told(right, log) + 0.3 * rng.normal(size=100))
        given = given.updated([right, wrong], 1, log, 100.0 * (block + 1))
    assert given.z[1, 0] > 7.0
    assert given.best(1, SIZES[:2], 2_000.0, [0, 1]) == 0
    assert given.noise(0.25) == pytest.approx(0.09, rel=0.15)


def test_estimates_are_kept_within_bounds_before_they_are_scored() -> None:
    log = log_of(1, 0)
    wild, bounded, other = (
        Predictions(np.array([means]), np.zeros(1))
        for means in ([-3.0, 0.4, 9.0], [-0.5, 0.4, 1.5], [0.1, 0.2, 0.3])
    )
    none = ClassComparison.none(2)
    for active in (0, 1):
        ours, theirs = (none.updated([one, other], active, log, 10.0) for one in (wild, bounded))
        assert np.array_equal(ours.log_score_gap, theirs.log_score_gap)
        assert np.array_equal(ours.gains, theirs.gains)
        assert np.array_equal(ours.errors, theirs.errors)


@pytest.mark.parametrize(
    ("n_rows", "playing", "lead", "switches"),
    [
        (500.0, 0, 0.9, False),  # early: one error, whoever is larger
        (500.0, 0, 1.1, True),
        (500.0, 1, 0.9, False),
        (500.0, 1, 1.1, True),
        (5_000.0, 0, -0.1, False),  # later: a larger class needs to be ahead
        (5_000.0, 0, 0.0, False),
        (5_000.0, 0, 0.1, True),
        (5_000.0, 1, 0.1, False),  # and a smaller one by two errors
        (5_000.0, 1, 1.9, False),
        (5_000.0, 1, 2.1, True),
        (1_000.0, 0, 0.1, True),
        (999.0, 0, 0.1, False),
    ],
)
def test_a_class_plays_when_it_is_ahead_by_enough(
    n_rows: float, playing: int, lead: float, switches: bool
) -> None:
    other = 1 - playing
    leads = [[0.0, 0.0], [0.0, 0.0]]
    leads[playing][other], leads[other][playing] = 2.0 * lead, -2.0 * lead
    best = comparison(leads, errors=2.0).best(playing, SIZES[:2], n_rows, [0, 1])
    assert best == (other if switches else playing)


def test_classes_of_one_size_need_two_errors() -> None:
    same = np.array([7, 7])
    assert comparison([[0.0, 1.9], [-1.9, 0.0]]).best(0, same, 5_000.0, [0, 1]) == 0
    assert comparison([[0.0, 2.1], [-2.1, 0.0]]).best(0, same, 5_000.0, [0, 1]) == 1


@pytest.mark.parametrize(
    ("z", "vetoed"), [(-2.1, True), (-2.0, True), (-1.9, False), (0.0, False), (3.0, False)]
)
def test_a_class_that_is_known_to_earn_less_is_vetoed(z: float, vetoed: bool) -> None:
    ahead = with_gain(comparison([[0.0, 9.0], [-9.0, 0.0]]), 0, 1, z)
    assert ahead.vetoed(0, 1, 2.0) == vetoed
    assert ahead.best(0, SIZES[:2], 5_000.0, [0, 1]) == (0 if vetoed else 1)
    assert ahead.best(0, SIZES[:2], 500.0, [0, 1]) == 1  # too early for a veto


def test_a_veto_is_of_the_class_that_plays_and_needs_rows() -> None:
    given = comparison([[0.0, 9.0, 5.0], [-9.0, 0.0, -4.0], [-5.0, 4.0, 0.0]])
    assert not given.vetoed(0, 1, 2.0)  # nothing is known: no gain, and no scatter
    of_another = with_gain(given, 2, 1, -5.0)
    assert of_another.best(0, SIZES, 5_000.0, [0, 1, 2]) == 1
    assert with_gain(given, 0, 1, -5.0).best(0, SIZES, 5_000.0, [0, 1, 2]) == 2


def test_of_several_that_pass_the_one_ahead_of_the_others_plays() -> None:
    # Class 1 is further ahead of class 0 than class 2 is, and class 2 beats class 1 in rows of their own.
    given = comparison([[0.0, 9.0, 5.0], [-9.0, 0.0, 4.0], [-5.0, -4.0, 0.0]])
    assert given.best(0, SIZES, 5_000.0, [0, 1, 2]) == 2
    assert given.best(0, SIZES, 5_000.0, [0, 1]) == 1
    assert given.best(0, SIZES, 5_000.0, [0]) == 0


def test_a_class_outside_of_those_that_may_play_is_left_even_if_it_is_ahead() -> None:
    given = comparison([[0.0, -9.0], [9.0, 0.0]])
    assert given.best(1, SIZES[:2], 5_000.0, [1]) == 1


def test_a_class_that_was_never_judged_does_not_play() -> None:
    given = replace(comparison([[0.0, 9.0], [-9.0, 0.0]]), weights=np.array([1.0, 0.0]))
    assert given.best(0, SIZES[:2], 5_000.0, [0, 1]) == 0


def test_forgetting_leaves_ratios_and_makes_room_for_new_rows() -> None:
    log, looks = log_of(60, 17), [predictions(60, 23), predictions(60, 24)]
    given = ClassComparison.none(2).updated(looks, 0, log, 60.0)
    faded = given.scaled(0.25)
    np.testing.assert_allclose(faded.z, given.z, rtol=1e-12)
    assert faded.noise(0.25) == pytest.approx(given.noise(0.25))
    assert faded.vetoed(0, 1, 0.1) == given.vetoed(0, 1, 0.1)
    assert faded.gains[0, 1] / faded.n_gains[0, 1] == pytest.approx(given.gains[0, 1] / 60.0)
    later = log_of(60, 18)
    new = [Predictions(one.means, one.leverages) for one in looks]
    forgotten, kept = (one.updated(new, 0, later, 60.0).errors[0] for one in (faded, given))
    assert kept - forgotten == pytest.approx(0.75 * given.errors[0])


def test_gains_are_told_by_the_rows_of_the_class_that_played() -> None:
    given = ClassComparison.none(3)
    for block, playing in enumerate([0, 0, 1]):
        looks = [
            predictions(100, 30 + block),
            predictions(100, 40 + block),
            predictions(100, 50 + block) if block else None,
        ]
        given = given.updated(looks, playing, log_of(100, 60 + block), 100.0 * (block + 1))
    assert given.n_gains.tolist() == [[0.0, 200.0, 100.0], [100.0, 0.0, 100.0], [0.0, 0.0, 0.0]]
    lines = given.report_lines(["small", "middle", "large"], 1, [True, True, True])
    mean, error = given.gains[1, 0] / 100.0, math.sqrt(given.gain_squares[1, 0]) / 100.0
    assert f"estimated value gain {mean:+.4f} +- {error:.4f} per round" in lines[0]
    assert lines[1] == "active class: middle"
    side = "higher" if given.z[1, 2] > 0.0 else "lower"
    assert lines[2].startswith(
        f"large: {side} predictive log-likelihood than middle (z = {given.z[1, 2]:+.1f})"
    )
    assert given.report_lines(["small", "middle", "large"], 0, [True, True, False])[2] == (
        "large: too few rows"
    )
