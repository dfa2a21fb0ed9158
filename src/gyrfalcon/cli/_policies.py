"""Policies as they are typed: `always:red`, `uniform`, `greedy`, `greedy:HASH`, `module:function`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr

_STORED = ("greedy", "epoch")


def typed_policies(texts: Iterable[str], table: DecisionTable) -> dict[str, object]:
    """Policies by name; a name of one's own stands before an equals sign, as in `new=greedy`."""
    policies: dict[str, object] = {}
    for text in texts:
        name, spec = _named(text)
        if name in policies:
            raise ValueError(f"two policies are called {short_repr(name)}; name one, as in other={spec}.")
        policies[name] = _typed(spec, table)
    return policies


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
    if equals and spec and " " not in name:
        return name.strip(), spec.strip()
    return text.strip(), text.strip()


def _typed(spec: str, table: DecisionTable) -> object:
    if spec in ("uniform", "logged") or spec.startswith("always "):
        return spec
    kind, colon, rest = spec.partition(":")
    if kind == "always" and rest:
        return f"always {rest}"
    if kind in _STORED:
        return _stored(kind, rest, table)
    if colon and rest:
        return _function(kind, rest)
    raise ValueError(
        f"policy {short_repr(spec)} is unknown; give always:LABEL, uniform, logged, greedy, greedy:HASH, "
        "epoch:HASH or module:function."
    )


def _stored(kind: str, model: str, table: DecisionTable) -> object:
    """A policy of the log's folder: that of the last decision unless a hash is given."""
    from gyrfalcon.logs.policies import stored_policy

    if not model:
        hashes = [] if table.model is None else [one for one in table.model.tolist() if one is not None]
        if not hashes:
            raise ValueError(
                f"{table.source or 'the log'} does not name the policies that decided, so that there is no "
                f"{kind} one; give always:LABEL, uniform or module:function."
            )
        model = hashes[-1]
    return stored_policy(table.source, model, greedy=kind == "greedy")


def _function(module: str, name: str) -> object:
    """A function of a module that is importable from here."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0] and error.name != module:
            raise
        raise ValueError(
            f"there is no module {short_repr(module)}; run the command in its folder, or install it."
        ) from None
    if not hasattr(found, name):
        raise ValueError(f"{module} has no {short_repr(name)}; give the name of a function of a table.")
    function: object = getattr(found, name)
    return function
