"""The demo's two figures: regret over time, and the estimated rewards after the last round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.reports.figures import draw_band, draw_reference
from gyrfalcon.reports.labels import Label, end_labels, plain_numbers
from gyrfalcon.reports.style import COLOURS, GREY, new_figure, style
from gyrfalcon_paper.demo import GRID, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 3.8  # inches


def regret_over_time(outcomes: Mapping[str, Outcome]) -> Figure:
    """Regret per round of every learner, beside that of uniform play."""
    with style():
        figure = new_figure(7.2, _HEIGHT)
        axes = figure.add_subplot()
        for colour, outcome in zip(COLOURS, outcomes.values(), strict=False):
            draw_band(axes, outcome.rounds, outcome.per_round, colour)
        draw_reference(axes, "uniform play", StepExample().uniform_regret)
        title = "A step fitted by linear models: regret per round"
        axes.set(xscale="log", xlabel="round", ylabel="expected regret per round", title=title)
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.0)
        plain_numbers(axes.xaxis, (1.0,))
        ends = [(name, float(outcome.per_round.middle[-1])) for name, outcome in outcomes.items()]
        labels = [Label(*end, colour) for colour, end in zip(COLOURS, ends, strict=False)]
        end_labels(axes, labels, height_inches=0.8 * _HEIGHT)
    return figure


def estimates(outcomes: Mapping[str, Outcome]) -> Figure:
    """A panel for each learner: the truth, the best linear model, and the estimates of every replication."""
    with style():
        figure = new_figure(8.4, 2.7)
        panels = figure.subplots(1, len(outcomes), sharey=True, squeeze=False)[0]
        for axes, colour, (name, outcome) in zip(panels, COLOURS, outcomes.items(), strict=False):
            _truth(axes)
            curves = outcome.estimates[:, 0]
            axes.plot(GRID, curves.T, color=colour, linewidth=0.7, alpha=_alpha(len(curves)))
            axes.set(title=name, xlabel="context x", xlim=(0.0, 1.0), ylim=(-0.45, 1.45))
        panels[0].set_ylabel("expected reward of action 1")
        _labels(panels[0])
    return figure


def _truth(axes: Axes) -> None:
    axes.plot([0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0], color=GREY, linewidth=1.2, zorder=3)
    intercept, slope = StepExample().best_coefficients[0]
    axes.plot(
        [0.0, 1.0],
        [intercept, intercept + slope],
        color="black",
        linewidth=1.2,
        linestyle=(0, (2, 2)),
        zorder=4,
    )
    axes.axhline(0.5, color=GREY, linewidth=0.6, zorder=0)


def _labels(axes: Axes) -> None:
    axes.annotate("truth", (0.98, 0.95), color=GREY, fontsize=8, ha="right", va="top")
    axes.annotate("best linear", (0.98, 1.29), color="black", fontsize=8, ha="right", va="bottom")
    axes.annotate("action 2", (0.02, 0.5), color=GREY, fontsize=8, va="bottom")


def _alpha(n_curves: int) -> float:
    """Opacity that lets many overlapping curves show where they are dense."""
    return float(np.clip(20.0 / n_curves, 0.2, 0.9))
