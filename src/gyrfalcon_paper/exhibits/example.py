"""Figure "Example": Section 1.1's truth, and the linear model that comes closest to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon_paper.curves import (
    ACTION_COLOURS,
    draw_model,
    draw_play,
    draw_truth,
    dress,
    model_table,
    play_table,
    truth_table,
)
from gyrfalcon_paper.exhibits.exhibit import Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.linear_models import crossing, interval_contexts
from gyrfalcon_paper.tables import numbers, row_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUMP = 0.5


def work(effort: Effort) -> list[Piece]:
    """One piece: it is a matter of integrals, the same at any effort."""
    del effort
    return [partial(best_approximation, StepExample(), JUMP)]


def best_approximation(example: StepExample, jump: float) -> Tables:
    """The truth, the best linear model, its errors, and what its policy costs."""
    population = example.population
    found = misspecification(population, Linear())
    best = model_table(found.model)
    at_0, at_1 = numbers(best, "action_1")
    meet = crossing(found.model)
    return {
        "truth": truth_table(example, jump),
        "best": best,
        "play of truth": play_table(example.means, jump),
        "play of best": play_table(lambda x: found.model.scores(interval_contexts(x)), meet),
        "summary": row_of(
            jump=jump,
            intercept=at_0,
            slope=at_1 - at_0,
            other=numbers(best, "action_2")[0],
            crossing=meet,
            b=found.b,
            B=found.B,
            regret=max(population.regret(greedy_policy(found.model)), 0.0),
        ),
    }


def tables(results: list[Any]) -> Tables:
    """Tables of the exhibit, which one piece of work has made."""
    found: Tables = results[0]
    return found


def draw(figure: Figure, tables: Tables) -> None:
    """Truth on the left, its approximation on the right, and whom each would play."""
    figure.set_size_inches(7.0, 2.9)
    left, right = figure.subplots(1, 2, sharey=True)
    draw_truth(left, tables["truth"])
    draw_truth(right, tables["truth"], alpha=0.25, linewidth=1.2)
    draw_model(right, tables["best"])
    draw_play(left, tables["play of truth"])
    draw_play(right, tables["play of best"])
    dress(left, "Expected rewards", -0.4, 1.4)
    dress(right, "Best linear approximation", -0.4, 1.4)
    right.set_ylabel("")
    left.text(0.97, 1.04, "action 1", color=ACTION_COLOURS[0], ha="right", va="bottom")
    left.text(0.97, 0.54, "action 2", color=ACTION_COLOURS[1], ha="right", va="bottom")
    right.text(0.66, 0.83, "action 1", color=ACTION_COLOURS[0], ha="right", va="bottom")
    right.text(0.97, 0.46, "action 2", color=ACTION_COLOURS[1], ha="right", va="top")


EXHIBIT = Exhibit("example", work=work, tables=tables, draw=draw, printed="summary")
