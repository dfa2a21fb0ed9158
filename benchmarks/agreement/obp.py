"""Differences between our estimators and those of the Open Bandit Pipeline (obp) 0.5.7.

`make agreement` installs obp into an environment of its own and prints the table, and how many times as fast
ours are; the exit code is 1 if any value differs by more than 1e-10, or a limit of speed is missed. With
`--write` a small log and obp's answers are written as JSON, which `make test` compares without obp. Where
definitions differ:

* obp has an axis of positions; here a log has one row for each position, and the tables of that position.
* obp's contributions of self-normalised estimators are w r / mean(w), whose mean is the value as ours; ours
  are the value plus each row's influence, so that values are compared, and contributions elsewhere.
* obp's self-normalised MIPW multiplies the marginal probabilities of an embedding's parts, and its MIPW
  those given the action, as ours does; the two agree where an embedding has one part, which is compared.
* Where a weight is 0, obp divides 0 by 0 for the limits `lambda_ = 0` of DRos and `lambda_ = 1` of
  sub-Gaussian weights; ours are 0 there.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import evaluation
from benchmarks.agreement.logs import SlateLog, random_log
from benchmarks.rows import Row, Verdict, measured
from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats

TOLERANCE = 1e-10
N_PAIRS = 15
SHAPES = [(1, 2, 1), (7, 2, 1), (50, 5, 1), (1_000, 10, 3), (200, 50, 2), (20_000, 4, 1)]
SETTINGS = {"switch": (0.0, 0.7, 2.0, np.inf), "shrunk": (0.1, 3.0, np.inf), "sub-Gaussian": (0.0, 0.05, 0.5)}


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours and theirs, each a function of a log that gives one number for each row."""

    name: str
    ours: Callable[[SlateLog], Floats]
    theirs: Callable[[SlateLog], Floats]
    mean_only: bool = False

    def difference(self, log: SlateLog) -> float:
        """The largest difference of values, and of contributions where they mean the same."""
        ours, theirs = self.ours(log), self.theirs(log)
        values = abs(ours.mean() - theirs.mean())
        return float(values if self.mean_only else max(values, np.abs(ours - theirs).max()))


def pairs() -> list[Pair]:
    from obp import ope

    plain = [
        Pair("IPW", _weighted(ev.inverse_propensity), _theirs(ope.InverseProbabilityWeighting())),
        Pair(
            "IPW, weights up to 1.5",
            _weighted(ev.clipped_inverse_propensity, max_weight=1.5),
            _theirs(ope.InverseProbabilityWeighting(lambda_=1.5)),
        ),
        Pair(
            "SNIPW",
            _weighted(ev.self_normalised_inverse_propensity),
            _theirs(ope.SelfNormalizedInverseProbabilityWeighting()),
            mean_only=True,
        ),
        Pair("DM", _direct, _theirs(ope.DirectMethod())),
        Pair("DR", _assisted(ev.doubly_robust), _theirs(ope.DoublyRobust())),
        Pair(
            "SNDR",
            _assisted(ev.self_normalised_doubly_robust),
            _theirs(ope.SelfNormalizedDoublyRobust()),
            mean_only=True,
        ),
        Pair("MIPW, known embeddings", _marginalised, _theirs_marginalised),
        Pair("SNMIPW, one part", _marginalised_ratio, _theirs_marginalised_ratio, mean_only=True),
    ]
    return [*plain, *_switching(ope), *_shrinking(ope)]


def _switching(ope: Any) -> list[Pair]:
    theirs = ope.SwitchDoublyRobust
    ours = ev.switch_doubly_robust
    return [
        Pair(f"SwitchDR {most}", _assisted(ours, max_weight=most), _theirs(theirs(lambda_=most)))
        for most in SETTINGS["switch"]
    ]


def _shrinking(ope: Any) -> list[Pair]:
    rows = [
        Pair(
            f"DRos {value}",
            _assisted(ev.shrunk_doubly_robust, shrinkage=value),
            _theirs(ope.DoublyRobustWithShrinkage(lambda_=value)),
        )
        for value in SETTINGS["shrunk"]
    ]
    for value in SETTINGS["sub-Gaussian"]:
        ips = ope.SubGaussianInverseProbabilityWeighting(lambda_=value)
        dr = ope.SubGaussianDoublyRobust(lambda_=value)
        ours = ev.sub_gaussian_inverse_propensity, ev.sub_gaussian_doubly_robust
        rows.append(Pair(f"SGIPW {value}", _weighted(ours[0], shrinkage=value), _theirs(ips)))
        rows.append(Pair(f"SGDR {value}", _assisted(ours[1], shrinkage=value), _theirs(dr)))
    return rows


