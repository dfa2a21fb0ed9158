"""`gyrfalcon paper`: every figure, table and claim of the paper, computed, as a folder and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gyrfalcon.cli._errors import FAILURE, INTERRUPTED, Stopped
from gyrfalcon.cli._output import print_json, print_table, say
from gyrfalcon.cli._parsing import whole
from gyrfalcon.cli._progress import by_piece, progress

EXAMPLES = """\
gyrfalcon paper --quick --out paper
gyrfalcon paper --out paper --jobs 2
"""


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
    PDF and PNG; the data behind each as CSV; and claims.json, with the verdict on every claim that can be
    checked by computation: holds, erratum, typo, double precision only, vacuous or undecided.
    """
    if jobs is not None and jobs < 1:
        raise typer.BadParameter(f"{jobs} processes compute nothing; give at least 1.", param_hint="--jobs")
    page = _written(out, quick=quick, jobs=jobs)
    claims = _claims(page)
    if as_json:
        print_json({"page": str(page), "counts": _counts(claims), "claims": claims})
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
    """How many of the paper's own claims have each verdict."""
    from gyrfalcon_paper.claims.claim import Verdict

    own = [claim["verdict"] for claim in claims if claim["kind"] == "paper"]
    return {verdict.value: own.count(verdict.value) for verdict in Verdict}


def _print(page: Path, claims: list[dict[str, Any]]) -> None:
    own = [claim for claim in claims if claim["kind"] == "paper"]
    rows = [
        [_label(claim["verdict"]), claim["place"], claim["statement"]]
        for claim in own
        if claim["verdict"] != "holds"
    ]
    if rows:
        print_table("Claims with another verdict than holds", ["verdict", "where", "claim"], rows, n_texts=3)
    counts = ", ".join(f"{_label(verdict)} {count}" for verdict, count in _counts(claims).items())
    say(f"{len(own)} claims of the paper: {counts}.")
    typer.echo(f"Page: {page}")


def _label(verdict: str) -> str:
    return verdict.replace("_", " ")
