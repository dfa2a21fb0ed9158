"""Run the tests of batch invariance once under each set of OpenBLAS kernels that this processor executes.

OpenBLAS sums in another order on every kind of processor. What must not depend on that is tried with the
kernels of several, here and now: `python -m tests.blas_kernels`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

CORE_TYPES = ("Haswell", "Zen", "SkylakeX", "Sandybridge", "Nehalem")
_TRIAL = """
import numpy as np, scipy.linalg, threadpoolctl
a = np.random.default_rng(0).standard_normal((70, 70))
for n in (1, 2, 5, 70):
    b = a[:n, :n] @ a[:n, :n].T + np.eye(n)
    b @ b[0], b[0] @ b[0], np.linalg.cholesky(b), np.linalg.svd(b), scipy.linalg.inv(b), np.linalg.qr(b)
infos = threadpoolctl.threadpool_info()
print(*sorted({one["architecture"] for one in infos if one["internal_api"] == "openblas"}))
"""


def environment(core_type: str) -> dict[str, str]:
    """The environment of a process whose OpenBLAS takes itself to be on such a processor."""
    return {
        **os.environ,
        "OPENBLAS_CORETYPE": core_type,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def kernels(core_type: str) -> str | None:
    """The kernels that OpenBLAS uses for a core type; None if the processor cannot execute them."""
    trial = [sys.executable, "-c", _TRIAL]
    done = subprocess.run(trial, env=environment(core_type), capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGILL:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"The trial of {core_type} ended with {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def exit_code(core_type: str, arguments: list[str]) -> int:
    """What the tests end with in a process with such kernels: 0 if they pass, -9 if that is killed."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "invariance and not long", *arguments]
    return subprocess.run(command, env=environment(core_type), check=False).returncode


def main(arguments: list[str]) -> int:
    """Say of every core type whether its kernels were run, and return 1 if a test failed or none was run."""
    results: dict[str, int] = {}
    for core_type in CORE_TYPES:
        used = kernels(core_type)
        if used is None:
            print(f"{core_type}: skipped, this processor cannot execute its kernels", flush=True)
        elif used in results:
            print(f"{core_type}: skipped, OpenBLAS has {used} kernels for it, which were run", flush=True)
        else:
            print(f"{core_type}: OpenBLAS with {used or 'unknown'} kernels", flush=True)
            results[used] = exit_code(core_type, arguments)
    for used, code in results.items():
        print(f"{used} kernels: {'passed' if code == 0 else f'FAILED, exit code {code}'}")
    return 0 if results and not any(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
