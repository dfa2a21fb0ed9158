"""Play within limits: what is drawn is what is logged, and limits hold over all components together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, PassiveDesign, action_probabilities, decide, draw_one
from gyrfalcon.core.policies.kernel_policy import Policy, UniformPolicy
from gyrfalcon.core.policies.limited import FixedAction, LimitedPolicy
from gyrfalcon.core.policies.nearest import attainable
from gyrfalcon.core.records import CONTROL, PASSIVE, POLICY, Decisions

K = 4


@dataclass(frozen=True)
class Powers:
    """Probabilities in proportion to powers of the features, one for each action."""

    power: float

    def probabilities(self, contexts: Contexts) -> Floats:
        weights = contexts.shared**self.power
        weights = weights if contexts.eligible is None else np.where(contexts.eligible, weights, 0.0)
        return np.asarray(weights / np.cumsum(weights, axis=1)[:, -1:])


def contexts_of(n: int, *, masked: bool, seed: int = 1) -> Contexts:
    rng = np.random.default_rng(seed)
    mask = rng.random((n, K)) < 0.6
    mask[np.arange(n), rng.integers(0, K, n)] = True
    return Contexts(rng.uniform(0.1, 1.0, (n, K)), None, mask if masked else None)


def epoch_of(policy: Policy, share: float, design: PassiveDesign) -> Epoch:
    everyone = UniformPolicy(K)
    return Epoch(
        index=3,
        start=0,
        stop=100,
        policy=policy,
        passive_policy=everyone,
        passive_share=share,
        passive_design=design,
    )


@st.composite
def limited_epochs(draw: st.DrawFn) -> Epoch:
    fractions = st.floats(0.0, 1.0)
    low = np.array([draw(fractions) for _ in range(K)]) * draw(fractions) / K
    high = np.maximum(low, [draw(st.sampled_from([0.2, 0.4, 0.6, 1.0])) for _ in range(K)])
    high[0] = 1.0
    control = draw(st.sampled_from([None, FixedAction(0, K), Powers(1.0)]))
    share = 0.0 if control is None else draw(st.sampled_from([0.0, 0.1, 0.35, 1.0]))
    floor = draw(st.sampled_from([0.0, 0.01, 0.1, 0.25]))
    policy = LimitedPolicy(Powers(draw(st.sampled_from([0.0, 2.0, 40.0]))), low, high, floor, control, share)
    passive_share = draw(st.sampled_from([0.0, 0.1, 1.0]))
    return epoch_of(policy, passive_share, draw(st.sampled_from(PassiveDesign)))


def decided(epoch: Epoch, contexts: Contexts, seed: int = 2) -> tuple[Decisions, Floats]:
    rounds, uniforms = np.arange(len(contexts)), np.random.default_rng(seed).random((len(contexts), 3))
    return decide(epoch, rounds, contexts, uniforms), action_probabilities(epoch, rounds, contexts)


@given(limited_epochs(), st.booleans())
def test_every_decision_has_a_distribution_and_its_propensity(epoch: Epoch, masked: bool) -> None:
    contexts = contexts_of(100, masked=masked)
    decisions, distribution = decided(epoch, contexts)
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0, rtol=0, atol=4e-15)
    assert (distribution >= 0.0).all()
    assert np.array_equal(decisions.propensity, distribution[np.arange(100), decisions.action])
    assert (decisions.propensity > 0.0).all()
    if contexts.eligible is not None:
        assert (distribution[~contexts.eligible] == 0.0).all()
        assert (distribution[contexts.eligible & (contexts.eligible.sum(axis=1) == 1)[:, None]] == 1.0).all()


@given(limited_epochs(), st.booleans())
def test_a_row_gets_the_same_bits_alone_and_in_a_batch(epoch: Epoch, masked: bool) -> None:
    contexts, uniforms = contexts_of(100, masked=masked), np.random.default_rng(2).random((100, 3))
    decisions, distribution = decided(epoch, contexts)
    for row in (0, 50, 89, 90, 91, 99):
        one = contexts.take(slice(row, row + 1))
        action, shares, component = draw_one(epoch, row, one, uniforms[row].tolist())
        assert (action, component) == (decisions.action[row], decisions.component[row])
        assert shares == distribution[row].tolist()
        assert action_probabilities(epoch, np.array([row]), one)[0].tolist() == shares


@given(limited_epochs(), st.booleans())
def test_limits_hold_over_all_components(epoch: Epoch, masked: bool) -> None:
    policy = epoch.policy
    assert isinstance(policy, LimitedPolicy)
    contexts = contexts_of(100, masked=masked)
    _, distribution = decided(epoch, contexts)
    mask = np.ones((100, K), dtype=np.bool_) if contexts.eligible is None else contexts.eligible
    low, high = attainable(policy.least, policy.high, mask)
    if policy.control is None:
        passive = epoch.passive_rates(np.arange(100))
        rounding = 0.0 if set(passive.tolist()) <= {0.0, 1.0} else 1e-15
        assert (distribution >= low - rounding).all()
        assert (distribution <= high + rounding).all()
        return
    parts = policy.components(contexts, epoch.passive_policy)
    held = parts.control_share * parts.control
    assert (distribution >= held).all()
    # Limits that the control leaves attainable hold; against a limit that it breaks, the control wins.
    room = 1.0 - parts.control_share[:, 0]
    kept = (held <= high + 1e-12).all(axis=1) & (np.maximum(low - held, 0.0).sum(axis=1) <= room)
    kept &= np.maximum(high - held, 0.0).sum(axis=1) >= room - 1e-12
    assert (distribution >= low - 1e-12)[kept].all()
    assert (distribution <= high + 1e-12)[kept].all()


@pytest.mark.parametrize("design", PassiveDesign)
@pytest.mark.parametrize("masked", [True, False])
def test_limits_that_do_not_bind_change_no_decision(design: PassiveDesign, masked: bool) -> None:
    policy = Powers(1.5)
    contexts = contexts_of(300, masked=masked)
    plain = epoch_of(policy, 0.2, design)
    limited = replace(plain, policy=LimitedPolicy(policy, np.zeros(K), np.ones(K), floor=1e-6))
    (ours, shares), (theirs, others) = decided(limited, contexts), decided(plain, contexts)
    for name in ("action", "propensity", "component"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert np.array_equal(shares, others)


def test_components_are_as_frequent_as_they_should_be() -> None:
    """Shares 0.2 of the control and 0.3 of the rest passive, of 40,000: four standard errors each."""
    control = FixedAction(2, K)
    policy = LimitedPolicy(Powers(3.0), np.zeros(K), np.ones(K), 0.02, control, 0.2)
    decisions, distribution = decided(
        epoch_of(policy, 0.3, PassiveDesign.COIN), contexts_of(40_000, masked=False)
    )
    is_control, is_passive = decisions.component == CONTROL, decisions.component == PASSIVE
    for share, expected in ((is_control.mean(), 0.2), (is_passive.mean(), 0.8 * 0.3)):
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)
    assert (decisions.action[is_control] == 2).all()
    counts = np.bincount(decisions.action[is_passive], minlength=K) / is_passive.sum()
    assert np.abs(counts - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / is_passive.sum())
    played = np.bincount(decisions.action, minlength=K) / 40_000
    deviations = np.sqrt((distribution * (1.0 - distribution)).sum(axis=0)) / 40_000
    assert (np.abs(played - distribution.mean(axis=0)) < 4 * deviations).all()


def test_passive_rounds_without_room_to_be_uniform_count_as_rounds_of_the_policy() -> None:
    policy = LimitedPolicy(Powers(1.0), np.zeros(K), np.array([1.0, 1.0, 1.0, 0.1]))
    decisions, distribution = decided(
        epoch_of(policy, 1.0, PassiveDesign.COIN), contexts_of(50, masked=False)
    )
    assert (decisions.component == POLICY).all()
    np.testing.assert_allclose(distribution, [[0.3, 0.3, 0.3, 0.1]] * 50, atol=1e-15)
    masked = Contexts(
        np.ones((2, K)), None, np.array([[True, False, False, True], [True, True, True, False]])
    )
    decisions, distribution = decided(epoch_of(policy, 1.0, PassiveDesign.TAIL), masked)
    assert decisions.component.tolist() == [POLICY, PASSIVE]
    np.testing.assert_allclose(distribution, [[0.9, 0, 0, 0.1], [1 / 3, 1 / 3, 1 / 3, 0]], atol=1e-15)


def test_a_control_action_that_is_not_eligible_leaves_the_decision_to_the_policy() -> None:
    policy = LimitedPolicy(UniformPolicy(2), np.zeros(2), np.ones(2), 0.0, FixedAction(0, 2), 0.5)
    contexts = Contexts(np.zeros((2, 0)), None, np.array([[True, True], [False, True]]))
    decisions, distribution = decided(epoch_of(policy, 0.0, PassiveDesign.COIN), contexts, seed=4)
    assert distribution.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert decisions.component[1] == POLICY


@pytest.mark.parametrize("masked", [True, False])
def test_what_exceeds_a_maximum_goes_where_the_policy_would_play_without_that_action(masked: bool) -> None:
    inside, high = Powers(40.0), np.array([0.3, 0.3, 1.0, 1.0])
    contexts = contexts_of(200, masked=masked)
    mask = np.ones((200, K), dtype=np.bool_) if contexts.eligible is None else contexts.eligible
    shares = LimitedPolicy(inside, np.zeros(K), high).probabilities(contexts)
    given = inside.probabilities(contexts)
    first = (given[:, 0] > 0.9) & mask[:, 2:].any(axis=1)
    others = Contexts(contexts.shared[first], None, mask[first] & (np.arange(K) > 0))
    elsewhere = inside.probabilities(others)
    rest = np.where(elsewhere[:, 1] * 0.7 > 0.3, 0.0, elsewhere[:, 1])
    assert first.sum() > 5
    np.testing.assert_array_equal(shares[first, 0], 0.3)
    simple = elsewhere[:, 1] == rest
    np.testing.assert_allclose(shares[first][simple, 1:], 0.7 * elsewhere[simple, 1:], rtol=0, atol=1e-15)
    # The next action has a maximum, too: what is left goes to the third.
    assert (~simple).any()
    np.testing.assert_allclose(shares[first][~simple][:, 2:].sum(axis=1), 0.4, rtol=0, atol=1e-15)


def test_a_control_policy_plays_its_own_distribution() -> None:
    policy = LimitedPolicy(UniformPolicy(K), np.zeros(K), np.ones(K), 0.0, Powers(2.0), 0.25)
    contexts = contexts_of(20, masked=False)
    _, distribution = decided(epoch_of(policy, 0.0, PassiveDesign.COIN), contexts)
    expected = 0.75 * 0.25 + 0.25 * Powers(2.0).probabilities(contexts)
    np.testing.assert_allclose(distribution, expected, rtol=0, atol=1e-15)
