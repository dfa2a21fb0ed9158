from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from gyrfalcon.reports.figures import COLOURS, Band, new_figure, pictures, regret_curves, save_pictures, style
from gyrfalcon.storage.atomic import write_atomically


def drawn() -> Figure:
    x = np.linspace(1.0, 10.0, 5)
    return regret_curves(x, {"one": Band(x, x - 1, x + 1)}, {"level": 4.0}, "title")


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return pictures(drawn())


def test_the_same_numbers_give_the_same_bytes(files: dict[str, bytes]) -> None:
    assert pictures(drawn()) == files


def test_pictures_are_what_their_endings_say_and_bear_no_date(files: dict[str, bytes]) -> None:
    assert files["png"].startswith(b"\x89PNG")
    assert files["pdf"].startswith(b"%PDF")
    assert b"<svg" in files["svg"]
    assert b"CreationDate" not in files["pdf"]
    assert not re.search(rb"20\d\d-\d\d-\d\d", files["svg"])


def test_pictures_hold_nothing_from_elsewhere(files: dict[str, bytes]) -> None:
    svg = files["svg"].decode()
    assert not re.findall(r'href="(?!#)', svg)


def test_saved_pictures_are_all_there_and_nothing_else(tmp_path: Path, files: dict[str, bytes]) -> None:
    (tmp_path / "figures").mkdir()
    save_pictures(tmp_path / "figures", "one", files)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["one.pdf", "one.png", "one.svg"]


def test_style_leaves_the_readers_own_settings_alone() -> None:
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    with style():
        new_figure().add_subplot()
        assert mpl.rcParams["svg.hashsalt"] == "gyrfalcon"
    assert mpl.rcParams["font.size"] == before


def test_a_band_is_two_standard_errors_wide_either_way_and_stays_above_its_floor() -> None:
    band = Band.of(np.array([1.0, 1.0]), np.array([0.1, 2.0]), floor=0.01)
    assert band.middle.tolist() == [1.0, 1.0]
    assert band.low.tolist() == [0.8, 0.01]
    assert band.high.tolist() == [1.2, 5.0]


def _luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_first_colours_stand_out_from_white() -> None:
    # 3 to 1 is what accessibility guidelines ask of graphics; the last two are for areas.
    assert all(1.05 / (_luminance(colour) + 0.05) > 2.9 for colour in COLOURS[:4])


def test_a_write_that_is_stopped_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "page.html"
    write_atomically(target, "old")

    def interrupted(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
