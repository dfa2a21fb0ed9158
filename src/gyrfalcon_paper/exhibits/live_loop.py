"""Appendix E in the live loop: regret of learners that play by their own fits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import COLOURS, Band, draw_band, draw_reference
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import numbers, stacked, table_of, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THETAS = (0.05, 0.01)
LEARNERS: dict[str, Learner] = {"LinUCB": LinUCB(), "LinTS": LinTS(), "FALCON": Falcon()}
SEED = 0
_COLOURS = {"LinUCB": COLOURS[1], "LinTS": COLOURS[3], "FALCON": COLOURS[0]}
_EDGES = (100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def work(effort: Effort) -> list[Piece]:
    """A piece for each learner and theta."""
    n_rounds, n_replications = effort.of(full=100_000, quick=4_000), effort.of(full=40, quick=16)
    return [partial(live, theta, name, n_rounds, n_replications) for theta in THETAS for name in LEARNERS]


def live(theta: float, name: str, n_rounds: int, n_replications: int) -> Tables:
    """A learner's regret per round over time, its late one, and what the fit of optimal data would cost."""
    example = SensitivityExample(theta)
    checkpoints = [edge for edge in _EDGES if edge <= n_rounds]
    trace = simulate(LEARNERS[name], example, n_rounds, n_replications, SEED, checkpoints=checkpoints)
    return {
        "regret": _over_time(theta, name, trace),
        "late": _late(theta, name, trace, collapsed_regret(example)),
    }


def collapsed_regret(example: SensitivityExample) -> float:
    """What a learner would pay that had nothing but optimal play's data, and played greedily by its fit."""
    population = example.population
    best = greedy_policy(best_in_class(population, Linear()))
    return population.regret(greedy_policy(best_in_class(population, Linear(), play=best)))


def _over_time(theta: float, name: str, trace: Trace) -> Columns:
    summaries = [Summary.of(column) for column in trace.regret_per_round.T]
    n = len(summaries)
    return table_of(
        theta=[theta] * n,
        learner=[name] * n,
        first_round=trace.checkpoints - trace.lengths + 1,
        last_round=trace.checkpoints,
        mean=[summary.mean for summary in summaries],
        standard_error=[summary.standard_error for summary in summaries],
    )


def _late(theta: float, name: str, trace: Trace, collapsed: float) -> Columns:
    late = Summary.of(trace.late_regret(0.5))
    return table_of(
        theta=[theta],
        learner=[name],
        n_rounds=[trace.n_rounds],
        n_replications=[trace.n_replications],
        mean=[late.mean],
        standard_error=[late.standard_error],
        one_step=[collapsed],
    )


def tables(results: list[Any]) -> Tables:
    """All learners and thetas one under the other."""
    return {name: stacked([part[name] for part in results]) for name in results[0]}


def draw(figure: Figure, tables: Tables) -> None:
    """A picture for each theta: regret a round over rounds, and the level of the one-step claim."""
    figure.set_size_inches(7.0, 3.4)
    for axes, theta in zip(figure.subplots(1, len(THETAS), sharey=True), THETAS, strict=True):
        axes.set(title=f"θ = {theta:g}", xlabel="round", xscale="log", yscale="log", ylim=(0.002, 1.0))
        _panel(axes, where(tables["regret"], "theta", theta))
        level = numbers(where(tables["late"], "theta", theta), "one_step")[0]
        draw_reference(axes, f"fit of optimal play's data, {level:.2f}", level, at=0.5, above=True)
    figure.axes[0].set_ylabel("expected regret per round")


def _panel(axes: Axes, rows: Columns) -> None:
    for name, colour in _COLOURS.items():
        own = where(rows, "learner", name)
        x = (numbers(own, "first_round") + numbers(own, "last_round")) / 2
        mean, error = numbers(own, "mean"), numbers(own, "standard_error")
        draw_band(axes, x, Band.of(mean, error, floor=1e-4), colour)
        _name(axes, name, (x[-1], mean[-1]), colour)
    ticks = [n for n in (100, 1_000, 10_000, 100_000) if n <= max(numbers(rows, "last_round"))]
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
    axes.set_yticks([0.002, 0.01, 0.05, 0.2, 1.0], ["0.002", "0.01", "0.05", "0.2", "1"])
    axes.minorticks_off()


def _name(axes: Axes, name: str, at: tuple[float, float], colour: str) -> None:
    """Write a name where a curve ends, out of the way of the others, whose order is the same at any theta."""
    axes.annotate(
        name,
        at,
        xytext=(6, {"LinUCB": -12, "LinTS": -1, "FALCON": 5}[name]),
        textcoords="offset points",
        color=colour,
        fontweight="bold",
        fontsize=8.5,
        va="center",
        annotation_clip=False,
    )


EXHIBIT = Exhibit("live-loop", work=work, tables=tables, draw=draw, printed="late")
