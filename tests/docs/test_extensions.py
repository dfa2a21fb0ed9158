"""What pages and docstrings go through before Sphinx shows them."""

from __future__ import annotations

from code_blocks import captioned
from docstring_text import constant_doc, escaped
from public_names import Page, aliases
from signature_types import unwrapped

from gyrfalcon import theory


def test_marks_in_prose_are_escaped_and_those_in_code_are_not() -> None:
    prose = ["f* and |phi| and x_ and tau_{m+1}, but `f*` and ``|x|`` and a * b and c_1"]
    assert escaped(prose) == [
        r"f\* and \|phi\| and x\_ and tau\_{m+1}, but `f*` and ``|x|`` and a * b and c_1"
    ]


def test_doctests_and_literal_blocks_are_left_as_they_are() -> None:
    code = [">>> f(*args)", "[*x*]", "", "A block::", "", "    2 ** n_ | m", "", "    |x|"]
    assert escaped(code) == code
    assert escaped([*code, "", "|x|"]) == [*code, "", r"\|x\|"]


def test_an_abbreviation_does_not_end_a_summary() -> None:
    assert escaped(["gamma (eq. gamma). More."]) == [r"gamma (eq.\  gamma). More."]


def test_parameters_of_numpydoc_stay_what_they_are() -> None:
    section = ["Parameters", "----------", "alpha : float, default=1.0", "    At least 0."]
    assert escaped(section) == section


def test_a_constant_is_described_by_the_text_below_its_assignment() -> None:
    assert constant_doc("gyrfalcon.theory.A", theory.A)
    assert constant_doc("gyrfalcon.theory.A", 0.0) == []


def test_only_titled_blocks_become_captioned_ones() -> None:
    plain = "```python\n1 + 1\n```"
    assert captioned(plain) == plain
    assert ":caption: Output" in captioned('```text title="prints"\n2\n```')


def test_no_signature_is_none() -> None:
    assert unwrapped(None) is None


def test_types_are_linked_to_where_they_are_public() -> None:
    assert aliases()["gyrfalcon.theory.classes.Rates"] == "gyrfalcon.theory.Rates"
    assert set(aliases().values()) >= {"gyrfalcon.Bandit", "gyrfalcon.simulate"}


def test_pages_of_topics_have_plain_addresses() -> None:
    assert Page("Model classes and fits", "gyrfalcon", ()).slug == "model-classes-and-fits"
