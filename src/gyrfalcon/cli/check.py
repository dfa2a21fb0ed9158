"""`gyrfalcon check`: faults of a log, with row numbers and remedies."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated

import typer

from gyrfalcon.cli._log_input import (
    ColumnOf,
    FormatOption,
    FromFormat,
    LogPath,
    RewardRange,
    read_table,
    typed_range,
)
from gyrfalcon.cli._output import AsJson, note

EXAMPLES = """\
gyrfalcon check decisions
gyrfalcon check decisions --set-aside faults.csv
gyrfalcon check decisions --share red=0.5 --share blue=0.5 --alpha 0.001
gyrfalcon check decisions --reward-range=0,20 --json
gyrfalcon check ads.csv --map action=ad --map reward=y --map propensity=p
"""


def check(
    log: LogPath,
    set_aside: Annotated[
        str | None,
        typer.Option(
            "--set-aside",
            metavar="FILE|FOLDER",
            help="Write rows that are set aside to a .csv, .jsonl or .parquet file; or these and all others "
            "to a folder.",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option("--alpha", help="Probability of a statistical finding in a log without faults.")
    ] = 0.01,
    share: Annotated[
        list[str] | None,
        typer.Option(
            "--share",
            metavar="NAME=SHARE",
            help="Planned share of the traffic of an action or experiment; once for each.",
            show_default=False,
        ),
    ] = None,
    reward_range: RewardRange = None,
    from_format: FromFormat = "auto",
    mapping: ColumnOf = None,
    option: FormatOption = None,
    as_json: AsJson = False,
) -> None:
    """Find faults of a log, with row numbers and remedies.

    In rows and their order: impossible propensities, distributions that do not sum to 1, ineligible actions,
    repeated events, times, epochs and rounds out of order, rewards out of range. Then, of usable rows:
    propensities that disagree with the actions chosen, sample-ratio mismatch, leakage, rewards missing by
    action, and drift. The log stays as it is. The exit code is 1 if there is an error, and 0 if there are
    warnings alone.
    """
    from gyrfalcon.cli._parsing import check_file_place
    from gyrfalcon.engine.threads import one_blas_thread
    from gyrfalcon.evaluation import check_log
    from gyrfalcon.logs import write_set_aside

    if set_aside is not None and Path(set_aside).suffix:
        check_file_place("--set-aside", set_aside)
    bounds, shares = typed_range(reward_range), _shares(share)
    table = read_table(log, from_format, mapping, option)
    with one_blas_thread():
        report = check_log(table, alpha=alpha, reward_range=bounds, shares=shares)
    files = () if set_aside is None else write_set_aside(report, table, set_aside)
    typer.echo(report.to_json() if as_json else str(report))
    if files:
        note(f"Wrote {' and '.join(map(str, files))}.")
    if not report.passed:
        raise typer.Exit(1)


def _shares(texts: list[str] | None) -> dict[Hashable, float] | None:
    """Shares by name, as they were given on the command line.

    >>> _shares(["red=0.25", "a=b=0.75"])
    {'red': 0.25, 'a=b': 0.75}
    """
    shares: dict[Hashable, float] = {}
    for text in texts or []:
        name, _, share = text.rpartition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            name = ""
        if not name:
            raise ValueError(f"--share is {text!r}; give a name and a share, such as red=0.5.")
    return shares or None
