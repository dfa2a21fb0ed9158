"""Regret against the passive share: the corollary's optimum, and the measured one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import COLOURS, GREY, Band, draw_band
from gyrfalcon.reports.labels import Label, beside, end_labels, plain_numbers
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import entry, matching, numbers, only, row_of, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXAMPLE = StepExample()
N_ACTIONS, N_COEFFICIENTS, DELTA = 2, 4, 0.05
FEW = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4)
MANY = (0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.2, 0.3, 0.45)
N_RESAMPLES = 2_000


class Runs(NamedTuple):
    """Replications with one passive share."""

    epsilon: float
    checkpoints: Ints
    regret: Floats
    """(R, C): cumulative."""


def work(effort: Effort) -> list[Piece]:
    """A piece per passive share; rounds end with an epoch, so that each share is paid in full."""
    n_rounds, n_replications = effort.of(full=102_400, quick=12_800), effort.of(full=60, quick=8)
    shares = sorted({*(FEW if effort.quick else MANY), corollary_epsilon()})
    return [partial(runs, share, n_rounds, n_replications) for share in shares]


def corollary_epsilon() -> float:
    """The optimum of Corollary 1's bound on Section 1.1.

    >>> round(corollary_epsilon(), 3)
    0.144
    """
    return theory.optimal_epsilon(EXAMPLE.b, N_ACTIONS)


def runs(epsilon: float, n_rounds: int, n_replications: int) -> Runs:
    """Regret at a sixteenth, at a quarter and at the end of the rounds."""
    horizons = [n_rounds // 16, n_rounds // 4, n_rounds]
    trace = simulate(
        EpsilonFalcon(epsilon=epsilon),
        EXAMPLE,
        n_rounds,
        n_replications,
        checkpoints=horizons,
    )
    return Runs(epsilon, trace.checkpoints, trace.regret)


def tables(results: list[Any]) -> Tables:
    """Regret for each share and horizon, the best share of each horizon, and what theory says."""
    parts: list[Runs] = results
    found = misspecification(EXAMPLE.population, Linear())
    horizons = [int(horizon) for horizon in parts[0].checkpoints]
    shares = np.array([part.epsilon for part in parts])
    regret = np.stack([part.regret for part in parts])
    return {
        "regret": table_of_rows(
            _row(part, horizon, place) for place, horizon in enumerate(horizons) for part in parts
        ),
        "optimum": table_of_rows(
            {"horizon": horizon, **_optimum(shares, regret[:, :, place])}
            for place, horizon in enumerate(horizons)
        ),
        "theory": table_of_rows(
            _rate(share, horizons[-1], found.b) for share in np.geomspace(0.002, 0.45, 60)
        ),
        "summary": row_of(b=found.b, corollary=theory.optimal_epsilon(found.b, N_ACTIONS)),
    }


def _row(part: Runs, horizon: int, place: int) -> dict[str, Any]:
    summary = Summary.of(part.regret[:, place])
    return {
        "horizon": horizon,
        "epsilon": part.epsilon,
        "replications": len(part.regret),
        "regret": summary.mean,
        "standard_error": summary.standard_error,
    }


def _optimum(shares: Floats, regret: Floats) -> dict[str, float]:
    """The best share by (E, R) regrets, and its interval by resampling replications."""
    rng = np.random.default_rng(0)
    picks = rng.integers(regret.shape[1], size=(N_RESAMPLES, regret.shape[1]))
    found = [lowest(shares, regret[:, pick].mean(axis=1)) for pick in picks]
    low, high = np.quantile(found, [0.025, 0.975])
    return {"epsilon": lowest(shares, regret.mean(axis=1)), "low": float(low), "high": float(high)}


def lowest(shares: Floats, means: Floats) -> float:
    """Where the parabola through the lowest point and its neighbours has its vertex, in log shares.

    >>> round(lowest(np.array([0.01, 0.1, 1.0]), np.array([2.0, 1.0, 2.0])), 6)
    0.1
    """
    place = int(means.argmin())
    if place in (0, len(shares) - 1):
        return float(shares[place])
    x, y = np.log(shares[place - 1 : place + 2]), means[place - 1 : place + 2]
    before, after = np.diff(y) / np.diff(x)
    if after <= before:
        return float(shares[place])  # all three are as low
    vertex = (x[0] + x[1]) / 2.0 - before * (x[2] - x[0]) / (2.0 * (after - before))
    return float(np.exp(np.clip(vertex, x[0], x[2])))


def _rate(epsilon: float, horizon: int, b: float) -> dict[str, float]:
    rate = theory.regret_rate(horizon, N_ACTIONS, N_COEFFICIENTS, b, float(epsilon), DELTA)
    return {"epsilon": float(epsilon), "regret_per_round": rate.total / horizon}


def draw(figure: Figure, tables: Tables) -> None:
    """Draw regret a round against the share, for three horizons, below the theorem's rate."""
    figure.set_size_inches(7.0, 4.0)
    axes = figure.subplots()
    labels = [_draw_rate(axes, tables)]
    horizons = [int(horizon) for horizon in tables["optimum"]["horizon"]]
    for horizon, colour in zip(horizons, (COLOURS[0], COLOURS[2], COLOURS[1]), strict=True):
        labels.append(_draw_horizon(axes, tables, horizon, colour))
    axes.set(xscale="log", yscale="log", xlabel="passive share $\\epsilon$", ylabel="regret per round")
    axes.margins(x=0.01)
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    end_labels(axes, labels, height_inches=3.4)


def _draw_rate(axes: Axes, tables: Tables) -> Label:
    table, known = tables["theory"], only(tables["summary"])
    x, y = numbers(table, "epsilon"), numbers(table, "regret_per_round")
    axes.plot(x, y, color=GREY, linestyle=(0, (4, 3)))
    best, least = known["corollary"], float(np.interp(known["corollary"], x, y))
    axes.plot(best, least, "D", color=GREY, markersize=5)
    beside(axes, f"Corollary 1: $\\epsilon$ = {best:.3f}", (best, least), "below", GREY)
    return Label("the theorem's rate,\nup to constants", float(y[-1]), GREY)


def _draw_horizon(axes: Axes, tables: Tables, horizon: int, colour: str) -> Label:
    table = matching(tables["regret"], horizon=horizon)
    x, y, error = (numbers(table, name) for name in ("epsilon", "regret", "standard_error"))
    y, error = y / horizon, error / horizon
    draw_band(axes, x, Band.of(y, error), colour, marker="o", markersize=3)
    best = {name: entry(tables["optimum"], name, horizon=horizon) for name in ("epsilon", "low", "high")}
    height = 0.86 * y.min()
    axes.plot([best["low"], best["high"]], [height, height], color=colour, linewidth=3, solid_capstyle="butt")
    axes.plot(best["epsilon"], height, "D", color=colour, markersize=4)
    return Label(f"{horizon:,} rounds", float(y[-1]), colour)


EXHIBIT = Exhibit("epsilon", work=work, tables=tables, draw=draw, printed="optimum")
