"""The companion's page: the exhibits in the paper's order, then every claim with its verdict."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence

from gyrfalcon.reports.page import Cell, Mark, Page, Section, Table
from gyrfalcon_paper.claims.claim import (
    ERROR_RATE,
    LEGEND,
    Claim,
    Kind,
    Verdict,
    rounded,
    verdict_counts,
)
from gyrfalcon_paper.exhibits.exhibit import Columns, Effort, RenderedExhibit

TITLE = "Contextual bandits beyond realizability, computed"

LEAD = (
    "A companion to “Tractable contextual bandits beyond realizability” (Krishnamurthy, Hadad and Athey, "
    "2021): every figure of the paper drawn from computed numbers, what it promises without a figure, and a "
    "verdict on every claim that a computation can check."
)

_ERROR = "_standard_error"
_SIGNS = {Verdict.HOLDS: True, Verdict.ERRATUM: False, Verdict.TYPO: False}


def companion_page(exhibits: Sequence[RenderedExhibit], claims: Sequence[Claim], effort: Effort) -> Page:
    """The page of these exhibits and claims."""
    return Page(
        TITLE,
        LEAD,
        [_method(effort), *map(_exhibit, exhibits), _claims(claims)],
        footer="Figures, the data behind them and claims.json are in the folder of this page.",
    )


def _method(effort: Effort) -> Section:
    import numpy
    import scipy

    from gyrfalcon import __version__

    command = f"gyrfalcon paper{' --quick' if effort.quick else ''} --out DIR"
    much = (
        "This is the quick version: fewer simulations and rounds than the full one, so that its error bands "
        "are wider and what takes long to show may not show."
        if effort.quick
        else "This is the full version."
    )
    return Section(
        "How it was computed",
        [
            f"{much} The command is <code>{command}</code>, of gyrfalcon {__version__} (Python "
            f"{platform.python_version()}, NumPy {numpy.__version__}, SciPy {scipy.__version__}). All seeds "
            "are fixed, and results depend neither on the number of processes nor on the clock: the same "
            "versions give the same page.",
            "Regret is expected regret, against the optimal policy. Bands are two standard errors either way "
            "over independent simulations, unless a caption says otherwise.",
        ],
    )


def _exhibit(rendered: RenderedExhibit) -> Section:
    files = {kind.upper(): path for kind, path in rendered.figures.items()}
    files |= {f"{name} (CSV)": path for name, path in rendered.data.items()}
    return Section(
        rendered.exhibit.title,
        [rendered.exhibit.text],
        figure=rendered.pictures["svg"],
        caption=rendered.exhibit.caption,
        files=files,
        table=data_table(rendered.printed),
    )


def data_table(columns: Columns) -> Table:
    """The data behind a figure as a table, standard errors in brackets; a single row is listed by names."""
    cells = {
        name.removeprefix("n_").replace("_", " "): _cells(column, columns.get(f"{name}{_ERROR}"))
        for name, column in columns.items()
        if not (name.endswith(_ERROR) and name.removesuffix(_ERROR) in columns)
    }
    if all(len(column) == 1 for column in cells.values()):
        return Table(("", ""), [(name, column[0]) for name, column in cells.items()])
    return Table(tuple(cells), list(zip(*cells.values(), strict=True)))


def _cells(values: list[float | int | str], errors: list[float | int | str] | None) -> list[Cell]:
    if errors is None:
        return [_cell(value) for value in values]
    pairs = zip(values, errors, strict=True)
    return [f"{rounded(float(value)):.4g} ({float(error):.2g})" for value, error in pairs]


def _cell(value: float | int | str) -> Cell:
    if not isinstance(value, float):
        return value
    return "–" if math.isnan(value) else rounded(value)


def _claims(claims: Sequence[Claim]) -> Section:
    parts = dict.fromkeys(claim.part for claim in claims)
    return Section(
        "Every claim, checked",
        [_counted(claims)],
        table=_legend(claims),
        sections=[
            *_in_short(claims),
            *(
                Section(part, table=_table([claim for claim in claims if claim.part == part]))
                for part in parts
            ),
        ],
    )


def _counted(claims: Sequence[Claim]) -> str:
    kinds = [claim.kind for claim in claims]
    return (
        f"{kinds.count(Kind.PAPER)} claims of the paper, counted by verdict; beside them stand "
        f"{kinds.count(Kind.CORRECTION)} corrections and {kinds.count(Kind.EXPECTATION)} expectations of our "
        "own, which are not counted. What is claimed of averages over runs is decided by t tests at an error "
        f"rate of {ERROR_RATE:g} each. The same rows, with their numbers, are in <code>claims.json</code>."
    )


def _legend(claims: Sequence[Claim]) -> Table:
    counts = verdict_counts(claims)
    return Table(
        ("Verdict", "Claims", "Meaning"),
        [(_mark(verdict), counts[verdict], meaning) for verdict, meaning in LEGEND.items()],
    )


def _in_short(claims: Sequence[Claim]) -> list[Section]:
    wrong = [claim for claim in claims if _SIGNS.get(claim.verdict) is False]
    rows = [(claim.place, claim.statement, _mark(claim.verdict)) for claim in wrong]
    return (
        [Section("Errata and typos in short", table=Table(("Where", "Claim", "Verdict"), rows))]
        if rows
        else []
    )


def _table(claims: Sequence[Claim]) -> Table:
    return Table(
        ("Where", "Claim", "Computed", "Verdict"),
        [(_place(claim), claim.statement, _found(claim), _mark(claim.verdict)) for claim in claims],
    )


def _place(claim: Claim) -> str:
    return claim.place if claim.kind is Kind.PAPER else f"{claim.place} (<b>our {claim.kind.value}</b>)"


def _found(claim: Claim) -> str:
    return f"{claim.computed}. <i>{claim.note}</i>" if claim.note else claim.computed


def _mark(verdict: Verdict) -> Mark:
    return Mark(verdict.label, _SIGNS.get(verdict))
