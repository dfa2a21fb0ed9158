"""Damaged and foreign files are refused with a sentence; what is read is what was written."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.storage import files
from gyrfalcon.storage.migrations import VERSION
from tests.bandit.helpers import Clock, batches, bytes_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bandit"


@pytest.fixture(scope="module")
def whole() -> bytes:
    """A bandit in its third epoch with events that wait, are settled, and are closed."""
    bandit = Bandit(learner=batches(6), actions=["a", "b"], features=2, seed=3, clock=Clock())
    for row in range(15):
        decision = bandit.decide([float(row), 1.0])
        if row != 13:
            bandit.reward(decision.event_id, row / 15)
    assert bandit.epoch.index == 3
    return bytes_of(bandit)


def refuses(path: Path, content: bytes, told: str = "") -> None:
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"can't be read as a gyrfalcon file: .*{told}.*\. Give a complete file"
    ):
        Bandit.load(path)


def test_a_file_that_was_cut_short_is_refused(path: Path, whole: bytes) -> None:
    for twentieth in range(20):
        refuses(path, whole[: len(whole) * twentieth // 20])
    for missing in range(1, 40):
        refuses(path, whole[:-missing])


def test_a_flipped_byte_is_refused_or_harmless(path: Path, whole: bytes) -> None:
    directory = whole.index(b"PK\x01\x02")
    positions = [*range(0, directory, 61), *range(directory, len(whole), 7), *range(0, 60)]
    n_refused = 0
    for number, position in enumerate(positions):
        damaged = bytearray(whole)
        damaged[position] ^= (0x01, 0x80, 0xFF)[number % 3]
        path.write_bytes(damaged)
        try:
            bandit = Bandit.load(path, clock=Clock())
        except ValueError as error:
            assert "can't be read as a gyrfalcon file" in str(error)  # noqa: PT017 - or harmless
            n_refused += 1
        else:
            assert bytes_of(bandit) == whole
    assert n_refused > len(positions) / 2


def test_every_flipped_byte_of_the_contents_is_refused(path: Path, whole: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        first = archive.infolist()[0]
    start = first.header_offset + 30 + len(first.filename)
    for position in range(start, start + first.file_size, 37):
        damaged = bytearray(whole)
        damaged[position] ^= 0x04
        refuses(path, bytes(damaged), "CRC")


def archive_of(parts: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def file_of(value: object, array: bytes | None = None, **changes: object) -> bytes:
    manifest = {"format": "gyrfalcon", "format_version": 1, "value": value} | changes
    arrays = {} if array is None else {"arrays/0.npy": array}
    return archive_of({"manifest.json": json.dumps(manifest).encode()} | arrays)


def npy(array: Any, **options: bool) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


class Trap:
    """Gives itself away when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was opened",))


def test_foreign_files_are_refused(path: Path, whole: bytes) -> None:
    npz = io.BytesIO()
    np.savez(npz, x=np.zeros(3))
    refuses(path, b"", "zip")
    refuses(path, b"hello", "zip")
    refuses(path, pickle.dumps(Trap()), "zip")
    refuses(path, npz.getvalue(), "no manifest")
    refuses(path, archive_of({"word/document.xml": b"<w/>"}), "no manifest")
    refuses(path, archive_of({"manifest.json": b'{"name": "my extension"}'}), "another program")
    refuses(path, archive_of({"manifest.json": b"[1, 2]"}), "another program")
    refuses(path, archive_of({"manifest.json": b"not JSON"}))
    refuses(path, archive_of({"manifest.json": b"\xff\xfe\x00"}))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is a directory; give the file"):
        Bandit.load(tmp_path)


def test_what_is_no_version_is_refused(path: Path) -> None:
    for version in (0, -1, "1", None, True, 1.0):
        refuses(path, file_of(1, format_version=version), f"its format version is {version!r}, which")


def test_a_newer_version_is_refused_with_what_to_do(path: Path) -> None:
    path.write_bytes(file_of(1, format_version=VERSION + 1))
    versions = f"format version {VERSION + 1}, and this gyrfalcon reads versions up to {VERSION}; install"
    with pytest.raises(ValueError, match=rf"{path} has {versions}"):
        Bandit.load(path)


