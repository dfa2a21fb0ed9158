"""Classes of growing size: bias against variance, with small classes ahead early and large ones late."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import COLOURS
from gyrfalcon.reports.labels import Label, end_labels
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import distinct, matching, numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXAMPLE = StepExample()
N_ACTIONS = 2
DEGREES = (1, 3, 5, 7, 9)
"""Odd ones: the step is odd about its jump, so that an even power adds nothing to the degree before it."""
_COLOURS = (COLOURS[0], COLOURS[2], COLOURS[1])


class Runs(NamedTuple):
    """Replications with one class."""

    degree: int
    checkpoints: Ints
    regret: Floats
    """(R, C): cumulative."""


def learner(degree: int) -> EpsilonFalcon:
    """Epsilon-FALCON over polynomials of this degree, one for each action."""
    return EpsilonFalcon(model_class=Linear(basis=Polynomial(degree=degree)))


def work(effort: Effort) -> list[Piece]:
    """Each class; the larger ones take longer, so that all are cut in parts."""
    n_rounds, n_replications = effort.of(full=102_400, quick=12_800), effort.of(full=80, quick=4)
    n_parts, step = effort.of(full=2, quick=1), effort.of(full=16, quick=8)
    size = n_replications // n_parts
    return [
        partial(runs, degree, n_rounds, step, size, part * size)
        for degree in DEGREES
        for part in range(n_parts)
    ]


def runs(degree: int, n_rounds: int, step: int, n_replications: int, first_replication: int) -> Runs:
    """Regret at the ends of three epochs, each `step` times as late as the one before."""
    trace = simulate(
        learner(degree),
        EXAMPLE,
        n_rounds,
        n_replications,
        checkpoints=[n_rounds // step**2, n_rounds // step],
        first_replication=first_replication,
    )
    return Runs(degree, trace.checkpoints, trace.regret)


def tables(results: list[Any]) -> Tables:
    """Size and b of each class; its regret at each horizon beside the best class's in the same runs."""
    parts: list[Runs] = results
    regret = {
        degree: np.concatenate([part.regret for part in parts if part.degree == degree]) for degree in DEGREES
    }
    classes = [_class(degree) for degree in DEGREES]
    horizons = [int(horizon) for horizon in parts[0].checkpoints]
    return {
        "classes": table_of_rows(classes),
        "regret": table_of_rows(
            row
            for place, horizon in enumerate(horizons)
            for row in _compared(
                horizon, {degree: total[:, place] for degree, total in regret.items()}, classes
            )
        ),
    }


def _class(degree: int) -> dict[str, float]:
    found = misspecification(EXAMPLE.population, learner(degree).model_class)
    return {"degree": degree, "coefficients": N_ACTIONS * (degree + 1), "b": found.b}


def _compared(
    horizon: int, regret: dict[int, Floats], classes: list[dict[str, float]]
) -> list[dict[str, Any]]:
    best = min(regret, key=lambda degree: float(regret[degree].mean()))
    rates = {int(known["degree"]): _rate(horizon, known) for known in classes}
    rows = []
    for degree, total in regret.items():
        summary, above = Summary.of(total), Summary.of(total - regret[best])
        rows.append(
            {
                "horizon": horizon,
                "degree": degree,
                "replications": len(total),
                "regret": summary.mean,
                "standard_error": summary.standard_error,
                "to_best": summary.mean / float(regret[best].mean()),
                "to_best_standard_error": above.standard_error / float(regret[best].mean()),
                "rate": rates[degree],
                "rate_to_best": rates[degree] / min(rates.values()),
            }
        )
    return rows


def _rate(horizon: int, known: dict[str, float]) -> float:
    """The theorem's rate of regret per round."""
    own = learner(int(known["degree"]))
    rate = theory.regret_rate(
        horizon, N_ACTIONS, known["coefficients"], known["b"], own.passive_share, own.delta
    )
    return rate.total / horizon


def draw(figure: Figure, tables: Tables) -> None:
    """Draw the theorem's rate and measured regret against the size of the class, each over its best class."""
    figure.set_size_inches(7.0, 3.3)
    left, right = figure.subplots(1, 2)
    _draw_ratio(left, tables["regret"], "rate_to_best")
    _draw_ratio(right, tables["regret"], "to_best")
    left.set(title="The theorem's rate", ylabel="ratio to that of the best class")
    right.set(title="Measured regret", ylabel="")


def _draw_ratio(axes: Axes, table: Columns, name: str) -> None:
    labels = []
    for horizon, colour in zip(distinct(table, "horizon"), _COLOURS, strict=True):
        own = matching(table, horizon=horizon)
        x, y = numbers(own, "degree"), numbers(own, name)
        axes.plot(x, y, color=colour, marker="o", markersize=3)
        axes.plot(x[y.argmin()], y.min(), "D", color=colour, markersize=6)
        if name == "to_best":
            error = 2 * numbers(own, "to_best_standard_error")
            axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, linewidth=0)
        labels.append(Label(f"{horizon:,} rounds", float(y[-1]), colour))
    axes.set(xlabel="degree of the polynomials", xticks=DEGREES)
    axes.margins(x=0.02)
    end_labels(axes, labels, height_inches=2.6)


EXHIBIT = Exhibit("classes", work=work, tables=tables, draw=draw, printed="regret")
