"""Logs of learners in environments whose truth is known, and what six target policies are worth by them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.synthetic.families import LinearEnvironment, SinusoidEnvironment
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS
from gyrfalcon.evaluation.intervals.by_name import INTERVALS as METHODS
from gyrfalcon.evaluation.intervals.by_name import interval_estimate
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.policies.target_policies import target_policy
from gyrfalcon.evaluation.policies.targets import TargetPolicy
from gyrfalcon.evaluation.predictions.past_rows import past_predictions
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.weighting import epochs_of
from gyrfalcon.evaluation.study import Study, Valued
from gyrfalcon.evaluation.verdict.preflight import log_reasons
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.logs import read_log, stored_policies
from gyrfalcon.simulation.replications import simulate

KnownEnvironment = StepExample | LinearEnvironment
ENVIRONMENTS: dict[str, KnownEnvironment] = {
    "section 1.1": StepExample(),
    "linear": LinearEnvironment(noise="bernoulli"),
    "sinusoid": SinusoidEnvironment(noise="bernoulli"),
}
LEARNERS: dict[str, Learner] = {"default": AdaptiveFalcon(), "calibrated": EpsilonFalcon()}
"""`AdaptiveFalcon` is the default of `Bandit`; "calibrated" is Algorithm 1, whose slack is calibrated."""
LENGTHS: dict[str, tuple[int, ...]] = {"default": (1_000, 10_000), "calibrated": (10_000,)}
REWARD_RANGE = (-0.75, 1.75)
"""Holds Gaussian rewards of Section 1.1 up to 7.5 standard deviations; one of 10 million is beyond 5."""
_EXACT = 1_000_000
"""Contexts by which values are known, up to 0.0005."""
_FAR = 10**7
"""Where the rounds of these contexts begin."""
BY_METHOD = ("minvar", "minvar_expected", "stablevar", "normal")
INTERVALS = (*BY_METHOD, "ips", "snips", "passive rows")


Judged: TypeAlias = tuple[str, tuple[str, ...], dict[str, tuple[float, float]], tuple[float, float]]
"""The last fields of `Found`."""


@dataclass(frozen=True, slots=True)
class Found:
    """One target policy on one log: its truth, its intervals, and the verdict."""

    learner: str
    environment: str
    n_rounds: int
    run: int
    target: str
    truth: float
    verdict: str
    checks: tuple[str, ...]
    """Names of the checks that object."""
    intervals: Mapping[str, tuple[float, float]]
    """95% intervals by name."""
    sequence: tuple[float, float]
    """Last bounds of the betting sequence; a value they hold was never refused."""

    def is_held(self, interval: str) -> bool:
        low, high = self.intervals[interval]
        return low <= self.truth <= high

    @property
    def is_held_at_all_times(self) -> bool:
        return self.sequence[0] <= self.truth <= self.sequence[1]

    @property
    def is_bad_miss(self) -> bool:
        """Whether the naive interval misses by more than its width."""
        return self.miss("normal") > 1.0

    def miss(self, interval: str) -> float:
        """Distance of the truth to an interval, in widths; 0 inside."""
        low, high = self.intervals[interval]
        distance = max(low - self.truth, self.truth - high, 0.0)
        return distance / (high - low) if high > low else (np.inf if distance else 0.0)


def targets(environment: KnownEnvironment) -> dict[str, Callable[[Floats], Floats]]:
    """Target policies by name: probabilities (n, K) from features (n, p)."""
    k = environment.problem.n_actions

    def one_of(choose: Callable[[Floats], object]) -> Callable[[Floats], Floats]:
        return lambda x: np.eye(k)[np.broadcast_to(np.asarray(choose(x)), len(x))]

    def means(x: Floats) -> Floats:
        return environment.means(x[:, 0] if isinstance(environment, StepExample) else x)

    middle = 0.5 if isinstance(environment, StepExample) else 0.0
    return {
        "first": one_of(lambda _: 0),
        "last": one_of(lambda _: k - 1),
        "uniform": lambda x: np.full((len(x), k), 1.0 / k),
        "best": one_of(lambda x: means(x).argmax(axis=1)),
        "worst": one_of(lambda x: means(x).argmin(axis=1)),
        "by a feature": one_of(lambda x: np.where(x[:, 0] > middle + 0.2, 0, k - 1)),
    }


@cache
def truths(name: str) -> dict[str, float]:
    """Values of the targets in an environment."""
    environment = ENVIRONMENTS[name]
    fresh = environment.draw(_FAR, _FAR + _EXACT, 0)
    return {
        target: float((policy(fresh.contexts.shared) * fresh.means).sum(axis=1).mean())
        for target, policy in targets(environment).items()
    }


def evaluated(learner: str, name: str, run: int, lengths: Sequence[int]) -> list[Found]:
    """The six targets on one log, after each of these numbers of rounds."""
    environment = ENVIRONMENTS[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "log"
        simulate(LEARNERS[learner], environment, max(lengths), seed=run, keep_log=place)
        whole = read_log(place)
        logged: Mapping[Any, TargetPolicy] = stored_policies(place)
        rules = targets(environment)
        policies = {target: _on_table(rule) for target, rule in rules.items()}
        found = []
        for n in lengths:
            for target, judged in _valued(whole.take(slice(0, n)), policies, logged):
                found.append(Found(learner, name, n, run, target, truths(name)[target], *judged))
    return found


def _on_table(rule: Callable[[Floats], Floats]) -> Callable[[DecisionTable], Floats]:
    return lambda table: rule(table.contexts.shared)


def _valued(
    table: DecisionTable, policies: Mapping[str, object], logged: Mapping[Any, TargetPolicy]
) -> Iterator[tuple[str, Judged]]:
    """What is found of each target on a log."""
    study = _evaluation(table, logged)
    about_log = log_reasons(study.rows, estimated=False, bounds=REWARD_RANGE, adaptive=study.is_adaptive)
    reasons = (*about_log, *study.method_reasons())
    for name, policy in policies.items():
        valued = study.valued(target_policy(policy), name)
        made = study.result(name, valued, None, reasons)
        intervals = {way: interval_estimate(METHODS[way], valued.inputs).interval for way in BY_METHOD}
        intervals |= _of_other_rows_and_weights(study, valued)
        sequence = valued.sequence
        assert sequence is not None
        nothing_left = sequence.empty_from is not None
        yield (
            name,
            (
                made.verdict.level,
                tuple(sorted({reason.check for reason in made.verdict.objections})),
                {way: (one.low, one.high) for way, one in intervals.items()},
                (np.nan, np.nan) if nothing_left else (sequence.last.low, sequence.last.high),
            ),
        )


def _evaluation(table: DecisionTable, logged: Mapping[Any, TargetPolicy]) -> Study:
    """What `evaluate` sets up, so that all intervals come from one computation of weights."""
    rows = evaluated_rows(table)
    predictions = past_predictions(rows.table)[1:]
    rows = rows.without_first()
    return Study(
        given=table,
        rows=rows,
        epochs=epochs_of(rows),
        bounds=REWARD_RANGE,
        estimator=ESTIMATORS["dr"],
        interval=METHODS["minvar"],
        level=0.95,
        predictions=predictions,
        max_weight=None,
        shrinkage=None,
        logged_policies=logged,
    )


def _of_other_rows_and_weights(study: Study, valued: Valued) -> dict[str, Interval]:
    """Intervals by weights alone, and of rows of uniform play alone."""
    table, weights = study.rows.table, valued.weights.weights
    ips = weights * table.reward
    ratio = ips.sum() / weights.sum() if weights.any() else 0.0
    even = np.asarray(table.passive, dtype=bool)
    target, chosen = valued.weights.target, (np.arange(len(table)), table.action)
    assert study.predictions is not None
    # Given that a row is passive, its action is uniform, whatever the propensity of both outcomes together.
    uniform = (target * study.predictions).sum(axis=1)
    uniform += target[chosen] * table.n_actions * (table.reward - study.predictions[chosen])
    return {
        "ips": normal_interval(ips),
        "snips": normal_interval(ratio + weights * (table.reward - ratio)),
        "passive rows": normal_interval(uniform[even]) if even.sum() > 1 else _everything(),
    }


def _everything() -> Interval:
    return Interval(-np.inf, np.inf, 0.95, "none")


def study(
    runs: Iterable[int],
    *,
    learners: Sequence[str] = tuple(LEARNERS),
    environments: Sequence[str] = tuple(ENVIRONMENTS),
    lengths: Sequence[int] | None = None,
    n_jobs: int = -1,
) -> Iterator[Found]:
    """All targets on the logs of these runs, in parallel processes, as they are found."""
    cells = [
        (learner, name, run, [n for n in LENGTHS[learner] if lengths is None or n in lengths])
        for run in runs
        for learner in learners
        for name in environments
    ]
    made = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=4)(
        delayed(evaluated)(*cell) for cell in cells if cell[-1]
    )
    console = Console(stderr=True)
    for log in track(made, "logs", total=len(cells), console=console, transient=True):
        yield from log
