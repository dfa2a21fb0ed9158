"""Rules of CONTRIBUTING that can be checked: words of names and texts, sizes of files and functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("gyrfalcon", "gyrfalcon_paper")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / "src" / package).rglob("*.py"))]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "src").rglob("*.toml")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")),
]

LONGEST_FILE = 300
LONGEST_FUNCTION = 45
FEWEST_WORDS = 4
"""A first docstring line of fewer words says little without the code below it."""

PRIVATE_WORDS = {
    "asked": "requested, target",
    "asks": "requires",
    "asleep": "deferred",
    "awake": "active",
    "beliefs": "estimates, posterior",
    "entrant": "candidate class",
    "entrants": "candidate classes",
    "foretell": "predict",
    "foretells": "predicts",
    "foretold": "predicted",
    "formation": "batch",
    "heard": "the name of what is reported",
    "hears": "receives",
    "luck": "randomness, random seed",
    "lucky": "the event in question",
    "march": "batched",
    "marches": "batched",
    "marching": "batched",
    "mend": "correct",
    "mended": "corrected",
    "mending": "correcting",
    "mends": "corrects",
    "resting": "deferred",
    "rested": "deferred",
    "shall": "is, must",
    "slip": "typo, erratum",
    "slips": "typos, errata",
    "speck": "negligible",
    "tame": "finite",
    "told": "reported, or the name of what is returned",
    "unheard": "the name of what is not reported",
    "upon": "on",
    "wave": "random Fourier feature",
    "waves": "random Fourier features",
    "wavy": "sinusoidal",
    "woken": "resumed",
    "world": "environment",
    "worlds": "environments",
}
"""Words of a private dialect, and what the field says instead."""

VAGUE = re.compile(
    r"^(The same|It|Its|These|Those|Their|Such|So|Of|With|Without|Likewise|As the)\b"
    r"|\bso many\b|\bof its own\b|\bfor ever\b|\bmore of it\b|\bdigits enough\b",
    re.I,
)
"""First lines that make no sense without what stands around them."""

CODE = re.compile(r"^\s*(>>>|\.\.\.) .*$|```.*?```|`[^`]*`|\]\([^)]*\)", re.M | re.S)
"""Doctests, code and addresses inside a text, which follow other rules than prose."""

BARE_DECIMAL = re.compile(r"(?<![\w.])\.\d+\b")
"""A number such as .05, which reads better as 0.05."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def definitions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def names(path: Path) -> Iterator[tuple[int, str]]:
    """Every name that a module defines: itself, classes, functions, arguments, variables and attributes."""
    yield 1, path.stem
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr


def words_of(name: str) -> list[str]:
    """The words of a name in snake_case or CamelCase, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def first_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The first docstring line of the module and of every class and function in it."""
    for node in (tree_of(path), *definitions(path)):
        text = ast.get_docstring(node)
        if text:
            yield getattr(node, "lineno", 1), text.splitlines()[0]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, messages and every other text in a module, without code and formats of numbers."""
    formats = {
        id(part)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        for part in ast.walk(node.format_spec)
    }
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in formats:
            yield node.lineno, prose(node.value)


def prose(text: str) -> str:
    return CODE.sub("", text)


def in_dialect(words: list[str]) -> list[str]:
    return [f"{word!r} (say {PRIVATE_WORDS[word]})" for word in words if word in PRIVATE_WORDS]


def test_names_use_the_words_of_the_field() -> None:
    found = {
        f"{named(path)}:{line} {name}: {', '.join(bad)}"
        for path in MODULES
        for line, name in names(path)
        if (bad := in_dialect(words_of(name)))
    }
    assert not found, "\n".join(sorted(found))


def test_docstrings_and_messages_use_the_words_of_the_field() -> None:
    found = [
        f"{named(path)}:{line} {', '.join(bad)}"
        for path in MODULES
        for line, text in texts(path)
        if (bad := in_dialect(re.findall(r"[a-z]+", text.lower())))
    ]
    assert not found, "\n".join(found)


def test_first_docstring_lines_make_sense_by_themselves() -> None:
    found = [
        f"{named(path)}:{line} {text!r}"
        for path in MODULES
        for line, text in first_lines(path)
        if VAGUE.search(text) or len(text.split()) < FEWEST_WORDS
    ]
    assert not found, "\n".join(found)


def test_numbers_in_docstrings_and_messages_have_a_leading_zero() -> None:
    found = [
        f"{named(path)}:{line} {bare.group()}"
        for path in MODULES
        for line, text in texts(path)
        if (bare := BARE_DECIMAL.search(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_use_the_words_of_the_field(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    bad = in_dialect(sorted(set(re.findall(r"[a-z]+", text.lower()))))
    assert not bad, f"{named(page)}: {', '.join(bad)}"
    assert not BARE_DECIMAL.search(text), f"{named(page)}: {BARE_DECIMAL.search(text)}"


def test_files_are_short() -> None:
    sizes = {named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not {name: size for name, size in sizes.items() if size > LONGEST_FILE}


def test_functions_are_short() -> None:
    found = {
        f"{named(path)}:{node.lineno} {node.name}": size
        for path in MODULES
        for node in definitions(path)
        if not isinstance(node, ast.ClassDef) and (size := body_lines(node)) > LONGEST_FUNCTION
    }
    assert not found


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the end."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize(
    ("name", "bad"),
    [("told", True), ("OldWorld", True), ("n_waves", True), ("wavelength", False), ("environment", False)],
)
def test_the_word_list_can_fail(name: str, bad: bool) -> None:
    assert bool(in_dialect(words_of(name))) is bad


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("a share of .05", True),
        ("a share of 0.05, or of 1.5", False),
        ("version 0.1.0 and [a page](.5.md)", False),
        ("numbers such as `.3`", False),
        (">>> share(.05)", False),
    ],
)
def test_the_search_for_bare_decimals_can_fail(text: str, bad: bool) -> None:
    assert bool(BARE_DECIMAL.search(prose(text))) is bad


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("The same from rows.", True),
        ("It is a start.", True),
        ("Report so many more rounds.", True),
        ("Likewise on the sample.", True),
        ("Without a value that was added before.", True),
        ("Moments without a value that was added before.", False),
        ("Report n more rounds.", False),
        ("Rows of the same block, in order.", False),
    ],
)
def test_the_search_for_vague_first_lines_can_fail(line: str, bad: bool) -> None:
    assert bool(VAGUE.search(line)) is bad
