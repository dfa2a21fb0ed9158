"""Rows that are read in pieces: the same answers as at once, and faults found wherever they are."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.estimators import validation
from tests.evaluation.estimators import direct
from tests.evaluation.estimators.direct import Rows

N = 40_000
MANY = direct.random_rows(0, N, 6)
"""More rows than are looked at together."""


def test_pieces_are_smaller_than_the_log() -> None:
    assert len(list(validation.blocks(N, 6))) > 1
    covered = np.concatenate([np.arange(N)[rows] for rows in validation.blocks(N, 6, 2)])
    np.testing.assert_array_equal(covered, np.arange(N))


def test_values_of_many_rows_follow_the_formulas() -> None:
    rows = np.arange(N)
    weights = MANY.target[rows, MANY.actions] / MANY.propensities
    expected = (MANY.target * MANY.predictions).sum(axis=1)
    residuals = MANY.rewards - MANY.predictions[rows, MANY.actions]
    ips, dr = ev.inverse_propensity(*MANY.log), ev.doubly_robust(*MANY.all)
    np.testing.assert_allclose(ips.contributions, weights * MANY.rewards, atol=1e-12)
    np.testing.assert_allclose(dr.contributions, expected + weights * residuals, atol=1e-11)


@pytest.mark.parametrize("order", ["F", "reversed", "sliced"])
def test_layouts_in_memory_do_not_matter(order: str) -> None:
    def laid_out(table: Floats) -> Floats:
        if order == "F":
            return np.asfortranarray(table)
        if order == "reversed":
            return np.ascontiguousarray(table[:, ::-1])[:, ::-1]
        return np.stack([table, table], axis=2)[:, :, 1]

    other = Rows(
        MANY.rewards, MANY.actions, MANY.propensities, laid_out(MANY.target), laid_out(MANY.predictions)
    )
    assert ev.doubly_robust(*other.all).value == pytest.approx(ev.doubly_robust(*MANY.all).value, abs=1e-12)
    assert ev.inverse_propensity(*other.log).value == pytest.approx(
        ev.inverse_propensity(*MANY.log).value, abs=1e-12
    )


def test_a_target_that_is_one_row_for_all_gives_what_its_copies_give() -> None:
    one = np.array([0.1, 0.2, 0.3, 0.0, 0.15, 0.25])
    shared, copied = np.broadcast_to(one, (N, 6)), np.tile(one, (N, 1))
    log = MANY.rewards, MANY.actions, MANY.propensities
    for table in (shared, copied):
        assert ev.inverse_propensity(*log, table).value == ev.inverse_propensity(*log, copied).value
        assert ev.doubly_robust(*log, table, MANY.predictions).value == pytest.approx(
            ev.doubly_robust(*log, copied, MANY.predictions).value, abs=1e-12
        )
    with pytest.raises(ValueError, match=r"row 0: the probabilities of target sum to 1.5"):
        ev.inverse_propensity(*log, np.broadcast_to(one * 1.5, (N, 6)))


def changed(column: str) -> Rows:
    columns = {
        name: getattr(MANY, name).copy()
        for name in ("rewards", "actions", "propensities", "target", "predictions")
    }
    if column == "target":
        columns["target"][35_000] = [0.5, 0.7, 0.0, 0.0, 0.0, 0.0]
    else:
        columns[column][35_000] = {"rewards": np.nan, "propensities": 0.0, "actions": 6}[column]
    return Rows(**columns)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("rewards", "row 35000: the reward is nan"),
        ("propensities", "row 35000: the played action has a propensity of 0.0"),
        ("actions", "row 35000: the action is 6, but target has columns for 0 to 5"),
        ("target", "row 35000: the probabilities of target sum to 1.2"),
    ],
)
def test_a_fault_in_a_later_piece_has_its_own_row_number(column: str, words: str) -> None:
    rows = changed(column)
    with pytest.raises(ValueError, match=re.escape(words)):
        ev.inverse_propensity(*rows.log)
    with pytest.raises(ValueError, match=re.escape(words)):
        ev.doubly_robust(*rows.all)


def test_numbers_that_overflow_are_named() -> None:
    log = [1.0, 1e300], [0, 0], [0.5, 1e-300], [[1.0, 0.0]] * 2, [[0.0, 0.0]] * 2
    with pytest.raises(ValueError, match=re.escape("row 1: the reward 1e+300 with propensity 1e-300 gives")):
        ev.doubly_robust(*log)


def test_inputs_are_left_as_they_were() -> None:
    before = [column.copy() for column in MANY.all]
    ev.inverse_propensity(*MANY.log)
    ev.doubly_robust(*MANY.all)
    ev.clipped_inverse_propensity(*MANY.log, max_weight=1.0)
    for column, copy in zip(MANY.all, before, strict=True):
        np.testing.assert_array_equal(column, copy)
