"""How the tests run the command line: in this process, or as the real command in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from gyrfalcon_paper.cli.main import app
from tests.processes import LIMIT

COMMAND = [sys.executable, "-c", "from gyrfalcon_paper.cli.main import run; run()"]
ENVIRONMENT = {**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
WIDTH = 80


def invoke(*arguments: object) -> Result:
    """The command's exit code and output, without a process of its own."""
    return CliRunner(env={"COLUMNS": str(WIDTH)}).invoke(app, [str(one) for one in arguments])


def numbers(*arguments: object) -> Any:
    """What --json prints, which is all that stdout may hold."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_constant=_refused)


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The real command, run to its end."""
    return subprocess.run(
        [*COMMAND, *(str(one) for one in arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        timeout=LIMIT,
        **options,
    )


def refusal(result: Result) -> str:
    """The one sentence that a refused command prints, and prints nowhere but on stderr."""
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    sentence = result.stderr.strip().splitlines()[-1]
    assert sentence.startswith("Error: ")
    assert sentence.endswith((".", "?"))
    return sentence


def without_progress(said: str) -> list[str]:
    """The lines of stderr, but for those on what is left to do, which come where ten seconds have passed."""
    return [line for line in said.splitlines() if not line.endswith(" s left")]


def grid_file(folder: Path, text: str) -> Path:
    """A sweep file with that text."""
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def _refused(name: str) -> None:
    raise AssertionError(f"{name} is no JSON.")
