from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon_paper.exhibits.sensitivity import optimal_log
from gyrfalcon_paper.linear_models import coefficients_of, crossing, heights_of, played_model


class Lines:
    def __init__(self, *lines: tuple[float, float]) -> None:
        self.lines = np.array(lines)

    def scores(self, contexts: Contexts) -> Floats:
        scores: Floats = self.lines[:, 0] + contexts.shared * self.lines[:, 1]
        return scores


def test_lines_are_read_off_their_ends() -> None:
    lines = [(0.1, 0.5), (0.7, -0.2), (0.3, 0.0)]
    assert coefficients_of(Lines(*lines)) == pytest.approx(np.array(lines))
    assert heights_of(Lines(*lines)) == pytest.approx(np.array([[0.1, 0.6], [0.7, 0.5], [0.3, 0.3]]))


def test_lines_meet_where_their_heights_are_equal() -> None:
    assert crossing(Lines(*StepExample().best_coefficients)) == pytest.approx(0.5)
    assert math.isnan(crossing(Lines((0.25, 1.0), (0.5, 1.0))))


def test_a_bonus_is_no_part_of_a_line() -> None:
    example = SensitivityExample()
    model = played_model(LinUCB(alpha=5.0).start(example.problem, optimal_log(example, 500)).policy)
    assert isinstance(model, OptimisticModel)
    assert np.array_equal(heights_of(model), heights_of(model.model))
    assert (model.scores(Contexts(np.array([[0.0]])))[0] > heights_of(model)[:, 0]).all()


def test_uniform_play_has_no_model() -> None:
    assert played_model(UniformPolicy(2)) is None
    assert played_model(None) is None