def _weighted(estimator: Callable[..., ev.Estimate], **settings: float) -> Callable[[SlateLog], Floats]:
    return lambda log: estimator(*_logged(log), **settings).contributions


def _assisted(estimator: Callable[..., ev.Estimate], **settings: float) -> Callable[[SlateLog], Floats]:
    return lambda log: estimator(*_logged(log), log.predictions[log.rows], **settings).contributions


def _logged(log: SlateLog) -> tuple[Floats, Any, Floats, Floats]:
    return log.rewards, log.actions, log.propensities, log.own_target


def _direct(log: SlateLog) -> Floats:
    return ev.direct_method(log.own_target, log.predictions[log.rows]).contributions


def _marginalised(log: SlateLog) -> Floats:
    return _marginal(log, self_normalised=False)


def _marginalised_ratio(log: SlateLog) -> Floats:
    return _marginal(log.with_one_part, self_normalised=True)


def _marginal(log: SlateLog, *, self_normalised: bool) -> Floats:
    likelihoods = ev.embedding_likelihoods(log.embedding, log.embedding_probabilities)
    return ev.marginalised_inverse_propensity(
        log.rewards,
        log.distribution[log.rows],
        log.own_target,
        likelihoods,
        self_normalised=self_normalised,
    ).contributions


def _theirs(estimator: Any) -> Callable[[SlateLog], Floats]:
    def contributions(log: SlateLog) -> Floats:
        arguments = {
            "reward": log.rewards,
            "action": log.actions,
            "position": log.position,
            "pscore": log.propensities,
            "action_dist": log.target,
            "estimated_rewards_by_reg_model": log.predictions,
        }
        rows = estimator._estimate_round_rewards(**arguments)
        value = estimator.estimate_policy_value(**arguments)
        return np.asarray(rows + (value - rows.mean()))

    return contributions


def _theirs_marginalised(log: SlateLog) -> Floats:
    from obp.ope import MarginalizedInverseProbabilityWeighting

    return _their_marginal(log, MarginalizedInverseProbabilityWeighting(log.target.shape[1]))


def _theirs_marginalised_ratio(log: SlateLog) -> Floats:
    from obp.ope import SelfNormalizedMarginalizedInverseProbabilityWeighting

    estimator = SelfNormalizedMarginalizedInverseProbabilityWeighting(log.target.shape[1])
    return _their_marginal(log.with_one_part, estimator)


def _their_marginal(log: SlateLog, estimator: Any) -> Floats:
    rows = estimator._estimate_round_rewards(
        context=None,
        reward=log.rewards,
        action=log.actions,
        action_embed=log.embedding,
        pi_b=log.distribution,
        action_dist=log.target,
        position=log.position,
        p_e_a=log.embedding_probabilities,
    )
    return np.asarray(rows)


def differences() -> dict[str, float]:
    """The largest difference over all logs, by estimator."""
    logs = [random_log(seed, *shape) for seed, shape in enumerate(SHAPES)]
    return {pair.name: max(pair.difference(log) for log in logs) for pair in pairs()}


def fast_enough(row: Row) -> bool:
    """Whether a row of `make bench` against obp is within its limit; it is measured and printed."""
    outcome = measured(row, N_PAIRS, lambda: None)
    times = "-" if outcome.spread is None else f"{outcome.spread.median:.1f}x"
    print(f"  {row.key:28} {times}, limit {row.limit}x: {outcome.verdict.value} {outcome.note}")
    return outcome.verdict is Verdict.PASS


def write(path: Path) -> None:
    """A small log and the values of obp."""
    log = random_log(5, 12, 4, 1)
    arrays = {name: values.tolist() for name, values in asdict(log).items()}
    document = {"log": arrays, "values": {pair.name: float(pair.theirs(log).mean()) for pair in pairs()}}
    path.write_text(json.dumps(document, indent=1) + "\n")


def main(arguments: list[str] | None = None) -> int:
    warnings.simplefilter("ignore")  # those of obp, which is older than the libraries that it imports
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.obp", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PATH", help="write a log and obp's values as JSON")
    options = parser.parse_args(arguments)
    if options.write:
        write(options.write)
        return 0
    found = differences()
    shapes = ", ".join(f"{n:,} x {actions} x {positions}" for n, actions, positions in SHAPES)
    print(f"Largest difference to obp 0.5.7 on logs of {shapes} rows, actions and positions")
    for name, difference in found.items():
        print(f"  {name:28} {difference:.1e}{'' if difference <= TOLERANCE else '  FAIL'}")
    agree = all(difference <= TOLERANCE for difference in found.values())
    return int(not all((agree, *map(fast_enough, evaluation.OBP_ROWS))))


if __name__ == "__main__":
    sys.exit(main())
