"""Arrays in signatures by short names, `NDArray[float64]`, not by what these stand for in full."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config

SHOWN = {
    "ArrayLike": "ArrayLike",
    "Bools": "NDArray[bool]",
    "Floats": "NDArray[float64]",
    "Ints": "NDArray[int64]",
}
"""Aliases in the code, and how they are shown."""
_ALIAS_IN_A_UNION = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def unwrapped(text: str | None) -> str | None:
    """The signature with aliases by name alone, which autodoc wraps in unions.

    >>> unwrapped("(weights: TypeAliasForwardRef('Floats') | None = None)")
    '(weights: Floats | None = None)'
    """
    return text and _ALIAS_IN_A_UNION.sub(r"\1", text)


def _keep_aliases(app: Sphinx, config: Config) -> None:
    del app
    config.autodoc_type_aliases = {name: name for name in SHOWN}


def _process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    del app, what, name, obj, options
    return unwrapped(signature), unwrapped(returned)


def _show(app: Sphinx, doctree: nodes.document) -> None:
    del app
    for link in list(doctree.findall(pending_xref)):
        if link["reftarget"] in SHOWN and link.get("refdomain") == "py":
            link.replace_self(nodes.Text(SHOWN[link["reftarget"]]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", _keep_aliases)
    app.connect("autodoc-process-signature", _process_signature)
    app.connect("doctree-read", _show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
