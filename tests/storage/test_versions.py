"""Files of every format version are read, and decide as they did when they were written."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, Bandit
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.learners.adaptive.state import adaptive_state
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.registry import ENTRIES
from gyrfalcon.storage import migrations
from gyrfalcon.storage.class_ids import ClassIds
from gyrfalcon.storage.earlier_classes import EARLIER
from gyrfalcon.storage.migrations import MIGRATIONS, VERSION, migrated, with_fields
from tests.storage.make_files import FILES, N_DECISIONS, contexts, decisions, noon, stored_fields

FOLDERS = {number: FILES / f"version-{number}" for number in range(1, VERSION + 1)}
WIDE = FILES / "version-2-wide-class"
"""A bandit of version 2 with a class of its own active, and what it decided and estimated."""
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


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", SAVED, ids=named)
def test_a_stored_bandit_decides_as_it_did_when_it_was_saved(path: Path) -> None:
    expected = json.loads((path.parent / "decisions.json").read_text(encoding="utf-8"))[path.stem]
    assert_as_decided(decisions(Bandit.load(path, clock=noon)), expected)


def assert_as_decided(made: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(made) == len(expected) == N_DECISIONS
    for ours, theirs in zip(made, expected, strict=True):
        assert (ours["event_id"], ours["action"]) == (theirs["event_id"], theirs["action"])
        assert ours["propensity"] == pytest.approx(theirs["propensity"], rel=1e-9)


@pytest.mark.parametrize("path", [*SAVED, WIDE / "wide_class.gyrfalcon"], ids=named)
def test_a_stored_bandit_goes_on_learning(path: Path) -> None:
    # The first action is best where x > y, else the second: chance is 67 of the last 200 rounds, which count.
    bandit, n_right = Bandit.load(path, clock=noon), 0
    before = bandit.status()
    for row, context in enumerate(contexts(400, seed=3)):
        decision = bandit.decide(context, event_id=f"later {row}")
        right = decision.action == ("a" if context["x"] > context["y"] else "b")
        bandit.reward(decision.event_id, float(right))
        n_right += right and row >= 200
    after = bandit.status()
    assert after.n_refits > before.n_refits + 3
    assert bandit.epoch.index > before.epoch + 3
    assert n_right > (90 if path.stem != "epsilon_falcon" else 70)


def test_the_wide_class_of_a_stored_bandit_decides_on_and_starts_anew() -> None:
    known = json.loads((WIDE / "wide_class.json").read_text(encoding="utf-8"))
    bandit = Bandit.load(WIDE / "wide_class.gyrfalcon", clock=noon)
    assert bandit.epoch.report is not None
    assert "active class: quadratic" in bandit.epoch.report.details
    explained = {one.label: one.estimate for one in bandit.explain(contexts(1, seed=3)[0]).actions}
    assert explained == pytest.approx(known["estimates"], rel=1e-9)
    assert_as_decided(decisions(bandit), known["decisions"])
    state = adaptive_state(bandit.epoch)
    assert (state.active, state.candidates.fits) == (0, (None,))
    assert not state.comparison.weights.any()
    for row, context in enumerate(contexts(500, seed=4)):
        decision = bandit.decide(context, event_id=f"later {row}")
        good = "a" if context["x"] * context["y"] > 0.0 else "b"
        bandit.reward(decision.event_id, float(decision.action == good))
    assert bandit.epoch.report is not None
    assert "active class: quadratic" in bandit.epoch.report.details


def test_linear_fits_of_version_2_get_penalties_and_their_scores_the_unit_of_rewards() -> None:
    bandit = Bandit.load(FOLDERS[2] / "adaptive.gyrfalcon", clock=noon)
    state, manifest = adaptive_state(bandit.epoch), manifest_of(FOLDERS[2] / "adaptive.gyrfalcon")
    assert state.linear is not None
    stored = manifest["value"]["fields"]["epoch"]["fields"]["state"]["fields"]["linear"]["fields"]
    penalties, start = state.linear.penalties, Penalties.of(state.linear.oracle.design)
    assert penalties.noise == stored["residual_deviation"] ** 2
    assert penalties.values.tolist() == start.values.tolist()
    learner = bandit._live.engine.learner
    assert isinstance(learner, AdaptiveFalcon)
    assert (learner.c_gamma, learner.bonus) == (1_000.0, 0.75)
    context = contexts(1, seed=5)[0]
    scores = state.linear.model.model.scores(Contexts(np.array([[context["x"], context["y"]]])))[0]
    expected = dict(zip("abc", (state.scale.anchor + state.scale.unit * scores).tolist(), strict=True))
    assert {one.label: one.estimate for one in bandit.explain(context).actions} == pytest.approx(expected)
    bandit.add_actions(["d"])
    tried = {one.label: one.probability for one in bandit.explain(context).actions}["d"]
    assert tried == pytest.approx(0.25)


def test_ids_of_earlier_classes_are_given_by_a_migration_and_are_in_no_new_file() -> None:
    renamed = {f"version-2/{class_id}" for class_id in migrations._CHANGED_IN_3}
    assert set(EARLIER) == renamed | {"version-3/state/adaptive"}
    ids = {entry.id for entry in ENTRIES}
    assert not ids & set(EARLIER)
    with pytest.raises(ValueError, match="which is not a known class"):
        ClassIds().builder_of("version-2/unknown")


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
