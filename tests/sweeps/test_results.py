"""Results on disk: one data set for any reader, whole files only, damage found and set aside."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Trace
from gyrfalcon.sweeps import store as store_module
from gyrfalcon.sweeps.grid import Cell
from gyrfalcon.sweeps.run import run_sweep
from gyrfalcon.sweeps.store import Store, checked, encoded
from tests.sweeps.small_grids import contents, rows_of, small_grid


def _trace(cell: Cell) -> Trace:
    return simulate(
        cell.learner.value,
        cell.environment.value,
        cell.n_rounds,
        cell.n_replications,
        cell.seed,
        checkpoints=cell.checkpoints,
        first_replication=cell.first_replication,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep") / "results"
    run_sweep(small_grid(), folder)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished folder, to be damaged."""
    return Path(shutil.copytree(finished, tmp_path / "results"))


def test_any_reader_sees_one_data_set(finished: Path) -> None:
    n_rows = len(small_grid().cells) * 2 * 3
    assert len(pd.read_parquet(finished)) == n_rows
    assert pl.read_parquet(finished).height == pl.read_parquet(f"{finished}/*.parquet").height == n_rows
    assert ds.dataset(finished).to_table().num_rows == n_rows
    means = [
        pd.read_parquet(finished).groupby("learner", observed=True)["regret"].mean().sort_index().tolist(),
        pl.read_parquet(finished).group_by("learner").agg(pl.col("regret").mean())["regret"].to_list(),
    ]
    assert sorted(means[0]) == pytest.approx(sorted(means[1]))


def test_all_files_have_the_same_columns(finished: Path) -> None:
    schemas = [pq.read_schema(path) for path in finished.iterdir()]
    assert all(one.equals(schemas[0], check_metadata=False) for one in schemas)


def test_a_file_is_named_by_its_cell(finished: Path) -> None:
    assert {path.stem for path in finished.iterdir()} == {cell.key for cell in small_grid().cells}


def test_rows_are_what_the_simulation_gave(finished: Path) -> None:
    cell = small_grid().cells[0]
    frame, trace = pd.read_parquet(finished / f"{cell.key}.parquet"), _trace(cell)
    assert frame["replication"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["round"].tolist() == [100, 200, 300] * 2
    for name in (
        "regret",
        "reward",
        "propensity",
        "least_propensity",
        "regret_per_round",
        "reward_per_round",
    ):
        assert np.array_equal(frame[name].to_numpy().reshape(2, 3), getattr(trace, name))
    assert set(frame["learner"]) == {"EpsilonFalcon"}
    assert set(frame["environment"]) == {"StepExample"}


def test_each_row_has_the_epoch_that_played_its_round(finished: Path) -> None:
    cell = small_grid().cells[0]
    frame, trace = pd.read_parquet(finished / f"{cell.key}.parquet"), _trace(cell)
    for row in frame.itertuples():
        (epoch,) = [one for one in trace.epochs[row.replication] if one.start < row.round <= one.stop]
        assert (row.epoch, row.epoch_start, row.epoch_stop) == (epoch.index, epoch.start, epoch.stop)
        if epoch.report is None:
            assert pd.isna(row.slack)
            assert row.binding is None
        else:
            assert (row.slack, row.gamma, row.binding) == (
                epoch.report.slack,
                epoch.report.gamma,
                epoch.report.binding,
            )
    assert frame["slack"].notna().any()


def test_the_same_cell_gives_the_same_bytes(finished: Path) -> None:
    for cell in small_grid().cells:
        assert encoded(cell, _trace(cell)) == (finished / f"{cell.key}.parquet").read_bytes()


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("not Parquet at all")


def _foreign(path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), path)


def _altered(path: Path) -> None:
    """A number changed by a program that writes the rest as it was."""
    table = pq.ParquetFile(path).read()
    place = table.schema.get_field_index("regret")
    column = pa.array(np.asarray(table["regret"]) * 0.5)
    pq.write_table(table.set_column(place, "regret", column), path)


