"""Audit of a decision log: every decision computed again from its stored policy, bit for bit."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.bandit.audit_findings import (
    ONLY_PROBABILITIES,
    Findings,
    NotRecomputableError,
    stored_rule,
)
from gyrfalcon.bandit.audit_report import AuditReport, Difference
from gyrfalcon.bandit.audit_simulated import audit_simulated
from gyrfalcon.bandit.decision_rules import DecisionRule
from gyrfalcon.bandit.silence import without_silent
from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import action_probabilities, decide
from gyrfalcon.core.records import phase_of
from gyrfalcon.core.sampling import uniforms_of_events
from gyrfalcon.logs.lines.rows import LoggedDecisions, Row
from gyrfalcon.logs.reading import rows_of_folder
from gyrfalcon.logs.simulated import simulated_files

_ROWS = 4096
"""Decisions that are computed at a time: rows have the same bits in any batch."""
_ROUNDING = 1e-9


def audit_decision_log(
    folder: str | os.PathLike[str], seed: int | None = None, classes: Iterable[type] = ()
) -> AuditReport:
    """Compute every logged decision again, and say where the log does not agree.

    The probabilities of all actions follow from context, eligible actions and the stored policy, whose
    content hash the decision names; the action follows from these, seed and event id, or the random streams
    of a simulation. Both are compared bit for bit, which needs the machine's numerics to be those of the
    bandit's: see `fingerprint`.

    Parameters
    ----------
    folder
        The folder that was given as `Bandit(log=...)` or `simulate(..., keep_log=...)`.
    seed
        Seed of the bandit, where its log does not have it: see `LogFolder`.
    classes
        Dataclasses of your own that policies hold, as for `LogFolder`.

    Raises
    ------
    ValueError, ImportError
        If there is no log, or it can't be read.

    Examples
    --------
    >>> import tempfile
    >>> from gyrfalcon import Bandit
    >>> folder = tempfile.mkdtemp()
    >>> bandit = Bandit(["red", "blue"], seed=1, log=folder)
    >>> event_id = bandit.decide().event_id
    >>> audit_decision_log(folder)
    AuditReport(1 decision, 1 equal, 0 different; passed)
    """
    path, own, found = Path(folder), tuple(classes), Findings()
    simulated = simulated_files(path)
    log = rows_of_folder(path, skipped=simulated)
    _audit_rows(path, log, seed, own, found)
    audit_simulated(path, simulated, own, found)
    return AuditReport(
        n_decisions=found.n_decisions,
        n_equal=found.n_equal,
        differences=tuple(found.differences),
        not_recomputable=dict(found.reasons),
        missing_policies=tuple(sorted(found.missing)),
        altered_policies=tuple(sorted(found.altered)),
        duplicates=(*log.duplicates, *found.duplicates),
        wrong_sums=tuple(found.wrong_sums),
        out_of_range=tuple(found.out_of_range),
        misfits=tuple(found.misfits),
        n_cut_off=log.n_cut_off,
        n_unknown=log.n_unknown,
    )


def _audit_rows(
    folder: Path, log: LoggedDecisions, seed: int | None, classes: tuple[type, ...], found: Findings
) -> None:
    """Compute the decisions of live bandits again."""
    found.n_decisions += len(log)
    found.wrong_sums += [row["event_id"] for row in log.rows if not _sums_to_1(row)]
    by_model: defaultdict[str | None, list[Row]] = defaultdict(list)
    for row in log.rows:
        by_model[row["model"]].append(row)
    for model, rows in by_model.items():
        try:
            rule = stored_rule(folder, model, classes, found)
        except NotRecomputableError as reason:
            found.reasons[str(reason)] += len(rows)
            continue
        found.out_of_range += _out_of_range(rule, rows)
        for batch in _batches(rows):
            _audit(rule, batch, seed, found)


def _batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Decisions that one call computes: with the same silent actions, and features of actions or none."""
    alike: defaultdict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        alike[str(row["silent"]), row["seed"], row["action_features"] is None].append(row)
    for batch in alike.values():
        rest = iter(batch)
        while part := list(islice(rest, _ROWS)):
            yield part


