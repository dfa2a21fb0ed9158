"""From logs to reward models: features, sufficient statistics, exact regressions."""
