"""Values as JSON has them."""

from __future__ import annotations

import datetime
import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.json_values import json_value

KEYS = st.text() | st.integers() | st.tuples(st.integers(), st.text())
LEAVES = (
    (st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates())
    | st.floats().map(np.float64)
    | st.integers(-9, 9).map(np.int64)
    | st.lists(st.floats(), max_size=3).map(np.array)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_is_strict_json_and_stays_when_read_again(value: object) -> None:
    found = json_value(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert json_value(found) == found


def test_numbers_and_labels_keep_what_they_say() -> None:
    given_ = {
        ("a", 1): np.array([1, 2]),
        "nan": math.nan,
        "day": datetime.date(2026, 1, 2),
        "x": np.float64(0.5),
    }
    assert json_value(given_) == {"('a', 1)": [1, 2], "nan": None, "day": "2026-01-02", "x": 0.5}
