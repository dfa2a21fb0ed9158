from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, action_probabilities, decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel, InverseGapWeighting, Kernel
from gyrfalcon.core.sampling import event_uniforms, sample_action, sample_actions, uniforms_of_events

LARGEST = 1.0 - 2.0**-53
"""The largest float below 1, and the largest uniform there is."""

ALARM = 1e-6
"""How often a right sampler would fail each statistical test below, were its fixed ids drawn anew."""

uniforms = st.one_of(
    st.sampled_from([0.0, 0.5, LARGEST]), st.integers(0, 2**53 - 1).map(lambda i: i * 2.0**-53)
)


@st.composite
def probability_rows(draw: st.DrawFn) -> list[float]:
    """Rows with zeros anywhere, whose sum may miss 1 by what rounding may miss."""
    weight = st.one_of(st.just(0.0), st.sampled_from([1e-300, 1e-17, 1.0]), st.floats(0.0, 1.0))
    weights = draw(st.lists(weight, min_size=1, max_size=12).filter(lambda row: sum(row) > 1e-290))
    lost = draw(st.sampled_from([0.0, 2.0**-53, 1e-12]))
    return [one / sum(weights) * (1.0 - lost) for one in weights]


def test_an_action_is_drawn_where_its_cumulated_probability_passes_the_uniform() -> None:
    p = np.tile([0.125, 0.5, 0.375], (6, 1))
    u = np.array([0.0, 0.1249, 0.125, 0.6249, 0.625, LARGEST])
    assert sample_actions(p, u).tolist() == [0, 0, 1, 1, 2, 2]


@given(row=probability_rows(), u=uniforms)
def test_one_draw_in_plain_floats_is_the_draw_in_arrays(row: list[float], u: float) -> None:
    together = sample_actions(np.array([row, row[::-1], row]), np.array([u, u, 0.25]))
    assert sample_action(row, u) == together[0] == sample_actions(np.array([row]), np.array([u]))[0]
    assert sample_action(row[::-1], u) == together[1]


@given(row=probability_rows(), u=uniforms)
def test_a_draw_inverts_the_distribution_function_and_has_positive_probability(
    row: list[float], u: float
) -> None:
    action = sample_action(row, u)
    sums = np.cumsum(row)
    positive = np.flatnonzero(row)
    assert row[action] > 0.0
    assert action == min(np.searchsorted(sums, u, side="right"), positive[-1])


@pytest.mark.parametrize(
    "row",
    [
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
        [0.0, 0.5, 0.5 - 1e-13, 0.0],
        [0.0, 1.0 - 1e-12, 0.0],
        [0.1] * 9 + [0.1 - 1e-13, 0.0],
        [1.0],
        [1.0 - 1e-12],
    ],
)
@pytest.mark.parametrize("u", [0.0, 0.3, LARGEST])
def test_an_action_of_probability_0_is_never_drawn(row: list[float], u: float) -> None:
    assert row[sample_action(row, u)] > 0.0
    assert row[sample_actions(np.array([row, row]), np.array([u, u]))[1]] > 0.0


def test_a_uniform_beyond_the_last_sum_goes_to_the_last_possible_action() -> None:
    row = [0.25, 0.75 - 1e-12, 0.0]
    assert sample_action(row, LARGEST) == 1
    assert sample_actions(np.array([row]), np.array([LARGEST])).tolist() == [1]


@pytest.mark.parametrize(
    ("seed", "event_id", "words"),
    [
        (0, "", (1637111471073984, 3863934842823469, 7161050462463646)),
        (7, "visit-1", (6465772065835525, 5546213722885866, 339330498787448)),
        (-1, "Ærø/2024-02-29", (7754912545008813, 8746313230402101, 3265519514236864)),
    ],
)
def test_the_uniforms_of_an_event_are_these_on_every_machine(
    seed: int, event_id: str, words: tuple[int, int, int]
) -> None:
    first, second, third = words
    assert event_uniforms(seed, event_id) == (first * 2.0**-53, second * 2.0**-53, third * 2.0**-53)


@given(seed=st.integers(-(2**63), 2**63 - 1), event_id=st.text(max_size=40))
def test_uniforms_are_below_1_with_53_bits(seed: int, event_id: str) -> None:
    for u in event_uniforms(seed, event_id):
        assert 0.0 <= u < 1.0
        assert (u * 2.0**53).is_integer()


