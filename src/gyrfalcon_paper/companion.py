"""The companion to the paper: all of it computed, and written as figures, data, claims and one page."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gyrfalcon.reports.figures import save_pictures
from gyrfalcon.storage.atomic import write_atomically
from gyrfalcon.sweeps.processes import OnPiece, Task, run_all
from gyrfalcon_paper.claims.claim import Claim, claims_json
from gyrfalcon_paper.claims.table import claims_of, claims_work
from gyrfalcon_paper.exhibits import (
    assumption,
    classes,
    comparison,
    epsilon,
    estimates,
    example,
    intuition,
    live_loop,
    misspecification,
    regret_over_time,
    sensitivity,
    shrinking,
    supnorm,
)
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, Exhibit, Piece, RenderedExhibit, rendered
from gyrfalcon_paper.page import companion_page

EXHIBITS: tuple[Exhibit, ...] = (
    example.EXHIBIT,
    estimates.EXHIBIT,
    regret_over_time.EXHIBIT,
    intuition.EXHIBIT,
    comparison.EXHIBIT,
    shrinking.EXHIBIT,
    epsilon.EXHIBIT,
    misspecification.EXHIBIT,
    classes.EXHIBIT,
    assumption.EXHIBIT,
    sensitivity.EXHIBIT,
    supnorm.EXHIBIT,
    live_loop.EXHIBIT,
)
"""All exhibits in the paper's order."""

CLAIMS_TITLE = "Claims"
PAGE = "index.html"


def write_companion(
    folder: Path,
    *,
    quick: bool,
    jobs: int | None = None,
    on_piece: OnPiece | None = None,
    exhibits: Sequence[Exhibit] = EXHIBITS,
    claims: Sequence[Piece] | None = None,
) -> Path:
    """The path of the companion's page, after all of it is computed and written.

    Parameters
    ----------
    folder
        Where ``index.html``, ``claims.json``, ``figures/`` and ``data/`` go. Each file is written whole or
        not at all, and none before everything is computed.
    quick
        Whether to compute only as much as shows that it works.
    jobs
        How many processes share the work; None for one per core. Results don't depend on it.
    on_piece
        Called after each piece with how many are done, of how many, and what the last one belongs to.
    exhibits, claims
        What to show and to check, if not everything.
    """
    for needed in (folder, folder / "figures", folder / "data"):
        needed.mkdir(parents=True, exist_ok=True)  # now, not when an hour of work is to be written
    effort = Effort(quick=quick)
    checks = claims_work(effort) if claims is None else claims
    rendered_exhibits, verdicts = computed(exhibits, checks, effort, jobs, on_piece or _ignore)
    for one in rendered_exhibits:
        save_pictures(folder / "figures", one.exhibit.key, one.pictures)
        for name, columns in one.tables.items():
            write_atomically(folder / one.data[name], csv_of(columns))
    write_atomically(folder / "claims.json", claims_json(verdicts))
    page = folder / PAGE
    write_atomically(page, companion_page(rendered_exhibits, verdicts, effort).html())
    return page


def computed(
    exhibits: Sequence[Exhibit], checks: Sequence[Piece], effort: Effort, jobs: int | None, on_piece: OnPiece
) -> tuple[list[RenderedExhibit], list[Claim]]:
    """All rendered exhibits, and all claims with their verdicts."""
    shares = [Share(exhibit.title, exhibit.work(effort)) for exhibit in exhibits]
    shares.append(Share(CLAIMS_TITLE, checks))
    tasks = [Task(share.title, piece) for share in shares for piece in share.pieces]
    total = len(tasks) + len(exhibits)
    results = run_all(tasks, jobs, lambda done, _, title: on_piece(done, total, title))
    *of_exhibits, of_claims = _dealt(results, [len(share.pieces) for share in shares])
    drawing = [
        Task(exhibit.title, partial(rendered, exhibit, own))
        for exhibit, own in zip(exhibits, of_exhibits, strict=True)
    ]
    rendered_exhibits = run_all(
        drawing, jobs, lambda done, _, title: on_piece(len(tasks) + done, total, title)
    )
    return rendered_exhibits, claims_of(of_claims)


@dataclass(frozen=True, slots=True)
class Share:
    """The pieces of work that belong to one title."""

    title: str
    pieces: Sequence[Piece]


def csv_of(columns: Columns) -> str:
    """The table as comma-separated values, numbers in full.

    >>> csv_of({"x": [0.1, 2], "name": ["a", "b, c"]}).splitlines()
    ['x,name', '0.1,a', '2,"b, c"']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _dealt(results: list[Any], counts: Sequence[int]) -> list[list[Any]]:
    """The results in a hand for each count."""
    waiting = iter(results)
    return [[next(waiting) for _ in range(count)] for count in counts]


def _ignore(done: int, total: int, title: str) -> None:
    """No callback for progress."""
