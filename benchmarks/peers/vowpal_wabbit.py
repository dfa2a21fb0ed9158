"""Vowpal Wabbit: a prediction, a draw and a lesson a round, from text as its documentation feeds it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.peers.rounds import Play, Rounds

SQUARECB = "--cb_explore_adf --squarecb -q sa"
NO_ACTION_FEATURES = "--cb_explore {n_actions} --epsilon 0.05"

Step = Callable[[Any, tuple[float, ...], list[float]], float]
"""One round in a workspace: the features, what each action would earn, what was earned."""


def squarecb(rounds: Rounds) -> Play:
    """Every example is parsed twice: to predict, and with its label to learn."""
    context, actions, random = "shared " + _context(rounds), _actions(rounds), Random(1)

    def step(workspace: Any, x: tuple[float, ...], rewards: list[float]) -> float:
        lines = [context % x, *actions]
        p = workspace.predict("\n".join(lines))
        action = _drawn(p, random.random())
        lines[1 + action] = f"0:{-rewards[action]:g}:{p[action]:g} {actions[action]}"
        workspace.learn("\n".join(lines))
        return rewards[action]

    return _play(rounds, SQUARECB, step)


def squarecb_parsed_once(rounds: Rounds) -> Play:
    """Every example is parsed once, and gets its label afterwards."""
    text, random = "\n".join(["shared " + _context(rounds), *_actions(rounds)]), Random(1)

    def step(workspace: Any, x: tuple[float, ...], rewards: list[float]) -> float:
        examples = workspace.parse(text % x)
        p = workspace.predict(examples)
        action = _drawn(p, random.random())
        examples[1 + action].set_label_string(f"0:{-rewards[action]:g}:{p[action]:g}")
        workspace.learn(examples)
        workspace.finish_example(examples)
        return rewards[action]

    return _play(rounds, SQUARECB, step)


def without_action_features(rounds: Rounds) -> Play:
    """The quickest of its commands: epsilon-greedy play over one regressor per action."""
    context, random = _context(rounds), Random(1)

    def step(workspace: Any, x: tuple[float, ...], rewards: list[float]) -> float:
        text = context % x
        p = workspace.predict(text)
        action = _drawn(p, random.random())
        workspace.learn(f"{action + 1}:{-rewards[action]:g}:{p[action]:g} {text}")
        return rewards[action]

    return _play(rounds, NO_ACTION_FEATURES.format(n_actions=rounds.n_actions), step)


def _play(rounds: Rounds, options: str, step: Step) -> Play:
    from vowpalwabbit import Workspace

    given = list(zip(map(tuple, rounds.X.tolist()), rounds.rewards.tolist(), strict=True))

    def play() -> list[float]:
        workspace = Workspace(f"{options} --quiet")
        earned = [step(workspace, x, rewards) for x, rewards in given]
        workspace.finish()
        return earned

    return play


def _context(rounds: Rounds) -> str:
    # Names that are whole numbers would be taken for hashes.
    return "|s " + " ".join(f"f{feature}:%g" for feature in range(rounds.X.shape[1]))


def _actions(rounds: Rounds) -> list[str]:
    return [f"|a a{action}" for action in range(rounds.n_actions)]


def _drawn(probabilities: list[float], uniform: float) -> int:
    for action, probability in enumerate(probabilities):
        uniform -= probability
        if uniform < 0.0:
            return action
    return len(probabilities) - 1
