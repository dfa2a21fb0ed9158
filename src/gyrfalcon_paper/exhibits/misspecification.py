"""Regret as misspecification grows, against the theorem's rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.core.schedules import passive_count
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.synthetic.families import SinusoidEnvironment, XorEnvironment
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import COLOURS, GREY
from gyrfalcon.reports.labels import beside, plain_numbers
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import matching, numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_ACTIONS = 2
LEARNER = EpsilonFalcon()
DIALS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
FEW_DIALS = (0.1, 0.3, 1.0)
SINUSOID, XOR, SHRINKING = "linear bent to sinusoids", "linear bent to a xor", "a xor, all of it small"
_LOOKS = {
    SINUSOID: COLOURS[1],
    XOR: COLOURS[2],
    SHRINKING: COLOURS[0],
}


@dataclass(frozen=True, slots=True)
class Shrunk:
    """An environment with means moved towards 0.5: gaps and errors of models are `scale` times as large."""

    environment: XorEnvironment
    scale: float

    @property
    def problem(self) -> Problem:
        """The problem of the environment itself."""
        return self.environment.problem

    @property
    def population(self) -> Population:
        """The population of the environment, with means moved."""
        whole = self.environment.population
        return replace(whole, means=self._moved(whole.means))

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Rounds of the environment, with means moved and the same noise."""
        drawn = self.environment.draw(start, stop, seed)
        means = self._moved(drawn.means)
        return replace(drawn, means=means, rewards=means + (drawn.rewards - drawn.means))

    def _moved(self, means: Floats) -> Floats:
        return 0.5 + self.scale * (means - 0.5)


def environment_of(family: str, dial: float) -> SinusoidEnvironment | XorEnvironment | Shrunk:
    """The environment of a family at this dial; b is proportional to dial^2."""
    if family == SINUSOID:
        return SinusoidEnvironment(
            n_actions=N_ACTIONS, n_features=1, environment_seed=1, misspecification=dial
        )
    if family == XOR:
        return XorEnvironment(n_actions=N_ACTIONS, n_features=2, misspecification=dial)
    return Shrunk(XorEnvironment(n_actions=N_ACTIONS, n_features=2), dial)


def work(effort: Effort) -> list[Piece]:
    """A piece per environment; those of a family are compared with the one where the dial is 0."""
    n_rounds, n_replications = effort.of(full=102_400, quick=12_800), effort.of(full=20, quick=4)
    dials = FEW_DIALS if effort.quick else DIALS
    return [
        partial(runs, family, dial, n_rounds, n_replications) for family in _LOOKS for dial in (0.0, *dials)
    ]


def runs(family: str, dial: float, n_rounds: int, n_replications: int) -> tuple[str, float, Floats]:
    """Regret per round (R,) over the active rounds of the last epoch, which ends with n_rounds."""
    half = n_rounds // 2
    last = n_rounds - passive_count(LEARNER.passive_share, half)
    trace = simulate(LEARNER, environment_of(family, dial), last, n_replications, checkpoints=[half])
    return family, dial, trace.regret_per_round[:, -1]


def tables(results: list[Any]) -> Tables:
    """Excess regret over the environment with the dial at 0, beside the rate; and its power of b."""
    base = {family: regret for family, dial, regret in results if dial == 0.0}
    table = table_of_rows(
        _row(family, dial, regret, regret - base[family]) for family, dial, regret in results if dial > 0.0
    )
    return {
        "regret": table,
        "growth": table_of_rows(
            {"family": family, **_growth(matching(table, family=family))} for family in base
        ),
    }


