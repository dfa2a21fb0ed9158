"""Files: written whole or not at all, as readable as any file, the same bytes for the same value."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon.storage import files
from gyrfalcon.storage.atomic import write_atomically

VALUE = {
    "numbers": np.arange(5.0),
    "columns": np.arange(6).reshape(2, 3).T,
    "labels": ("a", 1),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "value.gyrfalcon"


def assert_same(one: Any, two: Any) -> None:
    assert one.keys() == two.keys()
    for key in one:
        np.testing.assert_array_equal(one[key], two[key])


ARRAYS = {
    "empty": np.empty((0, 3)),
    "one number": np.array(2.5),
    "not finite": np.array([np.nan, np.inf, -np.inf, -0.0]),
    "flags": np.array([[True], [False]]),
    "large integers": np.array([2**63 - 1, -(2**63)]),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every second": np.arange(10.0)[::2],
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_come_back_with_their_bits_shape_and_order(kind: str, path: Path) -> None:
    array = ARRAYS[kind]
    files.save(path, array)
    back = files.load(path)
    assert (back.shape, back.dtype, back.tobytes()) == (array.shape, array.dtype, array.tobytes())
    assert back.flags.writeable
    if array.flags.contiguous:
        assert back.flags.c_contiguous == array.flags.c_contiguous


def test_the_same_value_gives_the_same_bytes(path: Path) -> None:
    files.save(path, VALUE)
    before = path.read_bytes()
    files.save(path, files.load(path))
    assert path.read_bytes() == before


def test_other_programs_can_look_inside(path: Path) -> None:
    files.save(path, VALUE)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["manifest.json", "arrays/0.npy", "arrays/1.npy"]
        assert np.load(io.BytesIO(archive.read("arrays/0.npy"))).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_is_its_owners_alone(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files.save(path, VALUE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 & ~umask


def test_a_replaced_file_keeps_its_permissions(path: Path) -> None:
    files.save(path, VALUE)
    path.chmod(0o640)
    files.save(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_another_process_reads_the_file(path: Path) -> None:
    files.save(path, ("a", 1, None))
    code = f"from gyrfalcon.storage import files; print(files.load({str(path)!r}))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "('a', 1, None)"


def test_a_link_stays_a_link(path: Path) -> None:
    files.save(path, {})
    link = path.with_name("latest")
    link.symlink_to(path)
    files.save(link, VALUE)
    assert link.is_symlink()
    assert_same(files.load(path), VALUE)


def test_the_longest_possible_name_will_do(tmp_path: Path) -> None:
    files.save(tmp_path / ("x" * 255), VALUE)


@pytest.fixture
def full_disk(path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """A disk on which this call fails; the old file and nothing else is there afterwards."""
    files.save(path, VALUE)
    before = path.read_bytes()

    def fail(*args: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    owner, name = request.param
    monkeypatch.setattr(owner, name, fail)
    yield
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "full_disk",
    [(os, "fsync"), (zipfile.ZipFile, "writestr"), (Path, "replace"), (Path, "chmod")],
    indirect=True,
)
@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_file_and_no_other(path: Path) -> None:
    with pytest.raises(OSError, match=r"No space left on device, so nothing was saved.*save again") as caught:
        files.save(path, {"new": 1})
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_disk_that_fills_up_while_writing_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.save(path, VALUE)
    before, plain = path.read_bytes(), Path.open

    def full(self: Path, mode: str = "r", **named: Any) -> Any:
        plain(self, mode, **named).close()
        return plain(Path("/dev/full"), "wb")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        files.save(path, {"large": np.zeros(100_000)})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_interruption_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.save(path, VALUE)
    assert list(path.parent.iterdir()) == []


def test_a_value_that_can_not_be_stored_leaves_the_old_file_and_no_other(path: Path) -> None:
    files.save(path, VALUE)
    before = path.read_bytes()
    nested: tuple[object, ...] = ()
    for _ in range(100_000):
        nested = (nested,)
    for value, kind in (((1, object()), TypeError), (nested, ValueError)):
        with pytest.raises(kind, match=r"stored.*\.$"):
            files.save(path, value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    while nested:  # taken apart from the outside, because even freeing it at once recurses
        (nested,) = nested  # type: ignore[assignment]


def test_paths_that_can_not_be_written_are_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing was saved.*save again"):
        files.save(tmp_path / "nowhere" / "value", VALUE)
    with pytest.raises(IsADirectoryError, match="not that of a file"):
        files.save(tmp_path, VALUE)
    if Path("/dev/null").exists():
        with pytest.raises(OSError, match="not that of a file"):
            files.save("/dev/null", VALUE)
    with pytest.raises(FileNotFoundError):
        files.load(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_file_and_not_its_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"page.html") as caught:
        write_atomically(tmp_path / "page.html", "Here.")
    assert caught.value.filename == str(tmp_path / "page.html")
