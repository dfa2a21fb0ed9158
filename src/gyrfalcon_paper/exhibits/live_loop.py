"""Appendix E in the live loop: what becomes of learners that play by their own fits."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.reports.figures import Band, draw_band, draw_reference
from gyrfalcon.reports.numbers import decimal, with_error
from gyrfalcon.reports.style import COLOURS
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import numbers, stacked, table_of, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THETAS = (0.05, 0.01)
LEARNERS: dict[str, Learner] = {"LinUCB": LinUCB(), "LinTS": LinTS(), "FALCON": Falcon()}
SEED = 0
HALF_WAY = 0.5
"""The share of a collapse's cost from which on a learner is nearer to the collapse than to optimal play."""
_COLOURS = {"LinUCB": COLOURS[1], "LinTS": COLOURS[3], "FALCON": COLOURS[0]}
_EDGES = (100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def work(effort: Effort) -> list[Piece]:
    """A piece for each learner and theta."""
    n_rounds, n_replications = effort.of(full=100_000, quick=4_000), effort.of(full=40, quick=16)
    return [partial(live, theta, name, n_rounds, n_replications) for theta in THETAS for name in LEARNERS]


def live(theta: float, name: str, n_rounds: int, n_replications: int) -> Tables:
    """A learner's regret a round over time, its late one, and what the one-step claim would have it pay."""
    environment = SensitivityExample(theta)
    checkpoints = [edge for edge in _EDGES if edge <= n_rounds]
    trace = simulate(LEARNERS[name], environment, n_rounds, n_replications, SEED, checkpoints=checkpoints)
    return {
        "regret": _over_time(theta, name, trace),
        "late": _late(theta, name, trace, collapsed_regret(environment)),
    }


def collapsed_regret(environment: SensitivityExample) -> float:
    """What a learner would pay that had nothing but optimal play's data, and played greedily by its fit."""
    population = environment.population
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


def prose(tables: Tables) -> list[str]:
    """How far the live loop is from the collapse."""
    late = tables["late"]
    mean, error, collapse = (numbers(late, name) for name in ("mean", "standard_error", "one_step"))
    share, reached = max(mean / collapse), (mean + 2 * error >= HALF_WAY * collapse).any()
    n_rounds, n_replications = int(numbers(late, "n_rounds")[0]), int(numbers(late, "n_replications")[0])
    verdict = (
        f"None of them does: none pays more than {ceil(100 * share)}% of what such a collapse would cost"
        if not reached
        else f"At least one pays {share:.0%} of what such a collapse would cost, so it is not ruled out here"
    )
    optimal = (mean > 2 * error).all()
    return [
        "A reader of Appendix E may expect LinUCB, LinTS and FALCON to end where the fit of optimal play's "
        "data would lead them: to play action 1 everywhere, and to pay for it. The appendix claims no such "
        "thing. Its claim takes the optimal policy's data as given; a learner that plays by its own fits "
        "sees what action 1 pays elsewhere as soon as it begins to play it there.",
        f"{verdict}. Over the last half of {n_rounds:,} rounds, in {n_replications} runs each: "
        f"{_listed(late)}. (Standard errors in brackets.) "
        + ("All of them pay more than" if optimal else "At least one of them comes down to")
        + " the optimal policy, whose regret is 0. Section 1.1 is where the live loop does show a drift.",
    ]


def _listed(late: Columns) -> str:
    parts = []
    for theta in THETAS:
        rows = where(late, "theta", theta)
        paid = ", ".join(
            f"{name} pays {with_error(mean, error, 4)}"
            for name, mean, error in zip(
                rows["learner"], numbers(rows, "mean"), numbers(rows, "standard_error"), strict=True
            )
        )
        parts.append(
            f"with <i>θ</i> = {theta:g}, {paid} a round, against {decimal(numbers(rows, 'one_step')[0], 4)}"
        )
    return "; ".join(parts)


def caption(tables: Tables) -> str:
    """What is to be seen."""
    n_replications = int(numbers(tables["late"], "n_replications")[0])
    return (
        "<b>Appendix E, live.</b> Regret a round of learners that play by their own fits, mean over "
        f"{n_replications} runs with two standard errors either way; dashed, what the greedy policy of the "
        "fit to optimal play's data costs. Both axes are in logs."
    )


EXHIBIT = Exhibit(
    key="live-loop",
    title="Where the live loop does not show what a reader may expect",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
