"""Grids as data: from Python and from files, what they refuse, and the cells they are cut into."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon import Falcon, LinUCB
from gyrfalcon.environments import StepExample
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.sweeps.content_key import Keyed
from gyrfalcon.sweeps.grid import Cell, Grid

TOML = """
n_rounds = 1_000
n_replications = 30
seeds = [0, 7]
checkpoints = [10, 100]

[[learners]]
name = "LinUCB"
alpha = [0.1, 0.3, 1.0]

[[learners]]
name = "epsilon-falcon"
model_class = { name = "Linear", basis = { name = "Polynomial", degree = [2, 3] } }

[[environments]]
name = ["StepExample", "iris"]
"""


def _grid(**changes: Any) -> Grid:
    return Grid(**{"learners": ["LinUCB"], "environments": ["StepExample"], "n_rounds": 100, **changes})


def _written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def _labels(grid: Grid) -> list[str]:
    return [member.label for member in grid.learners]


def test_a_file_and_python_give_the_same_grid(tmp_path: Path) -> None:
    basis = {"name": "Polynomial", "degree": [2, 3]}
    grid = Grid(
        learners=[
            LinUCB(alpha=0.1),
            LinUCB(alpha=0.3),
            "LinUCB",
            {"name": "EpsilonFalcon", "model_class": {"name": "Linear", "basis": basis}},
        ],
        environments=[StepExample(), "iris"],
        n_rounds=1000,
        n_replications=30,
        seeds=[0, 7],
        checkpoints=np.array([10, 100]),
    )
    read = Grid.from_toml(_written(tmp_path, TOML))
    assert read == grid
    assert [cell.key for cell in read.cells] == [cell.key for cell in grid.cells]


def test_lists_expand_to_all_combinations() -> None:
    learner = {"name": "LinUCB", "alpha": [0.1, 0.2], "ridge": [1.0, 2.0]}
    labels = _labels(_grid(learners=[learner]))
    assert labels == [
        "LinUCB(alpha=0.1)",
        "LinUCB(alpha=0.1, ridge=2.0)",
        "LinUCB(alpha=0.2)",
        "LinUCB(alpha=0.2, ridge=2.0)",
    ]


def test_lists_expand_within_parts_and_over_parts_and_names() -> None:
    schedules = [{"name": "Doubling", "first": [10, 20]}, {"name": "FixedBatch"}]
    labels = _labels(_grid(learners=[{"name": ["Falcon", "Uniform"], "schedule": schedules}]))
    assert len(labels) == len(set(labels)) == 6
    assert "Uniform(schedule=Doubling(first=20))" in labels


def test_a_setting_that_is_a_sequence_takes_a_list_as_its_value() -> None:
    environments = [{"name": "LinearEnvironment"}, {"name": "LinearEnvironment", "environment_seed": 1}]
    switching = {"name": "Switching", "environments": environments, "at": 50}
    assert len(_grid(environments=[switching]).environments) == 1
    assert (
        len(
            _grid(
                environments=[{**switching, "environments": [environments, environments[::-1]]}]
            ).environments
        )
        == 2
    )
    assert len(_grid(environments=[{**switching, "at": [50, [60]]}]).environments) == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"learners": []}, r"learners is empty; give at least one\."),
        ({"environments": ()}, r"environments is empty"),
        ({"seeds": []}, r"seeds is empty"),
        ({"learners": "LinUCB"}, r"learners is 'LinUCB'; give a list"),
        ({"learners": {"name": "LinUCB"}}, r"learners is \{.*; give a list"),
        ({"learners": LinUCB()}, r"learners is LinUCB.*; give a list"),
        ({"learners": ["linucb", LinUCB()]}, r"learners\[1\] \(LinUCB\) is the same as learners\[0\]"),
        (
            {"learners": [{"name": "LinUCB", "alpha": [1, 1.0]}]},
            r"learners\[0\] \(LinUCB\) comes twice, as a list in it repeats",
        ),
        ({"learners": [{"name": "LinUCB", "alpha": []}]}, r"learners\[0\]\.alpha is an empty list"),
        ({"learners": ["LinUCB", "Falcn"]}, r"learners\[1\]: .*'Falcn'; did you mean 'Falcon'"),
        (
            {"learners": [{"name": "LinUCB", "alpha": [1.0, -1.0]}]},
            r"learners\[0\] \(LinUCB\): alpha is -1\.0",
        ),
        (
            {"environments": [{"name": "StepExample", "nose": [1]}]},
            r"environments\[0\] \(StepExample\): .*'noise'",
        ),
        ({"n_rounds": 0}, r"n_rounds is 0; give a whole number of at least 1"),
        ({"n_rounds": 10.5}, r"n_rounds is 10\.5"),
        ({"n_rounds": 10**29}, r"n_rounds is 10{29}; give a whole number of at least 1 and below"),
        ({"n_rounds": 2**63 - 1, "checkpoints": "every"}, r"n_rounds is 9223372036854775807; give"),
        ({"n_replications": 10**19}, r"the grid has \d00,000,000,000,000,000 cells .*; make it smaller"),
        ({"seeds": range(10**12)}, r"seeds is range.*, which are more than 1,000,000; give fewer"),
        (
            {
                "learners": [
                    {"name": "LinUCB", "alpha": [1 + i for i in range(2000)], "ridge": [*range(1, 1001)]}
                ]
            },
            r"the grid has \d,000,000 cells \(learners: 2,000,000,",
        ),
        (
            {"environments": [{"name": "Delayed", "mean": 3, "environment": "StepExampel"}]},
            r"environments\[0\]\.environment: there is no part called 'StepExampel'; "
            "did you mean 'StepExample'",
        ),
        (
            {"learners": [{"name": "Greedy", "model_class": {"name": "Linear", "nam": "Linear"}}]},
            r"model_class \(Linear\): there is no setting called 'nam'; did you mean 'name'",
        ),
        ({"n_rounds": "10"}, r"n_rounds is '10'"),
        ({"n_replications": -3}, r"n_replications is -3"),
        ({"n_replications": True}, r"n_replications is True"),
        ({"seeds": [0, 1, 0]}, r"seeds\[2\] is 0 again; give each seed once"),
        ({"seeds": [-1]}, r"seeds\[0\] is -1"),
        ({"seeds": [2**63]}, r"seeds\[0\] is 9223372036854775808"),
        ({"seeds": "01"}, r"seeds is '01'; give a list"),
        ({"checkpoints": [101]}, r"a checkpoint is 101; give numbers of rounds from 1 to n_rounds = 100"),
        ({"checkpoints": "all"}, r"checkpoints is 'all'; give 'every'"),
        ({"checkpoints": True}, r"checkpoints is True; give 'every'"),
        ({"checkpoints": [1.5]}, r"checkpoints are \[1\.5\]"),
    ],
)
def test_what_is_no_grid_is_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        _grid(**changes)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("n_rounds = \n", r"grid\.toml is not TOML: .*line 1"),
        ("n_rounds = 10\nn_rounds = 20\n", r"grid\.toml is not TOML: .*line 2"),
        ("n_roundz = 10\n", r"grid\.toml: .*'n_roundz' of a grid; did you mean 'n_rounds'"),
        ("n_rounds = 10\n", r"grid\.toml: learners is missing; give it\."),
        ("[learners]\nname = 'LinUCB'\n", r"\[learners\] is one table; write \[\[learners\]\]"),
        (TOML.replace('"LinUCB"', '"LinUCBB"'), r"grid\.toml: learners\[0\]: .*did you mean 'LinUCB'"),
        (TOML.replace("degree", "degre"), r"learners\[1\]\.model_class\.basis \(Polynomial\): .*'degree'"),
        (
            TOML.replace("[2, 3]", "[2, 13]"),
            r"learners\[1\]\.model_class\.basis \(Polynomial\): degree is 13",
        ),
        (
            TOML.replace("1_000", "1979-05-27"),
            r"n_rounds is datetime\.date\(1979, 5, 27\); give a whole number",
        ),
        ("", r"grid\.toml: learners is missing"),
    ],
)
def test_what_is_no_grid_in_a_file_is_refused_with_the_file(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Grid.from_toml(_written(tmp_path, text))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"grid\.toml is not text in UTF-8"):
        Grid.from_toml(tmp_path / "grid.toml")


def _replications(cells: tuple[Cell, ...]) -> Counter[tuple[str, int]]:
    return Counter((cell.series, number) for cell in cells for number in cell.replications)


@given(
    n=st.integers(1, 200),
    n_checkpoints=st.sampled_from([None, "every", 3]),
    n_rounds=st.sampled_from([1, 30_000]),
)
def test_cells_have_every_replication_once(n: int, n_checkpoints: Any, n_rounds: int) -> None:
    cells = _grid(n_replications=n, checkpoints=n_checkpoints, n_rounds=n_rounds, seeds=[0, 1]).cells
    counted = _replications(cells)
    assert set(counted.values()) == {1}
    assert len(counted) == 2 * n
    assert len({cell.key for cell in cells}) == len(cells)


@given(stored=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=5))
def test_what_is_left_of_a_cell_is_what_is_not_stored(stored: list[tuple[int, int]]) -> None:
    (cell,) = _grid(n_replications=25).cells
    ranges = [range(first, first + n) for first, n in stored]
    left = [number for part in cell.without(ranges) for number in part.replications]
    assert left == [number for number in cell.replications if not any(number in one for one in ranges)]


def test_keys_depend_on_everything_that_results_depend_on() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"learners": [LinUCB(alpha=0.5)]},
        {"learners": [Falcon()]},
        {"environments": [StepExample(noise=0.3)]},
        {"n_rounds": 99},
        {"n_replications": 2},
        {"seeds": [1]},
        {"checkpoints": [50]},
    ]
    keys = [_grid(**change).cells[0].key for change in changes]
    assert len(set(keys)) == len(keys)


def test_keys_do_not_depend_on_how_the_same_thing_was_written() -> None:
    key = _grid().cells[0].key
    assert _grid(learners=[LinUCB()]).cells[0].key == key
    assert _grid(learners=[{"name": "lin-ucb", "alpha": 1}]).cells[0].key == key
    assert _grid(learners=["Falcon", "LinUCB"], n_replications=1, seeds=0).cells[1].key == key
    every = _grid(checkpoints="every").cells[0]
    assert _grid(checkpoints=range(1, 101)).cells[0].key == every.key != key


def test_keys_are_the_same_in_another_process() -> None:
    program = (
        "from gyrfalcon.sweeps.grid import Grid\n"
        "print(Grid([{'name': 'LinUCB', 'alpha': 0.3}], ['StepExample'], 100, seeds=[3]).cells[0].key)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert printed.stdout.strip() == Grid([LinUCB(alpha=0.3)], ["StepExample"], 100, seeds=[3]).cells[0].key


def test_a_grid_can_be_changed_as_any_value() -> None:
    grid = _grid(learners=[{"name": "LinUCB", "alpha": [0.1, 0.3]}])
    more = replace(grid, n_replications=5)
    assert more.learners == grid.learners
    assert [cell.series for cell in more.cells] == [cell.series for cell in grid.cells]
    assert replace(more, n_replications=1) == grid


class _Nameless:
    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return StepExample().draw(start, stop, seed)


def test_objects_without_content_are_refused_with_their_place_and_taken_with_a_key() -> None:
    with pytest.raises(ValueError, match=r"environments\[1\]: .* no content .* frozen dataclass, or wrap"):
        _grid(environments=["StepExample", _Nameless()])
    grid = _grid(environments=[Keyed(_Nameless(), "mine")])
    assert grid.environments[0].label == "mine"
    assert isinstance(grid.environments[0].value, _Nameless)


def test_two_things_with_one_label_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"environments\[1\] has the label 'StepExample', as environments\[0\] has"
    ):
        _grid(environments=["StepExample", Keyed(_Nameless(), "StepExample")])


def test_a_cell_says_what_it_is() -> None:
    cells = _grid(n_replications=26, seeds=[4]).cells
    assert list(map(str, cells)) == [
        "LinUCB in StepExample, seed 4, replications 0 to 24",
        "LinUCB in StepExample, seed 4, replication 25",
    ]


def test_a_plain_name_does_for_a_part() -> None:
    short = {"name": "Delayed", "mean": 3, "environment": ["StepExample", "XorEnvironment"]}
    long = {
        "name": "Delayed",
        "mean": 3,
        "environment": [{"name": "StepExample"}, {"name": "XorEnvironment"}],
    }
    assert _grid(environments=[short]).environments == _grid(environments=[long]).environments
    environments = {
        "name": "Switching",
        "environments": ["StepExample", {"name": "StepExample", "noise": 0.2}],
        "at": 50,
    }
    (switching,) = _grid(environments=[environments]).environments
    assert switching.label.startswith("Switching(environments=(StepExample, StepExample(noise=0.2))")


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    plain, marked = tmp_path / "plain.toml", tmp_path / "marked.toml"
    plain.write_text(TOML, encoding="utf-8")
    marked.write_text(TOML, encoding="utf-8-sig")
    assert Grid.from_toml(marked) == Grid.from_toml(plain)


_SCRIPT = """
from dataclasses import dataclass
from gyrfalcon import Grid

@dataclass(frozen=True)
class Ridge:
    width: float = 0.2

    def draw(self, start, stop, seed):
        raise NotImplementedError

print(*(f"{cell.environment.label} {cell.key}" for cell in Grid(["Uniform"], [Ridge()], n_rounds=10).cells))
"""


def test_classes_of_two_scripts_are_not_the_same(tmp_path: Path) -> None:
    told = []
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(_SCRIPT)
        for command in ([str(tmp_path / f"{name}.py")], ["-m", name]):
            done = subprocess.run(
                [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True
            )
            told.append(tuple(done.stdout.split()))
    assert [label for label, _ in told] == ["first.Ridge"] * 2 + ["second.Ridge"] * 2
    assert len({key for _, key in told}) == 2
