"""Threads beside a refit: one of BLAS, so that fits have the same bits anywhere, and short turns of Python's.

Products of matrices are cut among threads, and each cut rounds differently. The BLAS libraries that NumPy and
SciPy are linked to are found through their own extension modules; where none can be controlled that way,
threadpoolctl is used if it is installed, and otherwise nothing is limited.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import product
from types import TracebackType
from typing import Any

_TURN = 0.0005
"""Seconds after which a thread lets another one run that waits for its turn, while a refit is under way."""
# Symbols of a library are found through whatever is linked to it.
_LINKED = (("numpy", "numpy._core._multiarray_umath"), ("scipy", "scipy.linalg._fblas"))
_OPENBLAS = [
    f"{prefix}_{{}}{suffix}"
    for prefix, suffix in product(("scipy_openblas", "openblas"), ("64_", "_64", "", "_"))
]


@dataclass(frozen=True, slots=True)
class BlasLibrary:
    """One loaded BLAS library: what it is, and its number of threads.

    Parameters
    ----------
    used_by
        "numpy" or "scipy", or both with a comma between them.
    name
        Name, such as "OpenBLAS".
    version
        Version; empty if the library does not say.
    kernel
        Kind of processor whose kernels are used, such as "Haswell"; empty if the library does not say.
    n_threads
        Function that gives the number of threads.
    set_n_threads
        Function that sets the number of threads of the whole process.
    """

    used_by: str
    name: str
    version: str
    kernel: str
    n_threads: Callable[[], int]
    set_n_threads: Callable[[int], object]


@cache
def blas_libraries() -> tuple[BlasLibrary, ...]:
    """The BLAS libraries of NumPy and SciPy whose number of threads can be set; looked up once."""
    found: dict[int, BlasLibrary] = {}
    for user, module in _LINKED:
        try:
            handle = ctypes.CDLL(import_module(module).__file__)
        except (ImportError, OSError, TypeError):
            continue  # a build with other internals
        library = _openblas(handle, user) or _mkl(handle, user)
        if library is not None:
            address, one = library
            known = found.get(address)
            both = f"{known.used_by}, {user}" if known else user
            found[address] = BlasLibrary(both, *(getattr(one, field) for field in BlasLibrary.__slots__[1:]))
    return tuple(found.values()) or _by_threadpoolctl()


def one_blas_thread() -> AbstractContextManager[None]:
    """Context in which BLAS has one thread, so that fits have the same bits on any machine.

    It costs some microseconds to enter. The number of threads belongs to the whole process: while a refit
    runs in the background, other threads have one BLAS thread as well. Contexts may be nested, and entered in
    several threads at once: the former number is back when the last one is left. A number that was set by
    somebody else in between is kept.

    Examples
    --------
    >>> with one_blas_thread():
    ...     {library.n_threads() for library in blas_libraries()} <= {1}
    True
    """
    return _ONE_BLAS_THREAD


def short_turns() -> AbstractContextManager[None]:
    """Context in which threads of Python wait half a millisecond for their turn, not five.

    A decision of a wide class gives up its turn at every array that it works on. Beside a refit it would
    otherwise wait for the next one up to five milliseconds each time. Contexts may be nested as those of
    `one_blas_thread`, and an interval that was set by somebody else in between is kept.

    Examples
    --------
    >>> with short_turns():
    ...     sys.getswitchinterval() <= 0.0005
    True
    """
    return _SHORT_TURNS


class _Shared(AbstractContextManager[None]):
    """A setting of the whole process while any thread is inside: `begin` makes it and returns how to end."""

    def __init__(self, begin: Callable[[], Callable[[], None]]) -> None:
        self._begin = begin
        self._lock = threading.Lock()
        self._inside: dict[int, int] = {}  # how often each thread has entered and not left
        self._end: Callable[[], None] = lambda: None
        if hasattr(os, "register_at_fork"):  # not on Windows, where there are no forks
            # No other thread is in the middle of a change while the process forks.
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._go_on_in_child,
            )

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._end = self._begin()
            thread = threading.get_ident()
            self._inside[thread] = self._inside.get(thread, 0) + 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            thread = threading.get_ident()
            self._inside[thread] -= 1
            if self._inside[thread] == 0:
                del self._inside[thread]
            if not self._inside:
                self._end()

    def _go_on_in_child(self) -> None:
        """Leave what other threads had entered, which are not there in a child process."""
        self._lock.release()
        thread, was_inside = threading.get_ident(), bool(self._inside)
        self._inside = {thread: n} if (n := self._inside.get(thread)) else {}
        if was_inside and not self._inside:
            self._end()


def _limit_blas() -> Callable[[], None]:
    counts = [(library, library.n_threads()) for library in blas_libraries()]
    before = [(library, n) for library, n in counts if n > 1]
    for library, _ in before:
        library.set_n_threads(1)

    def restore() -> None:
        for library, n in before:
            if library.n_threads() == 1:
                library.set_n_threads(n)

    return restore


def _shorten_turns() -> Callable[[], None]:
    before = sys.getswitchinterval()
    if before > _TURN:
        sys.setswitchinterval(_TURN)
    shortened = sys.getswitchinterval()

    def restore() -> None:
        if sys.getswitchinterval() == shortened < before:
            sys.setswitchinterval(before + 5e-7)  # which is cut to whole microseconds

    return restore


_ONE_BLAS_THREAD, _SHORT_TURNS = _Shared(_limit_blas), _Shared(_shorten_turns)


def _openblas(handle: ctypes.CDLL, user: str) -> tuple[int, BlasLibrary] | None:
    for pattern in _OPENBLAS:
        if hasattr(handle, pattern.format("set_num_threads")):
            set_n = getattr(handle, pattern.format("set_num_threads"))
            get_n = getattr(handle, pattern.format("get_num_threads"))
            name, _, version = _text(handle, pattern.format("get_config")).partition(" ")
            kernel = _text(handle, pattern.format("get_corename"))
            library = BlasLibrary(
                user, name or "OpenBLAS", version.partition(" ")[0], kernel, *_typed(get_n, set_n)
            )
            return _address(set_n), library
    return None


def _mkl(handle: ctypes.CDLL, user: str) -> tuple[int, BlasLibrary] | None:
    if not hasattr(handle, "MKL_Set_Num_Threads") or not hasattr(handle, "MKL_Get_Max_Threads"):
        return None
    set_n = handle.MKL_Set_Num_Threads
    return _address(set_n), BlasLibrary(user, "MKL", "", "", *_typed(handle.MKL_Get_Max_Threads, set_n))


def _typed(get_n: Any, set_n: Any) -> tuple[Callable[[], int], Callable[[int], object]]:
    get_n.argtypes, get_n.restype = [], ctypes.c_int
    set_n.argtypes, set_n.restype = [ctypes.c_int], None
    return get_n, set_n


def _text(handle: ctypes.CDLL, symbol: str) -> str:
    function = getattr(handle, symbol, None)
    if function is None:
        return ""
    function.argtypes, function.restype = [], ctypes.c_char_p
    return (function() or b"").decode()


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _by_threadpoolctl() -> tuple[BlasLibrary, ...]:
    try:
        controller = import_module("threadpoolctl").ThreadpoolController().select(user_api="blas")
    except ImportError:
        return ()
    return tuple(
        BlasLibrary(
            "numpy, scipy",
            one.internal_api,
            one.version or "",
            str(getattr(one, "architecture", None) or ""),
            one.get_num_threads,
            one.set_num_threads,
        )
        for one in controller.lib_controllers
    )
