"""Figures of an evaluation: estimates, rewards over time, propensities, and how far weights overlap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, pairwise
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.reports.evaluation_decision import shown_policies
from gyrfalcon.reports.figures import COLOURS, GREY, new_figure, style
from gyrfalcon.reports.labels import plain_numbers, shown_name, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VERDICT_COLOURS = {"trust": "#009E73", "caution": "#E69F00", "do not trust": "#D55E00"}
"""Colours of verdicts, which are always named beside them."""
MOST_CURVES, MOST_ACTIONS = 5, 6
"""How many policies and actions have a panel or a curve of their own."""
_YEAR_2000, _YEAR_2100 = 946_684_800, 4_102_444_800
"""Seconds since 1970, between which times are dates and no counts."""
_BLOCKS = 20
_LEAST_ROWS = 20


def estimates_figure(evaluation: Evaluation) -> Figure:
    """Values of policies with both intervals, one below the other."""
    policies, window = evaluation.policies, _window(evaluation.policies)
    with style():
        figure = new_figure(7.2, 1.1 + (0.62 if len(policies) <= 10 else 0.44) * len(policies))
        axes = figure.add_subplot()
        for place, policy in enumerate(policies):
            colour = VERDICT_COLOURS[policy.verdict.level]
            _span(axes, policy.sequence, place + 0.18, "0.6", 1.6, window)
            _span(axes, policy.interval, place - 0.08, colour, 3.2, window)
            if window[0] <= policy.value <= window[1]:
                axes.plot(
                    policy.value,
                    place - 0.08,
                    "o",
                    color=colour,
                    markeredgecolor="white",
                    markeredgewidth=0.6,
                    markersize=6,
                )
        if evaluation.baseline:
            reference = evaluation[evaluation.baseline].value
            axes.axvline(reference, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        axes.set_yticks(
            range(len(policies)), [f"{shown_name(one.name)}\n{one.verdict.level}" for one in policies]
        )
        axes.set_ylim(len(policies) - 0.5, -0.6)
        room = 0.03 * (window[1] - window[0])
        axes.set_xlim(window[0] - room, window[1] + room)
        whole_numbers(axes.xaxis)
        axes.set_xlabel(shown_name(evaluation.measure, 80))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color="0.92")
        axes.set_axisbelow(True)
    return figure


def rewards_figure(table: DecisionTable, evaluation: Evaluation) -> Figure:
    """Mean rewards in blocks of rows over time: a panel for each policy, with the logged ones behind."""
    rewards = table.reward[evaluation.places]
    policies = shown_policies(evaluation.policies, evaluation, MOST_CURVES)
    edges = _edges(len(rewards))
    behind, colours = _block_means(rewards, edges)[0], _colours(evaluation)
    low, high = _limits(rewards, policies, edges)
    with style():
        figure = new_figure(7.2, 0.7 + 1.25 * len(policies))
        panels = figure.subplots(len(policies), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, policy in zip(panels, policies, strict=True):
            middle, colour = (edges[:-1] + edges[1:]) / 2.0, colours[policy.name]
            axes.plot(middle, behind, color="0.75", linewidth=1.2)
            _draw_blocks(axes, middle, _block_means(policy.contributions, edges), (low, high), colour)
            axes.axhline(policy.value, color=colour, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
            axes.set_title(shown_name(policy.name, 80), fontsize=8.5, color=colour, pad=3)
            axes.set_ylim(low, high)
            whole_numbers(axes.yaxis)
        panels[-1].set(
            xlim=(0, len(rewards)), xlabel=f"row, in the order of time{_period(table, evaluation)}"
        )
        whole_numbers(panels[-1].xaxis)
        figure.supylabel(shown_name(evaluation.measure, 40), fontsize=9)
    return figure


def propensities_figure(table: DecisionTable, evaluation: Evaluation) -> Figure:
    """How likely the logged actions were, by action."""
    rows = table.take(evaluation.places)
    counts = np.bincount(rows.action, minlength=rows.n_actions)
    shown = np.argsort(-counts, kind="stable")[:MOST_ACTIONS]
    shown = np.sort(shown[counts[shown] > 0])
    low = min(max(float(np.nanmin(rows.propensity)), 1e-6), 0.5)
    bins = np.geomspace(low * 0.95, 1.0, 26)
    bins[-1] = 1.001
    with style():
        figure = new_figure(7.2, 0.8 + 0.8 * len(shown))
        panels = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, place, colour in zip(panels, shown.tolist(), cycle(COLOURS), strict=False):
            heights, _, bars = axes.hist(
                rows.propensity[rows.action == place], bins=bins, color=colour, alpha=0.85
            )
            names = [f"{int(height):,}" if height else "" for height in heights]
            axes.bar_label(bars, names, fontsize=6.5, color=GREY, padding=1)
            axes.set(xscale="log", yscale="symlog", yticks=[])
            axes.yaxis.minorticks_off()
            axes.spines["left"].set_visible(False)
            axes.set_title(shown_name(rows.actions[place], 80), fontsize=8.5, color=colour, pad=4)
            axes.margins(y=0.3)
        plain_numbers(panels[-1].xaxis, (1.0, 2.0, 5.0) if low > 0.01 else (1.0,))
        panels[-1].set_xlabel("propensity of the logged action (heights in logarithms, numbers are rows)")
    return figure


def overlap_figure(evaluation: Evaluation) -> Figure:
    """Share of the sum of weights that the rows of largest weight carry, for each policy."""
    others = [one for one in evaluation.policies if one.name != "logged" and one.importance.sum() > 0.0]
    colours = _colours(evaluation)
    with style():
        figure = new_figure(7.2, 3.4)
        axes = figure.add_subplot()
        for policy in shown_policies(others, evaluation, MOST_CURVES):
            weights = np.sort(policy.importance * policy.row_weights)[::-1]
            shares = np.cumsum(weights) / weights.sum()
            percent = 100.0 * np.arange(1, len(weights) + 1) / len(weights)
            keep = np.unique(np.geomspace(1, len(weights), 400).astype(int)) - 1
            axes.plot(
                percent[keep], 100.0 * shares[keep], color=colours[policy.name], label=shown_name(policy.name)
            )
        axes.set(xscale="log", xlabel="rows of largest weight, % of all", ylabel="share of all weight, %")
        plain_numbers(axes.xaxis, (1.0,))
        axes.set_ylim(0.0, 102.0)
        axes.axvline(1.0, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        axes.legend(loc="best")
    return figure


def _span(
    axes: Axes,
    interval: Interval | None,
    height: float,
    colour: str,
    width: float,
    window: tuple[float, float],
) -> None:
    """Draw an interval as a line, with an arrow where it goes on outside of the window."""
    if interval is None:
        return
    low, high = window
    ends = [min(max(end, low), high) for end in (interval.low, interval.high)]
    if ends[0] < ends[1]:
        axes.plot(ends, [height, height], color=colour, linewidth=width, solid_capstyle="butt")
    for beyond, edge, marker in ((interval.low < low, low, "<"), (interval.high > high, high, ">")):
        if beyond:
            axes.plot(edge, height, marker, color=colour, markersize=5, clip_on=False)


def _window(policies: Sequence[PolicyValue]) -> tuple[float, float]:
    """What is drawn: intervals of values that the log supports, with as much room on each side.

    Betting sequences may be fifty times as wide, and values that are not to be trusted anywhere.
    """
    kept = [policy.interval for policy in policies if policy.verdict.level != "do not trust"]
    kept = kept or [policy.interval for policy in policies]
    low, high = min(one.low for one in kept), max(one.high for one in kept)
    room = (high - low) or 0.1 * abs(high) or 1.0
    spans = [span for policy in policies for span in (policy.interval, policy.sequence) if span is not None]
    least, most = min(span.low for span in spans), max(span.high for span in spans)
    if not least < most:
        return low - room, high + room
    return max(low - room, least), min(high + room, most)


def _period(table: DecisionTable, evaluation: Evaluation) -> str:
    """The first and the last day, in UTC, where all rows have times that are seconds since 1970."""
    if table.time is None:
        return ""
    times = table.time[evaluation.places]
    if not np.isfinite(times).all() or times.min() < _YEAR_2000 or times.max() > _YEAR_2100:
        return ""
    first, last = (
        np.datetime64(int(time), "s").astype("datetime64[D]") for time in (times.min(), times.max())
    )
    return f" ({first})" if first == last else f" ({first} to {last})"


def _edges(n: int) -> Floats:
    return np.linspace(0, n, max(2, min(_BLOCKS, n // _LEAST_ROWS) + 1)).round()


def _block_means(values: Floats, edges: Floats) -> tuple[Floats, Floats]:
    parts = [values[int(start) : int(stop)] for start, stop in pairwise(edges)]
    means = np.array([part.mean() for part in parts])
    return means, np.array([part.std() / np.sqrt(len(part)) for part in parts])


def _limits(rewards: Floats, policies: Sequence[PolicyValue], edges: Floats) -> tuple[float, float]:
    """Limits in which logged blocks and all values fit, however wild the blocks of a rare row are."""
    heights = _block_means(rewards, edges)[0]
    values = [policy.value for policy in policies]
    low, high = min(float(heights.min()), *values), max(float(heights.max()), *values)
    room = 0.35 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


def _draw_blocks(
    axes: Axes, middle: Floats, blocks: tuple[Floats, Floats], limits: tuple[float, float], colour: str
) -> None:
    """Draw means with two standard errors, and triangles at the edge where a mean is outside."""
    means, errors = blocks
    low, high = limits
    inside = (means >= low) & (means <= high)
    ends = np.clip(means - 2.0 * errors, low, high), np.clip(means + 2.0 * errors, low, high)
    axes.vlines(middle[inside], ends[0][inside], ends[1][inside], color=colour, linewidth=1.0)
    axes.plot(middle[inside], means[inside], "o", color=colour, markersize=3)
    step = 0.04 * (high - low)
    for outside, height, marker in ((means > high, high - step, "^"), (means < low, low + step, "v")):
        axes.plot(middle[outside], np.full(int(outside.sum()), height), marker, color=colour, markersize=4)


def _colours(evaluation: Evaluation) -> dict[str, str]:
    """A colour for each policy, which it has in all figures; the logged play is dark."""
    drawn = shown_policies(evaluation.policies, evaluation, MOST_CURVES)
    first = [policy.name for policy in drawn if policy.name != "logged"]
    rest = [policy.name for policy in evaluation.policies if policy.name not in ("logged", *first)]
    others = [*first, *rest]
    return {"logged": "0.25", **dict(zip(others, cycle(COLOURS), strict=False))}
