"""Single decisions against Vowpal Wabbit's Python `predict`, fed from floats."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.decisions import N_ACTIONS, N_FEATURES, single
from benchmarks.pairs import Call
from benchmarks.rows import Race, Row, peer, require
from gyrfalcon import Bandit, EpsilonFalcon

N_LEARNED = 500
N_EPOCHS = 10
SQUARECB = "--cb_explore_adf --squarecb --quiet"
SAME_MODEL = f"{SQUARECB} -q sa"
NO_ACTION_FEATURES = f"--cb_explore {N_ACTIONS} --quiet"

FLOATS = " ".join(f"{feature}:%g" for feature in range(N_FEATURES))
ACTIONS = [f"|a {action}" for action in range(N_ACTIONS)]
TEXT_OF_ACTIONS = "\n".join([f"shared |s {FLOATS}", *ACTIONS])
TEXT_WITHOUT_ACTIONS = f"|s {FLOATS}"

Predict = Callable[[list[float]], list[float]]


def contexts() -> list[list[float]]:
    rows: list[list[float]] = np.random.default_rng(6).standard_normal((256, N_FEATURES)).tolist()
    return rows


def over_contexts(predict: Predict) -> Call:
    """A call that predicts for the next of many contexts."""
    following = cycle(contexts()).__next__
    return lambda: predict(following())


@cache
def trained(options: str) -> Any:
    """A workspace that has learned a little, so that its weights are not all zero."""
    from vowpalwabbit import Workspace

    workspace = Workspace(options)
    rng = np.random.default_rng(5)
    for _ in range(N_LEARNED):
        x = rng.standard_normal(N_FEATURES)
        action, cost = int(rng.integers(N_ACTIONS)), float(rng.random())
        if options == NO_ACTION_FEATURES:
            workspace.learn(f"{action + 1}:{cost}:{1 / N_ACTIONS} {TEXT_WITHOUT_ACTIONS % tuple(x)}")
        else:
            lines = (TEXT_OF_ACTIONS % tuple(x)).split("\n")
            lines[1 + action] = f"0:{cost}:{1 / N_ACTIONS} {lines[1 + action]}"
            workspace.learn(lines)
    return workspace


def by_text(options: str) -> Predict:
    """Floats formatted into a text that VW parses."""
    predict = trained(options).predict
    text = TEXT_WITHOUT_ACTIONS if options == NO_ACTION_FEATURES else TEXT_OF_ACTIONS
    return lambda x: predict(text % tuple(x))


def by_examples(options: str) -> Predict:
    """Floats pushed into examples that are made once and used again: the fastest way that we found."""
    workspace = trained(options)
    has_actions = options != NO_ACTION_FEATURES
    context = workspace.example("shared |s 0:1" if has_actions else "|s 0:1")
    space = workspace.hash_space("s")
    hashes = [workspace.hash_feature(str(feature), space) for feature in range(N_FEATURES)]
    whole = [context, *map(workspace.example, ACTIONS)] if has_actions else context
    predict = workspace.predict

    def pushed(x: list[float]) -> list[float]:
        context.pop_namespace()
        context.push_feature_dict(workspace, {"s": dict(zip(hashes, x, strict=True))})
        context.setup_example()
        probabilities: list[float] = predict(whole)
        return probabilities

    return pushed


def predictor(options: str, feed: Callable[[str], Predict]) -> tuple[Predict, str]:
    """A predictor and what was checked: all ways to feed floats give the same probabilities."""
    with peer("Vowpal Wabbit"):
        predict, plain = feed(options), by_text(options)
        gap = max(np.abs(np.subtract(predict(x), plain(x))).max() for x in contexts()[:20])
    require(gap < 1e-3, f"VW's probabilities depend on how it is fed, by {gap:.1e}.")
    return predict, "" if feed is by_text else f"probabilities as from text, to {gap:.0e}"


def against_wabbit(ours: Callable[[], Call], options: str, feed: Callable[[str], Predict]) -> Race:
    predict, note = predictor(options, feed)
    return Race(ours(), over_contexts(predict), note=note)


def bandit() -> Call:
    """`Bandit.decide` for a NumPy array, with a fitted model in play."""
    one = Bandit(learner=EpsilonFalcon(), actions=range(N_ACTIONS), features=N_FEATURES, seed=1)
    rng = np.random.default_rng(7)
    slopes = rng.standard_normal((N_FEATURES, N_ACTIONS)) / 20
    played = 0
    while one.epoch.index <= N_EPOCHS:
        X = rng.standard_normal((one.epoch.stop - played, N_FEATURES))
        made = one.decide_many(X)
        chosen = np.arange(len(X)), np.array(made.action)
        chance = np.clip(0.5 + (X @ slopes)[chosen], 0.0, 1.0)
        rewards = (rng.random(len(X)) < chance).astype(float)
        one.reward_many(dict(zip(made.event_id, rewards.tolist(), strict=True)))
        played += len(X)
    require(one.epoch.report is not None, "the bandit has no fitted model in play.")
    following = cycle(list(np.array(contexts()))).__next__
    return lambda: one.decide(following())


ROWS = [
    Row(
        key="decide 1 / VW squarecb",
        ours="decide, one context",
        theirs="VW --cb_explore_adf --squarecb, reused examples",
        prepare=partial(against_wabbit, single, SQUARECB, by_examples),
    ),
    Row(
        key="decide 1 / VW squarecb from text",
        ours="decide, one context",
        theirs="VW --cb_explore_adf --squarecb, text",
        prepare=partial(against_wabbit, single, SQUARECB, by_text),
        limit=0.25,
    ),
    Row(
        key="decide 1 / VW squarecb -q sa",
        ours="decide, one context",
        theirs="VW --cb_explore_adf --squarecb -q sa, reused examples",
        prepare=partial(against_wabbit, single, SAME_MODEL, by_examples),
    ),
    Row(
        key="decide 1 / VW cb_explore",
        ours="decide, one context",
        theirs="VW --cb_explore 10, reused example",
        prepare=partial(against_wabbit, single, NO_ACTION_FEATURES, by_examples),
    ),
    Row(
        key="decide 1 / VW cb_explore from text",
        ours="decide, one context",
        theirs="VW --cb_explore 10, text",
        prepare=partial(against_wabbit, single, NO_ACTION_FEATURES, by_text),
    ),
    Row(
        key="Bandit.decide / VW squarecb",
        ours="Bandit.decide, one array",
        theirs="VW --cb_explore_adf --squarecb, reused examples",
        prepare=partial(against_wabbit, bandit, SQUARECB, by_examples),
    ),
    Row(
        key="Bandit.decide / VW squarecb from text",
        ours="Bandit.decide, one array",
        theirs="VW --cb_explore_adf --squarecb, text",
        prepare=partial(against_wabbit, bandit, SQUARECB, by_text),
        limit=0.6,
    ),
]
