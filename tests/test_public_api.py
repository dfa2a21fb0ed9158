"""The public modules offer what the registry lists, once, and describe all of it."""

from __future__ import annotations

import inspect
from collections import Counter
from importlib import import_module

import pytest

from gyrfalcon.registry import DOORS, ENTRIES, KINDS, MODULES, Entry, entry_of, public_entries
from tests.stubs import stub_of, stub_path

PUBLIC = [entry for entry in ENTRIES if KINDS[entry.kind].door is not None]


def test_about_forty_names_stand_at_the_top() -> None:
    assert 40 <= len(public_entries("gyrfalcon")) <= 50


@pytest.mark.parametrize("door", DOORS)
def test_a_public_module_has_the_names_of_the_registry_and_no_others(door: str) -> None:
    module = import_module(door)
    names = [entry.name for entry in public_entries(door)]
    assert [name for name in module.__all__ if name != "__version__"] == names
    assert set(names) <= set(dir(module))
    assert all(getattr(module, entry.name) is entry.load() for entry in public_entries(door))
    assert not hasattr(module, "no_such_name")


def test_public_modules_are_attributes_of_the_package() -> None:
    package = import_module("gyrfalcon")
    assert all(getattr(package, name) is import_module(f"gyrfalcon.{name}") for name in MODULES)


@pytest.mark.parametrize("door", DOORS)
def test_type_checkers_see_the_same_names(door: str) -> None:
    assert stub_path(door).read_text(encoding="utf-8") == stub_of(door), "run make stubs"


def test_every_name_is_public_in_one_place_and_no_two_differ_by_case_alone() -> None:
    assert max(Counter(entry.name for entry in PUBLIC).values()) == 1
    for door in DOORS:
        assert max(Counter(entry.name.casefold() for entry in public_entries(door)).values()) == 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_registry_names_the_module_that_defines_a_name(entry: Entry) -> None:
    value = entry.load()
    if isinstance(value, type):
        assert value.__module__ == f"gyrfalcon.{entry.home}"
        assert entry_of(value) == entry
    elif inspect.isfunction(value):
        assert (value.__module__, value.__name__) == (f"gyrfalcon.{entry.home}", entry.name)


def test_a_class_that_borrows_the_name_of_another_has_no_entry() -> None:
    impostor = type("LinUCB", (), {"__module__": "gyrfalcon.learners.optimistic.linucb"})
    assert entry_of(impostor) is None
