"""The value gate: unbiased gains over the pooled fit, which open it for what is known to earn more."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import greedy_policy
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.learners.adaptive.value_gate import ALTERNATIVES, ValueGate
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.linear.models import PerActionModel

KINDS = np.eye(3)
"""Three kinds of contexts, one feature each: a model's weights are then its table of scores."""
SHARES = np.array([0.5, 0.3, 0.2])
MEANS = np.array([[0.2, 0.6, 0.5], [0.7, 0.1, 0.4], [0.3, 0.3, 0.9]])
"""(kind, action)."""
PROPENSITIES = np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0.3, 0.6, 0.1]])


def table(scores: Floats | list[list[float]], known: list[bool] | None = None) -> PerActionModel:
    """The model with these scores of (kind, action)."""
    weights = np.ascontiguousarray(np.transpose(scores), dtype=np.float64)
    seen = None if known is None else np.array(known)
    return PerActionModel(IdentityMap(3), None, weights, np.zeros((len(weights), 1)), seen)


def choosing(*actions: int) -> PerActionModel:
    """The model that thinks these actions best, one for each kind."""
    return table(np.eye(3)[list(actions)])


def rows(kind: Ints, action: Ints, reward: Floats, eligible: Bools | None = None) -> Log:
    n = len(kind)
    numbers = np.arange(n)
    return Log(
        Contexts(KINDS[kind], eligible=eligible),
        action,
        reward,
        PROPENSITIES[kind, action],
        np.ones(n, dtype=np.int64),
        numbers,
        np.zeros(n, dtype=np.int64),
    )


