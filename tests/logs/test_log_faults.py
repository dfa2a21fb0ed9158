"""Whatever happens to a writer or a file: closed files are whole, and what is damaged is named."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import LogReader, LogWriter, read_log
from tests.logs.tables import differing
from tests.logs.test_log_columns import numbered, written
from tests.processes import started, wait_until

WRITE = """
import sys
import numpy as np
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.logs import DecisionTable, LogWriter

writer, number = LogWriter(sys.argv[1]), 0
while True:
    for _ in range(3):
        reward = np.arange(number, number + 100.0)
        number += 100
        writer.append(DecisionTable(actions=(sys.argv[2], "other"), contexts=Contexts(np.ones((100, 2))),
            action=np.zeros(100, dtype=int), reward=reward, propensity=reward, features=("a", "b")))
    writer.flush()
    print(number, flush=True)
"""


def said(output: Path) -> int:
    """How many rows a writer has said to be in closed files."""
    *whole, _ = output.read_text().split("\n")
    return int(whole[-1]) if whole else 0


def test_a_writer_that_is_killed_loses_no_closed_file_and_leaves_no_half_one(tmp_path: Path) -> None:
    moments, folder = random.Random(11), tmp_path / "log"
    total = 0
    for turn in range(5):
        output = tmp_path / str(turn)
        with (
            output.open("w") as stdout,
            started([sys.executable, "-c", WRITE, str(folder), f"{turn}"], stdout=stdout) as process,
        ):
            wait_until(partial(said, output))
            time.sleep(moments.uniform(0.0, 0.1))
            process.kill()
            process.wait()
        table = read_log(folder)
        rewards = table.reward[table.action == table.actions.index(str(turn))]
        assert np.array_equal(rewards, np.arange(len(rewards)))
        assert said(output) <= len(rewards) <= said(output) + 300  # a file may be closed and not said to be
        total += len(rewards)
        assert len(table) == total
    written(folder, numbered(1))
    assert not list(folder.glob(".*"))


def test_two_writers_and_a_reader_share_a_folder(tmp_path: Path) -> None:
    folder, outputs = tmp_path / "log", [tmp_path / "a", tmp_path / "b"]
    commands = [[sys.executable, "-c", WRITE, str(folder), name] for name in ("a", "b")]
    with (
        outputs[0].open("w") as first,
        outputs[1].open("w") as second,
        started(commands[0], stdout=first) as one,
        started(commands[1], stdout=second) as other,
    ):
        wait_until(lambda: min(map(said, outputs)) > 1000)
        table = read_log(folder)
        for process in (one, other):
            process.kill()
            process.wait()
    for name in ("a", "b"):
        rewards = table.reward[table.action == table.actions.index(name)]
        assert len(rewards) > 1000
        assert np.array_equal(np.sort(rewards), np.arange(len(rewards)))
    assert len(read_log(folder)) >= sum(map(said, outputs))


FILL = """
import resource, signal, sys
import numpy as np
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import LogReader, LogWriter
from tests.logs.test_log_columns import numbered

table = numbered(3_000)
writer = LogWriter(sys.argv[1])
writer.append(table.take(slice(0, 100)))
writer.flush()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, hard))
writer.append(table.take(slice(100, None)))
for _ in range(2):
    try:
        writer.close()
    except OSError as error:
        print(error)
assert len(LogReader(sys.argv[1])) == 100
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
writer.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no limits of file sizes here")
def test_a_full_disk_leaves_rows_waiting_for_the_next_attempt(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILL, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    sentence = (
        "so the rows of this file wait in memory, and closed files are untouched; free space, and append"
    )
    assert done.stdout.count(sentence) == 2
    assert not list(tmp_path.glob(".*"))
    assert differing(read_log(tmp_path), numbered(3_000)) == []


def test_an_exception_in_the_block_keeps_what_was_appended(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path)
    with pytest.raises(ZeroDivisionError), writer:
        _failing(writer)
    assert len(read_log(tmp_path)) == 5


def _failing(writer: LogWriter) -> None:
    writer.append(numbered(5))
    raise ZeroDivisionError


def damaged(path: Path) -> None:
    """A log that was damaged is refused with a sentence that names the file, or reads as it was."""
    with pytest.raises(
        ValueError, match=f"{path.name} (can't be read as a Parquet file|is damaged)"
    ) as caught:
        read_log(path.parent)
    assert "\n" not in str(caught.value)


def test_files_that_are_cut_short_anywhere_are_named(tmp_path: Path) -> None:
    written(tmp_path, numbered(300))
    (path,) = tmp_path.glob("*.parquet")
    whole = path.read_bytes()
    for length in [0, 1, 4, 8, len(whole) // 2, *range(len(whole) - 12, len(whole))]:
        path.write_bytes(whole[:length])
        damaged(path)
    path.write_bytes(whole)
    assert len(read_log(tmp_path)) == 300


def test_a_flipped_bit_is_found_or_does_not_matter(tmp_path: Path) -> None:
    """Pages have checksums, and so have names and metadata in the footer; the rest of it can't be read."""
    table = numbered(300)
    written(tmp_path, table)
    (path,) = tmp_path.glob("*.parquet")
    whole, rng = path.read_bytes(), np.random.default_rng(5)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    rows, others = rng.integers(4, footer, size=100), rng.integers(footer, len(whole), size=400)
    found = [
        _after_a_flip(path, whole, place, 1 << place % 8) for place in (*rows.tolist(), *others.tolist())
    ]
    assert not any(differing(one, table) for one in found if one is not None)
    assert found[:100].count(None) >= 90


def _after_a_flip(path: Path, whole: bytes, place: int, bit: int) -> DecisionTable | None:
    """The log with one bit of its file flipped; None if it is refused by name."""
    path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
    try:
        return read_log(path.parent)
    except ValueError as error:
        if path.name not in str(error):
            raise
        return None


def test_a_file_of_another_program_is_no_log(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "other.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"reward": [1.0]}), path)
    with pytest.raises(ValueError, match=r"other\.parquet is no file of a decision log: its metadata has no"):
        read_log(tmp_path)
    path.write_bytes(b"hello")
    damaged(path)


def test_lists_that_do_not_fit_their_eligible_actions_are_damage(tmp_path: Path) -> None:
    import pyarrow.parquet

    shares = np.full((3, 3), 1 / 3)
    written(tmp_path, numbered(3, distribution=shares))
    (path,) = tmp_path.glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    place = table.column_names.index("distribution")
    short = pyarrow.array([[0.5, 0.5], [1 / 3] * 3, [1 / 3] * 3])
    pyarrow.parquet.write_table(table.set_column(place, "distribution", short), path)
    with pytest.raises(ValueError, match="a row has 2 values of distribution for 3 eligible actions"):
        next(LogReader(tmp_path).tables(["distribution"]))
