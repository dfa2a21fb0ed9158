"""Late rewards without bias: fits of final rows know nothing of who answered quickly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.environments.delayed import Delayed, FitRows
from gyrfalcon.environments.protocol import BLOCK, NEVER, PotentialOutcomes, block_generator, drawn
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate

MEANS = (5.0, 2.5)
HOUR = 3_600


@dataclass(frozen=True)
class Shop:
    """Two banners: half of the visitors buy for 10 euros, or one in twenty for 50."""

    problem = Problem(["socks", "coats"], reward_range=(0, 50))

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return drawn(lambda block: self._block(block_generator(seed, block)), start, stop)

    def _block(self, rng: np.random.Generator) -> PotentialOutcomes:
        bought = rng.random((BLOCK, 2)) < np.array([0.5, 0.05])
        return PotentialOutcomes(
            Contexts(np.zeros((BLOCK, 0))), np.tile(MEANS, (BLOCK, 1)), bought * np.array([10.0, 50.0])
        )


def worse_shares(learner: Any, fit_rows: FitRows) -> Floats:
    """Shares of visits that see the worse banner: between the first minutes and the hour, and after it."""
    environment = Delayed(
        Shop(), mean=60, distribution="geometric", missing=0.0, timeout=HOUR, fit_rows=fit_rows
    )
    trace = simulate(learner, environment, 6_000, 3, checkpoints=[300, HOUR, 4_500])
    return np.asarray(trace.regret_per_round / (MEANS[0] - MEANS[1]))[:, 1:]


@pytest.mark.parametrize("learner", [AdaptiveFalcon(), LinUCB()], ids=["adaptive", "linucb"])
def test_the_worse_banner_wins_only_where_fits_read_the_quick_ones_first(learner: Any) -> None:
    rewarded, final = worse_shares(learner, "rewarded"), worse_shares(learner, "final")
    assert np.all(rewarded[:, 0] > 0.95)
    # Without any outcome play is uniform: four standard errors of a share of 3,300 visits are 0.035.
    assert np.all(np.abs(final[:, 0] - 0.5) < 0.04)
    assert np.all(final[:, 2] < 0.05)


@dataclass(frozen=True)
class _Witness:
    """A learner that plays uniformly and keeps the rows of its fits."""

    fits: tuple[list[Log], ...]
    inner: Uniform

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        return self.inner.start(problem, log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        self.fits[0].append(log)
        return self.inner.next_epoch(epoch, log)


def fits(environment: Any, n_rounds: int = 1_000) -> list[Log]:
    seen: list[Log] = []
    simulate(_Witness((seen,), Uniform(schedule=FixedBatch(100))), environment, n_rounds)  # type: ignore[arg-type]
    return seen


def test_fits_read_whole_cohorts_once_and_in_order() -> None:
    environment = Delayed(Shop(), mean=20, distribution="geometric", missing=0.0, timeout=150)
    rows = [log.round.tolist() for log in fits(environment)]
    # After the round 100 k the rounds whose timeout has passed are those before 100 k - 150.
    assert [len(one) for one in rows] == [0, 50, *[100] * 7]
    assert list(chain(*rows)) == list(range(750))


def test_final_rows_wait_for_those_before_them_and_never_for_those_that_never_are() -> None:
    class SomeSooner(Shop):
        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes, rounds = super().draw(start, stop, seed), np.arange(start, stop)
            final = rounds + np.where(rounds % 7 == 0, 150, 0)
            final[rounds % 50 == 3] = NEVER
            return PotentialOutcomes(outcomes.contexts, outcomes.means, outcomes.rewards, None, final)

    rows = [log.round.tolist() for log in fits(SomeSooner())]
    assert rows[0] == []
    for number, log in enumerate(np.cumsum([len(one) for one in rows]).tolist(), start=1):
        first_open = next(r for r in range(0, 2_000, 7) if r + 150 >= 100 * number and r % 50 != 3)
        assert log == sum(r % 50 != 3 for r in range(first_open))
    assert list(chain(*rows)) == sorted(chain(*rows))


def test_final_rounds_may_differ_by_action() -> None:
    class ByAction(Shop):
        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes, rounds = super().draw(start, stop, seed), np.arange(start, stop)
            due = rounds[:, np.newaxis] + np.array([0, NEVER // 2])
            return PotentialOutcomes(outcomes.contexts, outcomes.means, outcomes.rewards, due)

    logs = fits(ByAction())
    assert sum(map(len, logs)) > 300
    assert all(np.all(log.action == 0) for log in logs)
