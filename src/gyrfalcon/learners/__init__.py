"""Assembly of oracle, kernel and schedule: one file per algorithm, readable beside its paper."""
