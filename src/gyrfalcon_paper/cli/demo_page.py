"""The demonstration as one HTML page: the example, its two figures, what happened, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.cli._output import with_error
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.reports.figures import COLOURS, GREY, draw_band, draw_reference, new_figure, picture, style
from gyrfalcon.reports.labels import Label, end_labels, plain_numbers
from gyrfalcon.reports.page import Page, Section, Table
from gyrfalcon_paper.demo import GRID, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ENVIRONMENT = [
    "A context <i>x</i> is uniform on (0, 1), and there are two actions. Action 1 earns 1 where <i>x</i> is "
    "above one half, and 0 elsewhere; action 2 earns one half everywhere; rewards are noisy. LinUCB, FALCON "
    "and Epsilon-FALCON fit a linear model per action, and no linear model is a step.",
    "Still a linear model would do. The best one for action 1, -0.25 + 1.5<i>x</i>, crosses that of action 2 "
    "at one half, so its greedy policy is optimal. But it is the best under uniform play. A learner that "
    "plays action 1 where it pays sees it there alone, and there it always earns 1: the linear fit to those "
    "data is flat, and its greedy policy plays action 1 everywhere.",
]
_LEARNERS = (
    "<b>LinUCB</b> fits all rows so far and adds a bonus for what is uncertain. <b>FALCON</b> fits the rows "
    "of its last epoch, and plays an action the less the further its estimate falls behind. "
    "<b>Epsilon-FALCON</b> does the same, but plays uniformly in a small passive share of rounds, and keeps "
    "its fit close to what those rows support. <b>AdaptiveFalcon</b>, the default of <code>Bandit</code>, "
    "also chooses its model class from the data: linear models, or ones with products, splines and random "
    "Fourier features as well."
)
_NEXT = [
    "<code>gyrfalcon simulate EpsilonFalcon StepExample</code> plays any learner in any environment; "
    "<code>gyrfalcon learners</code> lists them.",
    "<code>gyrfalcon sweep grid.toml --out results</code> runs a grid of learners, environments and seeds on "
    "all cores, and goes on where it was stopped.",
    "<code>gyrfalcon paper --out paper</code> computes every figure, table and claim of the paper.",
    "<code>gyrfalcon bounds -T 1e6 -K 2 -d 4 -b 0.03125</code> prints the theorem's bound for this problem.",
]


def demo_page(outcomes: Mapping[str, Outcome], n_rounds: int, n_replications: int) -> str:
    """The page of the demonstration as HTML."""
    size = f"{n_rounds:,} rounds, {n_replications} replications"
    return Page(
        "A misspecified reward model",
        "Section 1.1 of Krishnamurthy, Hadad and Athey (2021), played by four learners: "
        f"{size}. All learners see the same contexts and potential rewards (common random numbers).",
        [
            Section("The environment", _ENVIRONMENT),
            _regret(outcomes, size),
            _estimates(outcomes),
            Section("How to go on", _NEXT),
        ],
    ).html()


def _regret(outcomes: Mapping[str, Outcome], size: str) -> Section:
    return Section(
        "Regret over time",
        [_LEARNERS, _late(outcomes)],
        picture(regret_over_time(outcomes), "svg"),
        "Expected regret per round over stretches that double, as epochs do, so that each has its full share "
        "of passive rounds; bands of two standard errors.",
        Table(*table_of(outcomes), caption=f"Expected regret, standard errors in brackets: {size}."),
    )


def table_of(outcomes: Mapping[str, Outcome]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: regret in all and per round of the last half, with standard errors."""
    rows = [
        [
            name,
            with_error(outcome.cumulative, 0),
            with_error(outcome.late, 4),
            str(outcome.n_replications),
        ]
        for name, outcome in outcomes.items()
    ]
    return ["learner", "cumulative", "per round, last half", "replications"], rows


def _late(outcomes: Mapping[str, Outcome]) -> str:
    costs = ", ".join(f"{name} {outcome.late.mean:.4f}" for name, outcome in outcomes.items())
    best = min(outcomes, key=lambda name: outcomes[name].late.mean)
    return (
        f"Over the last half of the rounds a round costs: {costs}; the least is {best}'s. Uniform play, and "
        f"action 1 everywhere, would cost {StepExample().uniform_regret}, the best linear model nothing."
    )


def _estimates(outcomes: Mapping[str, Outcome]) -> Section:
    return Section(
        "Estimated rewards after the last round",
        [_greedy(outcomes)],
        picture(estimates(outcomes), "svg"),
        "The estimated reward of action 1 in each replication, the best linear model (dotted), and the truth "
        "(grey). The greedy policy plays action 1 where its estimate is above that of action 2.",
    )


def _greedy(outcomes: Mapping[str, Outcome]) -> str:
    costs = "; ".join(f"{name} {outcome.greedy_regret():.4f}" for name, outcome in outcomes.items())
    return (
        "The greedy policy of the final estimates loses one half wherever they rank the two actions wrongly. "
        f"Its expected regret per round, averaged over replications: {costs}. "
        "For the best linear model it is 0."
    )


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
