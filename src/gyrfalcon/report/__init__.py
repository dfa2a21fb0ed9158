"""Numbers in, figures out; never computes a statistic."""
