"""What learners and environments say of themselves: their docstrings and signatures, as data."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

_COMMON = {
    "alpha": "Scale of the bonus for what is uncertain.",
    "before": "The environment that it is at first.",
    "c_gamma": "Scale of gamma: the larger, the greedier.",
    "class_size": "How many models a finite class has; None: a linear one.",
    "comp": "Complexity of the class; None: the coefficients of all actions.",
    "data": "Which rows are fitted: those of the last epoch, or all.",
    "decay": "How fast exploration falls with the rows: as n^-decay.",
    "delta": "Confidence (delta).",
    "epsilon": "Share of rounds with uniform play.",
    "frequency": "Radians per unit of the projection of a sinusoid.",
    "gamma_exponent": "How gamma grows with the rows n: as n^gamma_exponent.",
    "gamma_scale": "Scale of gamma: the larger, the greedier.",
    "interactions": "Whether means depend on products of the context's features and the actions'.",
    "misspecification": "How far means are off the linear model, from 0 to 1.",
    "mixing": "Share of rounds with uniform play.",
    "model_class": "The class of reward models, with its features and basis.",
    "most_noise": "The largest standard deviation of rewards.",
    "n_action_features": "How many features each action has.",
    "n_actions": "How many actions there are.",
    "n_explore": "Uniform rounds to begin with.",
    "n_features": "How many features a context has.",
    "noise": "Standard deviation of rewards around their means, or 'bernoulli': rewards of 0 and 1.",
    "radius": "Half the length of a bump's sides.",
    "rate": "Share of rounds with a reward of 1 under uniform play.",
    "refit": "Whether to learn from all rows, at each doubling of the rounds.",
    "ridge": "Regularises every coefficient, the intercept too.",
    "schedule": "When epochs end and the model is refitted.",
    "share": "Probability that an action may be chosen.",
    "temperature": "How evenly actions are played: the larger, the more.",
    "theta": "Where the step of action 1 is: it earns 1 above 1 - theta.",
    "environment": "The environment that this one is made from.",
    "environment_seed": "Draws the truth, whatever the seed of a run.",
    "environments": "The environments, in their order.",
}
"""What settings of a name mean, wherever their class says nothing else."""

_GAUSSIAN = "Standard deviation of rewards around their means."
_OWN = {
    ("EnlargedLinUCB", "misspecification"): "How far expected rewards may be off the linear model.",
    ("HeteroscedasticEnvironment", "noise"): "The smallest standard deviation of rewards.",
    ("SensitivityExample", "noise"): _GAUSSIAN,
    ("StepExample", "noise"): _GAUSSIAN,
    ("Uniform", "schedule"): "When epochs end.",
}
"""By class and name: settings that mean something else than others of their name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its default as people would write it, and what it means; no default: it must be given."""

    name: str
    default: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """What a class says of itself: in a line, in paragraphs, and setting by setting."""

    name: str
    summary: str
    paragraphs: tuple[str, ...]
    settings: tuple[Setting, ...]


def describe(name: str, maker: Callable[..., Any]) -> Description:
    """The description of a learner or an environment.

    >>> from gyrfalcon.learners.optimistic.linucb import LinUCB
    >>> description = describe("LinUCB", LinUCB)
    >>> description.settings[0]
    Setting(name='alpha', default='1.0', meaning='Scale of the bonus for what is uncertain.')
    """
    prose, meanings = _parts(inspect.getdoc(maker) or "")
    summary, *paragraphs = prose or [name]
    text = " ".join(prose)
    settings = tuple(
        Setting(
            parameter.name,
            _default(parameter),
            meanings.get(parameter.name) or _meaning(name, parameter.name, text),
        )
        for parameter in inspect.signature(maker).parameters.values()
    )
    return Description(name, summary, tuple(paragraphs), settings)


def short(value: object) -> str:
    """A default as one would write it, long ones without what is left at its own default.

    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> short(Linear(ridge=1.0)), short("all")
    ('Linear(ridge=1.0)', "'all'")
    """
    if not is_dataclass(value) or isinstance(value, type):
        return f"{value:.6g}" if isinstance(value, float) and value >= 1000 else repr(value)
    given = [(field.name, getattr(value, field.name), _default_of(field)) for field in fields(value)]
    few = len(given) <= 3  # as schedules have, whose numbers one wants to see
    shown = ", ".join(
        f"{name}={short(now)}" for name, now, default in given if (few and now is not None) or now != default
    )
    return f"{type(value).__name__}({shown})"


def _default(parameter: inspect.Parameter) -> str | None:
    return None if parameter.default is inspect.Parameter.empty else short(parameter.default)


def _default_of(field: Any) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _parts(docstring: str) -> tuple[list[str], dict[str, str]]:
    """The paragraphs before any section, and the meanings under "Parameters"."""
    before, _, after = docstring.partition("\nParameters\n")
    prose = [" ".join(block.split()) for block in _prose_blocks(before)]
    return prose, dict(_entries(re.split(r"\n\w+\n-+\n", after)[0]))


def _prose_blocks(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith((">>>", "Examples\n")):
            return
        if block.strip():
            yield block


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Names and texts of a section in which names stand at the margin and texts are indented."""
    for entry in re.split(r"\n(?=\w)", section.strip("\n")):
        names, _, text = entry.partition("\n")
        for name in names.partition(":")[0].split(","):
            yield name.strip(), " ".join(text.split())


def _meaning(owner: str, name: str, text: str) -> str:
    """What this setting, or all of that name, mean; else a sentence of the text that names this one."""
    known = _OWN.get((owner, name)) or _COMMON.get(name)
    if known is not None:
        return known
    sentences = re.split(r"(?<=[.;:]) ", text)
    return next((sentence.rstrip(";:") for sentence in sentences if f"`{name}`" in sentence), "")
