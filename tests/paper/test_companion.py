from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gyrfalcon.sweeps.processes import PieceFailedError, Task, run_all
from gyrfalcon_paper.claims.claim import SOURCES, Claim
from gyrfalcon_paper.companion import EXHIBITS, csv_of, write_companion
from gyrfalcon_paper.exhibits import example, intuition
from gyrfalcon_paper.exhibits.exhibit import Effort, Piece
from gyrfalcon_paper.page import PARTS, companion_page, part_of
from gyrfalcon_paper.tables import numbers
from tests.processes import LIMIT, started
from tests.reports.test_page import Elements

FEW = (example.EXHIBIT, intuition.EXHIBIT)


def failing() -> None:
    raise ValueError("the sky is down.")


def some_claims() -> list[Claim]:
    rows: list[tuple[str, bool | None]] = [
        ("Section 1.1", True),
        ("Lemma 3, middle", False),
        ("Appendix E", None),
    ]
    return [
        Claim(key=f"k{at}", source=source, statement=f"s{at} < 1.", computed=f"c{at}", holds=holds, note="n")
        for at, (source, holds) in enumerate(rows)
    ]


def files_under(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A companion of few exhibits and no claims."""
    folder = tmp_path_factory.mktemp("companion")
    write_companion(folder, quick=True, jobs=1, exhibits=FEW, claims=())
    return folder


def test_every_figure_and_table_has_its_files(written: Path) -> None:
    names = set(files_under(written))
    for key in ("example", "intuition"):
        assert {f"figures/{key}.{kind}" for kind in ("svg", "pdf", "png")} <= names
    assert "data/example-summary.csv" in names
    assert {"index.html", "claims.json"} <= names


def test_tables_are_read_back_as_they_were(written: Path) -> None:
    tables = example.EXHIBIT.tables([piece() for piece in example.EXHIBIT.work(Effort(quick=True))])
    with (written / "data/example-summary.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert {name: float(value) for name, value in row.items()} == {
        name: numbers(tables["summary"], name)[0] for name in tables["summary"]
    }


def test_the_page_links_to_files_that_are_there(written: Path) -> None:
    elements = Elements((written / "index.html").read_text())
    links = [attributes["href"] or "" for attributes in elements.all("a")]
    files = [link for link in links if not link.startswith("#")]
    assert files
    assert all((written / link).is_file() for link in files)
    assert len(elements.all("img")) == len(FEW)


def test_the_same_work_gives_the_same_files_whoever_does_it(written: Path, tmp_path: Path) -> None:
    write_companion(tmp_path, quick=True, jobs=2, exhibits=FEW, claims=())
    assert files_under(tmp_path) == files_under(written)


def test_progress_counts_every_piece_once(tmp_path: Path) -> None:
    heard: list[tuple[int, int, str]] = []
    write_companion(
        tmp_path, quick=True, jobs=1, exhibits=FEW[:1], claims=(), on_piece=lambda *told: heard.append(told)
    )
    assert heard == [(1, 2, example.EXHIBIT.title), (2, 2, example.EXHIBIT.title)]


def _failing_work(effort: Effort) -> list[Piece]:
    del effort
    return [failing]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_piece_that_fails_names_its_exhibit_and_leaves_no_file(tmp_path: Path, jobs: int) -> None:
    broken = replace(example.EXHIBIT, work=_failing_work)
    with pytest.raises(PieceFailedError, match=r"Example.*the sky is down"):
        write_companion(tmp_path, quick=True, jobs=jobs, exhibits=(broken,), claims=())
    assert not files_under(tmp_path)


def test_results_keep_the_order_of_the_work() -> None:
    tasks = [Task(f"{n}", partial(pow, n, 2)) for n in range(7)]
    assert run_all(tasks, 2, lambda *_: None) == [n * n for n in range(7)]


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    broken = replace(example.EXHIBIT, work=_failing_work)
    with pytest.raises(OSError, match="file"):
        write_companion(tmp_path / "file", quick=True, exhibits=(broken,), claims=())


def test_exhibits_have_keys_of_their_own_and_pieces_that_can_be_sent() -> None:
    import pickle

    keys = [exhibit.key for exhibit in EXHIBITS]
    assert len(set(keys)) == len(keys)
    for exhibit in EXHIBITS:
        for effort in (Effort(quick=True), Effort(quick=False)):
            assert pickle.loads(pickle.dumps(exhibit.work(effort)))


def test_every_source_of_a_claim_has_its_part_of_the_page() -> None:
    for source in SOURCES:
        claim = Claim(key="k", source=source, statement="", computed="", holds=True)
        assert part_of(claim) in PARTS


def test_the_page_counts_claims_and_shows_each_with_its_verdict() -> None:
    page = Elements(companion_page([], some_claims(), Effort(quick=False)).html())
    assert "Of 3 claims, 1 hold as stated and 1 do not, and 1 could not be decided" in page.text
    for words in ("✓ holds", "✗ does not hold", "– not decided", "s1 < 1."):
        assert words in page.text


def test_the_page_says_how_to_make_it_again() -> None:
    quick, full = (companion_page([], [], Effort(quick=quick)).html() for quick in (True, False))
    assert "gyrfalcon paper --quick" in quick
    assert "gyrfalcon paper --out" in full


def test_numbers_in_tables_keep_all_their_digits() -> None:
    value = 0.1 + 0.2
    assert csv_of({"x": [value]}) == f"x\n{value!r}\n"


INTERRUPTED = """
import sys
from pathlib import Path
from gyrfalcon_paper.companion import write_companion
def told(done, total, title):
    print(done, flush=True)
try:
    write_companion(Path(sys.argv[1]), quick=False, jobs=2, on_piece=told)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.usefixtures("foreground")
def test_ctrl_c_leaves_no_part_of_a_file_and_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "1"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes at once
        out, error = process.communicate(timeout=LIMIT)
    assert out.strip().endswith("stopped")
    assert "Traceback" not in error
    assert not files_under(tmp_path)


@pytest.mark.long
def test_the_quick_companion_is_whole(tmp_path: Path) -> None:
    page = write_companion(tmp_path, quick=True)
    elements = Elements(page.read_text())
    assert len(elements.all("img")) == len(EXHIBITS)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert len(claims) > 40
    assert all(claim["statement"] in elements.text or "<" in claim["statement"] for claim in claims)
