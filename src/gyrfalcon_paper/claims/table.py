"""Every claim of the paper that can be checked by computation: the work, and its results as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

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
from gyrfalcon_paper.claims.claim import Claim
from gyrfalcon_paper.exhibits.exhibit import Effort

Check = Callable[[], list[Claim]]


def claims_work(effort: Effort) -> list[Check]:
    """The pieces of work, for worker processes: each gives some of the claims."""
    return [
        partial(all_of, tuple(_exact())),
        partial(all_of, tuple(_on_random_problems(effort))),
        partial(learning.inclusions, effort.of(full=1000, quick=100)),
        partial(learning.rademacher_average, effort.of(full=2000, quick=200)),
        partial(guarantee.best_model_stays, effort.of(full=2000, quick=100)),
        partial(guarantee.errors_of_runs, effort.of(full=20, quick=2)),
        partial(search.algorithm_2, effort.of(full=300, quick=24)),
        *_one_step(effort),
        *_runs(effort),
    ]


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
        examples.rate_of_iltcb,
        examples.fits_of_falcon,
        step.best_linear_model,
        step.best_policy,
        step.errors_of_the_class,
        step.fit_on_optimal_data,
        sensitivity.uniform_error_is_large,
        step.realizable_classes_have_no_error,
        gamma.forms_of_gamma,
        gamma.slack_shrinks,
        theorems.powers_of_theorem_1,
        theorems.realizable_rate,
        theorems.best_passive_share,
        theorems.any_constant_will_do,
        theorems.powers_of_theorem_2,
        examples.vc_classes,
        examples.convex_hulls,
        examples.entropy_classes,
        learning.range_of_zeta,
        learning.empirical_minimal_sets,
        constants.range_of_delta,
        constants.union_over_epochs,
        gamma.gamma_grows,
        constants.ratios_of_logarithms,
        constants.splitting_the_root,
        constants.induction_of_c_0,
        constants.induction_of_c_8,
        learning.constants_of_lemma_13,
        learning.tail_of_lemma_13,
        learning.rates_of_classes,
        sensitivity.best_policy_is_optimal,
        sensitivity.optimal_data_mislead,
        sensitivity.error_is_small,
    ]


def _on_random_problems(effort: Effort) -> list[Check]:
    """Lemmas and sums on many random problems and settings."""
    n_problems, n_settings = effort.of(full=100_000, quick=5_000), effort.of(full=5_000, quick=500)
    return [
        partial(kernel.good_actions_are_played_more, n_problems),
        partial(kernel.larger_gamma_explores_less, n_problems),
        partial(kernel.policies_behind_the_kernel, n_problems),
        partial(kernel.worst_error_bound, n_problems),
        partial(kernel.best_models_regret, n_problems),
        partial(kernel.regret_of_play, n_problems),
        partial(kernel.estimated_regret_of_play, n_problems),
        partial(kernel.root_divergence_of_play, n_problems),
        partial(kernel.divergence_bounds, n_problems),
        partial(guarantee.distance_in_convex_classes, n_problems),
        partial(constants.active_rows, n_settings),
        partial(epochs.lemmas_of_epochs, n_problems // 5),
        partial(constants.gamma_matches_the_error, n_settings),
        partial(gamma.stability_step, n_problems),
        partial(sums.closed_form_covers_the_sum, n_settings),
        partial(sums.integral_step, n_settings),
    ]


def _one_step(effort: Effort) -> list[Check]:
    n_seeds, factor = effort.of(full=20, quick=4), effort.of(full=2, quick=10)
    return [partial(one_step.one_step, theta, n_seeds, float(factor)) for theta in (0.05, 0.01)]


def _runs(effort: Effort) -> list[Check]:
    n_replications, n_rounds = effort.of(full=20, quick=4), effort.of(full=20_000, quick=2_000)
    loops = [
        partial(live.live_loop, name, theta, n_replications, n_rounds)
        for theta in (0.05, 0.01)
        for name in live.LIVE
    ]
    return [
        partial(
            runs.linucb_falls_and_rises,
            effort.of(full=100, quick=20),
            effort.of(full=5_000, quick=1_000),
        ),
        partial(runs.epsilon_falcon_stays, effort.of(full=100, quick=24), effort.of(full=12, quick=4)),
        partial(runs.regret_below_the_bound, effort.of(full=20, quick=4)),
        *loops,
    ]
