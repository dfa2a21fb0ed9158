"""A trace of a simulation as summaries, rows of a file and a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from gyrfalcon.cli._parsing import whole_number
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.validation import check_whole
from gyrfalcon.reports.figures import Band
from gyrfalcon.simulation.trace import Checkpoints, PlayedEpoch, Summary, Trace, checkpoint_rounds

TRACE_ENDINGS = (".parquet", ".csv", ".json")
FIGURE_ENDINGS = (".png", ".svg", ".pdf")


def check_files(out: Path | None, figure: Path | None) -> None:
    """Refuse files that can't be written, before anything takes time."""
    for option, path, endings in (("--out", out, TRACE_ENDINGS), ("--figure", figure, FIGURE_ENDINGS)):
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            kinds = ", ".join(endings[:-1])
            raise ValueError(f"{option} {path} has no known ending; give {kinds} or {endings[-1]}.")
        if path.is_dir():
            raise ValueError(f"{option} {path} is a folder; give the path of a file.")
        path.parent.mkdir(parents=True, exist_ok=True)


def typed_checkpoints(text: str | None, n_rounds: int) -> Ints:
    """The rounds to record, with the beginning of the last fifth among them.

    >>> typed_checkpoints("10,50", 100).tolist()
    [10, 50, 80, 100]
    """
    check_whole("rounds", n_rounds)
    rounds = checkpoint_rounds(_spec(text), n_rounds)
    return np.union1d(rounds, [n_rounds - n_rounds // 5]) if n_rounds >= 5 else rounds


def summaries(trace: Trace) -> dict[str, Summary]:
    """Means and standard errors over replications."""
    return {
        "cumulative_regret": Summary.of(trace.regret[:, -1]),
        "regret_per_round": Summary.of(trace.regret[:, -1] / trace.n_rounds),
        "regret_per_round_last_fifth": Summary.of(trace.late_regret()),
        "reward_per_round": Summary.of(trace.reward[:, -1] / trace.n_rounds),
        "reward_per_round_last_fifth": Summary.of(trace.late_reward()),
        "least_propensity": Summary.of(trace.least_propensity.min(axis=1)),
    }


def save_trace(path: Path, trace: Trace) -> None:
    """Write the trace's table atomically."""
    from gyrfalcon.storage.atomic import write_atomically

    makers = {".parquet": _parquet, ".csv": _csv, ".json": _json}
    write_atomically(path, makers[path.suffix.lower()](trace))


def save_figure(path: Path, trace: Trace, title: str) -> None:
    """Draw regret per round, or reward where expected rewards are not known."""
    from gyrfalcon.reports.figures import picture, regret_curves
    from gyrfalcon.storage.atomic import write_atomically

    known = bool(np.isfinite(trace.regret[:, -1]).all())
    curves = {"": _band(trace.regret_per_round if known else trace.reward_per_round)}
    figure = regret_curves(trace.checkpoints - (trace.lengths - 1) / 2, curves, {}, fill(title, 90))
    if not known:
        figure.axes[0].set_ylabel("reward per round")
    write_atomically(path, picture(figure, path.suffix.lower().removeprefix(".")))


def epoch_rows(trace: Trace) -> list[dict[str, Any]]:
    """The first replication's epochs that played a checkpoint's round, and how they were fitted."""
    return [_epoch_row(epoch) for epoch in trace.epochs[0]]


def epoch_notes(trace: Trace) -> list[str]:
    """Notes on the fits of the first replication, each once."""
    notes = {note: None for epoch in trace.epochs[0] if epoch.report for note in epoch.report.notes}
    return list(notes)


def last_details(trace: Trace) -> tuple[str, ...]:
    """Details that the learner reports of the last epoch of the first replication."""
    report = trace.epochs[0][-1].report
    return () if report is None else report.details


def _spec(text: str | None) -> Checkpoints:
    if text is None or text.strip() == "every":
        return None if text is None else "every"
    try:
        rounds = [whole_number(part.strip()) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--checkpoints {text}: {error}") from error
    return rounds[0] if len(rounds) == 1 else rounds


def _epoch_row(epoch: PlayedEpoch) -> dict[str, Any]:
    report = epoch.report
    row: dict[str, Any] = {"epoch": epoch.index, "until": epoch.stop}
    if report is None:
        numbers = ("active", "passive", "gamma", "slack", "excess", "multiplier")
        return row | dict.fromkeys(numbers, math.nan) | {"details": ()}
    constrained = math.isfinite(report.slack)
    return row | {
        "active": report.n_active,
        "passive": report.n_passive,
        "gamma": report.gamma or math.nan,
        "slack": report.slack if constrained else math.nan,
        "excess": report.excess if constrained else math.nan,
        "multiplier": report.multiplier if constrained else math.nan,
        "details": report.details,
    }


def _band(values: Floats) -> Band:
    """The mean over replications, two standard errors either way."""
    stretches = [Summary.of(column) for column in values.T]
    error = np.array([summary.standard_error for summary in stretches])
    # A single replication has no standard error, and is drawn without a band.
    return Band.of(np.array([summary.mean for summary in stretches]), np.nan_to_num(error))


def _parquet(trace: Trace) -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(trace.to_arrow(), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _csv(trace: Trace) -> bytes:
    columns: Mapping[str, Any] = trace.columns()
    lines = [",".join(columns)]
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines += [",".join("" if math.isnan(value) else repr(value) for value in row) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _json(trace: Trace) -> bytes:
    import json

    from gyrfalcon.core.json_values import json_value

    columns = trace.columns()
    rows = zip(*(json_value(column) for column in columns.values()), strict=True)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    return (json.dumps(records, allow_nan=False) + "\n").encode()
