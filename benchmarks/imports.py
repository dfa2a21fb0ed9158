"""What importing the package and starting its command cost, in fresh processes."""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

from benchmarks.rows import Race, Row, peer, require


def fresh(statement: str) -> None:
    """Run a statement in a new interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def children_seconds() -> float:
    """Processor time of all processes that have been started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def against_numpy(statement: str) -> Race:
    return Race(partial(fresh, statement), partial(fresh, "import numpy"), children_seconds)


def help_against_its_libraries() -> Race:
    """`gyrfalcon --help` against an interpreter that imports what draws it."""
    command = [str(Path(sys.executable).with_name("gyrfalcon")), "--help"]
    with peer("typer and rich"):
        import_module("typer")
        import_module("rich")
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    require("demo" in shown, "the help does not list the commands.")
    return Race(
        partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL),
        partial(fresh, "import typer, rich"),
        children_seconds,
    )


ROWS = [
    Row(
        key="import gyrfalcon / import numpy",
        ours="import gyrfalcon",
        theirs="import numpy",
        prepare=partial(against_numpy, "import gyrfalcon"),
        limit=1.3,
    ),
    Row(
        key="import Bandit / import numpy",
        ours="from gyrfalcon import Bandit, EpsilonFalcon",
        theirs="import numpy",
        prepare=partial(against_numpy, "from gyrfalcon import Bandit, EpsilonFalcon"),
    ),
    Row(
        key="gyrfalcon --help / import typer, rich",
        ours="gyrfalcon --help",
        theirs='python -c "import typer, rich"',
        prepare=help_against_its_libraries,
        limit=1.5,
    ),
]
