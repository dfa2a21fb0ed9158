"""Pictures of two actions on an interval: reward over context, and which action is played where."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.reports.figures import COLOURS
from gyrfalcon_paper.exhibits.exhibit import Columns
from gyrfalcon_paper.linear_models import heights_of
from gyrfalcon_paper.tables import numbers, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACTION_COLOURS = (COLOURS[1], COLOURS[0])
"""Blue and vermilion, for actions 1 and 2."""
DOTTED = (0, (1, 1.6))
_STRIP = 0.045
"""The height of the strip of played actions, as a fraction of the picture's."""


def model_table(model: Scorer) -> Columns:
    """A linear model by its values at the ends of (0, 1)."""
    first, second = heights_of(model)
    return table_of(x=[0.0, 1.0], action_1=first, action_2=second)


def truth_table(example: StepExample | SensitivityExample, jump: float) -> Columns:
    """Expected rewards on both sides of the jump; straight in between."""
    x = np.array([0.0, jump, np.nextafter(jump, 1.0), 1.0])
    means = example.means(x)
    return table_of(piece=[1, 1, 2, 2], x=x, action_1=means[:, 0], action_2=means[:, 1])


def draw_truth(axes: Axes, truth: Columns, **style: object) -> None:
    """Draw the expected rewards of both actions, broken where they jump."""
    piece, x = numbers(truth, "piece"), numbers(truth, "x")
    for colour, name in zip(ACTION_COLOURS, ("action_1", "action_2"), strict=True):
        for part in (piece == 1, piece == 2):
            axes.plot(x[part], numbers(truth, name)[part], **{"color": colour, **style})  # type: ignore[arg-type]


def draw_model(axes: Axes, model: Columns, **style: object) -> None:
    """Draw a linear model: columns x, action_1 and action_2."""
    for colour, name in zip(ACTION_COLOURS, ("action_1", "action_2"), strict=True):
        axes.plot(numbers(model, "x"), numbers(model, name), **{"color": colour, **style})  # type: ignore[arg-type]


def play_table(scores: Callable[[Floats], Floats], switch: float) -> Columns:
    """Which action scores best up to the switch and after it; one stretch if it is not within (0, 1)."""
    inside = 0.0 < switch < 1.0
    starts, stops = ([0.0, switch], [switch, 1.0]) if inside else ([0.0], [1.0])
    middles = (np.array(starts) + np.array(stops)) / 2.0
    return table_of(start=starts, stop=stops, action=scores(middles).argmax(axis=1) + 1)


def draw_play(axes: Axes, play: Columns) -> None:
    """Draw a strip along the bottom that says which action is played where."""
    for start, stop, action in zip(
        *(numbers(play, name) for name in ("start", "stop", "action")), strict=True
    ):
        colour = ACTION_COLOURS[int(action) - 1]
        axes.axvspan(start, stop, ymin=0.0, ymax=_STRIP, color=colour, alpha=0.85, linewidth=0)
        if stop - start > 0.3:
            axes.annotate(
                f"plays action {action:.0f}",
                ((start + stop) / 2, _STRIP),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                color=colour,
            )


def dress(axes: Axes, title: str, low: float, high: float) -> None:
    """Put titles and limits that such pictures share."""
    axes.set(xlabel="context x", ylabel="reward", title=title, xlim=(0.0, 1.0), ylim=(low, high))
