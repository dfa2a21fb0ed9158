"""Grids from TOML files.

The top of the file has `n_rounds` and, if wanted, `n_replications`, `seeds` and `checkpoints`. Then come the
learners and environments, each a table with its name and those settings that are not to be the defaults:

    n_rounds = 10_000
    n_replications = 20
    seeds = [0]

    [[learners]]
    name = "LinUCB"
    alpha = [0.1, 0.3, 1.0]  # a list is a choice: three learners

    [[learners]]
    name = "EpsilonFalcon"
    model_class = { name = "Linear", basis = { name = "Polynomial", degree = [1, 2] } }

    [[environments]]
    name = "StepExample"

    [[environments]]
    name = ["digits", "wine"]  # data sets go by their names, too
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.sweeps.grid import Grid


def read(path: str | os.PathLike[str]) -> Grid:
    """The grid that a file describes; ValueError with the file and the place if it can't be one."""
    try:
        table = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
        _check_keys(table)
        return Grid(**table)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{os.fspath(path)} is not TOML: {str(error).rstrip('.')}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)} is not text in UTF-8; save it as such.") from error
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _check_keys(table: Mapping[str, Any]) -> None:
    known = {field.name: field.default is MISSING for field in fields(Grid)}
    for key in table:
        if key not in known:
            raise ValueError(
                f"there is no setting called {short_repr(key)} of a grid; {suggestion(key, known)}"
            )
    for key in ("learners", "environments"):
        if isinstance(table.get(key), Mapping):
            raise ValueError(f"[{key}] is one table; write [[{key}]], as there may be several.")  # noqa: TRY004 - as all settings
    for key, is_needed in known.items():
        if is_needed and key not in table:
            raise ValueError(f"{key} is missing; give it.")
