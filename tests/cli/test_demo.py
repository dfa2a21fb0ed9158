from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.demo import GRID, LEARNERS, PIECE, Outcome, Piece, play_piece, run_demo
from tests.cli.terminal import WIDTH, invoke, numbers, refusal

SMALL = ("demo", "--rounds", "1000", "--replications", "3")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, float]]]:
    printed: dict[str, dict[str, dict[str, float]]] = numbers(
        *SMALL, "--out", tmp_path_factory.mktemp("demo")
    )
    return printed


def test_the_demo_prints_numbers_for_machines(report: dict[str, dict[str, dict[str, float]]]) -> None:
    assert set(report["regret"]) == {"LinUCB", "FALCON", "Epsilon-FALCON", "AdaptiveFalcon"}
    for name, row in report["regret"].items():
        trace = simulate(LEARNERS[name], StepExample(), 1000, 3, checkpoints=[500])
        assert row["cumulative"] == pytest.approx(trace.regret[:, -1].mean())
        late = np.diff(trace.regret).mean() / 500
        assert row["late_per_round"] == pytest.approx(late)


def test_the_demo_draws_a_figure_and_writes_a_page_that_needs_nothing_else(report: dict[str, str]) -> None:
    assert Path(report["figure"]).read_bytes().startswith(b"\x89PNG")
    page = Path(report["page"]).read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "Epsilon-FALCON" in page
    assert "How to go on" in page


def test_the_demo_prints_a_table_for_people_and_the_path_of_the_page(tmp_path: Path) -> None:
    result = invoke(*SMALL, "--out", tmp_path / "new")
    assert result.exit_code == 0
    assert "Epsilon-FALCON" in result.stdout
    assert "standard error" in result.stdout
    assert result.stdout.rstrip().endswith(f"Report: {tmp_path / 'new' / 'demo.html'}")
    table = result.stdout.partition("Figure:")[0]
    assert max(map(len, table.splitlines())) <= WIDTH


def test_replications_are_the_same_in_any_pieces() -> None:
    whole = simulate(LEARNERS["FALCON"], StepExample(), 1000, PIECE + 2)
    outcome = run_demo(1000, PIECE + 2)["FALCON"]
    assert outcome.cumulative.mean == pytest.approx(whole.regret[:, -1].mean(), rel=1e-12)
    assert outcome.n_replications == PIECE + 2


def test_estimates_are_those_of_the_last_epoch_without_a_bonus() -> None:
    piece = play_piece("Epsilon-FALCON", 3000, 1, 2)
    trace = simulate(
        LEARNERS["Epsilon-FALCON"], StepExample(), 3000, 2, first_replication=1, keep_policies=True
    )
    for estimates, epochs in zip(piece.estimates, trace.epochs, strict=True):
        model = epochs[-1].policy.scorer.restored()  # type: ignore[union-attr]
        assert estimates == pytest.approx(model.intercepts + model.weights * GRID)
        assert abs(estimates[1] - 0.5).max() < 0.1
    (adaptive,) = play_piece("AdaptiveFalcon", 3000, 0, 1).estimates
    assert np.abs(adaptive[0] - (GRID > 0.5)).mean() < 0.1  # no linear model is closer than 0.1875


@pytest.mark.parametrize("crossing", [0.1, 0.418861, 0.5, 0.8])
def test_the_greedy_policy_of_linear_models_that_cross_elsewhere_costs_half_of_how_far(
    crossing: float,
) -> None:
    piece = play_piece("FALCON", 1000, 0, 2)
    line = [0.5 - crossing, 1.5 - crossing]  # crosses 0.5 at the crossing
    estimates = np.array([[line[0] + GRID * (line[1] - line[0]), np.full(len(GRID), 0.5)]] * 2)
    outcome = Outcome.of([Piece("FALCON", piece.trace, estimates)])
    # A grid of 1000 contexts is off by at most one of them.
    assert outcome.greedy_regret() == pytest.approx(0.5 * abs(crossing - 0.5), abs=0.0006)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rounds", "10"), "at least 1000"),
        (("--replications", "1"), "at least 2"),
        (("--rounds", "some"), "whole number"),
    ],
)
def test_too_little_to_show_anything_is_refused(arguments: tuple[str, ...], words: str) -> None:
    result = invoke("demo", *arguments)
    assert result.exit_code == 2
    assert words in refusal(result)


def test_a_folder_that_cant_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke(*SMALL, "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "file" in refusal(result)
