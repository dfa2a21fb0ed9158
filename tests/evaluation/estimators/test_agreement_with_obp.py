"""Values against those of the Open Bandit Pipeline 0.5.7, stored by `benchmarks.agreement.obp --write`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import evaluation as ev

KNOWN = json.loads((Path(__file__).parent / "known" / "obp.json").read_text())


def ours() -> dict[str, float]:
    columns: dict[str, Any] = {name: np.array(values) for name, values in KNOWN["log"].items()}
    target, predictions, distribution = (
        columns[name][:, :, 0] for name in ("target", "predictions", "distribution")
    )
    actions = columns["actions"]
    log = columns["rewards"], actions, distribution[np.arange(len(actions)), actions], target
    model = *log, predictions
    parts, table = columns["embedding"], columns["embedding_probabilities"]
    both = distribution, target, ev.embedding_likelihoods(parts, table)
    one = distribution, target, ev.embedding_likelihoods(parts[:, 0], table[..., 0])
    estimates = {
        "IPW": ev.inverse_propensity(*log),
        "IPW, weights up to 1.5": ev.clipped_inverse_propensity(*log, max_weight=1.5),
        "SNIPW": ev.self_normalised_inverse_propensity(*log),
        "DM": ev.direct_method(target, predictions),
        "DR": ev.doubly_robust(*model),
        "SNDR": ev.self_normalised_doubly_robust(*model),
        "MIPW, known embeddings": ev.marginalised_inverse_propensity(columns["rewards"], *both),
        "SNMIPW, one part": ev.marginalised_inverse_propensity(
            columns["rewards"], *one, self_normalised=True
        ),
    }
    for limit in (0.0, 0.7, 2.0, np.inf):
        estimates[f"SwitchDR {limit}"] = ev.switch_doubly_robust(*model, max_weight=limit)
    for shrinkage in (0.1, 3.0, np.inf):
        estimates[f"DRos {shrinkage}"] = ev.shrunk_doubly_robust(*model, shrinkage=shrinkage)
    for shrinkage in (0.0, 0.05, 0.5):
        estimates[f"SGIPW {shrinkage}"] = ev.sub_gaussian_inverse_propensity(*log, shrinkage=shrinkage)
        estimates[f"SGDR {shrinkage}"] = ev.sub_gaussian_doubly_robust(*model, shrinkage=shrinkage)
    return {name: estimate.value for name, estimate in estimates.items()}


def test_every_stored_value_is_ours() -> None:
    assert ours() == pytest.approx(KNOWN["values"], rel=0.0, abs=1e-10)
    assert len(set(KNOWN["values"].values())) > 15
