"""One value in one file: written whole or not at all, refused with a sentence when it is not whole."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.storage.catalogue import CLASSES
from gyrfalcon.storage.codec import STORED_DTYPES, Decoder, Encoder, class_table

FORMAT = "gyrfalcon"
VERSION = 1
_MANIFEST = "manifest.json"


def save(path: str | os.PathLike[str], value: object, classes: Iterable[type] = ()) -> None:
    """Write a value atomically: after a crash the path holds the old file or the new one, never a part."""
    path = Path(path)
    encoder = Encoder(CLASSES | class_table(classes))
    tree = encoder.encode(value)
    manifest = {"format": FORMAT, "version": VERSION, "numpy": np.__version__, "value": tree}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, manifest, encoder.arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    _sync_folder(path.parent)


def load(path: str | os.PathLike[str], classes: Iterable[type] = ()) -> Any:
    """The value that `save` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive)
            decoder = Decoder(CLASSES | class_table(classes), lambda number: _read_array(archive, number))
            return decoder.decode(manifest["value"])
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{os.fspath(path)} can't be read as a gyrfalcon file: {str(error).rstrip('.')}. "
            "Give a whole file that .save wrote; if this one was cut short, take its last good copy."
        ) from error


def _write(file: Any, manifest: dict[str, object], arrays: list[np.ndarray[Any, Any]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest, allow_nan=False))
        for number, array in enumerate(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
            archive.writestr(_array_name(number), buffer.getvalue())


def _array_name(number: int) -> str:
    return f"arrays/{number}.npy"


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    # Stored, not compressed: what is read is never larger than the file.
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"its part {name} is compressed, which .save never does.")
    return archive.read(name)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    if _MANIFEST not in archive.namelist():
        raise ValueError(f"it has no {_MANIFEST}.")
    manifest = json.loads(_read(archive, _MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError("it was written by another program.")
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"it has format version {manifest.get('version')}, and this gyrfalcon reads {VERSION}."
        )
    return manifest


def _read_array(archive: zipfile.ZipFile, number: int) -> np.ndarray[Any, Any]:
    buffer = io.BytesIO(_read(archive, _array_name(number)))
    array: np.ndarray[Any, Any] = np.lib.format.read_array(buffer, allow_pickle=False)
    if array.dtype.name not in STORED_DTYPES:
        raise ValueError(f"its array {number} has values of {array.dtype.name}, which .save never writes.")
    return array


def _sync_folder(folder: Path) -> None:
    # Without this a power cut may forget the rename; some systems can't open folders, and lose nothing else.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
