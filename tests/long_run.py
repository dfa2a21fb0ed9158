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
    return [
        _case([value for _, value in pairs], is_long=sum(place for place, _ in pairs) % every != 0)
        for pairs in product(*numbered)
    ]


def all_long(*columns: Iterable[Any]) -> list[Any]:
    """All combinations of values as parameters of a test, in the long run alone."""
    return [_case(values, is_long=True) for values in product(*columns)]


def _case(values: Iterable[Any], is_long: bool) -> Any:
    names = (str(getattr(value, "__name__", value)) for value in values)
    return pytest.param(*values, marks=pytest.mark.long if is_long else (), id="-".join(names))
