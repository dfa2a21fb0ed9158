"""Every claim of the paper that can be checked by computation: the work, and its results as one table."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.resources import files

from gyrfalcon_paper.claims import (
    constants,
    epochs,
    examples,
    gamma,
    guarantee,
    kernel,
    learning,
    one_step,
    runs,
    search,
    sensitivity,
    step,
    sums,
    theorems,
)
from gyrfalcon_paper.claims.claim import Claim, Finding, Kind, Verdict
from gyrfalcon_paper.exhibits.exhibit import Effort

Check = Callable[[], list[Finding]]

WITH_THETA = "-theta-"
"""What stands between an entry's key and the theta that its check was made for."""


@cache
def entries() -> dict[str, dict[str, str]]:
    """The entries of claims.toml by key, in the paper's order, each with its part of the paper."""
    parts = tomllib.loads((files(__package__) / "claims.toml").read_text(encoding="utf-8"))
    return {key: {"part": part, **entry} for part, listed in parts.items() for key, entry in listed.items()}


def claims_of(results: Iterable[list[Finding]]) -> list[Claim]:
    """The claims that pieces of work have findings for, in the order of claims.toml."""
    findings = [finding for part in results for finding in part]
    keys = [finding.key for finding in findings]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ValueError(f"{repeated[0]} stands twice among the findings; give each piece's results once.")
    order = {key: place for place, key in enumerate(entries())}
    return [claim_of(finding) for finding in sorted(findings, key=lambda each: order[_entry_key(each.key)])]


def claim_of(finding: Finding) -> Claim:
    """A finding with the statement that it is about, and its verdict."""
    entry = entries()[_entry_key(finding.key)]
    _, _, theta = finding.key.partition(WITH_THETA)
    otherwise = Verdict(entry.get("otherwise", Verdict.ERRATUM))
    by_outcome = {True: Verdict.HOLDS, False: otherwise, None: Verdict.UNDECIDED}
    return Claim(
        key=finding.key,
        part=entry["part"],
        place=f"{entry['place']}, theta = {theta}" if theta else entry["place"],
        statement=entry["statement"],
        verdict=finding.holds if isinstance(finding.holds, Verdict) else by_outcome[finding.holds],
        note=entry.get("note", ""),
        kind=Kind(entry.get("kind", Kind.PAPER)),
        numbers=finding.numbers,
    )


def _entry_key(key: str) -> str:
    return key.partition(WITH_THETA)[0]


def claims_work(effort: Effort) -> list[Check]:
    """The pieces of work, for worker processes: each has findings on some of the claims."""
    return [
        partial(all_of, tuple(_exact())),
        partial(all_of, tuple(_on_random_problems(effort))),
        partial(all_of, tuple(_in_samples(effort))),
        partial(guarantee.errors_of_runs, effort.of(full=20, quick=2)),
        partial(search.algorithm_2, effort.of(full=300, quick=24)),
        *_one_step(effort),
        *_runs(effort),
    ]


def all_of(checks: tuple[Check, ...]) -> list[Finding]:
    """The findings of several checks: one piece of work for what is too short to be sent out alone."""
    return [finding for check in checks for finding in check()]


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
        gamma.slack_falls,
        theorems.powers_of_theorem_1,
        theorems.range_of_epsilon,
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


def _in_samples(effort: Effort) -> list[Check]:
    """What is claimed of random rows, over many samples of them."""
    return [
        partial(guarantee.best_model_stays, effort.of(full=2000, quick=100)),
        partial(learning.inclusions, effort.of(full=1000, quick=100)),
        partial(learning.rademacher_average, effort.of(full=2000, quick=200)),
        partial(learning.models_without_bounds, effort.of(full=10_000, quick=1000)),
    ]


def _one_step(effort: Effort) -> list[Check]:
    n_seeds, factor = effort.of(full=20, quick=4), effort.of(full=2, quick=10)
    return [partial(one_step.one_step, theta, n_seeds, float(factor)) for theta in (0.05, 0.01)]


def _runs(effort: Effort) -> list[Check]:
    n_replications, n_rounds = effort.of(full=20, quick=4), effort.of(full=20_000, quick=2_000)
    return [
        partial(
            runs.linucb_falls_and_rises,
            effort.of(full=100, quick=20),
            effort.of(full=5_000, quick=1_000),
        ),
        partial(runs.epsilon_falcon_stays, effort.of(full=100, quick=24), effort.of(full=12, quick=4)),
        partial(runs.regret_below_the_bound, effort.of(full=20, quick=4)),
        *(
            partial(runs.live_loop, name, theta, n_replications, n_rounds)
            for theta in (0.05, 0.01)
            for name in runs.LIVE
        ),
    ]
