"""What `import gyrfalcon` offers, and what it costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import gyrfalcon


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(gyrfalcon, "no_such_name")


def test_the_version_stands_in_one_place() -> None:
    assert version("gyrfalcon") == gyrfalcon.__version__


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_after("import gyrfalcon") & {"scipy", "matplotlib", "rich", "typer", "pandas"}


def test_the_bandit_needs_numpy_and_scipy_alone() -> None:
    loaded = loaded_after(
        "from gyrfalcon import Bandit\n"
        "bandit = Bandit(actions=['a', 'b'])\n"
        "bandit.reward(bandit.decide({'x': 1.0}).event_id, 1.0)"
    )
    assert "numpy" in loaded
    assert not loaded & {"matplotlib", "rich", "typer", "pandas", "sklearn"}
