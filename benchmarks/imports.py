"""What importing the package costs, in fresh processes."""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial

from benchmarks.rows import Race, Row


def fresh(statement: str) -> None:
    """Run a statement in a new interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def children_seconds() -> float:
    """Processor time of all processes that have been started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def against_numpy(statement: str) -> Race:
    return Race(partial(fresh, statement), partial(fresh, "import numpy"), children_seconds)


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
]
