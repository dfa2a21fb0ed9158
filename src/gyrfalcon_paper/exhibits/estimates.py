"""Figure "Evolution of model estimates": how LinUCB's model leaves the best one as it plays by it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Scorer
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.population.population import greedy_policy
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import PlayedEpoch
from gyrfalcon_paper.curves import (
    ACTION_COLOURS,
    DOTTED,
    draw_model,
    draw_truth,
    dress,
    model_table,
    truth_table,
)
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.linear_models import crossing
from gyrfalcon_paper.tables import numbers, only, table_of, where

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
    """LinUCB's model at 0 and 1 after each number of rounds, its crossing, and the regret of greedy play."""
    # The round after a refit is the first that the new model plays.
    trace = simulate(
        LinUCB(),
        StepExample(),
        rounds[-1] + 1,
        seed=seed,
        checkpoints=[n + 1 for n in rounds],
        keep_policies=True,
    )
    models = [_model(played) for played in trace.epochs[0]]
    fits = [model_table(model) for model in models]
    population = StepExample().population
    return table_of(
        rounds=[played.start for played in trace.epochs[0]],
        **{
            f"action_{action}_at_{end}": [numbers(fit, f"action_{action}")[end] for fit in fits]
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
    return policy.scorer.model.restored()


def tables(results: list[Any]) -> Tables:
    """The models after each number of rounds, beside the best one and the truth."""
    example = StepExample()
    return {
        "estimates": results[0],
        "truth": truth_table(example, 0.5),
        "best": model_table(best_in_class(example.population, Linear())),
    }


def draw(figure: Figure, tables: Tables) -> None:
    """A picture for each number of rounds, with the best model dotted."""
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
    fits = table_of(
        x=[0.0, 1.0],
        **{
            f"action_{action}": [*row[f"action_{action}_at_0"], *row[f"action_{action}_at_1"]]
            for action in (1, 2)
        },
    )
    draw_model(axes, fits, linewidth=1.8)
    draw_model(axes, tables["best"], color="black", linestyle=DOTTED, linewidth=1.3)
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


EXHIBIT = Exhibit("estimates", work=work, tables=tables, draw=draw, printed="estimates")
