"""Map and section of a diagnosis: the right panels, the same bytes, nothing from elsewhere."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.specification import Case

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.evaluation.diagnosis.diagnosis import diagnose
from gyrfalcon.evaluation.diagnosis.result import Diagnosis
from gyrfalcon.reports.figures import picture
from gyrfalcon.reports.misspecification_map import map_figure, misspecification_map, shown_actions
from gyrfalcon.reports.misspecification_section import misspecification_section
from gyrfalcon.reports.page import Page
from tests.evaluation.test_diagnosis import planted, table_of


def uniform_step() -> Log:
    log = Case("step", 500, 1, 2, "normal", "uniform").log(0)
    return replace(log, component=np.full(500, PASSIVE))


@pytest.fixture(scope="module")
def simple() -> Diagnosis:
    return diagnose(table_of(uniform_step(), 2), reward_unit="euros")


@pytest.fixture(scope="module")
def wide() -> Diagnosis:
    return diagnose(planted(3, 8, 1, 5, n=4000))


def test_a_panel_for_each_action_and_the_most_misfit_first(simple: Diagnosis) -> None:
    panels = [axes for axes in map_figure(simple).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in panels] == [
        "a\n100% of the misfit",
        "b\n0% of the misfit",
    ]
    assert panels[0].get_xlabel() == "x0"
    assert "euros" in panels[0].get_ylabel()
    low, high = panels[0].get_ylim()
    assert low == -high
    assert high > 0.4


def test_six_of_eight_actions_are_drawn_three_twice_and_the_others_counted(wide: Diagnosis) -> None:
    figure = map_figure(wide)
    assert len(shown_actions(wide)) == 6
    assert wide.actions[shown_actions(wide)[0]] == "f"
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
    assert sum("misfit" in title for title in titles) == 6
    assert sum("over two features" in title for title in titles) == 3
    assert "2 more actions are not shown" in figure.get_suptitle()


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_same_diagnosis_gives_the_same_bytes(simple: Diagnosis, kind: str, start: bytes) -> None:
    picture = misspecification_map(simple, kind)
    assert picture.startswith(start)
    assert picture == misspecification_map(simple, kind)


def test_the_map_holds_nothing_from_elsewhere(simple: Diagnosis) -> None:
    assert not re.findall(r'href="(?!#)', misspecification_map(simple).decode())


def test_what_cannot_be_drawn_is_refused(simple: Diagnosis) -> None:
    with pytest.raises(ValueError, match="kind is 'gif'"):
        misspecification_map(simple, "gif")
    nothing = diagnose(table_of(uniform_step(), 2).take(slice(0, 1)))
    with pytest.raises(ValueError, match="nothing to draw"):
        misspecification_map(nothing)
    section = misspecification_section(nothing)
    assert section.figure is None
    assert [one.title for one in section.sections] == ["How wrong it is", "What this log can't say"]


def test_the_section_has_verdict_map_and_evidence(wide: Diagnosis) -> None:
    section = misspecification_section(wide)
    assert section.paragraphs[0] == wide.verdict
    assert section.figure is not None
    assert [one.title for one in section.sections] == [
        "How wrong it is",
        "By action",
        "By feature",
        "What it costs",
        "By epoch",
    ]
    html = Page("Diagnosis", wide.verdict, [section]).html()
    assert html.count("<figure>") == 1
    assert "added terms (RESET)" in html


def test_costs_are_shown_as_costs() -> None:
    table: DecisionTable = planted(1, 2, 0, 1, n=1000)
    found = diagnose(replace(table, reward=5.0 - table.reward, cost=True), reward_unit="ms")
    (cost,) = [one for one in misspecification_section(found).sections if one.title == "What it costs"]
    assert cost.table is not None
    assert cost.table.columns[1] == "cost a round (ms)"
    first = float(str(cost.table.rows[0][1]).split()[0])
    assert 3.5 < first < 5.0


def test_long_names_and_dollars_leave_the_panels_their_room(simple: Diagnosis) -> None:
    long = {"a": "$5 off $20 for everybody who came back within thirty days", "b": "none 🌞"}
    renamed = replace(
        simple,
        actions=tuple(long.values()),
        by_action=tuple(replace(one, action=long[str(one.action)]) for one in simple.by_action),
        reward_unit="$",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = map_figure(renamed)
        assert picture(figure, "svg").startswith(b"<?xml")
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert all(axes.get_position().width > 0.25 for axes in panels)
    assert all(len(line) <= 30 for axes in panels for line in axes.get_title(loc="left").splitlines())
