"""`gyrfalcon compact`: closed files of a decision log become Parquet files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from gyrfalcon.cli._output import AsJson, counted, print_json

EXAMPLES = """\
gyrfalcon compact decisions
gyrfalcon compact decisions --json
"""


def compact(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder of Bandit(log=...).")],
    as_json: AsJson = False,
) -> None:
    """Turn the closed files of a decision log into Parquet files.

    Files that a bandit still writes to stay as they are. It may run beside bandits, readers and other
    compactions, and be stopped at any moment.
    """
    from gyrfalcon.logs.compaction import compact_decision_log

    done = compact_decision_log(folder)
    if as_json:
        print_json(asdict(done))
        return
    what = f"{counted(done.n_files, 'file')} with {counted(done.n_rows, 'decision')}"
    typer.echo(f"Compacted {what}; {counted(done.n_open, 'file')} still written.")
