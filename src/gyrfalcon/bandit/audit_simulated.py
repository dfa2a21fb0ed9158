"""Audit of the logs of simulations: rounds are computed again as arrays, with the uniforms of their seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.bandit.audit_findings import (
    ONLY_PROBABILITIES,
    Findings,
    NotRecomputableError,
    stored_rule,
)
from gyrfalcon.bandit.audit_report import Difference
from gyrfalcon.bandit.decision_rules import DecisionRule
from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.epochs import action_probabilities, decide
from gyrfalcon.core.records import CONTROL
from gyrfalcon.core.simulated_uniforms import needs_coins, uniforms_again
from gyrfalcon.frames import phase_column
from gyrfalcon.logs.parquet.reader import LogReader
from gyrfalcon.logs.parquet.schema import LogSchema

_ROWS = 2**14
_ROUNDING = 1e-9
_FURTHER = ("epoch_round", "seed", "phase")
_NEEDED = frozenset(("event_id", "experiment", "model", "epoch", "round", "passive", "distribution"))
_OF_REPLAY = "a replay of a log drew their actions, so that only their probabilities were compared"
_GAPS = "rounds before them are missing, so that only their probabilities were compared"


@dataclass
class _Replication:
    """How far the audit has come in one replication, and how many rounds drew coins; None if unknown."""

    next_round: int = 0
    n_coined: int | None = 0

    def advanced_to(self, rounds: Ints) -> Bools:
        """Go on to the end of these rounds, and say which of them were there before."""
        repeated = rounds < self.next_round
        repeated[1:] |= np.diff(rounds) <= 0
        if rounds[0] != self.next_round or (np.diff(rounds) != 1).any():
            self.n_coined = None
        self.next_round = max(self.next_round, int(rounds.max()) + 1)
        return repeated


@dataclass
class _Audit:
    """State of the audit of all files of simulations in a folder."""

    folder: Path
    classes: tuple[type, ...]
    found: Findings
    replications: dict[str, _Replication] = field(default_factory=dict)
    latest: tuple[str | None, DecisionRule | NotRecomputableError | None] = (None, None)

    def rule(self, model: str | None) -> DecisionRule:
        """The rule of this content hash, read once for adjacent rows."""
        known, rule = self.latest
        if rule is None or known != model:
            try:
                rule = stored_rule(self.folder, model, self.classes, self.found)
            except NotRecomputableError as reason:
                rule = reason
            self.latest = (model, rule)
        if isinstance(rule, NotRecomputableError):
            raise rule
        return rule


def audit_simulated(folder: Path, files: Iterable[Path], classes: tuple[type, ...], found: Findings) -> None:
    """Compute all rounds in files of simulations again, and add what does not agree to the findings."""
    audit = _Audit(folder, classes, found)
    for file in files:
        reader = LogReader(file)
        schema = reader.schema
        lacking = sorted(_NEEDED.difference(reader.columns))
        if lacking:
            raise ValueError(f"{file} is damaged: it has no column {lacking[0]!r}; take its last good copy.")
        for table, further in reader.tables_with(_FURTHER, _ROWS):
            found.n_decisions += len(table)
            found.wrong_sums += _ids(table, _wrong_sums(table))
            for rows in _stretches(table):
                _audit_stretch(audit, schema, table.take(rows), {k: v[rows] for k, v in further.items()})


def _stretches(table: DecisionTable) -> Iterator[slice]:
    """Adjacent rows of one replication and one policy."""
    assert table.experiment is not None
    assert table.model is not None
    assert table.epoch is not None
    changes = (table.experiment[1:] != table.experiment[:-1]) | (table.model[1:] != table.model[:-1])
    cuts = np.flatnonzero(changes | (table.epoch[1:] != table.epoch[:-1])) + 1
    edges = [0, *cuts.tolist(), len(table)]
    yield from (slice(first, last) for first, last in pairwise(edges) if last > first)


def _audit_stretch(audit: _Audit, schema: LogSchema, table: DecisionTable, further: dict[str, Any]) -> None:
    """Audit adjacent rows of one replication and one policy."""
    found = audit.found
    assert table.experiment is not None
    assert table.model is not None
    assert table.round is not None
    replication = audit.replications.setdefault(table.experiment[0], _Replication())
    repeated = replication.advanced_to(table.round)
    found.duplicates += _ids(table, repeated)
    try:
        rule = audit.rule(table.model[0])
    except NotRecomputableError as error:
        found.reasons[str(error)] += len(table)
        replication.n_coined = None
        return
    has_coins = needs_coins(rule.epoch)
    n_coined = replication.n_coined if has_coins else None
    if has_coins and n_coined is not None:
        replication.n_coined = n_coined + len(table)
    found.out_of_range += _ids(table, _out_of_range(rule, table.reward))
    fits = _fits(rule, schema, table, further["epoch_round"])
    found.misfits += _ids(table, ~fits)
    if not fits.any():
        return
    seed = further["seed"][0]
    reason = _why_not_drawn(schema, seed, bool(repeated.any()) or (has_coins and n_coined is None))
    if reason is None:
        uniforms = uniforms_again(int(seed), table.round, n_coined)[fits]
    else:
        uniforms = None
        found.reasons[reason] += int(fits.sum())
    own = {name: column[fits] for name, column in further.items()}
    _compare(rule, table.take(fits), own, uniforms, found)


def _why_not_drawn(schema: LogSchema, seed: Any, has_gaps: bool) -> str | None:
    """Why actions can't be drawn again; None if they can be."""
    if schema.uniforms != "simulation":
        return _OF_REPLAY
    if not (isinstance(seed, str) and seed.isdecimal()):
        return ONLY_PROBABILITIES
    return _GAPS if has_gaps else None


