"""`gyrfalcon convert`: a log of one format becomes a log of another."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any

import typer

from gyrfalcon.cli._output import counted, print_json

EXAMPLES = """\
gyrfalcon convert log.dsjson log.parquet
gyrfalcon convert clicks.csv clicks.dsjson --map action=banner --map reward=y
gyrfalcon convert random/men men.parquet --option action_features=affinity
gyrfalcon convert decisions decisions.csv --json
"""

_LISTS = ("features", "actions", "reward_range")
_WORDS = {"true": True, "false": False}


def convert(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Log to read.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="Log to write.")],
    from_format: Annotated[
        str,
        typer.Option(
            "--from", metavar="FORMAT", help="folder, csv, jsonl, parquet, dsjson, cb_text, obp or auto."
        ),
    ] = "auto",
    to_format: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="csv, jsonl, parquet, dsjson, cb_text or auto.")
    ] = "auto",
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="WHAT=COLUMN", help="Column that holds the action, reward, ...; repeatable."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Option of the format that is read; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Convert a log from one format to another.

    The name of a file says which format it has, where `--from` and `--to` do not. CSV files, lines of JSON
    and Parquet files of others need `--map`: which column holds `action`, `reward`, `propensity`,
    `features` (several, with commas, or * for all others), `event_id`, `time`, and so on;
    `distribution.red` is the probability of the action red. `cost=true` says that the reward is a cost. A
    row that can't be read ends the command with its line, and nothing is written then.
    """
    from gyrfalcon.cli._parsing import check_file_place
    from gyrfalcon.logs.formats.dispatch import format_of, write_format
    from gyrfalcon.logs.opening import log_tables

    options: dict[str, Any] = dict(_setting(text, ("action_features",)) for text in option or [])
    if mapping:
        options["mapping"] = _nested(_setting(text, _LISTS) for text in mapping)
    read = format_of(source) if from_format == "auto" else from_format
    written = format_of(destination, exists=False) if to_format == "auto" else to_format
    if written != "folder":
        check_file_place("DESTINATION", destination)
    n_rows = write_format(log_tables(source, read, options), destination, written)
    done = {"source": source, "from": read, "destination": destination, "to": written, "n_rows": n_rows}
    if as_json:
        print_json(done)
        return
    typer.echo(f"Wrote {counted(n_rows, 'decision')} of {source} ({read}) to {destination} ({written}).")


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
