"""`gyrfalcon paper`: every figure, table and claim of the paper, computed, as a folder and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gyrfalcon.cli._errors import FAILURE, INTERRUPTED, Stopped
from gyrfalcon.cli._output import print_json, print_table
from gyrfalcon.cli._parsing import whole
from gyrfalcon.cli._progress import by_piece, progress

EXAMPLES = """\
gyrfalcon paper --quick --out paper
gyrfalcon paper --out paper --jobs 2
"""
_VERDICTS = {"hold": True, "do_not_hold": False, "not_decided": None}


def paper(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the page, figures and data.")] = Path(
        "paper"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="Compute as much as fits into a minute, with larger errors.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Processes.", show_default="one per core"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for machines.")] = False,
) -> None:
    """Compute every figure, table and claim of the paper.

    Writes a folder with index.html, a companion to the paper that needs nothing but itself; figures as SVG,
    PDF and PNG; the data behind each as CSV; and claims.json, which says of every claim that can be checked
    by computation whether it holds.
    """
    if jobs is not None and jobs < 1:
        raise typer.BadParameter(f"{jobs} processes compute nothing; give at least 1.", param_hint="--jobs")
    page = _written(out, quick=quick, jobs=jobs)
    claims = _claims(page)
    if as_json:
        print_json({"page": str(page), "claims": _counts(claims), "do_not_hold": _failing(claims)})
    else:
        _print(page, claims)


def _written(out: Path, *, quick: bool, jobs: int | None) -> Path:
    from gyrfalcon.sweeps.processes import PieceFailedError
    from gyrfalcon_paper.companion import write_companion

    with progress("The paper", 1, "pieces") as tracker:
        try:
            return write_companion(out, quick=quick, jobs=jobs, on_piece=by_piece(tracker))
        except PieceFailedError as error:
            raise Stopped(str(error), FAILURE) from error
        except KeyboardInterrupt:
            raise Stopped("stopped; the page is written at the end, so there is none.", INTERRUPTED) from None


def _claims(page: Path) -> list[dict[str, Any]]:
    import json

    claims: list[dict[str, Any]] = json.loads((page.parent / "claims.json").read_text(encoding="utf-8"))
    return claims


def _counts(claims: list[dict[str, Any]]) -> dict[str, int]:
    verdicts = [claim["holds"] for claim in claims]
    return {name: verdicts.count(verdict) for name, verdict in _VERDICTS.items()}


def _failing(claims: list[dict[str, Any]]) -> list[str]:
    return [claim["key"] for claim in claims if claim["holds"] is False]


def _print(page: Path, claims: list[dict[str, Any]]) -> None:
    rows = [[claim["source"], claim["statement"]] for claim in claims if claim["holds"] is False]
    if rows:
        print_table("Claims that do not hold", ["where", "claim"], rows, n_texts=2)
    counts = _counts(claims)
    typer.echo(
        f"Of {len(claims)} claims {counts['hold']} hold, {counts['do_not_hold']} do not hold; "
        f"not decided: {counts['not_decided']}."
    )
    typer.echo(f"Page: {page}")
