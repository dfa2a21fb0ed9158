"""What a diagnosis of a model class says, with its evidence."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.estimates.misspecification.specification_result import SpecificationTests
from gyrfalcon.evaluation.diagnosis.profiles import ActionMisfit, FeatureProfile, PairProfile, Region
from gyrfalcon.evaluation.diagnosis.reward_cost import RewardCost
from gyrfalcon.evaluation.diagnosis.risk_by_epoch import EpochRisk
from gyrfalcon.evaluation.diagnosis.usable_rows import SetAside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis:
    """Whether a model class is wrong, where, and what that costs, with the evidence and a recommendation.

    Rewards are in the user's unit and b in its square. Where a log can't say something, the part is None or
    empty, and `open_questions` says why.

    Attributes
    ----------
    verdict : str
        One sentence on whether the class is wrong.
    recommendations : tuple[str, ...]
        What to do, most important first.
    actions : tuple
        Labels of the actions.
    n_rows : int
        Rows that were used.
    model_class : str
        The class in question, such as "Linear()".
    misspecification : MisspecificationEstimate or None
        b with its interval, or a lower bound.
    tests : SpecificationTests or None
        Specification tests.
    epochs : tuple[EpochRisk, ...]
        Excess risk and multiplier by epoch.
    by_action : tuple[ActionMisfit, ...]
        How wrong the class is for each action.
    profiles : tuple[FeatureProfile, ...]
        Signed misfit along each feature, the most telling one first.
    pair : PairProfile or None
        Signed misfit over the two most telling features.
    region : Region or None
        Action and bin in which the misfit stands out most.
    misfit_rows : str
        Which rows `by_action`, `profiles`, `pair` and `region` are of.
    cost : RewardCost or None
        What it costs in reward.
    reward_unit : str
        What rewards are counted in.
    costs : bool
        Whether the log's rewards are costs: residuals and values are then of rewards, minus the cost.
    set_aside : tuple[SetAside, ...]
        Rows that could not be used, with the reason.
    open_questions : tuple[str, ...]
        What this log can't say, and why.
    """

    verdict: str
    recommendations: tuple[str, ...]
    actions: tuple[Hashable, ...]
    n_rows: int
    model_class: str
    misspecification: MisspecificationEstimate | None
    tests: SpecificationTests | None
    epochs: tuple[EpochRisk, ...]
    by_action: tuple[ActionMisfit, ...]
    profiles: tuple[FeatureProfile, ...]
    pair: PairProfile | None
    region: Region | None
    misfit_rows: str
    cost: RewardCost | None
    reward_unit: str
    costs: bool
    set_aside: tuple[SetAside, ...]
    open_questions: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Diagnosis({self.n_rows} rows: {self.verdict})"
