"""The constraint sets F'_m, epoch by epoch: they shrink around the best in-class model and hold the fit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.simulation.trace import Summary
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, Tables
from gyrfalcon_paper.exhibits.shrinking_figure import SMALL_SCALE, draw
from gyrfalcon_paper.exhibits.shrinking_fits import C_BETA, FITS, fits
from gyrfalcon_paper.tables import distinct, matching, numbers, table_of, table_of_rows

SCALES = (SMALL_SCALE, 0.25, C_BETA, 1.0)
"""Scales of the slack at which coverage is counted."""
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


EXHIBIT = Exhibit("shrinking", work=work, tables=tables, draw=draw, printed="coverage")
