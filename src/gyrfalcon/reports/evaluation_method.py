"""Method of an evaluation, for who checks it: formulas, settings, row counts, hash of the log, versions."""

from __future__ import annotations

import hashlib

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS
from gyrfalcon.evaluation.evaluation import Evaluation
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.reports.formulas import BETTING_SEQUENCE, MODEL, OF_ESTIMATORS, OF_INTERVALS, WEIGHT
from gyrfalcon.reports.page import Section, Table, literal


def content_hash(table: DecisionTable) -> str:
    """SHA-256 of the columns that values depend on, so that a report can be matched with its log."""
    texts = (table.actions, table.features, table.action_features, table.cost, table.reward_range)
    digest = hashlib.sha256(repr(texts).encode())
    contexts, model = table.contexts, table.model
    columns = (
        *(table.action, table.reward, table.propensity, table.distribution),
        *(contexts.shared, contexts.actions, contexts.eligible),
        *(table.time, table.epoch, table.passive),
        *(table.defaulted, table.late, table.overridden, table.shadow),
    )
    for column in columns:
        digest.update(b"-" if column is None else column.tobytes())
    digest.update(b"-" if model is None else repr(model.tolist()).encode())
    return digest.hexdigest()


def method_section(table: DecisionTable, evaluation: Evaluation) -> Section:
    """Formulas with their sources, settings, counts of rows, a hash of the log, and versions."""
    settings, machine = evaluation.settings, fingerprint()
    estimator, interval = ESTIMATORS[settings["estimator"]], INTERVALS[settings["interval"]]
    notes = [policy.sequence_note for policy in evaluation.policies if policy.sequence_note]
    cautions = [text for text in (estimator.caution, interval.caution) if text]
    bounds = settings["reward_range"]
    rows: list[tuple[str, str]] = [
        ("estimator", estimator.title),
        ("interval", f"{interval.title}, level {settings['level']}"),
        ("model class", str(settings["model_class"])),
        ("marginalised over", literal(str(settings["marginalise"] or "nothing"))),
        ("reward unit", literal(evaluation.reward_unit or "that of the log")),
        ("reward range", "unknown" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"),
        ("logged decisions", f"{evaluation.n_given:,}"),
        ("rows used", f"{evaluation.n_rows:,}"),
        ("log", literal(evaluation.source or "a table")),
        *((f"set aside: {reason}", f"{count:,}") for reason, count in evaluation.set_aside.items()),
        ("log, SHA-256 of its columns", f"<code>{content_hash(table)}</code>"),
        *((name, _version(value)) for name, value in machine.to_dict().items()),
    ]
    return Section(
        "Method",
        [
            f"{WEIGHT} {MODEL}" if estimator.needs_model else WEIGHT,
            OF_ESTIMATORS[settings["estimator"]],
            OF_INTERVALS[settings["interval"]],
            BETTING_SEQUENCE,
            *cautions,
            *dict.fromkeys(notes),
        ],
        table=Table(("setting", "value"), rows),
    )


def _version(value: object) -> str:
    """A version, or those of several libraries, one sentence each."""
    if not isinstance(value, list):
        return str(value)
    return " ".join(f"{one['name']} {one['version']} ({one['kernel']}) in {one['used_by']}." for one in value)
