"""Every claim of the paper that can be checked by computation: the work, and its results as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from gyrfalcon.experiments.paper import (
    claims_constants,
    claims_epochs,
    claims_examples,
    claims_gamma,
    claims_guarantee,
    claims_kernel,
    claims_learning,
    claims_live,
    claims_one_step,
    claims_runs,
    claims_search,
    claims_sensitivity,
    claims_step,
    claims_sums,
    claims_theorems,
)
from gyrfalcon.experiments.paper.claim import Claim
from gyrfalcon.experiments.paper.exhibit import Effort

Check = Callable[[], list[Claim]]


def claims_work(effort: Effort) -> list[Check]:
    """The pieces of work, for worker processes: each gives some of the claims."""
    return [
        partial(all_of, tuple(_exact())),
        partial(all_of, tuple(_on_random_problems(effort))),
        partial(claims_learning.inclusions, effort.of(full=1000, quick=100)),
        partial(claims_learning.rademacher_average, effort.of(full=2000, quick=200)),
        partial(claims_guarantee.best_model_stays, effort.of(full=2000, quick=100)),
        partial(claims_guarantee.errors_of_runs, effort.of(full=20, quick=2)),
        partial(claims_search.algorithm_2, effort.of(full=300, quick=24)),
        *_one_step(effort),
        *_runs(effort),
    ]


CLAIMS_WORK: Callable[[Effort], list[Check]] = claims_work


def claims_of(results: Iterable[list[Claim]]) -> list[Claim]:
    """The claims of all pieces in the paper's order, each lemma before the steps of its proof."""
    claims = [claim for part in results for claim in part]
    keys = [claim.key for claim in claims]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"{twice[0]} stands twice among the claims; give each piece's results once.")
    return sorted(claims, key=lambda claim: claim.place)


def all_of(checks: tuple[Check, ...]) -> list[Claim]:
    """The claims of several checks: one piece of work for what is too short to be sent out alone."""
    return [claim for check in checks for claim in check()]


def _exact() -> list[Check]:
    """Closed forms, quadrature and steps of proofs that are about numbers alone."""
    return [
        claims_examples.rate_of_iltcb,
        claims_examples.fits_of_falcon,
        claims_step.best_linear_model,
        claims_step.best_policy,
        claims_step.errors_of_the_class,
        claims_step.fit_on_optimal_data,
        claims_sensitivity.uniform_error_is_large,
        claims_step.realizable_classes_have_no_error,
        claims_gamma.forms_of_gamma,
        claims_gamma.slack_shrinks,
        claims_theorems.powers_of_theorem_1,
        claims_theorems.realizable_rate,
        claims_theorems.best_passive_share,
        claims_theorems.any_constant_will_do,
        claims_theorems.powers_of_theorem_2,
        claims_examples.vc_classes,
        claims_examples.convex_hulls,
        claims_examples.entropy_classes,
        claims_learning.range_of_zeta,
        claims_learning.empirical_minimal_sets,
        claims_constants.range_of_delta,
        claims_constants.union_over_epochs,
        claims_gamma.gamma_grows,
        claims_constants.ratios_of_logarithms,
        claims_constants.splitting_the_root,
        claims_constants.induction_of_c_0,
        claims_constants.induction_of_c_8,
        claims_learning.constants_of_lemma_13,
        claims_learning.tail_of_lemma_13,
        claims_learning.rates_of_classes,
        claims_sensitivity.best_policy_is_optimal,
        claims_sensitivity.optimal_data_mislead,
        claims_sensitivity.error_is_small,
    ]


def _on_random_problems(effort: Effort) -> list[Check]:
    """Lemmas and sums on many random problems and settings."""
    n_problems, n_settings = effort.of(full=100_000, quick=5_000), effort.of(full=5_000, quick=500)
    return [
        partial(claims_kernel.good_actions_are_played_more, n_problems),
        partial(claims_kernel.larger_gamma_explores_less, n_problems),
        partial(claims_kernel.policies_behind_the_kernel, n_problems),
        partial(claims_kernel.worst_error_bound, n_problems),
        partial(claims_kernel.best_models_regret, n_problems),
        partial(claims_kernel.regret_of_play, n_problems),
        partial(claims_kernel.estimated_regret_of_play, n_problems),
        partial(claims_kernel.root_divergence_of_play, n_problems),
        partial(claims_kernel.divergence_bounds, n_problems),
        partial(claims_guarantee.distance_in_convex_classes, n_problems),
        partial(claims_constants.active_rows, n_settings),
        partial(claims_epochs.lemmas_of_epochs, n_problems // 5),
        partial(claims_constants.gamma_matches_the_error, n_settings),
        partial(claims_gamma.stability_step, n_problems),
        partial(claims_sums.closed_form_covers_the_sum, n_settings),
        partial(claims_sums.integral_step, n_settings),
    ]


def _one_step(effort: Effort) -> list[Check]:
    n_seeds, factor = effort.of(full=20, quick=4), effort.of(full=2, quick=10)
    return [partial(claims_one_step.one_step, theta, n_seeds, float(factor)) for theta in (0.05, 0.01)]


def _runs(effort: Effort) -> list[Check]:
    n_replications, n_rounds = effort.of(full=20, quick=4), effort.of(full=20_000, quick=2_000)
    live = [
        partial(claims_live.live_loop, name, theta, n_replications, n_rounds)
        for theta in (0.05, 0.01)
        for name in claims_live.LIVE
    ]
    return [
        partial(
            claims_runs.linucb_falls_and_rises,
            effort.of(full=100, quick=20),
            effort.of(full=5_000, quick=1_000),
        ),
        partial(claims_runs.epsilon_falcon_stays, effort.of(full=100, quick=24), effort.of(full=12, quick=4)),
        partial(claims_runs.regret_below_the_bound, effort.of(full=20, quick=4)),
        *live,
    ]