def _audit(rule: DecisionRule, rows: list[Row], seed: int | None, found: Findings) -> None:
    fits = [_fits(rule, row) for row in rows]
    found.misfits += [row["event_id"] for row, fit in zip(rows, fits, strict=True) if not fit]
    fitting = [row for row, fit in zip(rows, fits, strict=True) if fit]
    if not fitting:
        return
    if seed is None and fitting[0]["seed"] is not None:
        seed = int(fitting[0]["seed"])
    if seed is None:
        found.reasons[ONLY_PROBABILITIES] += len(fitting)
    computed = _computed(rule, fitting, seed)
    for row, values in zip(fitting, computed, strict=True):
        differences = [
            Difference(row["event_id"], name, row[name], value)
            for name, value in values.items()
            if row[name] != value
        ]
        found.differences += differences
        found.n_equal += not differences and seed is not None


def _computed(rule: DecisionRule, rows: list[Row], seed: int | None) -> list[dict[str, Any]]:
    """What the policy gives for these decisions: distribution, propensity, action and phase."""
    contexts = _contexts(rule, rows)
    silent = rows[0]["silent"]
    epoch = without_silent(rule.epoch, None if silent is None else _mask(rule, silent))
    rounds = np.array([row["epoch_round"] for row in rows], dtype=np.int64)
    shares = action_probabilities(epoch, rounds, contexts).tolist()
    places = {label: place for place, label in enumerate(rule.actions)}
    made: list[dict[str, Any]] = [
        {
            "distribution": [share[places[label]] for label in row["eligible"]],
            "propensity": share[places[row["action"]]],
        }
        for row, share in zip(rows, shares, strict=True)
    ]
    if seed is not None:
        drawn = decide(epoch, rounds, contexts, uniforms_of_events(seed, [row["event_id"] for row in rows]))
        for values, action, component, share in zip(
            made, drawn.action.tolist(), drawn.component.tolist(), shares, strict=True
        ):
            values["action"], values["propensity"] = rule.actions[action], share[action]
            values["phase"] = phase_of(component)
    return made


def _contexts(rule: DecisionRule, rows: list[Row]) -> Contexts:
    shared = np.array([[row["context"][name] for name in rule.features] for row in rows], dtype=np.float64)
    eligible = np.stack([_mask(rule, row["eligible"]) for row in rows])
    cube = None
    if rows[0]["action_features"] is not None:
        cube = np.zeros((*eligible.shape, len(rule.action_features)))
        for place, row in enumerate(rows):
            cells = [[cell[name] for name in rule.action_features] for cell in row["action_features"]]
            cube[place, eligible[place]] = cells
    shape = (len(rows), len(rule.features))
    return Contexts(shared.reshape(shape), cube, None if eligible.all() else eligible)


def _mask(rule: DecisionRule, labels: list[Any]) -> Bools:
    named = set(labels)
    return np.array([label in named for label in rule.actions], dtype=np.bool_)


def _fits(rule: DecisionRule, row: Row) -> bool:
    """Whether a decision has the features and actions of its policy, and numbers where they must be."""
    features, labels = row["action_features"], [*row["eligible"], *(row["silent"] or [])]
    numbers = [*row["context"].values(), row["epoch_round"], *(row["distribution"] or [None])]
    return (
        set(row["context"]) == set(rule.features)
        and all(label in rule.actions for label in labels)
        and row["action"] in row["eligible"]
        and (features is None) == (not rule.action_features)
        and all(set(cell) == set(rule.action_features) for cell in features or [])
        and all(isinstance(value, int | float) for value in numbers)
    )


def _sums_to_1(row: Row) -> bool:
    shares = row["distribution"]
    return not shares or (abs(sum(shares) - 1.0) <= _ROUNDING and min(shares) >= 0.0)


def _out_of_range(rule: DecisionRule, rows: Iterable[Row]) -> list[str]:
    if rule.reward_range is None:
        return []
    low, high = rule.reward_range
    return [row["event_id"] for row in rows if row["reward"] is not None and not low <= row["reward"] <= high]
