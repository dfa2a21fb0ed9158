"""The log that a command reads: its path, its format, and which column holds what."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from gyrfalcon.core.decision_table import DecisionTable

PANEL = "Log"

LogPath = Annotated[str, typer.Argument(metavar="LOG", help="Folder of Bandit(log=...), or another log.")]
FromFormat = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="folder, csv, jsonl, parquet, dsjson, cb_text, obp or auto.",
        rich_help_panel=PANEL,
    ),
]
ColumnOf = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="WHAT=COLUMN",
        help="Column that holds the action, reward, ...; repeatable.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of the format that is read; repeatable.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
RewardRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help="Lowest and highest possible reward.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]

_LISTS = ("features", "actions", "reward_range")
_WORDS = {"true": True, "false": False}


def read_table(
    log: str, from_format: str, mapping: Iterable[str] | None, options: Iterable[str] | None
) -> DecisionTable:
    """The table of the log that was named."""
    from gyrfalcon.logs.opening import read_log

    read: Any = read_log
    table: DecisionTable = read(log, from_format, **format_options(mapping, options))
    if not len(table):
        raise ValueError(f"{log} has no rows; give a log with decisions.")
    return table


def format_options(mapping: Iterable[str] | None, options: Iterable[str] | None) -> dict[str, Any]:
    """What `--map` and `--option` say, as options of `read_log`.

    >>> format_options(["action=banner", "features=age,country"], ["delimiter=;"])
    {'delimiter': ';', 'mapping': {'action': 'banner', 'features': ['age', 'country']}}
    """
    found: dict[str, Any] = dict(_setting(text, ("action_features",)) for text in options or [])
    columns = list(mapping or [])
    return {**found, "mapping": _nested(_setting(text, _LISTS) for text in columns)} if columns else found


def typed_range(text: str | None) -> tuple[float, float] | None:
    """Two numbers with a comma between them.

    >>> typed_range("0,1"), typed_range(None)
    ((0.0, 1.0), None)
    """
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(
            f"--reward-range is {text!r}; give two numbers, such as --reward-range=0,1."
        ) from None
    return low, high


def _nested(settings: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Settings of which those with a dot in their name, such as `distribution.red`, are mappings.

    >>> _nested([("action", "a"), ("distribution.red", "p1"), ("distribution.blue", "p2")])
    {'action': 'a', 'distribution': {'red': 'p1', 'blue': 'p2'}}
    """
    found: dict[str, Any] = {}
    for name, value in settings:
        role, dot, label = name.partition(".")
        if dot:
            found[role] = {**found.get(role, {}), label: value}
        else:
            found[name] = value
    return found


def _setting(text: str, lists: Collection[str]) -> tuple[str, Any]:
    """The name and the value of `name=value`, which has commas between its parts if it is one of the lists.

    >>> _setting("features=age,country", ("features",)), _setting("cost=true", ())
    (('features', ['age', 'country']), ('cost', True))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"{text!r} is not name=value; give for example action=banner.")
    if name in lists and value != "*":
        return name, value.split(",")
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    return name, int(value) if name == "n_actions" and value.isdigit() else value
