"""The table of claims: every row computed, the paper's slips found, and no check that could not fail."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gyrfalcon_paper.claims import (
    constants,
    epochs,
    examples,
    gamma,
    guarantee,
    kernel,
    learning,
    live,
    one_step,
    runs,
    search,
    sensitivity,
    step,
    sums,
    theorems,
)
from gyrfalcon_paper.claims.claim import (
    SOURCES,
    Claim,
    as_rare_as,
    claims_json,
    exceeds,
    exceeds_0,
)
from gyrfalcon_paper.claims.table import claims_of, claims_work
from gyrfalcon_paper.exhibits.exhibit import Effort

QUICK = Effort(quick=True)

SLIPS = {
    "iltcb-rate": "iltcb-rate-corrected",
    "constraint-shrinks": "constraint-shrinks-corrected",
    "example-2-misspecification": "example-2-corrected",
    "assumption-1-range": "assumption-1-range-corrected",
    "minimal-sets": "minimal-sets-corrected",
    "lemma-7-delta": "lemma-7-delta-corrected",
    "gamma-grows": "gamma-grows-corrected",
    "lemma-10-step-epoch-2": "lemma-10-step",
    "lemma-11-c0-second": "lemma-11-c0-corrected",
    "lemma-11-c8-first": "lemma-11-c8-corrected",
    "integral-step": "integral-step-corrected",
    "algorithm-2-accuracy": "algorithm-2-corrected",
    "algorithm-2-feasible": "algorithm-2-corrected",
    "algorithm-2-inactive": "algorithm-2-corrected",
}
"""What is not as printed, and the claim that holds instead."""


def is_long(piece: Callable[[], list[Claim]]) -> bool:
    return isinstance(piece, partial) and piece.func is runs.epsilon_falcon_stays


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    """Every claim at quick effort by key, but for the piece that takes longer than all others together."""
    return {
        claim.key: claim for claim in claims_of(piece() for piece in claims_work(QUICK) if not is_long(piece))
    }


def test_every_claim_is_computed(claims: dict[str, Claim]) -> None:
    assert len(claims) > 95
    for claim in claims.values():
        assert claim.statement.endswith(".")
        assert claim.statement[0].isupper() or claim.statement.startswith("gamma")
        assert claim.computed
        assert claim.numbers
        assert claim.holds is not None or claim.note


def test_the_papers_slips_are_found_with_what_holds_instead(claims: dict[str, Claim]) -> None:
    live = {key for key in claims if key.startswith("live-")}
    assert {key for key, claim in claims.items() if claim.holds is False} - live == set(SLIPS)
    for corrected in SLIPS.values():
        assert claims[corrected].holds


def test_no_learner_ends_at_the_high_regret_of_appendix_e_by_itself(claims: dict[str, Claim]) -> None:
    live = [claim for key, claim in claims.items() if key.startswith("live-")]
    assert len(live) == 6
    for claim in live:
        assert claim.holds is False
        assert claim.numbers["late_regret"] < 0.05


def test_quick_effort_decides_all_but_what_no_sample_can(claims: dict[str, Claim]) -> None:
    assert {key for key, claim in claims.items() if claim.holds is None} == {"lemma-14"}


def test_known_numbers(claims: dict[str, Claim]) -> None:
    """From the closed forms, as other tests have them."""
    numbers = {key: claim.numbers for key, claim in claims.items()}
    assert numbers["step-errors"]["b"] == pytest.approx(1 / 32)
    assert numbers["corollary-1"]["step_example"] == pytest.approx(0.1436, abs=1e-4)
    assert numbers["integral-step"]["at_1e6"] == pytest.approx(4.615, abs=5e-4)
    assert numbers["sensitivity-regret"]["theta_0.05"] == pytest.approx(0.50370188, abs=1e-8)
    assert numbers["sensitivity-regret"]["theta_0.01"] == pytest.approx(0.46292172, abs=1e-8)
    assert numbers["gamma-grows"]["gamma_3_over_gamma_2"] == pytest.approx(
        math.sqrt(math.log(20.0) / math.log(40.0))
    )
    assert numbers["linucb-fall-and-rise"]["late"] == pytest.approx(0.0406, abs=0.006)


def test_claims_stand_in_the_papers_order_and_lemmas_before_their_proofs(claims: dict[str, Claim]) -> None:
    places = [SOURCES.index(claim.source.split(",")[0]) for claim in claims.values()]
    assert places == sorted(places)
    keys = list(claims)
    for key, later in SLIPS.items():
        if later.startswith(key):
            assert 0 < keys.index(later) - keys.index(key) <= 2
    for number in (7, 8, 10, 11):
        assert min(
            place for place, key in enumerate(keys) if key.startswith(f"lemma-{number}")
        ) == keys.index(f"lemma-{number}")


def test_pieces_can_be_sent_to_other_processes_and_give_the_same_again() -> None:
    for piece in claims_work(QUICK):
        assert isinstance(pickle.loads(pickle.dumps(piece)), partial)
    short = claims_work(QUICK)[1]
    assert claims_json(short()) == claims_json(pickle.loads(pickle.dumps(short))())


def test_claims_as_json(claims: dict[str, Claim]) -> None:
    rows = json.loads(claims_json(claims.values()))
    assert [row["key"] for row in rows] == list(claims)
    assert {row["holds"] for row in rows} == {True, False, None}
    assert list(rows[0]) == sorted(rows[0])
    assert claims_json(claims.values()) == claims_json(list(claims.values()))


def test_a_claim_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="step-best-line stands twice"):
        claims_of([step.best_linear_model(), step.best_linear_model()])


def test_claims_refuse_what_a_table_could_not_show() -> None:
    row: dict[str, Any] = {"key": "k", "source": "Lemma 1", "statement": "S.", "computed": "c", "holds": True}
    with pytest.raises(ValueError, match=r"numbers\['x'\] is nan in k"):
        Claim(**row | {"numbers": {"x": math.nan}})
    with pytest.raises(ValueError, match="source is 'Lemma 99'"):
        Claim(**row | {"source": "Lemma 99"})
    with pytest.raises(TypeError, match="holds is 1 in k"):
        Claim(**row | {"holds": 1})


WRONG: list[tuple[str, Callable[[], list[Claim]]]] = [
    ("iltcb-rate", partial(examples.rate_of_iltcb, printed=2.0)),
    ("falcon-fits", partial(examples.fits_of_falcon, printed=0.5)),
    ("step-best-line", partial(step.best_linear_model, ((-0.25, 1.4), (0.5, 0.0)))),
    ("step-best-policy", partial(step.best_policy, printed_switch=0.4)),
    ("step-best-policy", partial(step.best_policy, printed_regret=0.01)),
    ("step-errors", partial(step.errors_of_the_class, printed_b=0.03)),
    ("step-optimal-data", partial(step.fit_on_optimal_data, printed_regret=0.04)),
    ("step-optimal-data", partial(step.fit_on_optimal_data, ((0.9, 0.1), (0.5, 0.0)))),
    ("realizable-error", partial(step.realizable_classes_have_no_error, 0.01)),
    ("uniform-error", partial(sensitivity.uniform_error_is_large, printed=0.0)),
    ("gamma-forms", partial(gamma.forms_of_gamma, printed=0.9)),
    ("theorem-1-estimation", partial(theorems.powers_of_theorem_1, estimation=(1.0, 0.5, 0.5))),
    (
        "theorem-1-misspecification",
        partial(theorems.powers_of_theorem_1, misspecification=(1.0, 1.0, 0.5, -0.5)),
    ),
    ("theorem-1-passive", partial(theorems.powers_of_theorem_1, passive=(1.0, 0.5))),
    ("theorem-2-estimation", partial(theorems.powers_of_theorem_2, rho=0.5)),
    ("theorem-2-misspecification", partial(theorems.powers_of_theorem_2, rho=0.5)),
    ("realizable-rate", partial(theorems.realizable_rate, 0.75)),
    ("corollary-1", partial(theorems.best_passive_share, printed_b=0.5)),
    ("corollary-1-constant", partial(theorems.any_constant_will_do, printed_b=0.5)),
    ("example-1", partial(examples.vc_classes, 1.0)),
    ("example-2-learning", partial(examples.convex_hulls, 0.5)),
    ("example-3", partial(examples.entropy_classes, 0.5)),
    ("assumption-1-lines", partial(learning.inclusions, 50, C=0.05)),
    ("lemma-1", partial(kernel.worst_error_bound, 900, 0.5)),
    ("lemma-2", partial(kernel.best_models_regret, 900, 1.0)),
    ("lemma-4", partial(kernel.estimated_regret_of_play, 900, 0.5)),
    ("lemma-5", partial(kernel.root_divergence_of_play, 900, 0.25)),
    ("lemma-6", partial(kernel.divergence_bounds, 900, 0.5)),
    ("kernel-order", partial(kernel.good_actions_are_played_more, 900, 1.5)),
    ("kernel-gamma", partial(kernel.larger_gamma_explores_less, 900, 0.5)),
    ("lemma-7", partial(guarantee.errors_of_runs, 2, 6, share=1e-9)),
    ("constraint-keeps-best", partial(guarantee.best_model_stays, 30, C_1=1e-4)),
    ("lemma-7-distance", partial(guarantee.distance_in_convex_classes, 900, 0.5)),
    ("lemma-7-active-rows", partial(constants.active_rows, 1000, 0.5)),
    ("lemma-7-union", partial(constants.union_over_epochs, 0.4)),
    ("lemma-8", partial(epochs.lemmas_of_epochs, 90, half=0.25)),
    ("lemma-8-gamma", partial(constants.gamma_matches_the_error, 5, 2.0)),
    ("lemma-9", partial(epochs.lemmas_of_epochs, 900, C_6=0.5)),
    ("lemma-10", partial(epochs.lemmas_of_epochs, 900, C_7=0.1)),
    ("lemma-10-step", partial(gamma.stability_step, 900, 0.8)),
    ("lemma-10-logarithms", partial(constants.ratios_of_logarithms, 1.5)),
    ("lemma-11", partial(epochs.lemmas_of_epochs, 900, C_0=0.1, C_8=0.1, C_9=0.1)),
    ("lemma-11-split", partial(constants.splitting_the_root, 0.5)),
    ("lemma-11-c0-first", partial(constants.induction_of_c_0, printed_first=5.0)),
    ("lemma-12", partial(epochs.lemmas_of_epochs, 900, C_0=-1.9, C_8=0.01, C_9=0.0)),
    ("passive-rounds", partial(sums.closed_form_covers_the_sum, 100, 0.9)),
    ("theorem-2-closed-form", partial(sums.closed_form_covers_the_sum, 100, 0.5)),
    ("lemma-13-constants", partial(learning.constants_of_lemma_13, printed=8192.0)),
    ("lemma-13-tail", partial(learning.tail_of_lemma_13, printed=1.9)),
    ("corollary-2-psi", partial(learning.rademacher_average, 50, printed=0.5)),
    ("lemma-14", partial(learning.rates_of_classes, (1.0, 0.5, 0.5))),
    ("algorithm-2-regressions", partial(search.algorithm_2, 12, printed_factor=-3.0)),
    ("sensitivity-best-policy", partial(sensitivity.best_policy_is_optimal, (0.05,), 0.1)),
    ("sensitivity-fit", partial(sensitivity.optimal_data_mislead, printed_line=0.9)),
    ("sensitivity-regret", partial(sensitivity.optimal_data_mislead, printed=0.5)),
    ("sensitivity-error", partial(sensitivity.error_is_small, printed=0.2)),
    ("one-step-falcon-theta-0.05", partial(one_step.one_step, 0.05, 2, 100.0, printed=0.51)),
    ("one-step-lints-theta-0.05", partial(one_step.one_step, 0.05, 2, 10.0, largest=1e3)),
    ("one-step-linucb-theta-0.05", partial(one_step.one_step, 0.05, 2, 100.0, printed=0.51)),
    ("one-step-intervals-theta-0.05", partial(one_step.one_step, 0.05, 2, 10.0, largest=1e3)),
    ("theorem-1-runs", partial(runs.regret_below_the_bound, 3, 400, scale=1e-9)),
    ("linucb-fall-and-rise", partial(runs.linucb_falls_and_rises, 20, 1000, rises=False)),
    ("linucb-few-hundred", partial(runs.linucb_falls_and_rises, 20, 1000, small=0.001)),
]


@pytest.mark.parametrize(("key", "check"), WRONG)
def test_a_wrong_printed_value_does_not_hold(key: str, check: Callable[[], list[Claim]]) -> None:
    assert {claim.key: claim.holds for claim in check()}[key] is False


def test_slips_hold_once_they_are_mended() -> None:
    mended = [
        *examples.rate_of_iltcb(printed=0.5)[:1],
        *constants.range_of_delta(0.49)[:1],
        *constants.induction_of_c_0(printed_second=5.125)[1:2],
        *constants.induction_of_c_8(omitted=0.0)[:1],
        *sums.integral_step(100, printed=4.83)[:1],
        *learning.range_of_zeta(0.4)[:1],
        *learning.empirical_minimal_sets(printed_from_all=False)[:1],
    ]
    assert [claim.key for claim in mended] == [
        *("iltcb-rate", "lemma-7-delta", "lemma-11-c0-second", "lemma-11-c8-first"),
        *("integral-step", "assumption-1-range", "minimal-sets"),
    ]
    assert all(claim.holds for claim in mended)


def test_too_few_runs_decide_nothing_and_say_so() -> None:
    claims = runs.epsilon_falcon_stays(2, 2, 12_800)
    assert None in {claim.holds for claim in claims}
    for claim in claims:
        assert ("Too few runs" in claim.note) == (claim.holds is None)


def test_what_a_sample_can_decide() -> None:
    rng = np.random.default_rng(0)
    assert exceeds_0(rng.normal(1.0, 1.0, size=100)) is True
    assert exceeds_0(rng.normal(-1.0, 1.0, size=100)) is False
    # With a mean of 0, each side is called once in a thousand: 2 of 2,000 samples or a few more.
    called = [exceeds_0(rng.normal(size=10)) is not None for _ in range(2000)]
    assert sum(called) < 15
    shifted = [exceeds(rng.normal(size=12), rng.normal(0.0, 3.0, size=5)) for _ in range(2000)]
    assert sum(verdict is not None for verdict in shifted) < 15
    assert exceeds(rng.normal(1.0, 0.1, size=12), rng.normal(size=30)) is True
    assert exceeds(rng.normal(size=30), rng.normal(1.0, 0.1, size=12)) is False
    assert exceeds(np.ones(1), np.zeros(5)) is None
    assert as_rare_as(0, 10, 1e-9)
    assert as_rare_as(5, 100, 0.05)
    assert not as_rare_as(20, 100, 0.05)


@pytest.mark.long
def test_the_live_loops_and_epsilon_falcon_at_full_effort() -> None:
    late = runs.epsilon_falcon_stays(100, 12)
    assert [claim.holds for claim in late] == [True, True, True]
    looped = live.live_loop("LinUCB", 0.05, 20, 20_000)
    assert looped[0].numbers["late_regret"] == pytest.approx(0.0139, abs=0.001)
