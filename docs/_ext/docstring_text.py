"""Docstrings are plain text whose only markup is backticks and numpydoc's sections.

They are read in a terminal first, so `||phi||`, `f*` and `x_` stand in them as they are; reStructuredText
would take these for markup.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

_CODE = re.compile(r"(``.*?``|`[^`]*`_{0,2}|:[\w:]+:`[^`]*`)")
_MARKUP = re.compile(r"\*(?=\S)|(?<=\S)\*|\|(?=\S)|(?<=\S)\||(?<=\w)_(?=\W|$)")
_ABBREVIATED = re.compile(r"\b(eq|Eq|fig|Fig|sec|Sec)\. ")
"""Whose full stop does not end the sentence that a summary is."""
_KEPT = re.compile(r"\s*(>>> |\.\.\. |\.\. )")
_MISSING = object()


def escaped(lines: list[str]) -> list[str]:
    r"""Escape what reStructuredText takes for markup in prose, and leave code as it is.

    >>> escaped(["|phi| of `a*b`", ">>> 2 ** 3"]) == [r"\|phi\| of `a*b`", ">>> 2 ** 3"]
    True
    """
    done: list[str] = []
    block = _Code()
    for line in lines:
        done.append(line if block.holds(line) else _prose(line))
    return done


def _prose(line: str) -> str:
    pieces = _CODE.split(line)
    pieces[::2] = [_MARKUP.sub(lambda mark: "\\" + mark[0], piece) for piece in pieces[::2]]
    return _ABBREVIATED.sub(r"\1.\\  ", "".join(pieces))


class _Code:
    """Which lines are doctests, their outputs, or literal blocks after a double colon."""

    def __init__(self) -> None:
        self._doctest = False
        self._literal: int | None = None

    def holds(self, line: str) -> bool:
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if self._literal is not None and indent <= self._literal:
                self._literal = None
            self._doctest = self._doctest or bool(_KEPT.match(line))
        else:
            self._doctest = False
        inside = self._doctest or self._literal is not None
        if not inside and line.rstrip().endswith("::"):
            self._literal = indent
        return inside


def constant_doc(name: str, value: object) -> list[str]:
    """The docstring below an assignment, wherever the value was imported from; none if there is none.

    >>> from gyrfalcon import theory
    >>> constant_doc("gyrfalcon.theory.EPSILON_MAX", theory.EPSILON_MAX)[0].split()[:2]
    ['The', 'largest']
    """
    short = name.rpartition(".")[2]
    for module in sorted(found for found in sys.modules if found.startswith("gyrfalcon.")):
        if vars(sys.modules[module]).get(short, _MISSING) is value:
            lines = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", short))
            if lines:
                return lines
    return []


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    del app, options
    lines[:] = escaped(constant_doc(name, obj) if what == "data" else lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx, ahead of numpydoc, which reads the result."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
