from __future__ import annotations

import subprocess
import sys

import pytest
from typer.main import get_command

from gyrfalcon import __version__
from gyrfalcon.cli import main
from gyrfalcon_paper.cli import COMMANDS
from gyrfalcon_paper.cli.main import app
from tests.cli.terminal import COMMAND, ENVIRONMENT, WIDTH, command, invoke, refusal
from tests.processes import LIMIT

SUMMARIES = {**COMMANDS, **main.COMMANDS}
NAMES = ["demo", "paper", "simulate", "sweep", "bounds", "inspect", "audit", "convert", "compact", "learners"]


def test_the_version_is_shown() -> None:
    assert invoke("--version").stdout.strip() == __version__


def test_without_arguments_the_help_is_shown() -> None:
    result = invoke()
    assert result.exit_code == 2
    assert all(name in result.output for name in NAMES)


def test_help_lists_every_command_with_the_first_line_of_its_own_help() -> None:
    text = invoke("--help").stdout
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert list(commands) == NAMES
    for name, made in commands.items():
        assert f"{name:<10}{SUMMARIES[name][1]}" in text
        assert made.help.splitlines()[0] == SUMMARIES[name][1]


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_has_examples_that_name_it_and_fits_a_terminal(name: str) -> None:
    text = invoke(name, "--help").stdout
    _, _, examples = text.partition("Examples:\n")
    assert all(line.strip().startswith(f"gyrfalcon {name}") for line in examples.strip().splitlines())
    assert examples.strip()
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("name", NAMES)
def test_every_example_can_be_parsed(name: str) -> None:
    group = get_command(app)
    made = group.commands[name]  # type: ignore[attr-defined]
    for line in made.epilog.splitlines():
        _, first, *rest = line.split()
        assert first == name
        made.make_context(name, rest)


def test_options_are_grouped() -> None:
    text = invoke("simulate", "--help").stdout
    sections = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections == ["Arguments:", "Options:", "Output:", "Examples:"]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from gyrfalcon_paper.cli.main import app\n"
        "try: app(['--help'], prog_name='gyrfalcon')\n"
        "except SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    heavy = ["numpy", "scipy", "matplotlib", "pyarrow", "joblib", "pydantic", "markdown_it", "rich", "json"]
    assert not [name for name in heavy if f"'{name}'" in result.stderr]


def test_an_unknown_command_names_the_nearest_one() -> None:
    result = invoke("simulat", "LinUCB", "StepExample")
    assert result.exit_code == 2
    assert "simulate" in refusal(result)


def test_without_the_command_lines_libraries_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None; import gyrfalcon.cli.main"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.strip() == "Error: The command line needs more; run pip install 'gyrfalcon[cli]'."


def test_debug_shows_the_traceback() -> None:
    result = command("--debug", "learners", "nonsense")
    assert result.returncode == 1
    assert "Traceback" in result.stderr


def test_a_reader_that_leaves_early_is_no_error() -> None:
    with subprocess.Popen(
        [*COMMAND, "learners", "EpsilonFalcon"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before the first line is written
        assert process.stderr.read() == ""
        assert process.wait(timeout=LIMIT) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["learners"], ["learners", "--json"]])
def test_a_full_disk_behind_stdout_is_a_sentence(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        result = subprocess.run(
            [*COMMAND, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
        )
    assert result.returncode == 1
    assert result.stderr == "Error: No space left on device; free some space and run the command again.\n"


def test_piped_output_has_no_colours_and_loses_no_number() -> None:
    result = command("bounds", "-T", "1e6", "-K", "2", "-d", "4", "-b", "0.01", "--epochs")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "…" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= WIDTH
