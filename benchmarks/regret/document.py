"""Everything as one JSON document: standings, differences, versions, the machine, and each cell."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.regret.cells import Failure, Result
from benchmarks.regret.standings import Table, by_contestant, differences, standing

MEASURED = ("reward", "reward_second_half", "reward_last_quarter")


def document(
    results: Sequence[Result],
    failures: Sequence[Failure],
    environments: dict[str, list[str]],
    title: str,
    baseline: str,
) -> str:
    """All that is known of a table."""
    table = by_contestant(results)
    content = {
        "title": title,
        "baseline": baseline,
        "machine": {"python": platform.python_version(), "system": platform.platform()},
        "environments": environments,
        "standings": {kind: _standings(table, names, baseline) for kind, names in environments.items()},
        "differences": {measure: _differences(table, baseline, measure) for measure in MEASURED},
        "failures": [asdict(failure) for failure in failures],
        "cells": [asdict(result) for result in results],
    }
    return json.dumps(_plain(content), indent=1, allow_nan=False)


def _standings(table: Table, environments: Sequence[str], baseline: str) -> dict[str, Any]:
    found = {name: standing(table, name, environments, baseline) for name in table}
    return {name: asdict(there) for name, there in found.items() if there is not None}


def _differences(table: Table, baseline: str, measure: str) -> dict[str, Any]:
    return {
        name: {
            environment: {**asdict(one), "verdict": one.verdict} for environment, one in environments.items()
        }
        for name, environments in differences(table, baseline, measure).items()
    }


def _plain(value: Any) -> Any:
    """The value without nan, which JSON does not know."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case float() if value != value:  # noqa: PLR0124 - true of nan alone
            return None
    return value
