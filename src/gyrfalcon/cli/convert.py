"""`gyrfalcon convert`: a log of one format becomes a log of another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gyrfalcon.cli._log_input import ColumnOf, FormatOption, FromFormat, format_options
from gyrfalcon.cli._output import AsJson, counted, print_json

EXAMPLES = """\
gyrfalcon convert log.dsjson log.parquet
gyrfalcon convert clicks.csv clicks.dsjson --map action=banner --map reward=y
gyrfalcon convert random/men men.parquet --option action_features=affinity
gyrfalcon convert decisions decisions.csv --json
"""


def convert(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Log to read.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="Log to write.")],
    from_format: FromFormat = "auto",
    to_format: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help="folder, csv, jsonl, parquet, dsjson, cb_text or auto."),
    ] = "auto",
    mapping: ColumnOf = None,
    option: FormatOption = None,
    as_json: AsJson = False,
) -> None:
    """Convert a log from one format to another.

    The name of a file says which format it has, where `--from` and `--to` do not. CSV files, lines of JSON
    and Parquet files of others need `--map`: which column holds `action`, `reward`, `propensity`,
    `features` (several, with commas, or * for all others), `event_id`, `time`, and so on;
    `distribution.red` is the probability of the action red. `cost=true` says that the reward is a cost. A
    row that can't be read ends the command with its line, and nothing is written then.
    """
    from gyrfalcon.cli._parsing import check_file_place
    from gyrfalcon.logs.formats.dispatch import format_of, write_format
    from gyrfalcon.logs.opening import log_tables

    options = format_options(mapping, option)
    read = format_of(source) if from_format == "auto" else from_format
    written = format_of(destination, exists=False) if to_format == "auto" else to_format
    if written != "folder":
        check_file_place("DESTINATION", destination)
        _refuse_the_source(source, destination)
    n_rows = write_format(log_tables(source, read, options), destination, written)
    done = {"source": source, "from": read, "destination": destination, "to": written, "n_rows": n_rows}
    if as_json:
        print_json(done)
        return
    typer.echo(f"Wrote {counted(n_rows, 'decision')} of {source} ({read}) to {destination} ({written}).")


def _refuse_the_source(source: str, destination: str) -> None:
    """Refuse to write over what is read: columns that no `--map` names would be lost."""
    read, written = Path(source), Path(destination)
    if written.exists() and read.exists() and written.samefile(read):
        raise ValueError(f"DESTINATION is {destination!r}, which is the source; give another name.")
    if read.is_dir() and written.exists() and read.resolve() in written.resolve().parents:
        raise ValueError(
            f"DESTINATION is {destination!r}, a file of the source {source!r}; give another name."
        )
