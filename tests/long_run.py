"""Which cases of a test are for every run, and which for `make test-long` alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def spread(*columns: Iterable[Any], every: int) -> list[Any]:
    """All combinations of values as parameters of a test: one in `every` in each run, all in the long one.

    The one moves on by a place from each value to the next, so that no value is without a case in each run.
    """
    numbered = [list(enumerate(column)) for column in columns]
    cases = []
    for combination in product(*numbered):
        marks = () if sum(place for place, _ in combination) % every == 0 else pytest.mark.long
        values = [value for _, value in combination]
        cases.append(pytest.param(*values, marks=marks, id="-".join(map(_name, values))))
    return cases


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", value))
