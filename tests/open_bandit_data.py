"""The small Open Bandit data (CC BY 4.0), which a wheel of `obp` on PyPI holds.

    python -m tests.open_bandit_data

downloads it once by pip into a cache folder, and prints where it is. `make test`, `make test-long` and
`make check` do so first, by --if-possible: without a network they say so, and what reads the data is skipped.
The variable OPEN_BANDIT_DATA names a wheel that is elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

VARIABLE = "OPEN_BANDIT_DATA"
WHEEL = "obp-0.4.1-py3-none-any.whl"
SHA256 = "87dec9caf4283c25ab13036532e0a24566f1c7bdcad1653a8ded43b2f5ef8208"
OPTIONAL = "--if-possible"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gyrfalcon"
_ABSENT = "the Open Bandit data is not here; make open-bandit-data gets it"


def open_bandit_path() -> Path | None:
    """The wheel with the data, if it is on this machine."""
    given = os.environ.get(VARIABLE)
    path = Path(given) if given else _CACHE / WHEEL
    return path if path.is_file() else None


def needed() -> Path:
    """The wheel with the data; without one the test is skipped."""
    import pytest

    path = open_bandit_path()
    if path is None:
        pytest.skip(_ABSENT)
    return path


def placed_in(folder: Path) -> None:
    """Put the wheel into a folder under its own name, as readers have it; skip where there is none."""
    (folder / WHEEL).symlink_to(needed().resolve())


def download() -> Path:
    """Download the wheel once by pip, check its hash, and return its path."""
    path = open_bandit_path()
    if path is not None:
        return path
    _CACHE.mkdir(parents=True, exist_ok=True)
    own = [sys.executable, "-m", "pip"]  # environments need not have a pip of their own
    pip = own if find_spec("pip") else ["pip"]
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--retries", "2"]
    with TemporaryDirectory(dir=_CACHE) as folder:
        subprocess.run([*pip, "download", *options, "--dest", folder, "obp==0.4.1"], check=True)
        wheel = Path(folder) / WHEEL
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != SHA256:
            raise SystemExit(f"{WHEEL} has the hash {found} instead of {SHA256}; it is not used.")
        wheel.rename(_CACHE / WHEEL)
    return _CACHE / WHEEL


def main(arguments: list[str]) -> None:
    """Print where the data is; with --if-possible, a failed download is a sentence and no error."""
    try:
        print(download())
    except (subprocess.CalledProcessError, OSError) as error:
        why = (
            f"pip ended with {error.returncode}"
            if isinstance(error, subprocess.CalledProcessError)
            else error
        )
        sentence = f"The Open Bandit data could not be downloaded: {why}."
        if OPTIONAL not in arguments:
            raise SystemExit(f"{sentence} {VARIABLE} may name a {WHEEL} that is here.") from None
        print(f"{sentence} What reads it is skipped.")


if __name__ == "__main__":
    main(sys.argv[1:])
