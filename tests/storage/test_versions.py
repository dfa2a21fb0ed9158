"""Files of every format version are read, and decide as they did when they were written."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest

from gyrfalcon import Bandit
from gyrfalcon.registry import ENTRIES
from gyrfalcon.storage.migrations import MIGRATIONS, VERSION, migrated, with_fields
from tests.storage.make_files import FILES, N_DECISIONS, decisions, noon, stored_fields

FOLDERS = {number: FILES / f"version-{number}" for number in range(1, VERSION + 1)}
SAVED = [path for folder in FOLDERS.values() for path in sorted(folder.glob("*.gyrfalcon"))]


def manifest_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return manifest


def test_there_are_files_of_every_version() -> None:
    for number, folder in FOLDERS.items():
        expected = json.loads((folder / "decisions.json").read_text(encoding="utf-8"))
        assert sorted(expected) == sorted(path.stem for path in folder.glob("*.gyrfalcon")) != []
        assert {manifest_of(path)["format_version"] for path in folder.glob("*.gyrfalcon")} == {number}


@pytest.mark.parametrize("path", SAVED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_stored_bandit_decides_as_it_did_when_it_was_saved(path: Path) -> None:
    expected = json.loads((path.parent / "decisions.json").read_text(encoding="utf-8"))[path.stem]
    made = decisions(Bandit.load(path, clock=noon))
    assert len(made) == len(expected) == N_DECISIONS
    for ours, theirs in zip(made, expected, strict=True):
        assert (ours["event_id"], ours["action"]) == (theirs["event_id"], theirs["action"])
        assert ours["propensity"] == pytest.approx(theirs["propensity"], rel=1e-9)


def test_ids_are_unique_and_written_in_one_way() -> None:
    ids = [entry.id for entry in ENTRIES if entry.id is not None]
    assert len(set(ids)) == len(ids)
    assert all(one == one.lower() and set(one) <= set("abcdefghijklmnopqrstuvwxyz-/") for one in ids)


def test_what_has_an_id_is_a_dataclass_or_an_enum() -> None:
    for entry in ENTRIES:
        if entry.id is not None:
            cls = entry.load()
            assert is_dataclass(cls) or hasattr(cls, "__members__")


def test_every_step_between_versions_has_a_migration() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))


def _renamed(manifest: dict[str, Any]) -> dict[str, Any]:
    value = with_fields(manifest["value"], "log", lambda parts: {"action": parts["arm"]})
    return {**manifest, "value": value}


def _doubled(manifest: dict[str, Any]) -> dict[str, Any]:
    value = with_fields(manifest["value"], "log", lambda parts: {"action": 2 * parts["action"]})
    return {**manifest, "value": value}


def test_migrations_are_applied_in_order_from_the_version_of_the_file() -> None:
    steps = {1: _renamed, 2: _doubled}
    oldest = {"format_version": 1, "value": {"class": "log", "fields": {"arm": 3}}}
    middle = {"format_version": 2, "value": {"class": "log", "fields": {"action": 3}}}
    for manifest in (oldest, middle):
        newest = migrated(manifest, newest=3, migrations=steps)
        assert newest == {"format_version": 3, "value": {"class": "log", "fields": {"action": 6}}}
    assert migrated(middle, newest=2, migrations=steps) == middle


def test_fields_are_changed_wherever_a_class_stands_and_in_no_other() -> None:
    log = {"class": "log", "fields": {"arm": {"tuple": [{"class": "log", "fields": {"arm": 1}}]}}}
    tree = {
        "dict": [
            ["a", log],
            ["b", {"class": "epoch", "fields": {"arm": 1, "inner": log}}],
            ["c", {"again": 0}],
        ]
    }
    changed = json.dumps(with_fields(tree, "log", lambda parts: {"action": parts["arm"]}))
    assert changed == json.dumps(tree).replace('"arm": {', '"action": {').replace(
        '"log", "fields": {"arm": 1', '"log", "fields": {"action": 1'
    )


def test_field_names_of_stored_classes_are_recorded_with_their_version() -> None:
    """A field that is renamed without a migration would make stored files unreadable."""
    known = json.loads((FOLDERS[VERSION] / "fields.json").read_text(encoding="utf-8"))
    assert stored_fields() == known
