"""Files of earlier format versions, brought up to the newest one step by step.

A migration takes the manifest of version n, which is plain JSON data, and gives that of version n + 1. Part
of the format are the ids of classes and the names of their fields: whoever renames a field that is stored
adds a migration here, raises `VERSION`, and keeps a file of the earlier version in tests/storage/files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import or_
from typing import Any

Manifest = dict[str, Any]
Migration = Callable[[Manifest], Manifest]
Fields = dict[str, Any]

VERSION = 4
"""The format version that is written."""


class FormatVersionError(ValueError):
    """A file whose format version this gyrfalcon does not read."""


def migrated(
    manifest: Manifest, newest: int = VERSION, migrations: Mapping[int, Migration] | None = None
) -> Manifest:
    """The manifest in the newest format version, after all migrations that it needs, in order.

    >>> migrated({"format_version": 1, "value": {"class": "schema", "fields": {}}})["value"]["fields"]
    {'unknown_features': 'error'}
    """
    version = _version_of(manifest, newest)
    for step in range(version, newest):
        manifest = {
            **(MIGRATIONS if migrations is None else migrations)[step](manifest),
            "format_version": step + 1,
        }
    return manifest


def with_fields(tree: Any, class_id: str, change: Callable[[Fields], Fields]) -> Any:
    """A tree in which the fields of every value of a class are changed: what most migrations consist of.

    >>> tree = {"list": [{"class": "log", "fields": {"arm": 1}}]}
    >>> with_fields(tree, "log", lambda fields: {"action": fields["arm"]})
    {'list': [{'class': 'log', 'fields': {'action': 1}}]}
    """
    match tree:
        case {"class": str(found), "fields": dict(parts)}:
            parts = {name: with_fields(part, class_id, change) for name, part in parts.items()}
            return {"class": found, "fields": change(parts) if found == class_id else parts}
        case dict():
            return {key: with_fields(part, class_id, change) for key, part in tree.items()}
        case list():
            return [with_fields(part, class_id, change) for part in tree]
    return tree


def with_class_ids(tree: Any, ids: Mapping[str, str]) -> Any:
    """A tree in which some classes have other ids, by which `earlier_classes` builds their values.

    >>> with_class_ids({"list": [{"class": "log", "fields": {"arm": 1}}]}, {"log": "version-1/log"})
    {'list': [{'class': 'version-1/log', 'fields': {'arm': 1}}]}
    """
    match tree:
        case {"class": str(found), "fields": dict(parts)}:
            return {"class": ids.get(found, found), "fields": with_class_ids(parts, ids)}
        case dict():
            return {key: with_class_ids(part, ids) for key, part in tree.items()}
        case list():
            return [with_class_ids(part, ids) for part in tree]
    return tree


def _version_of(manifest: Manifest, newest: int) -> int:
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version is {version!r}, which .save never writes.")
    if version > newest:
        raise FormatVersionError(
            f"has format version {version}, and this gyrfalcon reads versions up to {newest}; "
            "install the newer gyrfalcon that wrote it"
        )
    return version


def _with_history(manifest: Manifest) -> Manifest:
    """Version 2: schemas say what becomes of unknown features, and bandits know how they were changed."""
    value = with_fields(manifest["value"], "schema", lambda fields: fields | {"unknown_features": "error"})
    return {**manifest, "value": with_fields(value, "bandit/snapshot", _with_tallies)}


def _with_tallies(snapshot: Fields) -> Fields:
    """The fields of a bandit with a history, and with its counts by action in one value.

    Files of version 1 do not say which outcomes became final, so those with a reward stand for them. The new
    value comes last, because values that are stored once are named by their number.
    """
    counted = {name: snapshot[name] for name in ("decided", "rewarded", "milestones")}
    tallies = {"class": "bandit/tallies", "fields": counted | {"final": snapshot["rewarded"]}}
    kept = {name: field for name, field in snapshot.items() if name not in counted}
    return kept | {"history": {"list": []}, "refusal": "", "tallies": tallies}


_CHANGED_IN_3 = (
    *("epoch", "model/recursive-ridge", "ridge/deferred", "ridge/recursive", "state/adaptive"),
    *("state/candidate-classes", "state/class-comparison", "state/pooled-fit"),
)


def _with_penalties(manifest: Manifest) -> Manifest:
    """Version 3: linear fits have penalties per group of columns, and candidate classes start anew."""
    value, none = manifest["value"], {"tuple": list[Any]()}
    added: dict[str, Fields] = {
        "design": {"joint_basis": None},
        "model/optimistic": {"bounds": None},
        "state/reward-scale": {"winsorised": False, "above": none, "below": none},
    }
    for class_id, fields in added.items():
        value = with_fields(value, class_id, partial(or_, fields))
    ids = {class_id: f"version-2/{class_id}" for class_id in _CHANGED_IN_3}
    return {**manifest, "value": with_class_ids(value, ids)}


def _with_changes_noticed(manifest: Manifest) -> Manifest:
    """Version 4: the adaptive learner's state has more fields, which start with their defaults."""
    ids = {"state/adaptive": "version-3/state/adaptive"}
    return {**manifest, "value": with_class_ids(manifest["value"], ids)}


MIGRATIONS: dict[int, Migration] = {1: _with_history, 2: _with_penalties, 3: _with_changes_noticed}
"""By the version that a migration starts from."""
