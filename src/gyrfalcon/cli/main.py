"""The `gyrfalcon` command."""

from __future__ import annotations

from typing import Annotated

import typer

from gyrfalcon import __version__
from gyrfalcon.cli.demo import demo

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Contextual bandits that stay right when the reward model is wrong.",
)
app.command()(demo)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Contextual bandits that stay right when the reward model is wrong."""
    del version


def run() -> None:
    """Run the command line."""
    app()