def _row(family: str, dial: float, regret: Floats, excess: Floats) -> dict[str, Any]:
    population = environment_of(family, dial).population
    found = misspecification(population, Linear())
    total, above = Summary.of(regret), Summary.of(excess)
    return {
        "family": family,
        "dial": dial,
        "replications": len(regret),
        "b": found.b,
        "B": found.B,
        "regret": total.mean,
        "standard_error": total.standard_error,
        "excess": above.mean,
        "excess_standard_error": above.standard_error,
        "best_model": _policy_regret(population, found.model),
        "rate": theory.misspecification_scale(
            N_ACTIONS, theory.worst_misspecification(found.b, N_ACTIONS), LEARNER.passive_share
        ),
    }


def _policy_regret(population: Population, model: Scorer) -> float:
    """Regret of a model's policy; nan if the model has no favourite anywhere but by rounding."""
    if np.ptp(model.scores(population.contexts), axis=1).max() < 1e-9:
        return math.nan
    return max(population.regret(greedy_policy(model)), 0.0)


def _growth(table: Columns) -> dict[str, float]:
    """The slope of log excess over log b, by points that stand out of their noise, and its error."""
    b, excess, error = (numbers(table, name) for name in ("b", "excess", "excess_standard_error"))
    clear = excess > 2.0 * error
    slope, slope_error = slope_of(np.log(b[clear]), np.log(excess[clear]), error[clear] / excess[clear])
    return {
        "power": slope,
        "power_standard_error": slope_error,
        "points": int(clear.sum()),
        "largest_share_of_rate": float((excess / numbers(table, "rate")).max()),
    }


def slope_of(x: Floats, y: Floats, errors: Floats) -> tuple[float, float]:
    """The slope of y over x by least squares, and what it is off by if y is off by these errors.

    Points count alike, as the question is about the range of x rather than about its quietest part. Fewer
    than two points have no slope: nan.

    >>> slope_of(np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([0.1, 0.1]))[0]
    2.0
    """
    if len(x) < 2:
        return math.nan, math.nan
    centred = x - x.mean()
    spread = float(centred @ centred)
    return float(centred @ y) / spread, math.sqrt(float((centred**2) @ errors**2)) / spread


def draw(figure: Figure, tables: Tables) -> None:
    """Draw excess regret a round against b, below the rate."""
    figure.set_size_inches(7.0, 4.2)
    axes = figure.subplots()
    axes.set(
        xscale="log", yscale="log", xlabel="misspecification $b$", ylabel="excess regret per active round"
    )
    for family, colour in _LOOKS.items():
        _draw_family(axes, matching(tables["regret"], family=family), family, colour)
    table = matching(tables["regret"], family=SHRINKING)
    b, rate = numbers(table, "b"), numbers(table, "rate")
    axes.plot(b, rate, color=GREY, linestyle=(0, (4, 3)))
    middle = len(b) // 2
    beside(
        axes,
        "the theorem's rate, $K (b / \\sqrt{\\epsilon})^{1/2}$",
        (b[middle], rate[middle]),
        "upper left",
        GREY,
    )
    axes.margins(x=0.05)
    plain_numbers(axes.xaxis, steps=(1.0,))
    plain_numbers(axes.yaxis, steps=(1.0,))


def _draw_family(axes: Axes, table: Columns, family: str, colour: str) -> None:
    b, excess, error = (numbers(table, name) for name in ("b", "excess", "excess_standard_error"))
    clear = excess > 2.0 * error
    axes.errorbar(b[clear], excess[clear], 2 * error[clear], color=colour, marker="o", ms=4, elinewidth=0.8)
    if family == SINUSOID:  # between its own curves there is no room
        axes.text(0.98, 0.45, family, color=colour, fontsize=8.5, ha="right", transform=axes.transAxes)
    else:
        middle = len(b) // 2
        beside(axes, family, (b[middle], excess[middle]), "upper left", colour)
    best = numbers(table, "best_model")
    seen = best > 1e-5
    axes.plot(b[seen], best[seen], color=colour, linestyle=(0, (1, 1.6)), linewidth=1.2)


EXHIBIT = Exhibit("misspecification", work=work, tables=tables, draw=draw, printed="growth")
