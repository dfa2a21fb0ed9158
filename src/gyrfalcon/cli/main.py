"""The `gyrfalcon` command: its own commands, and room for those of a companion package."""

from __future__ import annotations

import io
import signal
import sys
from typing import Annotated, NoReturn

try:
    import typer
except ModuleNotFoundError as error:
    raise SystemExit("Error: The command line needs more; run pip install 'gyrfalcon[cli]'.") from error

from gyrfalcon import __version__
from gyrfalcon.cli._help import Commands, CommandTable

SUMMARY = "Contextual bandits that stay right when the reward model is wrong."


COMMANDS: CommandTable = {
    "simulate": ("gyrfalcon.cli.simulate", "Simulate a learner in an environment, and print its regret."),
    "sweep": ("gyrfalcon.cli.sweep", "Run a grid of learners, environments and seeds; resumable."),
    "bounds": ("gyrfalcon.cli.bounds", "Print the paper's regret bound and the optimal passive share."),
    "inspect": ("gyrfalcon.cli.inspect", "Show the status of a saved bandit."),
    "audit": ("gyrfalcon.cli.audit", "Compute every decision of a log again, and say what does not agree."),
    "diagnose": (
        "gyrfalcon.cli.diagnose",
        "Say whether a model class is wrong, where, and what it costs.",
    ),
    "compact": ("gyrfalcon.cli.compact", "Turn the closed files of a decision log into Parquet files."),
    "learners": ("gyrfalcon.cli.learners", "List the learners and environments, or the settings of one."),
}


def _version(requested: bool) -> None:
    if requested:
        typer.echo(__version__)
        raise typer.Exit


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


def application(first: CommandTable | None = None) -> typer.Typer:
    """The command line with these further commands before its own."""
    commands = {**(first or {}), **COMMANDS}
    app = typer.Typer(
        cls=type("Gyrfalcon", (Commands,), {"commands_by_name": commands}),
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help=SUMMARY,
    )
    app.callback()(options)
    return app


def _interrupted(number: int, frame: object) -> NoReturn:
    """Stop at the first Ctrl-C, and let nothing disturb the cleaning up after it."""
    del number, frame
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(app: typer.Typer) -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where Ctrl-C is ignored already
        signal.signal(signal.SIGINT, _interrupted)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that a terminal lacks is no reason to stop
    app(prog_name="gyrfalcon")
