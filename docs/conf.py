"""Settings of the documentation: `make docs` builds it into site/, offline, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from numpydoc.xref import DEFAULT_LINKS

import gyrfalcon

project = "gyrfalcon"
author = "The gyrfalcon developers"
project_copyright = f"2026, {author}"
version = release = gyrfalcon.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    # Our own, in _ext:
    "api_pages",
    "code_blocks",
    "docstring_text",
    "signature_types",
]
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
highlight_language = "none"
nitpicky = True
# A word between single backticks in a docstring is code, and a link if it is a public name.
default_role = "py:obj"
# Names of other libraries are not checked, whose inventories would have to be fetched, nor short ones.
nitpick_ignore_regex = [("py:.*", r"(?!gyrfalcon\.).*")]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
# Classes show their methods in full, on their own page.
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = {"optional"}
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS}  # not links into other libraries' pages

html_theme = "pydata_sphinx_theme"
html_title = "gyrfalcon"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
html_js_files = ["search_from_disk.js"]
html_sidebars = {"**": ["sidebar-nav-bs"], "index": [], "tutorial": [], "theory": [], "benchmarks": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
# Prompts are not copied with the code behind them.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