def test_an_unknown_class_is_refused(path: Path) -> None:
    for value in ({"class": "Trap", "fields": {}}, {"enum": "Trap", "value": 1}):
        path.write_bytes(file_of(value))
        told = r"is intact, but it holds a Trap, which is not a known class; name .*classes=\[\.\.\.\]\.$"
        with pytest.raises(ValueError, match=told):
            Bandit.load(path)


def test_a_file_of_another_gyrfalcon_with_a_class_of_its_own_is_told_from_a_damaged_one(path: Path) -> None:
    """Before, the remedy was the last good copy of a file that was cut short."""
    value = {"class": "learner/to-come", "fields": {}}
    path.write_bytes(file_of(value, about={"gyrfalcon": "99.0"}))
    with pytest.raises(ValueError, match=r"is intact.*learner/to-come.*by gyrfalcon 99\.0, and this is"):
        Bandit.load(path)


def test_odd_fields_of_known_classes_are_refused(path: Path) -> None:
    for fields in ({}, {"actions": 3}, {"actions": {"list": ["a"]}}, {"nonsense": 1}):
        refuses(path, file_of({"class": "problem", "fields": fields}))
    refuses(path, file_of({"class": "schema", "fields": {"columns": {"list": [7]}}}))
    refuses(path, file_of({"class": "schedule/doubling", "fields": {"first": "many"}}))
    refuses(path, file_of({"array": 3}), "arrays/3.npy")
    refuses(path, file_of({"array": -1}), "arrays/-1.npy")


def test_an_array_of_objects_is_never_unpickled(path: Path) -> None:
    trap = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    refuses(path, file_of({"array": 0}, trap), "object")


def test_arrays_that_save_never_writes_are_refused(path: Path) -> None:
    refuses(path, file_of({"array": 0}, npy(np.zeros(2, dtype=np.float32))), "float32")
    refuses(path, file_of({"array": 0}, npy(np.array(["text"]))), "str")
    refuses(path, file_of({"array": 0}, b"\x93NUMPY\x03\x00"), "header")
    refuses(path, file_of({"array": 0}, npy(np.zeros(4))[:-8]), "reshape|shape")
    promising = npy(np.zeros(4)).replace(b"(4,)", b"(9999999999999,)")
    refuses(path, file_of({"array": 0}, promising))


def test_json_that_is_nested_deeply_is_refused(path: Path) -> None:
    depth = 100_000
    for left, right in ((b"[", b"]"), (b'{"list": [', b"]}")):
        text = b'{"format": "gyrfalcon", "format_version": 1, "value": ' + left * depth + right * depth + b"}"
        refuses(path, archive_of({"manifest.json": text}))


def test_compressed_parts_are_refused_so_that_small_files_stay_small(path: Path) -> None:
    manifest = json.dumps({"format": "gyrfalcon", "format_version": 1, "value": 1}).encode()
    refuses(path, archive_of({"manifest.json": manifest + b" " * 10**6}, zipfile.ZIP_DEFLATED), "compressed")


def test_a_value_of_another_kind_is_not_a_bandit(path: Path) -> None:
    files.save(path, (1, 2))
    with pytest.raises(ValueError, match="holds a tuple, not a saved Bandit"):
        Bandit.load(path)


def test_parts_of_a_bandit_that_do_not_fit_together_are_refused(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)
    snapshot = files.load(path)
    for change in ({"positions": np.arange(9)}, {"live": 3}, {"problem": None}, {"counts": {"n": 1}}):
        files.save(path, replace(snapshot, **change))
        with pytest.raises(ValueError, match="don't fit together"):
            Bandit.load(path)


def test_files_that_would_fill_the_memory_are_refused(path: Path) -> None:
    def schema(n_buckets: int, n_features: int) -> object:
        column = {"class": "column/hashed", "fields": {"n_buckets": n_buckets, "missing": False}}
        pairs = [{"tuple": [f"x{number}", column]} for number in range(n_features)]
        return {"class": "schema", "fields": {"columns": {"tuple": pairs}}}

    refuses(path, file_of(schema(10**12, 1)), "n_buckets is 1000000000000; give a whole number from 1 to")
    refuses(path, file_of(schema(2**19, 3)), "more than 1048576 columns")
    labels = {"tuple": list(range(2**20 + 1))}
    problem = {"class": "problem", "fields": {"actions": labels}}
    refuses(path, file_of(problem), "more than 1048576 actions")
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)  # a hole, which takes no room on the disk
    with pytest.raises(ValueError, match="more than any file that is read"):
        Bandit.load(path)
