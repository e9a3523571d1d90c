"""Sphinx configuration; `make docs` runs it with warnings as errors."""

import inspect
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

import tacit

project = "Tacit"
author = "The Tacit developers"
copyright = author  # noqa: A001  sphinx's name
version = release = tacit.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]
templates_path = ["templates"]
exclude_patterns = ["_build", "templates"]
html_static_path = ["static"]
html_css_files = ["tacit.css"]

# Formulas are written in plain characters: they can be read in the source. Only the long ones of
# sample_sizes.rst are mathematics, as MathML, which browsers show without a network.
html_math_renderer = "mathml"

# A reference to a name of Tacit that does not exist is an error; other projects are not linked.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!tacit\b).*")]

html_theme = "alabaster"
html_theme_options = {
    "description": "Latent-variable models learnt by linear algebra",
    "fixed_sidebar": True,
    "page_width": "1160px",  # a line of code fits
    "body_max_width": "auto",
    "show_powered_by": False,
}
html_show_sourcelink = False

autosummary_generate = True
autodoc_typehints = "none"  # the numpydoc sections give types and shapes in words
autodoc_inherit_docstrings = False  # scikit-learn's refer to pages that are not here
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them


def section(title, module, names):
    """Lines of a section with a summary table of `names`, each with a page of its own."""
    heading = ["", title, "-" * len(title), "", f".. currentmodule:: {module}", ""]
    return [*heading, ".. autosummary::", "   :toctree: .", "", *(f"   {name}" for name in names)]


def reference_page():
    """The text of the API reference, made from the public names."""
    values = {name: getattr(tacit, name) for name in tacit.__all__}
    classes = [name for name, value in values.items() if inspect.isclass(value)]
    functions = [name for name, value in values.items() if inspect.isroutine(value)]
    lines = ["API reference", "============="]
    lines += section("Classes", "tacit", classes)
    lines += section("Functions", "tacit", functions)
    for name, value in values.items():
        if inspect.ismodule(value):
            # Constants have no docstring of their own; the functions that use them speak of them.
            shown = [each for each in value.__all__ if callable(getattr(value, each))]
            lines += section(f"tacit.{name}", f"tacit.{name}", shown)
    return "\n".join(lines) + "\n"


def skip_foreign_member(app, what, name, member, skip, options):
    """Leave out what scikit-learn and Python put on our classes; None means no opinion."""
    owner = getattr(member, "fget", None) or getattr(member, "__objclass__", None) or member
    module = getattr(owner, "__module__", None)
    return True if module and module.split(".")[0] != "tacit" else None


def formula(translator, node):
    """Write a formula as MathML, in a paragraph of its own if it is one in the source."""
    is_block = node.tagname == "math_block"
    translator.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    page = Path(app.srcdir, "api", "generated", "index.rst")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(reference_page(), encoding="utf-8")
    app.connect("autodoc-skip-member", skip_foreign_member)
