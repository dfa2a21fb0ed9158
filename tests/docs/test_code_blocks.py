"""Every code block of the documentation is run, or read by what it is written for."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.docs import running
from tests.docs.blocks import PAGES, ROOT, Block, blocks_of, name_of
from tests.open_bandit_data import WHEEL, placed_in

KINDS = {"", "sh", "console", "python", "toml", "json", "text"}
DIRECTIVES = {"{include}", "{py:module}", "{toctree}", "{topics}"}
"""Those that show no code. Others stand between colons, so that code within them is seen."""


def _blocks(page: Path) -> list[Block]:
    return blocks_of(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_tested(page: Path) -> None:
    unknown = {(block.line, block.kind) for block in _blocks(page) if block.kind not in KINDS | DIRECTIVES}
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_hides_from_these_tests_by_being_indented(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = [token for token in MarkdownIt().parse(text) if token.type in {"fence", "code_block"}]
    assert len(shown) == len(blocks_of(text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_plain_text_are_not_code(page: Path) -> None:
    texts = [block for block in _blocks(page) if block.kind == "text" and block.title != "prints"]
    for block in texts:
        assert ">>>" not in block.text
        assert "gyrfalcon " not in block.text
        with pytest.raises(SyntaxError):
            compile(block.text, "<text>", "exec")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_doctest_sees_every_prompt_and_make_check_runs_it(page: Path) -> None:
    parser = doctest.DocTestParser()
    in_blocks = sum(len(parser.get_examples(block.text)) for block in _blocks(page))
    assert in_blocks == len(parser.get_examples(page.read_text(encoding="utf-8")))
    # The prompts of these pages are run by this line, with the doctests of the package.
    assert "--doctest-glob='*.md' src README.md docs" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    blocks = _blocks(page)
    if any(WHEEL in block.text for block in blocks if block.kind in {"console", "sh", "python"}):
        placed_in(tmp_path)
    running.run(blocks, tmp_path)


def test_a_block_that_fails_is_noticed(tmp_path: Path) -> None:
    for text in (
        "```python\nraise SystemExit(1)\n```",
        "```console\n$ gyrfalcon no-such-command\n```",
        "```console\n$ gyrfalcon --version\nno such version\n```",
        "```sh\nrm everything\n```",
        "```sh\nmake no-such-target\n```",
        "```sh\npip install 'gyrfalcon[no,such]'\n```",
        '```python\nprint(1)\n```\n```text title="prints"\n2\n```',
    ):
        with pytest.raises(AssertionError):
            running.run(blocks_of(text), tmp_path)


def test_a_block_that_is_not_run_is_parsed_all_the_same(tmp_path: Path) -> None:
    fence = "```sh\ngyrfalcon demo {}\n```"
    running.run(blocks_of(f"<!-- checked, not run: a minute -->\n{fence.format('')}"), tmp_path)
    with pytest.raises(Exception, match="no-such-option"):
        running.run(
            blocks_of(f"<!-- checked, not run: a minute -->\n{fence.format('--no-such-option')}"), tmp_path
        )


def test_files_and_outputs_of_a_page_are_used_in_its_order(tmp_path: Path) -> None:
    page = (
        '```text title="a.txt"\nno code\n```\n'
        "```python\nfrom pathlib import Path\nprint(Path('a.txt').read_text() * 2)\n```\n"
        '```text title="prints"\nno code\n...\n```\n'
    )
    running.run(blocks_of(page), tmp_path)
    assert (tmp_path / "a.txt").read_text() == "no code\n"
    with pytest.raises(AssertionError):
        running.run(blocks_of(page.replace('"prints"\nno code', '"prints"\ncode')), tmp_path)
