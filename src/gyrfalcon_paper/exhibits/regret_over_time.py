"""Figure "Evolution of per-period regret": LinUCB's falls, then rises to that of a self-consistent policy.

That is greedy play whose own data bring back the linear model that it plays by. If action 1 is played above
s, its rows have x uniform on (s, 1), and the least-squares fit of a step at 0.5 to them has the value (1 - 3
(0.5 - s) / (1 - s)) / (2 (1 - s)) at s. It switches there again if that is the 0.5 of action 2, which is s^2
- 4 s + 3/2 = 0, so s = 2 - sqrt(5/2). Between s and 0.5 play loses 0.5.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.reports.figures import COLOURS, Band, draw_band, draw_reference
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.tables import numbers, only, row_of, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEED = 0
N_PIECES = 4

SWITCH = 2.0 - math.sqrt(2.5)
"""0.418861: above it, the self-consistent policy plays action 1."""

REGRET = 0.5 * (0.5 - SWITCH)
"""0.040569 a round: what learners that fit all their rows settle at."""


def stretches(n_rounds: int) -> Ints:
    """Ends of stretches of rounds: every 100 up to 2,000, then a tenth longer each, in whole batches."""
    late = np.geomspace(2_000, max(n_rounds, 2_000), 24)
    return np.union1d(np.arange(100, 2_001, 100), (late // 100 * 100).astype(np.int64)).clip(max=n_rounds)


def work(effort: Effort) -> list[Piece]:
    """The replications in a few pieces."""
    n_replications, n_rounds = effort.of(full=100, quick=40), effort.of(full=50_000, quick=4_000)
    size = n_replications // N_PIECES
    return [partial(runs, n_rounds, size, size * piece) for piece in range(N_PIECES)]


def runs(n_rounds: int, n_replications: int, first: int) -> Trace:
    """LinUCB in Section 1.1."""
    return simulate(
        LinUCB(),
        StepExample(),
        n_rounds,
        n_replications,
        SEED,
        checkpoints=np.unique(stretches(n_rounds)),
        first_replication=first,
    )


def tables(results: list[Any]) -> Tables:
    """Regret a round in each stretch, and how far it rises from its lowest."""
    trace = Trace.concat(results)
    per_round = trace.regret_per_round
    return {
        "regret": regret_table(trace.checkpoints, trace.lengths, per_round),
        "summary": _summary(trace, per_round),
    }


def regret_table(checkpoints: Ints, lengths: Ints, per_round: Floats) -> Columns:
    """Mean and standard error over replications of regret a round, for each stretch of rounds."""
    summaries = [Summary.of(column) for column in per_round.T]
    return table_of(
        first_round=checkpoints - lengths + 1,
        last_round=checkpoints,
        mean=[summary.mean for summary in summaries],
        standard_error=[summary.standard_error for summary in summaries],
    )


def _summary(trace: Trace, per_round: Floats) -> Columns:
    lowest = int(per_round.mean(axis=0).argmin())
    late = trace.late_regret(0.5)
    rise = Summary.of(late - per_round[:, lowest])
    settled, low = Summary.of(late), Summary.of(per_round[:, lowest])
    return row_of(
        n_replications=trace.n_replications,
        n_rounds=trace.n_rounds,
        start=float(per_round[:, 0].mean()),
        lowest_first_round=int(trace.checkpoints[lowest] - trace.lengths[lowest] + 1),
        lowest_last_round=int(trace.checkpoints[lowest]),
        lowest=low.mean,
        lowest_standard_error=low.standard_error,
        late=settled.mean,
        late_standard_error=settled.standard_error,
        rise=rise.mean,
        rise_standard_error=rise.standard_error,
        self_consistent=REGRET,
        switch=SWITCH,
        uniform=StepExample().uniform_regret,
    )


def draw(figure: Figure, tables: Tables) -> None:
    """Regret a round over rounds, both in logs."""
    figure.set_size_inches(7.0, 3.2)
    axes = figure.add_subplot()
    rows, summary = tables["regret"], only(tables["summary"])
    x = (numbers(rows, "first_round") - 1 + numbers(rows, "last_round")) / 2
    mean, error = numbers(rows, "mean"), numbers(rows, "standard_error")
    draw_band(axes, x, Band.of(mean, error), COLOURS[1])
    axes.plot(x[:6], mean[:6], "o", color=COLOURS[1], markersize=3)
    settled = summary["self_consistent"]
    draw_reference(axes, f"self-consistent play, {settled:.4f}", settled, at=0.75, above=True, gap=10.0)
    draw_reference(axes, f"uniform play, {summary['uniform']:.2f}", summary["uniform"])
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="round",
        ylabel="expected regret per round",
        title="LinUCB, batches of 100",
    )
    axes.set_ylim(0.006, 0.4)
    axes.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2], ["0.01", "0.02", "0.05", "0.1", "0.2"])
    axes.minorticks_off()
    ticks = [n for n in (50, 100, 200, 500, 1_000, 2_000, 5_000, 20_000, 50_000) if n <= summary["n_rounds"]]
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])


EXHIBIT = Exhibit("regret-over-time", work=work, tables=tables, draw=draw, printed="summary")
