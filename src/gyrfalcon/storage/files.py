"""One value in one file: written atomically, refused with a sentence when it is damaged.

A file is a zip archive of stored parts: a manifest in JSON and an .npy file per array. The manifest has the
format version, and classes by ids that do not depend on their names in Python. The checksums of the archive
reveal damage; they don't protect against somebody who wants to deceive. The same value gives the same bytes.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.oracles.regressors.fitted import RefitError
from gyrfalcon.storage.atomic import remove_leftovers, write_atomically
from gyrfalcon.storage.class_ids import ClassIds, UnknownClassError
from gyrfalcon.storage.codec import STORED_DTYPES, Decoder, Encoder
from gyrfalcon.storage.migrations import VERSION, FormatVersionError, migrated

FORMAT = "gyrfalcon"
MOST_BYTES = 2**32
"""Largest file that is read: a file from elsewhere can't fill the memory."""
_MANIFEST = "manifest.json"


def save(
    path: str | os.PathLike[str],
    value: object,
    classes: Iterable[type] = (),
    about: Mapping[str, Any] | None = None,
    *,
    synced: bool = True,
) -> None:
    """Write a value atomically: after a crash the path holds the old file or the new one, never a part.

    A new file is readable for its owner alone. What `about` says of the writer is never read back. A file
    that is not `synced` is left to the system to write, which takes a hundredth of the time: a power cut may
    lose it.
    """
    encoder = Encoder(ClassIds(classes))
    try:
        manifest = json.dumps(
            {
                "format": FORMAT,
                "format_version": VERSION,
                "about": dict(about or {}),
                "value": encoder.encode(value),
            },
            allow_nan=False,
        )
    except RecursionError:
        raise ValueError("the value is nested too deeply to be stored; make its labels flatter.") from None
    try:
        if synced:
            remove_leftovers(Path(path).resolve().parent)
        write_atomically(Path(path), _archive(manifest, encoder.arrays), private=True, synced=synced)
    except OSError as error:
        reason = (
            f"{error.strerror}, so nothing was saved and what was there is untouched; free space or correct"
        )
        raise OSError(error.errno, f"{reason} the path, and save again", os.fspath(path)) from error


def load(path: str | os.PathLike[str], classes: Iterable[type] = ()) -> Any:
    """Read the value that `save` wrote."""
    ids = ClassIds(classes)
    if Path(path).is_dir():
        raise ValueError(f"{os.fspath(path)} is a directory; give the file that .save wrote.")
    size = Path(path).stat().st_size
    if size > MOST_BYTES:
        raise ValueError(
            f"{os.fspath(path)} has {size} bytes, more than any file that is read ({MOST_BYTES}); "
            "give a file that .save wrote."
        )
    content = Path(path).read_bytes()
    manifest: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            manifest = _manifest(archive)
            return Decoder(ids, lambda number: _read_array(archive, number)).decode(manifest["value"])
    except FormatVersionError as error:
        raise ValueError(f"{os.fspath(path)} {error}.") from error
    except UnknownClassError as error:
        raise ValueError(f"{os.fspath(path)} is intact, but {error}{_other_version(manifest)}") from error
    except RefitError as error:
        raise ValueError(f"{os.fspath(path)} is intact, but {error}.") from error
    except Exception as error:
        # Errors of the zip, JSON and NumPy readers, and of classes with invalid fields.
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(
            f"{os.fspath(path)} can't be read as a gyrfalcon file: {reason}. "
            "Give a complete file that .save wrote; if this one was cut short, take its last good copy."
        ) from error


def _other_version(manifest: Mapping[str, Any]) -> str:
    """A sentence on the gyrfalcon that wrote a file, where it is another one."""
    from gyrfalcon import __version__

    about = manifest.get("about")
    written_by = about.get("gyrfalcon") if isinstance(about, dict) else None
    if written_by in (None, __version__):
        return ""
    return f" It was written by gyrfalcon {written_by}, and this is {__version__}: install that version."


def _archive(manifest: str, arrays: list[np.ndarray[Any, Any]]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        _write_part(archive, _MANIFEST, manifest.encode())
        for number, array in enumerate(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0), allow_pickle=False)
            _write_part(archive, _array_name(number), buffer.getvalue())
    return content.getvalue()


def _write_part(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    part = zipfile.ZipInfo(name)  # without the time, so that the same value gives the same bytes
    part.external_attr = 0o644 << 16
    archive.writestr(part, content)


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
    return migrated(manifest)


def _read_array(archive: zipfile.ZipFile, number: int) -> np.ndarray[Any, Any]:
    content = _read(archive, _array_name(number))
    buffer = io.BytesIO(content)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ValueError(f"its array {number} has a header that .save never writes.")
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype.name not in STORED_DTYPES:
        raise ValueError(f"its array {number} has values of {dtype.name}, which .save never writes.")
    # From what is there: a header that promises more can't make NumPy allocate it.
    flat = np.frombuffer(content[buffer.tell() :], dtype).copy()
    return flat.reshape(shape, order="F" if in_columns else "C")
