from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gyrfalcon.sweeps.processes import PieceFailedError, Task, run_all
from gyrfalcon_paper.claims.claim import LEGEND, Claim, Kind, Verdict
from gyrfalcon_paper.companion import EXHIBITS, csv_of, write_companion
from gyrfalcon_paper.exhibits import example, intuition
from gyrfalcon_paper.exhibits.exhibit import Effort, Piece
from gyrfalcon_paper.page import companion_page, data_table
from gyrfalcon_paper.tables import numbers
from tests.processes import LIMIT, started
from tests.reports.test_page import Elements

FEW = (example.EXHIBIT, intuition.EXHIBIT)


def failing() -> None:
    raise ValueError("the sky is down.")


def some_claims() -> list[Claim]:
    rows = [
        ("Section 1.1", Verdict.HOLDS, Kind.PAPER),
        ("Lemma 3, proof", Verdict.ERRATUM, Kind.PAPER),
        ("Lemma 4", Verdict.DOUBLE_PRECISION_ONLY, Kind.PAPER),
        ("Appendix E", Verdict.HOLDS, Kind.EXPECTATION),
    ]
    return [
        Claim(
            key=f"k{at}", part="P", place=place, statement=f"s{at} < 1.", verdict=verdict, note="n", kind=kind
        )
        for at, (place, verdict, kind) in enumerate(rows)
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
    calls: list[tuple[int, int, str]] = []
    write_companion(
        tmp_path, quick=True, jobs=1, exhibits=FEW[:1], claims=(), on_piece=lambda *call: calls.append(call)
    )
    assert calls == [(1, 2, example.EXHIBIT.title), (2, 2, example.EXHIBIT.title)]


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


def test_the_page_shows_claims_with_verdicts_a_legend_and_their_count() -> None:
    page = Elements(companion_page([], some_claims(), Effort(quick=False)).html())
    assert "3 claims of the paper" in page.text
    assert "0 corrections and 1 expectations of our own" in page.text
    for words in (
        "✓ holds",
        "✗ erratum",
        "– double precision only",
        "s1 < 1.",
        "our expectation",
        *LEGEND.values(),
    ):
        assert words in page.text


def test_the_documentation_has_the_same_legend() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "reproduce-the-paper.md"
    text = page.read_text(encoding="utf-8")
    assert all(f"| `{verdict}` | {meaning} |" in text for verdict, meaning in LEGEND.items())


def test_tables_of_one_row_are_listed_by_name() -> None:
    assert data_table({"b": [0.5], "n_rounds": [3]}).rows == [("b", 0.5), ("rounds", 3)]
    assert data_table({"b": [0.5, math.nan], "name": ["x", "y"]}).rows == [(0.5, "x"), ("–", "y")]


def test_standard_errors_stand_in_brackets() -> None:
    table = data_table({"late": [0.5, 0.25], "late_standard_error": [0.0123, 0.1], "standard_error": [1, 2]})
    assert tuple(table.columns) == ("late", "standard error")
    assert table.rows == [("0.5 (0.012)", 1), ("0.25 (0.1)", 2)]


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
def on_piece(done, total, title):
    print(done, flush=True)
try:
    write_companion(Path(sys.argv[1]), quick=False, jobs=2, on_piece=on_piece)
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
