"""Linear algebra that says how accurate it is, and batch-invariant products."""
