"""Assumption 1 by Monte Carlo: from which excess risk on samples and population agree on a class."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.reports.figures import COLOURS
from gyrfalcon.reports.labels import plain_numbers
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.exhibits.inclusions import (
    GridSample,
    hull_thresholds,
    step_thresholds,
)
from gyrfalcon_paper.tables import at_least, distinct, entry, matching, numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINEAR, HULL = "linear", "hull of stumps"
CLASSES = {LINEAR: theory.linear(4), HULL: theory.vc_hull(2)}
"""Linear models of two actions have 4 coefficients; stumps of one feature have VC dimension 2."""
SHARES = (0.5, 0.1)
"""zeta: in what share of samples the inclusions may fail."""
INCLUSIONS = {"forward": "population in sample", "backward": "sample in population"}
N_POINTS, BUDGET = 128, 2.0
SMALL, LARGE = 50, 200
"""Rows for two linear models that are hardly enough, and the fewest from which thresholds are compared."""
SEED = 11
_LOOKS = {"forward": COLOURS[0], "backward": COLOURS[1]}
_PLACES = {"forward": (0.98, 0.97, "right", "top"), "backward": (0.03, 0.03, "left", "bottom")}


def work(effort: Effort) -> list[Piece]:
    """A piece per class and sample size."""
    n_samples, n_searched = effort.of(full=2_000, quick=200), effort.of(full=40, quick=3)
    sizes = [
        SMALL,
        *(LARGE << 2 * k if effort.quick else LARGE << k for k in range(4 if effort.quick else 8)),
    ]
    searched = [250, 2_000] if effort.quick else [250, 1_000, 4_000, 16_000]
    classes = {LINEAR: (sizes, n_samples), HULL: (searched, n_searched)}
    return [partial(sampled, name, n, count) for name, (many, count) in classes.items() for n in many]


def sampled(name: str, n: int, n_samples: int) -> tuple[str, int, Floats]:
    """The thresholds of each of n_samples samples of n rows, (n_samples, 2)."""
    generators = [np.random.default_rng([SEED, n, sample]) for sample in range(n_samples)]
    return name, n, step_thresholds(n, generators) if name == LINEAR else _hull(n, generators)


def _hull(n: int, generators: list[np.random.Generator]) -> Floats:
    """Thresholds for action 1 of Section 1.1 on a grid of contexts, where it is always played."""
    grid = (np.arange(N_POINTS) + 0.5) / N_POINTS
    means = StepExample.means(grid)[:, 0]
    return np.array(
        [hull_thresholds(GridSample.drawn(means, n, StepExample().noise, BUDGET, rng)) for rng in generators]
    )


def tables(results: list[Any]) -> Tables:
    """Quantiles of the thresholds, and the C that each requires."""
    rows = [
        _row(name, n, inclusion, share, found[:, place])
        for name, n, found in results
        for place, inclusion in enumerate(INCLUSIONS)
        for share in SHARES
    ]
    table = table_of_rows(rows)
    return {"thresholds": table, "constants": table_of_rows(_constants(table))}


def _row(name: str, n: int, inclusion: str, share: float, sample: Floats) -> dict[str, Any]:
    quantile = float(np.quantile(sample, 1.0 - share, method="inverted_cdf"))
    return {
        "model_class": name,
        "n": n,
        "inclusion": inclusion,
        "zeta": share,
        "samples": len(sample),
        "threshold": quantile,
        "C": quantile / rate(name, n, share),
        "without_threshold": float(np.isinf(sample).mean()),
    }


def rate(name: str, n: int, share: float) -> float:
    """The least eta of Assumption 1 at C = 1: ln(1/zeta) comp / n^rho.

    >>> round(rate("linear", 100, 0.1), 6)
    0.092103
    """
    known = CLASSES[name]
    return math.log(1.0 / share) * known.comp / math.pow(n, known.rho)


def _constants(table: Columns) -> list[dict[str, Any]]:
    """For each inclusion the C that serves all sizes and shares, and by which power of n thresholds fall."""
    rows = []
    for name in distinct(table, "model_class"):
        for inclusion in INCLUSIONS:
            own = matching(table, model_class=name, inclusion=inclusion)
            own = at_least(own, "n", LARGE)
            often = matching(own, zeta=SHARES[1])
            slope = np.polyfit(np.log(numbers(often, "n")), np.log(numbers(often, "threshold")), 1)[0]
            rows.append(
                {
                    "model_class": name,
                    "inclusion": inclusion,
                    "C": float(numbers(own, "C").max()),
                    "C_at_largest_n": float(numbers(own, "C")[-len(SHARES) :].max()),
                    "exponent": -float(slope),
                    "rho": CLASSES[name].rho,
                }
            )
    return rows


def draw(figure: Figure, tables: Tables) -> None:
    """Draw thresholds against rows, one picture for each class, with the rate that covers them."""
    figure.set_size_inches(7.0, 3.4)
    for axes, name in zip(figure.subplots(1, 2, sharey=True), CLASSES, strict=True):
        for inclusion, colour in _LOOKS.items():
            _draw_inclusion(axes, name, inclusion, colour, tables)
        axes.set(xscale="log", yscale="log", xlabel="rows in the sample, $n$")
        axes.margins(x=0.04)
        plain_numbers(axes.xaxis, steps=(1.0,))
    left, right = figure.axes
    left.set(title="Linear models (exact)", ylabel="least excess risk $\\eta$")
    right.set(title="Hull of stumps (found by search)")


def _draw_inclusion(axes: Axes, name: str, inclusion: str, colour: str, tables: Tables) -> None:
    own = at_least(matching(tables["thresholds"], model_class=name, inclusion=inclusion), "n", LARGE)
    for share, width in zip(SHARES, (0.9, 1.8), strict=True):
        n, threshold = (numbers(matching(own, zeta=share), column) for column in ("n", "threshold"))
        axes.plot(n, threshold, color=colour, linewidth=width, marker="o", markersize=2 * width)
    C = entry(tables["constants"], "C", model_class=name, inclusion=inclusion)
    covering = np.array([C * rate(name, int(size), SHARES[1]) for size in n])
    axes.plot(n, covering, color=colour, linewidth=0.9, linestyle=(0, (4, 3)))
    x, y, ha, va = _PLACES[inclusion]
    axes.text(x, y, INCLUSIONS[inclusion], color=colour, ha=ha, va=va, transform=axes.transAxes)


EXHIBIT = Exhibit("assumption", work=work, tables=tables, draw=draw, printed="constants")
