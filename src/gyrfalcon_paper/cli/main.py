"""Entry point of the `gyrfalcon` command, with the demo and the paper first: a newcomer wants the demo."""

from __future__ import annotations

from gyrfalcon.cli import main
from gyrfalcon_paper.cli import COMMANDS

app = main.application(COMMANDS)


def run() -> None:
    """Run the command line."""
    main.run(app)
