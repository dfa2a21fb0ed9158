"""The constraint sets F'_m, epoch by epoch: they shrink around the best in-class model and hold the fit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.reports.numbers import decimal, with_error
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.exhibits.shrinking_figure import SMALL_SCALE, draw
from gyrfalcon_paper.exhibits.shrinking_fits import C_BETA, FITS, LEARNER, fits
from gyrfalcon_paper.tables import at_least, distinct, matching, numbers, table_of, table_of_rows

SCALES = (SMALL_SCALE, 0.25, C_BETA, 1.0)
"""Of the slack, at which coverage is asked for."""
SHOWN = (4, 6, 8, 10)
"""After which epochs the set is drawn; from the first of them on coverage is counted."""


def work(effort: Effort) -> list[Piece]:
    """Replications in parts; one round more than whole epochs have, so that the last one is fitted."""
    n_rounds = 1 + effort.of(full=204_800, quick=25_600)
    n_replications, n_parts = effort.of(full=100, quick=10), effort.of(full=4, quick=1)
    size = n_replications // n_parts
    return [partial(fits, n_rounds, part * size, (part + 1) * size) for part in range(n_parts)]


def tables(results: list[Any]) -> Tables:
    """What the fits have in common, epoch by epoch; coverage; and the sets of the first replication."""
    table = table_of_rows(row for part in results for row in part)
    epochs = distinct(table, "epoch")
    return {
        "epochs": table_of_rows(_epoch(matching(table, epoch=epoch)) for epoch in epochs),
        "coverage": table_of_rows(_coverage(table, scale) for scale in SCALES),
        "sets": _sets(table),
    }


def _epoch(own: Columns) -> dict[str, Any]:
    """Means over replications after one epoch, with their standard errors."""
    samples = {
        "radius": np.sqrt(numbers(own, "slack")),
        **{name: numbers(own, f"{name}_distance") for name in FITS},
        **{f"covered_{scale:g}": _covered(own, scale) for scale in SCALES},
    }
    found: dict[str, Any] = {
        "epoch": own["epoch"][0],
        "round": own["round"][0],
        "replications": len(own["epoch"]),
    }
    for name, sample in samples.items():
        summary = Summary.of(sample)
        found |= {name: summary.mean, f"{name}_standard_error": summary.standard_error}
    return found | {"binding": float((numbers(own, "multiplier") > 0.0).mean())}


def _covered(own: Columns, scale: float) -> Floats:
    """1 where the best in-class model is in the set that this scale of the slack would have made.

    Slack is proportional to its scale, and passive rows don't depend on what was played.
    """
    slack = numbers(own, "slack") * scale / C_BETA
    return (numbers(own, "best_excess") <= slack).astype(np.float64)


def _coverage(table: Columns, scale: float) -> dict[str, Any]:
    """Over all epochs with at least 20 passive rows; the mean of a replication counts as one number."""
    later = [matching(table, replication=number) for number in distinct(table, "replication")]
    shares = np.array([_covered(own, scale)[numbers(own, "epoch") >= SHOWN[0]].mean() for own in later])
    summary, always = Summary.of(shares), Summary.of((shares == 1.0).astype(np.float64))
    return {
        "c_beta": scale,
        "coverage": summary.mean,
        "standard_error": summary.standard_error,
        "always": always.mean,
        "always_standard_error": always.standard_error,
    }


def _sets(table: Columns) -> Columns:
    first = matching(table, replication=table["replication"][0])
    kept = np.isin(numbers(first, "epoch"), SHOWN)
    names = ["epoch", "slack", *(name for name in first if name.startswith(("gram", *FITS)))]
    return table_of(**{name: np.array(first[name])[kept] for name in names if "distance" not in name})


def prose(tables: Tables) -> list[str]:
    """How fast the sets shrink, whether they contain the best model, and what they hold back."""
    later = at_least(tables["epochs"], "epoch", SHOWN[0])
    first, last = ({name: float(column[place]) for name, column in later.items()} for place in (0, -1))
    rounds, radii = (numbers(later, name) for name in ("round", "radius"))
    power = float(np.polyfit(np.log(rounds), np.log(radii), 1)[0])
    held = last["played"] < last["active"] - 2 * (
        last["active_standard_error"] + last["played_standard_error"]
    )
    return [
        "The paper's argument is that the sets <i>F</i>′<sub><i>m</i></sub> of models that passive rounds "
        "support shrink, contain the best in-class model with high probability, and therefore hold the fit "
        f"near it. We play Epsilon-FALCON on Section 1.1, {first['replications']:.0f} times, and look "
        "behind each fit: at the radius of the set (the root of the slack, a root mean squared difference "
        "of predictions), and at how far three models are from the best lines: the fit of the passive rows "
        "alone, that of the active rows alone, and the constrained one, which is played.",
        f"Between {first['round']:,.0f} and {last['round']:,.0f} rounds the radius falls from "
        f"{first['radius']:.3f} to {last['radius']:.4f}, as the rounds to the power {decimal(power, 2)} "
        "(the paper's rate is −1/2). The fit of the active rows alone "
        f"{'comes closer' if last['active'] < first['active'] else 'does not come closer'}: it is "
        f"{with_error(last['active'], last['active_standard_error'], 3)} away at the end, against "
        f"{with_error(first['active'], first['active_standard_error'], 3)} at {first['round']:,.0f} rounds. "
        f"The fit that is played is {with_error(last['played'], last['played_standard_error'], 4)} away, "
        f"{'held back by the constraint' if held else 'not clearly closer for the constraint'}, which binds "
        f"in {last['binding']:.0%} of the last fits. It goes to the edge of the set when it "
        "binds, so its distance follows the radius; the passive fit alone is "
        f"{'closer' if last['passive'] < last['played'] else 'no closer'}, "
        f"{with_error(last['passive'], last['passive_standard_error'], 4)}.",
        _about_coverage(tables["coverage"]),
    ]


def _about_coverage(table: Columns) -> str:
    """How often the best model is inside, by the scale of the slack."""
    shares = {
        float(scale): with_error(float(mean), float(error), 3)
        for scale, mean, error in zip(
            table["c_beta"], table["coverage"], table["standard_error"], strict=True
        )
    }
    place = SCALES.index(C_BETA)
    always, error = (float(table[name][place]) for name in ("always", "always_standard_error"))
    wanted = 1.0 - LEARNER.delta
    verdict = (
        "reaches" if always >= wanted else "falls short of" if always < wanted - 2 * error else "is about"
    )
    others = ", ".join(f"{share} at {scale:g}" for scale, share in shares.items() if scale != C_BETA)
    return (
        f"From epoch {SHOWN[0]} on, the best lines are inside the set in a share of {shares[C_BETA]} "
        f"of the fits at the default scale of the slack, <i>c</i><sub><i>β</i></sub> = {C_BETA:g}, "
        f"and in all fits of a run in {with_error(always, error, 2)} of the runs, which {verdict} the "
        f"confidence asked for, {wanted:g}. At other scales the share of fits would be {others}. A small "
        "scale, which regret may prefer, gives up the certainty that the theorem rests on."
    )


def caption(tables: Tables) -> str:
    """What the figure shows."""
    sets, n = tables["sets"], int(tables["epochs"]["replications"][0])
    return (
        "<b>The constraint sets shrink.</b> Left: one run, after epochs "
        f"{', '.join(f'{float(epoch):.0f}' for epoch in sets['epoch'])}: the coefficients of action 1 that "
        "the passive rows support (ellipses), the minimiser on active rows (crosses), the constrained one "
        "that is played (dots), and the best line (star). Right, above: radius of the set, and root mean "
        "squared distance of the fits from the best lines; below: share of runs in which these are inside "
        f"the set. Means of {n} replications with two standard errors."
    )


EXHIBIT = Exhibit(
    key="shrinking",
    title="The constraint sets shrink around the best in-class model",
    work=work,
    tables=tables,
    draw=draw,
    prose=prose,
    caption=caption,
)
