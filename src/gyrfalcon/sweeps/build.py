"""Learners and environments from plain data, such as a file or a command line gives.

`{"name": "LinUCB", "alpha": 0.3}` is `LinUCB(alpha=0.3)`. A setting may hold a part, which is written in the
same way: `{"name": "Linear", "basis": {"name": "Polynomial", "degree": 3}}`. Whatever is refused is refused
with the place where it stood.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import product
from math import prod
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.sweeps.content_key import Keyed
from gyrfalcon.sweeps.registry import Maker, environment_maker, learner_maker, part_maker

Finder = Callable[[object, str], tuple[str, Maker]]


def build_learner(settings: object, place: str = "learner") -> Any:
    """The learner that settings describe; a learner itself stays what it is.

    >>> build_learner({"name": "epsilon-greedy", "epsilon": 0.2}).epsilon
    0.2
    >>> build_learner("linucbb")
    Traceback (most recent call last):
    ValueError: learner: there is no learner called 'linucbb'; did you mean 'LinUCB'?
    """
    return _entry(settings, learner_maker, ("start", "next_epoch"), "LinUCB", place)


def build_environment(settings: object, place: str = "environment") -> Any:
    """The environment that settings describe; an environment itself stays what it is.

    >>> build_environment({"name": "delayed", "environment": {"name": "StepExample"}, "mean": 10}).environment
    StepExample()
    """
    return _entry(settings, environment_maker, ("draw",), "StepExample", place)


def choices(entry: object, finder: Finder, place: str) -> Iterator[object]:
    """The entry once for each combination of what is listed in it, wherever in it that is.

    A setting that is itself a sequence, such as the environments of `Switching`, takes a list as its value,
    and a list of lists as a choice. Where both are possible a list is a choice, and a list in a list a value.

    >>> grid = {"name": "LinUCB", "alpha": [0.1, 1.0], "ridge": [1.0, 2.0]}
    >>> [(one["alpha"], one["ridge"]) for one in choices(grid, learner_maker, "learner")]
    [(0.1, 1.0), (0.1, 2.0), (1.0, 1.0), (1.0, 2.0)]
    """
    if not isinstance(entry, Mapping):
        yield entry
        return
    for name in _listed(entry.get("name"), f"{place}.name"):
        maker = finder(name, place)[1]
        settings = {key: value for key, value in entry.items() if key != "name"}
        options = [_options(maker, key, value, f"{place}.{key}") for key, value in settings.items()]
        for combination in product(*options):
            yield {"name": name, **dict(zip(settings, combination, strict=True))}


def n_choices(entry: object, finder: Finder, place: str) -> int:
    """Number of combinations of settings that an entry describes, without making them.

    >>> n_choices({"name": "LinUCB", "alpha": [0.1, 1.0], "ridge": [1.0, 2.0]}, learner_maker, "learner")
    4
    """
    if not isinstance(entry, Mapping):
        return 1
    count = 0
    for name in _listed(entry.get("name"), f"{place}.name"):
        maker = finder(name, place)[1]
        settings = [(key, value, f"{place}.{key}") for key, value in entry.items() if key != "name"]
        count += prod(_n_options(maker, *setting) for setting in settings)
    return count


def _n_options(maker: Maker, key: str, value: object, place: str) -> int:
    return sum(n_choices(item, part_maker, place) for item in _items(maker, key, value, place))


def _options(maker: Maker, key: str, value: object, place: str) -> list[object]:
    items = _items(maker, key, value, place)
    return [one for item in items for one in choices(item, part_maker, place)]


def _items(maker: Maker, key: str, value: object, place: str) -> list[object]:
    if key in _sequences(maker) and isinstance(value, list) and not all(isinstance(v, list) for v in value):
        return [value]
    return _listed(value, place)


def _listed(value: object, place: str) -> list[object]:
    if isinstance(value, list) and not value:
        raise ValueError(f"{place} is an empty list; give at least one value, or leave it out.")
    return value if isinstance(value, list) else [value]


def _entry(settings: object, finder: Finder, methods: tuple[str, ...], example: str, place: str) -> Any:
    if isinstance(settings, str):
        return _built({"name": settings}, finder, place)
    if isinstance(settings, Mapping):
        return _built(settings, finder, place)
    value = settings.value if isinstance(settings, Keyed) else settings
    if isinstance(value, type):
        example = f"{value.__name__}()"
        raise ValueError(f"{place} is the class {value.__name__}; give an object, {example}.")  # noqa: TRY004 - as all settings
    # A log to replay has nothing to draw.
    if not isinstance(value, LoggedReplay) and not all(
        callable(getattr(value, method, None)) for method in methods
    ):
        raise ValueError(
            f"{place} is {short_repr(value)}, which has no {' and '.join(methods)}; "
            f'give settings such as {{"name": "{example}"}}, or an object of your own that has.'
        )
    return settings


def _built(entry: Mapping[Any, Any], finder: Finder, place: str) -> Any:
    name, maker = finder(entry.get("name"), place)
    where = f"{place} ({name})"
    settings = {key: value for key, value in entry.items() if key != "name"}
    _check_names(maker, settings, where, ["name"] if finder is part_maker else [])
    parts = _parts(maker)
    values = {key: _value(value, f"{place}.{key}", key in parts) for key, value in settings.items()}
    try:
        return maker(**values)
    except (ValueError, TypeError, ImportError) as error:
        text = str(error)
        raise ValueError(f"{where}: {text}{'' if text.endswith(('.', '?')) else '.'}") from error


def _value(value: object, place: str, is_part: bool) -> object:
    if isinstance(value, Mapping):
        return _built(value, part_maker, place)
    if isinstance(value, str) and is_part:
        return _built({"name": value}, part_maker, place)
    if isinstance(value, list | tuple):
        return tuple(_value(item, f"{place}[{number}]", is_part) for number, item in enumerate(value))
    return value


def _check_names(maker: Maker, settings: Mapping[Any, Any], where: str, more: Sequence[str]) -> None:
    known = _parameters(maker)
    for key in settings:
        if key not in known:
            near = suggestion(key, [*known, *more]) if known or more else "it has none."
            raise ValueError(f"{where}: there is no setting called {short_repr(key)}; {near}")
    lacking = [key for key, has_default in known.items() if not has_default and key not in settings]
    if lacking:
        raise ValueError(f"{where}: the setting {lacking[0]!r} is missing, and it has no default; give it.")


def _parameters(maker: Maker) -> dict[str, bool]:
    """The names of all settings, and whether they have a default."""
    parameters = inspect.signature(maker).parameters
    return {name: one.default is not inspect.Parameter.empty for name, one in parameters.items()}


def _sequences(maker: Maker) -> frozenset[str]:
    """The settings that are sequences whatever they hold."""
    origins = {name: get_origin(hint) for name, hint in _hints(maker).items()}
    return frozenset(
        name for name, origin in origins.items() if isinstance(origin, type) and issubclass(origin, Sequence)
    )


def _parts(maker: Maker) -> frozenset[str]:
    """The settings that hold parts or sequences of them, and never text: there a text is a part's name."""
    return frozenset(name for name, hint in _hints(maker).items() if _is_part(hint))


def _is_part(hint: Any) -> bool:
    kinds = _kinds(hint)
    classes = [kind for kind in kinds if isinstance(kind, type) and kind.__module__.startswith("gyrfalcon")]
    return bool(classes) and not kinds & {str, object, Any} and not any(issubclass(c, Enum) for c in classes)


def _kinds(hint: Any) -> set[Any]:
    """All that a type hint is made of, but for the arguments of functions, which settings don't hold."""
    args = [arg for arg in get_args(hint) if not isinstance(arg, list)]
    return {hint}.union(*map(_kinds, args)) if get_origin(hint) is not Literal else {str}


def _hints(maker: Maker) -> dict[str, Any]:
    return get_type_hints(maker) if isinstance(maker, type) else {}
