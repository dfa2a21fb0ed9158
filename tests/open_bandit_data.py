"""The small Open Bandit data (CC BY 4.0), which a wheel of `obp` on PyPI holds.

    python -m tests.open_bandit_data

downloads it once by pip into a cache folder, and prints where it is. Tests that need it use what the variable
OPEN_BANDIT_DATA names, or what is in the cache or in an installed `obp`, and are skipped where there is none.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

VARIABLE = "OPEN_BANDIT_DATA"
WHEEL = "obp-0.4.1-py3-none-any.whl"
SHA256 = "87dec9caf4283c25ab13036532e0a24566f1c7bdcad1653a8ded43b2f5ef8208"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gyrfalcon"


def open_bandit_path() -> Path | None:
    """The folder or archive with the data, if it is on this machine."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    if (_CACHE / WHEEL).is_file():
        return _CACHE / WHEEL
    package = find_spec("obp")
    return Path(package.origin).parent / "dataset" / "obd" if package and package.origin else None


def needed() -> Path:
    """The folder or archive with the data; without one the test is skipped."""
    path = open_bandit_path()
    if path is None:
        pytest.skip("the Open Bandit data is not here; python -m tests.open_bandit_data gets it")
    return path


def download() -> Path:
    """Download the wheel once by pip, check its hash, and return its path."""
    path = open_bandit_path()
    if path is not None:
        return path
    _CACHE.mkdir(parents=True, exist_ok=True)
    own = [sys.executable, "-m", "pip"]  # environments need not have a pip of their own
    pip = own if find_spec("pip") else ["pip"]
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
    with TemporaryDirectory(dir=_CACHE) as folder:
        subprocess.run([*pip, "download", *options, "--dest", folder, "obp==0.4.1"], check=True)
        wheel = Path(folder) / WHEEL
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != SHA256:
            raise SystemExit(f"{WHEEL} has the hash {found} instead of {SHA256}; it is not used.")
        wheel.rename(_CACHE / WHEEL)
    return _CACHE / WHEEL


if __name__ == "__main__":
    print(download())
