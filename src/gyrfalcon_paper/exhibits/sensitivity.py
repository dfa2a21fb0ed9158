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
from gyrfalcon.reports.numbers import decimal
from gyrfalcon_paper.curves import (
    ACTION_COLOURS,
    draw_lines,
    draw_play,
    draw_truth,
    dress,
    lines_table,
    play_table,
    truth_table,
)
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.lines import crossing, line_contexts
from gyrfalcon_paper.tables import numbers, only, row_of, stacked, table_of, where

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
    """The truth, the best lines, the lines that optimal play's data lead to, and what each costs."""
    environment = SensitivityExample(theta)
    population = environment.population
    found = misspecification(population, Linear())
    learnt = best_in_class(population, Linear(), play=greedy_policy(found.model))
    meet = crossing(found.model)
    return {
        "truth": truth_table(environment, 1.0 - theta),
        "best": lines_table(found.model),
        "learnt": lines_table(learnt),
        "play of best": play_table(lambda x: found.model.scores(line_contexts(x)), meet),
        "play of learnt": play_table(lambda x: learnt.scores(line_contexts(x)), crossing(learnt)),
        "summary": row_of(
            theta=theta,
            switch=1.0 - theta,
            crossing=meet,
            slope_of_action_2=environment.slope,
            b=found.b,
            regret_of_best=max(population.regret(greedy_policy(found.model)), 0.0),
            regret_of_learnt=population.regret(greedy_policy(learnt)),
        ),
    }


def confidence(theta: float, n_rows: int) -> Columns:
    """LinUCB's estimates and widths on a grid, and its regret, given so many rows of optimal play."""
    environment = SensitivityExample(theta)
    model = _fit(LinUCB(), environment, optimal_log(environment, n_rows))
    x = np.linspace(0.0, 1.0, 41)
    means, widths = model.means(line_contexts(x)), model.widths(line_contexts(x))
    return table_of(
        n_rows=[n_rows] * len(x),
        x=x,
        estimate=means[:, 0],
        width=widths[:, 0],
        estimate_2=means[:, 1],
        width_2=widths[:, 1],
        regret=[environment.population.regret(greedy_policy(model.model))] * len(x),
        regret_with_bonus=[environment.population.regret(greedy_policy(model))] * len(x),
    )


def optimal_log(environment: SensitivityExample, n_rows: int) -> Log:
    """So many rounds of the optimal policy."""
    drawn = environment.draw(0, n_rows, SEED)
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


def _fit(learner: LinUCB, environment: SensitivityExample, log: Log) -> OptimisticModel:
    policy = learner.start(environment.problem, log).policy
    if not isinstance(policy, KernelPolicy) or not isinstance(policy.scorer, OptimisticModel):
        raise TypeError(f"{learner} does not play by an optimistic linear model.")
    return policy.scorer


def tables(results: list[Any]) -> Tables:
    """The population's tables and LinUCB's, by number of rows."""
    population: Tables = results[0]
    return {**population, "confidence": stacked(results[1:])}


def draw(figure: Figure, tables: Tables) -> None:
    """The best lines on the left; on the right those that optimal play's data lead to."""
    figure.set_size_inches(7.0, 3.2)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, lines, title in (
        (left, "best", "Best linear approximation"),
        (right, "learnt", "Learnt from optimal play"),
    ):
        draw_truth(axes, tables["truth"], alpha=0.3, linewidth=2.6, solid_capstyle="butt")
        draw_lines(axes, tables[lines])
        draw_play(axes, tables[f"play of {lines}"])
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


def prose(tables: Tables) -> list[str]:
    """The one-step claim, its size, and how many rows it needs."""
    found = only(tables["summary"])
    above = "above" if found["regret_of_learnt"] >= SensitivityExample.claimed_regret else "not above"
    small = "within" if found["b"] <= found["theta"] / 2 else "not within"
    return [
        "Appendix E makes the model nearly right. Action 1's reward is 0.1 up to <i>x</i> = 1 − <i>θ</i> "
        "and 1 beyond; action 2's is a line that meets action 1's best line there. With <i>θ</i> = "
        f"{found['theta']:g} the lines meet at {decimal(found['crossing'], 4)}, their policy costs "
        f"{decimal(found['regret_of_best'], 4)} a round, and <i>b</i> = {decimal(found['b'], 5)} is {small} "
        "the paper's <i>θ</i>/2.",
        "Data of that policy show action 1 only where it pays 1, so their best line for it is 1 everywhere, "
        f"whose policy costs {decimal(found['regret_of_learnt'], 4)} a round: {above} the paper's bound of "
        f"{SensitivityExample.claimed_regret}. Whether LinUCB's intervals concentrate on it is a matter of "
        "rows, because "
        "action 1 is seen on a sliver of contexts alone. With a ridge of 1 on standardised features, "
        f"{_by_rows(tables['confidence'])}.",
        "This is a statement about one step: it takes the data of the optimal policy as given. What happens "
        "in the live loop, where a learner plays by its own fits, is another matter, and has a section of "
        "its own.",
    ]


def _by_rows(curves: Columns) -> str:
    parts = []
    for n_rows in dict.fromkeys(curves["n_rows"]):
        row = only(where(where(curves, "n_rows", n_rows), "x", 0.0))
        parts.append(
            f"from {n_rows:,} rows its interval for action 1 at <i>x</i> = 0 is "
            f"{decimal(row['estimate'], 2)} ± {decimal(row['width'], 2)}, greedy play by its estimate costs "
            f"{decimal(row['regret'], 3)} a round, and play by its upper end "
            f"{decimal(row['regret_with_bonus'], 3)}"
        )
    return "; ".join(parts)


def caption(tables: Tables) -> str:
    """What is to be seen."""
    found = only(tables["summary"])
    return (
        f"<b>Appendix E</b>, <i>θ</i> = {found['theta']:g}. Expected rewards (broad, faint) with the best "
        "linear approximation (left), and with the lines of least error under the data of that "
        "approximation's policy, which is optimal (right). The strips show whom each pair of lines plays; "
        "the shaded band on the right is LinUCB's confidence interval for action 1."
    )


EXHIBIT = Exhibit(
    key="sensitivity",
    title="Appendix E: nearly right, and led astray by optimal data",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
