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
from gyrfalcon.reports.labels import Label, end_labels
from gyrfalcon.reports.numbers import with_error
from gyrfalcon.reports.style import COLOURS
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import distinct, matching, numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENVIRONMENT = StepExample()
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
        ENVIRONMENT,
        n_rounds,
        n_replications,
        checkpoints=[n_rounds // step**2, n_rounds // step],
        first_replication=first_replication,
    )
    return Runs(degree, trace.checkpoints, trace.regret)


def tables(results: list[Any]) -> Tables:
    """Size and b of each class; its regret at each horizon beside the best class's on the same luck."""
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
    found = misspecification(ENVIRONMENT.population, learner(degree).model_class)
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


def prose(tables: Tables) -> list[str]:
    """How b falls with the class, and which class is best when."""
    classes, table = tables["classes"], tables["regret"]
    b, sizes = numbers(classes, "b"), numbers(classes, "coefficients")
    horizons = distinct(table, "horizon")
    measured, promised = (_best(table, name) for name in ("to_best", "rate_to_best"))
    early, late = measured[horizons[0]], measured[horizons[-1]]
    verdict = (
        "A smaller class is ahead early and a larger one late, as the theorem has it"
        if early < late
        else "The best class does not grow with the rounds here, against what the theorem suggests"
    )
    return [
        "The paper's regret has a bias, which falls with the size of the class as <i>b</i> does, and a "
        "variance, which grows with its complexity: it is about the bias-variance trade-off. We let "
        f"Epsilon-FALCON fit polynomials to the step of Section 1.1. From degree {DEGREES[0]} to "
        f"{DEGREES[-1]}, comp grows from {sizes[0]:.0f} to {sizes[-1]:.0f} coefficients, and <i>b</i> falls "
        f"from {b[0]:.4f} to {b[-1]:.4f}.",
        f"{verdict}: measured regret is least at degree "
        + ", ".join(f"{measured[horizon]} after {horizon:,} rounds" for horizon in horizons)
        + "; the theorem's rate, with all constants 1, is least at degree "
        + ", ".join(f"{promised[horizon]}" for horizon in horizons)
        + f". After {horizons[0]:,} rounds degree {DEGREES[-1]} costs "
        f"{_against(table, horizons[0], DEGREES[-1])} times as much as the best class, and after "
        f"{horizons[-1]:,} rounds degree {DEGREES[0]} costs {_against(table, horizons[-1], DEGREES[0])} "
        "times as much. Part of what larger classes lose early is that <i>γ</i> is smaller for them, and "
        "the slack larger: both scale with comp.",
    ]


def _best(table: Columns, name: str) -> dict[int, int]:
    """The degree with the least ratio at each horizon."""
    best = {}
    for horizon in distinct(table, "horizon"):
        own = matching(table, horizon=horizon)
        best[horizon] = int(own["degree"][int(numbers(own, name).argmin())])
    return best


def _against(table: Columns, horizon: int, degree: int) -> str:
    own = matching(table, horizon=horizon, degree=degree)
    return with_error(float(own["to_best"][0]), float(own["to_best_standard_error"][0]), 2)


def caption(tables: Tables) -> str:
    """What the figure shows."""
    n = int(tables["regret"]["replications"][0])
    return (
        "<b>Classes of growing size</b> on Section 1.1: regret of Epsilon-FALCON over polynomials of each "
        "degree, as a multiple of that of the best degree (diamond) for the same number of rounds. Left: the "
        f"theorem's rate. Right: means of {n} replications with bands of two standard errors of the "
        "difference to the best degree."
    )


EXHIBIT = Exhibit(
    key="classes",
    title="The bias-variance trade-off over classes of growing size",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
