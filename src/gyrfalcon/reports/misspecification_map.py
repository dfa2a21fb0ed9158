"""Pictures of where a model class is wrong: signed misfit along the most telling features, by action."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.diagnosis.profiles import FeatureProfile, PairProfile
from gyrfalcon.evaluation.diagnosis.result import Diagnosis
from gyrfalcon.reports.figures import COLOURS, GREY, new_figure, picture, style
from gyrfalcon.reports.labels import shown_name, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ACTIONS = 6
COLUMNS = 3
ABOVE, BELOW = COLOURS[1], COLOURS[0]
"""Colours of rewards above and below the predictions."""
_TITLE = 24
"""Most characters of an action's name above a panel."""
SURE, SURE_OF_PAIRS = 2.0, 3.0
"""Standard errors at which a bin, and one of many cells over two features, is drawn as sure."""


def misspecification_map(found: Diagnosis, kind: str = "svg") -> bytes:
    """The map of a diagnosis as the content of an SVG or PNG file.

    One panel for each action, those with the largest misfit first: along the most telling feature, how much
    more (blue) or less (orange) rewards are than the class predicts, with intervals of two standard errors.
    Below, where two features vary, the same over both as cells, for the first few actions.

    Parameters
    ----------
    found
        Diagnosis with a profile along at least one feature.
    kind
        "svg", "png" or "pdf".

    Raises
    ------
    ValueError
        If the diagnosis has no profile, or the kind is none of these.
    """
    if kind not in ("svg", "png", "pdf"):
        raise ValueError(f"kind is {kind!r}; choose 'svg', 'png' or 'pdf'.")
    if not found.profiles:
        raise ValueError(
            "the diagnosis has no profile along a feature, so that there is nothing to draw; its "
            "`open_questions` say why."
        )
    return picture(map_figure(found), kind)


def map_figure(found: Diagnosis) -> Figure:
    """The map as a figure of Matplotlib."""
    shown = shown_actions(found)
    n_columns = 2 if len(shown) == 4 else min(len(shown), COLUMNS)
    n_rows = math.ceil(len(shown) / n_columns)
    paired = shown[:n_columns]
    pairs = int(found.pair is not None)
    with style():
        figure = new_figure(2.4 + 2.3 * n_columns, 0.9 + 2.25 * n_rows + 2.45 * pairs)
        grid = figure.subplots(n_rows + pairs, n_columns, squeeze=False)
        for axes in grid.ravel()[len(shown) : n_rows * n_columns]:
            axes.set_visible(False)
        profile = found.profiles[0]
        reach = _reach(profile.residual[shown], profile.standard_error[shown])
        for axes, action in zip(grid.ravel(), shown, strict=False):
            _draw_profile(axes, profile, action, reach)
            axes.set_title(_titled(found, action))
        for axes in grid[:n_rows, 0]:
            axes.set_ylabel(f"reward above prediction\n({shown_name(found.reward_unit)})")
        if found.pair is not None:
            _draw_pairs(figure, grid[n_rows:], found, found.pair, paired)
        figure.suptitle(_headline(found), x=0.01, ha="left", fontsize=10)
    return figure


def shown_actions(found: Diagnosis) -> Ints:
    """Positions of the actions that are drawn, at most six, the most misfit first."""
    excess = {one.action: one.excess for one in found.by_action}
    known = [place for place, label in enumerate(found.actions) if label in excess]
    known = [place for place in known if not np.isnan(found.profiles[0].residual[place]).all()] or known
    return np.array(sorted(known, key=lambda place: -excess[found.actions[place]])[:MOST_ACTIONS])


def _headline(found: Diagnosis) -> str:
    hidden = len(found.actions) - len(shown_actions(found))
    rest = f"; {hidden} more actions are not shown" if hidden else ""
    return (
        "Where rewards are above (blue) and below (orange) what the model class predicts"
        f"{rest}\nbars: two standard errors; hollow: within them; grey curve: a richer class"
    )


def _titled(found: Diagnosis, action: int) -> str:
    misfit = next(one for one in found.by_action if one.action == found.actions[action])
    return f"{shown_name(found.actions[action], _TITLE)}\n{misfit.share:.0%} of the misfit"


def _reach(residual: Floats, error: Floats) -> float:
    """How far up and down the panels go: all bars but the least sure ones."""
    tops = np.abs(residual) + SURE * np.minimum(error, np.nanmedian(error) * 3.0)
    reach = float(np.nanmax(tops)) if np.isfinite(tops).any() else 1.0
    return 1.1 * reach if reach > 0.0 else 1.0


def _draw_profile(axes: Axes, profile: FeatureProfile, action: int, reach: float) -> None:
    middles = (profile.edges[1:] + profile.edges[:-1]) / 2.0
    mean, error = profile.residual[action], profile.standard_error[action]
    axes.axhline(0.0, color=GREY, linewidth=0.9, zorder=0)
    axes.plot(middles, profile.smoothed[action], color="0.6", linewidth=1.4, zorder=1)
    for low, high, at, value, spread in zip(
        profile.edges[:-1], profile.edges[1:], middles, mean, error, strict=True
    ):
        if np.isnan(value):
            continue
        colour = ABOVE if value > 0.0 else BELOW
        sure = abs(value) > SURE * spread
        axes.fill_between([low, high], 0.0, value, color=colour, alpha=0.25 if sure else 0.08, linewidth=0)
        axes.errorbar(
            at,
            value,
            SURE * spread,
            color=colour,
            marker="o",
            markersize=4,
            markerfacecolor=colour if sure else "white",
            linewidth=1.2,
        )
    axes.set(ylim=(-reach, reach), xlabel=shown_name(profile.feature))
    axes.margins(x=0.02)
    whole_numbers(axes.yaxis)


def _draw_pairs(
    figure: Figure,
    grid: NDArray[np.object_],
    found: Diagnosis,
    pair: PairProfile,
    shown: Ints,
) -> None:
    """Cells over both features, from orange (below) to blue (above), with a dot where that is sure."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("misfit", [BELOW, "0.97", ABOVE])
    values = np.abs(pair.residual[shown])
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    places = grid.ravel()
    for axes in places[len(shown) :]:
        axes.set_visible(False)
    mesh = None
    for axes, action in zip(places, shown, strict=False):
        cells = np.ma.masked_invalid(pair.residual[action].T)
        mesh = axes.pcolormesh(*pair.edges, cells, cmap=colours, vmin=-top, vmax=top, edgecolors="white")
        sure = np.abs(pair.residual[action]) > SURE_OF_PAIRS * pair.standard_error[action]
        first, second = ((edges[1:] + edges[:-1]) / 2.0 for edges in pair.edges)
        at = np.argwhere(sure)
        axes.plot(first[at[:, 0]], second[at[:, 1]], linestyle="", marker=".", markersize=3, color="0.2")
        axes.set(
            xlabel=shown_name(pair.features[0]),
            title=f"{shown_name(found.actions[action], _TITLE)}\nover two features",
        )
    for row in grid:
        row[0].set_ylabel(shown_name(pair.features[1]))
    if mesh is not None:
        visible = [axes for axes in places if axes.get_visible()]
        bar = figure.colorbar(mesh, ax=visible, fraction=0.04, pad=0.02)
        label = f"reward above prediction ({shown_name(found.reward_unit)})"
        whole_numbers(bar.ax.yaxis)
        bar.set_label(f"{label}\ndot: beyond three standard errors\nwhite: too few rows")