def _lacking(path: Path) -> None:
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["regret"]), path)


@pytest.mark.parametrize("damage", [_truncate, _halve, _flip, _empty, _text, _foreign, _altered, _lacking])
def test_a_damaged_file_is_set_aside_and_its_cell_computed_again(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    before = contents(folder)
    path = folder / f"{small_grid().cells[1].key}.parquet"
    damage(path)
    damaged = path.read_bytes()
    sweep = run_sweep(small_grid(), folder)
    assert (sweep.n_reused, sweep.n_computed) == (3, 1)
    assert contents(folder) == before
    (aside,) = sweep.set_aside
    assert Path(aside.file) == path
    assert Path(aside.moved_to).read_bytes() == damaged
    assert Path(aside.moved_to).parent == folder.with_name("results.set-aside")
    assert aside.reason in Path(f"{aside.moved_to}.txt").read_text()


def test_a_file_with_the_name_of_another_cell_is_set_aside(folder: Path) -> None:
    before = contents(folder)
    first, second, *_ = (folder / f"{cell.key}.parquet" for cell in small_grid().cells)
    shutil.copy(first, second)
    sweep = run_sweep(small_grid(), folder)
    assert [aside.reason for aside in sweep.set_aside] == [
        f"it has another name than its content, which is cell {first.stem}."
    ]
    assert (sweep.n_computed, contents(folder)) == (1, before)


def test_parquet_files_that_are_no_results_are_set_aside(folder: Path) -> None:
    before = contents(folder)
    _foreign(folder / "table.parquet")
    _foreign(folder / "TABLE.PARQUET")
    sweep = run_sweep(small_grid(), folder)
    assert (sweep.n_computed, len(sweep.set_aside), contents(folder)) == (0, 2, before)
    assert sweep.left_alone == ()


def test_a_folder_with_the_name_of_a_cell_is_set_aside(folder: Path) -> None:
    before = contents(folder)
    path = folder / f"{small_grid().cells[0].key}.parquet"
    path.unlink()
    path.mkdir()
    sweep = run_sweep(small_grid(), folder)
    assert (sweep.n_computed, len(sweep.set_aside), contents(folder)) == (1, 1, before)


def test_everything_else_in_the_folder_is_left_alone_and_told(folder: Path) -> None:
    (folder / "notes.md").write_text("notes")
    for inner in ("figs", "older.parquet"):
        (folder / inner).mkdir()
        _foreign(folder / inner / "table.parquet")
    before = sorted(folder.rglob("*"))
    sweep = run_sweep(small_grid(), folder)
    assert (sweep.n_computed, sweep.set_aside, sorted(folder.rglob("*"))) == (0, (), before)
    assert [path.name for path in sweep.left_alone] == ["figs", "notes.md", "older.parquet"]
    assert (folder / "notes.md").read_text() == "notes"
    assert not folder.with_name("results.set-aside").exists()


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    _foreign(tmp_path / "table.parquet")
    with pytest.raises(
        ValueError, match=r"holds 'table.parquet' and no results of a sweep; give a new or empty"
    ):
        run_sweep(small_grid(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_a_file_instead_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(ValueError, match=r"results is not a folder; give one"):
        run_sweep(small_grid(), tmp_path / "results")


def _first_flips(content: bytes, step: int) -> list[bytes]:
    rng = np.random.default_rng(0)
    flipped = []
    for place in range(0, len(content), step):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        flipped.append(bytes(damaged))
    return flipped


def _check_flips(path: Path, step: int) -> None:
    content = path.read_bytes()
    assert checked(content, path.stem).key == path.stem
    for damaged in _first_flips(content, step):
        with pytest.raises(ValueError, match=r"\.$"):
            checked(damaged, path.stem)


def test_a_flipped_bit_is_found_wherever_it_is(finished: Path) -> None:
    _check_flips(finished / f"{small_grid().cells[0].key}.parquet", step=23)


@pytest.mark.long
def test_every_flipped_byte_is_found(finished: Path) -> None:
    _check_flips(finished / f"{small_grid().cells[0].key}.parquet", step=1)


def test_results_of_another_version_are_set_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = small_grid().cells[0]
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(store_module, "__version__", "0.0.9")
        (folder / f"{cell.key}.parquet").write_bytes(encoded(cell, _trace(cell)))
    sweep = run_sweep(small_grid(), folder)
    (aside,) = sweep.set_aside
    assert aside.reason.startswith("it was computed by gyrfalcon 0.0.9, and this is ")
    assert (sweep.n_computed, contents(folder)) == (1, before)


def test_more_replications_compute_only_the_new_ones(folder: Path) -> None:
    before = contents(folder)
    more = run_sweep(small_grid(n_replications=5), folder)
    assert (more.n_reused, more.n_computed) == (4, 4)
    assert before.items() <= contents(folder).items()
    frame = rows_of(folder)
    assert not frame.duplicated(["learner", "environment", "seed", "replication", "round"]).any()
    fresh = run_sweep(small_grid(n_replications=5), folder.with_name("fresh"))
    expected = rows_of(fresh.folder).drop(columns="cell")
    pd.testing.assert_frame_equal(frame.drop(columns="cell"), expected, check_exact=True)


def test_fewer_replications_need_nothing_and_show_no_more(folder: Path) -> None:
    sweep = run_sweep(small_grid(n_replications=1), folder)
    assert (sweep.n_reused, sweep.n_computed) == (4, 0)
    assert set(sweep.table()["replication"].to_pylist()) == {0}


def test_replications_that_are_stored_twice_are_set_aside_once(folder: Path) -> None:
    first, other = folder, folder.with_name("other")
    run_sweep(small_grid(n_replications=4), other)
    for path in other.iterdir():
        shutil.copy(path, first)
    sweep = run_sweep(small_grid(n_replications=4), first)
    assert (sweep.n_reused, sweep.n_computed, len(sweep.set_aside)) == (4, 0, 4)
    assert contents(first) == contents(other)


def test_grids_share_a_folder(folder: Path) -> None:
    sweep = run_sweep(small_grid(learners=["Uniform"]), folder)
    assert (sweep.n_reused, sweep.n_computed) == (0, 2)
    assert set(sweep.table()["learner"].to_pylist()) == {"Uniform"}
    assert run_sweep(small_grid(), folder).n_reused == 4


def _leftover(folder: Path, host: str, pid: int, age: float = 0.0) -> Path:
    path = folder / f".{host}-{pid}-{'0' * 16}.gyrfalcon-part"
    path.write_bytes(b"half a file")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_kept(folder: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = socket.gethostname()
    dead, old = _leftover(folder, here, ended.pid), _leftover(folder, "elsewhere", 1, age=7200.0)
    living, remote = _leftover(folder, here, os.getpid()), _leftover(folder, "elsewhere", 2)
    Store(folder).inventory()
    assert (dead.exists(), old.exists(), living.exists(), remote.exists()) == (False, False, True, True)


def test_a_temporary_file_that_vanished_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, real, calls = Store(tmp_path / "results"), os.fsync, []

    def vanish_once(handle: int) -> None:
        real(handle)
        calls.append(handle)
        if len(calls) == 1:
            for path in store.folder.iterdir():
                path.unlink()

    monkeypatch.setattr(os, "fsync", vanish_once)
    store.put("0" * 32, b"content")
    assert contents(store.folder) == {f"{'0' * 32}.parquet": b"content"}


def test_nothing_is_left_behind_when_a_file_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "results")

    def refuse(handle: int) -> Any:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        store.put("0" * 32, b"content")
    assert contents(store.folder) == {}
