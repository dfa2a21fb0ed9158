"""Evaluation of target policies on a log: a verdict first, then values, intervals and differences."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.validation import check_level, check_whole
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS, EstimatorRow
from gyrfalcon.evaluation.estimators.inputs import Limit
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.evaluation.policies.target_policies import target_policy
from gyrfalcon.evaluation.policies.targets import LoggedTarget, TargetPolicy
from gyrfalcon.evaluation.predictions.past_rows import DEFAULT_MODEL_CLASS, past_predictions
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows, evaluated_rows
from gyrfalcon.evaluation.rows.merged_actions import MergedActions
from gyrfalcon.evaluation.rows.table import check_table
from gyrfalcon.evaluation.rows.weighting import epochs_of
from gyrfalcon.evaluation.study import Study, Valued
from gyrfalcon.evaluation.verdict.preflight import log_reasons
from gyrfalcon.evaluation.verdict.refusals import (
    check_methods,
    check_reward_range,
    refuse_deterministic,
)
from gyrfalcon.evaluation.verdict.verdict import Reason
from gyrfalcon.oracles.protocol import ModelClass

LOGGED = "logged"
"""Name of the logged play among policies."""


def evaluate(
    table: DecisionTable,
    policies: object,
    *,
    baseline: str | None = LOGGED,
    estimator: str = "dr",
    interval: str = "minvar",
    level: float = 0.95,
    model_class: ModelClass | None = None,
    predictions: object = None,
    n_blocks: int | None = None,
    reward_range: tuple[float, float] | None = None,
    max_weight: Limit = None,
    shrinkage: Limit = None,
    marginalise: Sequence[str] | None = None,
    estimated_propensities: bool = False,
    logged_policies: Mapping[str, object] | None = None,
    reward_unit: str = "",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Evaluation:
    """What policies would have earned by a log: whether that may be trusted, and how much.

    Parameters
    ----------
    table
        Logged decisions with their propensities and rewards; see `read_log`.
    policies
        Policies by name, or a single one, such as a `Bandit`; see `target_policy` for what stands for one.
    baseline
        Name of the policy that differences are to: "logged" is the play as it was, and need not be among
        `policies`. None compares nothing.
    estimator
        "dr", "sndr", "switch", "dros", "sub_gaussian_dr", "ips", "snips", "clipped", "sub_gaussian" or "dm".
    interval
        "minvar", "minvar_expected", "stablevar", "normal", "bootstrap", "empirical_bernstein", or, with
        `logged_policies`, "contextual" or "cadr".
    level
        Probability with which an interval covers, alone.
    model_class
        Class of reward models whose predictions are corrected; None is ridge regression per action.
    predictions
        Predicted rewards of all actions, (n, K), for the rows of the table, which have not seen these rows'
        rewards; None fits `model_class` to earlier rows.
    n_blocks
        Number of blocks of rows, each predicted from all earlier ones; 1 predicts the mean reward so far,
        and None chooses.
    reward_range
        Lowest and highest possible reward, for the betting sequence; None means that of the table, or else
        the observed one, of which the report says so.
    max_weight
        Largest weight that counts, for "switch" and "clipped"; None is the root of the number of rows, and
        "tuned" the limit of the least estimated squared error.
    shrinkage
        Shrinkage of weights, for "dros", "sub_gaussian_dr" and "sub_gaussian"; None is the default of each,
        and "tuned" the one of the least estimated squared error, for "dros".
    marginalise
        Features of actions through which alone rewards depend on actions, such as a category: actions with
        equal ones count as one, so that weights vary less, and policies may take actions that were never
        logged. With "ips" this is marginalised IPS. None keeps single actions.
    estimated_propensities
        Whether propensities were estimated and not logged, where the table's `propensity_source` does not
        say so.
    logged_policies
        Policies that decided, by the content hashes in the table's `model` column; see `stored_policies`.
        MinVar and StableVar weights then know what each expects of all earlier contexts. "contextual" and
        "cadr" need them.
    reward_unit
        What rewards are counted in, such as "euros", for texts and figures.
    on_progress
        Called with finished steps, all steps and a title.

    Returns
    -------
    Evaluation
        Verdict, values and differences; `print` shows the verdict first.

    Raises
    ------
    ValueError
        If no row can be used, nothing in the log was random, or a policy is not valid.

    Examples
    --------
    >>> import numpy as np
    >>> from gyrfalcon.logs import DecisionTable
    >>> rng = np.random.default_rng(0)
    >>> action = rng.integers(2, size=1000)
    >>> table = DecisionTable.of(
    ...     actions=["red", "blue"],
    ...     action=np.array(["red", "blue"])[action],
    ...     reward=(rng.random(1000) < 0.3 + 0.2 * action).astype(float),
    ...     propensity=np.full(1000, 0.5),
    ...     distribution=np.full((1000, 2), 0.5),
    ...     reward_range=(0.0, 1.0),
    ... )
    >>> print(evaluate(table, {"blue": "always blue"}))
    Verdict: trust
      logged: trust
      blue: trust
    <BLANKLINE>
    reward per decision, from 999 of 1,000 rows:
      logged  0.4084 (0.3779 to 0.4389), betting (0.346 to 0.454)
      blue    0.5346 (0.4891 to 0.5802), betting (0.462 to 0.592); +0.1262 (+0.0959 to +0.1565) against logged
    """
    check_table(table)
    check_methods(estimator, interval, max_weight, shrinkage)
    check_level(level)
    targets, method = _targets(policies, baseline), ESTIMATORS[estimator]
    merged = None if marginalise is None else MergedActions.of(table, marginalise)
    rows = _rows(table, targets, method, merged)
    bounds = table.reward_range if reward_range is None else reward_range
    check_reward_range(rows, bounds)
    rows, predicted = _predicted(rows, method, predictions, model_class, n_blocks)
    if len(rows.table) < 2:
        raise ValueError("one row can be used, and an interval needs two; give a log with more rows.")
    study = Study(
        given=table,
        rows=rows,
        epochs=epochs_of(rows),
        bounds=bounds,
        estimator=method,
        interval=INTERVALS[interval],
        level=level,
        predictions=predicted,
        max_weight=max_weight,
        shrinkage=shrinkage,
        logged_policies=_as_targets(logged_policies, merged),
        merged=merged,
    )
    reasons = log_reasons(rows, estimated=estimated_propensities, bounds=bounds, adaptive=study.is_adaptive)
    model = "given predictions" if predictions is not None else model_class or DEFAULT_MODEL_CLASS
    return Evaluation(
        policies=_valued(study, targets, baseline, (*reasons, *study.method_reasons()), on_progress),
        baseline=baseline or "",
        cost=table.cost,
        settings={
            **{"estimator": estimator, "interval": interval, "level": level},
            **{"model_class": model if method.needs_model else None, "reward_range": bounds},
            "marginalise": None if merged is None else ", ".join(merged.features),
            "reward_unit": reward_unit,
        },
        places=rows.places,
        n_given=rows.n_given,
        set_aside=rows.set_aside,
        source=table.source,
    )


def _rows(
    table: DecisionTable,
    targets: Mapping[str, TargetPolicy],
    method: EstimatorRow,
    merged: MergedActions | None,
) -> EvaluatedRows:
    """The rows to be evaluated, with merged actions if there are some, refused where nothing was random."""
    rows = evaluated_rows(table, propensities=method.needs_propensities)
    rows = rows if merged is None else merged.rows(rows)
    if method.needs_propensities:
        refuse_deterministic(rows, targets.values())
    return rows


def _valued(
    study: Study,
    targets: Mapping[str, TargetPolicy],
    baseline: str | None,
    about_log: tuple[Reason, ...],
    on_progress: Callable[[int, int, str], None] | None,
) -> tuple[PolicyValue, ...]:
    values: list[PolicyValue] = []
    base: Valued | None = None
    for number, (name, target) in enumerate(targets.items()):
        valued = study.valued(target, name)
        values.append(study.result(name, valued, base, about_log))
        base = valued if name == baseline else base
        if on_progress is not None:
            on_progress(number + 1, len(targets), name)
    return tuple(values)


def _targets(policies: object, baseline: str | None) -> dict[str, TargetPolicy]:
    """Target policies by name, the baseline first."""
    given = _by_name(policies)
    is_play = isinstance(target_policy(given.get(LOGGED, LOGGED)), LoggedTarget)
    if not is_play:
        raise ValueError("'logged' is the play as it was, and no name for another policy; give another name.")
    if baseline == LOGGED:
        given.setdefault(LOGGED, LoggedTarget())
    elif baseline is not None and baseline not in given:
        raise ValueError(f"baseline is {short_repr(baseline)}; {suggestion(baseline, (LOGGED, *given))}")
    if not given:
        raise ValueError("there are no policies; give at least one by name, such as {'uniform': 'uniform'}.")
    first = [] if baseline is None else [baseline]
    return {name: target_policy(given[name]) for name in dict.fromkeys([*first, *given])}


def _as_targets(
    policies: Mapping[str, object] | None, merged: MergedActions | None
) -> dict[Hashable, TargetPolicy]:
    """Logged policies, which say nothing of merged actions in contexts that have no features of actions."""
    if merged is not None or policies is None:
        return {}
    return {model: target_policy(one) for model, one in policies.items()}


def _by_name(policies: object) -> dict[str, object]:
    """Policies by name; a single one is called by its text, or "policy"."""
    if isinstance(policies, Mapping):
        return dict(policies)
    if isinstance(policies, list | tuple | set):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"policies are {short_repr(policies)}; give a mapping of names to policies."
        )
    return {policies if isinstance(policies, str) else "policy": policies}


def _predicted(
    rows: EvaluatedRows,
    method: EstimatorRow,
    given: object,
    model_class: ModelClass | None,
    n_blocks: int | None,
) -> tuple[EvaluatedRows, Floats | None]:
    """Predicted rewards, and the rows that they are for: the first one has none before it."""
    if given is not None:
        table = np.asarray(given, dtype=np.float64)
        shape = rows.n_given, rows.table.n_actions
        if table.shape != shape:
            raise ValueError(
                f"predictions have shape {table.shape}; give {shape}, a row for each of the log's."
            )
        return rows, table[rows.places]
    if not method.needs_model:
        return rows, None
    if n_blocks is not None:
        check_whole("n_blocks", n_blocks)
    if len(rows.table) < 2:
        raise ValueError(
            "one row can be used, and nothing predicts its reward; give more rows, or estimator='ips'."
        )
    predictions = past_predictions(rows.table, model_class, n_blocks=n_blocks)
    return rows.without_first(), predictions[1:]
