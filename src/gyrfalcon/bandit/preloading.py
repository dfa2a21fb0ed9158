"""Modules that decisions and refits need, imported when a bandit is made: no reward waits for them later."""

from __future__ import annotations

from importlib import import_module

from gyrfalcon.engine.threads import blas_libraries

_NEEDED = ("numpy.random", "scipy.linalg.lapack", "scipy.special", "gyrfalcon.storage.content_hash")


def import_what_refits_need() -> None:
    """Import what a first refit would import; `import gyrfalcon` alone stays light."""
    for module in _NEEDED:
        import_module(module)
    blas_libraries()  # looked up once
