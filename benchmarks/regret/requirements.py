"""What is asked of our learners: a number from stored results each, and the bar that it must clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks.regret import measurements as measure
from benchmarks.regret.contestants import AUTO, BASELINE, CLASSES, LINEAR, TREES
from benchmarks.regret.measurements import Measured
from benchmarks.regret.practice.split import REAL
from benchmarks.regret.standings import SURE, Table
from benchmarks.regret.table import number
from gyrfalcon.simulation.trace import Summary

Unit = Literal["points", "reward", "difference", "regret", "z", "times", "s"]
Rule = Literal["at least", "above", "at most"]
SHORT, LONG = 20_000, 100_000
HALF, QUARTER = "reward_second_half", "reward_last_quarter"
_ROUNDING = 1e-12
"""Sums of rewards such as 0.1 + 0.2 may miss a bar that they are meant to reach by so much."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A number that is measured in runs of a given length, and its bar."""

    text: str
    measured: Callable[[Table], Measured | str]
    """The number, or in words why there is none."""
    rule: Rule
    bar: float
    unit: Unit
    n_rounds: int = SHORT
    n_seeds: int = 10
    """So many must have been played before it counts as met or not."""

    def outcome(self, tables: Mapping[int, Table]) -> Outcome:
        """What the stored results say of it."""
        found = self.measured(tables.get(self.n_rounds, {}))
        if isinstance(found, str):
            return Outcome(self, None, found)
        return Outcome(
            self, found, "; ".join(filter(None, (found.note, self._failing(found.by_environment))))
        )

    def _failing(self, by_environment: Mapping[str, Summary]) -> str:
        """Which of several environments fail, and how many surely, in words."""
        failing = {
            environment: one for environment, one in by_environment.items() if not self.holds(one.mean)
        }
        if not failing or len(by_environment) < 2:
            return ""
        values = ", ".join(f"{environment} {self.shown_with(one)}" for environment, one in failing.items())
        surely = sum(abs(one.mean - self.bar) > SURE * one.standard_error for one in failing.values())
        count = f"{len(failing)} of {len(by_environment)} fail"
        return f"{count}, {surely} by more than two standard errors: {values}"

    def holds(self, value: float) -> bool:
        """Whether a number clears the bar."""
        if self.rule == "above":
            return value > self.bar + _ROUNDING
        return value >= self.bar - _ROUNDING if self.rule == "at least" else value <= self.bar + _ROUNDING

    def shown(self, value: float) -> str:
        """A number in the unit of this requirement."""
        match self.unit:
            case "points":
                return f"{100.0 * value:+.2f}"
            case "reward":
                return number(value, digits=4)
            case "difference":
                return f"{value:+.4f}"
        return f"{value:.2f}"

    def shown_with(self, summary: Summary) -> str:
        """The same with its standard error, if it has one."""
        error = "" if math.isnan(summary.standard_error) else self.shown(summary.standard_error)
        return (
            f"{self.shown(summary.mean)} ± {error.removeprefix('+')}" if error else self.shown(summary.mean)
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """A requirement, what was measured of it, and what is to be said of that."""

    requirement: Requirement
    measured: Measured | None
    note: str

    @property
    def verdict(self) -> str:
        """Met or not; "so far" while more is to be played that may change it."""
        if self.measured is None:
            return "not played yet"
        verdict = "met" if self.requirement.holds(self.measured.value) else "not met"
        is_final = self.measured.complete and self.measured.n_seeds >= self.requirement.n_seeds
        return verdict if is_final else f"{verdict} so far"

    @property
    def row(self) -> tuple[str, ...]:
        """Requirement, measured, bar, seeds and verdict as text."""
        own = self.requirement
        seeds = 0 if self.measured is None else self.measured.n_seeds
        of = f"{seeds}" if seeds >= own.n_seeds else f"{seeds} of {own.n_seeds}"
        unit = f" {own.unit}" if own.unit in ("points", "times", "s") else ""
        return own.text, self._value(), f"{own.rule} {own.shown(own.bar)}{unit}", of, self.verdict

    def _value(self) -> str:
        if self.measured is None:
            return ""
        return self.requirement.shown_with(Summary(self.measured.value, self.measured.standard_error))


_REAL = (
    Requirement(
        "16 real sets: linear less LinUCB 0.3",
        partial(measure.difference, name=LINEAR, other=BASELINE, environments=REAL),
        "at least",
        -0.001,
        "points",
    ),
    Requirement(
        "16 real sets: linear less the best Vowpal Wabbit",
        partial(measure.lead_over_wabbits, name=LINEAR, environments=REAL),
        "at least",
        0.025,
        "points",
    ),
    Requirement(
        "16 real sets: auto", partial(measure.mean, name=AUTO, environments=REAL), "at least", 0.885, "reward"
    ),
    Requirement(
        "16 real sets, second half, the worst set: auto less the best fixed class",
        partial(measure.worst_against_best, name=AUTO, others=CLASSES, environments=REAL, part=HALF),
        "at least",
        -0.005,
        "points",
    ),
    Requirement(
        "16 real sets, the worst set: auto less the best fixed class",
        partial(measure.worst_against_best, name=AUTO, others=CLASSES, environments=REAL, part="reward"),
        "at least",
        -0.015,
        "points",
    ),
    Requirement(
        "16 real sets: auto_trees less auto",
        partial(measure.difference, name=TREES, other=AUTO, environments=REAL),
        "above",
        0.0,
        "points",
    ),
)

_SYNTHETIC = (
    *(
        Requirement(
            f"Section 1.1, {LONG:,} rounds, last quarter: {short}",
            partial(measure.mean, name=name, environments=("section 1.1",), part=QUARTER),
            "at least",
            bar,
            "reward",
            LONG,
            20,
        )
        for short, name, bar in (("linear", LINEAR, 0.740), ("auto", AUTO, 0.745))
    ),
    *(
        Requirement(
            f"{environment}, second half: auto less the best fixed class",
            partial(
                measure.worst_against_best, name=AUTO, others=CLASSES, environments=(environment,), part=HALF
            ),
            "at least",
            -0.005,
            "points",
        )
        for environment in ("xor", "sinus", "bump")
    ),
    *(
        Requirement(
            f"Appendix E, {LONG:,} rounds, last quarter: {short} less LinUCB 0.3",
            partial(
                measure.difference, name=name, other=BASELINE, environments=("appendix E",), part=QUARTER
            ),
            "at least",
            bar,
            "difference",
            LONG,
        )
        for short, name, bar in (("linear", LINEAR, -0.008), ("auto", AUTO, -0.005))
    ),
    *(
        Requirement(
            f"rare rewards: z of {short} less LinUCB 0.3",
            partial(measure.z_of_difference, name=name, other=BASELINE, environments=("rare",)),
            "above",
            -2.0,
            "z",
        )
        for short, name in (("linear", LINEAR), ("auto", AUTO))
    ),
)

_TIMES = (
    *(
        Requirement(
            f"processor time, {over}: {first} over {second}",
            partial(measured, name=name, other=other, environments=REAL),
            "at most",
            bar,
            "times",
        )
        for first, name, second, other, bar in (
            ("linear", LINEAR, "LinUCB 0.3", BASELINE, 2.0),
            ("auto", AUTO, "linear", LINEAR, 5.0),
        )
        for over, measured in (
            ("16 real sets together", measure.times_as_long),
            ("the worst of them", measure.most_times_as_long),
        )
    ),
    Requirement(
        "processor time, the worst of them: auto_trees less auto",
        partial(measure.most_seconds_more, name=TREES, other=AUTO, environments=REAL),
        "at most",
        60.0,
        "s",
    ),
)

REQUIREMENTS = (*_REAL, *_SYNTHETIC, *_TIMES)
"""In runs of 20,000 rounds unless they say otherwise."""
