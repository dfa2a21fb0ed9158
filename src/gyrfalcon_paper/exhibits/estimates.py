"""Figure "Evolution of model estimates": how LinUCB's lines leave the best ones as it plays by them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Scorer
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.reports.numbers import decimal
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import PlayedEpoch
from gyrfalcon_paper.curves import (
    ACTION_COLOURS,
    DOTTED,
    draw_lines,
    draw_truth,
    dress,
    lines_table,
    truth_table,
)
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.lines import crossing
from gyrfalcon_paper.self_consistent import REGRET, SWITCH
from gyrfalcon_paper.tables import numbers, only, row_of, table_of, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROUNDS = (100, 200, 300, 1_000, 5_000, 20_000)
SEED = 0


def work(effort: Effort) -> list[Piece]:
    """One piece: a single run, as in the paper."""
    del effort
    return [partial(estimates, ROUNDS, SEED)]


def estimates(rounds: tuple[int, ...], seed: int) -> Columns:
    """LinUCB's lines at 0 and 1 after so many rounds, where they meet, and what playing by them costs."""
    # The round after a refit is the first that the new lines play.
    trace = simulate(
        LinUCB(),
        StepExample(),
        rounds[-1] + 1,
        seed=seed,
        checkpoints=[n + 1 for n in rounds],
        keep_policies=True,
    )
    models = [_model(played) for played in trace.epochs[0]]
    lines = [lines_table(model) for model in models]
    population = StepExample().population
    return table_of(
        rounds=[played.start for played in trace.epochs[0]],
        **{
            f"action_{action}_at_{end}": [numbers(line, f"action_{action}")[end] for line in lines]
            for action in (1, 2)
            for end in (0, 1)
        },
        crossing=[crossing(model) for model in models],
        regret=[population.regret(greedy_policy(model)) for model in models],
    )


def _model(played: PlayedEpoch) -> Scorer:
    policy = played.policy
    if not isinstance(policy, KernelPolicy) or not isinstance(policy.scorer, OptimisticModel):
        raise TypeError(f"epoch {played.index} was not played by an optimistic linear model.")
    return policy.scorer.model


def tables(results: list[Any]) -> Tables:
    """The lines after each number of rounds, beside the best ones and the truth."""
    environment = StepExample()
    return {
        "estimates": results[0],
        "truth": truth_table(environment, 0.5),
        "best": lines_table(best_in_class(environment.population, Linear())),
        "self-consistent": row_of(switch=SWITCH, regret=REGRET),
    }


def draw(figure: Figure, tables: Tables) -> None:
    """A picture for each number of rounds, with the best lines dotted."""
    figure.set_size_inches(7.0, 4.4)
    panels = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    for axes, rounds in zip(panels, tables["estimates"]["rounds"], strict=True):
        _panel(axes, tables, int(rounds))
    for axes in panels[:3]:
        axes.set_xlabel("")
    for axes in (*panels[1:3], *panels[4:]):
        axes.set_ylabel("")
    _names(panels[0])


def _panel(axes: Axes, tables: Tables, rounds: int) -> None:
    row = where(tables["estimates"], "rounds", rounds)
    draw_truth(axes, tables["truth"], alpha=0.25, linewidth=1.2)
    lines = table_of(
        x=[0.0, 1.0],
        **{
            f"action_{action}": [*row[f"action_{action}_at_0"], *row[f"action_{action}_at_1"]]
            for action in (1, 2)
        },
    )
    draw_lines(axes, lines, linewidth=1.8)
    draw_lines(axes, tables["best"], color="black", linestyle=DOTTED, linewidth=1.3)
    dress(axes, f"after {rounds:,} rounds", -0.4, 1.4)
    meet = only(row)["crossing"]
    if 0.0 < meet < 1.0:
        axes.axvline(meet, ymax=0.1, color="black", linewidth=1.0)
        axes.annotate(
            f"switch at {meet:.2f}",
            (meet, 0.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=8,
        )


def _names(axes: Axes) -> None:
    axes.text(0.74, 1.13, "action 1", color=ACTION_COLOURS[0], ha="right", fontsize=8.5)
    axes.text(0.03, 0.58, "action 2", color=ACTION_COLOURS[1], fontsize=8.5)


def prose(tables: Tables) -> list[str]:
    """Where the lines come close to the best ones, and where they end."""
    rows, end = tables["estimates"], only(tables["self-consistent"])
    rounds, switch, regret = (numbers(rows, name) for name in ("rounds", "crossing", "regret"))
    nearest, last = int(np.abs(switch - 0.5).argmin()), len(rounds) - 1
    drifts = nearest < last and regret[last] > regret[nearest]
    return [
        "LinUCB, refitted on all its rows every 100 rounds (the first 100 are uniform), in a single run. "
        "The paper's account is that after a few hundred rounds the fit is close to the best linear "
        "approximation, and that playing by it changes the data and pushes the fit away.",
        f"In this run the lines' switch is nearest to the optimal 0.5 after {rounds[nearest]:,.0f} rounds, "
        f"at {decimal(switch[nearest], 3)}, where greedy play by them costs {decimal(regret[nearest], 4)} a "
        f"round. After {rounds[last]:,.0f} rounds they switch at {decimal(switch[last], 3)}, which costs "
        f"{decimal(regret[last], 4)}: "
        + ("the drift that the paper describes. " if drifts else "this run does not show the drift. ")
        + f"It has an end, which the paper does not name: a switch at {decimal(end['switch'], 4)} brings "
        "back, from the data it collects, the very line that it plays by, and costs "
        f"{decimal(end['regret'], 4)} a round.",
    ]


def caption(tables: Tables) -> str:
    """What is to be seen."""
    del tables
    return (
        "<b>Evolution of model estimates.</b> LinUCB's estimated lines (solid) in one run, the best linear "
        "approximation (black, dotted) and the truth (faint). A tick marks where the estimates meet, which "
        "is where greedy play switches; the optimal switch is at 0.5."
    )


EXHIBIT = Exhibit(
    key="estimates",
    title="Evolution of model estimates",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
