"""One BLAS thread and short turns in refits, and what the bits of a fit may depend on besides."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy

import gyrfalcon
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.engine import threads
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.engine.threads import blas_libraries, one_blas_thread, short_turns
from gyrfalcon.engine.turnover import turn_over

REFITS = """
import hashlib
import numpy as np
from gyrfalcon import EpsilonFalcon, LinTS, LinUCB, Problem
from gyrfalcon.engine.turnover import turn_over

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 200))
problem = Problem([1, 2], features=200, out_of_range="accept")
rewards = X[:, 0] + rng.standard_normal(1500)
log = problem.log(problem.contexts(X), rng.integers(1, 3, 1500), rewards=rewards, propensities="uniform")
for learner in (LinUCB(), EpsilonFalcon(), LinTS()):
    start = learner.start(problem)
    policy = turn_over(learner, start, log, start.stop).policy
    scored = policy.scorer.scores(log.contexts) if hasattr(policy, "scorer") else np.zeros(0)
    given = policy.probabilities(log.contexts)
    print(hashlib.sha256(scored.tobytes() + given.tobytes()).hexdigest())
"""


def counts() -> list[int]:
    return [library.n_threads() for library in blas_libraries()]


@pytest.fixture
def two_threads() -> Iterator[None]:
    if not blas_libraries():
        pytest.skip("no BLAS library can be controlled")
    before = counts()
    for library in blas_libraries():
        library.set_n_threads(2)
    yield
    for library, n in zip(blas_libraries(), before, strict=True):
        library.set_n_threads(n)


def test_wide_refits_have_the_same_bits_with_any_number_of_threads() -> None:
    digests = [
        subprocess.run(
            [sys.executable, "-c", REFITS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n, "MKL_NUM_THREADS": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for n in ("1", "2")
    ]
    assert len(digests[0]) == 3
    assert digests[0] == digests[1]


@pytest.mark.usefixtures("two_threads")
def test_the_former_number_of_threads_comes_back() -> None:
    with one_blas_thread():
        assert set(counts()) == {1}
        with one_blas_thread():
            assert set(counts()) == {1}
        assert set(counts()) == {1}
    assert set(counts()) == {2}
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert set(counts()) == {2}


@pytest.mark.usefixtures("two_threads")
def test_threads_that_overlap_leave_the_former_number() -> None:
    entered, left = threading.Event(), threading.Event()
    inside: list[list[int]] = []

    def refit() -> None:
        with one_blas_thread():
            entered.set()
            assert left.wait(60.0)
            inside.append(counts())

    background = threading.Thread(target=refit)
    with one_blas_thread():
        background.start()
        assert entered.wait(60.0)
    left.set()
    background.join(60.0)
    assert set(inside[0]) == {1}
    assert set(counts()) == {2}


@pytest.mark.usefixtures("two_threads")
def test_a_number_that_somebody_sets_meanwhile_is_kept() -> None:
    with one_blas_thread():
        blas_libraries()[0].set_n_threads(3)
    assert blas_libraries()[0].n_threads() == 3


@pytest.mark.usefixtures("two_threads")
def test_a_learner_refits_with_one_thread() -> None:
    seen: list[int] = []

    class Own:
        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            seen.extend(counts())
            return epoch

    everyone = UniformPolicy(2)
    epoch = Epoch(index=1, start=0, stop=1, policy=everyone, passive_policy=everyone)
    problem = Problem([1, 2])
    learner: Any = Own()
    turn_over(
        learner,
        epoch,
        problem.log(problem.contexts(None, n=1), [1], rewards=[0.0], propensities="uniform"),
        0,
    )
    assert set(seen) == {1}
    assert set(counts()) == {2}


def test_without_a_library_that_can_be_controlled_nothing_is_limited(monkeypatch: Any) -> None:
    monkeypatch.setattr(threads, "blas_libraries", tuple)
    before = counts()
    with one_blas_thread():
        assert counts() == before


def test_threadpoolctl_finds_the_libraries_too() -> None:
    pytest.importorskip("threadpoolctl")
    found = threads._by_threadpoolctl()
    assert {one.kernel for one in found} >= {one.kernel for one in blas_libraries()}
    assert sorted(one.n_threads() for one in found) == sorted(counts())


def test_a_fingerprint_has_all_versions_and_is_plain_data() -> None:
    mark = fingerprint()
    assert (mark.gyrfalcon, mark.numpy, mark.scipy) == (
        gyrfalcon.__version__,
        np.__version__,
        scipy.__version__,
    )
    assert mark.python == ".".join(map(str, sys.version_info[:3]))
    assert mark.blas
    assert hash(mark) == hash(fingerprint())
    assert json.loads(json.dumps(mark.to_dict())) == mark.to_dict()


def test_a_fingerprint_names_the_kernels_in_use() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    kernels = {
        one["architecture"]
        for one in threadpoolctl.threadpool_info()
        if one["user_api"] == "blas" and "architecture" in one
    }
    assert {one.kernel for one in fingerprint().blas} <= kernels | {""}


@pytest.fixture
def long_turns() -> Iterator[float]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.02)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


def test_turns_are_short_inside_and_long_again_after_the_last_context(long_turns: float) -> None:
    with short_turns():
        with pytest.raises(KeyError), short_turns():
            raise KeyError
        assert sys.getswitchinterval() < 0.001
    assert sys.getswitchinterval() == long_turns


def test_turns_that_are_shorter_or_set_by_somebody_meanwhile_are_kept(long_turns: float) -> None:
    with short_turns():
        sys.setswitchinterval(0.01)
    assert sys.getswitchinterval() == pytest.approx(0.01) != long_turns
    sys.setswitchinterval(0.0001)
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(0.0001)
    assert sys.getswitchinterval() == pytest.approx(0.0001)


def test_a_refit_in_the_background_has_short_turns(long_turns: float) -> None:
    seen: list[float] = []

    class Own(gyrfalcon.EpsilonGreedy):
        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            seen.append(sys.getswitchinterval())
            return super().next_epoch(epoch, log)

    learner = Own(schedule=FixedBatch(4))
    bandit = gyrfalcon.Bandit(["a", "b"], learner=learner, seed=1, refit="background")
    for _ in range(4):
        bandit.reward(bandit.decide().event_id, 1.0)
    bandit.wait()
    assert seen
    assert max(seen) < 0.001
    assert sys.getswitchinterval() == long_turns


def exit_code_of(child: int) -> int:
    """The exit code of a forked process, which an alarm ends if it hangs."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_can_enter_what_another_thread_was_entering_when_the_process_forked() -> None:
    """Before, a fork beside refits could find the lock held by a thread that was not there."""
    began, goes_on = threading.Event(), threading.Event()

    def begin() -> Callable[[], None]:
        began.set()
        goes_on.wait(30.0)
        return lambda: None

    shared = threads._Shared(begin)

    def enter() -> None:
        with shared:
            pass

    other = threading.Thread(target=enter)
    other.start()
    assert began.wait(30.0)
    threading.Timer(0.2, goes_on.set).start()  # the fork waits until the change is complete
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        enter()
        os._exit(0)
    assert exit_code_of(child) == 0
    other.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_leaves_what_other_threads_had_entered_and_keeps_its_own(two_threads: None) -> None:
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait(30.0)

    other = threading.Thread(target=stay)
    other.start()
    assert inside.wait(30.0)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if set(counts()) == {2} else 1)
    assert exit_code_of(child) == 0
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if set(counts()) == {1} else 1)
        assert exit_code_of(child) == 0
        leave.set()
        other.join()
        assert set(counts()) == {1}
    assert set(counts()) == {2}
