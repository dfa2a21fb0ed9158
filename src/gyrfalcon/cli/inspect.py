"""`gyrfalcon inspect`: the status of a saved bandit."""

from __future__ import annotations

from typing import Annotated

import typer

from gyrfalcon.cli._output import AsJson

EXAMPLES = """\
gyrfalcon inspect shop.bandit
gyrfalcon inspect shop.bandit --json
"""


def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File that Bandit.save has written.")],
    as_json: AsJson = False,
) -> None:
    """Show the status of a saved bandit.

    Counts of decisions and rewards, the mean reward with its 95% interval, what exploration costs, the last
    fit, changes of settings, and what needs attention, such as actions whose rewards never arrive.
    """
    from gyrfalcon import Bandit

    status = Bandit.load(file).status()
    typer.echo(status.to_json() if as_json else str(status))
