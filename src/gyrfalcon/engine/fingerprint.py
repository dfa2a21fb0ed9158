"""Fingerprint of the machine's numerics: versions of libraries and the BLAS kernels that are in use."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import Any

from gyrfalcon.engine.threads import blas_libraries


@dataclass(frozen=True, slots=True)
class BlasVersion:
    """One BLAS library, as it is in use.

    Parameters
    ----------
    used_by
        "numpy", "scipy" or "numpy, scipy".
    name
        Name, such as "OpenBLAS".
    version
        Version; empty if unknown.
    kernel
        Kind of processor whose kernels are used, such as "Haswell"; empty if unknown.
    n_threads
        Number of threads; None if it cannot be read.
    """

    used_by: str
    name: str
    version: str
    kernel: str
    n_threads: int | None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """All versions that the bits of a fit may depend on.

    Parameters
    ----------
    gyrfalcon
        Version of gyrfalcon.
    python
        Version of Python.
    numpy
        Version of NumPy.
    scipy
        Version of SciPy.
    machine
        Kind of processor, such as "x86_64".
    blas
        The BLAS libraries of NumPy and SciPy.
    vector_instructions
        Those that NumPy's trigonometric functions use, such as "X86_V4"; empty if unknown. Random Fourier
        features may differ in their last bit between them.
    """

    gyrfalcon: str
    python: str
    numpy: str
    scipy: str
    machine: str
    blas: tuple[BlasVersion, ...]
    vector_instructions: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {**asdict(self), "blas": [asdict(one) for one in self.blas]}


def fingerprint() -> Fingerprint:
    """The versions of the running process, and its BLAS kernels and numbers of threads at this moment.

    Returns
    -------
    Fingerprint
        Equal for two processes whose fits have the same bits; fits may have the same bits though it differs.

    Examples
    --------
    >>> fingerprint() == fingerprint()
    True
    """
    import numpy as np
    import scipy

    from gyrfalcon import __version__

    blas = tuple(
        BlasVersion(one.used_by, one.name, one.version, one.kernel, one.n_threads())
        for one in blas_libraries()
    )
    return Fingerprint(
        __version__,
        platform.python_version(),
        np.__version__,
        scipy.__version__,
        platform.machine(),
        blas or (_named_by_numpy(),),
        _vector_instructions(),
    )


def _vector_instructions() -> str:
    try:
        from numpy.lib import introspect
    except ImportError:  # NumPy 2.0 does not say
        return ""
    targets = introspect.opt_func_info(func_name="^tan$", signature="float64")
    return str(targets.get("tan", {}).get("dd", {}).get("current", ""))


def _named_by_numpy() -> BlasVersion:
    """What NumPy was built with, where the library itself cannot be reached."""
    import numpy as np

    built: dict[str, Any] = dict(np.show_config(mode="dicts"))
    blas = built.get("Build Dependencies", {}).get("blas", {})
    return BlasVersion("numpy", str(blas.get("name", "")), str(blas.get("version", "")), "", None)
