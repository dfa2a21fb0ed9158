"""Ridge regressions that are updated from batch to batch."""
