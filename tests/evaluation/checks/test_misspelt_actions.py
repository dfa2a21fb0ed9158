"""A label that was misspelt in a few rows is named; rare actions of other kinds are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log
from gyrfalcon.evaluation.checks.finding import LogFinding


def log(changes: dict[int, str], *, known: bool = True, **columns: Any) -> DecisionTable:
    rng = np.random.default_rng(1)
    label = rng.choice(["summer", "winter", "kids"], 2_000).astype(object)
    for row, text in changes.items():
        label[row] = text
    return DecisionTable.of(
        actions=sorted(set(label)),
        action=label,
        reward=rng.random(2_000),
        propensity=np.full(2_000, 1 / 3 if known else np.nan),
        **columns,
    )


def found(table: DecisionTable) -> list[LogFinding]:
    return [one for one in check_log(table).findings if one.kind == "action_misspelt"]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("label", ["sumer", "Summer", "summer ", "sumemr"])
def test_a_misspelt_label_is_found_with_its_rows(label: str, known: bool) -> None:
    (finding,) = found(log({100: label, 700: label}, known=known))
    assert finding.rows.tolist() == [100, 700]
    assert finding.severity == "warning"
    assert not finding.sets_aside
    assert f"the action is {label!r}, and 'summer', which is nearly the same, in " in finding.message


@pytest.mark.parametrize("label", ["autumn", "summer 2", "kid's winter sale"])
def test_other_rare_labels_are_none(label: str) -> None:
    assert not found(log({100: label}))


def test_a_rare_action_is_none_where_its_propensity_says_so() -> None:
    table = log({100: "sumer"})
    table.propensity[100] = 1 / 2_000
    assert not found(table)


def test_labels_of_known_distributions_are_those_of_the_policy() -> None:
    assert not found(log({100: "sumer"}, distribution=np.full((2_000, 4), 0.25)))


def test_a_label_in_many_rows_is_none() -> None:
    assert not found(log(dict.fromkeys(range(60), "sumer")))
