"""What is asked of the default learner where practitioners live: a number from results each, and its bar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from benchmarks.regret import measurements as measure
from benchmarks.regret.contestants import AUTO, BASELINE, CLASSES, LINEAR
from benchmarks.regret.measurements import Measured
from benchmarks.regret.practice import split
from benchmarks.regret.practice.contestants import HALF_LIVES
from benchmarks.regret.requirements import Requirement, Rule, Unit
from benchmarks.regret.standings import Table

RIVALS = (LINEAR, BASELINE)
SEEDS = 5
HALVES = {"captured": ("the whole run", -0.02), "captured_second_half": ("the second half", -0.01)}
_Measure = Callable[[Table], Measured | str]


def requirements(labels: Collection[str]) -> list[Requirement]:
    """Those that are about these environments alone."""
    shares = [_share(label, part) for label in labels if _is_captured(label) for part in HALVES]
    return [*shares, *(one for needed, one in _others(labels) if set(needed) <= set(labels))]


def _is_captured(label: str) -> bool:
    return label in split.ENVIRONMENTS and label not in split.NULLS


def _share(label: str, part: str) -> Requirement:
    text, bar = HALVES[part]
    measured = partial(measure.worst_against_best, name=AUTO, others=RIVALS, environments=(label,), part=part)
    return _required(
        f"{label}, {text}: auto less the better of linear and LinUCB",
        measured,
        "at least",
        bar,
        "points",
    )


def _required(text: str, measured: _Measure, rule: Rule, bar: float, unit: Unit) -> Requirement:
    return Requirement(text, measured, rule, bar, unit, n_seeds=SEEDS)


def _others(labels: Collection[str]) -> list[tuple[Sequence[str], Requirement]]:
    """Requirements with the environments that they are about."""
    return [*_mean_rewards(), *_paper(), *_real(), *_drifts(), *_times(labels)]


def _mean_rewards() -> list[tuple[Sequence[str], Requirement]]:
    low_rank, items = (split.LOW_RANK,), (split.ITEMS,)
    return [
        (
            low_rank,
            _required(
                f"{split.LOW_RANK}: mean reward of auto",
                partial(measure.mean, name=AUTO, environments=low_rank),
                "at least",
                0.80,
                "reward",
            ),
        ),
        (
            items,
            _required(
                f"{split.ITEMS}: share that auto captures",
                partial(measure.mean, name=AUTO, environments=items, part="captured"),
                "at least",
                0.75,
                "points",
            ),
        ),
        *(
            ((label,), _against_linucb(label, (label,), -0.005))
            for label in map(split.once_label, split.WATCHED)
        ),
    ]


def _against_linucb(text: str, labels: Sequence[str], bar: float) -> Requirement:
    measured = partial(measure.difference, name=AUTO, other=BASELINE, environments=labels)
    return _required(f"{text}: auto less LinUCB", measured, "at least", bar, "points")


def _paper() -> list[tuple[Sequence[str], Requirement]]:
    step, *appendix = split.PAPER
    late = partial(measure.mean, name=AUTO, environments=(step,), part="reward_last_quarter")
    total = partial(measure.mean, name=AUTO, environments=(step,), part="total_regret")
    return [
        ((step,), _required("Section 1.1, last quarter: auto", late, "at least", 0.747, "reward")),
        ((step,), _required("Section 1.1, regret in all: auto", total, "at most", 350.0, "regret")),
        *(
            (
                (label,),
                _required(
                    f"{label}: expected reward of auto less LinUCB",
                    partial(
                        measure.difference,
                        name=AUTO,
                        other=BASELINE,
                        environments=(label,),
                        part="less_best",
                    ),
                    "above",
                    0.0,
                    "difference",
                ),
            )
            for label in appendix
        ),
    ]


def _real() -> list[tuple[Sequence[str], Requirement]]:
    replayed, once = split.REAL, tuple(map(split.once_label, split.REAL))
    mean = partial(measure.mean, name=AUTO, environments=replayed)
    classes = partial(
        measure.worst_against_best,
        name=AUTO,
        others=CLASSES,
        environments=replayed,
        part="reward_second_half",
    )
    return [
        (replayed, _required("16 real sets: auto", mean, "at least", 0.903, "reward")),
        (once, _against_linucb("16 real sets, each row once", once, 0.06)),
        *(
            (
                labels,
                _required(
                    f"the worst of 16 real sets, {how}: auto less LinUCB",
                    partial(
                        measure.worst_against_best,
                        name=AUTO,
                        others=(BASELINE,),
                        environments=labels,
                        part="reward",
                    ),
                    "at least",
                    -0.005,
                    "points",
                ),
            )
            for how, labels in (("replayed", replayed), ("each row once", once))
        ),
        (
            replayed,
            _required(
                "the worst of 16 real sets, second half: auto less the best fixed class",
                classes,
                "at least",
                -0.005,
                "points",
            ),
        ),
    ]


def _drifts() -> list[tuple[Sequence[str], Requirement]]:
    """Points of reward, not of the share captured."""
    names = tuple(one.name for one in HALF_LIVES)
    return [
        (
            (label,),
            _required(
                f"{label}: expected reward of auto less that with the best fixed half-life",
                partial(
                    measure.worst_against_best,
                    name=AUTO,
                    others=names,
                    environments=(label,),
                    part="less_best",
                ),
                "at least",
                bar,
                "points",
            ),
        )
        for label, bar in (*((drift, -0.005) for drift in split.DRIFTS), (split.NO_DRIFT, -0.002))
    ]


def _times(labels: Collection[str]) -> list[tuple[Sequence[str], Requirement]]:
    nulls = tuple(label for label in labels if label in split.NULLS)
    others = tuple(label for label in labels if label not in split.NULLS)
    return [
        (
            chosen,
            _required(
                f"processor time, the worst of {what}: auto over linear",
                partial(measure.most_times_as_long, name=AUTO, other=LINEAR, environments=chosen),
                "at most",
                bar,
                "times",
            ),
        )
        for what, chosen, bar in (("these environments", others, 4.0), ("null problems", nulls, 1.5))
        if chosen
    ]
