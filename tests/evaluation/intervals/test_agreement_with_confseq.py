"""Confidence sequences against numbers of confseq, stored by `benchmarks.agreement.confseq --write`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.agreement import confseq

KNOWN = json.loads((Path(__file__).parent / "known" / "confseq.json").read_text())


def test_capitals_and_bounds_are_those_of_confseq() -> None:
    found = confseq.ours(np.array(KNOWN["sample"]))
    assert found["capital"].keys() == KNOWN["capital"].keys()
    assert confseq.difference(found, KNOWN) == pytest.approx(0.0, abs=1e-10)


def test_a_difference_would_show() -> None:
    other = {**KNOWN, "bernstein": (np.array(KNOWN["bernstein"]) + 1e-6).tolist()}
    assert confseq.difference(KNOWN, other) == pytest.approx(1e-6, rel=1e-3)
