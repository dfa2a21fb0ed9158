"""Differences between our confidence sequences and the formulas of confseq 0.0.11.

`make agreement` prints the largest one. It needs a Python in which `confseq.betting` can be imported: the
package compiles C++ against Boost, but these formulas are Python, so that the unpacked `src` of its source
distribution on PYTHONPATH is enough, beside `multiprocess` and matplotlib. With `--write` a sample and
confseq's numbers are written as JSON, which `make test` compares without confseq.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_lower_bounds
from gyrfalcon.evaluation.intervals.sequences.bets import plug_in_bets
from gyrfalcon.evaluation.intervals.sequences.capital import log_capital

LEVEL = 0.95
CANDIDATES = (0.01, 0.2, 0.35, 0.6, 0.99)
LOSSES = (0.25, 0.5)
TOLERANCE = 1e-10


def capital(sample: Floats, candidate: float, largest_loss: float) -> Floats:
    """Half of the larger capital of those who bet above and below a candidate, (n,)."""
    error, nothing = (1.0 - LEVEL) / 2.0, np.zeros(len(sample))

    def one_side(scores: Floats, v: float) -> Floats:
        bets = plug_in_bets(scores, error)
        return np.asarray(np.exp(log_capital(scores, np.array([v]), bets, nothing, largest_loss)[0]))

    return np.asarray(0.5 * np.maximum(one_side(sample, candidate), one_side(1.0 - sample, 1.0 - candidate)))


def bernstein_bounds(sample: Floats) -> Floats:
    """Lower and upper bounds, (2, n), each cut at the end of the range that it bounds."""
    error, nothing = (1.0 - LEVEL) / 2.0, np.zeros(len(sample))
    lows = [np.maximum(bernstein_lower_bounds(one, nothing, error), 0.0) for one in (sample, 1.0 - sample)]
    return np.stack([lows[0], 1.0 - lows[1]])


def ours(sample: Floats) -> dict[str, Any]:
    numbers = {f"{m} {loss}": capital(sample, m, loss).tolist() for m in CANDIDATES for loss in LOSSES}
    return {"capital": numbers, "bernstein": bernstein_bounds(sample).tolist()}


def theirs(sample: Floats) -> dict[str, Any]:
    setattr(np, "float_", np.float64)  # noqa: B010 - the name of NumPy 1, which confseq was written for
    from confseq.betting import betting_mart
    from confseq.predmix import predmix_empbern_twosided_cs

    alpha = 1.0 - LEVEL
    numbers = {
        f"{m} {loss}": betting_mart(sample, m, alpha=alpha, trunc_scale=loss).tolist()
        for m in CANDIDATES
        for loss in LOSSES
    }
    bounds = predmix_empbern_twosided_cs(sample, alpha=alpha)
    return {"capital": numbers, "bernstein": [bound.tolist() for bound in bounds]}


def difference(first: Any, second: Any) -> float:
    """The largest relative difference of capitals and absolute difference of bounds."""
    capitals = (
        np.abs(np.log(np.array(first["capital"][key])) - np.log(np.array(second["capital"][key]))).max()
        for key in first["capital"]
    )
    bounds = np.abs(np.array(first["bernstein"]) - np.array(second["bernstein"])).max()
    return float(max(*capitals, bounds))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.confseq", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PATH", help="write a sample and confseq's numbers")
    options = parser.parse_args(arguments)
    if options.write:
        sample = np.random.default_rng(4).beta(1.0, 2.0, 30).round(3)
        options.write.write_text(json.dumps({"sample": sample.tolist(), **theirs(sample)}, indent=1) + "\n")
        return 0
    found = 0.0
    for seed in range(20):
        sample = np.random.default_rng(seed).beta(0.5 + 0.1 * seed, 2.0, 1_000)
        found = max(found, difference(ours(sample), theirs(sample)))
    print(f"Largest difference to confseq 0.0.11 on 20 samples of 1,000: {found:.1e}")
    return int(found > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
