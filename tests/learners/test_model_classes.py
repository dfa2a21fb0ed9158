"""Classes by name: what each contains, how large it may be, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.model_classes import (
    AUTO,
    MAX_NUMBERS,
    MIN_FOURIER,
    N_FOURIER,
    N_MIXED_FOURIER,
    NAMES,
    Candidate,
    ParsedClasses,
    candidate,
    median_distance,
    most_columns,
    name_of,
    parsed_classes,
)
from gyrfalcon.oracles.features.bases import (
    ChainedMap,
    FeatureMap,
    Identity,
    JoinedMap,
    Polynomial,
    StandardisedMap,
)
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.storage.class_ids import ClassIds
from gyrfalcon.storage.codec import Decoder, Encoder


def rows(n: int, p: int, seed: int = 0) -> Floats:
    """Columns of very different means and scales."""
    rng = np.random.default_rng([seed, p])
    return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + 100.0 * rng.normal(size=p)


def expanded(name: str, x: Floats, n_actions: int = 2) -> Floats:
    found = candidate(name, x, n_actions)
    assert found is not None
    return found.basis.expand(x)


def explained(features: Floats, target: Floats) -> float:
    """The largest error of a least-squares fit of a target by features and an intercept."""
    phi = np.column_stack([np.ones(len(features)), features])
    fitted = phi @ np.linalg.lstsq(phi, target, rcond=None)[0]
    return float(np.abs(target - fitted).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [1, 4, 15])
def test_every_class_contains_the_linear_one(name: str, p: int) -> None:
    x = rows(600, p)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    assert explained(expanded(name, x), z @ np.arange(1.0, p + 1.0)) < 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_features_are_of_scale_one_whatever_the_units(name: str) -> None:
    x = rows(2_000, 4)
    features = expanded(name, x)
    assert np.abs(features).max() <= 10.0
    assert np.allclose(features[:, :4].std(axis=0), 1.0)
    assert features.std(axis=0).max() < 1.5
    same = expanded(name, x * 1e3 - 7.0)
    np.testing.assert_allclose(features, same, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_alone_has_the_features_it_has_in_a_batch(name: str) -> None:
    x = rows(300, 5)
    found = candidate(name, x, 3)
    assert found is not None
    together = found.basis.expand(x)
    assert together.flags.c_contiguous
    assert together.shape == (300, found.n_columns - 1)
    for row in range(0, 300, 37):
        assert np.array_equal(found.basis.expand(x[row : row + 1])[0], together[row])
    assert found.basis.n_inputs == 5


def test_the_quadratic_class_has_squares_and_products() -> None:
    x = rows(500, 3)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    assert explained(expanded("quadratic", x), z[:, 0] * z[:, 2] - 2.0 * z[:, 1] ** 2) < 1e-8


def test_products_are_left_out_where_they_are_too_many_and_squares_likewise() -> None:
    columns = {p: candidate("quadratic", rows(50, p), 2) for p in (26, 27, 199, 200)}
    assert {p: None if found is None else found.n_columns for p, found in columns.items()} == {
        26: 1 + 2 * 26 + 26 * 25 // 2,
        27: 1 + 2 * 27,
        199: 399,
        200: None,
    }


def test_splines_bend_where_lines_do_not() -> None:
    x = np.linspace(-1.0, 1.0, 400)[:, np.newaxis]
    assert explained(expanded("splines", x), np.abs(x[:, 0])) < 0.12
    assert explained(expanded("linear", x), np.abs(x[:, 0])) > 0.4


def test_splines_of_flags_would_be_the_linear_class_again() -> None:
    flags = np.random.default_rng(0).integers(0, 2, size=(100, 4)).astype(np.float64)
    assert candidate("splines", flags, 2) is None


def test_splines_take_fewer_knots_where_columns_are_scarce() -> None:
    found = {p: candidate("splines", rows(100, p), 2) for p in (1, 10, 20, 70, 130, 250)}
    sizes = {p: None if one is None else (one.n_columns - 1) / p for p, one in found.items()}
    assert sizes == {1: 18.0, 10: 8.0, 20: 7.0, 70: 5.0, 130: 3.0, 250: None}


def test_fourier_features_are_cosines_as_long_as_contexts_are_apart() -> None:
    x = rows(400, 3)
    found = candidate("fourier", x, 2, seed=5)
    assert found is not None
    assert found.n_columns == 1 + 3 + N_FOURIER
    fourier = found.basis.expand(x)[:, 3:]
    assert np.abs(fourier).max() <= math.sqrt(2.0)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    a, b = z[:40], z[40:80]
    kernel = np.exp(-np.sum((a - b) ** 2, axis=1) / (2.0 * median_distance(z) ** 2))
    inner = np.einsum("nd,nd->n", fourier[:40], fourier[40:80]) / N_FOURIER
    # Forty pairs of about 300 terms of variance below 1 each: five standard errors.
    np.testing.assert_allclose(inner, kernel, atol=5.0 / math.sqrt(N_FOURIER))


def test_the_seed_decides_the_random_fourier_features() -> None:
    x = rows(100, 2)
    first, again, other = (candidate("fourier", x, 2, seed=seed) for seed in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert np.array_equal(first.basis.expand(x), again.basis.expand(x))
    assert not np.array_equal(first.basis.expand(x), other.basis.expand(x))


@pytest.mark.parametrize("n_actions", [1, 2, 26, 100, 1_000, 5_000])
def test_no_class_but_the_linear_one_outgrows_its_room(n_actions: int) -> None:
    for p in (1, 6, 30, 120):
        for name in NAMES[1:]:
            found = candidate(name, rows(200, p), n_actions)
            if found is not None:
                assert found.n_columns <= most_columns(n_actions)
                assert found.n_columns**2 * n_actions <= MAX_NUMBERS


def test_too_few_random_fourier_features_are_none() -> None:
    p = most_columns(2) - 1 - MIN_FOURIER
    few = candidate("fourier", rows(50, p), 2)
    assert few is not None
    assert few.n_columns == most_columns(2)
    assert candidate("fourier", rows(50, p + 1), 2) is None


def fitted(found: Candidate, x: Floats, n_actions: int = 2, ridge: float = 1.0) -> ClassFit:
    """The fit of a class to random rewards of random actions."""
    rng, n = np.random.default_rng(len(x)), len(x)
    zeros = np.zeros(n, dtype=np.int64)
    action = rng.integers(0, n_actions, n)
    log = Log(Contexts(x), action, rng.random(n), np.full(n, 1.0 / n_actions), zeros, zeros, zeros)
    return ClassFit.start(found, n_actions, ridge).with_rows(log).refitted()


@pytest.mark.parametrize("name", NAMES)
def test_candidates_fits_and_models_can_be_stored(name: str) -> None:
    x = rows(60, 3)
    found = candidate(name, x, 2)
    assert found is not None
    fit = fitted(found, x)
    classes = ClassIds([Candidate])
    encoder = Encoder(classes)
    tree = encoder.encode((found, fit))
    again = Decoder(classes, encoder.arrays.__getitem__).decode(tree)
    assert np.array_equal(again[0].basis.expand(x), found.basis.expand(x))
    assert again[0].sizes == found.sizes
    assert again[1].inverses.tobytes() == fit.inverses.tobytes()  # type: ignore[union-attr]
    assert fit.model is not None
    assert np.array_equal(again[1].model.scores(Contexts(x)), fit.model.scores(Contexts(x)))


@pytest.mark.parametrize("x", [np.empty((20, 0)), np.ones((1, 3)), np.full((5, 2), 0.1)])
def test_contexts_that_tell_nothing_are_borne(x: Floats) -> None:
    for name in NAMES:
        found = candidate(name, x, 2)
        if found is not None:
            assert np.isfinite(found.basis.expand(x + 1e6)).all()
            assert np.isfinite(fitted(found, x).model.scores(Contexts(x + 1e6))).all()  # type: ignore[union-attr]
    linear = candidate("linear", x, 2)
    assert linear is not None
    assert fitted(linear, x).n_columns == linear.n_columns == 1 + x.shape[1]


def test_a_fit_starts_with_the_ridge_of_its_class_first() -> None:
    x = rows(50, 3)
    named = candidate("linear", x, 4)
    own = candidate(Linear(basis=Polynomial(degree=2), ridge=3.0), x, 4)
    assert named is not None
    assert own is not None
    fits = [fitted(one, x, n_actions=4, ridge=0.5) for one in (named, own)]
    assert [fit.penalties.least for fit in fits] == [0.5, 3.0]
    assert all((fit.penalties.values >= fit.penalties.least).all() for fit in fits)
    assert fits[1].inverses is not None
    assert fits[1].inverses.shape == (4, 10, 10)
    assert own.name == "Polynomial(degree=2, interactions=True), ridge 3"


def test_groups_are_the_inputs_and_each_kind_of_columns() -> None:
    x = rows(300, 3)
    sizes = {name: candidate(name, x, 2).sizes for name in NAMES}  # type: ignore[union-attr]
    assert sizes["linear"] == (1, 3)
    assert sizes["quadratic"] == (1, 3, 6)
    assert sizes["fourier"] == (1, 3, N_FOURIER)
    assert sizes["mixed"] == (1, 3, 6, sizes["splines"][2], N_MIXED_FOURIER)
    for name in NAMES:
        found = candidate(name, x, 2)
        assert found is not None
        assert sum(found.sizes) == found.n_columns
        assert np.array_equal(np.bincount(fitted(found, x).penalties.groups), found.sizes)


def test_the_mixed_class_contains_what_the_others_do() -> None:
    x = rows(600, 3)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    mixed = expanded("mixed", x)
    assert explained(mixed, z[:, 0] * z[:, 2] - 2.0 * z[:, 1] ** 2) < 1e-8
    for name in NAMES[:3]:
        assert explained(mixed, expanded(name, x) @ np.ones(expanded(name, x).shape[1])) < 1e-6


def test_the_mixed_class_drops_parts_where_columns_are_scarce() -> None:
    parts = {}
    for p, n_actions in ((3, 2), (14, 2), (40, 2), (120, 2), (3, 100), (20, 1_000), (300, 2), (390, 2)):
        found = candidate("mixed", rows(100, p), n_actions)
        parts[p, n_actions] = None if found is None else len(found.sizes) - 2
        assert found is None or found.n_columns <= most_columns(n_actions)
    # Products, splines and random Fourier features, or fewer of them, or none.
    assert parts == {
        (3, 2): 3,
        (14, 2): 3,
        (40, 2): 2,
        (120, 2): 2,
        (3, 100): 3,
        (20, 1_000): 2,
        (300, 2): 1,
        (390, 2): None,
    }


def test_classes_of_ones_own_are_standardised_unless_they_say_otherwise() -> None:
    x = rows(500, 2)
    standardised = candidate(Linear(basis=Identity()), x, 2)
    plain = candidate(Linear(basis=Identity(), standardise=False), x, 2)
    assert standardised is not None
    assert plain is not None
    np.testing.assert_allclose(standardised.basis.expand(x).std(axis=0), 1.0)
    assert np.array_equal(plain.basis.expand(x), x)
    assert plain.name != standardised.name


def test_a_choice_is_a_name_a_class_or_a_list_of_them() -> None:
    own = Linear(basis=Splines(n_knots=4))
    assert parsed_classes("fourier") == ParsedClasses(
        ("fourier",), with_linear=False, names=("linear", "fourier")
    )
    assert parsed_classes(own).others == (own,)
    assert parsed_classes(["auto", own]).others == (*AUTO[1:], own)
    assert parsed_classes(("linear", own)).names == ("linear", "Splines(n_knots=4, degree=3)")
    assert name_of(own) == "Splines(n_knots=4, degree=3)"


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["liner"], "classes names 'liner', which is no model class: did you mean 'linear'"),
        ("quadratics", "did you mean 'quadratic'"),
        (
            "xyz",
            r"known are 'auto', 'auto_trees', 'linear', 'quadratic', 'splines', 'fourier', 'mixed', "
            "'logistic', 'trees'",
        ),
        ([], r"classes is \[\]; give 'auto'"),
        (7, "classes is 7; give 'auto'"),
        ([7], "classes holds 7; give names"),
        (["auto", "linear"], "classes holds 'linear' twice"),
        ([Linear(), Linear()], "twice; give each class once"),
        ([Linear(layout="shared")], "coefficients per action"),
        ([Linear(intercept=False)], "coefficients per action"),
    ],
)
def test_what_is_no_class_is_refused_with_the_nearest_name(classes: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parsed_classes(classes)


def test_the_median_distance_is_that_of_all_pairs() -> None:
    x = rows(150, 4)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    apart = [math.dist(a, b) for i, a in enumerate(z.tolist()) for b in z.tolist()[:i]]
    assert median_distance(z) == pytest.approx(float(np.median(apart)))
    many = np.random.default_rng(0).normal(size=(100_000, 2))
    assert median_distance(many) == pytest.approx(math.sqrt(4.0 * math.log(2.0)), rel=0.15)
    assert median_distance(np.ones((10, 2))) == 1.0
    # Rows that were seen before are at no distance; of the others there is one kind.
    assert median_distance(np.array([[0.0], [0.0], [0.0], [3.0]])) == 3.0


STANDARD = StandardisedMap.of(Identity().fit(np.eye(3)), rows(9, 3))


@pytest.mark.parametrize(
    "made",
    [
        STANDARD,
        ChainedMap(STANDARD, Polynomial(degree=2).fit(rows(9, 3))),
        JoinedMap((STANDARD, RandomFourier(n_features=3).fit(rows(9, 3)))),
    ],
)
def test_maps_of_maps_keep_leading_shape(made: FeatureMap) -> None:
    for shape in [(), (1,), (0,), (2, 5)]:
        assert made.expand(np.zeros((*shape, 3))).shape == (*shape, made.n_features)


def test_a_constant_column_keeps_its_units() -> None:
    x = np.column_stack([np.full(5, 0.1), np.arange(5.0)])
    made = StandardisedMap.of(Identity().fit(x), x, limit=3.0)
    assert made.scales[0] == 1.0
    assert made.expand(np.array([0.6, 1e9])).tolist() == [0.5, 3.0]
