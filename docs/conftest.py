"""Pages whose prompts read the Open Bandit data are run in a folder that has it, and the files they show."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.blocks import blocks_of, write_files
from tests.open_bandit_data import WHEEL, placed_in


@pytest.fixture(autouse=True)
def _folder_with_the_data(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.path.suffix != ".md":
        return
    blocks = blocks_of(request.path.read_text(encoding="utf-8"))
    if any(WHEEL in block.text for block in blocks if block.kind in {"python", "console"}):
        placed_in(tmp_path)
        write_files(blocks, tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
