"""Epsilon-FALCON beside those that trust their model, and beside itself without the constraint."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.reports.figures import COLOURS, Band, draw_band
from gyrfalcon.reports.labels import Label, end_labels, plain_numbers
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import entry, matching, numbers, table_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST = 100
"""Rounds of the first epoch and of every batch."""

OURS = "Epsilon-FALCON"
UNCONSTRAINED = "the same without the constraint"
SHARPER = "all data, a fifth of the slack"
GREEDIER = "and gamma three times as large"

ENVIRONMENTS: dict[str, StepExample | SensitivityExample] = {
    "Section 1.1": StepExample(),
    "Appendix E": SensitivityExample(theta=0.05),
}
LEARNERS: dict[str, Learner] = {
    "LinUCB": LinUCB(),
    "LinTS": LinTS(),
    "SquareCB": SquareCB(),
    "FALCON, last epoch": Falcon(),
    "FALCON, all data": Falcon(data="all"),
    OURS: EpsilonFalcon(),
    # Slack beyond any squared error of these rewards: passive rounds are played, and bind nothing.
    UNCONSTRAINED: EpsilonFalcon(c_beta=1e9),
    SHARPER: EpsilonFalcon(data="all", passive_data="all", c_beta=0.1),
    GREEDIER: EpsilonFalcon(data="all", passive_data="all", c_beta=0.1, c_gamma=30.0),
}
_LOOKS = {
    "LinUCB": (COLOURS[2], "-"),
    "LinTS": (COLOURS[3], "-"),
    "SquareCB": (COLOURS[4], "-"),
    "FALCON, last epoch": (COLOURS[0], "-"),
    "FALCON, all data": (COLOURS[0], (0, (4, 2))),
    OURS: (COLOURS[1], "-"),
    UNCONSTRAINED: (COLOURS[1], (0, (4, 2))),
    SHARPER: ("black", "-"),
    GREEDIER: ("black", (0, (4, 2))),
}


class Runs(NamedTuple):
    """Some replications of a learner in an environment."""

    environment: str
    learner: str
    checkpoints: Ints
    regret: Floats
    """(R, C): cumulative."""
    late: Floats
    """(R,): a round, over the last fifth."""
    n_fits: int
    n_binding: int


def work(effort: Effort) -> list[Piece]:
    """Every learner in every environment; learners that refit a thousand times are shared out."""
    n_rounds, n_replications = effort.of(full=100_000, quick=6_400), effort.of(full=100, quick=4)
    n_parts = effort.of(full=4, quick=1)
    size = n_replications // n_parts
    return [
        partial(runs, environment, learner, n_rounds, size, part * size)
        for environment in ENVIRONMENTS
        for learner in LEARNERS
        for part in range(n_parts)
    ]


def runs(environment: str, learner: str, n_rounds: int, n_replications: int, first_replication: int) -> Runs:
    """Replications from `first_replication` on, seen whenever the rounds have doubled."""
    trace = simulate(
        LEARNERS[learner],
        ENVIRONMENTS[environment],
        n_rounds,
        n_replications,
        checkpoints=[*doublings(n_rounds), n_rounds * 4 // 5],
        first_replication=first_replication,
    )
    reports = [epoch.report for epochs in trace.epochs for epoch in epochs if epoch.report is not None]
    binding = sum(report.multiplier > 0.0 for report in reports)
    return Runs(
        environment, learner, trace.checkpoints, trace.regret, trace.late_regret(), len(reports), binding
    )


def doublings(n_rounds: int) -> list[int]:
    """The ends of whole epochs: 100, 200, 400, ... below n_rounds, and n_rounds.

    >>> doublings(1_000)
    [100, 200, 400, 800, 1000]
    """
    ends = [FIRST]
    while 2 * ends[-1] < n_rounds:
        ends.append(2 * ends[-1])
    return [*ends, n_rounds]


def tables(results: list[Any]) -> Tables:
    """Regret of each learner, over time and in all, and its distance to Epsilon-FALCON's in the same runs."""
    pieces: list[Runs] = results
    joined = {
        key: _joined(list(parts))
        for key, parts in groupby(pieces, key=lambda part: (part.environment, part.learner))
    }
    return {
        "regret": table_of_rows(_totals(part, joined[part.environment, OURS]) for part in joined.values()),
        "per-round": table_of_rows(row for part in joined.values() for row in _stretches(part)),
    }


def _joined(parts: list[Runs]) -> Runs:
    return parts[0]._replace(
        regret=np.concatenate([part.regret for part in parts]),
        late=np.concatenate([part.late for part in parts]),
        n_fits=sum(part.n_fits for part in parts),
        n_binding=sum(part.n_binding for part in parts),
    )


def _totals(part: Runs, ours: Runs) -> dict[str, Any]:
    total, late = Summary.of(part.regret[:, -1]), Summary.of(part.late)
    ahead = Summary.of(part.regret[:, -1] - ours.regret[:, -1])
    return {
        "environment": part.environment,
        "learner": part.learner,
        "replications": len(part.regret),
        "cumulative": total.mean,
        "cumulative_standard_error": total.standard_error,
        "late": late.mean,
        "late_standard_error": late.standard_error,
        "above": ahead.mean,
        "above_standard_error": ahead.standard_error,
        "fits": part.n_fits,
        "binding": part.n_binding,
    }


def _stretches(part: Runs) -> list[dict[str, Any]]:
    """Regret a round between doublings."""
    n_rounds = int(part.checkpoints[-1])
    ends = np.array(doublings(n_rounds))
    sums = part.regret[:, np.searchsorted(part.checkpoints, ends)]
    per_round = np.diff(sums, prepend=0.0, axis=1) / np.diff(ends, prepend=0)
    summaries = [Summary.of(column) for column in per_round.T]
    return [
        {
            "environment": part.environment,
            "learner": part.learner,
            "round": int(end),
            "regret": summary.mean,
            "standard_error": summary.standard_error,
        }
        for end, summary in zip(ends, summaries, strict=True)
    ]


def draw(figure: Figure, tables: Tables) -> None:
    """Draw regret a round over time, one picture above the other for the two environments."""
    figure.set_size_inches(7.0, 7.0)
    pictures = figure.subplots(2, 1)
    for axes, environment in zip(pictures, ENVIRONMENTS, strict=True):
        _draw_environment(axes, environment, tables)
        axes.set_title(f"{environment} (at the right: regret in all)")
    pictures[0].set_xlabel("")


def _draw_environment(axes: Axes, environment: str, tables: Tables) -> None:
    lowest, labels = np.inf, []
    for learner, (colour, dashes) in _LOOKS.items():
        table = matching(tables["per-round"], environment=environment, learner=learner)
        x, y, error = (numbers(table, name) for name in ("round", "regret", "standard_error"))
        band = Band.of(y, error, floor=1e-9)
        draw_band(axes, x, band, colour, linestyle=dashes, marker="o", markersize=2.5)
        total = entry(tables["regret"], "cumulative", environment=environment, learner=learner)
        labels.append(Label(f"{learner}: {total:,.0f}", float(y[-1]), colour))
        lowest = min(lowest, float(y.min()))
    axes.set(xscale="log", yscale="log", xlabel="round", ylabel="expected regret per round")
    axes.set_ylim(0.7 * lowest, 0.5)
    plain_numbers(axes.yaxis)
    plain_numbers(axes.xaxis, steps=(1.0,))
    axes.margins(x=0.01)
    end_labels(axes, labels, height_inches=2.8)


EXHIBIT = Exhibit("comparison", work=work, tables=tables, draw=draw, printed="regret")
