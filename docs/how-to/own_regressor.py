"""A regressor of one's own: the mean reward in fixed ranges of the first feature, a convex class."""

import numpy as np
from sklearn.base import BaseEstimator

from gyrfalcon import EpsilonFalcon, Regressor, simulate
from gyrfalcon.environments import StepExample


class Ranges(BaseEstimator):
    def __init__(self, n_ranges=8):
        self.n_ranges = n_ranges

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        place = self._place(X)
        totals = np.bincount(place, weights * y, self.n_ranges)
        counts = np.bincount(place, weights, self.n_ranges)
        overall = np.average(y, weights=weights)
        self.means_ = np.where(counts > 0, totals / np.where(counts > 0, counts, 1.0), overall)
        return self

    def predict(self, X):
        return self.means_[self._place(X)]

    def _place(self, X):  # features are standardised, so that most are between -2 and 2
        return np.searchsorted(np.linspace(-2, 2, self.n_ranges - 1), X[:, 0])


if __name__ == "__main__":
    model_class = Regressor(Ranges(), convex=True)
    learner = EpsilonFalcon(model_class=model_class, epsilon=0.1)
    trace = simulate(learner, StepExample(), 1600, n_replications=10, checkpoints=[800])
    print(f"regret of the last 800 rounds: {800 * trace.late_regret(0.5).mean():.0f}")
    print(f"regressions of the last fit: {trace.epochs[0][-1].report.n_regressions}")
