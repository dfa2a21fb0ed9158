"""`gyrfalcon experiment`: the status and the verdict of a saved experiment."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from gyrfalcon.cli._output import AsJson

EXAMPLES = """\
gyrfalcon experiment buttons.experiment
gyrfalcon experiment buttons.experiment --json
"""


def experiment(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File that Experiment.save has written.")],
    as_json: AsJson = False,
) -> None:
    """Show what a saved experiment knows, and its verdict.

    Gains of every policy over the control with bounds that hold at all times, whether it has stopped and for
    which policy, and the value and simple regret of that policy.
    """
    from gyrfalcon import Experiment

    loaded = Experiment.load(file)
    status, result = loaded.status(), loaded.result()
    if as_json:
        parts = {"status": json.loads(status.to_json()), "result": json.loads(result.to_json())}
        typer.echo(json.dumps(parts, ensure_ascii=False))
    else:
        typer.echo(f"{status}\n{result.numbers}")
