"""The public modules offer what the registry lists, once, and describe all of it."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

from gyrfalcon import theory
from gyrfalcon.registry import DOORS, ENTRIES, KINDS, MODULES, Entry, entry_of, public_entries
from tests.stubs import stub_of, stub_path

PUBLIC = [entry for entry in ENTRIES if KINDS[entry.kind].door is not None]


def test_about_forty_names_stand_at_the_top() -> None:
    assert 36 <= len(public_entries("gyrfalcon")) <= 46


@pytest.mark.parametrize("door", DOORS)
def test_a_public_module_lists_nothing_but_what_it_offers(door: str) -> None:
    modules = MODULES if door == "gyrfalcon" else ()
    listed = {name for name in dir(import_module(door)) if not name.startswith("__")}
    assert listed == {*modules, *(entry.name for entry in public_entries(door))}


@pytest.mark.parametrize("door", DOORS)
def test_a_public_module_has_the_names_of_the_registry_and_no_others(door: str) -> None:
    module = import_module(door)
    names = [entry.name for entry in public_entries(door)]
    assert [name for name in module.__all__ if name != "__version__"] == names
    assert set(names) <= set(dir(module))
    assert all(getattr(module, entry.name) is entry.load() for entry in public_entries(door))
    assert not hasattr(module, "no_such_name")


@pytest.mark.parametrize("door", DOORS)
def test_no_module_hides_a_public_function_of_its_name(door: str) -> None:
    # `gyrfalcon.simulation.simulate` was a module for those who wanted the function.
    paths = getattr(import_module(door), "__path__", [])
    modules = {module.name for module in iter_modules(paths)}
    offered = (*public_entries(door), *public_entries("gyrfalcon"))
    assert not modules & {entry.name for entry in offered}


@pytest.mark.parametrize(
    ("door", "name", "place"),
    [
        ("gyrfalcon", "evaluate", "gyrfalcon.evaluation.evaluate"),
        ("gyrfalcon", "diagnose", "gyrfalcon.evaluation.diagnose"),
        ("gyrfalcon", "check_log", "gyrfalcon.evaluation.check_log"),
        ("gyrfalcon.simulation", "simulate", "gyrfalcon.simulate"),
        ("gyrfalcon.evaluation", "read_log", "gyrfalcon.logs.read_log"),
        ("gyrfalcon.learners", "LinUCB", "gyrfalcon.LinUCB"),
    ],
)
def test_a_name_that_another_module_offers_is_refused_with_its_place(
    door: str, name: str, place: str
) -> None:
    with pytest.raises(AttributeError, match=rf"'{door}' has no attribute '{name}'; it is {place}$"):
        getattr(import_module(door), name)


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


def _is_documented(value: object) -> bool:
    """Whether a value has parameters of its own to describe: protocols, errors and Enums have none."""
    if isinstance(value, type):
        return (
            not getattr(value, "_is_protocol", False)
            and not issubclass(value, Enum | Exception)
            and (is_dataclass(value) or "__init__" in vars(value) or hasattr(value, "_fields"))
        )
    return inspect.isfunction(value)


CALLABLES: dict[str, Callable[..., Any]] = {
    entry.name: entry.load() for entry in PUBLIC if _is_documented(entry.load())
}
CALLABLES |= {
    f"theory.{name}": getattr(theory, name)
    for name in theory.__all__
    if _is_documented(getattr(theory, name))
}


def documented_parameters(value: Any) -> list[str]:
    """The names under "Parameters", or under "Attributes" of a result that is only returned."""
    if isinstance(value, type):
        sections = ClassDoc(value, config={"show_class_members": False})
    else:
        sections = FunctionDoc(value)
    found = sections["Parameters"] or sections["Attributes"]
    assert all(entry.desc for entry in found)
    return [name.strip() for entry in found for name in entry.name.split(",")]


def test_the_search_for_callables_finds_classes_and_functions_of_all_doors() -> None:
    assert {"LinUCB", "simulate", "Moments", "dataset", "softmax", "theory.kappa", "theory.Rates"} <= set(
        CALLABLES
    )
    assert not {"Learner", "PassiveDesign", "NotEstimableError", "BLOCK"} & set(CALLABLES)


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_callable_documents_exactly_its_parameters(name: str) -> None:
    assert documented_parameters(CALLABLES[name]) == list(inspect.signature(CALLABLES[name]).parameters)


@pytest.mark.parametrize("name", CALLABLES)
def test_the_first_line_of_a_docstring_stands_by_itself(name: str) -> None:
    first = (inspect.getdoc(CALLABLES[name]) or "").splitlines()[0]
    assert first.endswith(".")
    assert len(first.split()) >= 4
    assert not first.startswith(("The same", "It "))
