"""Finality of outcomes: when one is final, and that fits read whole cohorts of decisions."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.engine.finality import final_prefix, final_time

times = st.floats(0.0, 1e9)


@given(times, st.none() | times, st.none() | times, st.booleans())
def test_an_outcome_is_final_when_nothing_can_change_it(
    decided: float, waited: float | None, timeout: float | None, said_final: bool
) -> None:
    rewarded = None if waited is None else decided + waited
    final = final_time(decided, rewarded, timeout, said_final=said_final)
    assert final >= decided
    if timeout is None:
        assert final == (math.inf if rewarded is None else rewarded)
    else:
        assert final <= decided + timeout
        if not said_final or rewarded is None:
            assert final == decided + timeout


@given(times, times, times)
def test_under_a_timeout_finality_says_nothing_of_the_reward(
    decided: float, waited: float, timeout: float
) -> None:
    assert final_time(decided, decided + waited, timeout) == final_time(decided, None, timeout)


@given(arrays(np.bool_, st.integers(0, 40)))
def test_a_prefix_is_all_final_and_ends_before_an_open_row(is_final: Bools) -> None:
    n = final_prefix(is_final)
    assert is_final[:n].all()
    assert n == len(is_final) or not is_final[n]


@given(arrays(np.int64, st.integers(0, 30), elements=st.integers(0, 40)), st.integers(0, 45))
def test_fits_read_a_row_once_none_before_it_is_open(final: Ints, now: int) -> None:
    readable = np.maximum.accumulate(final) <= now
    assert final_prefix(final <= now) == readable.sum()
