"""Ratios against hand-written NumPy, CVXPY and other bandit libraries: `python -m benchmarks`."""

import os

# Libraries read these when they are loaded, so they stand before any import of NumPy.
for _name in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
