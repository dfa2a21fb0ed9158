"""A diagnosis as a part of a page: verdict, recommendation, map, and tables of the evidence."""

from __future__ import annotations

import math

from gyrfalcon.core.digits import rounded_to, significant, span_text
from gyrfalcon.evaluation.diagnosis.result import Diagnosis
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.reports.misspecification_map import misspecification_map
from gyrfalcon.reports.page import Cell, Section, Table, literal


def misspecification_section(found: Diagnosis, *, title: str = "Is the reward model wrong?") -> Section:
    """A section of a page on a diagnosis: what was found, the map, and sections with the evidence.

    Parameters
    ----------
    found
        What `diagnose` has found.
    title
        Heading of the section.
    """
    picture = misspecification_map(found) if found.profiles else None
    caption = (
        f"Rewards above and below what the class predicts, in {found.reward_unit}, from {found.misfit_rows}."
        if found.profiles
        else ""
    )
    region = [f"Most of all: {found.region}."] if found.region is not None else []
    texts = (found.verdict, class_sentence(found), *found.recommendations, *region)
    return Section(
        title,
        paragraphs=[literal(text) for text in texts],
        figure=picture,
        caption=caption,
        sections=[*_how_wrong(found), *_where(found), *_cost(found), *_epochs(found), *_open(found)],
    )


def class_sentence(found: Diagnosis) -> str:
    """Which class was tested."""
    return f"The model class in question is {found.model_class}."


def size_sentence(found: Diagnosis) -> str:
    """What b is, in the unit of rewards squared, and what typical error that means."""
    b = found.misspecification
    if b is None:
        return "The misspecification b could not be estimated."
    sign = "at least" if b.is_lower_bound else "about"
    return (
        f"The misspecification b is {sign} {significant(b.b_hat, 4)} ({b.level:.0%} interval "
        f"{significant(b.lower, 4)} to {significant(b.upper, 4)}), in squared {found.reward_unit}: a typical "
        f"error of {significant(math.sqrt(b.b_hat))} {found.reward_unit} "
        f"({significant(math.sqrt(b.lower))} to {significant(math.sqrt(b.upper))})."
    )


def method_sentence(found: Diagnosis) -> str:
    """How b was estimated, from which rows, and what the interval rests on."""
    b = found.misspecification
    if b is None:
        return ""
    return f"Method: {b.method.replace('_', ' ')}, of {b.rows}. {b.why.capitalize()} {b.assumption}"


def gain_text(gain: Interval | None) -> str:
    """A gain with its interval; 0 where both policies choose the same, and a dash without a gain.

    >>> gain_text(Interval(0.01, 0.03, 0.95, "adaptive weights"))
    '+0.02 (+0.01 to +0.03)'
    """
    if gain is None:
        return "-"
    if gain.low == gain.high == 0.0:
        return "0"
    middle = significant((gain.low + gain.high) / 2.0, signed=True)
    return f"{middle} ({significant(gain.low, signed=True)} to {significant(gain.high, signed=True)})"


def value_text(value: Interval, *, costs: bool) -> str:
    """A value with its interval; a cost where rewards are costs.

    >>> value_text(Interval(-0.3, -0.1, 0.95, "adaptive weights"), costs=True)
    '0.200 (0.100 to 0.300)'
    """
    low, high = (-value.high, -value.low) if costs else (value.low, value.high)
    return f"{rounded_to((low + high) / 2.0, high - low)} ({span_text(low, high)})"


def _how_wrong(found: Diagnosis) -> list[Section]:
    paragraphs = [size_sentence(found), method_sentence(found)]
    if found.misspecification is not None:
        paragraphs += found.misspecification.notes
    table = None
    if found.tests is not None:
        rows: list[list[Cell]] = [
            [_TESTS[one.method], one.n_rows, one.p_value, one.adjusted_p_value] for one in found.tests.tests
        ]
        caption = f"Tests of the hypothesis b = 0, of {found.tests.rows}; adjusted by Holm's rule."
        table = Table(["test", "rows", "p value", "adjusted"], rows, caption)
        paragraphs += [note for note in found.tests.notes if note not in paragraphs]
    return [Section("How wrong it is", [text for text in paragraphs if text], table=table)]


_TESTS = {"reset": "added terms (RESET)", "kernel": "kernel moments within actions"}


def _where(found: Diagnosis) -> list[Section]:
    if not found.by_action:
        return []
    rows: list[list[Cell]] = [
        [literal(str(one.action)), one.n_rows, one.excess, one.standard_error, one.z, f"{one.share:.0%}"]
        for one in sorted(found.by_action, key=lambda one: -one.excess)
    ]
    names = ["action", "rows", "mean squared error", "standard error", "z", "share"]
    caption = f"Squared distance to a richer class, in squared {found.reward_unit}; below 0 by chance."
    actions = Section("By action", table=Table(names, rows, caption))
    features: list[list[Cell]] = [[literal(one.feature), one.explained, one.z] for one in found.profiles[:12]]
    along = Table(["feature", "part of b", "z"], features, "What goes along with one feature alone.")
    return [actions, *([Section("By feature", table=along)] if features else [])]


def _cost(found: Diagnosis) -> list[Section]:
    cost = found.cost
    if cost is None:
        return []
    unit = f"{'cost' if found.costs else 'reward'} a round ({found.reward_unit})"
    rows: list[list[Cell]] = [
        [one.policy, value_text(one.value, costs=found.costs), gain_text(one.gain)]
        for one in (cost.plain, cost.uniform, cost.richer)
    ]
    caption = (
        f"Doubly robust values over {cost.n_rows:,} rows, {cost.plain.value.level:.0%} intervals; the richer "
        f"class is {cost.chosen} in the last block. A gain above 0 is better."
    )
    table = Table(["greedy policy of", unit, "gain over the first"], rows, caption)
    return [Section("What it costs", cost.notes, table=table)]


def _epochs(found: Diagnosis) -> list[Section]:
    if not found.epochs:
        return []
    rows: list[list[Cell]] = [
        [one.epoch, one.n_rows, round(one.n_uniform), one.excess, one.slack, one.multiplier]
        for one in found.epochs
    ]
    names = ["epoch", "rows so far", "of uniform play", "excess", "noise allows", "multiplier"]
    text = (
        "Excess is how much worse the fit to all rows so far is under uniform play than the best fit in the "
        "class. Where it is above what noise allows, a constraint by passive rows binds, with this "
        "multiplier."
    )
    return [Section("By epoch", [text], table=Table(names, rows))]


def _open(found: Diagnosis) -> list[Section]:
    aside = [
        f"{one.n_rows:,} rows {one.reason} were set aside, the first of them row {one.first_row}."
        for one in found.set_aside
    ]
    texts = [*aside, *found.open_questions]
    return [Section("What this log can't say", texts)] if texts else []
