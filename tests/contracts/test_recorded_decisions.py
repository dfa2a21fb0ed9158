"""Every learner decides as recorded: the same seeds give the same actions and propensities."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tests.contracts.recorded import Record, cases, played

RECORDED = Path(__file__).with_name("recorded_decisions.json")
_SLOW = (
    *("exponential weights", "forest", "boosting", "kernel ridge", "stumps", "tree", "squarecb online"),
    *("always constrained", "adaptive-falcon hybrid", "adaptive-falcon tail"),
)
"""Words of cases that take longer than about 0.3 s, beside those with more than 700 rounds."""


@cache
def recorded() -> dict[str, Record]:
    found: dict[str, Record] = json.loads(RECORDED.read_text())
    return found


def _marked(case: str) -> object:
    _, _, n_rounds = cases()[case]
    slow = n_rounds > 700 or any(word in case for word in _SLOW)
    return pytest.param(case, marks=pytest.mark.long) if slow else case


@pytest.mark.parametrize("case", [_marked(case) for case in cases()])
def test_decisions_are_those_that_were_recorded(case: str) -> None:
    name, environment, n_rounds = cases()[case]
    now, then = played(name, environment, n_rounds), recorded()[case]
    assert now["actions"] == then["actions"]
    assert now["propensities"] == pytest.approx(then["propensities"], abs=1e-6)


def test_every_case_is_recorded_and_nothing_else() -> None:
    assert list(recorded()) == list(cases())
