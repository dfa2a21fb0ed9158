"""Decisions of an engine: validated contexts, exact propensities, and one record for each event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.event_table import Event
from gyrfalcon.bandit.identity import listed_ids, stored_text_of
from gyrfalcon.bandit.journal import Decided
from gyrfalcon.bandit.learner_changes import own_learner
from gyrfalcon.bandit.silence import silent_in
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, action_probabilities, decide, draw_one
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.policies.validation import check_probabilities
from gyrfalcon.core.records import CONTROL, PASSIVE
from gyrfalcon.core.sampling import event_uniforms, uniforms_of_events
from gyrfalcon.core.validation import is_own
from gyrfalcon.engine.own_policies import checked_epoch


def problem_for(engine: BanditEngine, example: object) -> Problem:
    """The problem, with the features of the first context if none were declared."""
    problem = engine.problem
    if not engine.awaits_features:
        return problem
    features = replace(Schema.infer(example), unknown_features=problem.features.unknown_features)
    return replace(problem, features=features)


def known_decision(engine: BanditEngine, event_id: str) -> Decision | None:
    """The decision that was made under this id, or None if there was none."""
    event = engine.ledger.find(event_id)
    return None if event is None else _decision(engine, event_id, event)


def known_decisions(engine: BanditEngine, event_ids: list[str] | None) -> dict[int, Decision]:
    """The decisions that were made under some of these ids before, by row."""
    found = {row: known_decision(engine, event_id) for row, event_id in enumerate(event_ids or [])}
    return {row: decision for row, decision in found.items() if decision is not None}


def decide_one(
    engine: BanditEngine, problem: Problem, contexts: Contexts, event_id: str | None, now: float
) -> Decision:
    """Choose an action for one context; the event then waits for its outcome."""
    ledger, epoch, round_ = engine.ledger, engine.playing, engine.ledger.counts.round
    identity = engine.ids.free_id(round_, ledger.find) if event_id is None else event_id
    checked, uniforms = _checked(engine, epoch, 1), event_uniforms(engine.seed, identity)
    action, distribution, component = draw_one(checked, round_, contexts, uniforms)
    propensity, index = distribution[action], epoch.index
    shares, model = tuple(distribution), engine.model
    made = (identity, now, contexts, 0, action, component, index, round_, propensity, shares, model)
    engine.record(Decided(*made, round_ - epoch.start, silent_in(epoch)))
    label, is_passive = problem.actions[action], component % 2 == PASSIVE
    held = component == CONTROL
    return Decision(label, propensity, identity, round_, index, is_passive, shares, model, held)


def decide_many(
    engine: BanditEngine,
    problem: Problem,
    contexts: Contexts,
    event_ids: list[str] | None,
    known: dict[int, Decision],
    now: float,
) -> DecisionBatch:
    """Choose actions for many contexts by one epoch, but for those decided before: `known`, by row."""
    ledger, epoch, n, first = engine.ledger, engine.playing, len(contexts), engine.ledger.counts.round
    ids = [engine.ids.free_id(first + i, ledger.find) for i in range(n)] if event_ids is None else event_ids
    new = np.array([i for i in range(n) if i not in known], dtype=np.int64)
    rounds = np.arange(first, first + len(new))
    rows = contexts if len(new) == n else contexts.take(new)
    uniforms = uniforms_of_events(engine.seed, [ids[i] for i in new.tolist()])
    made = decide(_checked(engine, epoch, len(new)), rounds, rows, uniforms)
    distribution = partial(action_probabilities, epoch, rounds, rows)
    columns = (made.action, made.component, made.round, made.propensity)
    # Only a log needs the probabilities of all actions; the batch computes them when it is asked to.
    shares = [None] * len(new) if engine.sink is None else [tuple(row) for row in distribution().tolist()]
    model, index, start, silent = engine.model, epoch.index, epoch.start, silent_in(epoch)
    engine.record_all(
        Decided(
            *(ids[i], now, rows, row, a, component, index, round_, p, shares[row], model),
            *(round_ - start, silent),
        )
        for row, (i, a, component, round_, p) in enumerate(
            zip(new.tolist(), *(column.tolist() for column in columns), strict=True)
        )
    )
    if not known:
        labels = [problem.actions[action] for action in made.action.tolist()]
        passive = made.component % 2 == PASSIVE
        settings = (index, passive, model, distribution)
        held = made.component == CONTROL
        return DecisionBatch(labels, made.propensity, ids, rounds, *settings, control=held)
    one_by_one = [known.get(i) or _decision(engine, id_, ledger.find(id_)) for i, id_ in enumerate(ids)]
    return DecisionBatch(
        [one.action for one in one_by_one],
        np.array([one.propensity for one in one_by_one], dtype=np.float64),
        ids,
        np.array([one.round for one in one_by_one], dtype=np.int64),
        epoch.index,
        np.array([one.passive for one in one_by_one], dtype=np.bool_),
        single=one_by_one,
        control=np.array([one.control for one in one_by_one], dtype=np.bool_),
    )


def checked_ids(event_ids: Iterable[object] | None, n: int) -> list[str] | None:
    """The caller's ids as text, if there are any."""
    return None if event_ids is None else listed_ids(event_ids, n)


def checked_id(event_id: object | None) -> str | None:
    """The caller's id as text, if there is one."""
    return None if event_id is None else stored_text_of(event_id)


def probabilities(engine: BanditEngine, contexts: Contexts) -> Floats:
    """The probability of every action if these contexts came next, (n, K): no event is opened."""
    rounds = np.full(len(contexts), engine.ledger.counts.round)
    shares = action_probabilities(engine.playing, rounds, contexts)
    if is_own(learner := own_learner(engine.learner)):
        name, actions = type(learner).__name__, engine.problem.actions
        check_probabilities(shares, contexts, actions, learner=name, rounds=rounds)
    return shares


def _checked(engine: BanditEngine, epoch: Epoch, n: int) -> Epoch:
    """The epoch for the next n rounds, whose policies are checked if the learner is of a user's class."""
    learner, first = own_learner(engine.learner), engine.ledger.counts.round
    if not is_own(learner):
        return epoch
    return checked_epoch(epoch, np.arange(first, first + n), engine.problem.actions, learner)


def _decision(engine: BanditEngine, event_id: str, event: Event | None) -> Decision:
    assert event is not None
    if event.action < 0:
        raise ValueError(
            f"event {short_repr(event_id)} was decided before its action was retired; decide under a new id."
        )
    label, is_passive = engine.problem.actions[event.action], event.component % 2 == PASSIVE
    shares = _distribution_again(engine, event_id, event)
    model = None if shares is None else engine.model
    made = (event.propensity, event_id, event.round, event.epoch, is_passive)
    return Decision(label, *made, shares, model, event.component == CONTROL)


def _distribution_again(engine: BanditEngine, event_id: str, event: Event) -> tuple[float, ...] | None:
    """The distribution of an earlier decision, if its epoch is in play and its context is held."""
    position = engine.ledger.live.get(event_id)
    if position is None or position < engine.ledger.posed_at or event.epoch != engine.epoch.index:
        return None
    _, contexts = engine.ledger.table.take(np.array([position]), engine.problem.n_actions)
    if contexts.eligible is not None and contexts.eligible.all():
        contexts = replace(contexts, eligible=None)
    for epoch in (engine.playing, engine.epoch):  # silent actions may be others by now
        shares = action_probabilities(epoch, np.array([event.round]), contexts)[0].tolist()
        if shares[event.action] == event.propensity:
            return tuple(shares)
    return None
