"""Regret as misspecification grows, against the theorem's rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon import theory
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import passive_count
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Scorer
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import Population, greedy_policy
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.synthetic.families import SinusoidEnvironment, XorEnvironment
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.labels import beside, plain_numbers
from gyrfalcon.reports.numbers import decimal, with_error
from gyrfalcon.reports.style import COLOURS, GREY
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import entry, matching, numbers, only, row_of, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_ACTIONS = 2
THEOREMS_POWER = 0.5
"""By which power of b the theorem's rate grows."""
LEARNER = EpsilonFalcon(preset="calibrated")
DIALS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
FEW_DIALS = (0.1, 0.3, 1.0)
SINUSOID, XOR, SHRINKING = "lines bent to sinusoids", "lines bent to a xor", "a xor, all of it small"
_LOOKS = {
    SINUSOID: COLOURS[1],
    XOR: COLOURS[2],
    SHRINKING: COLOURS[0],
}


@dataclass(frozen=True, slots=True)
class Shrunk:
    """An environment with means moved towards .5: gaps, and the errors of models, are `scale` times as large."""

    environment: XorEnvironment
    scale: float

    @property
    def problem(self) -> Problem:
        """The environment's own."""
        return self.environment.problem

    @property
    def population(self) -> Population:
        """The environment's own, with means moved."""
        whole = self.environment.population
        return replace(whole, means=self._moved(whole.means))

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """The environment's own rounds, with means moved and the same noise."""
        drawn = self.environment.draw(start, stop, seed)
        means = self._moved(drawn.means)
        return replace(drawn, means=means, rewards=means + (drawn.rewards - drawn.means))

    def _moved(self, means: Floats) -> Floats:
        return 0.5 + self.scale * (means - 0.5)


def environment_of(family: str, dial: float) -> SinusoidEnvironment | XorEnvironment | Shrunk:
    """The environment of a family whose misspecification is dialled so far, b being proportional to dial^2."""
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
    """Excess regret over the environment with the dial at 0, beside the rate; and by which power of b it grows."""
    base = {family: regret for family, dial, regret in results if dial == 0.0}
    table = table_of_rows(
        _row(family, dial, regret, regret - base[family]) for family, dial, regret in results if dial > 0.0
    )
    return {
        "regret": table,
        "growth": table_of_rows(
            {"family": family, **_growth(matching(table, family=family))} for family in base
        ),
        "size": row_of(n_replications=len(results[0][2]), epsilon=LEARNER.passive_share),
    }


def _row(family: str, dial: float, regret: Floats, excess: Floats) -> dict[str, Any]:
    population = environment_of(family, dial).population
    found = misspecification(population, Linear())
    total, above = Summary.of(regret), Summary.of(excess)
    return {
        "family": family,
        "dial": dial,
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


def prose(tables: Tables) -> list[str]:
    """What the theorem allows, how excess regret grows in three families, and where the power is attained."""
    size, growth = only(tables["size"]), tables["growth"]
    shares = numbers(growth, "largest_share_of_rate")
    below = (
        f"Excess regret stays below the rate everywhere, at {shares.max():.0%} of it at most"
        if shares.max() <= 1.0
        else f"Excess regret exceeds the rate, up to {shares.max():.1f} times, so that its constant matters"
    )
    powers = {
        family: with_error(
            entry(growth, "power", family=family), entry(growth, "power_standard_error", family=family), 3
        )
        for family in _LOOKS
    }
    faster = (
        "faster than 1/2, so that a small misspecification costs less than the rate says"
        if all(_is_faster(growth, family) for family in (SINUSOID, XOR))
        else "not both faster than 1/2"
    )
    slowest = min(entry(growth, "power", family=family) for family in _LOOKS)
    attained = "does not attain" if _is_faster(growth, SHRINKING) else "attains"
    return [
        "The theorem charges <i>K</i> (<i>b</i> / <i>ε</i><sup>1/2</sup>)<sup>1/2</sup> a round for "
        "misspecification: the power 1/2 of <i>b</i>. We turn the dial of three families of environments with two "
        "actions from a linear truth (<i>b</i> = 0) to one that lines can't follow, play Epsilon-FALCON "
        f"with <i>ε</i> = {size['epsilon']:g}, and measure how much its active rounds of the last epoch "
        f"cost beyond those of the linear environment, in {size['n_replications']} replications that share their "
        "luck.",
        f"{below}. Where lines are bent towards sinusoids, or towards the xor of two features, excess "
        f"regret grows as <i>b</i> to the power {powers[SINUSOID]} and {powers[XOR]}: "
        f"{faster}. "
        "Wrong predictions there only matter near the contexts where the lines cross. The policy of the "
        f"best lines itself (dotted), which no constraint can mend, costs {_own_share(tables, SINUSOID)} "
        f"and {_own_share(tables, XOR)} of that in the middle of the range.",
        "The power 1/2 can't be improved in general. If a xor is the whole truth and shrinks towards .5, "
        f"with gaps and errors in step, regret grows as <i>b</i> to the power {powers[SHRINKING]}: the "
        f"family {attained} the theorem's power; the slowest growth of the three is {decimal(slowest, 2)}.",
    ]


def _is_faster(growth: Columns, family: str) -> bool:
    """Whether a family's power of b is above the theorem's by more than two standard errors.

    A power at or below the theorem's is one that no better theorem could promise.
    """
    power, error = (entry(growth, name, family=family) for name in ("power", "power_standard_error"))
    return power - THEOREMS_POWER > 2.0 * error


def _own_share(tables: Tables, family: str) -> str:
    """What the policy of the best model costs, as a share of excess regret, at the middle dial."""
    table = matching(tables["regret"], family=family)
    middle = len(table["b"]) // 2
    return f"{numbers(table, 'best_model')[middle] / numbers(table, 'excess')[middle]:.0%}"


def caption(tables: Tables) -> str:
    """What the figure shows."""
    size = only(tables["size"])
    return (
        "<b>Excess regret against misspecification</b> in three families of environments: regret per active round "
        f"of the last epoch beyond that with a linear truth, means of {size['n_replications']} replications "
        "with two standard errors (mostly smaller than the dots). Dotted: regret of the policy of the best "
        "linear model, where there is one. Dashed: the theorem's rate with constant 1 and <i>ε</i> = "
        f"{size['epsilon']:g}."
    )


EXHIBIT = Exhibit(
    key="misspecification",
    title="Regret as misspecification grows",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