def test_uniforms_use_the_lowest_of_their_53_bits() -> None:
    words = uniforms_of_events(1, map(str, range(100))) * 2.0**53
    assert set((words % 2.0).ravel().tolist()) == {0.0, 1.0}


def test_columns_of_uniforms_are_the_events_in_order() -> None:
    rows = uniforms_of_events(3, ["a", "b"])
    assert rows.tolist() == [list(event_uniforms(3, "a")), list(event_uniforms(3, "b"))]
    assert uniforms_of_events(3, []).shape == (0, 3)


def test_seeds_and_events_have_uniforms_of_their_own() -> None:
    drawn = {event_uniforms(seed, event_id) for seed in range(-5, 5) for event_id in ("1", "2", "11", "")}
    assert len(drawn) == 40


def many_uniforms() -> Floats:
    return uniforms_of_events(2021, (f"event-{i}" for i in range(20_000)))


@pytest.mark.parametrize("column", [0, 1, 2])
def test_uniforms_are_uniform(column: int) -> None:
    counts = np.histogram(many_uniforms()[:, column], bins=100, range=(0.0, 1.0))[0]
    assert chisquare(counts).pvalue > ALARM


def test_the_three_uniforms_of_an_event_and_of_its_neighbour_are_uncorrelated() -> None:
    u = many_uniforms()
    pairs = np.asarray(np.corrcoef(np.column_stack([u[:-1], u[1:]]), rowvar=False))
    correlations = pairs[np.triu_indices(6, 1)]
    # 15 normal correlations of deviation 1 / sqrt(n): 5.5 deviations is a false alarm of 15 * 3.8e-8 < 1e-6.
    assert np.abs(correlations).max() < 5.5 / np.sqrt(len(u) - 1)


def test_pairs_of_uniforms_fill_the_square_evenly() -> None:
    u = many_uniforms()
    for i, j in ((0, 1), (0, 2), (1, 2)):
        counts = np.histogram2d(u[:, i], u[:, j], bins=12, range=((0.0, 1.0), (0.0, 1.0)))[0]
        assert chisquare(counts.ravel()).pvalue > ALARM


class Scores:
    """The same scores in every context."""

    def __init__(self, *scores: float) -> None:
        self.row = scores

    def scores(self, contexts: Contexts) -> Floats:
        return np.tile(self.row, (len(contexts), 1))


def played(kernel: Kernel, scores: Scores, design: PassiveDesign, share: float) -> Epoch:
    return Epoch(
        index=1,
        start=0,
        stop=10,
        policy=KernelPolicy(scores, kernel),
        passive_policy=UniformPolicy(4),
        passive_share=share,
        passive_design=design,
    )


WEIGHTED = played(InverseGapWeighting(20.0), Scores(0.1, 0.7, 0.65, 0.3), PassiveDesign.COIN, 0.2)
GREEDY = played(EpsilonGreedyKernel(0.1), Scores(0.9, 0.1, 0.2, 0.3), PassiveDesign.COIN, 0.05)
MASTER = Epoch(
    index=1,
    start=0,
    stop=10,
    policy=Mixture(np.array([0.3, 0.7]), (WEIGHTED, GREEDY)),
    passive_policy=UniformPolicy(4),
)


@pytest.mark.parametrize("epoch", [WEIGHTED, GREEDY, MASTER], ids=["weighted", "greedy", "mixture"])
@pytest.mark.parametrize("eligible", [None, [True, True, False, True]], ids=["all", "masked"])
def test_action_frequencies_match_propensities(epoch: Epoch, eligible: list[bool] | None) -> None:
    u = many_uniforms()
    n = len(u)
    mask = None if eligible is None else np.tile(eligible, (n, 1))
    contexts, rounds = Contexts(np.empty((n, 0)), None, mask), np.zeros(n, dtype=np.int64)
    counts = np.bincount(decide(epoch, rounds, contexts, u).action, minlength=4)
    p = action_probabilities(epoch, rounds, contexts)[0]
    possible = p > 0.0
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible], n * p[possible]).pvalue > ALARM


def test_component_frequencies_match_weights_and_shares() -> None:
    u = many_uniforms()
    n = len(u)
    made = decide(MASTER, np.zeros(n, dtype=np.int64), Contexts(np.empty((n, 0))), u)
    expected = [0.3 * 0.8, 0.3 * 0.2, 0.7 * 0.95, 0.7 * 0.05]
    assert chisquare(np.bincount(made.component, minlength=4), n * np.array(expected)).pvalue > ALARM