def _compare(
    rule: DecisionRule,
    table: DecisionTable,
    further: dict[str, Any],
    uniforms: Floats | None,
    found: Findings,
) -> None:
    """Compare rows with what the rule gives, bit for bit."""
    rounds = further["epoch_round"]
    shares = action_probabilities(rule.epoch, rounds, table.contexts)
    rows = np.arange(len(table))
    assert table.distribution is not None
    computed: dict[str, tuple[Any, Any]] = {
        "distribution": (table.distribution, shares),
        "propensity": (table.propensity, shares[rows, table.action]),
    }
    if uniforms is not None:
        drawn = decide(rule.epoch, rounds, table.contexts, uniforms)
        labels = np.fromiter(rule.actions, dtype=object, count=len(rule.actions))
        computed["action"] = labels[table.action], labels[drawn.action]
        computed["propensity"] = table.propensity, shares[rows, drawn.action]
        passive, control = (drawn.component & 1).astype(np.bool_), drawn.component == CONTROL
        computed["phase"] = further["phase"], phase_column(passive, control)
    different = np.zeros(len(table), dtype=np.bool_)
    for name, (logged, again) in computed.items():
        unequal = logged != again
        unequal = unequal.any(axis=1) if unequal.ndim == 2 else unequal
        different |= unequal
        for row in np.flatnonzero(unequal).tolist():
            (event_id,) = _ids(table, rows == row)
            found.differences.append(Difference(event_id, name, _plain(logged[row]), _plain(again[row])))
    found.n_equal += int((~different).sum()) if uniforms is not None else 0


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _fits(rule: DecisionRule, schema: LogSchema, table: DecisionTable, rounds: Ints) -> Bools:
    """Which rows have the features and actions of their policy, and a logged action among the eligible."""
    same = (rule.actions, rule.features, rule.action_features) == (
        *(schema.actions, schema.features, schema.action_features),
    )
    if not same or table.distribution is None:
        return np.zeros(len(table), dtype=np.bool_)
    known = (table.action >= 0) & (rounds >= 0) & ~np.isnan(table.distribution).any(axis=1)
    return np.asarray(known & table.eligible[np.arange(len(table)), table.action])


def _wrong_sums(table: DecisionTable) -> Bools:
    shares = table.distribution
    if shares is None:
        return np.zeros(len(table), dtype=np.bool_)
    return np.asarray((np.abs(shares.sum(axis=1) - 1.0) > _ROUNDING) | (shares < 0.0).any(axis=1))


def _out_of_range(rule: DecisionRule, rewards: Floats) -> Bools:
    if rule.reward_range is None:
        return np.zeros(len(rewards), dtype=np.bool_)
    low, high = rule.reward_range
    return np.asarray((rewards < low) | (rewards > high))


def _ids(table: DecisionTable, mask: Bools) -> list[str]:
    return [] if table.event_id is None else [str(one) for one in table.event_id[mask]]
