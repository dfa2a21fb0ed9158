"""Files of the Open Bandit Dataset, in a folder, an installed package, a source distribution or a wheel."""

from __future__ import annotations

import os
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

_INSIDE = "obp/dataset/obd/"
_REMEDY = (
    "give the folder that holds random/ and bts/, or a source distribution or wheel of obp, which "
    "`pip download obp==0.5.7 --no-deps --no-binary :all: --ignore-requires-python` gets"
)


def find_file(path: str | os.PathLike[str] | None, name: str) -> tuple[bytes, str]:
    """The content of a file of the data set, and what it is called in messages."""
    root = _installed() if path is None else Path(path)
    if root.is_dir():
        for folder in (root, root / "obd", root / _INSIDE):
            if (folder / name).is_file():
                return (folder / name).read_bytes(), str(folder / name)
        raise ValueError(f"{root} has no {name}; {_REMEDY}.")
    if not root.is_file():
        raise ValueError(f"{root} does not exist; {_REMEDY}.")
    content = _unpacked(root, f"{_INSIDE}{name}")
    if content is None:
        raise ValueError(f"{root} has no {_INSIDE}{name} in it; {_REMEDY}.")
    return content, f"{root}:{name}"


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a wheel or a source distribution."""
    file = Path(path)
    return file.is_file() and (zipfile.is_zipfile(file) or tarfile.is_tarfile(file))


def _installed() -> Path:
    spec = find_spec("obp")
    if spec is None or spec.origin is None:
        raise ValueError(f"no package obp is installed; {_REMEDY}.")
    return Path(spec.origin).parent / "dataset" / "obd"


def _unpacked(archive: Path, ending: str) -> bytes | None:
    """The content of the file in an archive whose path ends so; None if there is none."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            inside = next((one for one in wheel.namelist() if one.endswith(ending)), None)
            return None if inside is None else wheel.read(inside)
    if not tarfile.is_tarfile(archive):
        raise ValueError(f"{archive} is neither a folder nor an archive; {_REMEDY}.")
    with tarfile.open(archive) as source:
        member = next((one for one in source if one.name.endswith(ending)), None)
        file = None if member is None else source.extractfile(member)
        return None if file is None else file.read()
