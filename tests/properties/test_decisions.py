"""Decisions: a row gets the same bits alone and in any batch, and its propensity is the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, action_probabilities, decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer, UniformPolicy
from gyrfalcon.core.policies.kernels import (
    InverseGapWeighting,
    epsilon_greedy,
    inverse_gap_weighting,
    log_barrier_weighting,
    softmax,
)
from gyrfalcon.core.records import Decisions
from gyrfalcon.core.sampling import sample_actions
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.models import JointModel, OptimisticModel, PerActionModel
from tests.properties.choices import every_kernel, strengths


@dataclass(frozen=True)
class LinearScores:
    """The plainest scorer: one line per action."""

    weights: Floats

    def scores(self, contexts: Contexts) -> Floats:
        columns: Floats = np.einsum("kp,np->kn", self.weights, contexts.shared)
        return columns.T


@dataclass(frozen=True)
class Play:
    """An epoch and what comes to it."""

    epoch: Epoch
    rounds: Ints
    contexts: Contexts
    uniforms: Floats

    def decide(self, rows: slice | Ints = slice(None)) -> Decisions:
        return decide(self.epoch, self.rounds[rows], self.contexts.take(rows), self.uniforms[rows])

    def probabilities(self) -> Floats:
        return action_probabilities(self.epoch, self.rounds, self.contexts)


kernels = st.builds(lambda gamma, which: every_kernel(gamma)[which], strengths, st.integers(0, 4))
shares = st.one_of(
    st.sampled_from([0.0, 1e-6, 0.07, 0.3, 1.0]), st.integers(0, 10_000).map(lambda i: i / 10_000)
)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def some_mask(rng: np.random.Generator, n: int, k: int) -> Bools:
    mask = rng.random((n, k)) < rng.random()
    mask[np.arange(n), rng.integers(0, k, n)] = True
    return mask


def some_known(rng: np.random.Generator, k: int) -> Bools | None:
    return None if rng.random() < 0.5 else rng.random(k) < 0.7


def some_numbers(rng: np.random.Generator, *shape: int) -> Floats:
    """Normal numbers, or small whole ones, which tie."""
    numbers = rng.normal(size=shape)
    return numbers if rng.random() < 0.7 else np.round(numbers)


def per_action_model(rng: np.random.Generator, k: int, p: int) -> PerActionModel:
    center = None if rng.random() < 0.5 else some_numbers(rng, p)
    return PerActionModel(
        IdentityMap(p), center, some_numbers(rng, k, p), some_numbers(rng, k, 1), some_known(rng, k)
    )


def joint_model(rng: np.random.Generator, k: int, p: int, q: int) -> JointModel:
    layout = list(Layout)[rng.integers(len(Layout))]
    design = Design(
        layout,
        k,
        IdentityMap(p),
        some_numbers(rng, p),
        some_numbers(rng, q),
        rng.random() < 0.5,
        rng.random() < 0.5,
    )
    joint = some_numbers(rng, design.n_joint)
    if layout is Layout.PER_ACTION:
        joint = some_numbers(rng, k, design.n_joint)
    own = some_numbers(rng, k, design.n_own) if layout is Layout.HYBRID else None
    return JointModel(design, joint, own, some_known(rng, k))


def optimistic_model(rng: np.random.Generator, k: int, p: int, q: int) -> OptimisticModel:
    model = joint_model(rng, k, p, q)
    width = model.design.block_width
    return OptimisticModel(model, model.design, some_numbers(rng, model.design.n_blocks, width, width), 0.3)


def some_scorer(rng: np.random.Generator, k: int, p: int, q: int | None) -> Scorer:
    kind = rng.integers(4)
    if kind == 0:
        return LinearScores(some_numbers(rng, k, p))
    if kind == 1:
        return per_action_model(rng, k, p)
    if kind == 2 or k * p > 100:
        return joint_model(rng, k, p, q or 0)
    return optimistic_model(rng, k, p, q or 0)


@st.composite
def epochs(draw: st.DrawFn, policy: Policy, k: int, design: PassiveDesign | None = None) -> Epoch:
    start = draw(st.integers(0, 1000))
    return Epoch(
        index=draw(st.integers(1, 9)),
        start=start,
        stop=start + draw(st.integers(1, 60)),
        policy=policy,
        passive_policy=UniformPolicy(k),
        passive_share=draw(shares),
        passive_design=design or draw(st.sampled_from(PassiveDesign)),
    )


@st.composite
def arrivals(
    draw: st.DrawFn, k: int, p: int, q: int | None, start: int, stop: int
) -> tuple[Ints, Contexts, Floats]:
    rng = draw(seeds)
    n = draw(st.integers(1, 30))
    contexts = Contexts(
        some_numbers(rng, n, p),
        None if q is None else some_numbers(rng, n, k, q),
        some_mask(rng, n, k) if draw(st.booleans()) else None,
    )
    return rng.integers(start, stop + 20, n), contexts, rng.random((n, 3))


action_features = st.one_of(st.none(), st.integers(1, 3))


@st.composite
def plays(draw: st.DrawFn, design: PassiveDesign | None = None) -> Play:
    k, p, q = draw(st.integers(1, 40)), draw(st.integers(0, 50)), draw(action_features)
    epoch = draw(epochs(KernelPolicy(some_scorer(draw(seeds), k, p, q), draw(kernels)), k, design))
    return Play(epoch, *draw(arrivals(k, p, q, epoch.start, epoch.stop)))


@st.composite
def mixed_plays(draw: st.DrawFn) -> Play:
    """A master over two bases, each with its own model, kernel and passive share."""
    k, p, q = draw(st.integers(1, 12)), draw(st.integers(0, 12)), draw(action_features)
    weight = draw(st.one_of(st.sampled_from([0.0, 0.25, 1.0]), st.floats(0.0, 1.0)))
    bases = tuple(
        draw(epochs(KernelPolicy(some_scorer(draw(seeds), k, p, q), draw(kernels)), k, PassiveDesign.COIN))
        for _ in range(2)
    )
    master = Mixture(np.array([weight, 1.0 - weight]), bases)
    epoch = Epoch(index=3, start=10, stop=60, policy=master, passive_policy=UniformPolicy(k))
    return Play(epoch, *draw(arrivals(k, p, q, epoch.start, epoch.stop)))


def bits(decisions: Sequence[Decisions]) -> tuple[bytes, ...]:
    names = ("epoch", "round", "action", "propensity", "component")
    return tuple(np.concatenate([getattr(one, name) for one in decisions]).tobytes() for name in names)


def assert_same_bits_in_any_batch(play: Play, size: int) -> None:
    n = len(play.contexts)
    together = bits([play.decide()])
    assert bits([play.decide(slice(i, i + 1)) for i in range(n)]) == together
    assert bits([play.decide(slice(i, i + size)) for i in range(0, n, size)]) == together


@given(play=plays(), gamma=strengths, size=st.integers(2, 10))
def test_decisions_of_every_kernel_have_the_same_bits_alone_and_in_any_batch(
    play: Play, gamma: float, size: int
) -> None:
    policy = play.epoch.policy
    assert isinstance(policy, KernelPolicy)
    for kernel, design in product(every_kernel(gamma), PassiveDesign):
        epoch = replace(play.epoch, policy=replace(policy, kernel=kernel), passive_design=design)
        assert_same_bits_in_any_batch(replace(play, epoch=epoch), size)


@given(play=mixed_plays(), size=st.integers(2, 10))
def test_decisions_of_a_mixture_have_the_same_bits_alone_and_in_any_batch(play: Play, size: int) -> None:
    assert_same_bits_in_any_batch(play, size)


@given(play=st.one_of(plays(), mixed_plays()))
def test_decisions_do_not_depend_on_the_order_of_rows(play: Play) -> None:
    n = len(play.contexts)
    backwards = play.decide(np.arange(n)[::-1])
    assert bits([play.decide(np.array([i])) for i in reversed(range(n))]) == bits([backwards])


@given(play=st.one_of(plays(), mixed_plays()))
def test_a_propensity_is_the_positive_probability_of_its_action(play: Play) -> None:
    made, p = play.decide(), play.probabilities()
    assert np.array_equal(made.propensity, p[np.arange(len(p)), made.action])
    assert (made.propensity > 0.0).all()
    assert (np.abs(p.sum(axis=1) - 1.0) <= 1e-12).all()
    if play.contexts.eligible is not None:
        assert play.contexts.eligible[np.arange(len(p)), made.action].all()
        assert (p[~play.contexts.eligible] == 0.0).all()


@given(play=plays(PassiveDesign.TAIL))
def test_tail_passive_rounds_are_exactly_the_last_of_the_epoch(play: Play) -> None:
    epoch, made = play.epoch, play.decide()
    n_passive = math.ceil(Fraction(str(epoch.passive_share)) * epoch.n_rounds)
    passive = (play.rounds >= epoch.stop - n_passive) & (play.rounds < epoch.stop)
    assert np.array_equal(made.component, passive)
    even = epoch.passive_policy.probabilities(play.contexts)
    chosen = np.arange(len(passive)), made.action
    expected = np.where(passive, even[chosen], epoch.policy.probabilities(play.contexts)[chosen])
    assert np.array_equal(made.propensity, expected)


@given(play=plays(PassiveDesign.COIN))
def test_coin_play_is_passive_by_its_coin_and_mixes_its_propensity(play: Play) -> None:
    made, share = play.decide(), play.epoch.passive_share
    active = play.epoch.policy.probabilities(play.contexts)
    mask = np.ones(active.shape, np.bool_) if play.contexts.eligible is None else play.contexts.eligible
    p = active[np.arange(len(active)), made.action]
    assert np.array_equal(made.component, play.uniforms[:, 1] < share)
    np.testing.assert_allclose(made.propensity, (1.0 - share) * p + share / mask.sum(axis=1), rtol=1e-14)
    passive = made.component == 1
    assert np.array_equal(
        made.action[passive],
        sample_actions((mask / mask.sum(axis=1)[:, None])[passive], play.uniforms[passive, 2]),
    )


@given(play=mixed_plays())
def test_a_mixture_numbers_its_components_and_gives_marginal_propensities(play: Play) -> None:
    master, made = play.epoch.policy, play.decide()
    assert isinstance(master, Mixture)
    base, passive = made.component // 2, made.component % 2
    assert np.array_equal(base, play.uniforms[:, 0] >= master.weights[0])
    for j, one in enumerate(master.bases):
        of_base = base == j
        assert np.array_equal(passive[of_base], play.uniforms[of_base, 1] < one.passive_share)
        for part, policy in ((0, one.policy), (1, one.passive_policy)):
            acted = made.component == 2 * j + part
            own = policy.probabilities(play.contexts)[acted]
            assert np.array_equal(made.action[acted], sample_actions(own, play.uniforms[acted, 2]))
    marginal = sum(
        weight
        * (
            (1.0 - one.passive_share) * one.policy.probabilities(play.contexts)
            + one.passive_share * one.passive_policy.probabilities(play.contexts)
        )
        for weight, one in zip(master.weights, master.bases, strict=True)
    )
    np.testing.assert_allclose(
        made.propensity, np.asarray(marginal)[np.arange(len(base)), made.action], rtol=1e-13
    )


@given(rng=seeds, shape=st.tuples(*[st.integers(1, 5)] * 2, st.integers(1, 12)), masked=st.booleans())
def test_leading_axes_are_row_by_row(
    rng: np.random.Generator, shape: tuple[int, int, int], masked: bool
) -> None:
    scores = some_numbers(rng, *shape)
    mask = some_mask(rng, shape[0] * shape[1], shape[2]).reshape(shape) if masked else None
    for weighting, setting in (
        (inverse_gap_weighting, 7.0),
        (log_barrier_weighting, 7.0),
        (epsilon_greedy, 0.3),
        (softmax, 0.1),
    ):
        p = weighting(scores, setting, mask)
        for place in np.ndindex(*shape[:2]):
            alone = weighting(scores[place], setting, None if mask is None else mask[place])
            assert np.array_equal(p[place], alone)


def test_an_empty_batch_has_no_decisions() -> None:
    policy = KernelPolicy(LinearScores(np.ones((3, 2))), InverseGapWeighting(1.0))
    for design in PassiveDesign:
        epoch = Epoch(
            index=1,
            start=0,
            stop=9,
            policy=policy,
            passive_policy=UniformPolicy(3),
            passive_share=0.3,
            passive_design=design,
        )
        assert len(Play(epoch, np.arange(0), Contexts(np.empty((0, 2))), np.empty((0, 3))).decide()) == 0


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("p", [8191, 8192, 8193, 10_000])
def test_more_features_than_numpy_buffers_change_no_bit(k: int, p: int) -> None:
    """NumPy sums in buffers of 8192; with K = 1 a row alone differs in the last bit, but has no choice."""
    rng = np.random.default_rng(p + k)
    model = PerActionModel(IdentityMap(p), None, rng.normal(size=(k, p)), np.zeros((k, 1)), None)
    contexts = Contexts(rng.normal(size=(7, p)))
    together = model.scores(contexts)
    for i in range(7):
        assert np.array_equal(model.scores(contexts.take(slice(i, i + 1)))[0], together[i])
