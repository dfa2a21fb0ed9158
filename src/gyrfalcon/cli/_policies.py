"""Policies as they are typed: `always:red`, `uniform`, `greedy`, `greedy:HASH`, `module:function`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr

_STORED = ("greedy", "epoch")
_SAVED = ("bandit", "final")


def typed_policies(
    texts: Iterable[str], table: DecisionTable, *, held_out: bool = False
) -> dict[str, object]:
    """Policies by name; a name of one's own stands before an equals sign, as in `new=greedy`."""
    policies: dict[str, object] = {}
    for text in texts:
        name, spec = _named(text)
        if name in policies:
            raise ValueError(f"two policies are called {short_repr(name)}; name one, as in other={spec}.")
        policies[name] = _typed(spec, table, held_out)
    return policies


def rows_since(texts: Iterable[str], table: DecisionTable) -> DecisionTable:
    """The rows from which on all stored policies among these were in play: they were learned from others."""
    start = 0
    for _, spec in map(_named, texts):
        kind, _, model = spec.partition(":")
        if kind in _STORED:
            model = model or _last_model(kind, table)
            models = [] if table.model is None else table.model.tolist()
            decided = [row for row, one in enumerate(models) if one is not None and one.startswith(model)]
            if not decided:
                raise ValueError(
                    f"policy {short_repr(spec)} made no decision; give the hash of one that did."
                )
            start = max(start, decided[0])
    return table.take(slice(start, None))


def logged_policies(table: DecisionTable) -> Mapping[str, object]:
    """The policies that decided, where the log stores them."""
    from gyrfalcon.logs.policies import stored_policies

    return stored_policies(table.source) if table.model is not None and table.source else {}


def _named(text: str) -> tuple[str, str]:
    """The name and the rest of a typed policy: labels of actions may hold an equals sign.

    >>> _named("new=always red"), _named("always a=b")
    (('new', 'always red'), ('always a=b', 'always a=b'))
    """
    name, equals, spec = text.partition("=")
    if equals and spec and not {" ", ":"} & set(name):
        return name.strip(), spec.strip()
    return text.strip(), text.strip()


def _typed(spec: str, table: DecisionTable, held_out: bool) -> object:
    if spec in ("uniform", "logged") or spec.startswith("always "):
        return spec
    kind, colon, rest = spec.partition(":")
    if kind == "always" and rest:
        return f"always {rest}"
    if kind in _SAVED and rest:
        return _saved(kind, rest, held_out)
    if kind in _STORED:
        return _stored(kind, rest, table, held_out)
    if colon and rest:
        return _function(kind, rest)
    raise ValueError(
        f"policy {short_repr(spec)} is unknown; give always:LABEL, uniform, logged, greedy, greedy:HASH, "
        "epoch:HASH, bandit:FILE, final:FILE or module:function."
    )


def _stored(kind: str, model: str, table: DecisionTable, held_out: bool) -> object:
    """A policy of the log's folder: that of the last decision unless a hash is given."""
    from gyrfalcon.logs.policies import stored_policy

    model = model or _last_model(kind, table)
    return stored_policy(table.source, model, greedy=kind == "greedy", held_out=held_out)


def _saved(kind: str, path: str, held_out: bool) -> object:
    """What a saved bandit or final policy would play, which --held-out says it did not learn here."""
    from gyrfalcon import Bandit
    from gyrfalcon.evaluation.policies.target_policies import of_policy
    from gyrfalcon.experiment.final_policy import FinalPolicy

    loaded = Bandit.load(path) if kind == "bandit" else FinalPolicy.load(path)
    return of_policy(loaded, held_out=held_out)


def _last_model(kind: str, table: DecisionTable) -> str:
    """Content hash of the policy that made the last decision."""
    models = [] if table.model is None else [one for one in table.model.tolist() if one is not None]
    if not models:
        raise ValueError(
            f"{table.source or 'the log'} does not name the policies that decided, so that there is no "
            f"{kind} one; give always:LABEL, uniform or module:function."
        )
    return str(models[-1])


def _function(module: str, name: str) -> object:
    """A function of a module that is importable from here."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in (module, module.partition(".")[0]):
            raise ValueError(
                f"there is no module {short_repr(module)}; run the command in its folder, or install it."
            ) from None
        raise ValueError(
            f"module {module} can't be imported: {_named_error(error)}; --debug before the command shows "
            "where."
        ) from error
    if not hasattr(found, name):
        raise ValueError(f"{module} has no {short_repr(name)}; give the name of a function of a table.")
    function = getattr(found, name)
    if callable(function):
        return _reported(function, f"{module}:{name}")
    raise ValueError(f"{module}:{name} is {short_repr(function)}; give the name of a function of a table.")


def _reported(function: Callable[[DecisionTable], object], spec: str) -> Callable[[DecisionTable], object]:
    """The function, whose errors name the policy: they are not those of the command."""

    def policy(table: DecisionTable) -> object:
        try:
            return function(table)
        except Exception as error:
            raise ValueError(
                f"policy {spec} failed with {_named_error(error)}; --debug before the command shows where."
            ) from error

    return policy


def _named_error(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(".: ")
