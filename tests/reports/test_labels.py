from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.reports.labels import kept_apart

heights = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).map(np.array)


@given(heights, st.floats(0.01, 0.3))
def test_labels_are_kept_apart_in_their_order(wanted: np.ndarray, apart: float) -> None:
    moved = kept_apart(wanted, apart)
    assert (np.diff(np.sort(moved)) >= apart - 1e-9).all()
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(moved[order]) > 0.0).all()


@given(heights, st.floats(0.01, 0.3))
def test_labels_move_as_little_as_they_can(wanted: np.ndarray, apart: float) -> None:
    moved = kept_apart(wanted, apart)
    # Moving any tail of the sorted labels a little further up, or any head down, is allowed and no better.
    order = np.argsort(wanted, kind="stable")
    best = ((moved - wanted) ** 2).sum()
    for cut in range(len(wanted)):
        for nudge, part in ((1e-4, order[cut:]), (-1e-4, order[: cut + 1])):
            other = moved.copy()
            other[part] += nudge
            assert ((other - wanted) ** 2).sum() >= best - 1e-12


@given(heights, st.floats(0.01, 0.08))
def test_labels_stay_between_the_ends_if_there_is_room(wanted: np.ndarray, apart: float) -> None:
    moved = kept_apart(wanted, apart, 0.0, 1.0)
    assert moved.min() >= 0.0
    assert moved.max() <= 1.0 + 1e-9
    assert (np.diff(np.sort(moved)) >= apart - 1e-9).all()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True).map(np.array))
def test_labels_that_are_apart_stay(places: np.ndarray) -> None:
    assert np.allclose(kept_apart(places * 0.1, 0.1), places * 0.1)
