"""From scores to action probabilities: kernels, posterior sampling and elimination."""
