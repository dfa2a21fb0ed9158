"""The Open Bandit data: all six small files import, with what they say of themselves."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.logs import open_bandit_data, read_log
from gyrfalcon.logs.formats.open_bandit.tables import read_open_bandit
from tests.open_bandit_data import needed

N_ITEMS = {"all": 80, "men": 34, "women": 46}
# Clicks among the 10,000 rows, counted by `cut -d, -f5 | sort | uniq -c` in the files.
N_CLICKS = {
    ("random", "all"): 38,
    ("random", "men"): 46,
    ("random", "women"): 46,
    ("bts", "all"): 42,
    ("bts", "men"): 69,
    ("bts", "women"): 46,
}

ITEMS = """,item_id,item_feature_0,item_feature_1
0,7,-0.5,a
1,3,1.25,b
"""
ROWS = """\
,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_7,\
user-item_affinity_3
0,2019-11-24 00:00:02+00:00,3,2,1,0.25,x,0.0,2.0
1,2019-11-24 00:00:01.500000+00:00,7,1,0,0.75,y,1.0,0.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of two rows in the layout of the large one."""
    inside = tmp_path / "bts" / "men"
    inside.mkdir(parents=True)
    (inside / "men.csv").write_text(ROWS)
    (inside / "item_context.csv").write_text(ITEMS)
    return tmp_path


@pytest.mark.parametrize(("policy", "campaign"), N_CLICKS)
def test_all_six_small_files_import(policy: str, campaign: str) -> None:
    table = open_bandit_data(needed(), policy, campaign)
    assert len(table) == 10_000
    assert table.actions == tuple(range(N_ITEMS[campaign]))
    assert int(table.reward.sum()) == N_CLICKS[policy, campaign]
    assert ((table.propensity > 0.0) & (table.propensity < 1.0)).all()
    assert table.time is not None
    assert (np.diff(table.time) >= 0.0).all()
    # One indicator of the position and of each of four user features is 1 in every row.
    assert (table.contexts.shared.sum(axis=1) == 5.0).all()


@pytest.mark.parametrize("campaign", N_ITEMS)
def test_items_of_the_random_policy_were_drawn_uniformly(campaign: str) -> None:
    table = open_bandit_data(needed(), "random", campaign)
    assert table.passive is not None
    assert table.passive.all()
    assert table.distribution is not None
    logged = table.distribution[np.arange(len(table)), table.action]
    np.testing.assert_allclose(logged, table.propensity, rtol=1e-12)


def test_mean_weights_of_the_bts_files_are_those_that_were_published() -> None:
    means = {}
    for campaign in N_ITEMS:
        table = open_bandit_data(needed(), "bts", campaign)
        means[campaign] = float(np.mean(1.0 / table.propensity) / table.n_actions)
    assert means["women"] == pytest.approx(3.1, abs=0.05)
    assert means["all"] == pytest.approx(1.0, abs=0.06)
    assert means["men"] == pytest.approx(1.0, abs=0.06)


def test_rows_of_a_small_example_are_read_in_the_order_of_their_times(folder: Path) -> None:
    table = open_bandit_data(
        folder, "bts", "men", action_features=["affinity", "item_feature_0", "item_feature_1"]
    )
    assert table.actions == (3, 7)
    assert table.action.tolist() == [1, 0]
    assert table.rows.tolist() == [1, 0]
    assert table.reward.tolist() == [0.0, 1.0]
    assert table.propensity.tolist() == [0.75, 0.25]
    assert table.features == ("position=1", "position=2", "user_feature_0=x", "user_feature_0=y")
    assert table.contexts.shared.tolist() == [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]
    assert table.action_features == ("affinity", "item_feature_0", "item_feature_1=a", "item_feature_1=b")
    assert table.contexts.actions is not None
    assert table.contexts.actions.tolist() == [
        [[0.0, 1.25, 0.0, 1.0], [1.0, -0.5, 1.0, 0.0]],
        [[2.0, 1.25, 0.0, 1.0], [0.0, -0.5, 1.0, 0.0]],
    ]
    assert table.distribution is None


def test_a_wheel_holds_what_its_folder_holds(folder: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "obp-0.4.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("men.csv", "item_context.csv"):
            archive.write(folder / "bts" / "men" / name, f"obp/dataset/obd/bts/men/{name}")
    table = open_bandit_data(wheel, "bts", "men")
    assert table.reward.tolist() == read_open_bandit(folder / "bts" / "men").reward.tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("01:00,3,2", "01:00,3,2", ""),
        (",3,2,1,", ",5,2,1,", r"men\.csv, line 2: item_id 5 is not in item_context\.csv"),
        (",3,2,1,", ",3,2,yes,", r"men\.csv, line 2: click is 'yes', which is not a number"),
        (",x,0.0,2.0", ",x,0.0", r"men\.csv, line 2: there are 8 values for 9 columns"),
        ("2019-11-24 00:00:02", "yesterday", r"line 2: timestamp is 'yesterday\+00:00', which is not a time"),
    ],
)
def test_rows_that_cannot_be_read_are_named(folder: Path, old: str, new: str, message: str) -> None:
    file = folder / "bts" / "men" / "men.csv"
    file.write_text(ROWS.replace(old, new))
    if not message:
        read_open_bandit(file)
        return
    with pytest.raises(ValueError, match=message):
        read_open_bandit(file)


def test_wrong_places_and_names_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"policy is 'greedy'; choose 'random' or 'bts'"):
        open_bandit_data(folder, "greedy")
    with pytest.raises(ValueError, match="does not exist"):
        open_bandit_data(folder / "nowhere", "bts", "men")
    with pytest.raises(ValueError, match=r"has no random/men/men\.csv"):
        open_bandit_data(folder, "random", "men")
    with pytest.raises(ValueError, match="'price' is no feature of items; choose among 'affinity'"):
        open_bandit_data(folder, "bts", "men", action_features=["price"])


def test_a_file_of_the_folder_or_archive_is_read_by_policy_and_campaign(folder: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "obp-0.4.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("men.csv", "item_context.csv"):
            archive.write(folder / "bts" / "men" / name, f"obp/dataset/obd/bts/men/{name}")
    from_wheel = read_log(wheel, policy="bts", campaign="men")
    from_folder = read_log(folder, "obp", policy="bts", campaign="men")
    assert from_wheel.reward.tolist() == from_folder.reward.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"has no obp/dataset/obd/random/all/all\.csv"):
        read_log(wheel)
    with pytest.raises(ValueError, match="is_random is for one CSV file"):
        read_log(wheel, is_random=False)
