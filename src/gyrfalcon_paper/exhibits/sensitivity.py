"""Both figures of Appendix E: a model that is nearly right, and what optimal play's data make of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.environments.population.best_in_class import best_in_class, misspecification
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
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
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.linear_models import crossing, interval_contexts
from gyrfalcon_paper.tables import numbers, row_of, stacked, table_of, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THETA = 0.05
N_ROWS = (10_000, 100_000, 1_000_000)
SEED = 0


def work(effort: Effort) -> list[Piece]:
    """The population in one piece, and LinUCB's fit of each number of rows in another."""
    del effort
    return [partial(population_tables, THETA), *(partial(confidence, THETA, n) for n in N_ROWS)]


def population_tables(theta: float) -> Tables:
    """The truth, the best linear models, those that optimal play's data lead to, and what each costs."""
    example = SensitivityExample(theta)
    population = example.population
    found = misspecification(population, Linear())
    learnt = best_in_class(population, Linear(), play=greedy_policy(found.model))
    meet = crossing(found.model)
    return {
        "truth": truth_table(example, 1.0 - theta),
        "best": model_table(found.model),
        "learnt": model_table(learnt),
        "play of best": play_table(lambda x: found.model.scores(interval_contexts(x)), meet),
        "play of learnt": play_table(lambda x: learnt.scores(interval_contexts(x)), crossing(learnt)),
        "summary": row_of(
            theta=theta,
            switch=1.0 - theta,
            crossing=meet,
            slope_of_action_2=example.slope,
            b=found.b,
            regret_of_best=max(population.regret(greedy_policy(found.model)), 0.0),
            regret_of_learnt=population.regret(greedy_policy(learnt)),
        ),
    }


def confidence(theta: float, n_rows: int) -> Columns:
    """LinUCB's estimates and widths on a grid, and its regret, given rows of optimal play."""
    example = SensitivityExample(theta)
    model = _fit(LinUCB(), example, optimal_log(example, n_rows))
    x = np.linspace(0.0, 1.0, 41)
    means, widths = model.means(interval_contexts(x)), model.widths(interval_contexts(x))
    return table_of(
        n_rows=[n_rows] * len(x),
        x=x,
        estimate=means[:, 0],
        width=widths[:, 0],
        estimate_2=means[:, 1],
        width_2=widths[:, 1],
        regret=[example.population.regret(greedy_policy(model.model))] * len(x),
        regret_with_bonus=[example.population.regret(greedy_policy(model))] * len(x),
    )


def optimal_log(example: SensitivityExample, n_rows: int) -> Log:
    """The log of n_rows rounds of the optimal policy."""
    drawn = example.draw(0, n_rows, SEED)
    action = drawn.means.argmax(axis=1)
    return Log(
        contexts=drawn.contexts,
        action=action,
        reward=drawn.rewards[np.arange(n_rows), action],
        propensity=np.ones(n_rows),
        epoch=np.ones(n_rows, dtype=np.int64),
        round=np.arange(n_rows),
        component=np.full(n_rows, POLICY),
    )


def _fit(learner: LinUCB, example: SensitivityExample, log: Log) -> OptimisticModel:
    policy = learner.start(example.problem, log).policy
    if not isinstance(policy, KernelPolicy) or not isinstance(policy.scorer, OptimisticModel):
        raise TypeError(f"{learner} does not play by an optimistic linear model.")
    return policy.scorer.restored()


def tables(results: list[Any]) -> Tables:
    """The population's tables and LinUCB's, by number of rows."""
    population: Tables = results[0]
    curves = stacked(results[1:])
    return {**population, "confidence": curves, "intervals at 0": where(curves, "x", 0.0)}


def draw(figure: Figure, tables: Tables) -> None:
    """The best linear models on the left; on the right those that optimal play's data lead to."""
    figure.set_size_inches(7.0, 3.2)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, model, title in (
        (left, "best", "Best linear approximation"),
        (right, "learnt", "Learnt from optimal play"),
    ):
        draw_truth(axes, tables["truth"], alpha=0.3, linewidth=2.6, solid_capstyle="butt")
        draw_model(axes, tables[model])
        draw_play(axes, tables[f"play of {model}"])
        dress(axes, title, -0.35, 1.55)
    right.set_ylabel("")
    _draw_confidence(right, tables["confidence"])
    left.text(0.42, 0.16, "action 1", color=ACTION_COLOURS[0], ha="right", va="bottom")
    left.text(0.42, 0.76, "action 2", color=ACTION_COLOURS[1], va="bottom")


def _draw_confidence(axes: Axes, curves: Columns) -> None:
    """Draw LinUCB's interval for action 1 from the largest number of rows."""
    n_rows = max(numbers(curves, "n_rows"))
    last = where(curves, "n_rows", int(n_rows))
    x, middle, width = (numbers(last, name) for name in ("x", "estimate", "width"))
    axes.fill_between(x, middle - width, middle + width, color=ACTION_COLOURS[0], alpha=0.15, linewidth=0)
    axes.text(
        0.3,
        1.25,
        f"LinUCB's interval\nfrom {n_rows:,.0f} rows",
        color=ACTION_COLOURS[0],
        fontsize=8.5,
        va="bottom",
    )


EXHIBIT = Exhibit("sensitivity", work=work, tables=tables, draw=draw, printed="intervals at 0")