def drawn(n: int, seed: int, means: Floats = MEANS) -> Log:
    """n rows of play by `PROPENSITIES`, rewards 0 or 1."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=SHARES)
    action = (rng.random((n, 1)) > PROPENSITIES[kind].cumsum(axis=1)).sum(axis=1)
    return rows(kind, action, (rng.random(n) < means[kind, action]).astype(np.float64))


def gate_of(*models: PerActionModel) -> ValueGate:
    return ValueGate(models)


def gains_of(gate: ValueGate) -> Tally:
    assert gate.gains is not None
    return gate.gains


def test_gains_are_unbiased_whatever_the_pooled_model_believes() -> None:
    # All 18 rows that can happen, by their chances: no draws, so that the mean has to be exact.
    plays = [(1, 0, 2), (0, 0, 0), (2, 1, 0)]
    gate = gate_of(*(choosing(*play) for play in plays))
    for pooled in (table(MEANS), table(np.random.default_rng(0).normal(size=(3, 3))), choosing(0, 2, 1)):
        expected = np.zeros(3)
        for kind, action, reward in itertools.product(range(3), range(3), (0.0, 1.0)):
            chance = MEANS[kind, action] if reward else 1.0 - MEANS[kind, action]
            chance *= SHARES[kind] * PROPENSITIES[kind, action]
            row = rows(np.array([kind]), np.array([action]), np.array([reward]))
            expected += chance * gains_of(gate.evaluated(pooled, row)).total
        own = pooled.weights.T.argmax(axis=1)
        kinds = np.arange(3)
        truth = [SHARES @ (MEANS[kinds, list(play)] - MEANS[kinds, own]) for play in plays]
        np.testing.assert_allclose(expected, truth, atol=1e-14)


def test_blocks_add_up_to_all_rows_at_once() -> None:
    log, pooled, gate = drawn(300, 1), choosing(0, 0, 0), gate_of(table(MEANS), choosing(2, 1, 0))
    at_once = gains_of(gate.evaluated(pooled, log))
    in_blocks = gate
    for part in (slice(0, 1), slice(1, 120), slice(120, 300)):
        in_blocks = in_blocks.evaluated(pooled, log.take(part))
    np.testing.assert_allclose(gains_of(in_blocks).mean, at_once.mean, rtol=1e-12)
    np.testing.assert_allclose(gains_of(in_blocks).standard_error, at_once.standard_error, rtol=1e-12)


def test_what_went_before_can_count_less() -> None:
    first, second, pooled, gate = drawn(200, 2), drawn(100, 3), choosing(0, 0, 0), gate_of(table(MEANS))
    faded = gains_of(gate.evaluated(pooled, first).evaluated(pooled, second, retention=0.25))
    old, new = (gains_of(gate.evaluated(pooled, log)) for log in (first, second))
    assert faded.count == 0.25 * 200 + 100
    assert faded.mean[0] == pytest.approx((50 * old.mean[0] + 100 * new.mean[0]) / 150)


def test_an_alternative_that_plays_as_the_pooled_fit_does_gains_exactly_nothing() -> None:
    pooled = table(MEANS)
    gate = gate_of(pooled, table(3.0 * MEANS - 1.0)).evaluated(pooled, drawn(500, 4))
    assert gains_of(gate).total.tolist() == [0.0, 0.0]
    assert gains_of(gate).squares.tolist() == [0.0, 0.0]
    assert gate.switched("value", 0.0).active == -1


def test_only_rows_on_which_the_two_differ_count() -> None:
    log = drawn(500, 5)
    pooled, other = choosing(0, 1, 2), choosing(0, 1, 1)
    differ = log.contexts.shared[:, 2] == 1.0
    here, all_rows = (gains_of(gate_of(other).evaluated(pooled, part)) for part in (log.where(differ), log))
    assert all_rows.total[0] == pytest.approx(here.total[0], rel=1e-12)
    assert all_rows.squares[0] == pytest.approx(here.squares[0], rel=1e-12)


def test_of_two_alternatives_that_pass_the_one_that_earns_most_plays() -> None:
    # Worth .2 and .5 more than the pooled fit a round, with standard errors of .02 and .06 at 2,000 rows.
    pooled, best = choosing(0, 1, 0), table(MEANS)
    gate = (
        gate_of(choosing(1, 1, 0), best, choosing(0, 1, 0))
        .evaluated(pooled, drawn(2_000, 6))
        .switched("value", 2.5)
    )
    assert gate.active == 1
    assert gate.model is best
    assert ALTERNATIVES[gate.active] == "tightly constrained"


def test_the_gate_opens_for_a_gain_that_is_real() -> None:
    # A gain of .3 in a kind that makes up half of the rows: at 2,500 rows z has mean 7.4 and deviation 1, so
    # that one below 2.5 among 60 has a chance of about 1 in 100,000.
    gate, pooled = gate_of(choosing(2, 0, 2)), choosing(0, 0, 2)
    assert all(
        gate.evaluated(pooled, drawn(2_500, seed)).switched("value", 2.5).active == 0 for seed in range(60)
    )


def test_the_gate_stays_closed_where_there_is_nothing_to_gain() -> None:
    # Fits that differ in actions of equal worth. A z above 2.5 has a chance of .62 per cent, so that more
    # than 9 of 400 have one of about 2 in 10,000.
    even = np.full((3, 3), 0.5)
    gate, pooled = gate_of(choosing(1, 0, 2)), choosing(0, 0, 2)
    opened = sum(
        gate.evaluated(pooled, drawn(400, seed, even)).switched("value", 2.5).active == 0
        for seed in range(400)
    )
    assert opened <= 9


def test_the_gate_closes_again_when_the_gain_is_gone() -> None:
    gate, pooled = gate_of(choosing(2, 0, 2)), choosing(0, 0, 2)
    gate = gate.evaluated(pooled, drawn(1_000, 7)).switched("value", 2.5)
    assert gate.active == 0
    swapped = MEANS[:, [2, 1, 0]]
    gate = gate.evaluated(pooled, drawn(1_000, 8, swapped), retention=0.1).switched("value", 2.5)
    assert gate.active == -1
    assert gate.model is None


def test_the_threshold_is_in_standard_errors_and_has_to_be_passed() -> None:
    gains = Tally.of(np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.3]]))
    gate = replace(gate_of(choosing(0, 0, 0), choosing(1, 1, 1)), gains=gains)
    z = gains.z.tolist()
    assert z == pytest.approx([math.sqrt(3.0), 11.0])
    assert gate.switched("value", 1.7).active == 1  # both pass, and the second has the larger mean
    assert gate.switched("value", z[0]).active == 1
    assert gate.switched("value", z[1]).active == -1


def test_an_empty_log_and_a_gate_without_fits_change_nothing() -> None:
    log, pooled = drawn(10, 9), choosing(0, 0, 0)
    without = ValueGate()
    assert without.evaluated(pooled, log) is without
    assert without.switched("value", 0.0) is without
    assert without.model is None
    assert without.report_lines() == ()
    judged = gate_of(table(MEANS)).evaluated(pooled, log)
    assert judged.evaluated(pooled, log.take(slice(0, 0)), retention=0.5) is judged


def test_ties_go_to_the_first_action_for_all_alike() -> None:
    contexts = Contexts(KINDS)
    tied = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    assert greedy_policy(tied, contexts).argmax(axis=1).tolist() == [0, 1, 0]
    assert greedy_policy(tied, contexts).sum(axis=1).tolist() == [1.0, 1.0, 1.0]
    gate = gate_of(table(tied)).evaluated(choosing(0, 1, 0), drawn(100, 10))
    assert gains_of(gate).squares.tolist() == [0.0]


def test_play_is_greedy_among_the_actions_that_may_be_chosen() -> None:
    eligible = np.array([[False, True, True], [True, False, True], [True, True, False]])
    contexts = Contexts(KINDS, eligible=eligible)
    play = greedy_policy(choosing(0, 1, 2).scores(contexts), contexts)
    assert (play[~eligible] == 0.0).all()
    assert play.sum(axis=1).tolist() == [1.0, 1.0, 1.0]
    below = greedy_policy(np.array([[-5.0, -7.0, -6.0]]), Contexts(KINDS[:1], eligible=eligible[:1]))
    assert below.tolist() == [[0.0, 0.0, 1.0]]


def test_where_masks_leave_both_the_same_choice_nothing_is_gained() -> None:
    eligible = np.tile([False, True, False], (50, 1))
    ones = np.ones(50, dtype=np.int64)
    log = rows(np.zeros(50, dtype=np.int64), ones, np.linspace(0.0, 1.0, 50), eligible)
    gate = gate_of(choosing(2, 2, 2)).evaluated(choosing(0, 0, 0), log)
    assert gains_of(gate).squares.tolist() == [0.0]


def test_an_action_that_only_one_of_them_knows_is_judged_like_any_other() -> None:
    # The pooled model tries action 2 for want of data, the alternative knows it to be worse than action 0.
    known = [True, True, False]
    pooled = table([[0.2, 0.1, 0.0]] * 3, known).eagerly()
    log = drawn(400, 11)
    gate = gate_of(choosing(0, 0, 0)).evaluated(pooled, log)
    told = np.full((400, 3), [0.2, 0.1, 0.2])
    difference = np.where(log.action == 0, 1.0, np.where(log.action == 2, -1.0, 0.0))
    surprise = log.reward - told[np.arange(400), log.action]
    by_hand = difference / log.propensity * surprise
    assert gains_of(gate).mean[0] == pytest.approx(by_hand.mean(), rel=1e-12)
    assert gains_of(gate).squares[0] == pytest.approx(by_hand @ by_hand, rel=1e-12)


def test_report_lines_give_every_gain_and_name_the_active_fit() -> None:
    gate = replace(gate_of(*[table(MEANS)] * 4), gains=Tally.of(np.array([[0.0, 1.0, 2.0]] * 4)))
    lines = gate.report_lines()
    assert lines[0] == "constrained fit: estimated value gain +1.0000 +- 0.5774 per round over the pooled fit"
    assert [line.split(" fit:")[0] for line in lines[:4]] == list(ALTERNATIVES)
    assert lines[-1] == "active fit: pooled"
    assert gate.switched("always").report_lines()[-1] == "active fit: constrained"
