"""Entry point of the `gyrfalcon` command."""

from __future__ import annotations

import io
import signal
import sys
from typing import Annotated, ClassVar, NoReturn

try:
    import typer
except ModuleNotFoundError as error:
    raise SystemExit("Error: The command line needs more; run pip install 'gyrfalcon[cli]'.") from error

from gyrfalcon import __version__
from gyrfalcon.cli._help import Commands, CommandTable, extension_commands

SUMMARY = "Contextual bandits that stay right when the reward model is wrong."


_COMMANDS = {
    "simulate": ("gyrfalcon.cli.simulate", "Simulate a learner in an environment, and print its regret."),
    "sweep": ("gyrfalcon.cli.sweep", "Run a grid of learners, environments and seeds; resumable."),
    "bounds": ("gyrfalcon.cli.bounds", "Print the paper's regret bound and the optimal passive share."),
    "learners": ("gyrfalcon.cli.learners", "List the learners and environments, or the settings of one."),
}


class Gyrfalcon(Commands):
    """All commands, those of installed extensions first: a newcomer wants the demo."""

    commands_by_name: ClassVar[CommandTable] = {**extension_commands(), **_COMMANDS}


app = typer.Typer(
    cls=Gyrfalcon,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=SUMMARY,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="GYRFALCON_DEBUG", help="Show tracebacks of errors.")
    ] = False,
) -> None:
    """Contextual bandits that stay right when the reward model is wrong."""
    del version, debug


def _interrupted(number: int, frame: object) -> NoReturn:
    """Stop at the first Ctrl-C, and let nothing disturb the cleaning up after it."""
    del number, frame
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where Ctrl-C is ignored already
        signal.signal(signal.SIGINT, _interrupted)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that a terminal lacks is no reason to stop
    app(prog_name="gyrfalcon")
