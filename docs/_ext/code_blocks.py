"""Fenced blocks as pages show them: their titles become captions, and blank lines at their ends go.

A title stands behind the fence (```` ```toml title="grid.toml" ````), where GitHub still highlights the block
and tests find the file's name. A blank line at the end is what doctest wants before a closing fence.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_TITLED = re.compile(r'^(?P<fence>`{3,})(?P<language>\w+) title="(?P<title>[^"]*)"$', re.MULTILINE)
_CAPTIONS = {"prints": "Output"}


def captioned(text: str) -> str:
    r"""Give every titled block of a page the directive that shows its title.

    >>> print(captioned('```toml title="grid.toml"\nseeds = 2\n```'))
    ```{code-block} toml
    :caption: grid.toml
    <BLANKLINE>
    seeds = 2
    ```
    """
    return _TITLED.sub(_directive, text)


def _directive(fence: re.Match[str]) -> str:
    title = _CAPTIONS.get(fence["title"], fence["title"])
    return f"{fence['fence']}{{code-block}} {fence['language']}\n:caption: {title}\n"


def _read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    del app, docname
    source[0] = captioned(source[0])


def _trim(app: Sphinx, doctree: nodes.document) -> None:
    del app
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        if block.rawsource == block.astext():  # no markup inside
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read_source)
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
