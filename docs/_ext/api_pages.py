"""The reference of the Python package: a page for every topic, and by autosummary one for every name.

They are written to docs/reference/api before Sphinx looks for pages, and are not kept in the repository.
"""

from __future__ import annotations

from pathlib import Path
from pydoc import locate
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from public_names import Page, aliases, file_names, pages
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.directives.other import TocTree
from sphinx.environment import BuildEnvironment

FOLDER = "reference/api"


class Topics(TocTree):
    """`{topics}`: a table of contents of these pages."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """As `toctree` does, with the pages as its lines."""
        lines = [f"api/{page.slug}" for page in pages()]
        self.content = StringList(lines, source="topics")
        return super().run()


def text_of(page: Page) -> str:
    """The page of a topic in reStructuredText.

    >>> print(text_of(Page("Learners", "gyrfalcon", ("LinUCB",))))
    Learners
    ========
    <BLANKLINE>
    .. currentmodule:: gyrfalcon
    <BLANKLINE>
    .. autosummary::
       :toctree: .
       :nosignatures:
    <BLANKLINE>
       LinUCB
    """
    listed = "\n".join(f"   {name}" for name in page.names)
    directive = "module" if page.introduces else "currentmodule"
    parts = [
        f"{page.title}\n{'=' * len(page.title)}",
        f".. {directive}:: {page.module}",
        page.text,
        f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{listed}",
    ]
    return "\n\n".join(part for part in parts if part)


def _write(app: Sphinx, config: Config) -> None:
    config.autosummary_filename_map = file_names()
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    texts = {f"{page.slug}.rst": text_of(page) + "\n" for page in pages()}
    expected = {*texts, *(f"{name}.rst" for name in file_names().values())}
    for path in folder.iterdir():
        if path.name not in expected:  # the page of a name that is no longer public
            path.unlink()
    for name, text in texts.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.Node | None:
    """A link from where a type is defined to where it is public; plain text if it is not, but exists."""
    target = node["reftarget"]
    if node.get("refdomain") != "py" or not target.startswith("gyrfalcon."):
        return None
    if public := aliases().get(target):
        domain = env.get_domain("py")
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, contnode)
    return contnode if locate(target) is not None else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("topics", Topics)
    app.connect("config-inited", _write)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
